// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flushes that the guest asks for: writes of its CPUs to BARs reach memory (FLUSH_BAR); L2 and
 * system memory agree (FLUSH_L2_*).
 *
 * nouveau asks after every object in instance memory that it has written, 84 times while a CUDA
 * program starts and ends, by two accesses each time. Then it tells the chip about the object, by a
 * register that traps. So the page of these registers is memory that the guest maps. A word with
 * TRIGGER set is an owed flush. It is done before the guest's next command takes effect, or at the
 * slicer's next sample (slice.c), whichever is sooner. The slicer's other looks don't do it, because
 * guests can cause any number of them. A store and the doorbell that follows it don't rely on this
 * register: programs make both, and can't reach it.
 *
 * A driver polls the words of L2 until TRIGGER and BUSY are clear, as on the chip. BUSY of
 * FLUSH_BAR is never set: a flush that is done later looks the same as a flush that was done at
 * once.
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

/* A trigger that is set again meanwhile stays for the next time. */
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
