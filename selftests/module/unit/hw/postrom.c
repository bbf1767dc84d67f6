// SPDX-License-Identifier: GPL-2.0-only
/* postrom.h has the contracts. Values are arbitrary, and differ from each other. */
#include <string.h>

#include "gk110/devinit.h"
#include "gk110/vbios.h"
#include "postrom.h"

#define R16(v) POSTROM_16(v)
#define R32(v) POSTROM_32(v)

enum {
	BIT_AT = 0x40,
	BIT_I_AT = 0x80,
	BIT_M_AT = 0xa0,
	M0203_AT = 0xb0,
	RAM_XLAT_AT = 0xc0,
	SCRIPTS_AT = 0xd0,
	MACROS_AT = 0xf0,
	CONDITIONS_AT = 0x100,
	IO_CONDITIONS_AT = 0x140,
	IO_FLAGS_AT = 0x150,
	FLAGS_AT = 0x170,
	XLAT_AT = 0x180,
	DCB_AT = 0x190,
	I2C_AT = 0x1b0,
	GPIO_AT = 0x1d0,
	DATA_AT = 0x1f0,
	FREE_AT = 0x200,
};

/* conditions by their numbers */
enum { ZERO, NEVER, STRAP_BIT, ALWAYS };

static void at(struct postrom *r, u32 off, const void *data, u32 len)
{
	memcpy(r->rom + off, data, len);
}
#define AT(r, off, ...)                               \
	do {                                          \
		const u8 bytes[] = { __VA_ARGS__ };   \
		at((r), (off), bytes, sizeof(bytes)); \
	} while (0)

static void tables(struct postrom *r)
{
	AT(r, MACROS_AT, R32(0x10f800), R32(0x11111111), R32(0x10f804), R32(0x22222222));
	AT(r, CONDITIONS_AT, R32(0x20300), R32(0), R32(0), R32(0x20304), R32(0), R32(1),
	   R32(0x101000), R32(0x4), R32(0x4), R32(0x20308), R32(0), R32(0));
	AT(r, IO_CONDITIONS_AT, R16(0x3d4), 0x21, 0, 0, R16(0x3d4), 0x22, 0, 1);
	AT(r, IO_FLAGS_AT, R16(0x3d4), 0x23, 0x30, 4, R16(FLAGS_AT), 0x01, 0x01, R16(0x3d4), 0x24,
	   0x30, 4, R16(FLAGS_AT), 0x80, 0x80);
	AT(r, FLAGS_AT, 1, 1, 1, 1);
	AT(r, XLAT_AT, R16(0), R16(XLAT_AT + 4), 0xa1, 0xa2, 0xa3, 0xa4);
	AT(r, DATA_AT, R32(0x0dadada0));
	/* two variants of memory; straps 0 to 3 are groups 1, 0, 1, 0 */
	AT(r, BIT_M_AT, 2, R16(RAM_XLAT_AT), R16(M0203_AT), 0, 0);
	AT(r, M0203_AT, 0x10, 7, 2, 4, 0, 0, 0, 0x00, 1, 0x10, 0, 0x20, 1, 0x30, 0);
}

static void dcb(struct postrom *r)
{
	AT(r, DCB_AT, 0x40, 0x1b, 0, 8, R16(I2C_AT), R32(DCB_SIGNATURE), R16(GPIO_AT));
	/* port 0 shares a pad, port 1 does not, port 2 is an AUX channel */
	AT(r, I2C_AT, 0x40, 5, 3, 4, 0x01, 0x00, 0x03, 0, 5, 0x13, 0, 0, 5, 0x01, 0x01, 0, 6);
	AT(r, GPIO_AT, 0x41, 6, 4, 5, 0, 0, /* pins: */ 0x00, 0x04, 0x81, 0x00, 0x40, /**/
	   0x83, 0x05, 0x00, 0x02, 0x70, /**/ 0x02, 0xff, 0, 0, 0, /**/ 0x09, 0x34, 0, 0x16, 0xbf);
}

void postrom_begin(struct postrom *r)
{
	memset(r, 0, sizeof(*r));
	AT(r, 0, R16(ROM_SIGNATURE), POSTROM_SIZE / ROM_BLOCK);
	AT(r, ROM_DCB_POINTER, R16(DCB_AT));
	at(r, BIT_AT, BIT_SIGNATURE, BIT_SIGNATURE_LENGTH);
	AT(r, BIT_AT + BIT_VERSION, R16(0x100), BIT_HEADER_LENGTH, BIT_ENTRY_LENGTH, 2);
	AT(r, BIT_AT + BIT_HEADER_LENGTH, 'I', 1, R16(0x12), R16(BIT_I_AT), 'M', 2, R16(7),
	   R16(BIT_M_AT));
	AT(r, BIT_I_AT, R16(SCRIPTS_AT), R16(0), R16(MACROS_AT), R16(CONDITIONS_AT),
	   R16(IO_CONDITIONS_AT), R16(IO_FLAGS_AT), R16(0), R16(0), R16(XLAT_AT));
	tables(r);
	dcb(r);
	r->at = FREE_AT;
}

