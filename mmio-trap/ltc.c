// SPDX-License-Identifier: GPL-2.0-only
/*
 * L2. Guests have no compression: a guest's set-up of compression stays in its register file, and a
 * clear of compression tags reads as done at once.
 */
#include <gk110/ltc.h>

#include "units.h"

#define NR_PARTS ((LTC_BCAST - LTC_BASE) / LTC_PART_STRIDE)

static u32 ltc_config_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return FIELD_PREP(LTC_CONFIG_SLICES, t->cfg.topo->slices);
}

static u32 grctx_0_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->cfg.topo->r17e91c;
}

static u32 grctx_1_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->cfg.topo->r17e920;
}

#define CBC_LINE(slice)                                                                        \
	KVGPU_LINE(LTC_SLICE(0, slice) + LTC_CBC_CTRL, FILE, FILE, .count = NR_PARTS,          \
		   .stride = LTC_PART_STRIDE, .zero = LTC_CBC_CTRL_CLEAR | LTC_CBC_CTRL_FLUSH, \
		   .src = SRC_NV,                                                              \
		   .why = "a clear of compression tags is done at once; nouveau polls each slice")

static const struct kvgpu_reg_line lines[] = {
	CBC_LINE(0),
	CBC_LINE(1),
	CBC_LINE(2),
	CBC_LINE(3),
	KVGPU_LINE(LTC_BCAST_SLICE + LTC_CBC_CTRL, FILE, FILE,
		   .zero = LTC_CBC_CTRL_CLEAR | LTC_CBC_CTRL_FLUSH, .src = SRC_NV,
		   .why = "a clear of compression tags is done at once"),
	KVGPU_LINE(LTC_BCAST_SLICE + LTC_CBC_BASE, FILE, FILE, .src = SRC_NV,
		   .why = "a physical address; guests have no compression"),
	KVGPU_LINE(LTC_BCAST_SLICE + LTC_CONFIG, CONST, CONST, .read = ltc_config_read,
		   .src = SRC_NVRNN, .why = "slices of each L2 part of the card"),
	KVGPU_LINE(LTC_BCAST_SLICE + LTC_GRCTX_0, CONST, CONST, .read = grctx_0_read, .src = SRC_NV,
		   .why = "the card's value, which drivers put into patch lists of contexts"),
	KVGPU_LINE(LTC_BCAST_SLICE + LTC_GRCTX_1, CONST, CONST, .read = grctx_1_read, .src = SRC_NV,
		   .why = "the card's value, which drivers put into patch lists of contexts"),
};

const struct kvgpu_reg_unit kvgpu_unit_ltc = {
	.name = "PLTCG",
	.base = LTC_BASE,
	.size = LTC_SIZE,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE,
		   "the L2 is shared by all vGPUs; clear tables are unused without compression",
		   SRC_NVRNN),
};
