// SPDX-License-Identifier: GPL-2.0-only
/*
 * vGPUs that come and go, the admin's knobs while vGPUs run, and entitlements.
 */
#include <errno.h>
#include <selftests/unit_test.h>

#include "selftests/module/sim/gpu.h"

#define DAY (86400 * SIM_S)

static struct sim_vgpu *machine(struct sim_gpu *g, u32 nr)
{
	struct sim_vgpu *v = sim_vgpus(nr, SIM_MS);

	sim_init(g, &sim_k20, v, nr, 0);
	return v;
}

/* ------------------------------------------------------------------ what is refused */

TEST(wrong_values_change_nothing)
{
	struct kvgpu_sched_ent e = { .weight = 7, .cap = 50, .fixed_ppm = 1000 };
	struct kvgpu_sched s;

	kvgpu_sched_init(&s);
	kvgpu_sched_add(&s, &e, 0);
	assert_int_equal(kvgpu_sched_set_policy(&s, (enum kvgpu_sched_policy_id)3, 0), -EINVAL);
	assert_int_equal(kvgpu_sched_set_policy(&s, (enum kvgpu_sched_policy_id) - 1, 0), -EINVAL);
	assert_int_equal(kvgpu_sched_set_slice(&s, KVGPU_SCHED_SLICE_MIN - 1), -ERANGE);
	assert_int_equal(kvgpu_sched_set_slice(&s, KVGPU_SCHED_SLICE_MAX + 1), -ERANGE);
	assert_int_equal(kvgpu_sched_set_weight(&s, &e, 0, 0), -ERANGE);
	assert_int_equal(kvgpu_sched_set_weight(&s, &e, 10001, 0), -ERANGE);
	assert_int_equal(kvgpu_sched_set_cap(&s, &e, 0, 0), -ERANGE);
	assert_int_equal(kvgpu_sched_set_cap(&s, &e, 101, 0), -ERANGE);
	assert_ptr_equal(s.policy, &kvgpu_sched_policies[KVGPU_SCHED_BEST_EFFORT]);
	assert_int_equal(s.slice_ns, KVGPU_SCHED_SLICE_DEFAULT);
	assert_int_equal(e.weight, 7);
	assert_int_equal(e.cap, 50);
	assert_int_equal(kvgpu_sched_set_slice(&s, KVGPU_SCHED_SLICE_MIN), 0);
	assert_int_equal(kvgpu_sched_set_slice(&s, KVGPU_SCHED_SLICE_MAX), 0);
	assert_int_equal(kvgpu_sched_set_weight(&s, &e, 1, 0), 0);
	assert_int_equal(kvgpu_sched_set_weight(&s, &e, 10000, 0), 0);
	assert_int_equal(kvgpu_sched_set_cap(&s, &e, 1, 0), 0);
	assert_int_equal(kvgpu_sched_set_cap(&s, &e, 100, 0), 0);
}

TEST(add_takes_the_nearest_value)
{
	struct kvgpu_sched_ent e[2] = { { .weight = 0, .cap = 0, .fixed_ppm = 0 },
					{ .weight = ~0u, .cap = ~0u, .fixed_ppm = ~0u } };
	struct kvgpu_sched s;

	kvgpu_sched_init(&s);
	kvgpu_sched_add(&s, &e[0], 5);
	kvgpu_sched_add(&s, &e[1], 5);
	assert_int_equal(e[0].weight, 1);
	assert_int_equal(e[0].cap, 1);
	assert_int_equal(e[0].fixed_ppm, 1);
	assert_int_equal(e[1].weight, 10000);
	assert_int_equal(e[1].cap, 100);
	assert_int_equal(e[1].fixed_ppm, 1000000);
}

/* ------------------------------------------------------------------ entitlements */

