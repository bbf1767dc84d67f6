// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caps, and shares whose unused time is not passed on: whether vGPUs reach them and keep to them.
 */
#include <selftests/unit_test.h>

#include <linux/minmax.h>

#include "selftests/module/sim/gpu.h"

#define RUN    sim_run_ns()
#define WARM   (1 * SIM_S)
#define WINDOW (2 * SIM_S)

static struct sim_vgpu *machine(struct sim_gpu *g, u32 nr, enum kvgpu_sched_policy_id policy,
				const struct sim_cfg *cfg, u32 cap, struct sim_work first)
{
	struct sim_vgpu *v = sim_vgpus(nr, SIM_MS);

	v[0].ent.cap = cap;
	v[0].work = first;
	sim_init(g, cfg, v, nr, 12345);
	assert_int_equal(kvgpu_sched_set_policy(&g->sched, policy, 12345), 0);
	return v;
}

/*
 * A vGPU that always has work gets about its cap in a window, or less if its share of the GPU is
 * below the cap.
 */
TEST(caps_are_kept_and_reached)
{
	static const u32 caps[] = { 5, 10, 25, 40, 50, 75, 90, 99 };
	u32 policy, nr, c, least, most;
	struct sim_vgpu *v;
	struct sim_gpu g;

	for (policy = 0; policy < 3; policy++)
		for (nr = 1; nr <= 8; nr *= 2)
			for (c = 0; c < 8; c++) {
				u32 ppm = caps[c] * 10000;

				v = machine(&g, nr, policy, &sim_k20, caps[c],
					    (struct sim_work){ SIM_BUSY, .len = SIM_MS });
				sim_run(&g, RUN);
				sim_range(&g, 0, WARM, WINDOW, &least, &most);
				if (most > ppm + ppm / 100)
					fail_msg("policy %u, %u vGPUs, cap %u: %u ppm in some 2 s",
						 policy, nr, caps[c], most);
				if (caps[c] < 100 / nr && least < ppm - ppm / 100)
					fail_msg(
						"policy %u, %u vGPUs, cap %u: only %u ppm in some 2 s",
						policy, nr, caps[c], least);
				free(v);
			}
}

/*
 * A vGPU whose pieces of work can't be interrupted may exceed its cap in a window, and gets less
 * later.
 */
TEST(long_work_pays_for_what_it_had_over_its_cap)
{
	u64 piece;
	u32 nr, least, most;
	struct sim_vgpu *v;
	struct sim_gpu g;

	for (nr = 1; nr <= 4; nr *= 2)
		for (piece = 20 * SIM_MS; piece <= 320 * SIM_MS; piece *= 4) {
			v = machine(&g, nr, KVGPU_SCHED_BEST_EFFORT, &sim_k20, 20,
				    (struct sim_work){ SIM_BUSY, .len = 2 * piece,
						       .piece = piece });
			sim_run(&g, 60 * SIM_S);
			sim_range(&g, 0, WARM, WINDOW, &least, &most);
			assert_in_range(most, 200000 * 0.98,
					200000 + piece * 1000000 / WINDOW + 2000);
			assert_in_range(v[0].busy, 60 * SIM_S / 5 - piece - 20 * SIM_MS,
					60 * SIM_S / 5 + piece + 20 * SIM_MS);
			if (nr > 1)
				assert_true(sim_busy(&g) > 60 * SIM_S / 100 * 97);
			free(v);
		}
}

TEST(a_cap_holds_in_any_rhythm)
{
	static const u64 len[] = { 20000, 300000, 2 * SIM_MS, 15 * SIM_MS },
			 gap[] = { 10000, 500000, 3 * SIM_MS, 20 * SIM_MS };
	u32 l, p, nr, least, most;
	struct sim_vgpu *v;
	struct sim_gpu g;

	for (l = 0; l < 4; l++)
		for (p = 0; p < 4; p++)
			for (nr = 1; nr <= 2; nr++) {
				v = machine(&g, nr, KVGPU_SCHED_BEST_EFFORT, &sim_k20, 10,
					    (struct sim_work){ SIM_LOOP, .len = len[l],
							       .period = gap[p] });
				sim_run(&g, RUN);
				sim_range(&g, 0, WARM, WINDOW, &least, &most);
				/* and a full bucket of 40 ms */
				assert_true(most <= 121000);
				free(v);
			}
}

/*
 * Under equal and fixed share the time that vGPUs without work leave unused goes to no other vGPU.
 */
TEST(nothing_is_passed_on)
{
	u32 policy, nr, busy, i, least, most;
	struct sim_vgpu *v;
	struct sim_gpu g;

	for (policy = KVGPU_SCHED_EQUAL_SHARE; policy <= KVGPU_SCHED_FIXED_SHARE; policy++)
		for (nr = 2; nr <= 8; nr *= 2)
			for (busy = 1; busy < nr; busy++) {
				v = machine(&g, nr, policy, &sim_k20, 100,
					    (struct sim_work){ SIM_BUSY, .len = SIM_MS });
				for (i = busy; i < nr; i++)
					v[i].next_arrival = KVGPU_SCHED_NEVER;
				sim_run(&g, RUN);
				for (i = 0; i < busy; i++) {
					sim_range(&g, i, WARM, WINDOW, &least, &most);
					if (least < 990000 / nr || most > 1010000 / nr)
						fail_msg(
							"policy %u, %u of %u busy: vGPU %u has %u to %u ppm",
							policy, busy, nr, i, least, most);
				}
				free(v);
			}
}

/*
 * Under fixed share a vGPU whose type has a quarter of the card gets a quarter of the time, whether
 * or not there is another vGPU.
 */
TEST(fixed_share_is_of_the_card)
{
	u32 least, most, other;
	struct sim_vgpu *v;
	struct sim_gpu g;

	for (other = 0; other < 2; other++) {
		v = machine(&g, 1 + other, KVGPU_SCHED_FIXED_SHARE, &sim_k20, 100,
			    (struct sim_work){ SIM_BUSY, .len = SIM_MS });
		v[0].ent.fixed_ppm = 250000;
		kvgpu_sched_set_policy(&g.sched, KVGPU_SCHED_FIXED_SHARE, g.now);
		assert_int_equal(kvgpu_sched_entitlement(&g.sched, &v[0].ent), 250000);
		sim_run(&g, RUN);
		sim_range(&g, 0, WARM, WINDOW, &least, &most);
		assert_in_range(least, 247500, 252500);
		assert_in_range(most, 247500, 252500);
		free(v);
	}
}

/* Time that vGPU 0 took from vGPU 1 is owed to vGPU 1, even while vGPU 0 sleeps. */
TEST(what_one_had_too_much_is_owed_to_the_other)
{
	u32 least, most, policy;
	struct sim_vgpu *v;
	struct sim_gpu g;

	for (policy = KVGPU_SCHED_EQUAL_SHARE; policy <= KVGPU_SCHED_FIXED_SHARE; policy++) {
		v = machine(&g, 2, policy, &sim_k20, 100,
			    (struct sim_work){ SIM_LOOP, .len = 300 * SIM_MS, .piece = 300 * SIM_MS,
					       .period = 300 * SIM_MS });
		sim_run(&g, 20 * SIM_S);
		sim_range(&g, 1, WARM, 6 * SIM_S, &least, &most);
		assert_in_range(least, 475000, 500000);
		assert_in_range(most, 490000, 525000);
		assert_in_range(v[1].busy, 20 * SIM_S / 100 * 49, 20 * SIM_S / 100 * 51);
		free(v);
	}
}

TEST_MAIN(NULL, NULL)