u32 postrom_put(struct postrom *r, const void *data, u32 len)
{
	u32 off = r->at;

	memcpy(r->rom + off, data, len);
	r->at += len;
	return off;
}
#define PUT(r, ...)                                     \
	({                                              \
		const u8 bytes[] = { __VA_ARGS__ };     \
		postrom_put((r), bytes, sizeof(bytes)); \
	})

void postrom_script(struct postrom *r, unsigned int i, u32 script)
{
	AT(r, SCRIPTS_AT + i * 2, R16(script));
}

void postrom_last_script(struct postrom *r, u32 script)
{
	AT(r, BIT_I_AT + BIT_I_LAST_SCRIPT, R16(script));
}

static u32 registers(struct postrom *r)
{
	return PUT(r, INIT_ZM_REG, R32(0x200), R32(0x2020), INIT_ZM_REG, R32(0x10f000),
		   R32(0xabcd0123), INIT_ZM_REG16, R32(0x10f004), R16(0x4567), INIT_NV_REG,
		   R32(0x10f008), R32(0xffff00ff), R32(0x1200), INIT_ANDN_REG, R32(0x10f00c),
		   R32(0x0ff0), INIT_OR_REG, R32(0x10f010), R32(0x8001), INIT_ZM_REG_SEQUENCE,
		   R32(0x10f100), 3, R32(1), R32(2), R32(3), INIT_ZM_REG_GROUP, R32(0x10f200), 2,
		   R32(4), R32(5), INIT_COPY_NV_REG, R32(0x10f000), 8, R32(0xffff), R32(0x55),
		   R32(0x10f014), R32(0xffff0000), INIT_COPY_NV_REG, R32(0x10f000), 0xfc,
		   R32(0xffffff0), R32(0), R32(0x10f018), R32(0xf0000000), INIT_COPY_ZM_REG,
		   R32(0x10f008), R32(0x10f01c), INIT_ZM_MASK_ADD, R32(0x10f020), R32(0xffffff00),
		   R32(0xf4), INIT_XLAT, R32(0x10f100), 0, 3, 1, R32(0x10f024), R32(0xffff00ff), 8,
		   INIT_MACRO, 1, INIT_MACRO, 0, INIT_INDEX_ADDRESS_LATCHED, R32(0x10f030),
		   R32(0x10f034), R32(0xff00), R32(0x80000000), 2, 0x11, 0x22, 0x33, 0x44,
		   INIT_RESET, R32(0x10f040), R32(7), R32(9), INIT_RESERVED_92, INIT_RESERVED_AA, 1,
		   2, 3, INIT_RESET_BEGUN, INIT_RESET_END, INIT_COMPUTE_MEM, INIT_NV_REG,
		   R32(0xc0000604), R32(0), R32(0x77), INIT_RAM_RESTRICT_ZM_REG_GROUP,
		   R32(0x10f300), 4, 2, R32(0xa0), R32(0xa1), R32(0xb0), R32(0xb1), INIT_TIME,
		   R16(37), INIT_TIME, R16(1200), INIT_LTIME, R16(3), INIT_RAM_RESTRICT_PLL, 1,
		   R32(1000), R32(2000), INIT_PLL, R32(0x40), R16(100), INIT_PLL2, R32(0x40),
		   R32(100000), INIT_PLL_INDIRECT, R32(0x40), R16(DATA_AT), INIT_DONE);
}

/* A write of @v to a scratch register shows which way a script went. */
#define MARK(v) INIT_ZM_REG, R32(0x1584), R32(v)

static u32 conditions(struct postrom *r)
{
	return PUT(r, INIT_CONDITION, ZERO, MARK(1), INIT_CONDITION, NEVER, MARK(2), INIT_NOT,
		   MARK(3), INIT_RESUME, MARK(4), INIT_CONDITION_TIME, ALWAYS, 1, MARK(5),
		   INIT_CONDITION_TIME, NEVER, 2, MARK(6), INIT_RESUME, INIT_CONDITION_TIME, ALWAYS,
		   0, MARK(7), INIT_RESUME, INIT_IO_CONDITION, 0, MARK(8), INIT_IO_CONDITION, 1,
		   MARK(9), INIT_RESUME, INIT_IO_FLAG_CONDITION, 0, MARK(10),
		   INIT_IO_FLAG_CONDITION, 1, MARK(11), INIT_RESUME, INIT_STRAP_CONDITION, R32(4),
		   R32(4), MARK(12), INIT_RESUME, INIT_STRAP_CONDITION, R32(4), R32(0), MARK(13),
		   INIT_RESUME, INIT_RAM_CONDITION, 0, 0, MARK(14), INIT_RAM_CONDITION, 0, 1,
		   MARK(15), INIT_RESET, R32(0x10f044), R32(1), R32(2), INIT_RESUME,
		   INIT_GENERIC_CONDITION, INIT_GENERIC_SPPLL0, 1, MARK(16), INIT_GENERIC_CONDITION,
		   99, 2, 0xee, 0xee, MARK(17), INIT_GENERIC_CONDITION,
		   INIT_GENERIC_NO_PANEL_DELAYS, 1, MARK(18), INIT_RESUME, INIT_GENERIC_CONDITION,
		   INIT_GENERIC_ASSR, 1, MARK(19), INIT_RESUME, INIT_CONDITION, STRAP_BIT, MARK(20),
		   INIT_RESUME, INIT_DONE);
}

