// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTHERM and unit power gating. The power-gating sequence that nouveau runs before it touches GR
 * writes bit 31 and polls until it reads 0.
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
	KVGPU_LINE(PTHERM_TEMP, CONST, CONST, .src = SRC_NV,
		   .why = "fuses say that the sensor is not calibrated: a guest does not look"),
	KVGPU_LINE(PTHERM_PGOB(0), FILE, FILE, .count = PTHERM_PGOB_NR, .zero = PTHERM_PGOB_BUSY,
		   .src = SRC_NV,
		   .why = "power gating of GR: nouveau polls for idle, 2 s each time"),
};

const struct kvgpu_reg_unit kvgpu_unit_ptherm = {
	.name = "PTHERM", .base = PTHERM_BASE, .size = PTHERM_SIZE, KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "voltage PWM, clock gating, throttling: the host's", SRC_NVRNN),
};

const struct kvgpu_reg_unit kvgpu_unit_ppwr = {
	.name = "PPWR", .base = PPWR_BASE, .size = PPWR_SIZE,
	KVGPU_REST(FILE, FILE, "power gating of units is the host's", SRC_MED),
};
