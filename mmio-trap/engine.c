// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dispatch of accesses: finds the table line of an access and does what the line's class says.
 * Masks of lines, byte enables and counts of accesses are handled here.
 */
#include <linux/string.h>

#include <gk110/map.h>
#include <gk110/ppci.h>

#include "internal.h"

void vtrap_denial_note(struct kvgpu_trap *t)
{
	t->nr_denied++;
}

static struct kvgpu_reg_slot *slot_of(struct kvgpu_trap *t, const struct kvgpu_reg_line *l, u32 reg)
{
	if (l->bulk || l->rd == KVGPU_REG_CONST)
		return vtrap_slot_find(t, reg);
	return vtrap_slot_make(t, reg, l->reset);
}

static void count_class(struct kvgpu_trap *t, enum kvgpu_reg_class class)
{
	if (class == KVGPU_REG_UNLISTED)
		t->nr_unlisted++;
	else if (class == KVGPU_REG_DENY)
		t->nr_denied++;
}

u32 kvgpu_trap_read(struct kvgpu_trap *t, u32 reg, u64 now)
{
	struct kvgpu_access a = { .reg = reg & (GK110_BAR0_SIZE - 4), .now = now };
	const u32 *plain = vtrap_plain_find(t, a.reg);
	const struct kvgpu_reg_line *l;
	struct kvgpu_reg_slot *s;

	t->nr_reads++;
	if (plain)
		return READ_ONCE(*plain);
	l = vtrap_line_find(&a, NULL);
	s = slot_of(t, l, a.reg);
	if (s)
		s->rd++;
	count_class(t, l->rd);
	if (l->read)
		return l->read(t, &a);
	if (l->rd == KVGPU_REG_CONST)
		return l->reset;
	return ((s ? s->val : l->reset) & ~l->zero) | l->one;
}

/* stores a write in the register file; without a slot the value is lost */
static void file_write(struct kvgpu_trap *t, const struct kvgpu_reg_line *l,
		       struct kvgpu_reg_slot *s, const struct kvgpu_access *a)
{
	u32 old = s ? s->val : l->reset, val;

	val = (a->val & ~(l->ro | l->w1c)) | (old & l->ro) | (old & l->w1c & ~a->bits);
	if (s)
		s->val = val;
	else if (!l->bulk && l->rd != KVGPU_REG_CONST)
		t->nr_dropped++;
}

static void dispatch_write(struct kvgpu_trap *t, const struct kvgpu_reg_line *l,
			   struct kvgpu_reg_slot *s, const struct kvgpu_access *a, u32 be)
{
	if (l->wr == KVGPU_REG_CONST)
		return;
	if (l->wr == KVGPU_REG_TRAP && be != ALL_BITS)
		vtrap_denial_note(t); /* a command needs all four bytes */
	else if (l->write)
		l->write(t, a);
	else
		file_write(t, l, s, a);
}

void kvgpu_trap_write(struct kvgpu_trap *t, u32 reg, u32 val, u32 be, u64 now,
		      struct kvgpu_cmd *cmd)
{
	struct kvgpu_access a = {
		.reg = reg & (GK110_BAR0_SIZE - 4), .bits = val & be, .now = now, .cmd = cmd
	};
	u32 *plain = vtrap_plain_find(t, a.reg);
	bool line = t->line, edge = t->edge;
	const struct kvgpu_reg_line *l;
	struct kvgpu_reg_slot *s;

	memset(cmd, 0, sizeof(*cmd));
	t->nr_writes++;
	l = vtrap_line_find(&a, NULL);
	if (plain && l->wr == KVGPU_REG_FILE) {
		WRITE_ONCE(*plain, (READ_ONCE(*plain) & ~be) | a.bits | l->one);
		return;
	}
	s = plain ? NULL : slot_of(t, l, a.reg);
	if (s)
		s->wr++;
	count_class(t, l->wr);
	a.val = ((plain ? READ_ONCE(*plain) : s ? s->val : l->reset) & ~be) | a.bits;
	dispatch_write(t, l, s, &a, be);
	cmd->irq = t->line != line || (t->edge && !edge);
	if (cmd->irq && cmd->kind == KVGPU_CMD_NONE)
		cmd->kind = KVGPU_CMD_IRQ;
}