static u32 control(struct postrom *r)
{
	u32 inner = PUT(r, MARK(30), INIT_CONDITION, NEVER, INIT_DONE);
	u32 configure = PUT(r, MARK(31), INIT_CONFIGURE_MEM, MARK(32), INIT_DONE);
	u32 tail = PUT(r, MARK(33), INIT_DONE);
	u32 outer = PUT(r, INIT_SUB_DIRECT, R16(inner), MARK(34), INIT_RESUME, INIT_REPEAT, 2,
			MARK(35), INIT_END_REPEAT, INIT_DONE);

	/* script 3 is called by its number, too */
	return PUT(r, INIT_SUB_DIRECT, R16(outer), INIT_SUB_DIRECT, R16(configure), INIT_SUB, 3,
		   INIT_REPEAT, 3, MARK(36), INIT_SUB_DIRECT, R16(tail), INIT_END_REPEAT,
		   INIT_REPEAT, 0, MARK(37), INIT_END_REPEAT, INIT_CONDITION, NEVER, INIT_JUMP,
		   R16(tail), INIT_SUB_DIRECT, R16(tail), INIT_RESUME, INIT_JUMP, R16(tail), 0xff);
}

static u32 ports(struct postrom *r)
{
	return PUT(r, INIT_ZM_CR, 0x3f, 0x57, INIT_CR, 0x40, 0xf0, 0x05, INIT_ZM_CR_GROUP, 2, 0x41,
		   0x42, 0x43, 0x44, INIT_CR_INDEX_ADDRESS_LATCHED, 0x45, 0x46, 0xfe, 3, 1, 2, 3,
		   INIT_ZM_INDEX_IO, R16(0x3c4), 0x47, 0x48, INIT_INDEX_IO, R16(0x3ce), 0x49, 0x0f,
		   0x30, INIT_ZM_INDEX_IO, R16(0x3c0), 0x4a, 0x4b, INIT_IO, R16(0x3c2), 0x0f, 0x20,
		   INIT_IO, R16(0x3c3), 0, 1, INIT_COPY, R32(0x10f000), 4, 0x3c, R16(0x3d4), 0x4c,
		   0xc3, INIT_IO_MASK_OR, 0x4d, INIT_IO_OR, 0x4e, INIT_IO_RESTRICT_PROG, R16(0x3d4),
		   0x4f, 0x01, 0, 2, R32(0x10f048), R32(0x70), R32(0x71), INIT_IO_RESTRICT_PLL,
		   R16(0x3d4), 0x50, 1, 0, 0, 2, R32(0x40), R16(1), R16(2), INIT_IO_RESTRICT_PLL2,
		   R16(0x3d4), 0x51, 1, 0, 2, R32(0x40), R32(1), R32(2), INIT_TMDS_BYTE, 1, 0x52,
		   0xf0, 0x03, INIT_ZM_TMDS_GROUP, 3, 2, 0x53, 0x54, 0x55, 0x56, INIT_AUXCH,
		   R32(0x100), 1, 2, 3, INIT_ZM_AUXCH, R32(0x100), 2, 4, 5, INIT_CONFIGURE_CLK);
}

static u32 pins(struct postrom *r)
{
	return PUT(r, INIT_ZM_I2C_BYTE, 0x80, 0x80, 2, 0xdd, 0x03, 0xde, 0x04, INIT_I2C_BYTE, 0,
		   0x98, 1, 0x19, 0xf0, 0x05, INIT_ZM_I2C, 0x81, 0x40, 3, 1, 2, 3, INIT_I2C_IF, 0,
		   0x4c, 0x19, 0xff, 0, MARK(40), INIT_I2C_IF, 1, 0x4c, 0x19, 0xff, 0, MARK(41),
		   INIT_RESUME, INIT_I2C_LONG_IF, 0, 0x98, 0x34, 0x12, 0xff, 0, MARK(42),
		   INIT_I2C_LONG_IF, 0, 0x98, 0x34, 0x12, 0xff, 1, MARK(43), INIT_RESUME,
		   INIT_ZM_I2C_BYTE, 2, 0x80, 1, 1, 2, INIT_GPIO, INIT_GPIO_NE, 2, 0x05, 0x33,
		   INIT_CONFIGURE_PREINIT);
}

void postrom_full(struct postrom *r)
{
	postrom_begin(r);
	postrom_script(r, 0, registers(r));
	postrom_script(r, 1, conditions(r));
	postrom_script(r, 2, control(r));
	postrom_script(r, 3, PUT(r, MARK(50), INIT_DONE));
	postrom_script(r, 4, ports(r));
	postrom_script(r, 5, pins(r));
	postrom_last_script(r, PUT(r, INIT_OR_REG, R32(0x2240c), R32(2), INIT_DONE));
}
