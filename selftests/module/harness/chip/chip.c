// SPDX-License-Identifier: GPL-2.0-only
/* chip.h has the contracts. stir(), at each register access, is what the chip does by itself. */
#include <sys/mman.h>

#include "gk110/bar.h"
#include "gk110/ce.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/mmu.h"
#include "gk110/pfb.h"
#include "gk110/pfuse.h"
#include "gk110/pmc.h"
#include "gk110/ppci.h"
#include "gk110/privring.h"
#include "gk110/ptimer.h"
#include "gk110/ptop.h"
#include "gk110/ram.h"
#include "gk110/vbios.h"
#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/task.h"

#include <linux/bitfield.h>

/* the code that a K80's units gave before its POST */
#define DARK 0xbad0da1fu

struct chip chip;

/* The TLBs of BAR1 and BAR3. An entry counts if .made is the BAR's number in bar_invals. */
static struct bar_entry {
	u64 pte, made;
} bar_tlb[2][BAR1_SIZE / 4096];
static u64 bar_invals[2] = { 1, 1 };

u8 *chip_pages;

/* ------------------------------------------------------------------ memory */

u8 *chip_vram(u64 at)
{
	FAIL_ON(at >= CHIP_VRAM, "S1: video memory at 0x%llx does not exist", at);
	return chip.vram + at;
}

void chip_wrote(u64 at, u64 len)
{
	u64 page;

	for (page = at >> 12; page <= (at + len - 1) >> 12; page++)
		chip_pages[page] = 1;
}

bool chip_is_zero(u64 at, u64 len)
{
	u64 page, i;

	for (page = at >> 12; page < (at + len) >> 12; page++) {
		if (!chip_pages[page])
			continue;
		for (i = 0; i < 512; i++)
			if (((u64 *)chip_vram(page << 12))[i])
				return false;
		chip_pages[page] = 0;
	}
	return true;
}

u64 chip_pd(u64 inst)
{
	const u32 *in = (const u32 *)chip_vram(inst);

	return (in[GMMU_INST_PDB_LO / 4] & GMMU_INST_PDB_LO_ADDR) |
	       (u64)(in[GMMU_INST_PDB_HI / 4] & 0xff) << 32;
}

u64 chip_bar_inst(unsigned int bar)
{
	u32 v = chip.reg[(bar == 1 ? HOSTMEM_BAR1 : HOSTMEM_BAR3) / 4];

	return (u64)FIELD_GET(HOSTMEM_INST, v) << 12;
}

u64 chip_bar_pd(unsigned int bar)
{
	return chip_pd(chip_bar_inst(bar));
}

/* A translation that was used stays until an invalidate, whatever the tables say. */
enum shows chip_show(unsigned int bar, u64 off, u64 *at)
{
	struct bar_entry *e = &bar_tlb[bar == 3][off >> 12];

	if (e->made != bar_invals[bar == 3]) {
		e->pte = mmu_translate(chip_bar_pd(bar), off);
		e->made = bar_invals[bar == 3];
	}
	*at = (FIELD_GET(GMMU_PTE_ADDR, e->pte) << 12) + (off & 0xfff);
	if (!e->pte)
		return SHOWS_NOTHING;
	return FIELD_GET(GMMU_PTE_APERTURE, e->pte) == GMMU_PTE_APERTURE_VRAM ? SHOWS_VRAM :
										SHOWS_HOST;
}

/* ------------------------------------------------------------------ what it can reach */

struct look {
	struct context *c;
	const char *when;
};

/* Return where the chain of entries of the TLB begins that @e is in. */
static u16 *tlb_chain(const struct tlb_entry *e)
{
	u64 hash = (e->pd + e->va + e->pte) * 0x61c8864680b583ebull;

	return &chip.tlb_chain[hash >> 32 & (ARRAY_SIZE(chip.tlb_chain) - 1)];
}

static void tlb_add(const struct tlb_entry *e)
{
	u16 *chain = tlb_chain(e);

	chip.tlb[chip.nr_tlb] = *e;
	chip.tlb[chip.nr_tlb].next = *chain;
	*chain = ++chip.nr_tlb;
}