static const struct {
	const char *name;
	enum kvgpu_sched_policy_id policy;
	u32 nr;
	struct {
		u32 weight, cap, ppm, want;
	} e[4];
} entitled[] = {
	{ "alone", KVGPU_SCHED_BEST_EFFORT, 1, { { 5, 100, 1, 1000000 } } },
	{ "alone, capped", KVGPU_SCHED_BEST_EFFORT, 1, { { 5, 30, 1, 300000 } } },
	{ "by weight",
	  KVGPU_SCHED_BEST_EFFORT,
	  3,
	  { { 1, 100, 1, 142857 }, { 2, 100, 1, 285714 }, { 4, 100, 1, 571429 } } },
	{ "what is over a cap is for the others",
	  KVGPU_SCHED_BEST_EFFORT,
	  3,
	  { { 100, 10, 1, 100000 }, { 100, 100, 1, 450000 }, { 100, 100, 1, 450000 } } },
	{ "which may bring them to theirs",
	  KVGPU_SCHED_BEST_EFFORT,
	  4,
	  { { 100, 5, 1, 50000 },
	    { 100, 30, 1, 300000 },
	    { 100, 32, 1, 320000 },
	    { 100, 100, 1, 330000 } } },
	{ "caps that leave something to nobody",
	  KVGPU_SCHED_BEST_EFFORT,
	  2,
	  { { 100, 10, 1, 100000 }, { 100, 20, 1, 200000 } } },
	{ "a cap above the share",
	  KVGPU_SCHED_BEST_EFFORT,
	  2,
	  { { 100, 60, 1, 500000 }, { 100, 100, 1, 500000 } } },
	{ "equal: nothing is passed on",
	  KVGPU_SCHED_EQUAL_SHARE,
	  3,
	  { { 100, 10, 1, 100000 }, { 100, 100, 1, 333333 }, { 100, 100, 1, 333333 } } },
	{ "equal: by weight",
	  KVGPU_SCHED_EQUAL_SHARE,
	  2,
	  { { 1, 100, 1, 100 }, { 9999, 100, 1, 999900 } } },
	{ "fixed",
	  KVGPU_SCHED_FIXED_SHARE,
	  3,
	  { { 1, 100, 125000, 125000 }, { 9, 100, 250000, 250000 }, { 9, 20, 500000, 200000 } } },
	{ "fixed: all of the card", KVGPU_SCHED_FIXED_SHARE, 1, { { 1, 100, 1000000, 1000000 } } },
};

TEST(entitlements)
{
	u32 i, k;

	for (i = 0; i < sizeof(entitled) / sizeof(entitled[0]); i++) {
		struct kvgpu_sched_ent e[4] = {};
		struct kvgpu_sched s;

		kvgpu_sched_init(&s);
		for (k = 0; k < entitled[i].nr; k++) {
			e[k].weight = entitled[i].e[k].weight;
			e[k].cap = entitled[i].e[k].cap;
			e[k].fixed_ppm = entitled[i].e[k].ppm;
			kvgpu_sched_add(&s, &e[k], 0);
		}
		assert_int_equal(kvgpu_sched_set_policy(&s, entitled[i].policy, 0), 0);
		for (k = 0; k < entitled[i].nr; k++)
			if (kvgpu_sched_entitlement(&s, &e[k]) != entitled[i].e[k].want)
				fail_msg("%s: vGPU %u is entitled to %u ppm", entitled[i].name, k,
					 kvgpu_sched_entitlement(&s, &e[k]));
	}
}

/*
 * Under best effort the entitlements add up to the whole GPU, or to the sum of the caps if that is
 * less, for random weights and caps.
 */
TEST(entitlements_add_up)
{
	struct kvgpu_sched_ent e[8];
	struct kvgpu_sched s;
	u32 round, k, nr;

	srand(4);
	for (round = 0; round < 20000; round++) {
		u64 sum = 0, caps = 0;

		kvgpu_sched_init(&s);
		nr = 1 + rand() % 8;
		for (k = 0; k < nr; k++) {
			e[k] = (struct kvgpu_sched_ent){ .weight = 1 + rand() % 10000,
							 .cap = rand() % 3 ? 1 + rand() % 100 :
									     100 };
			kvgpu_sched_add(&s, &e[k], 0);
			caps += e[k].cap * 10000;
		}
		for (k = 0; k < nr; k++)
			sum += kvgpu_sched_entitlement(&s, &e[k]);
		caps = caps > 1000000 ? 1000000 : caps;
		assert_in_range(sum, caps - 8, caps + 8);
	}
}

