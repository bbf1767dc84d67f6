// SPDX-License-Identifier: GPL-2.0-only
/*
 * vGPUs that sleep and wake: how soon they are served, and that no rhythm of work and sleep gains
 * time.
 */
#include <selftests/unit_test.h>

#include <linux/kernel.h>
#include <linux/minmax.h>

#include "selftests/module/sim/gpu.h"

#define RUN   sim_run_ns()
#define SLICE KVGPU_SCHED_SLICE_DEFAULT

/* vGPU 0 does @first; the others always have work, which can't be interrupted for @piece ns. */
static struct sim_vgpu *machine(struct sim_gpu *g, u32 nr, enum kvgpu_sched_policy_id policy,
				struct sim_work first, u64 piece)
{
	struct sim_vgpu *v = sim_vgpus(nr, 4 * SIM_MS);
	u32 i;

	for (i = 0; i < nr; i++)
		v[i].work.piece = piece;
	v[0].work = first;
	sim_init(g, &sim_k20, v, nr, 0);
	assert_int_equal(kvgpu_sched_set_policy(&g->sched, policy, 0), 0);
	return v;
}

/*
 * vGPU 0 has one small job every 10 ms. Its 99th percentile of waiting is below two slices, however
 * many vGPUs compete; a piece of work that is under way has to end first.
 */
TEST(small_jobs_wait_less_than_two_slices)
{
	static const u64 pieces[] = { 0, 500000, SIM_MS, 4 * SIM_MS };
	struct sim_vgpu *v;
	struct sim_gpu g;
	u32 policy, nr, k;
	u64 p99;

	for (policy = 0; policy < 3; policy++)
		for (nr = 2; nr <= 16; nr *= 2)
			for (k = 0; k < 4; k++) {
				if (!sim_takes(policy + nr / 2 + k, 2))
					continue;
				v = machine(&g, nr, policy,
					    (struct sim_work){ SIM_PERIODIC, .len = 100000,
							       .period = 10 * SIM_MS },
					    pieces[k]);
				sim_run(&g, RUN);
				assert_true(v[0].jobs >= RUN / (10 * SIM_MS) - 2);
				p99 = sim_latency(&v[0], 990);
				if (p99 >= 2 * SLICE)
					fail_msg(
						"policy %u, %u vGPUs, pieces of %u us: p99 is %u us",
						policy, nr, (u32)(pieces[k] / 1000),
						(u32)(p99 / 1000));
				if (pieces[k] <= 500000)
					assert_true(p99 < SLICE / 2);
				free(v);
			}
}

/* Many vGPUs that wake: each is served soon while it needs less than its share. */
TEST(many_that_wake)
{
	struct sim_vgpu *v;
	struct sim_gpu g;
	u32 i;

	v = machine(&g, 8, KVGPU_SCHED_BEST_EFFORT, (struct sim_work){ SIM_BUSY, .len = SIM_MS },
		    100000);
	for (i = 1; i < 8; i++) {
		v[i].work = (struct sim_work){ SIM_PERIODIC, .len = 300000,
					       .period = (9 + i) * SIM_MS };
		v[i].next_arrival = i * 777777;
	}
	sim_run(&g, RUN);
	for (i = 1; i < 8; i++)
		assert_true(sim_latency(&v[i], 990) < 2 * SLICE);
	assert_true(sim_busy(&g) > RUN / 100 * 85);
	free(v);
}

/* A vGPU that submits its next job only after the last one is done gets most of its share. */
TEST(one_that_waits_for_its_jobs)
{
	struct sim_vgpu *v;
	struct sim_gpu g;
	u32 nr;

	for (nr = 2; nr <= 8; nr *= 2) {
		v = machine(&g, nr, KVGPU_SCHED_BEST_EFFORT,
			    (struct sim_work){ SIM_LOOP, .len = 500000, .period = 100000 }, 0);
		sim_run(&g, RUN);
		assert_true(v[0].busy > RUN / nr / 100 * 80);
		assert_true(sim_busy(&g) > RUN / 100 * 88);
		free(v);
	}
}

/*
 * vGPU 1 pauses, and vGPU 2, if @third is not NULL, beside vGPU 0, which always works in pieces of
 * @piece ns that can't be interrupted. Returns the millionths of the time that vGPU 1 has. *@idle:
 * most ns of any 2 s for which they held the idle GPU; *@least: what vGPU 0 has at least in any
 * 10 s.
 */