static void keep(const struct context *c, u64 va, u64 pte, bool big)
{
	const struct tlb_entry e = { c->pd, va, pte, c->vgpu, big, chip.looks };
	struct tlb_entry *has;
	u32 i;

	for (i = *tlb_chain(&e); i; i = has->next) {
		has = &chip.tlb[i - 1];
		if (has->pd != e.pd || has->va != va || has->pte != pte)
			continue;
		if (has->vgpu == e.vgpu && has->big == big)
			has->looked = chip.looks;
		return;
	}
	if (chip.nr_tlb < TLB_MAX)
		tlb_add(&e);
}

static void see_leaf(void *ctx, u64 va, u64 pte, bool big)
{
	struct look *l = ctx;

	if (chip.no_master && FIELD_GET(GMMU_PTE_APERTURE, pte) != GMMU_PTE_APERTURE_VRAM)
		return;
	oracle_leaf(l->c->vgpu, va, pte, big, l->when);
	keep(l->c, va, pte, big);
}

static void see_table(void *ctx, u64 at, u64 size)
{
	struct look *l = ctx;

	oracle_table(l->c->vgpu, at, size, l->when);
}

static void scan_at(struct context *c, const char *when)
{
	struct look l = { c, when };

	if (c->chid == NO_CHAN)
		return;
	oracle_table(c->vgpu, c->inst, RAMIN_SIZE, when);
	mmu_walk(c->pd, see_table, see_leaf, &l);
	oracle_context(c->vgpu, c->inst, c->pd, when);
}

void chip_look(const char *when)
{
	u32 r, i;

	if (!chip.reg || chip.looking)
		return;
	chip.looking = true;
	chip.looks++;
	for (r = 0; r < CHIP_RUNLS; r++) {
		scan_at(&chip.pbdma[r], when);
		if (chip.engine[r].chid != chip.pbdma[r].chid ||
		    chip.engine[r].pd != chip.pbdma[r].pd)
			scan_at(&chip.engine[r], when);
	}
	for (i = 0; i < chip.nr_tlb; i++)
		if (chip.tlb[i].looked != chip.looks &&
		    (!chip.no_master ||
		     FIELD_GET(GMMU_PTE_APERTURE, chip.tlb[i].pte) == GMMU_PTE_APERTURE_VRAM))
			oracle_leaf(chip.tlb[i].vgpu, chip.tlb[i].va, chip.tlb[i].pte,
				    chip.tlb[i].big, when);
	chip.looking = false;
}

static void invalidate(u64 pd, bool all)
{
	u32 i, n = chip.nr_tlb;
	unsigned int b;

	memset(chip.tlb_chain, 0, sizeof(chip.tlb_chain));
	chip.nr_tlb = 0;
	for (i = 0; i < n; i++)
		if (!all && chip.tlb[i].pd != pd)
			tlb_add(&chip.tlb[i]);
		else if (FIELD_GET(GMMU_PTE_APERTURE, chip.tlb[i].pte) != GMMU_PTE_APERTURE_VRAM)
			iommu_in_l2(FIELD_GET(GMMU_PTE_ADDR, chip.tlb[i].pte) << 12);
	for (b = 0; b < 2; b++)
		if (all || (chip.reg[(b ? HOSTMEM_BAR3 : HOSTMEM_BAR1) / 4] & HOSTMEM_VIRTUAL &&
			    chip_bar_pd(b ? 3 : 1) == pd))
			bar_invals[b]++;
}

/* The invalidate that was asked for first takes effect. */
static void invalidate_one(void)
{
	invalidate(chip.inval[0].pd, chip.inval[0].all);
	memmove(chip.inval, chip.inval + 1, --chip.nr_inval * sizeof(chip.inval[0]));
}

static void ask_invalidate(u64 pd, bool all)
{
	if (chip.nr_inval == INVALS_MAX)
		invalidate_one();
	flush_before_invalidate(pd, all);
	chip.inval[chip.nr_inval].pd = pd;
	chip.inval[chip.nr_inval++].all = all;
	if (!chip.manners.late)
		invalidate_one();
}

/* ------------------------------------------------------------------ channels */

bool chip_may_load(u16 chid, u8 runl)
{
	return chid >= FIRST_GUEST && chip.chan[chid].bound && chip.chan[chid].enabled &&
	       chip.chan[chid].runl == runl && !(chip.reg[PFIFO_RUNLIST_BLOCK / 4] & BIT(runl)) &&
	       !(chip.reg[PFIFO_RUNLIST_ERROR / 4] & BIT(runl));
}

