// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shares of vGPUs that always have work; alone and beside a vGPU whose work can't be interrupted.
 */
#include <selftests/unit_test.h>

#include "selftests/module/sim/gpu.h"

#define RUN    sim_run_ns()
#define WINDOW (2 * SIM_S)
#define WARM   (1 * SIM_S)
#define MAX_NR 8

static const u32 equal[] = { 1 }, one_two_four[] = { 1, 2, 4 };

struct setup {
	enum kvgpu_sched_policy_id policy;
	u32 nr;
	const u32 *weights;
	u32 nr_weights;
	/* ns for which the work of vGPU 0 can't be interrupted; 0: as in @cfg */
	u64 piece;
	const struct sim_cfg *cfg;
	u64 begin;
};

static u32 weight_of(const struct setup *t, u32 i)
{
	return t->weights[i % t->nr_weights];
}

static u32 total_of(const struct setup *t)
{
	u32 i, sum = 0;

	for (i = 0; i < t->nr; i++)
		sum += weight_of(t, i);
	return sum;
}

static void run(struct sim_gpu *g, struct sim_vgpu *v, const struct setup *t)
{
	u32 i;

	for (i = 0; i < t->nr; i++) {
		v[i].ent = (struct kvgpu_sched_ent){
			.weight = weight_of(t, i) * 100,
			.cap = KVGPU_SCHED_CAP_NONE,
			.fixed_ppm = KVGPU_SCHED_PPM / total_of(t) * weight_of(t, i),
		};
		v[i].work = (struct sim_work){ .kind = SIM_BUSY, .len = SIM_MS };
	}
	if (t->piece) {
		v[0].work.len = 3 * t->piece;
		v[0].work.piece = t->piece;
	}
	sim_init(g, t->cfg, v, t->nr, t->begin);
	assert_int_equal(kvgpu_sched_set_policy(&g->sched, t->policy, t->begin), 0);
	sim_run(g, RUN);
}

/* Calls @check for all combinations of policy, number of vGPUs, weights and machine. */
static void all_setups(u64 piece, void (*check)(const struct setup *t))
{
	static const struct sim_cfg *cfgs[] = { &sim_ideal, &sim_k20 };
	u32 policy, nr, w, c;

	for (policy = 0; policy < 3; policy++)
		for (nr = 2; nr <= MAX_NR; nr *= 2)
			for (w = 0; w < 2; w++)
				for (c = 0; c < 2; c++)
					if (c || sim_takes(policy + nr / 2 + w, 3))
						check(&(struct setup){
							.policy = policy,
							.nr = nr,
							.weights = w ? one_two_four : equal,
							.nr_weights = w ? 3 : 1,
							.piece = piece,
							.cfg = cfgs[c],
							.begin = 1000,
						});
}

static void within_2_percent(const struct setup *t)
{
	struct sim_vgpu *v = calloc(t->nr, sizeof(*v));
	struct sim_gpu g;
	u32 i;

	run(&g, v, t);
	for (i = 0; i < t->nr; i++) {
		u32 want = kvgpu_sched_entitlement(&g.sched, &v[i].ent), error;

		assert_in_range(want, KVGPU_SCHED_PPM * (u64)weight_of(t, i) / total_of(t) - 10,
				KVGPU_SCHED_PPM * (u64)weight_of(t, i) / total_of(t) + 10);
		error = sim_share_error(&g, i, want, WARM, WINDOW);
		if (error > 20000)
			fail_msg(
				"policy %d, %u vGPUs, %u weights, %s: vGPU %u is off by %u ppm of its share in some 2 s",
				t->policy, t->nr, t->nr_weights,
				t->cfg == &sim_k20 ? "k20" : "ideal", i, error);
		assert_true(sim_share_error(&g, i, want, WARM, RUN - WARM) < 2000);
	}
	assert_true(sim_busy(&g) >= RUN / 100 * 94);
	free(v);
}

TEST(busy_ones_are_within_2_percent_in_2_s)
{
	all_setups(0, within_2_percent);
}

