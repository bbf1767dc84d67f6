// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pins (GPIO) and I2C ports of the board, which the DCB of the VBIOS describes. I2C is done bit by
 * bit, in the order of the kernel's i2c-algo-bit, by which nouveau does it: at 50 kHz, with four
 * tries to address a device.
 */
#include <linux/bitfield.h>

#include "gk110/devinit.h"
#include "hw/post.h"

/* A table that the DCB names at offset @slot: version, entries and their size. */
struct table {
	u32 at;
	u8 version, header, count, size;
};

static bool table_find(struct hw_post *p, u32 slot, struct table *t)
{
	t->at = p->dcb ? hw_post_rom16(p, p->dcb + slot) : 0;
	if (!t->at)
		return false;
	t->version = hw_post_rom8(p, t->at);
	t->header = hw_post_rom8(p, t->at + 1);
	t->count = hw_post_rom8(p, t->at + 2);
	t->size = hw_post_rom8(p, t->at + 3);
	if (t->version == 0x40 || t->version == 0x41)
		return !p->why;
	hw_post_fail(p, "needs a table of pins or ports of an unknown version");
	return false;
}

/* ------------------------------------------------------------------ GPIO */

static bool listed(struct hw_post *p, u8 function, u32 list, unsigned int nr)
{
	while (nr--)
		if (hw_post_rom8(p, list + nr) == function)
			return true;
	return false;
}

static void pin_reset(struct hw_post *p, const struct table *t, u32 at)
{
	u32 pin = hw_post_rom32(p, at), line = FIELD_GET(DCB_GPIO_LINE, pin), logic;
	u32 in = FIELD_GET(DCB_GPIO_INPUT, pin);
	bool state = pin & DCB_GPIO_STATE;

	if (t->version == 0x40)
		logic = pin >> DCB_GPIO_LOGIC_40(state);
	else
		logic = hw_post_rom8(p, at + 4) >> DCB_GPIO_LOGIC_41(state);
	hw_post_mask(p, PMGR_GPIO(line), PMGR_GPIO_DRIVE | PMGR_GPIO_OUT,
		     (logic & DCB_GPIO_LOGIC_INPUT ? 0 : PMGR_GPIO_DRIVE) |
			     (logic & DCB_GPIO_LOGIC_OUT ? PMGR_GPIO_OUT : 0));
	hw_post_mask(p, PMGR_GPIO_UPDATE, PMGR_GPIO_UPDATE_NOW, PMGR_GPIO_UPDATE_NOW);
	hw_post_mask(p, PMGR_GPIO(line), PMGR_GPIO_SEL, FIELD_GET(DCB_GPIO_OUTPUT, pin));
	if (in)
		hw_post_mask(p, PMGR_GPIO_IN(in - 1), PMGR_GPIO_IN_LINE, line);
}

void hw_post_gpio_reset(struct hw_post *p, u32 except, unsigned int nr)
{
	struct table t;
	u32 i, at;

	if (!table_find(p, DCB_GPIO, &t))
		return;
	for (i = 0, at = t.at + t.header; i < t.count && !p->why; i++, at += t.size) {
		u8 function = FIELD_GET(DCB_GPIO_FUNCTION, hw_post_rom32(p, at));

		if (function != DCB_GPIO_UNUSED && !listed(p, function, except, nr))
			pin_reset(p, &t, at);
	}
}

/* ------------------------------------------------------------------ I2C */

#define I2C_US	    10 /* half of a bit */
#define I2C_TRIES   4
#define I2C_WAIT_US 2200 /* how long a device may hold the clock */
#define I2C_READ    1 /* bit of the address byte */

enum { NO_PAD = -1 };

struct port {
	u32 reg;
	int pad; /* pad that the port shares with an AUX channel, or NO_PAD */
};

static bool port_find(struct hw_post *p, u8 index, struct port *port)
{
	struct table t;
	u32 at, v;

	if (!table_find(p, DCB_I2C, &t))
		return false;
	if (index == 0x80 || index == 0xff)
		index = hw_post_rom8(p, t.at + DCB_I2C_DEFAULT) & 0xf;
	else if (index == 0x81)
		index = hw_post_rom8(p, t.at + DCB_I2C_DEFAULT) >> 4;
	if (index >= t.count)
		return false;
	at = t.at + t.header + index * t.size;
	v = hw_post_rom32(p, at);
	port->pad = NO_PAD;
	if (t.version == 0x40) {
		if (hw_post_rom8(p, at + DCB_I2C_TYPE) != DCB_I2C_NVIO)
			return false;
		port->reg = PMGR_I2C(FIELD_GET(DCB_I2C_NVIO_DRIVE, v));
		v = hw_post_rom8(p, at + 1);
		if (v & DCB_I2C_NVIO_SHARED)
			port->pad = v >> 1;
	} else {
		if (FIELD_GET(DCB_I2C_PMGR_DRIVE, v) == DCB_I2C_PMGR_UNUSED)
			return false;
		port->reg = PMGR_I2C(FIELD_GET(DCB_I2C_PMGR_DRIVE, v));
		if (FIELD_GET(DCB_I2C_PMGR_AUX, v) != DCB_I2C_PMGR_UNUSED)
			port->pad = FIELD_GET(DCB_I2C_PMGR_AUX, v);
	}
	return !p->why;
}