static void load(u8 runl, u16 chid, bool tsg, u16 id)
{
	struct context c = { .chid = chid,
			     .id = id,
			     .tsg = tsg,
			     .inst = chip.chan[chid].inst,
			     .pd = chip_pd(chip.chan[chid].inst),
			     .vgpu = chip.chan[chid].vgpu };

	chip.pbdma[runl] = c;
	if (chip.engine[runl].chid == NO_CHAN ||
	    (!chip.engine[runl].stuck && (chip.manners.busy || !harness_below(4)))) {
		chip.engine[runl] = c;
		chip.engine[runl].stuck = !runl && harness_chance(chip.manners.hang_ppm);
	}
	chip.loads++;
	harness_trace("the chip loads channel %u with directory 0x%llx", chid, c.pd);
	chip_look("a channel was loaded");
}

/* Load a channel of the list that may run: @want if it is one of these, else any. */
void chip_load_some(u8 runl, u16 want)
{
	u16 best = NO_CHAN, best_id = 0, id = 0;
	u32 i, left = 0, seen = 0;
	bool best_tsg = false;

	for (i = 0; i < chip.list[runl].nr; i++) {
		u64 e = chip.list[runl].entry[i];
		u16 chid = FIELD_GET(RUNLIST_ID, e);

		if (e & RUNLIST_TSG) {
			id = chid;
			left = FIELD_GET(RUNLIST_TSG_COUNT, e);
			continue;
		}
		if (chip_may_load(chid, runl) &&
		    (chid == want ||
		     ((best == NO_CHAN || best != want) && !harness_below(++seen)))) {
			best = chid;
			best_tsg = left;
			best_id = left ? id : chid;
		}
		if (left)
			left--;
	}
	if (best != NO_CHAN)
		load(runl, best, best_tsg, best_id);
}

static void drop(struct context *c)
{
	c->chid = NO_CHAN;
	c->stuck = c->for_good = false;
}

bool chip_is_preempted(const struct context *c)
{
	u32 v = chip.reg[PFIFO_PREEMPT / 4];

	return c->chid != NO_CHAN && c->id == FIELD_GET(PFIFO_PREEMPT_ID, v) &&
	       c->tsg == !!(v & PFIFO_PREEMPT_TSG);
}

static void preempt_done(void)
{
	u16 was = NO_CHAN;
	u32 r;

	chip.preempting = false;
	for (r = 0; r < CHIP_RUNLS; r++) {
		struct context *c[] = { &chip.pbdma[r], &chip.engine[r] };
		u32 k;

		for (k = 0; k < 2; k++)
			if (chip_is_preempted(c[k])) {
				was = c[k]->chid;
				drop(c[k]);
			}
		if (chip.manners.eager && was != NO_CHAN && chip.pbdma[r].chid == NO_CHAN)
			chip_load_some(r, was);
	}
}

static void unload_some(u8 runl)
{
	struct context *c = harness_below(2) ? &chip.pbdma[runl] : &chip.engine[runl];

	if (!c->stuck && !chip.manners.busy)
		drop(c);
}

static void submit(u32 val)
{
	u8 runl = FIELD_GET(PFIFO_RUNLIST_ID, val);
	u32 nr = FIELD_GET(PFIFO_RUNLIST_COUNT, val);
	u64 at = (u64)FIELD_GET(PFIFO_RUNLIST_ADDR, chip.reg[PFIFO_RUNLIST_BASE / 4]) << 12;

	FAIL_ON(runl >= CHIP_RUNLS || nr >= KVGPU_MAX_CHAN,
		"S5: a runlist of %u entries for runlist %u", nr, runl);
	memcpy(chip.list[runl].entry, chip_vram(at), nr * RUNLIST_ENTRY_SIZE);
	chip.list[runl].nr = nr;
	if (chip.manners.eager && chip.pbdma[runl].chid == NO_CHAN)
		chip_load_some(runl, NO_CHAN);
}

/* A write may have let a stopped runlist run again: an eager chip loads where nothing is loaded. */
static void go_on(void)
{
	u8 r;

	for (r = 0; chip.manners.eager && r < CHIP_RUNLS; r++)
		if (chip.pbdma[r].chid == NO_CHAN)
			chip_load_some(r, NO_CHAN);
}

