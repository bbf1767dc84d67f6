/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The firmware file: data of nouveau that the host needs to bring up the graphics engine, in one
 * little-endian file. It has microcode of FECS and GPCCS, the engine's microcontrollers (falcons),
 * and lists of registers and values: for the engine, and for the golden context, from which new
 * contexts start. kvgpu-firmware (firmware/) writes the file.
 *
 * Layout: header, section table, sections. The sections are aligned to 8 bytes. The header's crc32
 * is the CRC-32 of IEEE (as in zlib; in the kernel crc32_le(~0, ...) ^ ~0) of all bytes after the
 * header.
 */
#ifndef KVGPU_FIRMWARE_H
#define KVGPU_FIRMWARE_H

#include <linux/types.h>

#define KVGPU_FW_MAGIC	      0x005746555047564bULL /* "KVGPUFW", little endian */
#define KVGPU_FW_VERSION      2
#define KVGPU_FW_NAME	      "kvgpu/gk110.fw"
#define KVGPU_FW_MAX_SIZE     (1u << 20)
#define KVGPU_FW_MAX_SECTIONS 32

enum kvgpu_fw_section_id {
	/*
	 * Microcode: arrays of 32-bit words. CODE is for a falcon's code memory (IMEM), DATA for
	 * its data memory (DMEM).
	 */
	KVGPU_FW_FECS_CODE = 1,
	KVGPU_FW_FECS_DATA = 2,
	KVGPU_FW_GPCCS_CODE = 3,
	KVGPU_FW_GPCCS_DATA = 4,
	KVGPU_FW_GR_MMIO = 16, /* for the start of the engine */
	/*
	 * Lists for the golden context. FECS and GPCCS also save and restore the registers of HUB,
	 * GPC_0, GPC_1, TPC and PPC in contexts.
	 */
	KVGPU_FW_CTX_HUB = 17,
	KVGPU_FW_CTX_GPC_0 = 18,
	KVGPU_FW_CTX_GPC_1 = 19,
	KVGPU_FW_CTX_ZCULL = 20,
	KVGPU_FW_CTX_TPC = 21,
	KVGPU_FW_CTX_PPC = 22,
	KVGPU_FW_CTX_ICMD = 23,
	KVGPU_FW_CTX_MTHD = 24, /* @type: class of the methods */
	/* for a GK110B in the place of GR_MMIO and CTX_TPC; all else is the same for both chips */
	KVGPU_FW_GR_MMIO_B = 25,
	KVGPU_FW_CTX_TPC_B = 26,
};

/*
 * An entry of a register list: a write of @data to @count registers from @addr in BAR0 on, @pitch
 * bytes apart. In CTX_ICMD, @addr is the address of a bundle (GR_ICMD in gk110/gr.h). In CTX_MTHD,
 * @addr is the offset of a method of class @type.
 */
struct kvgpu_fw_init {
	__le32 type;
	__le32 addr;
	__le32 count;
	__le32 pitch;
	__le64 data;
};

struct kvgpu_fw_section {
	__le32 id;
	__le32 offset; /* bytes, from the start of the file */
	__le32 size; /* bytes */
	__le32 reserved;
};

struct kvgpu_fw_header {
	__le64 magic;
	__le32 version;
	__le32 header_size; /* bytes of this struct */
	__le32 file_size; /* bytes */
	__le32 crc32;
	__le32 nr_sections;
	__le32 chipset; /* 0x0f0: GK110, and GK110B */
	char origin[64]; /* kernel release of nouveau.ko, with a NUL */
};

#endif
