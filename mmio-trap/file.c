// SPDX-License-Identifier: GPL-2.0-only
/*
 * The register file of one vGPU: an open-addressed hash of fixed size. No single slot is freed,
 * only all at once by a reset, so a search can end at a free slot. A search also ends after PROBES
 * steps, so that a guest can't make accesses expensive by its choice of registers. A register
 * without a slot reads .reset of its table line.
 */
#include "internal.h"

#define SLOT_BITS 14
#define PROBES	  64

_Static_assert(KVGPU_TRAP_SLOTS == 1 << SLOT_BITS, "the hash is cut to the number of slots");

static u32 first_slot(u32 reg)
{
	return ((reg >> 2) * 0x9e3779b1u) >> (32 - SLOT_BITS);
}

struct kvgpu_reg_slot *vtrap_slot_find(struct kvgpu_trap *t, u32 reg)
{
	u32 i, at = first_slot(reg);

	for (i = 0; i < PROBES; i++) {
		struct kvgpu_reg_slot *s = &t->slot[(at + i) & (KVGPU_TRAP_SLOTS - 1)];

		if (!s->reg)
			return NULL;
		if (s->reg == (reg | 1))
			return s;
	}
	return NULL;
}

struct kvgpu_reg_slot *vtrap_slot_make(struct kvgpu_trap *t, u32 reg, u32 val)
{
	u32 i, at = first_slot(reg);

	for (i = 0; i < PROBES; i++) {
		struct kvgpu_reg_slot *s = &t->slot[(at + i) & (KVGPU_TRAP_SLOTS - 1)];

		if (s->reg == (reg | 1))
			return s;
		if (!s->reg) {
			s->reg = reg | 1;
			s->val = val;
			t->nr_slots_used++;
			return s;
		}
	}
	return NULL;
}

u32 *vtrap_plain_find(const struct kvgpu_trap *t, u32 reg)
{
	u32 plain = reg - KVGPU_TRAP_PLAIN_BASE, mmu = reg - KVGPU_TRAP_MMU_BASE;

	if (t->cfg.plain && plain < KVGPU_TRAP_PLAIN_SIZE)
		return &t->cfg.plain[plain / 4];
	if (t->cfg.mmu && mmu < KVGPU_TRAP_MMU_SIZE)
		return &t->cfg.mmu[mmu / 4];
	return NULL;
}

u32 vtrap_reg_get(const struct kvgpu_trap *t, u32 reg)
{
	struct kvgpu_access a = { .reg = reg };
	const u32 *plain = vtrap_plain_find(t, reg);
	const struct kvgpu_reg_slot *s;

	if (plain)
		return READ_ONCE(*plain);
	s = vtrap_slot_find((struct kvgpu_trap *)t, reg);
	return s ? s->val : vtrap_line_find(&a, NULL)->reset;
}

void vtrap_reg_set(struct kvgpu_trap *t, u32 reg, u32 val)
{
	u32 *plain = vtrap_plain_find(t, reg);
	struct kvgpu_reg_slot *s;

	if (plain) {
		WRITE_ONCE(*plain, val);
		return;
	}
	s = vtrap_slot_make(t, reg, 0);
	if (s)
		s->val = val;
	else
		t->nr_dropped++;
}
