/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The VBIOS window of BAR0 (PROM), the outer structures of a VBIOS image, and values of the voltage
 * regulator. The structures are the PCI expansion ROM header (ROM), the PCI data structure (PCIR),
 * and the BIT, NVIDIA's index of tables. A comment such as u16 is the type at an offset.
 *
 * Sources: PCI firmware specification (ROM, PCIR); envytools
 * docs and nouveau nvkm/subdev/bios/{pcir,bit}.c (BIT); nouveau nvkm/subdev/volt/gk104.c (VID PWM).
 */
#ifndef KVGPU_GK110_VBIOS_H
#define KVGPU_GK110_VBIOS_H

#define PROM_BASE			0x300000
#define PROM_SIZE			0x100000

#define ROM_BLOCK			512
#define ROM_SIGNATURE			0xaa55		/* u16 at offset 0, little endian */
/* Signature of the IFR, a header that stands before the ROM header in dumps of newer boards. */
#define ROM_IFR_SIGNATURE		"NVGI"
#define ROM_BLOCKS			0x02		/* u8: length of the image / ROM_BLOCK */
#define ROM_ENTRY			0x03		/* entry point for an x86 far call */
#define ROM_PCIR_POINTER		0x18		/* u16 */
#define ROM_DCB_POINTER			0x36		/* u16 */
#define ROM_HEADER_LENGTH		0x38

#define PCIR_SIGNATURE			"PCIR"
#define PCIR_LENGTH			0x18
#define PCIR_VENDOR			0x04		/* u16 */
#define PCIR_DEVICE			0x06		/* u16 */
#define PCIR_STRUCT_LENGTH		0x0a		/* u16 */
#define PCIR_REVISION			0x0c		/* u8 */
#define PCIR_CLASS			0x0d		/* u24 */
#define PCIR_IMAGE_BLOCKS		0x10		/* u16 */
#define PCIR_IMAGE_REVISION		0x12		/* u16 */
#define PCIR_TYPE			0x14		/* u8, 0 = x86 */
#define PCIR_FLAGS			0x15		/* u8 */
#define   PCIR_FLAGS_LAST		0x80

/* The BIT begins with this string and the 0 that ends it. */
#define BIT_SIGNATURE			"\xff\xb8" "BIT"
#define BIT_SIGNATURE_LENGTH		6
#define BIT_HEADER_LENGTH		12
#define BIT_VERSION			6		/* u16 */
#define BIT_HEADER_SIZE			8		/* u8 */
#define BIT_ENTRY_SIZE			9		/* u8 */
#define BIT_ENTRY_COUNT			10		/* u8 */
/* u8: value with which the bytes of the BIT's header add up to 0. */
#define BIT_CHECKSUM			11
/* An entry of the BIT: its length, and offsets in it. */
#define BIT_ENTRY_LENGTH		6
#define BIT_ENTRY_ID			0		/* u8 */
#define BIT_ENTRY_VERSION		1		/* u8 */
#define BIT_ENTRY_TABLE_LENGTH		2		/* u16 */
#define BIT_ENTRY_TABLE			4		/* u16 */

/*
 * The regulator of the core voltage, which a PWM drives (PTHERM_VID_DIV, PTHERM_VID_DUTY):
 * K20M_VOLT_BASE_UV + duty * K20M_VID_STEP_UV uV. nouveau computes the divider as 27.648 MHz /
 * frequency. The real board's numbers are not public. The numbers here are those of the card that
 * gpu-model/ emulates.
 */
#define K20M_VID_CLOCK_KHZ		27648
#define K20M_VID_DIV			160
#define K20M_VID_STEP_UV		4000
#define K20M_VOLT_BASE_UV		600000
#define K20M_VOLT_RANGE_UV		(K20M_VID_DIV * K20M_VID_STEP_UV)
#define K20M_VOLT_BOOT_UV		876000

#endif
