// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of all units, sorted by address, the search for a register, and the checks of the
 * tables. The module does not load if a check fails.
 */
#include <gk110/bar.h>
#include <gk110/map.h>
#include <gk110/mmu.h>

#include "internal.h"
#include "units.h"

const struct kvgpu_reg_unit *const kvgpu_trap_units[] = {
	&kvgpu_unit_pmc,	  &kvgpu_unit_pbus,	     &kvgpu_unit_pfifo,
	&kvgpu_unit_pfifo_bypass, &kvgpu_unit_prma,	     &kvgpu_unit_ptimer,
	&kvgpu_unit_ppwr,	  &kvgpu_unit_pgpio,	     &kvgpu_unit_pclock_vco,
	&kvgpu_unit_pgpio_upper,  &kvgpu_unit_pci_other,     &kvgpu_unit_ptherm,
	&kvgpu_unit_pfuse,	  &kvgpu_unit_ptop_low,	     &kvgpu_unit_ptop,
	&kvgpu_unit_pbdma,	  &kvgpu_unit_peephole,	     &kvgpu_unit_flush,
	&kvgpu_unit_pvideo,	  &kvgpu_unit_ppci_config,   &kvgpu_unit_ppci,
	&kvgpu_unit_prmfb,	  &kvgpu_unit_pffb_low,	     &kvgpu_unit_pmmu,
	&kvgpu_unit_pffb_high,	  &kvgpu_unit_pstraps,	     &kvgpu_unit_ce,
	&kvgpu_unit_pcodec,	  &kvgpu_unit_pmu,	     &kvgpu_unit_pbfb_bcast,
	&kvgpu_unit_pbfb,	  &kvgpu_unit_privring,	     &kvgpu_unit_pclock,
	&kvgpu_unit_pp2p,	  &kvgpu_unit_pxbar,	     &kvgpu_unit_ltc,
	&kvgpu_unit_pcounter,	  &kvgpu_unit_pfifo_unk1c0,  &kvgpu_unit_pmsenc,
	&kvgpu_unit_prom,	  &kvgpu_unit_gr_fe,	     &kvgpu_unit_fecs,
	&kvgpu_unit_gr_hub,	  &kvgpu_unit_gr_rop,	     &kvgpu_unit_gpc_bcast,
	&kvgpu_unit_gpccs,	  &kvgpu_unit_gpc_bcast_tpc, &kvgpu_unit_gpc,
	&kvgpu_unit_prmio,	  &kvgpu_unit_pdisp,	     &kvgpu_unit_chan,
};
const u32 kvgpu_trap_nr_units = ARRAY_SIZE(kvgpu_trap_units);

static const struct kvgpu_reg_line nowhere; /* all 0: class UNLISTED */

static u32 copies_of(const struct kvgpu_reg_unit *u)
{
	return max(u->copies, 1u);
}

static u32 unit_end(const struct kvgpu_reg_unit *u)
{
	return u->base + u->size * copies_of(u);
}

static u32 count_of(const struct kvgpu_reg_line *l)
{
	return max(l->count, 1u);
}

static u32 stride_of(const struct kvgpu_reg_line *l)
{
	return l->stride ? l->stride : 4;
}

static const struct kvgpu_reg_unit *find_unit(u32 reg)
{
	u32 lo = 0, hi = ARRAY_SIZE(kvgpu_trap_units);

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;
		const struct kvgpu_reg_unit *u = kvgpu_trap_units[mid];

		if (reg < u->base)
			hi = mid;
		else if (reg >= unit_end(u))
			lo = mid + 1;
		else
			return u;
	}
	return NULL;
}

static bool line_covers(const struct kvgpu_reg_line *l, u32 reg, u32 *idx)
{
	u32 d = reg - l->off;

	if (reg < l->off || d % stride_of(l) || d / stride_of(l) >= count_of(l))
		return false;
	*idx = d / stride_of(l);
	return true;
}