void kvgpu_trap_config_set(struct kvgpu_trap *t, u16 off, u32 val)
{
	if (off < PPCI_CONFIG_SIZE)
		vtrap_reg_set(t, PPCI_BASE + (off & ~3u), val);
}

/*
 * Reserves slots of the register file, before the guest can fill it, for registers with a write
 * hook: most of these hooks keep a value there. Lines with .bulk, and lines of more than 16
 * registers, get no slots in advance.
 */
static void reserve_slots(struct kvgpu_trap *t, const struct kvgpu_reg_unit *u,
			  const struct kvgpu_reg_line *l)
{
	u32 copy, i, copies = max(u->copies, 1u), count = max(l->count, 1u),
		     stride = l->stride ? l->stride : 4;

	if (l->bulk || (l->wr != KVGPU_REG_EMULATE && l->wr != KVGPU_REG_TRAP) || count > 16)
		return;
	for (copy = 0; copy < copies; copy++)
		for (i = 0; i < count; i++)
			vtrap_slot_make(t, l->off + copy * u->size + i * stride, l->reset);
}

/*
 * Gives registers of the vGPU the values that hw/chip.c found in the card's registers at bring-up,
 * because drivers compute with them.
 */
static void seed_regs(struct kvgpu_trap *t)
{
	const struct kvgpu_topo *topo = t->cfg.topo;
	u32 i;

	for (i = 0; i < min_t(u32, topo->nr_seed, KVGPU_MAX_SEED); i++) {
		struct kvgpu_access a = { .reg = topo->seed[i].reg };

		if (vtrap_line_find(&a, NULL)->rd == KVGPU_REG_FILE)
			vtrap_reg_set(t, topo->seed[i].reg, topo->seed[i].val);
	}
}

/* Gives the registers in cfg.mmu the values that a read of each would return. */
static void mmu_reset(struct kvgpu_trap *t)
{
	const struct kvgpu_reg_line *l;
	u32 i;

	for (i = 0; t->cfg.mmu && i < KVGPU_TRAP_MMU_SIZE / 4; i++) {
		struct kvgpu_access a = { .reg = KVGPU_TRAP_MMU_BASE + 4 * i };

		l = vtrap_line_find(&a, NULL);
		t->cfg.mmu[i] = l->read ? l->read(t, &a) : l->reset | l->one;
	}
}

void kvgpu_trap_reset(struct kvgpu_trap *t)
{
	const u64 counts[] = { t->nr_reads, t->nr_writes, t->nr_unlisted, t->nr_dropped,
			       t->nr_denied };
	struct kvgpu_trap_cfg cfg = t->cfg;
	struct kvgpu_reg_slot *slot = t->slot;
	u32 i, j;

	memset(slot, 0, KVGPU_TRAP_SLOTS * sizeof(*slot));
	if (cfg.plain)
		memset(cfg.plain, 0, KVGPU_TRAP_PLAIN_SIZE);
	memset(t, 0, sizeof(*t));
	t->cfg = cfg;
	t->slot = slot;
	t->nr_reads = counts[0];
	t->nr_writes = counts[1];
	t->nr_unlisted = counts[2];
	t->nr_dropped = counts[3];
	t->nr_denied = counts[4];
	t->ptimer_offset = t->cfg.ptimer_offset;
	mmu_reset(t);
	for (i = 0; i < kvgpu_trap_nr_units; i++)
		for (j = 0; j < kvgpu_trap_units[i]->nr_lines; j++)
			reserve_slots(t, kvgpu_trap_units[i], &kvgpu_trap_units[i]->line[j]);
	seed_regs(t);
	vtrap_pmc_reset(t);
}

void kvgpu_trap_init(struct kvgpu_trap *t, const struct kvgpu_trap_cfg *cfg,
		     struct kvgpu_reg_slot *slots)
{
	memset(t, 0, sizeof(*t));
	t->cfg = *cfg;
	t->slot = slots;
	kvgpu_trap_reset(t);
}
