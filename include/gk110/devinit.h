/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The boot scripts of a VBIOS, by which a card is initialised (POSTed): their tables, the opcodes,
 * and registers that opcodes access by themselves. An offset in the ROM is a u16; a comment such as
 * u16 is the type at an offset.
 *
 * Sources: nouveau nvkm/subdev/bios/{init,bit,ramcfg,M0203,dcb,gpio,i2c}.c,
 * nvkm/subdev/gpio/gf119.c, nvkm/subdev/i2c/{busgf119,padg94}.c, nvkm/engine/disp/vga.c;
 * envytools docs and nvbios.
 */
#ifndef KVGPU_GK110_DEVINIT_H
#define KVGPU_GK110_DEVINIT_H

#include <linux/bits.h>

/* BIT I: offsets of tables (u16); an absent one is 0 or lies behind the entry's end */
#define BIT_I_SCRIPTS			0x00	/* list of u16, up to a 0 */
#define BIT_I_MACROS			0x04
#define BIT_I_CONDITIONS		0x06
#define BIT_I_IO_CONDITIONS		0x08
#define BIT_I_IO_FLAGS			0x0a
#define BIT_I_LAST_SCRIPT		0x0e	/* a script to run after those of the list */
#define BIT_I_XLAT			0x10	/* list of u16: tables of u8 */

#define INIT_MACRO_SIZE			8	/* u32 register, u32 value */
#define INIT_CONDITION_SIZE		12	/* u32 register, u32 mask, u32 value */
#define INIT_IO_CONDITION_SIZE		5	/* u16 port, u8 index, u8 mask, u8 value */
/* u16 port, u8 index, u8 mask, u8 shift, u16 table, u8 mask, u8 value */
#define INIT_IO_FLAG_SIZE		9

/* BIT M version 2: variants of the board's memory */
#define BIT_M_COUNT			0x00	/* u8: values that RAM_RESTRICT opcodes have */
#define BIT_M_XLAT			0x01	/* u16: table of u8, by strap */
#define BIT_M_M0203			0x03	/* u16 */
/* M0203 version 0x10: u8 version, header length, entry length, count, type */
#define M0203_TYPE			0x04
#define   M0203_TYPE_STRAP		0
#define M0203_ENTRY_STRAP		GENMASK(7, 4)	/* of byte 0 */
#define M0203_ENTRY_GROUP		GENMASK(3, 0)	/* of byte 1 */

/* DCB version 0x40 and up: u8 version, header length, count, entry length */
#define DCB_I2C				0x04	/* u16: table of I2C ports */
#define DCB_SIGNATURE_AT		0x06	/* u32 */
#define   DCB_SIGNATURE			0x4edcbdcb
#define DCB_GPIO			0x0a	/* u16: table of pins */
/* I2C table, version 0x40: as DCB's header, then */
#define DCB_I2C_DEFAULT			0x04	/* u8: ports for 0x80 (low nibble) and 0x81 */
#define DCB_I2C_TYPE			0x03	/* u8 of an entry, version 0x40 */
#define   DCB_I2C_NVIO			5
/* drive and share, u8 at 0 and 1 of such an entry */
#define   DCB_I2C_NVIO_DRIVE		GENMASK(3, 0)
#define   DCB_I2C_NVIO_SHARED		BIT(0)
/* an entry of version 0x41, u32 */
#define DCB_I2C_PMGR_DRIVE		GENMASK(4, 0)
#define DCB_I2C_PMGR_AUX		GENMASK(9, 5)
#define   DCB_I2C_PMGR_UNUSED		0x1f
/* GPIO table: an entry of version 0x41, u32 and u8; of 0x40, u32 */
#define DCB_GPIO_LINE			GENMASK(5, 0)
#define DCB_GPIO_STATE			BIT(7)
#define DCB_GPIO_FUNCTION		GENMASK(15, 8)
#define   DCB_GPIO_UNUSED		0xff
#define DCB_GPIO_OUTPUT			GENMASK(23, 16)
#define DCB_GPIO_INPUT			GENMASK(28, 24)
#define DCB_GPIO_LOGIC_40(state)	(27 + 2 * (state))	/* bit of the u32 */
#define DCB_GPIO_LOGIC_41(state)	(4 + 2 * (state))	/* bit of the u8 */
#define   DCB_GPIO_LOGIC_OUT		BIT(0)
#define   DCB_GPIO_LOGIC_INPUT		BIT(1)

#define PMGR_GPIO_UPDATE		0x00d604
#define   PMGR_GPIO_UPDATE_NOW		BIT(0)
#define PMGR_GPIO(line)			(0x00d610 + 4 * (line))
#define   PMGR_GPIO_SEL			GENMASK(7, 0)
#define   PMGR_GPIO_OUT			BIT(12)
#define   PMGR_GPIO_DRIVE		BIT(13)
#define PMGR_GPIO_IN(i)			(0x00d740 + 4 * (i))
#define   PMGR_GPIO_IN_LINE		GENMASK(7, 0)
#define PMGR_I2C(drive)			(0x00d014 + 0x20 * (drive))
#define   PMGR_I2C_SCL			BIT(0)
#define   PMGR_I2C_SDA			BIT(1)
#define   PMGR_I2C_IDLE			0x7
#define   PMGR_I2C_SCL_IN		BIT(4)
#define   PMGR_I2C_SDA_IN		BIT(5)
/* a pad that an I2C port shares with an AUX channel */
#define PMGR_PAD_MODE(pad)		(0x00e500 + 0x50 * (pad))
#define   PMGR_PAD_MODE_BITS		0xc003
#define   PMGR_PAD_MODE_I2C		0xc001
#define PMGR_PAD_OFF(pad)		(0x00e50c + 0x50 * (pad))
#define   PMGR_PAD_OFF_ON		BIT(0)

