// SPDX-License-Identifier: GPL-2.0-only
/*
 * PFIFO, the unit that schedules channels: initialisation, the channel table, runlists and
 * preempts. Nothing here takes a lock. After bring-up one thread alone, which mdev/ names, calls
 * the functions of runlists and preempts; any thread may call the others. Sequences: nouveau
 * nvkm/engine/fifo/{gk104,gk110,gf100}.c.
 */
#include <linux/mm.h>

#include "hw/internal.h"

/* Bytes of the longest list: each channel of the chip, in a group (TSG) of its own. */
#define RUNL_BYTES	 (2 * KVGPU_MAX_CHAN * RUNLIST_ENTRY_SIZE)
#define RUNL_MAX_ENTRIES (RUNL_BYTES / RUNLIST_ENTRY_SIZE)
#define RUNL_WAIT_US	 (2 * USEC_PER_SEC)
#define STATUS_TRIES	 8 /* most reads of a status register, if reads fail */

static void init_pbdma(struct kvgpu_hw *hw, unsigned int p)
{
	u32 base = PBDMA(p);

	hw_mask(hw, base + PBDMA_INTR0_STALL, PBDMA_INTR0_NO_STALL, 0);
	hw_wr(hw, base + PBDMA_INTR0, ~0u);
	hw_wr(hw, base + PBDMA_INTR0_EN, ~(u32)PBDMA_INTR0_LBREQ);
	hw_wr(hw, base + PBDMA_INTR1, ~0u);
	hw_wr(hw, base + PBDMA_INTR1_EN, ~0u);
}

static int init_list(struct kvgpu_hw *hw, struct hw_list *l)
{
	l->copy = kvmalloc(RUNL_BYTES, GFP_KERNEL);
	return l->copy ? kvgpu_hw_vram_alloc(hw, RUNL_BYTES, PAGE_SIZE, &l->mem) : -ENOMEM;
}

int hw_fifo_init(struct kvgpu_hw *hw)
{
	struct kvgpu_hw_priv *p = hw->p;
	unsigned int i, r;
	int ret;

	hw_wr(hw, PMC_ENABLE_PBDMA, ~0u);
	hw_mask(hw, PFIFO_FB_TIMEOUT, 0, PFIFO_FB_TIMEOUT_INIT);
	for (i = 0; i < hw->topo.nr_pbdma; i++)
		init_pbdma(hw, i);
	/* the USERD window is at offset 0 of BAR1 */
	hw_wr(hw, PFIFO_USERD_BAR1, PFIFO_USERD_BAR1_VALID);
	for (r = 0; r < hw->topo.nr_runl; r++)
		for (i = 0; i < HW_RUNL_LISTS; i++) {
			ret = init_list(hw, &p->runl[r].list[i]);
			if (ret)
				return ret;
		}
	hw_wr(hw, PFIFO_RUNLIST_BLOCK, 0);
	hw_wr(hw, PFIFO_INTR, ~0u);
	kvgpu_hw_nonstall(hw, true);
	return 0;
}

/*
 * PFIFO_INTR_RUNLIST, by which the chip reports that it has taken a list, stays masked:
 * kvgpu_hw_runlist() polls.
 */
void kvgpu_hw_nonstall(struct kvgpu_hw *hw, bool on)
{
	hw_wr(hw, PFIFO_INTR_EN, ~(u32)(PFIFO_INTR_RUNLIST | (on ? 0 : PFIFO_INTR_NONSTALL)));
}

/*
 * Leaves PFIFO and all engines in reset: the next driver may turn bus mastering on before it resets
 * them, as nouveau does.
 */
void hw_fifo_fini(struct kvgpu_hw *hw)
{
	unsigned int r, i;

	hw_wr(hw, PFIFO_INTR_EN, 0);
	hw_engines_off(hw);
	for (r = 0; r < KVGPU_MAX_RUNL; r++)
		for (i = 0; i < HW_RUNL_LISTS; i++) {
			kvgpu_hw_vram_free(hw, &hw->p->runl[r].list[i].mem);
			kvfree(hw->p->runl[r].list[i].copy);
		}
}