/* What the chip does by itself, each time the host accesses a register. */
static void stir(void)
{
	u8 r = harness_below(CHIP_RUNLS);

	if (chip.manners.load_ppm && harness_chance(chip.manners.load_ppm)) {
		if (harness_below(4))
			chip_load_some(r, NO_CHAN);
		else
			unload_some(r);
	}
	if (chip.manners.busy && (chip.pbdma[0].chid == NO_CHAN || chip.engine[0].chid == NO_CHAN))
		chip_load_some(0, NO_CHAN);
	if (harness_chance(chip.manners.look_ppm))
		chip_look("the chip walks");
	if (chip.nr_inval && !harness_below(32))
		invalidate_one();
	if (chip.manners.fault_ppm && chip.pbdma[0].chid != NO_CHAN &&
	    harness_chance(chip.manners.fault_ppm))
		chip_fault(chip.pbdma[0].chid, harness_random() & 0xfffffff000ull);
	if (chip.copy_put && !chip.copy_held && !(chip.copy_late && chip.copy_late--)) {
		if (chip.copy_put > 1)
			copy_fetch(chip.chan[0].inst, chip.copy_put - 2);
		chip.copy_put = 0;
		copy_run(chip.chan[0].inst);
	}
}

/* ------------------------------------------------------------------ registers */

static u32 fifo_intr(void)
{
	return chip.reg[PFIFO_INTR / 4] |
	       (chip.reg[GMMU_FAULT_SOURCE / 4] ? PFIFO_INTR_MMU_FAULT : 0) |
	       (chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] ? PFIFO_INTR_PBDMA : 0);
}

static u32 pmc_intr(void)
{
	u32 bits = fifo_intr() & chip.reg[PFIFO_INTR_EN / 4] ? BIT(PMC_INTR_FIFO) : 0;

	bits |= chip.gr_halts ? BIT(PMC_INTR_GR) : 0;
	bits |= chip.reg[(GK110_CE(2) + GK110_CE_INTR) / 4] ? BIT(PMC_INTR_CE2) : 0;
	return bits & chip.reg[PMC_INTR_MASK(PMC_LEAF_HOST) / 4];
}

bool chip_intr(void)
{
	return pmc_intr() && chip.reg[PMC_INTR_EN(PMC_LEAF_HOST) / 4];
}

/* ------------------------------------------------------------------ status */

/* The channel's doorbell memory tells of entries to take, or is not in video memory. */
static bool rings(u16 chid)
{
	const u32 *in = (const u32 *)chip_vram(chip.chan[chid].inst), *userd;
	u64 at = (in[RAMFC_USERD / 4] & ~0x1ffu) | (u64)(in[RAMFC_USERD_HI / 4] & 0xff) << 32;

	if (at >= CHIP_VRAM)
		return true;
	userd = (const u32 *)chip_vram(at);
	return userd[USERD_GP_GET / 4] != userd[USERD_GP_PUT / 4];
}

static bool works(const struct context *c)
{
	return !chip.manners.idles || c->stuck || chip.at_work[c->chid] || rings(c->chid);
}

bool chip_engine_works(u16 chid)
{
	u8 r = chip.chan[chid].runl;

	chip_end_held_work();
	return r < CHIP_RUNLS && chip.engine[r].chid == chid && works(&chip.engine[r]);
}

/* Return the channel that the status of GR names as the next one; NULL: none. */
static const struct context *next_on_gr(void)
{
	const struct context *on = &chip.engine[0], *next = &chip.pbdma[0];
	bool waits = on->stuck && next->chid != NO_CHAN && next->chid != on->chid && works(next);

	return chip.manners.names_next && waits ? next : NULL;
}

/* The bits of a status that name the channel or group. */
static u32 name_of(const struct context *c)
{
	return FIELD_PREP(PFIFO_STATUS_ID, c->id) | (c->tsg ? PFIFO_STATUS_TSG : 0);
}

static u32 engine_status(const struct context *c)
{
	const u32 saves = PFIFO_STATUS_BUSY | PFIFO_STATUS_CHSW | PFIFO_STATUS_SAVE;
	const struct context *next = c == chip.engine ? next_on_gr() : NULL;

	if (c->chid == NO_CHAN)
		return 0;
	if (next)
		return saves | PFIFO_STATUS_VALID | name_of(c) |
		       FIELD_PREP(PFIFO_STATUS_NEXT_ID, next->id) |
		       (next->tsg ? PFIFO_STATUS_NEXT_TSG : 0);
	if (c->stuck && chip.preempting && chip_held_up())
		return saves | name_of(c);
	return (works(c) ? PFIFO_STATUS_BUSY : 0) | PFIFO_STATUS_VALID | name_of(c);
}

