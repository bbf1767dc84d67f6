// SPDX-License-Identifier: GPL-2.0-only
/* PFIFO's own registers, 0x002000-0x003fff. */
#include "fifo.h"

static uint32_t pbdma_status(struct gk110 *g, unsigned int idx)
{
	const struct pbdma *p = &g->fifo->pbdma[idx];

	if (idx >= g->nr_pbdma || !p->fc)
		return 0;
	if (p->tsg)
		return FIELD_PREP(PFIFO_STATUS_ID, p->fc->c.tsg) | PFIFO_STATUS_TSG |
		       PFIFO_STATUS_VALID;
	return FIELD_PREP(PFIFO_STATUS_ID, p->fc->c.id) | PFIFO_STATUS_VALID;
}

static uint32_t status_read(struct gk110 *g, uint32_t reg)
{
	if (reg >= PFIFO_ENGINE_STATUS(0) && reg < PFIFO_ENGINE_STATUS(PFIFO_ENGINE_STATUS_NR))
		return reg % 8 ? 0 : engine_status(g, (reg - PFIFO_ENGINE_STATUS(0)) / 8);
	if (reg >= PFIFO_PBDMA_STATUS(0) && reg < PFIFO_PBDMA_STATUS(PFIFO_PBDMA_STATUS_NR))
		return pbdma_status(g, (reg - PFIFO_PBDMA_STATUS(0)) / 4);
	if (reg >= PFIFO_PBDMA_RUNLISTS(0) && reg < PFIFO_PBDMA_RUNLISTS(GK110_MAX_PBDMA))
		return g->pbdma_runlists[(reg - PFIFO_PBDMA_RUNLISTS(0)) / 4];
	return reg_get(g, reg);
}

uint32_t fifo_read(struct gk110 *g, uint32_t reg)
{
	struct fifo *f = g->fifo;

	switch (reg) {
	case PFIFO_RUNLIST_ERROR:
		return f->error;
	case PFIFO_PREEMPT:
		return (f->preempt & ~(uint32_t)PFIFO_PREEMPT_PENDING) |
		       (sched_preempt_pending(f) ? PFIFO_PREEMPT_PENDING : 0);
	case PFIFO_TIME_LOW:
		return ptimer_now(g);
	case PFIFO_TIME_HIGH:
		return ptimer_now(g) >> 32;
	default:
		return status_read(g, reg);
	}
}

static void block_write(struct gk110 *g, uint32_t val, uint32_t be)
{
	uint32_t old = reg_get(g, PFIFO_RUNLIST_BLOCK),
		 now = reg_merge(g, PFIFO_RUNLIST_BLOCK, val, be);
	unsigned int r;

	for (r = 0; r < g->nr_runlists; r++)
		if ((old & ~now) & 1u << r)
			sched_wake_runlist(g, r);
}

static void userd_window_write(struct gk110 *g, uint32_t val, uint32_t be)
{
	uint32_t old = reg_get(g, PFIFO_USERD_BAR1);

	if (reg_merge(g, PFIFO_USERD_BAR1, val, be) != old && g->bus && g->bus->win_invalidate)
		/* the window holds other pages now, which must not stay mapped */
		g->bus->win_invalidate(g->bus_priv, WIN_BAR1);
}

static bool read_only(uint32_t reg)
{
	return (reg >= PFIFO_ENGINE_STATUS(0) &&
		reg < PFIFO_ENGINE_STATUS(PFIFO_ENGINE_STATUS_NR)) ||
	       (reg >= PFIFO_PBDMA_STATUS(0) && reg < PFIFO_PBDMA_STATUS(PFIFO_PBDMA_STATUS_NR)) ||
	       (reg >= PFIFO_ENG_RUNLIST_BASE(0) &&
		reg < PFIFO_ENG_RUNLIST_BASE(PFIFO_ENG_RUNLIST_NR)) ||
	       (reg >= PFIFO_PBDMA_RUNLISTS(0) && reg < PFIFO_PBDMA_RUNLISTS(GK110_MAX_PBDMA)) ||
	       reg == PFIFO_BIND_ERROR || reg == PFIFO_SCHED_ERROR || reg == PFIFO_TIME_LOW ||
	       reg == PFIFO_TIME_HIGH;
}

static void fault_trigger(struct gk110 *g, unsigned int engine, bool pull)
{
	uint32_t val = reg_get(g, PFIFO_FAULT_INJECT(engine));

	if (pull)
		fault_inject(g, engine, val);
	else if (!(val & PFIFO_FAULT_INJECT_VALID))
		fault_inject_release(g, engine);
}