/*
 * Reads a status register. A read that fails is made again: the code for a failed read
 * (PRIVRING_ERROR) looks like a status, and could hide a loaded channel.
 */
static u32 read_status(struct kvgpu_hw *hw, u32 reg)
{
	unsigned int i;
	u32 st;

	for (i = 0; i < STATUS_TRIES; i++) {
		st = hw_rd(hw, reg);
		if (!hw_no_answer(st))
			break;
	}
	return st;
}

int kvgpu_hw_chan_bind(struct kvgpu_hw *hw, hchid_t id, u64 inst, u8 runl)
{
	if (WARN_ON_ONCE(id.v >= GK110_FIFO_NR_CHAN || runl >= hw->topo.nr_runl))
		return -EINVAL;
	hw_wr(hw, PCCSR_CHAN(id.v), FIELD_PREP(PCCSR_CHAN_RUNLIST, runl));
	hw_wr(hw, PCCSR_INST(id.v),
	      PCCSR_INST_BIND | FIELD_PREP(PCCSR_INST_PTR, inst >> GMMU_ADDR_SHIFT));
	return 0;
}

int kvgpu_hw_chan_unbind(struct kvgpu_hw *hw, hchid_t id)
{
	/*
	 * Look at the status and not at PCCSR_CHAN_BUSY, which is also set while a doorbell waits:
	 * a guest that rings the doorbell of its disabled channel could keep the channel bound.
	 */
	if (FIELD_GET(PCCSR_CHAN_STATUS, kvgpu_hw_chan_status(hw, id)) >= PCCSR_STATUS_ON_PBDMA)
		return -EBUSY;
	hw_wr(hw, PCCSR_INST(id.v), 0);
	return 0;
}

void kvgpu_hw_chan_enable(struct kvgpu_hw *hw, hchid_t id, u8 runl, bool on)
{
	hw_wr(hw, PCCSR_CHAN(id.v),
	      FIELD_PREP(PCCSR_CHAN_RUNLIST, runl) |
		      (on ? PCCSR_CHAN_ENABLE_SET : PCCSR_CHAN_ENABLE_CLR));
}

u32 kvgpu_hw_chan_status(struct kvgpu_hw *hw, hchid_t id)
{
	return read_status(hw, PCCSR_CHAN(id.v));
}

/*
 * Returns a list of @r that has the wanted entries, and sets *@same to true. If there is none, sets
 * *@same to false, and returns a list to overwrite: the list with the lowest .used, but never .cur,
 * which the chip may still read.
 */
static struct hw_list *choose_list(struct hw_runl *r, const u64 *entries, u32 nr, bool *same)
{
	struct hw_list *l, *oldest = NULL;

	for (l = r->list; l < r->list + HW_RUNL_LISTS; l++) {
		*same = l->used && l->nr == nr && !memcmp(l->copy, entries, nr * sizeof(u64));
		if (*same)
			return l;
		if (l != r->cur && (!oldest || l->used < oldest->used))
			oldest = l;
	}
	return oldest;
}

/* Writes a list into the memory of @l. */
static int write_list(struct kvgpu_hw *hw, struct hw_list *l, const u64 *entries, u32 nr)
{
	u32 i;

	memcpy(l->copy, entries, nr * sizeof(u64));
	l->nr = nr;
	for (i = 0; i < nr; i++)
		hw_vram_wr64(&l->mem, i * RUNLIST_ENTRY_SIZE, entries[i]);
	return kvgpu_hw_flush_writes(hw);
}