/* Eight vGPUs with unequal weights, with fast and slow switches, short and long pieces of work. */
TEST(eight_keep_their_places)
{
	static const u64 pieces[] = { 50000, 100000, 200000 },
			 switches[] = { 30000, 90000, 300000 };
	struct sim_cfg cfg = sim_k20;
	struct sim_gpu g;
	u32 policy, k, c, i, s;

	for (policy = 0; policy < 3; policy++)
		for (k = 0; k < 3; k++)
			for (c = 0; c < 3; c++)
				for (s = 0; s < sim_nr_seeds() && sim_takes(policy + k + c, 3);
				     s++) {
					struct setup t = { .policy = policy,
							   .nr = 8,
							   .weights = one_two_four,
							   .nr_weights = 3,
							   .cfg = &cfg,
							   .begin = 1000 };
					struct sim_vgpu *v = calloc(t.nr, sizeof(*v));

					cfg.seed = 1007 + 1000 * s;
					cfg.piece = pieces[k];
					cfg.preempt_ns = switches[c] / 3;
					cfg.load_ns = switches[c] - cfg.preempt_ns;
					run(&g, v, &t);
					for (i = 0; i < t.nr; i++) {
						u32 error = sim_share_error(
							&g, i,
							kvgpu_sched_entitlement(&g.sched,
										&v[i].ent),
							WARM, WINDOW);

						if (error > 20000)
							fail_msg(
								"policy %d, pieces of %u us, switches of %u us, seed %u: vGPU %u is off by %u ppm",
								policy, (u32)(cfg.piece / 1000),
								(u32)(switches[c] / 1000),
								(u32)cfg.seed, i, error);
					}
					free(v);
				}
}

/*
 * vGPU 0 has work that can't be interrupted for long. In a window its share may be off by about one
 * such piece. In the long run it gets its share, and the other vGPUs divide the rest by their
 * weights.
 */
static void greedy_one_gains_nothing(const struct setup *t)
{
	struct sim_vgpu *v = calloc(t->nr, sizeof(*v));
	struct sim_gpu g;
	u64 all, others, slack;
	u32 i;

	run(&g, v, t);
	all = sim_busy(&g);
	others = all - v[0].busy;
	/*
	 * over the whole run vGPU 0 has its share, within one piece at the end and the turns under
	 * way
	 */
	slack = t->piece + 10 * SIM_MS;
	assert_in_range(v[0].busy, all / total_of(t) * weight_of(t, 0) - slack,
			all / total_of(t) * weight_of(t, 0) + slack);
	for (i = 1; i < t->nr; i++) {
		u64 want = others / (total_of(t) - weight_of(t, 0)) * weight_of(t, i);

		assert_in_range(v[i].busy, want - want / 200 - 5 * SIM_MS,
				want + want / 200 + 5 * SIM_MS);
	}
	for (i = 0; i < t->nr; i++) {
		u32 want = kvgpu_sched_entitlement(&g.sched, &v[i].ent);
		double part = 2e3 * want / 1e6; /* ms in 2 s */
		double allowed = 1e6 * (0.01 * part + 1.2 * t->piece / SIM_MS) / part;

		if (sim_share_error(&g, i, want, WARM, WINDOW) > allowed)
			fail_msg(
				"policy %d, %u vGPUs: vGPU %u is off by %u ppm beside pieces of %u ms, %u are unavoidable",
				t->policy, t->nr, i, sim_share_error(&g, i, want, WARM, WINDOW),
				(u32)(t->piece / SIM_MS), (u32)allowed);
	}
	assert_true(all >= RUN / 100 * 94);
	free(v);
}

TEST(long_work_gains_nothing)
{
	all_setups(5 * SIM_MS, greedy_one_gains_nothing);
	all_setups(40 * SIM_MS, greedy_one_gains_nothing);
	all_setups(300 * SIM_MS, greedy_one_gains_nothing);
}

/*
 * Equal and fixed share: one vGPU of small weight has had a long piece of work, and is throttled
 * for minutes. Meanwhile five vGPUs always work, and switches take time. That time is owed to no
 * vGPU: the others are owed what the first one has had. So if one of them pauses for a moment, and
 * loses what it is owed, it does not wait for the others for longer than the long piece took.
 */
