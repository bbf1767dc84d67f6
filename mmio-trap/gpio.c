// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPIO, I2C, AUX and the fan's tachometer. The real lines are wired to voltage regulators and fans,
 * so a guest's writes stay in its register file. I2C lines read high: the bus is idle and no
 * address is answered.
 */
#include <gk110/therm.h>

#include "units.h"

#define WHY_INTR "the guest's lines never change"

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(PGPIO_I2C(0), FILE, FILE, .count = PGPIO_I2C_NR, .stride = PGPIO_I2C_STRIDE,
		   .one = PGPIO_I2C_SENSE_SCL | PGPIO_I2C_SENSE_SDA, .src = SRC_NV,
		   .why = "both lines high: no device answers"),
	KVGPU_LINE(PGPIO_TRIGGER, FILE, FILE, .src = SRC_NV, .why = "would drive the lines"),
	KVGPU_LINE(PGPIO_LINE(0), FILE, FILE, .count = PGPIO_LINE_NR, .src = SRC_NV,
		   .why = "voltage regulators, fan and power sensors are wired to these lines"),
	KVGPU_LINE(PGPIO_INTR0, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NV, .why = WHY_INTR),
	KVGPU_LINE(PGPIO_INTR_EN0, FILE, FILE, .src = SRC_NV, .why = WHY_INTR),
	KVGPU_LINE(PGPIO_AUX_INTR, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NV, .why = WHY_INTR),
	KVGPU_LINE(PGPIO_AUX_INTR_EN, FILE, FILE, .src = SRC_NV, .why = WHY_INTR),
	KVGPU_LINE(PGPIO_INTR1, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NV, .why = WHY_INTR),
	KVGPU_LINE(PGPIO_INTR_EN1, FILE, FILE, .src = SRC_NV, .why = WHY_INTR),
	KVGPU_LINE(PGPIO_AUX_CTRL(0), FILE, FILE, .count = PGPIO_AUX_NR, .stride = PGPIO_AUX_STRIDE,
		   .zero = PGPIO_AUX_CTRL_START | PGPIO_AUX_CTRL_REP, .src = SRC_NV,
		   .why = "a transfer ends at once"),
	KVGPU_LINE(PGPIO_AUX_STAT(0), CONST, CONST, .count = PGPIO_AUX_NR,
		   .stride = PGPIO_AUX_STRIDE, .src = SRC_NV, .why = "no sink is connected"),
	KVGPU_LINE(PGPIO_TACH_CTRL, FILE, FILE, .src = SRC_NV, .why = "the fan is the host's"),
	KVGPU_LINE(PGPIO_TACH_COUNT, CONST, CONST, .src = SRC_NV, .why = "a guest has no fan"),
};

const struct kvgpu_reg_unit kvgpu_unit_pgpio = {
	.name = "PGPIO",
	.base = PGPIO_BASE,
	.size = PCLOCK_VCO_BASE - PGPIO_BASE,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "board wiring: fan PWM, spread spectrum, hot-plug", SRC_NVRNN),
};

const struct kvgpu_reg_unit kvgpu_unit_pgpio_upper = {
	.name = "PGPIO_UPPER",
	.base = PGPIO_UPPER_BASE,
	.size = PGPIO_UPPER_SIZE,
	KVGPU_REST(FILE, FILE, "board wiring", SRC_NVRNN),
};
