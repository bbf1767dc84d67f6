// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy against an exact oracle: a fluid machine. It serves all vGPUs that have work at the
 * same time, each at its rate (generalised processor sharing). The real machine can serve only one
 * vGPU at a time. At no time may the GPU time of any vGPU in the real machine be far from the time
 * of that vGPU in the fluid machine.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include "selftests/module/sim/gpu.h"

#define MAX_NR 8

struct fluid {
	bool passes_on;
	u32 nr;
	double weight[MAX_NR], total; /* .total: sum of the weights of all present vGPUs */
	double now;
	double queue[MAX_NR], served[MAX_NR];
	/* most ns that a vGPU of the real machine was behind, or further ahead than its budget */
	double behind, ahead;
};

static double rate(const struct fluid *f, u32 i)
{
	double sum = 0;
	u32 k;

	if (!f->passes_on)
		return f->weight[i] / f->total;
	for (k = 0; k < f->nr; k++)
		sum += f->queue[k] > 0 ? f->weight[k] : 0;
	return f->weight[i] / sum;
}

static void fluid_advance(struct fluid *f, double to)
{
	while (f->now < to) {
		double dt = to - f->now, r[MAX_NR];
		u32 i, empty = MAX_NR;

		for (i = 0; i < f->nr; i++) {
			r[i] = f->queue[i] > 0 ? rate(f, i) : 0;
			if (r[i] > 0 && f->queue[i] / r[i] <= dt) {
				dt = f->queue[i] / r[i];
				empty = i;
			}
		}
		for (i = 0; i < f->nr; i++) {
			f->served[i] += r[i] * dt;
			f->queue[i] -= r[i] * dt;
		}
		if (empty < MAX_NR)
			f->queue[empty] = 0;
		f->now += dt;
		if (dt <= 0 && empty == MAX_NR)
			break;
	}
	f->now = to;
}

/* What a vGPU may spend at once, in addition to its share, ns (docs/sharing.md). */
static double budget(const struct fluid *f, u32 i)
{
	return f->passes_on ? 0 : 400e6 * f->weight[i] / f->total;
}

static void compare(struct sim_gpu *g)
{
	struct fluid *f = g->arg;
	u32 i;

	fluid_advance(f, g->now - g->begin);
	for (i = 0; i < f->nr; i++) {
		double d = (double)g->vgpu[i].busy - f->served[i], over = d - budget(f, i);

		f->ahead = over > f->ahead ? over : f->ahead;
		/*
		 * g->wasted is time in which the engine was idle although a vGPU had work:
		 * little_is_wasted() judges that.
		 */
		d = -d - (f->passes_on ? g->wasted : 0);
		f->behind = d > f->behind ? d : f->behind;
	}
}

static void job(struct sim_gpu *g, u32 vgpu)
{
	struct fluid *f = g->arg;

	fluid_advance(f, g->now - g->begin);
	f->queue[vgpu] += g->vgpu[vgpu].work.len;
}

/*
 * The engine may be idle although a vGPU has work, for two reasons. A vGPU holds the chip, for
 * which it pays. The driver does not know of the work yet.
 */
static void little_is_wasted(const struct sim_gpu *g, const char *name)
{
	u64 rest = g->wasted;
	u32 i;

	for (i = 0; i < g->nr; i++) {
		if (g->vgpu[i].held > g->vgpu[i].busy)
			fail_msg("%s: vGPU %u works for %.2f ms and holds the chip for %.2f ms",
				 name, i, g->vgpu[i].busy / 1e6, g->vgpu[i].held / 1e6);
		rest -= g->vgpu[i].held;
	}
	if (rest > (g->now - g->begin) / 50)
		fail_msg("%s: %.2f ms are wasted", name, rest / 1e6);
}