/* ------------------------------------------------------------------ while it runs */

static void expect_split(struct sim_gpu *g, u64 *before, const u32 *percent, u32 nr, u64 ns)
{
	u32 i;

	for (i = 0; i < nr; i++)
		before[i] = g->vgpu[i].busy;
	sim_run(g, ns);
	for (i = 0; i < nr; i++) {
		u64 had = g->vgpu[i].busy - before[i], want = ns / 100 * percent[i];

		if (had + ns / 60 < want || had > want + ns / 60)
			fail_msg("vGPU %u: %u ms of %u, %u %% expected", i, (u32)(had / SIM_MS),
				 (u32)(ns / SIM_MS), percent[i]);
	}
}

TEST(knobs_work_at_once)
{
	struct sim_gpu g;
	struct sim_vgpu *v = machine(&g, 3);
	u64 before[3];

	expect_split(&g, before, (u32[]){ 33, 33, 33 }, 3, 2 * SIM_S);
	kvgpu_sched_set_weight(&g.sched, &v[0].ent, 200, g.now);
	expect_split(&g, before, (u32[]){ 50, 25, 25 }, 3, 2 * SIM_S);
	kvgpu_sched_set_cap(&g.sched, &v[0].ent, 20, g.now);
	expect_split(&g, before, (u32[]){ 20, 40, 40 }, 3, 2 * SIM_S);
	kvgpu_sched_set_policy(&g.sched, KVGPU_SCHED_EQUAL_SHARE, g.now);
	expect_split(&g, before, (u32[]){ 20, 25, 25 }, 3, 2 * SIM_S);
	kvgpu_sched_set_cap(&g.sched, &v[0].ent, 100, g.now);
	expect_split(&g, before, (u32[]){ 50, 25, 25 }, 3, 2 * SIM_S);
	kvgpu_sched_set_policy(&g.sched, KVGPU_SCHED_FIXED_SHARE, g.now);
	expect_split(&g, before, (u32[]){ 33, 33, 33 }, 3, 2 * SIM_S);
	kvgpu_sched_set_slice(&g.sched, 20 * SIM_MS);
	expect_split(&g, before, (u32[]){ 33, 33, 33 }, 3, 2 * SIM_S);
	kvgpu_sched_set_policy(&g.sched, KVGPU_SCHED_BEST_EFFORT, g.now);
	expect_split(&g, before, (u32[]){ 50, 25, 25 }, 3, 2 * SIM_S);
	kvgpu_sched_set_suspended(&g.sched, &v[0].ent, true, g.now);
	expect_split(&g, before, (u32[]){ 0, 50, 50 }, 3, 2 * SIM_S);
	kvgpu_sched_set_suspended(&g.sched, &v[0].ent, false, g.now);
	expect_split(&g, before, (u32[]){ 50, 25, 25 }, 3, 2 * SIM_S);
	kvgpu_sched_set_slice(&g.sched, KVGPU_SCHED_SLICE_MIN);
	kvgpu_sched_set_weight(&g.sched, &v[1].ent, 600, g.now);
	/* the turns are so short now that switches take a part of the time */
	expect_split(&g, before, (u32[]){ 20, 61, 10 }, 3, 2 * SIM_S);
	free(v);
}

/*
 * Changes between the policies in many orders, while debts are worked off (vGPU 2 has long pieces
 * of work).
 */
TEST(policies_in_any_order)
{
	struct sim_gpu g;
	struct sim_vgpu *v = machine(&g, 4);
	u64 before[4];
	u32 i, k;

	v[2].work.piece = v[2].work.len = 60 * SIM_MS;
	for (i = 0; i < 30; i++) {
		assert_int_equal(kvgpu_sched_set_policy(&g.sched, (i * 7 + i / 3) % 3, g.now), 0);
		for (k = 0; k < 4; k++)
			before[k] = v[k].busy;
		sim_run(&g, 2 * SIM_S);
		for (k = 0; k < 4; k++)
			assert_in_range(v[k].busy - before[k], 420 * SIM_MS, 580 * SIM_MS);
	}
	free(v);
}

