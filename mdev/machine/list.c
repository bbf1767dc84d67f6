// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the chip's list of a runlist. It is made of the lists of all vGPUs that the slicer (the
 * thread that gives the chip to vGPUs in turns) lets onto the chip, one after the other. A vGPU's
 * list here is its published list: the guest's entries that may run, with the chip's ids
 * (machine->runl.published, runlist.c). The slicer runs this, without a vgpu->lock. A list has
 * entries of channels; the entry of a group (TSG), called its header, is followed by the entries of
 * the group's channels.
 */
#include "mdev/machine/internal.h"

/* in the next turn of its vGPU, a long list starts this many groups further on */
#define GROUPS_PER_SLICE 3

bool vmach_list_resident(const struct kvgpu_machine *m)
{
	const struct machine_slicer *s = &m->v->gpu->chip->slicer;

	vmach_slicer_assert(m->v->gpu);
	return s->lists.shared ? !m->slice.ent.suspended : s->lists.owner == m;
}

static u32 next_group(const u64 *list, u32 nr, u32 i)
{
	i += list[i] & RUNLIST_TSG ? 1 + FIELD_GET(RUNLIST_TSG_COUNT, list[i]) : 1;
	return min(i, nr);
}

/*
 * Returns the index of the entry of @m's list at which @m's part of the chip's list starts. While
 * vGPUs take turns (not slicer->lists.shared), a turn may be too short for all channels of a long
 * list, and the chip begins with the list's first entry. So a list of more than GROUPS_PER_SLICE
 * groups starts further on in each turn. A channel outside of groups counts as a group here.
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

static void merge_append(u64 *out, const struct kvgpu_machine *m)
{
	u32 nr = m->runl.published_nr, first = first_group(m);

	memcpy(out, m->runl.published + first, (nr - first) * sizeof(u64));
	memcpy(out + nr - first, m->runl.published, first * sizeof(u64));
}

int vmach_runlist_merge(struct kvgpu_gpu *gpu)
{
	struct kvgpu_chip *chip = gpu->chip;
	struct kvgpu_machine *m;
	u32 nr = 0;

	vmach_slicer_assert(gpu);
	if (vmach_gpu_lost(gpu))
		return 0;
	list_for_each_entry(m, &chip->live, node) {
		/*
		 * The second condition only guards chip->merge. It is true wherever the first is,
		 * because the lists of all vGPUs that fit on a card fit into the chip's list.
		 */
		m->slice.merged = vmach_list_resident(m) &&
				  m->runl.published_nr <= CHIP_RUNL_MAX - nr;
		if (!m->slice.merged)
			continue;
		/* the chip may load channels of this list as soon as it has the list */
		WRITE_ONCE(m->slice.on_chip, true);
		m->slice.evicting = false;
		merge_append(chip->merge + nr, m);
		nr += m->runl.published_nr;
	}
	return kvgpu_hw_runlist(&gpu->hw, vmach_gr_runl_get(gpu), chip->merge, nr);
}

/*
 * When @m is suspended while the chip is shared (it has the lists of all vGPUs),
 * vmach_list_resident() is false at once, but the chip's list has @m's entries (slice.merged) until
 * that list is written again. Until then a change of @m's list has to be written, too.
 */
int vmach_runlist_update(struct kvgpu_machine *m)
{
	vmach_slicer_kick(m->v->gpu);
	return vmach_list_resident(m) || m->slice.merged ? vmach_runlist_merge(m->v->gpu) : 0;
}

/*
 * Corrects the count in the header of a group after one of the group's channels was removed from
 * the list. Removes the header if the group is empty now. *@nr: length of the list.
 */
static void group_recount(u64 *list, u32 header, u32 *nr)
{
	u32 count = FIELD_GET(RUNLIST_TSG_COUNT, list[header]);

	if (count > 1) {
		list[header] = (list[header] & ~(u64)RUNLIST_TSG_COUNT) |
			       FIELD_PREP(RUNLIST_TSG_COUNT, count - 1);
		return;
	}
	memmove(list + header, list + header + 1, (*nr - header - 1) * sizeof(u64));
	--*nr;
}

bool vmach_runlist_drop(struct kvgpu_machine *m, hchid_t id)
{
	u64 *list = m->runl.published;
	u32 nr = m->runl.published_nr, i, header = 0, left = 0;

	vmach_slicer_assert(m->v->gpu);
	for (i = 0; i < nr; i++) {
		if (list[i] & RUNLIST_TSG) {
			header = i;
			left = FIELD_GET(RUNLIST_TSG_COUNT, list[i]);
			continue;
		}
		if (FIELD_GET(RUNLIST_ID, list[i]) == id.v) {
			memmove(list + i, list + i + 1, (nr - i - 1) * sizeof(u64));
			nr--;
			if (left)
				group_recount(list, header, &nr);
			m->runl.published_nr = nr;
			return true;
		}
		if (left)
			left--;
	}
	return false;
}