static u32 chan_status(u16 chid)
{
	u8 r = chip.chan[chid].runl;
	bool pb = r < CHIP_RUNLS && chip.pbdma[r].chid == chid,
	     eng = r < CHIP_RUNLS && chip.engine[r].chid == chid;
	u32 st = pb  ? eng ? PCCSR_STATUS_ON_PBDMA_ENG : PCCSR_STATUS_ON_PBDMA :
		 eng ? PCCSR_STATUS_ON_ENG :
		 chip.chan[chid].enabled && chip.chan[chid].bound && rings(chid) ?
		       PCCSR_STATUS_PENDING :
		       PCCSR_STATUS_IDLE;

	return FIELD_PREP(PCCSR_CHAN_RUNLIST, r) | FIELD_PREP(PCCSR_CHAN_STATUS, st) |
	       (chip.chan[chid].enabled ? PCCSR_CHAN_ENABLED : 0);
}

static bool busy(u32 *late)
{
	return *late && (*late)--;
}

static void be_late(u32 *late)
{
	*late = chip.manners.late ? harness_below(chip.manners.late + 1) : 0;
}

static u32 flush_status(u32 reg, u32 pending)
{
	if (busy(&chip.flush_late))
		return pending;
	chip.flush[(reg - FLUSH_BAR) / 4].ended = chip.flush[(reg - FLUSH_BAR) / 4].begun;
	return 0;
}

/* Registers of which a read may give an error. */
static bool may_err(u32 reg)
{
	return reg == FB_MMU_CTRL || reg == FLUSH_BAR || reg == FLUSH_L2_SYSMEM_INVALIDATE ||
	       reg == FLUSH_L2_DIRTY || reg == PFIFO_PREEMPT ||
	       (reg >= PFIFO_ENGINE_STATUS(0) && reg < PFIFO_ENGINE_STATUS(8)) ||
	       (reg >= PFIFO_PBDMA_STATUS(0) && reg < PFIFO_PBDMA_STATUS(3)) ||
	       (reg >= PFIFO_ENG_RUNLIST(0) && reg < PFIFO_ENG_RUNLIST(CHIP_RUNLS)) ||
	       reg == GMMU_FAULT_SOURCE || reg == PFIFO_PBDMA_INTR_SOURCE ||
	       (reg >= PCCSR_BASE && reg < PCCSR_BASE + PCCSR_SIZE && reg & 4);
}

/* Return true for a register that does not answer, because the card is not POSTed. */
static bool is_dark(u32 reg)
{
	return chip.unposted && !(chip.reg[PTOP_DEVINIT / 4] & PTOP_DEVINIT_DONE) &&
	       reg >= PMC_BASE + PMC_SIZE && reg != PTOP_DEVINIT && reg != PSTRAPS_BOOT0 &&
	       (reg < PPCI_BASE || reg >= PPCI_BASE + PPCI_SIZE) &&
	       (reg < PROM_BASE || reg >= PROM_BASE + PROM_SIZE);
}

void chip_unpost(const u8 *rom, u32 size)
{
	chip.unposted = true;
	chip.reg[PTOP_DEVINIT / 4] = 0;
	chip.reg[PMC_ENABLE / 4] = PMC_ENABLE_ISOHUB | PMC_ENABLE_DISP | PMC_ENABLE_PMU |
				   PMC_ENABLE_PRIVRING;
	memcpy(&chip.reg[PROM_BASE / 4], rom, size);
}

