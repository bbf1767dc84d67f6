// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two vGPUs work together against the cap of the first one (S5). The second one, of weight 1, has
 * one kernel of 1.9 s, and sleeps for good. It owes that time for minutes. The first one has jobs
 * of 2 us, and waits for the shortest turn of its neighbour before each: what its cap allows in the
 * kernel must not be kept for so long. Then it works without a break. No piece of work but the one
 * at the beginning takes longer than 20 us.
 */
#include <selftests/unit_test.h>

#include <linux/minmax.h>

#include "selftests/module/sim/gpu.h"

#define WINDOW (10 * SIM_S)
#define LIGHT  (30 * SIM_S)
/* of invariants.md: 4 % of the GPU more than the cap, in millionths; and what a test may be off */
#define ALLOWED	 40000
#define SLACK	 6000
#define NR_SEEDS (sim_nr_seeds() > 1 ? 3 : 1)

struct setup {
	enum kvgpu_sched_policy policy;
	u32 weight, cap; /* of the attacker's first vGPU; the victim has weight 100 */
	bool light, debtor;
};

struct got {
	u32 most, least, part; /* of the first; of the victim, and what it is entitled to */
};

static struct got run(const struct setup *u, u64 seed)
{
	static const struct sim_work busy = { SIM_BUSY, .len = SIM_MS, .piece = 20000 };
	struct sim_cfg cfg = sim_k20;
	struct sim_vgpu v[3] = {};
	static struct sim_gpu g;
	struct got r;
	u32 other;

	cfg.seed = seed;
	v[0].ent =
		(struct kvgpu_sched_ent){ .weight = u->weight, .cap = u->cap, .fixed_ppm = 450000 };
	v[1].ent = (struct kvgpu_sched_ent){ .weight = 1, .cap = 100, .fixed_ppm = 100000 };
	v[2].ent = (struct kvgpu_sched_ent){ .weight = 100, .cap = 100, .fixed_ppm = 450000 };
	v[0].work = u->light ? (struct sim_work){ SIM_LOOP, .len = 2000, .period = SIM_MS / 2,
						  .piece = 2000 } :
			       busy;
	if (u->debtor)
		v[1].work = (struct sim_work){ SIM_LOOP, .len = 1900 * SIM_MS,
					       .piece = 1900 * SIM_MS, .period = 600 * SIM_S,
					       .from = 2 * SIM_S };
	v[2].work = busy;
	sim_init(&g, &cfg, v, 3, 0);
	assert_int_equal(kvgpu_sched_set_policy(&g.sched, u->policy, 0), 0);
	sim_run(&g, LIGHT);
	v[0].work = busy;
	if (v[0].next_arrival == KVGPU_SCHED_NEVER && !v[0].nr && !v[0].left)
		v[0].next_arrival = g.now;
	sim_run(&g, 40 * SIM_S);
	/* from 20 s on: the kernel of 1.9 s is in none of the windows */
	sim_range(&g, 0, 20 * SIM_S, WINDOW, &other, &r.most);
	sim_range(&g, 2, 20 * SIM_S, WINDOW, &r.least, &other);
	r.part = kvgpu_sched_entitlement(&g.sched, &v[2].ent);
	print_message(
		"# policy %u, weights %u and 100, cap %u, %s, %s, seed %u: the capped one has up to %u ppm of %u in 10 s, the victim at least %u of %u\n",
		u->policy, u->weight, u->cap, u->light ? "light at first" : "always busy",
		u->debtor ? "a debtor" : "no debtor", (u32)seed, r.most, u->cap * 10000, r.least,
		r.part);
	return r;
}