static u32 beside_pieces(struct sim_work work, const struct sim_work *third, u64 piece, u64 slice,
			 u64 *idle, u32 *least)
{
	u64 held[200] = {}, before = 0;
	struct sim_vgpu *v = sim_vgpus(3, piece);
	struct sim_gpu g;
	u32 i, most;

	v[0].work.piece = piece;
	v[1].work = work;
	v[2].work = third ? *third : v[2].work;
	sim_init(&g, &sim_ideal, v, third ? 3 : 2, 0);
	assert_int_equal(kvgpu_sched_set_slice(&g.sched, slice), 0);
	*idle = 0;
	for (i = 0; i < 200; i++) {
		sim_run(&g, 100 * SIM_MS);
		held[i] = v[1].held + v[2].held - before;
		before += held[i];
		most = i < 19 ? 0 : i - 19;
		for (u64 sum = 0; most <= i; most++)
			*idle = max(*idle, sum += held[most]);
	}
	sim_range(&g, 0, 0, 10 * SIM_S, least, &most);
	most = v[1].busy / (20 * SIM_S / KVGPU_SCHED_PPM);
	free(v);
	return most;
}

/* A vGPU that pauses keeps its part beside long work, and holds the idle GPU for little of it. */
TEST(who_pauses_has_its_part_beside_long_pieces)
{
	static const struct {
		u64 piece;
		u32 least; /* millionths */
	} rows[] = { { 100 * SIM_MS, 350000 }, { 1900 * SIM_MS, 200000 } };
	const struct sim_work work = { SIM_LOOP, .len = 5 * SIM_MS, .period = 300000 };
	u32 i, has, least;
	u64 idle;

	for (i = 0; i < 2; i++) {
		has = beside_pieces(work, NULL, rows[i].piece, SLICE, &idle, &least);
		print_message("# pieces of %u ms: %u ppm, %u ms idle in 2 s\n",
			      (u32)(rows[i].piece / SIM_MS), has, (u32)(idle / SIM_MS));
		assert_true(has >= rows[i].least);
		assert_in_range(idle, 0, 100 * SIM_MS);
	}
}

/* Pauses on purpose, of any length, take no more than 4 % of any 10 s from who always works. */
TEST(pauses_on_purpose_gain_nothing)
{
	static const u64 len[] = { 20000, 300000, 2 * SIM_MS },
			 pause[] = { 200000, 900000, 990000, 1500000, 3 * SIM_MS };
	u32 l, p, least;
	u64 idle;

	for (l = 0; l < 3; l++)
		for (p = 0; p < 5; p++) {
			beside_pieces((struct sim_work){ SIM_LOOP, .len = len[l],
							 .period = pause[p] },
				      NULL, 100000, SLICE, &idle, &least);
			if (least < 460000 || idle > 100 * SIM_MS)
				fail_msg(
					"%u us of work, pauses of %u us: the other has %u ppm, %u ms idle in 2 s",
					(u32)(len[l] / 1000), (u32)(pause[p] / 1000), least,
					(u32)(idle / SIM_MS));
		}
}

/* The time for which vGPUs may hold the idle GPU is theirs by share, and as long as promised. */
TEST(nobody_uses_up_the_pauses_of_others)
{
	const struct sim_work work = { SIM_LOOP, .len = 5 * SIM_MS, .period = 300000 },
			      drains = { SIM_LOOP, .len = 20000, .period = 900000 },
			      slowly = { SIM_LOOP, .len = 5 * SIM_MS, .period = 24 * SIM_MS };
	u32 has, least;
	u64 idle;

	has = beside_pieces(work, &drains, 100 * SIM_MS, SLICE, &idle, &least);
	print_message("# %u ppm, %u ms idle in 2 s\n", has, (u32)(idle / SIM_MS));
	assert_true(has >= 180000 && idle <= 100 * SIM_MS);
	beside_pieces(slowly, &drains, 100000, KVGPU_SCHED_SLICE_MAX, &idle, &least);
	print_message("# slices of 100 ms: %u ms idle in 2 s\n", (u32)(idle / SIM_MS));
	assert_true(idle <= 100 * SIM_MS);
}