static void plain_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	if (read_only(reg))
		return;
	reg_merge(g, reg, val, be);
	if (reg >= PFIFO_FAULT_INJECT(0) && reg < PFIFO_FAULT_INJECT(PFIFO_FAULT_INJECT_NR))
		fault_trigger(g, (reg - PFIFO_FAULT_INJECT(0)) / 4,
			      val & be & PFIFO_FAULT_INJECT_VALID);
}

void fifo_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	switch (reg) {
	case PFIFO_INTR:
		reg_set(g, reg, reg_get(g, reg) & ~val);
		fifo_intr_update(g);
		break;
	case PFIFO_INTR_EN:
	case PFIFO_INTR_EN_NRHOST:
		reg_merge(g, reg, val, be);
		fifo_intr_update(g);
		break;
	case PFIFO_RUNLIST_EVENT:
		reg_set(g, reg, reg_get(g, reg) & ~val);
		fifo_intr_update(g);
		break;
	case PFIFO_CHSW_ERROR:
		reg_set(g, reg, reg_get(g, reg) & ~val);
		break;
	case PFIFO_PBDMA_INTR_SOURCE:
		pbdma_intr_update(g);
		break;
	case PFIFO_USERD_BAR1:
		userd_window_write(g, val, be);
		break;
	case PFIFO_RUNLIST_SUBMIT:
		reg_merge(g, reg, val, be);
		sched_submit(g);
		break;
	case PFIFO_RUNLIST_ERROR:
		fault_clear(g, val);
		break;
	case PFIFO_RUNLIST_BLOCK:
		block_write(g, val, be);
		break;
	case PFIFO_PREEMPT:
		sched_preempt(g, (g->fifo->preempt & ~be) | val);
		break;
	default:
		plain_write(g, reg, val, be);
	}
}

void fifo_regs_reset(struct gk110 *g)
{
	uint32_t reg;
	unsigned int i;

	for (reg = PFIFO_BASE; reg < PFIFO_BASE + PFIFO_SIZE; reg += 4)
		if (reg != PFIFO_MMU_FAULT_SOURCE &&
		    (reg < PFIFO_MMU_FAULT_RECORDS || reg >= PFIFO_MMU_FAULT_RECORDS_END))
			reg_set(g, reg, 0);
	for (i = 0; i < PFIFO_ENG_TIMESLICE_NR; i++) {
		reg_set(g, PFIFO_ENG_TIMESLICE(i), PFIFO_ENG_TIMESLICE_RESET);
		reg_set(g, PFIFO_ENG_PB_TIMESLICE(i), PFIFO_ENG_PB_TIMESLICE_RESET);
	}
	reg_set(g, PFIFO_ACQ_PRETEST, PFIFO_ACQ_PRETEST_RESET);
	reg_set(g, PFIFO_IDLE_FILTER, PFIFO_IDLE_FILTER_RESET);
	reg_set(g, PFIFO_FB_TIMEOUT, PFIFO_FB_TIMEOUT_RESET);
	reg_set(g, PFIFO_PB_TIMEOUT, PFIFO_PB_TIMEOUT_RESET);
	reg_set(g, PFIFO_ENG_TIMEOUT, PFIFO_ENG_TIMEOUT_RESET);
	reg_set(g, PFIFO_CHSW_TIMEOUT, PFIFO_CHSW_TIMEOUT_RESET);
	reg_set(g, PFIFO_PRI_TIMEOUT, PFIFO_PRI_TIMEOUT_RESET);
	for (reg = PBDMA_BASE; reg < PBDMA_END; reg += 4)
		reg_set(g, reg, 0);
	for (i = 0; i < g->nr_pbdma; i++) {
		reg_set(g, PBDMA(i) + PBDMA_TIMEOUT, PBDMA_TIMEOUT_RESET);
		reg_set(g, PBDMA(i) + PBDMA_INTR0_STALL, PBDMA_INTR0_STALL_RESET);
		reg_set(g, PBDMA(i) + PBDMA_INTR1_STALL, PBDMA_INTR1_STALL_RESET);
	}
	for (reg = PCCSR_BASE; reg < PCCSR_BASE + PCCSR_SIZE; reg += 4)
		reg_set(g, reg, 0);
	pbdma_intr_update(g);
}