static const struct setup setups[] = {
	/* baselines */
	{ KVGPU_SCHED_BEST_EFFORT, 100, 30, false, false },
	{ KVGPU_SCHED_BEST_EFFORT, 100, 30, true, false },
	{ KVGPU_SCHED_BEST_EFFORT, 100, 30, false, true },
	{ KVGPU_SCHED_BEST_EFFORT, 1000, 50, false, true },
	/* the attack */
	{ KVGPU_SCHED_BEST_EFFORT, 100, 10, true, true },
	{ KVGPU_SCHED_BEST_EFFORT, 100, 20, true, true },
	{ KVGPU_SCHED_BEST_EFFORT, 100, 30, true, true },
	{ KVGPU_SCHED_BEST_EFFORT, 1000, 50, true, true },
	{ KVGPU_SCHED_EQUAL_SHARE, 100, 30, true, true },
	{ KVGPU_SCHED_FIXED_SHARE, 100, 30, true, true },
};

TEST(a_cap_holds_beside_a_debtor)
{
	u32 i, above = 0;
	struct got r;
	u64 seed;

	for (i = 0; i < sizeof(setups) / sizeof(setups[0]); i++)
		for (seed = 1; seed <= NR_SEEDS; seed++) {
			r = run(&setups[i], seed);
			above = max(above, r.most - min(r.most, setups[i].cap * 10000));
		}
	assert_in_range(above, 0, ALLOWED + SLACK);
}

/*
 * No debtor: the second one, of a great weight, works for 30 s and then sleeps. The first one
 * always works. In the first rows no piece is long, and the victim has a small weight: after a turn
 * of the shortest length it is ahead of the first one for a long time. That is no overrun. In the
 * last rows each turn of the heavy one is an overrun of up to the 5th column, in ms. Its weight
 * entitles it to most of this time: what the cap of the first one allows in it must not be kept.
 */
TEST(a_cap_holds_when_a_heavy_one_sleeps)
{
	static const u32 set[][5] = {
		{ 100, 80, 200, 1 },	    { 100, 50, 1000, 10 },	{ 100, 30, 1000, 10 },
		{ 100, 30, 1000, 100 },	    { 100, 30, 1000, 100, 10 }, { 100, 30, 1000, 100, 50 },
		{ 100, 20, 1000, 100, 50 },
	};
	static const struct sim_work busy = { SIM_BUSY, .len = SIM_MS, .piece = 20000 };
	u32 i, before, most, least, other, above = 0;
	struct sim_cfg cfg = sim_k20;
	static struct sim_gpu g;
	u64 seed;

	for (i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		for (seed = 1; seed <= NR_SEEDS; seed++) {
			struct sim_vgpu v[3] = {};

			cfg.seed = seed;
			v[0].ent =
				(struct kvgpu_sched_ent){ .weight = set[i][0], .cap = set[i][1] };
			v[1].ent = (struct kvgpu_sched_ent){ .weight = set[i][2], .cap = 100 };
			v[2].ent = (struct kvgpu_sched_ent){ .weight = set[i][3], .cap = 100 };
			v[0].work = v[1].work = v[2].work = busy;
			v[1].work.to = LIGHT;
			if (set[i][4])
				v[1].work.len = v[1].work.piece = set[i][4] * SIM_MS;
			sim_init(&g, &cfg, v, 3, 0);
			sim_run(&g, 2 * LIGHT);
			sim_range(&g, 0, 15 * SIM_S, WINDOW, &other, &most);
			sim_range(&g, 2, LIGHT, WINDOW, &least, &other);
			/* baseline: long after */
			sim_range(&g, 0, 48 * SIM_S, WINDOW, &other, &before);
			print_message(
				"# weights %u (cap %u), %u (pieces of %u ms), victim %u, seed %u: the capped one has up to %u ppm of %u in 10 s (%u later), the victim at least %u after the heavy one has gone to sleep\n",
				set[i][0], set[i][1], set[i][2], set[i][4], set[i][3], (u32)seed,
				most, set[i][1] * 10000, before, least);
			above = max(above, most - min(most, set[i][1] * 10000));
		}
	assert_in_range(above, 0, ALLOWED + SLACK);
}

TEST_MAIN(NULL, NULL)
