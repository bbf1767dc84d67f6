// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPIO, I2C and DisplayPort AUX pins of a board without devices on them: inputs are pulled high, an
 * output reads back the level that it drives, I2C lines follow the master (so no address is
 * acknowledged), AUX has no sink.
 */
#include <gk110/therm.h>

#include "root.h"

static int line_index(uint32_t reg)
{
	return reg >= PGPIO_LINE(0) && reg < PGPIO_LINE(PGPIO_LINE_NR) ?
		       (int)(reg - PGPIO_LINE(0)) / 4 :
		       -1;
}

static bool is_i2c(uint32_t reg)
{
	return reg >= PGPIO_I2C(0) && reg < PGPIO_I2C(PGPIO_I2C_NR) &&
	       !((reg - PGPIO_I2C(0)) % PGPIO_I2C_STRIDE);
}

static int aux_index(uint32_t reg, uint32_t first)
{
	return reg >= first && reg < first + PGPIO_AUX_STRIDE * PGPIO_AUX_NR &&
			       !((reg - first) % PGPIO_AUX_STRIDE) ?
		       (int)((reg - first) / PGPIO_AUX_STRIDE) :
		       -1;
}

static uint32_t line_read(uint32_t v)
{
	bool high = !(v & PGPIO_LINE_OUT_EN) || (v & PGPIO_LINE_OUT);

	return high ? v | PGPIO_LINE_IN : v & ~PGPIO_LINE_IN;
}

static uint32_t i2c_read(uint32_t v)
{
	v &= ~(PGPIO_I2C_SENSE_SCL | PGPIO_I2C_SENSE_SDA);
	if (v & PGPIO_I2C_DRIVE_SCL)
		v |= PGPIO_I2C_SENSE_SCL;
	if (v & PGPIO_I2C_DRIVE_SDA)
		v |= PGPIO_I2C_SENSE_SDA;
	return v;
}

static uint32_t aux_ctrl_read(uint32_t v)
{
	v &= ~(PGPIO_AUX_CTRL_START | PGPIO_AUX_CTRL_REP);
	return v | FIELD_PREP(PGPIO_AUX_CTRL_REP, FIELD_GET(PGPIO_AUX_CTRL_REQ, v));
}

static uint32_t gpio_read(struct gk110 *g, uint32_t reg)
{
	uint32_t v = reg_get(g, reg);

	if (line_index(reg) >= 0)
		return line_read(v);
	if (is_i2c(reg))
		return i2c_read(v);
	if (aux_index(reg, PGPIO_AUX_CTRL(0)) >= 0)
		return aux_ctrl_read(v);
	if (aux_index(reg, PGPIO_AUX_STAT(0)) >= 0)
		return v & ~PGPIO_AUX_STAT_SINK;
	return reg == PGPIO_TRIGGER || reg == PGPIO_TACH_COUNT ? 0 : v;
}

static void gpio_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	switch (reg) {
	case PGPIO_INTR0:
	case PGPIO_INTR1:
	case PGPIO_AUX_INTR:
		reg_set(g, reg, reg_get(g, reg) & ~val);
		break;
	default:
		reg_merge(g, reg, val, be);
	}
}

static void gpio_reset(struct gk110 *g)
{
	unsigned int i;

	for (i = 0; i < PGPIO_I2C_NR; i++)
		reg_set(g, PGPIO_I2C(i), PGPIO_I2C_DRIVE_SCL | PGPIO_I2C_DRIVE_SDA);
}

static const struct mmio_range gpio_ranges[] = {
	{ PGPIO_BASE, PGPIO_SIZE, "GPIO", gpio_read, gpio_write },
	{ PGPIO_UPPER_BASE, PGPIO_UPPER_SIZE, "GPIO_HIGH", NULL, NULL },
};

const struct unit_ops gpio_unit = {
	.name = "GPIO",
	.ranges = gpio_ranges,
	.nr_ranges = ARRAY_SIZE(gpio_ranges),
	.reset = gpio_reset,
};
