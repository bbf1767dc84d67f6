// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTHERM (temperature, PWM of the voltage, power gating), and PPWR, a range of registers without
 * known names. nouveau's power-gating sequence writes bit 31 of the PTHERM_PGOB registers and polls
 * until the bit reads 0. For a guest the bit always reads 0.
 */
#include <gk110/map.h>
#include <gk110/therm.h>

#include "units.h"

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(PTHERM_INTR_EN, FILE, FILE, .src = SRC_NV,
		   .why = "thermal alarms are the host's"),
	KVGPU_LINE(PTHERM_SENSOR_CFG, FILE, FILE, .src = SRC_NV, .why = "the sensor is the host's"),
	KVGPU_LINE(PTHERM_INTR, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NV,
		   .why = "thermal alarms are the host's"),
	KVGPU_LINE(
		PTHERM_TEMP, CONST, CONST, .src = SRC_NV,
		.why = "0; the fuses say that the sensor is not calibrated, so that nouveau does not read it"),
	KVGPU_LINE(
		PTHERM_PGOB(0), FILE, FILE, .count = PTHERM_PGOB_NR, .zero = PTHERM_PGOB_BUSY,
		.src = SRC_NV,
		.why = "power gating of GR is done at once; nouveau polls it for up to 2 s each time"),
};

const struct kvgpu_reg_unit kvgpu_unit_ptherm = {
	.name = "PTHERM",
	.base = PTHERM_BASE,
	.size = PTHERM_SIZE,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "voltage PWM, clock gating and throttling are the host's",
		   SRC_NVRNN),
};

const struct kvgpu_reg_unit kvgpu_unit_ppwr = {
	.name = "PPWR",
	.base = PPWR_BASE,
	.size = PPWR_SIZE,
	KVGPU_REST(FILE, FILE, "unknown registers, kept from the chip", SRC_MMIO),
};
