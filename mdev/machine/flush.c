// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flushes that the guest asks for by registers. After FLUSH_BAR, writes of the guest's CPUs to BARs
 * have reached video memory. After FLUSH_L2_*, the GPU's L2 cache and system memory agree.
 *
 * nouveau asks for FLUSH_BAR often: after it has written an object in instance memory. To save
 * traps, the registers' page is ordinary memory (VGPU_OWN_FLUSH), which the VMM maps into the
 * guest. The access need not trap, because nouveau then tells the chip about the object by another
 * register, which traps.
 *
 * If TRIGGER is set in a word of the page, the host owes the guest that flush. The host does it at
 * the first of these points:
 * - before the guest's next command takes effect (a command is a register write that traps); but a
 *   command that invalidates the TLB does only an owed FLUSH_BAR, and no owed FLUSH_L2_*
 * - at a read of the page that traps
 * - after the next *sample*: a look of the slicer at the chip at a random time (look.c). The
 *   slicer's other looks do no flush, because guests can cause any number of them.
 *
 * It is harmless that FLUSH_BAR is late: programs of the guest can't reach this register, so that
 * none relies on it before a doorbell.
 *
 * A driver polls the words of L2 until TRIGGER and BUSY are clear, as on the chip. The word of
 * FLUSH_BAR shows no BUSY: a driver goes on as if the flush were done.
 *
 * vgpu->lock or gpu->lock is held in vmach_flush_page_serve(); the other functions need no lock.
 */
#include "gk110/bar.h"
#include "mdev/machine/internal.h"

static u32 *flush_word_of(struct kvgpu_vgpu *v, u32 reg)
{
	const struct vgpu_own *o = &v->own[VGPU_OWN_FLUSH];

	return (u32 *)(o->memory + (reg - o->at));
}

bool vmach_flush_take(struct kvgpu_vgpu *v)
{
	u32 *w = flush_word_of(v, FLUSH_BAR);

	return (READ_ONCE(*w) & FLUSH_TRIGGER) && (xchg(w, 0) & FLUSH_TRIGGER);
}

/*
 * Tells whether the guest has asked for the L2 flush of register @reg. If so, replaces TRIGGER by
 * BUSY in the word. A TRIGGER that the guest sets before l2_end() stays for the next call.
 */
static bool l2_begin(struct kvgpu_vgpu *v, u32 reg)
{
	u32 *w = flush_word_of(v, reg);

	return (READ_ONCE(*w) & FLUSH_TRIGGER) && (xchg(w, FLUSH_BUSY) & FLUSH_TRIGGER);
}

static void l2_end(struct kvgpu_vgpu *v, u32 reg)
{
	cmpxchg(flush_word_of(v, reg), FLUSH_BUSY, 0);
}

void vmach_writes_flush(struct kvgpu_vgpu *v, bool l2)
{
	struct kvgpu_hw *hw = &v->gpu->hw;

	if (vmach_gpu_wedged(v->gpu))
		return;
	if (kvgpu_hw_flush_writes(hw) || (l2 && kvgpu_hw_l2_flush(hw)))
		vmach_gpu_wedge(v->gpu, "a flush did not end");
}

void vmach_flush_page_serve(struct kvgpu_vgpu *v)
{
	bool bar = vmach_flush_take(v);
	bool invalidate = l2_begin(v, FLUSH_L2_SYSMEM_INVALIDATE),
	     dirty = l2_begin(v, FLUSH_L2_DIRTY);

	if (bar || invalidate || dirty)
		vmach_writes_flush(v, invalidate || dirty);
	if (invalidate)
		l2_end(v, FLUSH_L2_SYSMEM_INVALIDATE);
	if (dirty)
		l2_end(v, FLUSH_L2_DIRTY);
}
