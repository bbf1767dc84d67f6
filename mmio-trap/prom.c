// SPDX-License-Identifier: GPL-2.0-only
/* PROM, the card's ROM with the VBIOS: the bytes of cfg.vbios, followed by zeros. */
#include <gk110/vbios.h>

#include "units.h"

static u32 prom_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 off = a->reg - PROM_BASE, val = 0, i;

	for (i = 0; i < 4 && off + i < t->cfg.vbios_size; i++)
		val |= (u32)t->cfg.vbios[off + i] << (8 * i);
	return val;
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(
		PROM_BASE, CONST, CONST, .count = PROM_SIZE / 4, .bulk = true, .read = prom_read,
		.src = SRC_NV,
		.why = "nouveau reads the VBIOS tables here; trapped writes are ignored, but a guest can write to its mapping of the vGPU's copy"),
};

const struct kvgpu_reg_unit kvgpu_unit_prom = {
	.name = "PROM",
	.base = PROM_BASE,
	.size = PROM_SIZE,
	KVGPU_UNIT_LINES(lines),
};
