// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a runlist of the chip: the published lists (runlist.c) of all vGPUs that the slicer lets
 * onto the chip, one after the other. The slicer runs this, without a vgpu->lock.
 */
#include "mdev/machine/internal.h"

/* in the next turn of its vGPU, a long list starts this many groups further on */
#define GROUPS_PER_SLICE 3

bool vmach_list_resident(const struct machine_slice *sl)
{
	const struct machine_runl *r = sl->runl;

	vmach_slicer_assert(r->chip->gpu);
	return !r->sw.waits && (r->lists.shared ? !sl->ent.suspended : r->lists.owner == sl);
}

static u32 next_group(const u64 *list, u32 nr, u32 i)
{
	i += list[i] & RUNLIST_TSG ? 1 + FIELD_GET(RUNLIST_TSG_COUNT, list[i]) : 1;
	return min(i, nr);
}

/*
 * Returns the entry of @sl's list at which @sl's part of the runlist starts. A turn may be too
 * short for all channels of a long list, and the chip begins with the first entry. So a list of
 * more than GROUPS_PER_SLICE groups starts further on in each turn. A channel outside of groups
 * counts as a group here.
 */
static u32 first_group(const struct machine_slice *sl)
{
	u32 nr = sl->published_nr, groups = 0, i;

	for (i = 0; i < nr; i = next_group(sl->published, nr, i))
		groups++;
	if (sl->runl->lists.shared || groups <= GROUPS_PER_SLICE)
		return 0;
	groups = sl->turn * GROUPS_PER_SLICE % groups;
	for (i = 0; groups; groups--)
		i = next_group(sl->published, nr, i);
	return i;
}

int vmach_runlist_merge(struct machine_runl *r)
{
	struct kvgpu_gpu *gpu = r->chip->gpu;
	u64 *merge = r->chip->merge;
	struct machine_slice *sl;
	u32 nr = 0, first, rest;
	int ret;

	vmach_slicer_assert(gpu);
	if (vmach_gpu_lost(gpu))
		return 0;
	list_for_each_entry(sl, &r->slices, node) {
		sl->merged = vmach_list_resident(sl);
		if (!sl->merged)
			continue;
		/* the chip may load channels of this list as soon as it has the list */
		WRITE_ONCE(sl->on_chip, true);
		first = first_group(sl);
		rest = sl->published_nr - first;
		memcpy(merge + nr, sl->published + first, rest * sizeof(u64));
		memcpy(merge + nr + rest, sl->published, first * sizeof(u64));
		nr += sl->published_nr;
	}
	ret = kvgpu_hw_runlist(&gpu->hw, r->id, merge, nr);
	if (ret)
		vmach_gpu_declare_lost(gpu, "a runlist was not taken");
	return ret;
}

/*
 * When a vGPU is suspended while the chip is shared, its list is resident no more, but the runlist
 * has its entries (.merged) until that is written again. Until then changes are written, too.
 */
int vmach_runlist_update(struct machine_slice *sl)
{
	vmach_slicer_kick(sl->runl->chip->gpu);
	return vmach_list_resident(sl) || sl->merged ? vmach_runlist_merge(sl->runl) : 0;
}

/* Returns @id; -1 for a channel that is dead. */
static int live_id(void *ctx, bool tsg, u16 id)
{
	struct kvgpu_chip *chip = ctx;
	struct kvgpu_chan *c = chip->by_hchid[id];

	return tsg || (c && !c->dead) ? id : -1;
}

void vmach_runlist_drop_dead(struct machine_slice *sl)
{
	struct kvgpu_chip *chip = sl->runl->chip;
	u32 was = sl->published_nr;

	vmach_slicer_assert(chip->gpu);
	sl->published_nr = kvgpu_shadow_runlist_build(sl->published, was, live_id, chip, SLICE_US,
						      chip->merge, was);
	memcpy(sl->published, chip->merge, sl->published_nr * sizeof(u64));
	if (sl->published_nr < was)
		vmach_runlist_update(sl);
}