TEST(no_rhythm_gains)
{
	static const u64 len[] = { 10000, 100000, 700000, 1500000, 5 * SIM_MS, 30 * SIM_MS };
	static const u64 gap[] = { 1000, 100000, 900000, 2 * SIM_MS, 7 * SIM_MS };
	u32 l, p, nr, policy;
	struct sim_vgpu *v;
	struct sim_gpu g;

	for (policy = 0; policy < 3; policy++)
		for (nr = 2; nr <= 8; nr *= 2)
			for (l = 0; l < 6; l++)
				for (p = 0; p < 5; p++) {
					if (!sim_takes(policy + nr + l + p, 3))
						continue;
					v = machine(&g, nr, policy,
						    (struct sim_work){ SIM_LOOP, .len = len[l],
								       .period = gap[p] },
						    0);
					sim_run(&g, 5 * SIM_S);
					if (v[0].busy > sim_busy(&g) / nr / 100 * 101 + 5 * SIM_MS)
						fail_msg(
							"policy %u, %u vGPUs, %u us of work, %u us of sleep: %u ms of 5 s",
							policy, nr, (u32)(len[l] / 1000),
							(u32)(gap[p] / 1000),
							(u32)(v[0].busy / SIM_MS));
					free(v);
				}
}

/*
 * A vGPU holds the chip and waits for a semaphore, for ever or in some rhythm. The other vGPUs keep
 * their shares, except for the time that switches take.
 */
TEST(waiting_for_ever_takes_nothing_from_others)
{
	static const u64 len[] = { 100000, 700000, 2 * SIM_MS, 9 * SIM_MS, 1000 * SIM_S },
			 gap[] = { 10000, 600000, 3 * SIM_MS };
	u32 l, p, nr, policy, i;
	struct sim_vgpu *v;
	struct sim_gpu g;

	for (policy = 0; policy < 3; policy++)
		for (nr = 2; nr <= 8; nr *= 2)
			for (l = 0; l < 5; l++)
				for (p = 0; p < 3; p++) {
					if (!sim_takes(policy + nr + l + p, 3))
						continue;
					v = machine(&g, nr, policy,
						    (struct sim_work){ SIM_STALL, .len = len[l],
								       .period = gap[p] },
						    0);
					sim_run(&g, 5 * SIM_S);
					for (i = 1; i < nr; i++)
						if (v[i].busy < 5 * SIM_S / nr / 100 * 88)
							fail_msg(
								"policy %u, %u vGPUs, stalls %u us, works %u us: vGPU %u has %u ms of 5 s",
								policy, nr, (u32)(len[l] / 1000),
								(u32)(gap[p] / 1000), i,
								(u32)(v[i].busy / SIM_MS));
					free(v);
				}
}

/* vGPUs that wake again and again, for a moment in which they wait or work */
struct flicker {
	u32 nr, weight, cap; /* of each */
	enum kvgpu_sched_policy_id policy;
	struct sim_work work;
};

/*
 * A vGPU that always works, of weight 100, beside vGPUs that wake for moments. The driver polls
 * whenever one wakes or sleeps. Returns what the first vGPU has, in per mille of its entitlement.
 */
static u32 beside_flickers(const struct flicker *f, u64 switch_ns)
{
	struct sim_vgpu *v = calloc(f->nr + 1, sizeof(*v));
	struct sim_cfg cfg = sim_k20;
	struct sim_gpu g;
	u32 i, part;

	cfg.poll_ns = 20000;
	cfg.jitter_ns = 10000;
	cfg.piece = 20000;
	cfg.preempt_ns = switch_ns / 3;
	cfg.load_ns = switch_ns - cfg.preempt_ns;
	for (i = 0; i <= f->nr; i++) {
		v[i].ent.weight = i ? f->weight : 100;
		v[i].ent.cap = i ? f->cap : 100;
		v[i].ent.fixed_ppm = KVGPU_SCHED_PPM / (f->nr + 1);
		v[i].work = f->work;
	}
	v[0].work = (struct sim_work){ SIM_BUSY, .len = SIM_MS };
	sim_init(&g, &cfg, v, f->nr + 1, 0);
	assert_int_equal(kvgpu_sched_set_policy(&g.sched, f->policy, 0), 0);
	sim_run(&g, 5 * SIM_S);
	part = v[0].busy * 1000 / (5 * SIM_S / KVGPU_SCHED_PPM) /
	       kvgpu_sched_entitlement(&g.sched, &v[0].ent);
	free(v);
	return part;
}

