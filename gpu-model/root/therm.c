// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTHERM: the temperature sensor, the voltage PWM, and the power-gating sequencer. The die's
 * temperature does not change (open: the model chooses a card at work in a cool room), so no
 * threshold is crossed.
 */
#include <gk110/therm.h>
#include <gk110/vbios.h>

#include "root.h"

#define TEMPERATURE_C 41

static bool is_pgob(uint32_t reg)
{
	return reg >= PTHERM_PGOB(0) && reg < PTHERM_PGOB(PTHERM_PGOB_NR);
}

static uint32_t therm_read(struct gk110 *g, uint32_t reg)
{
	if (is_pgob(reg))
		return reg_get(g, reg) & ~PTHERM_PGOB_BUSY;
	return reg_get(g, reg);
}

static void therm_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	switch (reg) {
	case PTHERM_TEMP:
		break;
	case PTHERM_INTR:
		reg_set(g, reg, reg_get(g, reg) & ~val);
		break;
	case PTHERM_VID_DUTY:
		reg_merge(g, reg, val, be & ~PTHERM_VID_DUTY_COMMIT);
		break;
	default:
		reg_merge(g, reg, val, be);
	}
}

static void therm_reset(struct gk110 *g)
{
	reg_set(g, PTHERM_SENSOR_CFG, PTHERM_SENSOR_CFG_ON);
	reg_set(g, PTHERM_TEMP, TEMPERATURE_C);
	reg_set(g, PTHERM_VID_DIV, K20M_VID_DIV);
	reg_set(g, PTHERM_VID_DUTY, (K20M_VOLT_BOOT_UV - K20M_VOLT_BASE_UV) / K20M_VID_STEP_UV);
}

static const struct mmio_range therm_ranges[] = {
	{ PTHERM_BASE, PTHERM_SIZE, "PTHERM", therm_read, therm_write },
};

const struct unit_ops therm_unit = {
	.name = "PTHERM",
	.ranges = therm_ranges,
	.nr_ranges = ARRAY_SIZE(therm_ranges),
	.reset = therm_reset,
};
