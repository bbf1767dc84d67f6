// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces: the page directories of the guest that have a shadow, that is, page tables of the
 * host that the GPU uses in place of the guest's. A *sync* brings the shadows, and the windows
 * (slices of BAR1 and BAR3), up to date with the guest's tables. To *settle* is to make changed
 * entries take effect: vmach_shadow_commit().
 *
 * A sync is made when the guest invalidates its TLB: of the space and the windows in virtual mode
 * (those that show memory by the guest's tables) whose directory the guest names, and of those for
 * which a sync failed to find a pin or a table. gtt-shadow/ sees to it that each space learns of
 * writes to a page that other spaces have, too. With some other commands one space is synced, or
 * one window. The order for a page is: remove the mark of dirty.c, remove the CPU mapping, then
 * read. A write after the mapping's removal faults and is noted again, for the next sync.
 *
 * If a sync changes entries, the guest's register access that caused the sync completes after the
 * card's TLB was invalidated (or the card was lost). Calls that take memory away (.dma_unmap,
 * close, reset) remove entries and call vmach_shadow_commit(), without a sync.
 */
#include <linux/slab.h>

#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* ------------------------------------------------------------- get, put and drop address spaces */

struct kvgpu_space *vmach_space_get(struct kvgpu_vgpu *v, struct kvgpu_gaddr pd)
{
	struct kvgpu_machine *m = v->m;
	struct kvgpu_space *sp;
	void *mem;

	list_for_each_entry(sp, &m->mem.spaces, node)
		if (sp->pd.target == pd.target && sp->pd.addr == pd.addr) {
			sp->users++;
			return sp;
		}
	sp = kzalloc(sizeof(*sp), GFP_KERNEL_ACCOUNT);
	mem = kvzalloc(kvgpu_shadow_as_size(), GFP_KERNEL_ACCOUNT);
	if (!sp || !mem || kvgpu_shadow_as_create(&m->mem.shadow, pd, mem, &sp->as)) {
		kvfree(mem);
		kfree(sp);
		return NULL;
	}
	sp->pd = pd;
	sp->users = 1;
	/* the shadow directory's memory may have belonged to another space */
	sp->flush = true;
	list_add_tail(&sp->node, &m->mem.spaces);
	return sp;
}

static void space_invalidate(struct kvgpu_vgpu *v, struct kvgpu_space *sp)
{
	if (vmach_gpu_lost(v->gpu))
		return;
	if (kvgpu_hw_tlb_flush(&v->gpu->hw, kvgpu_shadow_as_pd_get(sp->as), false))
		vmach_gpu_declare_lost(v->gpu, "a TLB was not invalidated");
	atomic64_inc(&v->m->mem.flushes);
	sp->flush = false;
}

/* Ends @uses uses of the space. If none is left, invalidates the TLB for it, and frees it. */
static void space_unref(struct kvgpu_vgpu *v, struct kvgpu_space *sp, u32 uses)
{
	sp->users -= uses;
	if (sp->users)
		return;
	space_invalidate(v, sp);
	list_del(&sp->node);
	kvfree(kvgpu_shadow_as_destroy(sp->as));
	kfree(sp);
}

/*
 * Checks that @c is off the chip, as the caller has promised: a channel that is still on the chip
 * could use page tables that are freed here, against S1 and S2 (docs/invariants.md).
 */
void vmach_space_put(struct kvgpu_vgpu *v, struct kvgpu_space *sp, const struct kvgpu_chan *c)
{
	if (!c || vmach_chan_is_off(c)) {
		space_unref(v, sp, 1);
		return;
	}
	sp->kept++;
	atomic64_inc(&v->m->mem.spaces_kept);
	kvgpu_mdev_fault_note(v, "address space of a channel that is not off the chip, kept",
			      c->gchid.v, sp->pd.addr, 0);
}

void vmach_spaces_drop(struct kvgpu_vgpu *v)
{
	struct kvgpu_space *sp, *n;

	list_for_each_entry_safe(sp, n, &v->m->mem.spaces, node) {
		sp->users -= sp->kept;
		sp->kept = 0;
		space_unref(v, sp, 0);
	}
}

/* --------------------------------------- sync: bring shadows up to date with the guest's tables */

/*
 * Makes changes of entries take effect: writes the changed entries out, invalidates the TLB entries
 * of the windows and spaces that have changed, and only then releases the memory that only the old
 * entries used (pinned pages become due: pin.c). S2 (docs/invariants.md) requires this order. If
 * the card does not answer, it is lost before the release.
 */
void vmach_shadow_commit(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;
	struct kvgpu_space *sp;
	bool any;

	lockdep_assert_held(&v->lock);
	any = vmach_windows_stale(v);
	list_for_each_entry(sp, &m->mem.spaces, node)
		any |= sp->flush;
	if (any) {
		vmach_writes_flush(v, false);
		m->flush.owed = false;
	}
	vmach_windows_invalidate(v);
	list_for_each_entry(sp, &m->mem.spaces, node)
		if (sp->flush)
			space_invalidate(v, sp);
	vmach_windows_show(v);
	m->mem.l2_clean = false;
	kvgpu_shadow_reap(&m->mem.shadow);
	vmach_tables_free(v);
	vmach_grctx_free_dead(v);
}

static void space_sync(struct kvgpu_vgpu *v, struct kvgpu_space *sp)
{
	const struct kvgpu_shadow_stats *st = &v->m->mem.shadow.stats, was = *st;
	bool changed = false;
	/*
	 * an error is not handled: entries for which there was no memory are invalid, and later
	 * syncs try them again
	 */
	int ret = kvgpu_shadow_as_sync(sp->as, &changed);

	sp->flush |= changed;
	if (changed || ret)
		trace_kvgpu_shadow_sync(v->id, sp->pd.addr, st->tables_read - was.tables_read,
					st->entries_written - was.entries_written,
					st->rejected - was.rejected, sp->flush, ret);
}

void vmach_shadow_sync(struct kvgpu_vgpu *v, const struct kvgpu_gaddr *pd, bool behind)
{
	struct kvgpu_machine *m = v->m;
	struct kvgpu_space *sp;

	m->flush.owed = vmach_flush_take(v);
	list_for_each_entry(sp, &m->mem.spaces, node)
		if (behind ? kvgpu_shadow_as_is_behind(sp->as) : kvgpu_shadow_as_is_due(sp->as, pd))
			space_sync(v, sp);
	vmach_windows_sync(v, pd, behind);
	vmach_shadow_commit(v);
	if (m->flush.owed) /* no read of tables and no change of entries has done it */
		vmach_writes_flush(v, false);
	m->flush.owed = false;
}

void vmach_mmu_show(struct kvgpu_vgpu *v)
{
	struct kvgpu_machine *m = v->m;

	if (m->dirty.mmu_shown)
		return;
	mutex_lock(&v->map_lock);
	m->dirty.mmu_mapped = true;
	m->dirty.written = false;
	mutex_unlock(&v->map_lock);
	vmach_shadow_sync(v, NULL, true);
	kvgpu_trap_mmu_restore(&m->trap);
	mutex_lock(&v->map_lock);
	m->dirty.mmu_shown = !m->dirty.written;
	mutex_unlock(&v->map_lock);
}

void vmach_space_sync(struct kvgpu_vgpu *v, struct kvgpu_space *sp)
{
	space_sync(v, sp);
	vmach_shadow_commit(v);
}
