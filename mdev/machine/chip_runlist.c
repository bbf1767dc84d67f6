// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the chip's list: the published lists (runlist.c) of all vGPUs that the slicer lets onto
 * the chip, one after the other. The slicer runs this, without a vgpu->lock.
 */
#include "mdev/machine/internal.h"

/* in the next turn of its vGPU, a long list starts this many groups further on */
#define GROUPS_PER_SLICE 3

bool vmach_list_resident(const struct kvgpu_machine *m)
{
	const struct machine_slicer *s = &m->v->gpu->chip->slicer;

	vmach_slicer_assert(m->v->gpu);
	return !s->sw.waits && (s->lists.shared ? !m->slice.ent.suspended : s->lists.owner == m);
}

static u32 next_group(const u64 *list, u32 nr, u32 i)
{
	i += list[i] & RUNLIST_TSG ? 1 + FIELD_GET(RUNLIST_TSG_COUNT, list[i]) : 1;
	return min(i, nr);
}

/*
 * Returns the entry of @m's list at which @m's part of the chip's list starts. A turn may be too
 * short for all channels of a long list, and the chip begins with the first entry. So a list of
 * more than GROUPS_PER_SLICE groups starts further on in each turn. A channel outside of groups
 * counts as a group here.
 */
static u32 first_group(const struct kvgpu_machine *m)
{
	u32 nr = m->runl.published_nr, groups = 0, i;

	for (i = 0; i < nr; i = next_group(m->runl.published, nr, i))
		groups++;
	if (m->v->gpu->chip->slicer.lists.shared || groups <= GROUPS_PER_SLICE)
		return 0;
	groups = m->slice.turn * GROUPS_PER_SLICE % groups;
	for (i = 0; groups; groups--)
		i = next_group(m->runl.published, nr, i);
	return i;
}

int vmach_runlist_merge(struct kvgpu_gpu *gpu)
{
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_machine *m;
	u32 nr = 0, first, rest;
	int ret;

	vmach_slicer_assert(gpu);
	if (vmach_gpu_lost(gpu))
		return 0;
	list_for_each_entry(m, &chip->live, node) {
		m->slice.merged = vmach_list_resident(m);
		if (!m->slice.merged)
			continue;
		/* the chip may load channels of this list as soon as it has the list */
		WRITE_ONCE(m->slice.on_chip, true);
		first = first_group(m);
		rest = m->runl.published_nr - first;
		memcpy(chip->merge + nr, m->runl.published + first, rest * sizeof(u64));
		memcpy(chip->merge + nr + rest, m->runl.published, first * sizeof(u64));
		nr += m->runl.published_nr;
	}
	ret = kvgpu_hw_runlist(&gpu->hw, vmach_gr_runl_get(gpu), chip->merge, nr);
	if (ret)
		vmach_gpu_declare_lost(gpu, "a runlist was not taken");
	return ret;
}

/*
 * When @m is suspended while the chip is shared, its list is resident no more, but the chip's list
 * has its entries (slice.merged) until that is written again. Until then changes are written, too.
 */
int vmach_runlist_update(struct kvgpu_machine *m)
{
	vmach_slicer_kick(m->v->gpu);
	return vmach_list_resident(m) || m->slice.merged ? vmach_runlist_merge(m->v->gpu) : 0;
}

/* Returns @id; -1 for a channel that is dead. */
static int live_id(void *ctx, bool tsg, u16 id)
{
	struct kvgpu_chip *chip = ctx;
	struct kvgpu_chan *c = chip->by_hchid[id];

	return tsg || (c && !c->dead) ? id : -1;
}

void vmach_runlist_drop_dead(struct kvgpu_machine *m)
{
	struct kvgpu_chip *chip = m->v->gpu->chip;
	u32 was = m->runl.published_nr;

	vmach_slicer_assert(m->v->gpu);
	m->runl.published_nr = kvgpu_shadow_runlist_build(m->runl.published, was, live_id, chip,
							  SLICE_US, chip->merge, was);
	memcpy(m->runl.published, chip->merge, m->runl.published_nr * sizeof(u64));
	if (m->runl.published_nr < was)
		vmach_runlist_update(m);
}