/* @load: GPU time that the jobs of all vGPUs want together, in per cent of the GPU. */
static void one(u32 seed, u32 nr, enum kvgpu_sched_policy_id policy, u32 load, double most_behind,
		double most_ahead)
{
	struct sim_vgpu *v = calloc(nr, sizeof(*v));
	struct sim_cfg cfg = sim_ideal;
	struct fluid f = { .passes_on = policy == KVGPU_SCHED_BEST_EFFORT, .nr = nr };
	struct sim_gpu g;
	u32 i, total = 0;
	char name[80];

	srand(seed);
	cfg.seed = seed;
	cfg.piece = 10000;
	cfg.poll_ns = 20000;
	for (i = 0; i < nr; i++) {
		u32 weight = 100u << rand() % 3;

		v[i].ent = (struct kvgpu_sched_ent){ .weight = weight, .cap = 100 };
		v[i].work = (struct sim_work){ SIM_BURSTS, .len = 20000 + rand() % 3000000,
					       .burst = 1 + rand() % 8 };
		v[i].work.period = v[i].work.len * (v[i].work.burst + 1) / 2 * nr * 100 / load;
		if (rand() % 4 == 0)
			v[i].work = (struct sim_work){ SIM_BUSY, .len = SIM_MS };
		total += weight;
	}
	for (i = 0; i < nr; i++) {
		v[i].ent.fixed_ppm = (u64)v[i].ent.weight * KVGPU_SCHED_PPM / total;
		f.weight[i] = policy == KVGPU_SCHED_FIXED_SHARE ? v[i].ent.fixed_ppm :
								  v[i].ent.weight;
		f.total += f.weight[i];
	}
	if (policy == KVGPU_SCHED_FIXED_SHARE)
		f.total = KVGPU_SCHED_PPM;
	sim_init(&g, &cfg, v, nr, 0);
	g.arg = &f;
	g.each_choice = compare;
	g.each_job = job;
	/*
	 * A busy vGPU brings its next job when the last one is done. To the fluid machine all its
	 * jobs are there from the start.
	 */
	for (i = 0; i < nr; i++)
		if (v[i].work.kind == SIM_BUSY)
			f.queue[i] = 1e18;
	assert_int_equal(kvgpu_sched_set_policy(&g.sched, policy, 0), 0);
	sim_run(&g, 2 * SIM_S);
	snprintf(name, sizeof(name), "seed %u, %u vGPUs, policy %d, load %u", seed, nr, policy,
		 load);
	if (getenv("SCHED_TEST_VERBOSE"))
		print_message("%s: behind %.2f over %.2f wasted %.2f ms\n", name, f.behind / 1e6,
			      f.ahead / 1e6, g.wasted / 1e6);
	if (policy == KVGPU_SCHED_BEST_EFFORT)
		little_is_wasted(&g, name);
	if (f.behind > most_behind || f.ahead > most_ahead)
		fail_msg("%s: behind by %.2f ms, over the budget by %.2f ms", name, f.behind / 1e6,
			 f.ahead / 1e6);
	free(v);
}

static void near_the_fluid(enum kvgpu_sched_policy_id policy, double behind, double ahead)
{
	static const u32 loads[] = { 60, 100, 150, 400 };
	u32 seed, nr, l;

	for (nr = 2; nr <= MAX_NR; nr++)
		for (l = 0; l < 4; l++)
			for (seed = 1; seed <= sim_nr_seeds() && sim_takes(nr + l, 2); seed++)
				one(seed * 100 + nr, nr, policy, loads[l], behind, ahead);
}

TEST(best_effort)
{
	near_the_fluid(KVGPU_SCHED_BEST_EFFORT, 10e6, 10e6);
}

TEST(equal_share)
{
	near_the_fluid(KVGPU_SCHED_EQUAL_SHARE, 6e6, 2e6);
}

TEST(fixed_share)
{
	near_the_fluid(KVGPU_SCHED_FIXED_SHARE, 6e6, 2e6);
}

/*
 * vGPU 1 has small jobs, and leaves the GPU idle between them. vGPU 0, which always has work, loses
 * little by that.
 */
TEST(idle_moments)
{
	one(1702, 2, KVGPU_SCHED_EQUAL_SHARE, 60, 6e6, 2e6);
	one(1702, 2, KVGPU_SCHED_FIXED_SHARE, 60, 6e6, 2e6);
}

TEST_MAIN(NULL, NULL)
