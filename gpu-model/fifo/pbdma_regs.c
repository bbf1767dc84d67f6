// SPDX-License-Identifier: GPL-2.0-only
/*
 * PBDMA registers. 0x00-0xff and 0x200-0x27f show the loaded channel as of its last event, such as
 * a load or an interrupt; a PBDMA that runs is not stopped for a read.
 *
 * With the PBDMA stopped by an interrupt METHOD0 and DATA0 can be written, which is how software
 * replaces a method (nouveau gf100_runq_intr). Writes of the interrupt registers wake the PBDMA's
 * thread, which reads METHOD0 and DATA0 again (pbdma.c).
 */
#include "fifo.h"

uint32_t pbdma_read(struct gk110 *g, uint32_t reg)
{
	return reg_get(g, reg);
}

static void wake(struct gk110 *g, unsigned int idx)
{
	pbdma_intr_update(g);
	wake_post(&g->fifo->pbdma[idx].wake);
}

static void ramfc_write(struct gk110 *g, struct pbdma *p, uint32_t reg, uint32_t val, uint32_t be)
{
	if (p->fc && !pbdma_halted(p)) {
		reg_set(g, p->regs + PBDMA_INTR0,
			reg_get(g, p->regs + PBDMA_INTR0) | PBDMA_INTR0_PRI);
		pbdma_intr_update(g);
		return;
	}
	reg_merge(g, reg, val, be);
}

void pbdma_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	unsigned int idx = (reg - PBDMA_BASE) / PBDMA_STRIDE;
	uint32_t off = reg - PBDMA(idx);

	if (idx >= g->nr_pbdma)
		return;
	switch (off) {
	case PBDMA_INTR0:
	case PBDMA_INTR1:
		reg_set(g, reg, reg_get(g, reg) & ~val);
		wake(g, idx);
		break;
	case PBDMA_INTR0_EN:
	case PBDMA_INTR1_EN:
	case PBDMA_INTR0_STALL:
	case PBDMA_INTR1_STALL:
		reg_merge(g, reg, val, be);
		wake(g, idx);
		break;
	case PBDMA_CHANNEL:
	case PBDMA_HCE_METHOD:
	case PBDMA_HCE_DATA:
		break;
	default:
		if (off < RAMIN_RAMFC_SIZE)
			ramfc_write(g, &g->fifo->pbdma[idx], reg, val, be);
		else
			reg_merge(g, reg, val, be);
	}
}
