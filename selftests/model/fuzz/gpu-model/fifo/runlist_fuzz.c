// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a runlist: every channel entry is in exactly one group, nothing is read or written
 * beyond the arrays, and choosing finds a ready member of a free group if there is one.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fifo/runlist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t mask;

static void require(int ok)
{
	if (!ok)
		abort();
}

static bool group_free(void *ctx, const struct rl_group *grp)
{
	return !(grp->tsg && (grp->id & mask & 1));
}

static bool chan_ready(void *ctx, unsigned int chid)
{
	require(chid < 4096);
	return !(chid & mask & 6);
}

static void check_groups(const struct runlist *rl, const uint32_t *words, unsigned int nr)
{
	unsigned int i, members = 0, channels = 0;

	for (i = 0; i < nr; i++)
		channels += !(words[2 * i] & 1u << 13);
	for (i = 0; i < rl->nr_groups; i++) {
		require(rl->group[i].first == members && rl->group[i].id < 4096);
		require(rl->group[i].count <= 63 && (rl->group[i].tsg || rl->group[i].count == 1));
		members += rl->group[i].count;
	}
	require(members == rl->nr_chans && members == channels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rl_ask ask = { .group_free = group_free, .chan_ready = chan_ready };
	struct runlist rl = { 0 };
	unsigned int nr, i, chid, picks;
	struct rl_group *grp;
	uint32_t *words;

	if (!size)
		return 0;
	mask = data[0];
	nr = (size - 1) / 8;
	words = malloc(nr * 8 + 1);
	memcpy(words, data + 1, nr * 8);
	require(rl_parse(&rl, words, nr) == 0);
	check_groups(&rl, words, nr);
	for (picks = 0; picks < 64; picks++) {
		bool any = rl_any(&rl, &ask);

		grp = rl_pick(&rl, &ask, &chid);
		require(any == (grp != NULL));
		if (!grp)
			break;
		require(!(chid & mask & 6) && group_free(NULL, grp));
		for (i = 0; i < grp->count && rl.chan[grp->first + i] != chid; i++)
			;
		require(i < grp->count && grp->turn < grp->count);
	}
	rl_free(&rl);
	free(words);
	return 0;
}