TEST(lost_time_is_owed_to_none)
{
	struct sim_cfg cfg = sim_k20;
	struct sim_gpu g;
	struct sim_vgpu *v;
	u32 policy, i, bin, few, most;

	cfg.preempt_ns = 200000;
	cfg.load_ns = 430000;
	for (policy = KVGPU_SCHED_EQUAL_SHARE; policy <= KVGPU_SCHED_FIXED_SHARE; policy++) {
		v = calloc(6, sizeof(*v));
		for (i = 0; i < 6; i++) {
			v[i].ent.weight = i < 5 ? 100 : 1;
			v[i].ent.cap = 100;
			v[i].ent.fixed_ppm = v[i].ent.weight * KVGPU_SCHED_PPM / 501;
			v[i].work = (struct sim_work){ SIM_BUSY, .len = SIM_MS };
		}
		v[0].work.to = 30 * SIM_S;
		v[5].work = (struct sim_work){ SIM_PERIODIC, .len = 1900 * SIM_MS,
					       .piece = 1900 * SIM_MS, .period = 1000 * SIM_S };
		sim_init(&g, &cfg, v, 6, 0);
		assert_int_equal(kvgpu_sched_set_policy(&g.sched, policy, 0), 0);
		sim_run(&g, 30 * SIM_S);
		assert_true(v[5].ent.throttled);
		/* its pause: until it has no work, and a millisecond more */
		while (v[0].left || v[0].nr)
			sim_run(&g, SIM_MS / 10);
		sim_run(&g, SIM_MS);
		v[0].work.to = 0;
		v[0].next_arrival = g.now;
		sim_run(&g, 15 * SIM_S);
		for (bin = 300, few = 0, most = 0; bin < 440; bin++) {
			few = v[0].bins[bin] < SIM_BIN * 3 / 100 ? few + 1 : 0;
			most = few > most ? few : most;
		}
		print_message("# policy %u: less than 3 %% for %u.%u s\n", policy, most / 10,
			      most % 10);
		assert_true(most <= 19);
		free(v);
	}
}

TEST(any_time_is_like_any_other)
{
	const u64 begin[] = { 0, 1ull << 32, 1ull << 48, (1ull << 63) - 5 * SIM_S,
			      0ull - RUN - 1 * SIM_S };
	struct sim_vgpu *v = calloc(4, sizeof(*v)), *w = calloc(4, sizeof(*w));
	struct sim_gpu a, b;
	u32 policy, i, k;

	for (policy = 0; policy < 3; policy++) {
		struct setup t = { .policy = policy,
				   .nr = 4,
				   .weights = one_two_four,
				   .nr_weights = 3,
				   .cfg = &sim_k20 };

		for (i = 0; i < 4; i++)
			v[i] = (struct sim_vgpu){};
		run(&a, v, &t);
		for (k = 1; k < 5; k++) {
			t.begin = begin[k];
			for (i = 0; i < 4; i++)
				w[i] = (struct sim_vgpu){};
			run(&b, w, &t);
			for (i = 0; i < 4; i++)
				assert_int_equal(v[i].busy, w[i].busy);
		}
	}
	free(v);
	free(w);
}

TEST(extreme_weights)
{
	struct sim_vgpu *v = calloc(2, sizeof(*v));
	struct sim_gpu g;

	v[0].ent = (struct kvgpu_sched_ent){ .weight = 1, .cap = 100, .fixed_ppm = 1 };
	v[1].ent = (struct kvgpu_sched_ent){ .weight = 10000, .cap = 100, .fixed_ppm = 999999 };
	v[0].work = v[1].work = (struct sim_work){ .kind = SIM_BUSY, .len = SIM_MS };
	sim_init(&g, &sim_ideal, v, 2, 0);
	sim_run(&g, 100 * SIM_S);
	/* 1 / 10001 of 100 s is 10 ms */
	assert_in_range(v[0].busy, 9 * SIM_MS, 12 * SIM_MS);
	assert_int_equal(v[0].busy + v[1].busy, 100 * SIM_S);
	free(v);
}

TEST(sixty_four)
{
	struct sim_vgpu *v = sim_vgpus(64, SIM_MS);
	struct sim_gpu g;
	u32 i;

	sim_init(&g, &sim_k20, v, 64, 0);
	sim_run(&g, RUN);
	for (i = 0; i < 64; i++) {
		/* within two turns */
		assert_true(sim_share_error(&g, i, KVGPU_SCHED_PPM / 64, WARM, WINDOW) <=
			    2 * 25600);
		assert_true(sim_share_error(&g, i, KVGPU_SCHED_PPM / 64, WARM, RUN - WARM) <=
			    10000);
	}
	free(v);
}

TEST_MAIN(NULL, NULL)