/* Registers of opcodes. A register's bits 31 to 29 choose a display head or output. */
#define INIT_REG_HEAD			BIT(31)
#define INIT_REG_OR			BIT(30)
#define INIT_REG_LINK			BIT(29)
#define PRMIO_PORT(port)		(0x601000 + (port))	/* a VGA port, 8 bits */
#define   VGA_PORT_ENABLE		0x3c3
#define   VGA_PORT_SEQUENCER		0x3c4	/* index; the data port is the next one */
#define   VGA_PORT_GRAPHICS		0x3ce
#define   VGA_PORT_CRTC			0x3d4
#define INIT_RAM_CONFIG			0x100000	/* RAM_CONDITION */
#define INIT_PCI_TIMING			0x00184c	/* RESET */
#define   INIT_PCI_TIMING_BITS		0x00000f00
#define INIT_PCI_ROM			0x001850
#define   INIT_PCI_ROM_BIT		BIT(0)
#define INIT_TMDS(i)			(0x6808b0 + ((i)&1) * 8 + ((i) >> 1) * 0x2000)
#define   INIT_TMDS_NR			4
#define   INIT_TMDS_DATA		4	/* offset of the data register */
#define   INIT_TMDS_READ		BIT(16)
/* An IO opcode that switches VGA on also resets the display, in these steps. */
#define INIT_VGA_CLOCK(head)		(0x614100 + 0x800 * (head))
#define   INIT_VGA_CLOCK_BITS		0xf0800000
#define   INIT_VGA_CLOCK_HOLD		0x00800000
#define   INIT_VGA_CLOCK_SET		0x00800018
#define   INIT_VGA_CLOCK_RUN		0x10000018
#define INIT_VGA_PLL			0x00e18c
#define   INIT_VGA_PLL_BIT		BIT(17)

enum init_opcode {
	INIT_IO_RESTRICT_PROG = 0x32,
	INIT_REPEAT = 0x33,
	INIT_IO_RESTRICT_PLL = 0x34,
	INIT_END_REPEAT = 0x36,
	INIT_COPY = 0x37,
	INIT_NOT = 0x38,
	INIT_IO_FLAG_CONDITION = 0x39,
	INIT_GENERIC_CONDITION = 0x3a,
	INIT_IO_MASK_OR = 0x3b,
	INIT_IO_OR = 0x3c,
	INIT_ANDN_REG = 0x47,
	INIT_OR_REG = 0x48,
	INIT_INDEX_ADDRESS_LATCHED = 0x49,
	INIT_IO_RESTRICT_PLL2 = 0x4a,
	INIT_PLL2 = 0x4b,
	INIT_I2C_BYTE = 0x4c,
	INIT_ZM_I2C_BYTE = 0x4d,
	INIT_ZM_I2C = 0x4e,
	INIT_TMDS_BYTE = 0x4f,
	INIT_ZM_TMDS_GROUP = 0x50,
	INIT_CR_INDEX_ADDRESS_LATCHED = 0x51,
	INIT_CR = 0x52,
	INIT_ZM_CR = 0x53,
	INIT_ZM_CR_GROUP = 0x54,
	INIT_CONDITION_TIME = 0x56,
	INIT_LTIME = 0x57,
	INIT_ZM_REG_SEQUENCE = 0x58,
	INIT_PLL_INDIRECT = 0x59,
	INIT_ZM_REG_INDIRECT = 0x5a,
	INIT_SUB_DIRECT = 0x5b,
	INIT_JUMP = 0x5c,
	INIT_I2C_IF = 0x5e,
	INIT_COPY_NV_REG = 0x5f,
	INIT_ZM_INDEX_IO = 0x62,
	INIT_COMPUTE_MEM = 0x63,
	INIT_RESET = 0x65,
	INIT_CONFIGURE_MEM = 0x66,
	INIT_CONFIGURE_CLK = 0x67,
	INIT_CONFIGURE_PREINIT = 0x68,
	INIT_IO = 0x69,
	INIT_SUB = 0x6b,
	INIT_RAM_CONDITION = 0x6d,
	INIT_NV_REG = 0x6e,
	INIT_MACRO = 0x6f,
	INIT_DONE = 0x71,
	INIT_RESUME = 0x72,
	INIT_STRAP_CONDITION = 0x73,
	INIT_TIME = 0x74,
	INIT_CONDITION = 0x75,
	INIT_IO_CONDITION = 0x76,
	INIT_ZM_REG16 = 0x77,
	INIT_INDEX_IO = 0x78,
	INIT_PLL = 0x79,
	INIT_ZM_REG = 0x7a,
	INIT_RAM_RESTRICT_PLL = 0x87,
	INIT_RESET_BEGUN = 0x8c,
	INIT_RESET_END = 0x8d,
	INIT_GPIO = 0x8e,
	INIT_RAM_RESTRICT_ZM_REG_GROUP = 0x8f,
	INIT_COPY_ZM_REG = 0x90,
	INIT_ZM_REG_GROUP = 0x91,
	INIT_RESERVED_92 = 0x92,
	INIT_XLAT = 0x96,
	INIT_ZM_MASK_ADD = 0x97,
	INIT_AUXCH = 0x98,
	INIT_ZM_AUXCH = 0x99,
	INIT_I2C_LONG_IF = 0x9a,
	INIT_GPIO_NE = 0xa9,
	INIT_RESERVED_AA = 0xaa,
};

/* values of GENERIC_CONDITION */
#define INIT_GENERIC_INTERNAL_DP	0
#define INIT_GENERIC_SPPLL0		1
#define INIT_GENERIC_SPPLL1		2
#define INIT_GENERIC_ASSR		5
#define INIT_GENERIC_NO_PANEL_DELAYS	7

#endif