u32 chip_read(u32 reg)
{
	u32 val, e;

	chip_end_held_work();
	stir();
	if (is_dark(reg))
		return DARK;
	if (chip.manners.error_ppm && may_err(reg) && harness_chance(chip.manners.error_ppm))
		return PRI_ERROR | (harness_random() & 0xffff);
	if (fake_read(chip.reg, reg, &val))
		return val;
	if (reg == PBDMA(0) + PBDMA_CHANNEL)
		return chip_pbdma_channel();
	if (reg >= PCCSR_BASE && reg < PCCSR_BASE + PCCSR_SIZE)
		return reg & 4 ? chan_status((reg - PCCSR_BASE) / 8) : chip.reg[reg / 4];
	for (e = 0; e < 4; e++) {
		if (reg == PFIFO_ENGINE_STATUS(e))
			return e > 1 ? chip_copy_engine_status(e) : engine_status(&chip.engine[e]);
		if (e < CHIP_RUNLS && reg == PFIFO_PBDMA_STATUS(e))
			return chip.pbdma[e].chid == NO_CHAN ?
				       0 :
				       PFIFO_STATUS_VALID | name_of(&chip.pbdma[e]);
		if (e < CHIP_RUNLS && reg == PFIFO_ENG_RUNLIST(e))
			return busy(&chip.runl_late) ? PFIFO_ENG_RUNLIST_PENDING : 0;
	}
	switch (reg) {
	case PFIFO_INTR:
		return fifo_intr();
	case PMC_INTR(PMC_LEAF_HOST):
		return pmc_intr();
	case FLUSH_BAR:
		return flush_status(reg, FLUSH_BUSY);
	case FLUSH_L2_SYSMEM_INVALIDATE:
	case FLUSH_L2_DIRTY:
		return flush_status(reg, FLUSH_BUSY | FLUSH_TRIGGER);
	case PMC_ENABLE:
		return chip.stays_on ? ~0u : chip.reg[reg / 4];
	case FB_MMU_CTRL:
		if (busy(&chip.ones))
			return ~0u;
		if (chip.mem_ops)
			return FIELD_PREP(FB_MMU_CTRL_FIFO_SPACE, QUEUE_MAX - chip.mem_ops--);
		if (busy(&chip.flush_late))
			return 0;
		while (chip.nr_inval)
			invalidate_one();
		return FB_MMU_CTRL_FIFO_EMPTY | FIELD_PREP(FB_MMU_CTRL_FIFO_SPACE, QUEUE_MAX);
	case PFIFO_PREEMPT:
		if (chip.preempting && !chip_held_up() && !busy(&chip.preempt_late))
			preempt_done();
		return chip.reg[reg / 4] | (chip.preempting ? PFIFO_PREEMPT_PENDING : 0);
	case PTIMER_TIME_LOW:
	case PTIMER_TIME_HIGH:
		return clock_read(reg);
	case PMC_ENABLE_PBDMA:
		return 7;
	case PRIVRING_COMMAND:
		return 0;
	}
	return chip.reg[reg / 4];
}

static void write_chan(u16 chid, u32 val)
{
	chip.chan[chid].runl = FIELD_GET(PCCSR_CHAN_RUNLIST, val);
	if (val & PCCSR_CHAN_ENABLE_CLR)
		chip.chan[chid].enabled = false;
	if (val & PCCSR_CHAN_ENABLE_SET)
		chip.chan[chid].enabled = true;
	if (chip.manners.eager && chip.chan[chid].enabled && chip.chan[chid].runl < CHIP_RUNLS &&
	    chip.pbdma[chip.chan[chid].runl].chid == NO_CHAN)
		chip_load_some(chip.chan[chid].runl, chid);
}

static void write_inst(u16 chid, u32 val)
{
	chip.chan[chid].bound = val & PCCSR_INST_BIND;
	chip.at_work[chid] = false;
	chip.chan[chid].inst = (u64)FIELD_GET(PCCSR_INST_PTR, val) << 12;
	chip.chan[chid].vgpu = chip.chan[chid].bound ? oracle_vgpu_of_chan(chid) : 0;
	FAIL_ON(chip.chan[chid].bound && chid >= FIRST_GUEST && !chip.chan[chid].vgpu,
		"S1: channel %u is bound and nobody has it", chid);
}

static void write_pramin(u32 reg, u32 val)
{
	u64 at = ((u64)(chip.reg[HOSTMEM_PRAMIN / 4] & HOSTMEM_PRAMIN_BASE)
		  << HOSTMEM_PRAMIN_BASE_SHIFT) +
		 (reg - PRAMIN_BASE);

	if (chip.memory_end && at >= chip.memory_end)
		return;
	memcpy(chip_vram(at), &val, 4);
	chip_wrote(at, 4);
}

u32 chip_written(u32 reg, u32 *val)
{
	u32 i, n = 0;

	for (i = 0; i < chip.nr_written && i < WRITTEN_MAX; i++)
		if (chip.written[i].reg == reg) {
			*val = chip.written[i].val;
			n++;
		}
	return n;
}

