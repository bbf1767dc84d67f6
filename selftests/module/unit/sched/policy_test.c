// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy is a table of operations: one that the module does not have, added as docs/how-to.md
 * says, divides a GPU. A second scheduler beside it is not touched.
 */
#include <selftests/unit_test.h>

#include "selftests/module/sim/gpu.h"

/* Strict priority: who has the greater weight goes first. */
static bool goes_first(const struct kvgpu_sched_ent *a, const struct kvgpu_sched_ent *b)
{
	return a->weight > b->weight;
}

/* All turns are as long. */
static u64 whole_slice(const struct kvgpu_sched *s, const struct kvgpu_sched_ent *e, u64 sum)
{
	return s->slice_ns;
}

static const struct kvgpu_sched_policy priority = {
	.name = "priority",
	.before = goes_first,
	.turn = whole_slice,
};

/* Millionths of the time that vGPU 1, of the smaller weight, has beside @work of vGPU 0. */
static u32 beside(struct sim_work work)
{
	struct sim_vgpu *v = sim_vgpus(2, SIM_MS);
	struct sim_gpu g;
	u32 least, most;

	v[0].ent.weight = 200;
	v[0].work = work;
	sim_init(&g, &sim_k20, v, 2, 0);
	vsched_policy_use(&g.sched, &priority, 0);
	sim_run(&g, 5 * SIM_S);
	sim_range(&g, 1, SIM_S, 2 * SIM_S, &least, &most);
	free(v);
	return most;
}

TEST(a_policy_of_another_table_decides)
{
	/* vGPU 0 always works, or works for half of the time */
	assert_in_range(beside((struct sim_work){ SIM_BUSY, .len = SIM_MS }), 0, 0);
	assert_in_range(
		beside((struct sim_work){ SIM_LOOP, .len = 100 * SIM_MS, .period = 100 * SIM_MS }),
		440000, 520000);
}

TEST(two_schedulers_share_nothing)
{
	struct sim_vgpu *v = sim_vgpus(2, SIM_MS), *w = sim_vgpus(2, SIM_MS);
	struct sim_gpu a, b;
	u32 i;

	v[0].ent.weight = w[0].ent.weight = 200;
	sim_init(&a, &sim_k20, v, 2, 0);
	sim_init(&b, &sim_k20, w, 2, 0);
	vsched_policy_use(&b.sched, &priority, 0);
	for (i = 0; i < 50; i++) {
		sim_run(&a, 100 * SIM_MS);
		sim_run(&b, 100 * SIM_MS);
	}
	assert_in_range(v[1].busy, sim_busy(&a) * 32 / 100, sim_busy(&a) * 35 / 100);
	assert_int_equal(w[1].busy, 0);
	free(v);
	free(w);
}

TEST_MAIN(NULL, NULL)
