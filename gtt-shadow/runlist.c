// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runlists. The guest's entries have the guest's ids of channels and groups, and the chip's entries
 * have ids that the host gave. .map() translates an id; without an id the entry is left out. A
 * group (TSG) is a header entry, and behind it the entries of its channels. The host sets the
 * timeslice. Pure: the caller serialises calls for one vGPU.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>

#include <gk110/fifo.h>
#include <gk110/ram.h>

#include "internal.h"

#define NS_PER_TICK 1024

struct list {
	int (*map)(void *ctx, bool tsg, u16 id);
	void *ctx;
	u64 *out;
	u32 nr, max;
	u64 seen[GK110_FIFO_NR_CHAN / 64];
};

/*
 * Returns the fields of a group's header for a timeslice: TIMEOUT << SCALE ticks of NS_PER_TICK ns.
 */
static u32 timeslice(u32 us)
{
	u64 ticks = (u64)us * 1000 / NS_PER_TICK;
	u32 scale = 0, top = FIELD_MAX(RUNLIST_TSG_TIMEOUT);

	while (ticks >> scale > top && scale < FIELD_MAX(RUNLIST_TSG_SCALE))
		scale++;
	ticks >>= scale;
	if (!ticks)
		ticks = 1;
	if (ticks > top)
		ticks = top;
	return (u32)(FIELD_PREP(RUNLIST_TSG_SCALE, scale) | FIELD_PREP(RUNLIST_TSG_TIMEOUT, ticks));
}

static int host_id(const struct list *l, bool tsg, u32 word)
{
	int id = l->map(l->ctx, tsg, FIELD_GET(RUNLIST_ID, word));

	return id >= 0 && id < GK110_FIFO_NR_CHAN ? id : -ENOENT;
}

/*
 * Of several entries of one channel only the first counts, even if it gets no place in l->out: the
 * host has noted the group of the first entry as the channel's group, and the chip must not see the
 * channel in another group.
 */
static void add_channel(struct list *l, u32 word)
{
	int id = host_id(l, false, word);

	if (id < 0 || l->seen[id / 64] & BIT_ULL(id % 64))
		return;
	l->seen[id / 64] |= BIT_ULL(id % 64);
	if (l->nr < l->max)
		l->out[l->nr++] = id;
}

/*
 * Adds a group whose header is @guest[0]. Returns the number of guest entries that belong to the
 * group, the header included. .map() is called for the group's id if the group has channels. If
 * .map() gives no id, or if there is no room for the header, the group's channels are left out,
 * too.
 */
static u32 add_group(struct list *l, const u64 *guest, u32 nr, u32 slice)
{
	u32 claimed = FIELD_GET(RUNLIST_TSG_COUNT, (u32)guest[0]), header = l->nr, used = 1, count;
	bool room = l->nr < l->max;
	int id;

	l->nr += room;
	/* another header ends the group early */
	for (; used <= claimed && used < nr && !(guest[used] & RUNLIST_TSG); used++)
		add_channel(l, (u32)guest[used]);
	if (!room)
		return used;
	count = l->nr - header - 1;
	id = count ? host_id(l, true, (u32)guest[0]) : -ENOENT;
	if (id >= 0)
		l->out[header] = (u32)id | RUNLIST_TSG | slice |
				 FIELD_PREP(RUNLIST_TSG_COUNT, count);
	else
		l->nr = header;
	return used;
}

int kvgpu_shadow_runlist_build(const u64 *guest, u32 nr, int (*map)(void *ctx, bool tsg, u16 id),
			       void *ctx, u32 slice_us, u64 *out, u32 max)
{
	struct list l = { .map = map, .ctx = ctx, .out = out, .max = max };
	u32 slice = timeslice(slice_us), i = 0;

	while (i < nr) {
		if (guest[i] & RUNLIST_TSG)
			i += add_group(&l, guest + i, nr - i, slice);
		else
			add_channel(&l, (u32)guest[i++]);
	}
	return (int)l.nr;
}