void (*chip_before_write)(u32 reg, u32 val);
void chip_write(u32 reg, u32 val)
{
	u32 was = chip.reg[reg / 4];
	u64 pd;

	if (chip_before_write)
		chip_before_write(reg, val);
	if (chip.nr_written < WRITTEN_MAX) {
		chip.written[chip.nr_written].reg = reg;
		chip.written[chip.nr_written++].val = val;
	}
	stir();
	if (reg >= PRAMIN_BASE && reg < PRAMIN_BASE + PRAMIN_SIZE) {
		write_pramin(reg, val);
		return;
	}
	if (is_dark(reg) && !(chip.reg[PMC_ENABLE / 4] & PMC_ENABLE_PBFB))
		return;
	if (clock_write(reg, val) || fake_write(chip.reg, reg, val))
		return;
	chip.reg[reg / 4] = val;
	if (reg >= PCCSR_BASE && reg < PCCSR_BASE + PCCSR_SIZE) {
		if (reg & 4)
			write_chan((reg - PCCSR_BASE) / 8, val);
		else
			write_inst((reg - PCCSR_BASE) / 8, val);
		return;
	}
	switch (reg) {
	case GR_CTRL:
		chip.gr_halts = false;
		break;
	case PMC_ENABLE:
		if (was & ~val & PMC_ENABLE_GR && !chip.engine[0].for_good)
			drop(&chip.engine[0]);
		if (was & ~val & PMC_ENABLE_CE0 && !chip.engine[1].for_good)
			drop(&chip.engine[1]);
		copy_enable(val);
		break;
	case PFIFO_RUNLIST_BLOCK:
		go_on();
		break;
	case PFIFO_INTR:
	case GMMU_FAULT_SOURCE:
	case PFIFO_PBDMA_INTR_SOURCE:
	case PFIFO_RUNLIST_ERROR:
	case PBDMA(0) + PBDMA_INTR0:
	case PBDMA(1) + PBDMA_INTR0:
	case PBDMA(2) + PBDMA_INTR0:
	case GK110_CE(2) + GK110_CE_INTR:
		chip.reg[reg / 4] = was & ~val;
		/* PBDMA 0 has an enabled interrupt that is not acknowledged */
		if (reg == PFIFO_PBDMA_INTR_SOURCE &&
		    chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4] &
			    chip.reg[(PBDMA(0) + PBDMA_INTR0_EN) / 4])
			chip.reg[reg / 4] |= BIT(0);
		go_on();
		break;
	case PFIFO_RUNLIST_SUBMIT:
		submit(val);
		be_late(&chip.runl_late);
		break;
	case PFIFO_PREEMPT:
		chip.reg[reg / 4] = val & (PFIFO_PREEMPT_ID | PFIFO_PREEMPT_TSG);
		chip.preempting = true;
		be_late(&chip.preempt_late);
		break;
	case FB_MMU_INVALIDATE:
		pd = (u64)FIELD_GET(FB_MMU_INVALIDATE_PDB_ADDR, chip.reg[FB_MMU_INVALIDATE_PDB / 4])
		     << 12;
		/* with HUB_ONLY the TLBs of GPCs, which channels use, stay as they are */
		if (val & FB_MMU_INVALIDATE_TRIGGER && chip.mem_ops < QUEUE_MAX &&
		    (!(val & FB_MMU_INVALIDATE_HUB_ONLY) || pd == chip_bar_pd(1) ||
		     pd == chip_bar_pd(3)))
			ask_invalidate(pd, val & FB_MMU_INVALIDATE_ALL_PDB);
		be_late(&chip.flush_late);
		break;
	case FLUSH_BAR:
	case FLUSH_L2_SYSMEM_INVALIDATE:
	case FLUSH_L2_DIRTY:
		chip.flush[(reg - FLUSH_BAR) / 4].begun++;
		be_late(&chip.flush_late);
		break;
	}
	if (chip_intr())
		irq_line();
}

/* The CPU stores to BAR1's first page, where the doorbells of the host's own channels are. */
void chip_doorbell(u32 off, u32 val)
{
	if (off != USERD_GP_PUT)
		return;
	/* a PBDMA may take a ring entry and what the entry points to at once, or later */
	chip.copy_put = val + 2;
	if (chip.copy_held || harness_below(2)) {
		copy_fetch(chip.chan[0].inst, val);
		chip.copy_put = 1;
	}
	be_late(&chip.copy_late);
}