const struct kvgpu_reg_line *vtrap_line_find(struct kvgpu_access *a,
					     const struct kvgpu_reg_unit **unit)
{
	const struct kvgpu_reg_unit *u = find_unit(a->reg);
	u32 i, reg;

	if (unit)
		*unit = u;
	if (!u)
		return &nowhere;
	a->inst = (a->reg - u->base) / u->size;
	reg = a->reg - a->inst * u->size;
	for (i = 0; i < u->nr_lines && u->line[i].off <= reg; i++)
		if (line_covers(&u->line[i], reg, &a->idx))
			return &u->line[i];
	return &u->rest;
}

bool kvgpu_trap_info(u32 reg, struct kvgpu_reg_info *info)
{
	struct kvgpu_access a = { .reg = reg & (GK110_BAR0_SIZE - 4) };
	const struct kvgpu_reg_unit *u;
	const struct kvgpu_reg_line *l = vtrap_line_find(&a, &u);

	info->unit = u ? u->name : "";
	info->name = l->name ? l->name : "";
	info->why = l->why ? l->why : "";
	info->src = l->src ? l->src : "";
	info->rd = l->rd;
	info->wr = l->wr;
	return l->rd != KVGPU_REG_UNLISTED;
}

/* ------------------------------------------------------------------ checks of the tables */

static const char *check_classes(const struct kvgpu_reg_line *l)
{
	if (!l->name || !l->why || !l->src)
		return "a line lacks its name, reason or source";
	if ((l->rd == KVGPU_REG_UNLISTED) || (l->wr == KVGPU_REG_UNLISTED))
		return "a listed register is of class UNLISTED";
	if (l->rd == KVGPU_REG_TRAP)
		return "a read is of class TRAP: reads have no effect outside";
	if (l->wr == KVGPU_REG_TRAP && !l->write)
		return "a TRAP line has no hook";
	if (l->write && l->wr != KVGPU_REG_TRAP && l->wr != KVGPU_REG_EMULATE)
		return "a write hook can't be reached";
	if (l->read && l->rd != KVGPU_REG_CONST && l->rd != KVGPU_REG_EMULATE)
		return "a read hook can't be reached";
	if (l->rd == KVGPU_REG_CONST && l->wr != KVGPU_REG_CONST && l->wr != KVGPU_REG_DENY &&
	    !l->write)
		return "what is written to a constant can never be seen";
	return NULL;
}

static const char *check_masks(const struct kvgpu_reg_line *l)
{
	if (l->zero & l->one)
		return "a bit reads both as 0 and as 1";
	if (l->ro & l->w1c)
		return "a bit is both read-only and write-1-to-clear";
	if ((l->ro | l->w1c) && l->write)
		return "a line with a hook has masks that only the file obeys";
	if ((l->zero | l->one) && (l->read || l->rd == KVGPU_REG_CONST))
		return "a line has read masks that nothing obeys";
	return NULL;
}

static const char *check_place(const struct kvgpu_reg_unit *u, const struct kvgpu_reg_line *l)
{
	if ((l->off & 3) || (stride_of(l) & 3))
		return "a register is not aligned";
	if (l->off < u->base || l->off - u->base >= u->size)
		return "a line begins outside of its unit";
	if ((u->size - 4 - (l->off - u->base)) / stride_of(l) < count_of(l) - 1)
		return "a line ends outside of its unit";
	return NULL;
}

/* The registers of two lines may interleave, so compare each register. */
static const char *check_overlap(const struct kvgpu_reg_line *a, const struct kvgpu_reg_line *b)
{
	const struct kvgpu_reg_line *few = count_of(a) < count_of(b) ? a : b,
				    *many = few == a ? b : a;
	u32 i, idx;

	for (i = 0; i < count_of(few); i++)
		if (line_covers(many, few->off + i * stride_of(few), &idx))
			return "a register is in two lines";
	return NULL;
}

