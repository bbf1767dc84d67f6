// SPDX-License-Identifier: GPL-2.0-only
/* guest.h has the contracts. */
#include <gk110/pmc.h>
#include <gk110/ptop.h>

#include "guest.h"

static const struct kvgpu_topo k20m = {
	.boot0 = 0x0f0000a1, .nr_engines = 4, .nr_runl = 3, .nr_pbdma = 3,
	.engine = {
		{ .type = 0, .id = 0, .runl = 0, .intr = PMC_INTR_GR, .reset = GR_RESET,
			.fault = GR_FAULT_UNIT, .base = GR_MMIO },
		{ .type = 1, .id = 1, .runl = 1, .intr = PMC_INTR_CE0, .reset = CE0_RESET,
			.fault = CE0_FAULT_UNIT,
		  .base = CE_MMIO(0) },
		{ .type = 2, .id = 2, .runl = 2, .intr = PMC_INTR_CE1, .reset = CE1_RESET,
			.fault = CE1_FAULT_UNIT,
		  .base = CE_MMIO(1) },
		{ .type = 3, .id = 3, .runl = 0, .intr = PMC_INTR_CE2, .reset = CE2_RESET,
			.fault = CE2_FAULT_UNIT,
		  .base = CE_MMIO(2) },
	},
	.pbdma_runl = { 1, 2, 4 },
	.gpcs = 5, .rops = 5, .fbps = 5, .ltcs = 5, .slices = 4, .tpcs = { 3, 3, 3, 2, 2 },
	.ppc_mask = { { 3, 4 }, { 3, 4 }, { 3, 4 }, { 1, 2 }, { 1, 2 } },
	.strap = 0x00400000, .r17e91c = 0x03060609, .r17e920 = 0x0a1b2c3d,
};

struct guest *guest_new(void)
{
	struct guest *g = calloc(1, sizeof(*g));
	struct kvgpu_reg_slot *slots = calloc(KVGPU_TRAP_SLOTS, sizeof(*slots));
	struct kvgpu_trap_cfg cfg = { .topo = &g->topo,
				      .vram_size = GUEST_VRAM,
				      .gr_ctx_size = GUEST_CTX_SIZE,
				      .vbios = g->vbios,
				      .vbios_size = sizeof(g->vbios),
				      .ptimer_offset = 12345 };
	size_t i;

	assert_non_null(g);
	assert_non_null(slots);
	g->topo = k20m;
	for (i = 0; i < sizeof(g->vbios); i++)
		g->vbios[i] = (uint8_t)(i * 7 + 1);
	g->now = 1000000000;
	kvgpu_trap_init(&g->t, &cfg, slots);
	return g;
}

void guest_free(struct guest *g)
{
	free(g->t.slot);
	free(g);
}

uint32_t rd(struct guest *g, uint32_t reg)
{
	return kvgpu_trap_read(&g->t, reg, g->now += 1024);
}

enum kvgpu_cmd_kind wr(struct guest *g, uint32_t reg, uint32_t val)
{
	kvgpu_trap_write(&g->t, reg, val, 0xffffffff, g->now += 1024, &g->cmd);
	return g->cmd.kind;
}

void mask(struct guest *g, uint32_t reg, uint32_t clear, uint32_t set)
{
	wr(g, reg, (rd(g, reg) & ~clear) | set);
}

bool message_due(struct guest *g)
{
	bool edge;

	kvgpu_trap_irq_take(&g->t, &edge);
	return edge;
}
