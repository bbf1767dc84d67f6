// SPDX-License-Identifier: GPL-2.0-only
/*
 * Methods below 0x100: PFIFO's own on every subchannel (classes A06F and A16F; push.h names the
 * sources).
 */
#include "fifo.h"

/* A barrier by a read-modify-write, as the thread sanitizer does not know fences. */
static void barrier(struct pbdma *p)
{
	atomic_fetch_add(&p->g->fifo->kicks, 0);
}

static enum run set_object(struct pbdma *p, const struct pb_action *a)
{
	uint32_t cls = FIELD_GET(HOST_OBJECT_CLASS, a->data);
	int idx = route_subchannel(p, a->subc);
	const struct engine_ops *ops;

	if (idx < 0 || FIELD_GET(HOST_OBJECT_ENGINE, a->data) == HOST_OBJECT_ENGINE_SW) {
		W(p, RAMFC_TARGET) = RAMFC_TARGET_SW;
		return pbdma_raise_method(p, PBDMA_INTR0_DEVICE, a);
	}
	ops = p->g->engine[idx].ops;
	/* GR itself checks its classes */
	if (p->g->engine[idx].type == ENGINE_GR) {
		enum run r = engine_method(p, (unsigned int)idx, a);

		if (r == RUN_GO)
			p->fc->c.subch_class[a->subc] = cls;
		return r;
	}
	if (!ops->has_class(cls))
		return pbdma_raise_hce(p, PBDMA_INTR1_ILLEGAL_CLASS, a);
	p->fc->c.subch_class[a->subc] = cls;
	return RUN_GO;
}

static enum run tlb_invalidate(struct pbdma *p, uint32_t b)
{
	uint32_t a = W(p, RAMFC_MEM_OP_A);
	uint64_t pdb = (uint64_t)FIELD_GET(HOST_MEM_OP_TLB_ADDR, a) << 12;
	unsigned int what = MMU_INV_ALL_VA;

	what |= b & HOST_MEM_OP_TLB_ALL_PDB ? MMU_INV_ALL_PDB : 0;
	what |= b & HOST_MEM_OP_TLB_HUB_ONLY ? MMU_INV_HUB_ONLY : 0;
	pthread_mutex_lock(&p->g->lock);
	mmu_tlb_invalidate(p->g, pdb, (enum mem_target)FIELD_GET(HOST_MEM_OP_TLB_TARGET, a), what);
	pthread_mutex_unlock(&p->g->lock);
	return RUN_GO;
}

/* The model has no L2 and no posted writes: flushes only order memory. */
static enum run mem_op(struct pbdma *p, const struct pb_action *a)
{
	switch (FIELD_GET(HOST_MEM_OP_OPERATION, a->data)) {
	case HOST_MEM_OP_TLB_INVALIDATE:
		return tlb_invalidate(p, a->data);
	case HOST_MEM_OP_SYSMEMBAR:
	case HOST_MEM_OP_SOFT_FLUSH:
	case HOST_MEM_OP_L2_PEER_INV:
	case HOST_MEM_OP_L2_SYS_INV:
	case HOST_MEM_OP_L2_CLEAN_TAGS:
	case HOST_MEM_OP_L2_FLUSH_DIRTY:
		barrier(p);
		return RUN_GO;
	default:
		return pbdma_raise_method(p, PBDMA_INTR0_MEMOP, a);
	}
}

static enum run non_stall_interrupt(struct pbdma *p)
{
	pthread_mutex_lock(&p->g->lock);
	fifo_intr_raise(p->g, PFIFO_INTR_NONSTALL);
	pthread_mutex_unlock(&p->g->lock);
	return RUN_GO;
}

enum run host_method(struct pbdma *p, const struct pb_action *a)
{
	if (a->mthd != HOST_SET_OBJECT)
		engine_offer(p, -1);
	switch (a->mthd) {
	case HOST_SET_OBJECT:
		return set_object(p, a);
	case HOST_NOP:
	case HOST_WFI:
		return RUN_GO;
	case HOST_SEMAPHORE_A:
		W(p, RAMFC_SEMAPHORE_A) = a->data & HOST_SEMAPHORE_UPPER;
		return RUN_GO;
	case HOST_SEMAPHORE_B:
		W(p, RAMFC_SEMAPHORE_B) = a->data & HOST_SEMAPHORE_LOWER;
		return RUN_GO;
	case HOST_SEMAPHORE_C:
		W(p, RAMFC_SEMAPHORE_C) = a->data;
		return RUN_GO;
	case HOST_SEMAPHORE_D:
		return semaphore_execute(p, a);
	case HOST_NON_STALL_INTERRUPT:
		return non_stall_interrupt(p);
	case HOST_FB_FLUSH:
		barrier(p);
		return RUN_GO;
	case HOST_MEM_OP_A:
		W(p, RAMFC_MEM_OP_A) = a->data;
		return RUN_GO;
	case HOST_MEM_OP_B:
		return mem_op(p, a);
	case HOST_SET_REFERENCE:
		W(p, RAMFC_REF) = a->data;
		userd_write_ref(p);
		return RUN_GO;
	case HOST_CRC_CHECK:
		/* rnndb MTHD_UNK7C_NONZERO */
		return a->data == W(p, RAMFC_METHOD_CRC) ?
			       RUN_GO :
			       pbdma_raise_method(p, PBDMA_INTR0_METHODCRC, a);
	case HOST_YIELD:
		/*
		 * the class headers name operation 0 only, NOP; open: other operations end the
		 * slice
		 */
		return FIELD_GET(HOST_YIELD_OP, a->data) == HOST_YIELD_NOP ? RUN_GO : RUN_YIELD;
	default:
		return pbdma_raise_method(p, PBDMA_INTR0_METHOD, a);
	}
}
