// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTHERM: the temperature sensor, the voltage PWM, and the power-gating sequencer. The die's
 * temperature does not change (open: the model chooses a card at work in a cool room), so no
 * threshold is crossed.
 */
#include <gk110/pmc.h>
#include <gk110/grinit.h>
#include <gk110/pmu.h>
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

/*
 * The GPCs get power in these steps (nouveau subdev/pmu/gk110.c), with the block-level gate on, GR
 * in reset, and a change of power announced to the PMU. A step out of order begins anew.
 */
static void gpc_power_step(struct gk110 *g, unsigned int i, uint32_t val)
{
	static const struct {
		uint8_t reg;
		uint32_t val;
	} steps[GPC_POWER_STEPS] = {
		{ 0, 0xfffffffc }, { 1, 0xfffffffe }, { 1, 0xfffffffc }, { 1, 0xfffffff8 },
		{ 1, 0xffffffe0 }, { 4, 0xfffffffe }, { 3, 0xfffffffa }, { 3, 0xfffffff0 },
		{ 3, 0xffffffc0 }, { 3, 0xffffff00 }, { 3, 0xfffffc00 }, { 3, 0xfffcfc00 },
		{ 3, 0xfff0fc00 }, { 3, 0xff80fc00 }, { 2, 0xfffffffe }, { 2, 0xfffffffc },
	};
	uint32_t gates = reg_get(g, PMC_ENABLE) & (PMC_ENABLE_GR | PMC_ENABLE_BLG);
	unsigned int at = g->gpc_power_steps;

	if (at == GPC_POWER_STEPS)
		return;
	if (gates != PMC_ENABLE_BLG || !(reg_get(g, PMU_BASE + PMU_PG_CTRL) & PMU_PG_CTRL_CHANGE))
		at = GPC_POWER_STEPS;
	g->gpc_power_steps =
		at < GPC_POWER_STEPS && steps[at].reg == i && steps[at].val == val ? at + 1 : 0;
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
		if (is_pgob(reg))
			gpc_power_step(g, (reg - PTHERM_PGOB(0)) / 4, val);
		reg_merge(g, reg, val, be);
	}
}

static void therm_reset(struct gk110 *g)
{
	g->gpc_power_steps = 0;
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
