// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flushes that the guest asks for: what its CPUs have put into BARs reaches memory (FLUSH_BAR), L2
 * and system memory agree.
 *
 * nouveau asks after every object in instance memory that it has written, 84 times while a CUDA
 * program starts and ends, with two accesses each time; next it tells the chip what it wrote for,
 * and that traps. So the page of these registers is memory that the guest maps. A word with TRIGGER
 * set is a flush that is owed: it is done before the guest's next command takes effect, or at the
 * slicer's next sample (look.c), whichever is sooner; not at its other looks, of which guests cause
 * as many as they like. Nothing on the way from a store to a doorbell relies on this register:
 * programs, which have both in their hands, can't reach it.
 *
 * A driver polls the words of L2 until TRIGGER and BUSY are gone, as on the chip; BUSY of FLUSH_BAR
 * is never set, since nothing that came before can be told from what was done at once.
 */
#include "gk110/bar.h"
#include "mdev/machine/internal.h"

static u32 *word(struct kvgpu_vgpu *v, u32 reg)
{
	const struct vgpu_own *o = &v->own[VGPU_OWN_FLUSH];

	return (u32 *)(o->memory + (reg - o->at));
}

bool machine_flush_take(struct kvgpu_vgpu *v)
{
	u32 *w = word(v, FLUSH_BAR);

	return (READ_ONCE(*w) & FLUSH_TRIGGER) && (xchg(w, 0) & FLUSH_TRIGGER);
}

/* a trigger set again meanwhile stays for the next time */
static bool l2_begin(struct kvgpu_vgpu *v, u32 reg)
{
	u32 *w = word(v, reg);

	return (READ_ONCE(*w) & FLUSH_TRIGGER) && (xchg(w, FLUSH_BUSY) & FLUSH_TRIGGER);
}

static void l2_end(struct kvgpu_vgpu *v, u32 reg)
{
	cmpxchg(word(v, reg), FLUSH_BUSY, 0);
}

void machine_flush(struct kvgpu_vgpu *v, bool l2)
{
	struct kvgpu_hw *hw = &v->gpu->hw;

	if (machine_wedged(v->gpu))
		return;
	if (kvgpu_hw_flush_writes(hw) || (l2 && kvgpu_hw_l2_flush(hw)))
		machine_wedge(v->gpu, "a flush did not end");
}

void machine_flush_page(struct kvgpu_vgpu *v)
{
	bool bar = machine_flush_take(v);
	bool invalidate = l2_begin(v, FLUSH_L2_SYSMEM_INVALIDATE),
	     dirty = l2_begin(v, FLUSH_L2_DIRTY);

	if (bar || invalidate || dirty)
		machine_flush(v, invalidate || dirty);
	if (invalidate)
		l2_end(v, FLUSH_L2_SYSMEM_INVALIDATE);
	if (dirty)
		l2_end(v, FLUSH_L2_DIRTY);
}
