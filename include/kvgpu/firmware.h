/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The firmware file: the data that the host's bring-up of the graphics engine needs from nouveau
 * (FECS and GPCCS microcode, and the register lists of the engine and of its golden context), in
 * one little-endian file. kvgpu-firmware writes it from the distribution's own nouveau.ko. The
 * kernel module reads it with request_firmware().
 *
 * Layout: header, section table, sections. The sections are aligned to 8 bytes. crc32 is the CRC-32
 * of IEEE (as in zlib; in the kernel crc32(~0, ...) ^ ~0) over the bytes behind the header, so that
 * a cut or patched file is noticed.
 */
#ifndef KVGPU_FIRMWARE_H
#define KVGPU_FIRMWARE_H

#include <linux/types.h>

#define KVGPU_FW_MAGIC		0x005746555047564bULL	/* "KVGPUFW", little endian */
#define KVGPU_FW_VERSION	1
#define KVGPU_FW_NAME		"kvgpu/gk110.fw"
#define KVGPU_FW_MAX_SIZE	(1u << 20)
#define KVGPU_FW_MAX_SECTIONS	32

enum kvgpu_fw_section_id {
	/* Microcode: arrays of 32-bit words for the falcons' IMEM and DMEM. */
	KVGPU_FW_FECS_CODE	= 1,
	KVGPU_FW_FECS_DATA	= 2,
	KVGPU_FW_GPCCS_CODE	= 3,
	KVGPU_FW_GPCCS_DATA	= 4,
	/* Register lists: arrays of struct kvgpu_fw_init. */
	KVGPU_FW_GR_MMIO	= 16,	/* initialisation of the engine */
	/*
	 * Lists for the golden context. The host gives FECS and GPCCS the registers of HUB, GPC_0,
	 * GPC_1, TPC and PPC, to save and restore them.
	 */
	KVGPU_FW_CTX_HUB	= 17,
	KVGPU_FW_CTX_GPC_0	= 18,
	KVGPU_FW_CTX_GPC_1	= 19,
	KVGPU_FW_CTX_ZCULL	= 20,
	KVGPU_FW_CTX_TPC	= 21,
	KVGPU_FW_CTX_PPC	= 22,
	KVGPU_FW_CTX_ICMD	= 23,
	KVGPU_FW_CTX_MTHD	= 24,	/* @type is the methods' class */
};

/*
 * Write of @data to @count registers. The first is at @addr, each further register @pitch bytes
 * after the register before it. A list CTX_ICMD has bundles, a list CTX_MTHD has methods.
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
	__le32 offset;		/* bytes, from the start of the file */
	__le32 size;		/* bytes */
	__le32 reserved;
};

struct kvgpu_fw_header {
	__le64 magic;
	__le32 version;
	__le32 header_size;	/* bytes of this struct */
	__le32 file_size;
	__le32 crc32;
	__le32 nr_sections;
	__le32 chipset;		/* 0x0f0 */
	char origin[64];	/* kernel release of nouveau.ko, ends with NUL */
};

#endif
