// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clock generators and crossbar. Clocks belong to the host. A guest reads back its own values, and
 * its PLLs lock at once.
 */
#include <gk110/map.h>
#include <gk110/therm.h>

#include "units.h"

#define NR_CORE_PLLS 8

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(PCLOCK_MEM_PLL, FILE, FILE, .one = PLL_CTRL_LOCK, .src = SRC_NV,
		   .why = "always locked; drivers poll it"),
	KVGPU_LINE(PCLOCK_MEM_REFPLL, FILE, FILE, .one = PLL_CTRL_LOCK, .src = SRC_NV,
		   .why = "always locked; drivers poll it"),
	KVGPU_LINE(PCLOCK_PLL(0), FILE, FILE, .count = NR_CORE_PLLS, .stride = PCLOCK_PLL_STRIDE,
		   .one = PLL_CTRL_LOCK, .src = SRC_NV, .why = "always locked; drivers poll it"),
	KVGPU_LINE(PCLOCK_SRC_SEL, FILE, FILE, .src = SRC_NV,
		   .why = "drivers poll until they read the value that they wrote"),
};

const struct kvgpu_reg_unit kvgpu_unit_pclock = {
	.name = "PCLOCK",
	.base = PCLOCK_BASE,
	.size = PP2P_BASE - PCLOCK_BASE,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "clocks are the host's; the guest reads back its own settings",
		   SRC_NVRNN),
};

const struct kvgpu_reg_unit kvgpu_unit_pclock_vco = {
	.name = "PCLOCK_VCO",
	.base = PCLOCK_VCO_BASE,
	.size = PCLOCK_VCO_SIZE,
	KVGPU_REST(FILE, FILE, "root clock sources are the host's", SRC_NVRNN),
};

const struct kvgpu_reg_unit kvgpu_unit_pxbar = {
	.name = "PXBAR",
	.base = PXBAR_BASE,
	.size = PXBAR_SIZE,
	KVGPU_REST(FILE, FILE, "the crossbar is shared by all vGPUs", SRC_RNN),
};