static const char *check_lines(const struct kvgpu_reg_unit *u)
{
	const char *bad;
	u32 i, j;

	for (i = 0; i < u->nr_lines; i++) {
		if (i && u->line[i].off <= u->line[i - 1].off)
			return "lines are not sorted";
		bad = check_classes(&u->line[i]);
		if (!bad)
			bad = check_masks(&u->line[i]);
		if (!bad)
			bad = check_place(u, &u->line[i]);
		for (j = 0; j < i && !bad; j++)
			bad = check_overlap(&u->line[j], &u->line[i]);
		if (bad)
			return bad;
	}
	return NULL;
}

/* Registers that a guest may map (cfg.plain) have to behave as memory does. */
static const char *check_plain(void)
{
	u32 reg;

	for (reg = KVGPU_TRAP_PLAIN_BASE; reg < KVGPU_TRAP_PLAIN_BASE + KVGPU_TRAP_PLAIN_SIZE;
	     reg += 4) {
		struct kvgpu_access a = { .reg = reg };
		const struct kvgpu_reg_line *l = vtrap_line_find(&a, NULL);

		if (l->rd != KVGPU_REG_FILE || l->wr != KVGPU_REG_FILE || l->reset || l->ro ||
		    l->w1c || l->zero || l->one)
			return "a register that guests map does more than keep its value";
	}
	return NULL;
}

/*
 * A guest may map the page with the three flush registers, too. Their mapped words are handled by
 * mdev/machine/flush.c. The other registers of the page have to behave as memory does.
 */
static const char *check_flush_page(void)
{
	u32 reg;

	for (reg = HOST_FLUSH_BASE; reg < HOST_FLUSH_BASE + HOST_FLUSH_SIZE; reg += 4) {
		struct kvgpu_access a = { .reg = reg };
		const struct kvgpu_reg_line *l = vtrap_line_find(&a, NULL);

		if (reg == FLUSH_BAR || reg == FLUSH_L2_SYSMEM_INVALIDATE || reg == FLUSH_L2_DIRTY)
			continue;
		if (l->rd != KVGPU_REG_UNLISTED || l->wr != KVGPU_REG_UNLISTED)
			return "a register in the page of flushes does more than keep its value";
	}
	return NULL;
}

/*
 * A guest may map the page of the MMU's registers, too (cfg.mmu). Apart from invalidates, they have
 * to behave as memory does for a guest that writes no other value to a constant.
 */
static const char *check_mmu_page(void)
{
	u32 reg;

	for (reg = KVGPU_TRAP_MMU_BASE; reg < KVGPU_TRAP_MMU_BASE + KVGPU_TRAP_MMU_SIZE; reg += 4) {
		struct kvgpu_access a = { .reg = reg };
		const struct kvgpu_reg_line *l = vtrap_line_find(&a, NULL);

		if ((l->write && reg != FB_MMU_INVALIDATE) || l->rd == KVGPU_REG_EMULATE ||
		    l->rd == KVGPU_REG_UNLISTED || l->ro || l->w1c || l->zero)
			return "a register in the MMU's page does more than keep its value";
	}
	return NULL;
}

const char *kvgpu_trap_check_tables(void)
{
	const char *bad;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kvgpu_trap_units); i++) {
		const struct kvgpu_reg_unit *u = kvgpu_trap_units[i];

		if (!u->name || !u->size || (u->base & 3) || (u->size & 3) ||
		    unit_end(u) > GK110_BAR0_SIZE)
			return "a unit has no place";
		if (i && u->base < unit_end(kvgpu_trap_units[i - 1]))
			return "units overlap or are not sorted";
		bad = check_lines(u);
		if (!bad && u->rest.rd != KVGPU_REG_UNLISTED)
			bad = check_classes(&u->rest);
		if (bad)
			return bad;
	}
	bad = check_plain();
	bad = bad ?: check_flush_page();
	return bad ?: check_mmu_page();
}
