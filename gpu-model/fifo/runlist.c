// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runlists: a list of channels, some of them members of groups under TSG headers (ram.h names the
 * sources). Channels are served in the order of the list.
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/bitfield.h>

#include <gk110/ram.h>

#include "runlist.h"

uint64_t rl_slice_ns(unsigned int timeout, unsigned int scale)
{
	return ((uint64_t)timeout << scale) * 1024;
}

void rl_free(struct runlist *rl)
{
	free(rl->group);
	free(rl->chan);
	*rl = (struct runlist){ 0 };
}

static struct rl_group *group_add(struct runlist *rl, uint32_t word, bool tsg)
{
	struct rl_group *grp = &rl->group[rl->nr_groups++];

	*grp = (struct rl_group){ .tsg = tsg,
				  .id = FIELD_GET(RUNLIST_ID, word),
				  .first = rl->nr_chans };
	if (tsg)
		grp->slice_ns = rl_slice_ns(FIELD_GET(RUNLIST_TSG_TIMEOUT, word),
					    FIELD_GET(RUNLIST_TSG_SCALE, word));
	return grp;
}

static void member_add(struct runlist *rl, struct rl_group *grp, uint32_t word)
{
	rl->chan[rl->nr_chans++] = FIELD_GET(RUNLIST_ID, word);
	grp->count++;
}

int rl_parse(struct runlist *rl, const uint32_t *words, unsigned int nr)
{
	struct rl_group *tsg = NULL;
	unsigned int i, left = 0;

	rl_free(rl);
	if (!nr)
		return 0;
	rl->group = calloc(nr, sizeof(*rl->group));
	rl->chan = calloc(nr, sizeof(*rl->chan));
	if (!rl->group || !rl->chan) {
		rl_free(rl);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		uint32_t word = words[2 * i];

		if (word & RUNLIST_TSG) {
			rl->malformed += left > 0;
			tsg = group_add(rl, word, true);
			left = FIELD_GET(RUNLIST_TSG_COUNT, word);
			rl->malformed += !left;
		} else if (left) {
			member_add(rl, tsg, word);
			left--;
		} else {
			member_add(rl, group_add(rl, word, false), word);
		}
	}
	rl->malformed += left > 0;
	return 0;
}

bool rl_pick_member(struct runlist *rl, struct rl_group *grp, const struct rl_ask *ask,
		    unsigned int *chid)
{
	unsigned int i, m;

	for (i = 0; i < grp->count; i++) {
		m = (grp->turn + i) % grp->count;
		if (ask->chan_ready(ask->ctx, rl->chan[grp->first + m])) {
			*chid = rl->chan[grp->first + m];
			grp->turn = (m + 1) % grp->count;
			return true;
		}
	}
	return false;
}

struct rl_group *rl_pick(struct runlist *rl, const struct rl_ask *ask, unsigned int *chid)
{
	unsigned int i, at;

	for (i = 0; i < rl->nr_groups; i++) {
		struct rl_group *grp;

		at = rl->cursor + i < rl->nr_groups ? rl->cursor + i :
						      rl->cursor + i - rl->nr_groups;
		grp = &rl->group[at];
		if (ask->group_free(ask->ctx, grp) && rl_pick_member(rl, grp, ask, chid)) {
			rl->cursor = at + 1 < rl->nr_groups ? at + 1 : 0;
			return grp;
		}
	}
	return NULL;
}

bool rl_any(const struct runlist *rl, const struct rl_ask *ask)
{
	unsigned int i, m;

	for (i = 0; i < rl->nr_groups; i++) {
		const struct rl_group *grp = &rl->group[i];

		if (!ask->group_free(ask->ctx, grp))
			continue;
		for (m = 0; m < grp->count; m++)
			if (ask->chan_ready(ask->ctx, rl->chan[grp->first + m]))
				return true;
	}
	return false;
}

struct rl_group *rl_find_tsg(struct runlist *rl, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < rl->nr_groups; i++)
		if (rl->group[i].tsg && rl->group[i].id == id)
			return &rl->group[i];
	return NULL;
}
