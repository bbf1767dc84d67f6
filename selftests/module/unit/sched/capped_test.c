// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the cap of a vGPU allows is kept for it while other vGPUs have the chip, for example by work
 * that can't be interrupted (S5). What is kept has a limit, so that the cap holds.
 */
#include <selftests/unit_test.h>

#include <linux/minmax.h>

#include "selftests/module/sim/gpu.h"

#define WINDOW_MS 10000ull
#define WINDOW	  (WINDOW_MS * SIM_MS)
/* of a time, ms, the millionths of the window */
#define PPM(ms) ((u32)((ms)*1000000 / WINDOW_MS))
/*
 * In any window a vGPU may have a piece of work of its neighbour's less than its part, and what its
 * cap allows in KEPT_MS, or in the piece if that takes longer, more than its cap. SLACK, in
 * millionths, is for turns, switches and the budget of the cap.
 */
#define KEPT_MS 400
#define SLACK	6000

static const struct sim_work busy = { SIM_BUSY, .len = SIM_MS, .piece = 20000 };

struct pair {
	enum kvgpu_sched_policy_id policy;
	u32 weight, cap; /* of vGPU 0; vGPU 1 has weight 100 */
	u32 capped; /* the cap of vGPU 1 */
	u32 piece_ms, pause_us; /* of vGPU 0 */
};

struct got {
	u32 part, least, most;
};

/*
 * vGPU 0 has pieces of work that can't be interrupted, and may pause after each. vGPU 1 always has
 * work that can be interrupted. Finds what vGPU 1 has in any window.
 */
static struct got run(const struct pair *p)
{
	struct sim_vgpu v[2] = {};
	static struct sim_gpu g;
	struct got r;

	v[0].ent =
		(struct kvgpu_sched_ent){ .weight = p->weight, .cap = p->cap, .fixed_ppm = 500000 };
	v[0].work = (struct sim_work){ p->pause_us ? SIM_LOOP : SIM_BUSY,
				       .len = p->piece_ms * SIM_MS, .piece = p->piece_ms * SIM_MS,
				       .period = p->pause_us * 1000 };
	v[1].ent = (struct kvgpu_sched_ent){ .weight = 100, .cap = p->capped, .fixed_ppm = 500000 };
	v[1].work = busy;
	sim_init(&g, &sim_k20, v, 2, 0);
	assert_int_equal(kvgpu_sched_set_policy(&g.sched, p->policy, 0), 0);
	sim_run(&g, 100 * SIM_S);
	r.part = kvgpu_sched_entitlement(&g.sched, &v[1].ent);
	sim_range(&g, 1, 5 * SIM_S, WINDOW, &r.least, &r.most);
	print_message(
		"# policy %u, weights %u and 100, caps %u and %u, pieces of %u ms, pauses of %u us: the other vGPU has %u to %u ppm of %u in any 10 s\n",
		p->policy, p->weight, p->cap, p->capped, p->piece_ms, p->pause_us, r.least, r.most,
		r.part);
	return r;
}

static const struct pair pairs[] = {
	{ KVGPU_SCHED_BEST_EFFORT, 100, 100, 40, 10, 0 },
	{ KVGPU_SCHED_BEST_EFFORT, 100, 100, 40, 30, 0 },
	{ KVGPU_SCHED_BEST_EFFORT, 100, 100, 40, 100, 0 },
	{ KVGPU_SCHED_BEST_EFFORT, 100, 100, 40, 100, 300 },
	{ KVGPU_SCHED_BEST_EFFORT, 10, 100, 80, 100, 0 },
	{ KVGPU_SCHED_BEST_EFFORT, 100, 100, 5, 300, 0 },
	{ KVGPU_SCHED_EQUAL_SHARE, 100, 100, 40, 30, 0 },
	{ KVGPU_SCHED_EQUAL_SHARE, 100, 100, 40, 100, 0 },
	{ KVGPU_SCHED_EQUAL_SHARE, 100, 100, 40, 100, 300 },
	{ KVGPU_SCHED_EQUAL_SHARE, 100, 100, 40, 400, 0 },
	{ KVGPU_SCHED_FIXED_SHARE, 100, 100, 40, 100, 0 },
};

/* Runs all pairs, so that each is told of, and judges the worst. */
TEST(a_capped_vgpu_has_its_part_beside_long_pieces)
{
	u32 i, least, most, lack = 0, above = 0;
	struct got r;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		r = run(&pairs[i]);
		least = r.part - min(r.part, PPM(pairs[i].piece_ms));
		most = r.part + PPM(max(pairs[i].piece_ms, (u32)KEPT_MS)) * pairs[i].capped / 100;
		lack = max(lack, least - min(least, r.least));
		above = max(above, r.most - min(r.most, most));
	}
	assert_in_range(lack, 0, SLACK);
	assert_in_range(above, 0, SLACK);
}

