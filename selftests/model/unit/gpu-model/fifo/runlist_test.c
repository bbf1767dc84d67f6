// SPDX-License-Identifier: GPL-2.0-only
/* Parsing of runlists, and the order in which channels are served. */
#include <selftests/unit_test.h>

#include "fifo/runlist.h"

#define CH(id) (id), 0
/* as nouveau's gk110_runl_insert_cgrp() builds it */
#define TSG(id, n) ((uint32_t)(n) << 26 | 128 << 18 | 3 << 14 | 0x2000 | (id)), 0

static bool busy_group[4096], idle_chan[4096];

static bool group_free(void *ctx, const struct rl_group *grp)
{
	return !(grp->tsg && busy_group[grp->id]);
}

static bool chan_ready(void *ctx, unsigned int chid)
{
	return !idle_chan[chid];
}

static const struct rl_ask ask = { .group_free = group_free, .chan_ready = chan_ready };

static int clear(void **state)
{
	memset(busy_group, 0, sizeof(busy_group));
	memset(idle_chan, 0, sizeof(idle_chan));
	return 0;
}

static void expect(struct runlist *rl, const int *order, unsigned int n)
{
	unsigned int i, chid;

	for (i = 0; i < n; i++) {
		chid = 9999;
		if (!rl_pick(rl, &ask, &chid))
			chid = (unsigned int)-1;
		if ((int)chid != order[i])
			fail_msg("pick %u gave %d, wanted %d", i, (int)chid, order[i]);
	}
}

TEST(test_empty)
{
	struct runlist rl = { 0 };
	unsigned int chid;

	assert_int_equal(rl_parse(&rl, NULL, 0), 0);
	assert_null(rl_pick(&rl, &ask, &chid));
	assert_false(rl_any(&rl, &ask));
	assert_null(rl_find_tsg(&rl, 0));
	rl_free(&rl);
}

TEST(test_channels_in_order)
{
	const uint32_t w[] = { CH(7), CH(3), CH(4095), CH(7) };
	const int all[] = { 7, 3, 4095, 7, 7, 3 }, some[] = { 4095, 7, 7, 4095 }, none[] = { -1 };
	struct runlist rl = { 0 };

	assert_int_equal(rl_parse(&rl, w, 4), 0);
	assert_int_equal(rl.nr_groups, 4);
	assert_int_equal(rl.malformed, 0);
	expect(&rl, all, 6);
	idle_chan[3] = true;
	expect(&rl, some, 4);
	idle_chan[7] = idle_chan[4095] = true;
	assert_false(rl_any(&rl, &ask));
	expect(&rl, none, 1);
	rl_free(&rl);
}

TEST(test_tsg_rotation)
{
	const uint32_t w[] = { CH(1), TSG(5, 3), CH(10), CH(11), CH(12), CH(2) };
	const int turns[] = { 1, 10, 2, 1, 11, 2, 1, 12, 2, 1, 10, 2 },
		  skip[] = { 1, 12, 2, 1, 12, 2 };
	const int without[] = { 1, 2, 1, 2 };
	struct runlist rl = { 0 };
	struct rl_group *grp;

	assert_int_equal(rl_parse(&rl, w, 6), 0);
	assert_int_equal(rl.nr_groups, 3);
	assert_int_equal(rl.nr_chans, 5);
	grp = rl_find_tsg(&rl, 5);
	assert_non_null(grp);
	assert_int_equal(grp->count, 3);
	assert_int_equal(grp->slice_ns, 1048576); /* 128 << 3 units of 1024 ns */
	expect(&rl, turns, 12);
	idle_chan[10] = idle_chan[11] = true;
	expect(&rl, skip, 6);
	busy_group[5] = true;
	expect(&rl, without, 4);
	rl_free(&rl);
}

TEST(test_malformed)
{
	const uint32_t cut[] = { TSG(1, 3), CH(1), CH(2) };
	const uint32_t nested[] = { TSG(1, 3), CH(1), TSG(2, 1), CH(2), CH(3) };
	const uint32_t hollow[] = { TSG(1, 0), CH(1) };
	const int one[] = { 1 };
	struct runlist rl = { 0 };

	rl_parse(&rl, cut, 3);
	assert_int_equal(rl.malformed, 1);
	assert_int_equal(rl_find_tsg(&rl, 1)->count, 2);
	rl_parse(&rl, nested, 5);
	assert_int_equal(rl.malformed, 1);
	assert_int_equal(rl.nr_groups, 3);
	assert_int_equal(rl_find_tsg(&rl, 1)->count, 1);
	assert_int_equal(rl_find_tsg(&rl, 2)->count, 1);
	assert_null(rl_find_tsg(&rl, 3));
	rl_parse(&rl, hollow, 2);
	assert_int_equal(rl.malformed, 1);
	expect(&rl, one, 1);
	rl_free(&rl);
}

TEST(test_slices)
{
	unsigned int t, s;

	for (t = 0; t < 256; t++)
		for (s = 0; s < 16; s++) {
			const uint32_t w[] = { 1u << 26 | t << 18 | s << 14 | 0x2000 | 9, 0,
					       CH(4) };
			struct runlist rl = { 0 };

			rl_parse(&rl, w, 2);
			assert_true(rl.group[0].slice_ns == 1024ull * t * (1u << s));
			rl_free(&rl);
		}
}

TEST(test_fair_with_many)
{
	uint32_t *w = calloc(4096, 8);
	unsigned int count[4096] = { 0 }, i, chid;
	struct runlist rl = { 0 };

	for (i = 0; i < 4096; i++)
		w[2 * i] = (i * 1009) % 4096;
	assert_int_equal(rl_parse(&rl, w, 4096), 0);
	free(w);
	for (i = 0; i < 4096; i++)
		idle_chan[i] = i % 3;
	for (i = 0; i < 1366 * 5; i++) {
		assert_non_null(rl_pick(&rl, &ask, &chid));
		count[chid]++;
	}
	for (i = 0; i < 4096; i++)
		assert_int_equal(count[i], i % 3 ? 0 : 5);
	rl_free(&rl);
}

TEST_MAIN(clear, NULL)
