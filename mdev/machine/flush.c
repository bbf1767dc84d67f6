// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flushes that the guest asks for by registers. After FLUSH_BAR, writes of the guest's CPUs to BARs
 * have reached video memory. After FLUSH_L2_*, the GPU's L2 cache and system memory agree.
 *
 * nouveau asks for FLUSH_BAR often: after it has written an object for the chip, a page table for
 * instance. To save traps, the registers' page is ordinary memory (VGPU_OWN_FLUSH), which the VMM
 * maps into the guest. The access need not trap, because nouveau then tells the chip about the
 * object by another register, which traps.
 *
 * If TRIGGER is set in a word of the page, the host owes the guest that flush. The host does it at
 * the first of these points:
 * - before the guest's next command takes effect (a command is a trapped register write that the
 *   host carries out: command.c); but a command that invalidates the TLB, and a page fault that
 *   shows the MMU's page (dirty.c), do only an owed FLUSH_BAR, and no owed FLUSH_L2_*
 * - at a read of the page that traps
 * - in the slicer's first poll after a usage sample (usage.c). Its other polls do no flush, because
 *   guests can cause any number of them.
 *
 * It is harmless that FLUSH_BAR is late: programs of the guest can't reach this register. So no
 * program relies on this flush when it rings a doorbell, which does not trap.
 *
 * A driver polls the words of L2 until TRIGGER and BUSY are clear, as on the chip. The word of
 * FLUSH_BAR shows no BUSY: a driver goes on as if the flush were done.
 *
 * A thread of the VMM, with vgpu->lock, and the slicer may serve a page at the same time. Of the
 * two, only the thread that has set m->flush.served writes the words of L2. The guest may write any
 * word at any time.
 */
#include "gk110/bar.h"
#include "mdev/machine/internal.h"

static u32 *flush_word_of(struct kvgpu_vgpu *v, u32 reg)
{
	const struct vgpu_own *o = &v->own[VGPU_OWN_FLUSH];

	return (u32 *)(o->memory + (reg - o->at));
}

static bool bar_take(struct kvgpu_vgpu *v)
{
	u32 *w = flush_word_of(v, FLUSH_BAR);

	/*
	 * Acquire: vmach_flush_take() reads flush.served after this word. A thread that clears the
	 * word has set flush.served before, and has it set until its flush is done.
	 */
	return (smp_load_acquire(w) & FLUSH_TRIGGER) && (xchg(w, 0) & FLUSH_TRIGGER);
}

bool vmach_flush_take(struct kvgpu_vgpu *v)
{
	/* the slicer may have taken the request, and its flush may not be done */
	return bar_take(v) || test_bit(0, &v->m->flush.served);
}

/*
 * Tells whether the guest has asked for the L2 flush of register @reg. If so, replaces TRIGGER by
 * BUSY in the word. A TRIGGER that the guest sets before l2_end() stays for the next call, as does
 * a word that it changes between the read and the cmpxchg(): it may do so again and again, and a
 * BUSY in place of its 0 would never be cleared.
 */
static bool l2_begin(struct kvgpu_vgpu *v, u32 reg)
{
	u32 *w = flush_word_of(v, reg), was = READ_ONCE(*w);

	return (was & FLUSH_TRIGGER) && cmpxchg(w, was, FLUSH_BUSY) == was;
}

static void l2_end(struct kvgpu_vgpu *v, u32 reg)
{
	cmpxchg(flush_word_of(v, reg), FLUSH_BUSY, 0);
}

void vmach_writes_flush(struct kvgpu_vgpu *v, bool l2)
{
	struct kvgpu_hw *hw = &v->gpu->hw;

	if (vmach_gpu_lost(v->gpu))
		return;
	if (kvgpu_hw_flush_writes(hw) || (l2 && kvgpu_hw_l2_flush(hw)))
		vmach_gpu_declare_lost(v->gpu, "a flush did not end");
}

void vmach_flush_page_serve(struct kvgpu_vgpu *v)
{
	bool bar, invalidate, dirty;

	if (test_and_set_bit_lock(0, &v->m->flush.served)) {
		/* the other thread may have taken requests, and its flushes may not be done */
		vmach_writes_flush(v, true);
		return;
	}
	bar = bar_take(v);
	invalidate = l2_begin(v, FLUSH_L2_SYSMEM_INVALIDATE);
	dirty = l2_begin(v, FLUSH_L2_DIRTY);
	if (bar || invalidate || dirty)
		vmach_writes_flush(v, invalidate || dirty);
	if (invalidate)
		l2_end(v, FLUSH_L2_SYSMEM_INVALIDATE);
	if (dirty)
		l2_end(v, FLUSH_L2_DIRTY);
	clear_bit_unlock(0, &v->m->flush.served);
}