static void sda(struct hw_post *p, u32 reg, bool high)
{
	hw_post_mask(p, reg, PMGR_I2C_SDA, high ? PMGR_I2C_SDA : 0);
	hw_post_delay(p, I2C_US / 2);
}

static void scl_low(struct hw_post *p, u32 reg)
{
	hw_post_mask(p, reg, PMGR_I2C_SCL, 0);
	hw_post_delay(p, I2C_US / 2);
}

/* False: a device holds the clock. */
static bool scl_high(struct hw_post *p, u32 reg)
{
	u32 us = 0;

	hw_post_mask(p, reg, PMGR_I2C_SCL, PMGR_I2C_SCL);
	while (!(hw_post_read(p, reg) & PMGR_I2C_SCL_IN)) {
		if (!hw_post_on(p) || us >= I2C_WAIT_US)
			return false;
		hw_post_delay(p, I2C_US);
		us += I2C_US;
	}
	hw_post_delay(p, I2C_US);
	return true;
}

static void start(struct hw_post *p, u32 reg)
{
	sda(p, reg, false);
	scl_low(p, reg);
}

static void stop(struct hw_post *p, u32 reg)
{
	sda(p, reg, false);
	scl_high(p, reg);
	sda(p, reg, true);
}

/* False: no device has acknowledged the byte. */
static bool send(struct hw_post *p, u32 reg, u8 byte)
{
	bool ack;
	int i;

	for (i = 7; i >= 0; i--) {
		sda(p, reg, byte & BIT(i));
		if (!scl_high(p, reg))
			return false;
		scl_low(p, reg);
	}
	sda(p, reg, true);
	if (!scl_high(p, reg))
		return false;
	ack = !(hw_post_read(p, reg) & PMGR_I2C_SDA_IN);
	scl_low(p, reg);
	return ack;
}

/* Reads the only byte, so that it is not acknowledged. */
static bool receive(struct hw_post *p, u32 reg, u8 *byte)
{
	int i;

	*byte = 0;
	sda(p, reg, true);
	for (i = 7; i >= 0; i--) {
		if (!scl_high(p, reg))
			return false;
		*byte |= hw_post_read(p, reg) & PMGR_I2C_SDA_IN ? BIT(i) : 0;
		scl_low(p, reg);
	}
	if (!scl_high(p, reg))
		return false;
	scl_low(p, reg);
	return true;
}

static bool address(struct hw_post *p, u32 reg, u8 byte)
{
	unsigned int i;

	for (i = 1; !send(p, reg, byte); i++) {
		if (i == I2C_TRIES || !hw_post_on(p))
			return false;
		stop(p, reg);
		start(p, reg);
	}
	return true;
}

static bool transfer(struct hw_post *p, u32 reg, u8 addr, const u8 *out, unsigned int nr, u8 *in)
{
	unsigned int i;

	start(p, reg);
	if (!address(p, reg, addr << 1))
		return false;
	for (i = 0; i < nr; i++)
		if (!send(p, reg, out[i]))
			return false;
	if (!in)
		return true;
	/* a start without a stop before it */
	sda(p, reg, true);
	scl_high(p, reg);
	start(p, reg);
	return address(p, reg, addr << 1 | I2C_READ) && receive(p, reg, in);
}

bool hw_post_i2c(struct hw_post *p, u8 index, u8 addr, const u8 *out, unsigned int nr, u8 *in)
{
	struct port port;
	bool done;

	if (!port_find(p, index, &port) || !hw_post_on(p))
		return false;
	hw_post_write(p, port.reg, PMGR_I2C_IDLE);
	if (port.pad != NO_PAD) {
		hw_post_mask(p, PMGR_PAD_MODE(port.pad), PMGR_PAD_MODE_BITS, PMGR_PAD_MODE_I2C);
		hw_post_mask(p, PMGR_PAD_OFF(port.pad), PMGR_PAD_OFF_ON, 0);
	}
	done = transfer(p, port.reg, addr, out, nr, in);
	stop(p, port.reg);
	if (port.pad != NO_PAD)
		hw_post_mask(p, PMGR_PAD_OFF(port.pad), PMGR_PAD_OFF_ON, PMGR_PAD_OFF_ON);
	return done;
}