int kvgpu_hw_runlist(struct kvgpu_hw *hw, u8 runl, const u64 *entries, u32 nr)
{
	struct hw_runl *r = &hw->p->runl[runl];
	struct hw_list *l;
	bool same;
	int ret = 0;

	if (nr > RUNL_MAX_ENTRIES)
		return -ENOSPC;
	l = choose_list(r, entries, nr, &same);
	if (!same)
		ret = write_list(hw, l, entries, nr);
	if (!ret) {
		hw_wr(hw, PFIFO_RUNLIST_BASE,
		      FIELD_PREP(PFIFO_RUNLIST_ADDR, l->mem.at.v >> GMMU_ADDR_SHIFT));
		hw_wr(hw, PFIFO_RUNLIST_SUBMIT,
		      FIELD_PREP(PFIFO_RUNLIST_ID, runl) | FIELD_PREP(PFIFO_RUNLIST_COUNT, nr));
		ret = hw_reg_wait(hw, PFIFO_ENG_RUNLIST(runl), PFIFO_ENG_RUNLIST_PENDING, 0,
				  RUNL_WAIT_US);
		if (ret)
			dev_err_ratelimited(&hw->pdev->dev,
					    "runlist %u was not taken within 2 s (%d)\n", runl,
					    ret);
	}
	l->used = ret ? 0 : ++r->submits;
	r->cur = l;
	hw->stats.runlists++;
	return ret;
}

void kvgpu_hw_preempt_begin(struct kvgpu_hw *hw, bool tsg, u16 id)
{
	hw_wr(hw, PFIFO_PREEMPT, (tsg ? PFIFO_PREEMPT_TSG : 0) | FIELD_PREP(PFIFO_PREEMPT_ID, id));
	hw->stats.preempts++;
}

int kvgpu_hw_preempt_wait(struct kvgpu_hw *hw)
{
	return hw_reg_wait(hw, PFIFO_PREEMPT, PFIFO_PREEMPT_PENDING, 0, KVGPU_HW_WATCH_US);
}

int kvgpu_hw_preempt(struct kvgpu_hw *hw, bool tsg, u16 id, unsigned int timeout_ms,
		     void (*look)(void *arg), void *arg)
{
	u64 until = ktime_get_ns() + timeout_ms * (u64)NSEC_PER_MSEC;
	int ret;

	kvgpu_hw_preempt_begin(hw, tsg, id);
	while ((ret = kvgpu_hw_preempt_wait(hw)) == -ETIMEDOUT && ktime_get_ns() < until)
		if (look)
			look(arg);
	return ret;
}

u64 kvgpu_hw_runl_block(struct kvgpu_hw *hw, u8 runl, bool block)
{
	u64 was = 0;

	if (hw->p->runl_blocked & BIT(runl))
		was = ktime_get_ns() - hw->p->runl[runl].blocked_at;
	hw->p->runl[runl].blocked_at = ktime_get_ns();
	if (block)
		hw->p->runl_blocked |= BIT(runl);
	else
		hw->p->runl_blocked &= ~BIT(runl);
	hw_wr(hw, PFIFO_RUNLIST_BLOCK, hw->p->runl_blocked);
	return was;
}

void kvgpu_hw_runl_clear_error(struct kvgpu_hw *hw, u8 runl)
{
	hw_wr(hw, PFIFO_RUNLIST_ERROR, BIT(runl));
}

void kvgpu_hw_switch_timeout(struct kvgpu_hw *hw, unsigned int ms)
{
	u32 ticks = div_u64((u64)ms * NSEC_PER_MSEC, 1024);

	hw_wr(hw, PFIFO_ENG_TIMEOUT,
	      PFIFO_TIMEOUT_ENABLE | FIELD_PREP(PFIFO_ENG_TIMEOUT_PERIOD, ticks));
}

u32 kvgpu_hw_pbdma_status(struct kvgpu_hw *hw, u8 p)
{
	return read_status(hw, PFIFO_PBDMA_STATUS(p));
}

u32 kvgpu_hw_engine_status(struct kvgpu_hw *hw, u8 engine)
{
	return read_status(hw, PFIFO_ENGINE_STATUS(hw->topo.engine[engine].id));
}

void hw_pbdma_ack(struct kvgpu_hw *hw, u8 pbdma, u32 intr0, u32 intr1, bool skip_method)
{
	u32 base = PBDMA(pbdma);

	if (skip_method)
		hw_wr(hw, base + PBDMA_METHOD0, PBDMA_METHOD_SKIP);
	if (intr0)
		hw_wr(hw, base + PBDMA_INTR0, intr0);
	if (intr1)
		hw_wr(hw, base + PBDMA_INTR1, intr1);
}
