// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPU time that a vGPU had beyond its share is owed to the other vGPUs, also after it has gone to
 * sleep or is throttled by its cap. Under equal and fixed share a vGPU's share does not depend on
 * what others run (S5).
 */
#include <selftests/unit_test.h>

#include "selftests/module/sim/gpu.h"

/* in any 10 s a vGPU may have so many millionths of the GPU's time less than its share */
#define LACK_MOST 5000

struct pair {
	enum kvgpu_sched_policy_id policy;
	u32 weight, cap, fixed_ppm; /* of vGPU 0; vGPU 1 has weight 100 and no cap */
	u64 piece_ms, pause_ms;
};

/*
 * vGPU 0 has pieces of work that can't be interrupted for 12 to 50 ms, and then pauses, or is
 * throttled by its cap. The work of vGPU 1 never ends and can be interrupted at any time. Returns
 * how many millionths of the time vGPU 1 lacks of its share.
 */
static u32 lack_of_worker(const struct pair *p)
{
	struct sim_vgpu v[2] = {};
	static struct sim_gpu g;
	u32 share, least, most;

	v[0].ent = (struct kvgpu_sched_ent){ .weight = p->weight,
					     .cap = p->cap,
					     .fixed_ppm = p->fixed_ppm };
	v[0].work = (struct sim_work){ p->pause_ms ? SIM_LOOP : SIM_BUSY,
				       .period = p->pause_ms * SIM_MS, .len = p->piece_ms * SIM_MS,
				       .piece = p->piece_ms * SIM_MS };
	v[1].ent = (struct kvgpu_sched_ent){ .weight = 100,
					     .cap = KVGPU_SCHED_CAP_NONE,
					     .fixed_ppm = KVGPU_SCHED_PPM - p->fixed_ppm };
	v[1].work = (struct sim_work){ SIM_BUSY, .len = SIM_MS, .piece = 20000 };
	sim_init(&g, &sim_k20, v, 2, 0);
	assert_int_equal(kvgpu_sched_set_policy(&g.sched, p->policy, 0), 0);
	sim_run(&g, 30 * SIM_S);
	share = kvgpu_sched_entitlement(&g.sched, &v[1].ent);
	sim_range(&g, 1, SIM_S, 10 * SIM_S, &least, &most);
	print_message(
		"# policy %u, weight %u, cap %u, fixed %u, pieces of %u ms, pauses of %u ms: the worker has %u to %u ppm of %u in any 10 s, the other vGPU %u\n",
		p->policy, p->weight, p->cap, p->fixed_ppm, (u32)p->piece_ms, (u32)p->pause_ms,
		least, most, share, (u32)(v[0].busy / 30000));
	return share > least ? share - least : 0;
}

/* Runs all @nr pairs, so that each is told of, and judges the worst. */
static void judge(const struct pair *pairs, u32 nr)
{
	u32 i, lack, worst = 0;

	for (i = 0; i < nr; i++) {
		lack = lack_of_worker(&pairs[i]);
		worst = lack > worst ? lack : worst;
	}
	assert_in_range(worst, 0, LACK_MOST);
}

TEST(time_of_a_sleeper_stays_owed)
{
	static const struct pair pairs[] = {
		{ KVGPU_SCHED_EQUAL_SHARE, 100, 100, 500000, 14, 20 },
		{ KVGPU_SCHED_EQUAL_SHARE, 150, 100, 500000, 15, 18 },
		{ KVGPU_SCHED_EQUAL_SHARE, 200, 100, 500000, 24, 41 },
		{ KVGPU_SCHED_EQUAL_SHARE, 350, 100, 500000, 28, 1 },
		{ KVGPU_SCHED_FIXED_SHARE, 100, 100, 800000, 33, 36 },
	};

	judge(pairs, sizeof(pairs) / sizeof(pairs[0]));
}

TEST(time_beyond_a_cap_stays_owed)
{
	static const struct pair pairs[] = {
		{ KVGPU_SCHED_EQUAL_SHARE, 100, 40, 500000, 15, 0 },
		{ KVGPU_SCHED_EQUAL_SHARE, 150, 40, 500000, 22, 0 },
		{ KVGPU_SCHED_EQUAL_SHARE, 400, 50, 500000, 50, 0 },
		{ KVGPU_SCHED_FIXED_SHARE, 100, 40, 600000, 22, 0 },
	};

	judge(pairs, sizeof(pairs) / sizeof(pairs[0]));
}

TEST_MAIN(NULL, NULL)
