// SPDX-License-Identifier: GPL-2.0-only
/*
 * USERD: the words in memory through which software and a channel talk, and the window of BAR1 that
 * PFIFO watches for writes to GP_PUT. A write to the window only says "channel N has work"; RAMFC
 * says where the channel's USERD is.
 */
#include "fifo.h"

static uint64_t userd_addr(const struct pbdma *p)
{
	return (uint64_t)(W(p, RAMFC_USERD_HI) & RAMFC_USERD_ADDR_HI) << 32 |
	       (W(p, RAMFC_USERD) & RAMFC_USERD_ADDR);
}

static enum mem_target userd_target(const struct pbdma *p)
{
	return (enum mem_target)FIELD_GET(RAMFC_USERD_TARGET, W(p, RAMFC_USERD));
}

bool userd_read_put(struct pbdma *p, uint32_t *put)
{
	return mem_read(p->g, userd_target(p), userd_addr(p) + USERD_GP_PUT, put, sizeof(*put));
}

static void userd_write(struct pbdma *p, unsigned int off, const uint32_t *words, unsigned int n)
{
	if (!mem_write(p->g, userd_target(p), userd_addr(p) + off, words, n * sizeof(*words)))
		gk110_note(p->g, "channel %u: USERD at 0x%010llx is not memory", p->fc->c.id,
			   (unsigned long long)userd_addr(p));
}

void userd_write_get(struct pbdma *p)
{
	userd_write(p, USERD_GP_GET, &W(p, RAMFC_GP_GET), 1);
}

void userd_write_ref(struct pbdma *p)
{
	userd_write(p, USERD_REF, &W(p, RAMFC_REF), 1);
}

void userd_write_back(struct pbdma *p)
{
	const uint32_t low[4] = { W(p, RAMFC_PB_PUT), W(p, RAMFC_PB_GET), W(p, RAMFC_REF),
				  W(p, RAMFC_PB_PUT_HI) };
	const uint32_t high[3] = { W(p, RAMFC_TOP_LEVEL_GET), W(p, RAMFC_TOP_LEVEL_GET_HI),
				   W(p, RAMFC_PB_GET_HI) };

	userd_write(p, USERD_PUT, low, 4);
	userd_write(p, USERD_TOP_LEVEL_GET, high, 3);
	userd_write_get(p);
}

/* lock held */
void chan_mark_pending(struct gk110 *g, struct fchan *fc)
{
	if (fc->pbdma >= 0) {
		g->fifo->pbdma[fc->pbdma].doorbell = true;
		wake_post(&g->fifo->pbdma[fc->pbdma].wake);
		return;
	}
	fc->pending = true;
	if (fc->bound && fc->enabled && (fc->listed & 1u << fc->c.runlist))
		sched_wake_runlist(g, fc->c.runlist);
}

void fifo_userd_window(struct gk110 *g, uint64_t *off, uint64_t *size)
{
	uint32_t reg = reg_get(g, PFIFO_USERD_BAR1);

	*off = (uint64_t)FIELD_GET(PFIFO_USERD_BAR1_ADDR, reg) << 12;
	*size = reg & PFIFO_USERD_BAR1_VALID ? (uint64_t)GK110_MAX_CHAN * USERD_SIZE : 0;
}

void fifo_bar1_written(struct gk110 *g, uint64_t bar1_off, unsigned int size)
{
	uint64_t base, len, first, last, c;

	fifo_userd_window(g, &base, &len);
	if (!size || bar1_off + size <= base || bar1_off >= base + len)
		return;
	first = bar1_off > base ? bar1_off - base : 0;
	last = bar1_off + size - base - 1;
	if (last >= len)
		last = len - 1;
	for (c = first / USERD_SIZE; c <= last / USERD_SIZE; c++) {
		uint64_t put = c * USERD_SIZE + USERD_GP_PUT;

		if (first >= put + 4 || last < put)
			continue;
		stat_inc(g, doorbells);
		chan_mark_pending(g, &g->fifo->chan[c]);
	}
}