/*
 * vGPU 0 always has work, and is throttled by its cap when a piece of vGPU 1 begins. The policy is
 * asked again only after that piece. vGPU 0 waits from the moment on at which its cap lets it go.
 * Returns what vGPU 0 has at least in any window.
 */
static u32 least_of_capped(struct sim_vgpu *v, enum kvgpu_sched_policy_id policy)
{
	static struct sim_gpu g;
	u32 least, most;

	v[0].work = busy;
	sim_init(&g, &sim_k20, v, 3, 0);
	assert_int_equal(kvgpu_sched_set_policy(&g.sched, policy, 0), 0);
	sim_run(&g, 60 * SIM_S);
	sim_range(&g, 0, 5 * SIM_S, WINDOW, &least, &most);
	print_message("# policy %u: the first of three has %u to %u ppm of %u in any 10 s\n",
		      policy, least, most, v[0].ent.cap * 10000);
	return least;
}

TEST(a_wait_begins_when_the_cap_allows)
{
	struct sim_vgpu two_capped[3] = {
		{ .ent = { .weight = 50, .cap = 20, .fixed_ppm = 300000 } },
		{ .ent = { .weight = 100, .cap = 100, .fixed_ppm = 300000 },
		  .work = { SIM_BUSY, .len = 450 * SIM_MS, .piece = 150 * SIM_MS } },
		{ .ent = { .weight = 200, .cap = 40, .fixed_ppm = 300000 }, .work = busy },
	};
	struct sim_vgpu a_short_one[3] = {
		{ .ent = { .weight = 100, .cap = 40, .fixed_ppm = 300000 } },
		{ .ent = { .weight = 100, .cap = 60, .fixed_ppm = 300000 },
		  .work = { SIM_LOOP, .len = 240 * SIM_MS, .period = 12640000,
			    .piece = 60 * SIM_MS } },
		{ .ent = { .weight = 10, .cap = 100, .fixed_ppm = 300000 },
		  .work = { SIM_LOOP, .len = 20000, .period = 9020000, .piece = 20000 } },
	};
	u32 capped = least_of_capped(two_capped, KVGPU_SCHED_BEST_EFFORT);
	u32 equal = least_of_capped(a_short_one, KVGPU_SCHED_EQUAL_SHARE);

	assert_in_range(capped, 200000 - PPM(150) - SLACK, 200000);
	assert_in_range(equal, 400000 - PPM(60) - SLACK, 400000);
}

/* A vGPU has its cap also where its turns come further apart than the budget of a cap lasts. */
TEST(a_capped_vgpu_has_its_part_with_long_slices)
{
	struct sim_vgpu v[8] = {};
	static struct sim_gpu g;
	u32 i, least, most;

	for (i = 0; i < 8; i++) {
		v[i].ent = (struct kvgpu_sched_ent){ .weight = 100,
						     .cap = i ? 100 : 10,
						     .fixed_ppm = 125000 };
		v[i].work = busy;
	}
	sim_init(&g, &sim_k20, v, 8, 0);
	assert_int_equal(kvgpu_sched_set_slice(&g.sched, KVGPU_SCHED_SLICE_MAX), 0);
	sim_run(&g, 60 * SIM_S);
	sim_range(&g, 0, 5 * SIM_S, WINDOW, &least, &most);
	print_message("# slices of 100 ms: %u to %u ppm of 100000 in any 10 s\n", least, most);
	assert_in_range(least, 100000 - SLACK, 100000);
	assert_in_range(most, 100000, 100000 + SLACK);
}

/*
 * vGPU 0 has a small weight and a large cap. While vGPU 1 works, vGPU 0 has less than its cap, and
 * what its cap allows is kept. While vGPU 1 sleeps, vGPU 0 has the chip alone, and must not use
 * more than its bucket holds of it.
 */
TEST(what_is_kept_has_a_limit)
{
	struct sim_vgpu v[2] = {};
	static struct sim_gpu g;
	u32 least, most;

	v[0].ent = (struct kvgpu_sched_ent){ .weight = 1, .cap = 50, .fixed_ppm = 500000 };
	v[0].work = busy;
	v[1].ent = (struct kvgpu_sched_ent){ .weight = 100, .cap = 100, .fixed_ppm = 500000 };
	v[1].work = (struct sim_work){ SIM_LOOP, .len = 8 * SIM_S, .period = 12 * SIM_S,
				       .piece = 20000 };
	sim_init(&g, &sim_k20, v, 2, 0);
	sim_run(&g, 100 * SIM_S);
	sim_range(&g, 0, 0, WINDOW, &least, &most);
	print_message("# beside a sleeper: at most %u ppm of 500000 in any 10 s\n", most);
	assert_in_range(most, 500000, 500000 + PPM(KEPT_MS) / 2 + SLACK);
}

TEST_MAIN(NULL, NULL)