/*
 * A vGPU that is added and removed again and again leaves no debts behind, and takes no time from
 * the others.
 */
TEST(vgpus_come_and_go)
{
	struct kvgpu_sched_ent guest = {};
	struct kvgpu_sched_choice c;
	struct sim_gpu g;
	struct sim_vgpu *v = machine(&g, 2);
	u32 i;

	for (i = 0; i < 200; i++) {
		guest = (struct kvgpu_sched_ent){ .weight = 1 + i * 50,
						  .cap = 1 + i % 100,
						  .fixed_ppm = 1000 };
		kvgpu_sched_add(&g.sched, &guest, g.now);
		assert_int_equal(g.sched.nr_ents, 3);
		if (i & 1)
			kvgpu_sched_set_suspended(&g.sched, &guest, true, g.now);
		kvgpu_sched_charge(&g.sched, &guest, 10 * SIM_S, g.now);
		kvgpu_sched_remove(&g.sched, &guest, g.now);
		assert_int_equal(g.sched.nr_ents, 2);
		sim_run(&g, 20 * SIM_MS);
	}
	assert_in_range(v[0].busy, v[1].busy - 8 * SIM_MS, v[1].busy + 8 * SIM_MS);
	assert_true(v[0].busy + v[1].busy > 4 * SIM_S / 100 * 98);
	/* remove the vGPU that has the chip */
	kvgpu_sched_choose(&g.sched, g.now, &c);
	kvgpu_sched_remove(&g.sched, c.ent, g.now);
	assert_ptr_not_equal(g.sched.current_ent, c.ent);
	kvgpu_sched_choose(&g.sched, g.now, &c);
	assert_int_equal(g.sched.nr_runnable, 1);
	free(v);
}

/*
 * Many years in long steps, with and without charged work: the virtual clocks may wrap, but the
 * shares must stay right.
 */
TEST(thousands_of_days)
{
	u32 policy, i, turn, served[3];
	struct kvgpu_sched_choice c;
	struct kvgpu_sched s;

	for (policy = 0; policy < 3; policy++) {
		struct kvgpu_sched_ent e[3] = {
			{ .weight = 1, .cap = 100, .fixed_ppm = 1000 },
			{ .weight = 3, .cap = 100, .fixed_ppm = 3000 },
			{ .weight = 10000, .cap = 50, .fixed_ppm = 996000 },
		};
		u64 now = 1;

		kvgpu_sched_init(&s);
		for (i = 0; i < 3; i++)
			kvgpu_sched_add(&s, &e[i], now);
		kvgpu_sched_set_policy(&s, policy, now);
		for (i = 0; i < 11000; i++) {
			u32 who = i % 3;

			vsched_runnable_set(&s, &e[who], true, now);
			kvgpu_sched_choose(&s, now, &c);
			assert_true(c.until > now);
			/*
			 * The vGPU has been alone for the whole step, and may have been charged a
			 * day. Neither may upset the turns that are counted below.
			 */
			now += i % 50 ? DAY : 180 * DAY;
			if (i % 5)
				kvgpu_sched_charge(&s, &e[who], DAY, now);
			vsched_runnable_set(&s, &e[who], false, now);
		}
		assert_true(now > 11000 * DAY);
		now += 180 * DAY; /* enough idle time to pay off all debts */
		vsched_runnable_set(&s, &e[0], true, now);
		vsched_runnable_set(&s, &e[1], true, now);
		memset(served, 0, sizeof(served));
		for (turn = 0; turn < 400000; turn++) {
			kvgpu_sched_choose(&s, now, &c);
			if (!c.ent) {
				now = c.until;
				continue;
			}
			kvgpu_sched_started(&s, now);
			served[c.ent - e]++;
			now += SIM_MS;
			kvgpu_sched_charge(&s, c.ent, SIM_MS, now);
		}
		assert_int_equal(served[2], 0);
		assert_true(served[0] > 20);
		assert_in_range(served[1], served[0] * 3 - served[0] / 8 - 12,
				served[0] * 3 + served[0] / 8 + 12);
	}
}

TEST_MAIN(NULL, NULL)
