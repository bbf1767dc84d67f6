// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuses and straps. The fuse words of a die identify it, so a guest gets none of them: the speedo
 * fuse (the speed of the silicon) reads a constant, others 0.
 */
#include <gk110/pfuse.h>

#include "units.h"

/* A middle value is good enough for voltage tables. The value of a real card is not known yet. */
#define SPEEDO 1500

static u32 strap_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->cfg.topo->strap;
}

static const struct kvgpu_reg_line fuses[] = {
	KVGPU_LINE(PFUSE_CONTROL, FILE, FILE, .src = SRC_NV,
		   .why = "readout request of nouveau's sequence"),
	KVGPU_LINE(PFUSE_WORD(PFUSE_TEMP_CALIBRATED), CONST, CONST, .src = SRC_NV,
		   .why = "0: no temperature for guests"),
	KVGPU_LINE(PFUSE_WORD(PFUSE_SPEEDO), CONST, CONST, .reset = SPEEDO, .src = SRC_NV,
		   .why = "nouveau warns when it is 0"),
};

const struct kvgpu_reg_unit kvgpu_unit_pfuse = {
	.name = "PFUSE",
	.base = PFUSE_BASE,
	.size = PFUSE_SIZE,
	KVGPU_UNIT_LINES(fuses),
	KVGPU_REST(CONST, CONST,
		   "the identity of the die is kept from guests; fuses can't be burnt", SRC_RNN),
};

static const struct kvgpu_reg_line straps[] = {
	KVGPU_LINE(PSTRAPS_BOOT0, CONST, CONST, .read = strap_read, .src = SRC_NVRNN,
		   .why = "crystal and memory straps; nouveau selects VBIOS entries by them"),
};

const struct kvgpu_reg_unit kvgpu_unit_pstraps = {
	.name = "PSTRAPS",
	.base = PSTRAPS_BASE,
	.size = PSTRAPS_SIZE,
	KVGPU_UNIT_LINES(straps),
	KVGPU_REST(FILE, FILE, "strap overrides, without effect", SRC_RNN),
};
