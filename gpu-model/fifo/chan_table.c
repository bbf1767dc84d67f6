// SPDX-License-Identifier: GPL-2.0-only
/*
 * The channel table, 0x800000: for each channel its instance block, its runlist, and whether it may
 * run.
 */
#include <string.h>

#include "fifo.h"

static void bind_error(struct gk110 *g, unsigned int chid, uint32_t code)
{
	gk110_note(g, "channel %u: bind error 0x%02x", chid, code);
	fifo_error(g, PFIFO_INTR_BIND_ERROR, PFIFO_BIND_ERROR, code);
}

static uint32_t bind_check(struct gk110 *g, const struct fchan *fc, uint32_t word)
{
	if (fc->bound)
		return PFIFO_BIND_NOT_UNBOUND;
	if (FIELD_GET(PCCSR_INST_TARGET, word) == MEM_PEER)
		return PFIFO_BIND_INVALID_TARGET;
	if (!(reg_get(g, PFIFO_USERD_BAR1) & PFIFO_USERD_BAR1_VALID))
		return PFIFO_BIND_SNOOP_WO_BAR1;
	if (fc->c.runlist >= g->nr_runlists)
		return PFIFO_BIND_INVALID_RUNLIST;
	return 0;
}

static void bind(struct gk110 *g, unsigned int chid, uint32_t word)
{
	struct fchan *fc = &g->fifo->chan[chid];
	uint32_t err = bind_check(g, fc, word);

	if (err) {
		bind_error(g, chid, err);
		return;
	}
	reg_set(g, PCCSR_INST(chid), word);
	fc->bound = true;
	fc->c.inst = (uint64_t)FIELD_GET(PCCSR_INST_PTR, word) << 12;
	fc->c.inst_target = (enum mem_target)FIELD_GET(PCCSR_INST_TARGET, word);
	memset(fc->c.subch_class, 0, sizeof(fc->c.subch_class));
}

static void unbind(struct gk110 *g, unsigned int chid, uint32_t word)
{
	struct fchan *fc = &g->fifo->chan[chid];

	if (fc->bound && fc->pbdma >= 0) {
		bind_error(g, chid, PFIFO_BIND_UNBIND_RUNNING);
		return;
	}
	if (fc->bound && sched_wanted(fc)) {
		bind_error(g, chid, PFIFO_BIND_UNBIND_PARKED);
		return;
	}
	reg_set(g, PCCSR_INST(chid), word);
	if (fc->bound)
		fc->pending = false;
	fc->bound = fc->enabled = fc->force_reload = false;
	chan_acq_wait(g->fifo, fc, false);
}

static void inst_write(struct gk110 *g, unsigned int chid, uint32_t val, uint32_t be)
{
	uint32_t word = (reg_get(g, PCCSR_INST(chid)) & ~be) | val;

	if (word & PCCSR_INST_BIND)
		bind(g, chid, word);
	else
		unbind(g, chid, word);
}

static void runlist_write(struct gk110 *g, struct fchan *fc, unsigned int r)
{
	if (r == fc->c.runlist)
		return;
	if (r >= g->nr_runlists)
		bind_error(g, fc->c.id, PFIFO_BIND_INVALID_RUNLIST);
	else if (fc->pbdma >= 0)
		bind_error(g, fc->c.id, PFIFO_BIND_NOT_UNBOUND);
	else
		fc->c.runlist = r;
}

/* A write with both triggers enables the channel (open; the choice that isolates less). */
static void state_write(struct gk110 *g, unsigned int chid, uint32_t val, uint32_t be)
{
	struct fchan *fc = &g->fifo->chan[chid];

	if (be & PCCSR_CHAN_RUNLIST)
		runlist_write(g, fc, FIELD_GET(PCCSR_CHAN_RUNLIST, val));
	if (be & PCCSR_CHAN_FORCE_RELOAD)
		fc->force_reload = val & PCCSR_CHAN_FORCE_RELOAD;
	if (val & PCCSR_CHAN_MARK_PENDING)
		chan_mark_pending(g, fc);
	if (val & PCCSR_CHAN_ENABLE_SET) {
		fc->enabled = fc->bound;
		/* software may have changed RAMFC, and with it the acquire */
		chan_acq_wait(g->fifo, fc, false);
		if (sched_wanted(fc))
			sched_wake_runlist(g, fc->c.runlist);
	} else if (val & PCCSR_CHAN_ENABLE_CLR) {
		fc->enabled = false;
		fault_check(g);
	}
}

static unsigned int status(struct fifo *f, const struct fchan *fc)
{
	struct feng *gr = gr_engine_of(f);
	bool on_engine = gr && gr->on == fc;
	unsigned int i;

	for (i = 0; i < GK110_MAX_ENGINE; i++)
		on_engine |= f->eng[i].on == fc;
	if (fc->pbdma >= 0)
		return on_engine ? PCCSR_STATUS_ON_PBDMA_ENG : PCCSR_STATUS_ON_PBDMA;
	if (fc->acq_wait)
		return on_engine	? PCCSR_STATUS_ON_ENG_PENDING_ACQ :
		       fc->force_reload ? PCCSR_STATUS_PENDING_ACQ_RELOAD :
					  PCCSR_STATUS_PENDING_ACQ;
	if (fc->pending)
		return on_engine	? PCCSR_STATUS_ON_ENG_PENDING :
		       fc->force_reload ? PCCSR_STATUS_PENDING_RELOAD :
					  PCCSR_STATUS_PENDING;
	return on_engine ? PCCSR_STATUS_ON_ENG : PCCSR_STATUS_IDLE;
}

static uint32_t state_read(struct gk110 *g, unsigned int chid)
{
	const struct fchan *fc = &g->fifo->chan[chid];
	unsigned int s = fc->bound ? status(g->fifo, fc) : PCCSR_STATUS_IDLE;

	return (fc->enabled ? PCCSR_CHAN_ENABLED : 0) |
	       (fc->force_reload ? PCCSR_CHAN_FORCE_RELOAD : 0) |
	       FIELD_PREP(PCCSR_CHAN_RUNLIST, fc->c.runlist) | FIELD_PREP(PCCSR_CHAN_STATUS, s) |
	       (s ? PCCSR_CHAN_BUSY : 0);
}

uint32_t chan_table_read(struct gk110 *g, uint32_t reg)
{
	unsigned int chid = (reg - PCCSR_BASE) / 8;

	return reg == PCCSR_INST(chid) ? reg_get(g, reg) : state_read(g, chid);
}

void chan_table_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	unsigned int chid = (reg - PCCSR_BASE) / 8;

	if (reg == PCCSR_INST(chid))
		inst_write(g, chid, val, be);
	else
		state_write(g, chid, val, be);
}