bool chip_loaded(u16 chid)
{
	u32 r;

	for (r = 0; r < CHIP_RUNLS; r++)
		if (chip.pbdma[r].chid == chid || chip.engine[r].chid == chid)
			return true;
	return false;
}

/* ------------------------------------------------------------------ a card after POST */

static const struct {
	u8 type, runl, intr, reset, fault;
	u32 base;
} engines[] = {
	{ PTOP_TYPE_GR, 0, PMC_INTR_GR, GR_RESET, GR_FAULT_UNIT, GR_MMIO },
	{ PTOP_TYPE_CE0, 1, PMC_INTR_CE0, CE0_RESET, CE0_FAULT_UNIT, CE_MMIO(0) },
	{ PTOP_TYPE_CE0 + 1, 2, PMC_INTR_CE1, CE1_RESET, CE1_FAULT_UNIT, CE_MMIO(1) },
	{ PTOP_TYPE_CE0 + 2, 0, PMC_INTR_CE2, CE2_RESET, CE2_FAULT_UNIT, CE_MMIO(2) },
};

static void post(void)
{
	u32 *reg = chip.reg, i, at = 0;

	reg[PMC_BOOT_0 / 4] = 0x0f0000a1;
	reg[PMC_ENABLE / 4] = ~0u;
	reg[PTOP_DEVINIT / 4] = PTOP_DEVINIT_DONE;
	reg[PSTRAPS_BOOT0 / 4] = PSTRAPS_CRYSTAL_HIGH;
	reg[PTOP_FBP_COUNT / 4] = reg[PTOP_FBPA_COUNT / 4] = 1;
	reg[(PBFB_BASE(0) + PBFB_AMOUNT) / 4] = CHIP_VRAM >> 20;
	for (i = 0; i < ARRAY_SIZE(engines); i++) {
		reg[PTOP_DEVICE(at++) / 4] =
			PTOP_DEVICE_CHAIN | engines[i].base | PTOP_DATA_FAULT_VALID |
			FIELD_PREP(PTOP_DATA_FAULT, engines[i].fault) | PTOP_KIND_DATA;
		reg[PTOP_DEVICE(at++) / 4] =
			PTOP_DEVICE_CHAIN | PTOP_ENUM_ENGINE_VALID | PTOP_ENUM_RUNLIST_VALID |
			PTOP_ENUM_INTR_VALID | PTOP_ENUM_RESET_VALID |
			FIELD_PREP(PTOP_ENUM_ENGINE, i) |
			FIELD_PREP(PTOP_ENUM_RUNLIST, engines[i].runl) |
			FIELD_PREP(PTOP_ENUM_INTR, engines[i].intr) |
			FIELD_PREP(PTOP_ENUM_RESET, engines[i].reset) | PTOP_KIND_ENUM;
		reg[PTOP_DEVICE(at++) / 4] = FIELD_PREP(PTOP_TYPE, engines[i].type) |
					     PTOP_KIND_TYPE;
	}
	for (i = 0; i < CHIP_RUNLS; i++)
		reg[PFIFO_PBDMA_RUNLISTS(i) / 4] = BIT(i);
	if (!chip.manners.lone_ce)
		reg[PFIFO_PBDMA_RUNLISTS(1) / 4] |= BIT(2);
	reg[PROM_BASE / 4] = 0xaa55 | 1 << 16;
	fake_begin(reg);
}

void chip_begin(const struct chip_manners *m)
{
	u32 i;

	memset(&chip, 0, sizeof(chip));
	chip.manners = *m;
	chip.reg = mmap(NULL, BAR0_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	chip.vram = mmap(NULL, CHIP_VRAM, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (chip.reg == MAP_FAILED || chip.vram == MAP_FAILED)
		abort();
	chip_pages = calloc(1, CHIP_VRAM >> 12);
	bar_invals[0]++;
	bar_invals[1]++;
	flush_begin();
	clock_reset();
	for (i = 0; i < CHIP_RUNLS; i++) {
		drop(&chip.pbdma[i]);
		drop(&chip.engine[i]);
	}
	copy_enable(0);
	post();
}

void chip_end(void)
{
	munmap(chip.reg, BAR0_SIZE);
	munmap(chip.vram, CHIP_VRAM);
	free(chip_pages);
	chip.reg = NULL;
}