/*
 * While one vGPU alone can run there is no turn that limits how often another vGPU may wake. Each
 * time costs two switches. vGPUs that wake for nothing, or for very little work, pay for these: the
 * vGPU that always works has its share, less what switches at the end of shortest turns cost.
 */
TEST(who_wakes_for_moments_pays_for_switches)
{
#define FOR_NOTHING(us)                                       \
	{                                                     \
		SIM_STALL, .len = (us)*1000, .period = 300000 \
	}
#define FOR_WORK(us)                                         \
	{                                                    \
		SIM_LOOP, .len = (us)*1000, .period = 300000 \
	}
	static const struct flicker flickers[] = {
		{ 1, 100, 10, KVGPU_SCHED_BEST_EFFORT, FOR_NOTHING(100) },
		{ 1, 100, 2, KVGPU_SCHED_BEST_EFFORT, FOR_NOTHING(100) },
		{ 1, 10, 100, KVGPU_SCHED_BEST_EFFORT, FOR_NOTHING(100) },
		{ 1, 1, 100, KVGPU_SCHED_BEST_EFFORT, FOR_NOTHING(100) },
		{ 7, 100, 1, KVGPU_SCHED_BEST_EFFORT, FOR_NOTHING(100) },
		{ 2, 1, 100, KVGPU_SCHED_BEST_EFFORT, FOR_NOTHING(50) },
		{ 1, 10, 100, KVGPU_SCHED_EQUAL_SHARE, FOR_NOTHING(100) },
		{ 7, 1, 100, KVGPU_SCHED_EQUAL_SHARE, FOR_NOTHING(100) },
		{ 1, 100, 100, KVGPU_SCHED_FIXED_SHARE, FOR_NOTHING(100) },
		{ 1, 100, 10, KVGPU_SCHED_BEST_EFFORT, FOR_WORK(20) },
		{ 1, 100, 10, KVGPU_SCHED_BEST_EFFORT, FOR_WORK(100) },
		{ 1, 1, 100, KVGPU_SCHED_BEST_EFFORT, FOR_WORK(20) },
	};
	static const struct {
		u64 ns;
		u32 least;
	} switches[] = { { 90000, 940 }, { 630000, 900 } };
	u32 i, k, part;

	for (i = 0; i < ARRAY_SIZE(flickers); i++)
		for (k = 0; k < 2; k++) {
			const struct flicker *f = &flickers[i];

			if (!sim_takes(i + k, 2))
				continue;
			part = beside_flickers(f, switches[k].ns);
			print_message(
				"# %u of weight %u, cap %u, policy %u, switches of %u us: %u per mille\n",
				f->nr, f->weight, f->cap, f->policy, (u32)(switches[k].ns / 1000),
				part);
			if (part < switches[k].least)
				fail_msg("%u per mille of its entitlement", part);
		}
}

/*
 * vGPU 1 has next to no weight, and runs in the moments in which vGPU 0 sleeps. It must not run up
 * debts without an end by that, and take the time of vGPU 0.
 */
TEST(debts_are_not_run_up_while_others_sleep)
{
	u64 alone, together;
	struct sim_vgpu *v;
	struct sim_gpu g;

	v = machine(&g, 1, KVGPU_SCHED_BEST_EFFORT,
		    (struct sim_work){ SIM_LOOP, .len = 2 * SIM_MS, .period = 500000 }, 0);
	sim_run(&g, RUN);
	alone = v[0].busy;
	free(v);

	v = machine(&g, 2, KVGPU_SCHED_BEST_EFFORT,
		    (struct sim_work){ SIM_LOOP, .len = 2 * SIM_MS, .period = 500000 }, 0);
	v[1].work = (struct sim_work){ SIM_LOOP, .len = 3 * SIM_MS, .period = SIM_MS };
	kvgpu_sched_set_weight(&g.sched, &v[0].ent, KVGPU_SCHED_WEIGHT_MAX, 0);
	kvgpu_sched_set_weight(&g.sched, &v[1].ent, KVGPU_SCHED_WEIGHT_MIN, 0);
	sim_run(&g, RUN);
	together = v[0].busy;
	free(v);
	assert_true(together > alone / 100 * 70);
}

TEST_MAIN(NULL, NULL)
