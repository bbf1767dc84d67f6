// SPDX-License-Identifier: GPL-2.0-only
/*
 * PFIFO's interrupts. Bits 28, 29 and 30 of PFIFO_INTR are levels of other registers; the other
 * bits are set by events and cleared by writing 1.
 *
 * The functions pbdma_raise...() run on the PBDMA's own thread without gk110.lock, and take it. All
 * other functions that are not static are called with it held.
 */
#include <gk110/pmc.h>

#include "fifo.h"

void fifo_intr_update(struct gk110 *g)
{
	uint32_t stat = reg_get(g, PFIFO_INTR) & ~(uint32_t)PFIFO_INTR_LEVELS;

	if (reg_get(g, PFIFO_MMU_FAULT_SOURCE))
		stat |= PFIFO_INTR_MMU_FAULT;
	if (reg_get(g, PFIFO_PBDMA_INTR_SOURCE))
		stat |= PFIFO_INTR_PBDMA;
	if (reg_get(g, PFIFO_RUNLIST_EVENT))
		stat |= PFIFO_INTR_RUNLIST;
	reg_set(g, PFIFO_INTR, stat);
	pmc_intr_set(g, PMC_INTR_FIFO, stat & reg_get(g, PFIFO_INTR_EN));
	pmc_intr_set_nrhost(g, PMC_INTR_FIFO, stat & reg_get(g, PFIFO_INTR_EN_NRHOST));
}

void fifo_intr_raise(struct gk110 *g, uint32_t bits)
{
	reg_set(g, PFIFO_INTR, reg_get(g, PFIFO_INTR) | (bits & ~(uint32_t)PFIFO_INTR_LEVELS));
	if (bits & PFIFO_INTR_NONSTALL)
		stat_inc(g, nonstall_intrs);
	fifo_intr_update(g);
}

void fifo_error(struct gk110 *g, uint32_t intr, uint32_t reg, uint32_t code)
{
	reg_set(g, reg, code);
	fifo_intr_raise(g, intr);
}

void pbdma_intr_update(struct gk110 *g)
{
	uint32_t source = 0;
	unsigned int p;

	for (p = 0; p < g->nr_pbdma; p++) {
		uint32_t base = PBDMA(p);

		if ((reg_get(g, base + PBDMA_INTR0) & reg_get(g, base + PBDMA_INTR0_EN)) ||
		    (reg_get(g, base + PBDMA_INTR1) & reg_get(g, base + PBDMA_INTR1_EN)))
			source |= 1u << p;
	}
	reg_set(g, PFIFO_PBDMA_INTR_SOURCE, source);
	fifo_intr_update(g);
}

bool pbdma_halted(struct pbdma *p)
{
	struct gk110 *g = p->g;

	return (reg_get(g, p->regs + PBDMA_INTR0) & reg_get(g, p->regs + PBDMA_INTR0_STALL)) ||
	       (reg_get(g, p->regs + PBDMA_INTR1) & reg_get(g, p->regs + PBDMA_INTR1_STALL));
}

static enum run raise_bits(struct pbdma *p, unsigned int reg, uint32_t bits)
{
	struct gk110 *g = p->g;
	enum run ret;

	pthread_mutex_lock(&g->lock);
	if (p->drop || !p->fc) { /* PFIFO was reset in the meantime */
		pthread_mutex_unlock(&g->lock);
		return RUN_STOP;
	}
	ramfc_sync(p);
	reg_set(g, p->regs + reg, reg_get(g, p->regs + reg) | bits);
	pbdma_intr_update(g);
	ret = pbdma_halted(p) ? RUN_INTR : RUN_GO;
	pthread_mutex_unlock(&g->lock);
	return ret;
}

enum run pbdma_raise0(struct pbdma *p, uint32_t bits)
{
	return raise_bits(p, PBDMA_INTR0, bits);
}

/*
 * The method waits in METHOD0/DATA0, where software may replace it before it acknowledges the
 * interrupt.
 */
enum run pbdma_raise_method(struct pbdma *p, uint32_t bits, const struct pb_action *a)
{
	enum run r;

	W(p, RAMFC_METHOD0) = PBDMA_METHOD_VALID | (a->mthd & PBDMA_METHOD_ADDR) |
			      FIELD_PREP(PBDMA_METHOD_SUBCH, a->subc) |
			      (p->fc->c.pb_priv ? PBDMA_METHOD_PRIV : 0);
	W(p, RAMFC_DATA0) = a->data;
	r = pbdma_raise0(p, bits);
	if (r == RUN_GO)
		W(p, RAMFC_METHOD0) &= ~(uint32_t)PBDMA_METHOD_VALID;
	return r;
}

/* An HCE interrupt's method is dropped (open: nouveau only prints it). */
enum run pbdma_raise_hce(struct pbdma *p, uint32_t bits, const struct pb_action *a)
{
	struct gk110 *g = p->g;

	pthread_mutex_lock(&g->lock);
	reg_set(g, p->regs + PBDMA_HCE_METHOD, a->mthd | FIELD_PREP(PBDMA_METHOD_SUBCH, a->subc));
	reg_set(g, p->regs + PBDMA_HCE_DATA, a->data);
	pthread_mutex_unlock(&g->lock);
	return raise_bits(p, PBDMA_INTR1, bits);
}
