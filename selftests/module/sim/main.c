// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-schedsim [FILE]: what sched/ does with several vGPUs on one GPU, simulated. Prints tables,
 * and writes the same as JSON to FILE.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "selftests/module/sim/gpu.h"

#define WINDOW (2 * SIM_S)
#define WARM   (1 * SIM_S)

/* ------------------------------------------------------------------ output */

static FILE *json;
static const char *json_sep;

static void json_section(const char *name)
{
	if (json)
		fprintf(json, "%s  \"%s\": [", json_sep ? "\n  ],\n" : "{\n", name);
	json_sep = "";
}

/* one line of a table for people, and one object */
static __attribute__((format(printf, 2, 3))) void row(const char *object, const char *line, ...)
{
	va_list ap;

	va_start(ap, line);
	vprintf(line, ap);
	va_end(ap);
	putchar('\n');
	if (json)
		fprintf(json, "%s\n    { %s }", json_sep, object);
	json_sep = ",";
}

static char object[512];

static __attribute__((format(printf, 1, 2))) const char *obj(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(object, sizeof(object), fmt, ap);
	va_end(ap);
	return object;
}

/* ------------------------------------------------------------------ machines */

static double part_of(u64 a, u64 b)
{
	return b ? 100.0 * a / b : 0;
}

/* the worst of all vGPUs and windows, per cent of what it is entitled to */
static double share_error(const struct sim_gpu *g)
{
	u32 i, error, worst = 0;

	for (i = 0; i < g->nr; i++) {
		error = sim_share_error(g, i, kvgpu_sched_entitlement(&g->sched, &g->vgpu[i].ent),
					WARM, WINDOW);
		worst = error > worst ? error : worst;
	}
	return worst / 1e4;
}

/* ------------------------------------------------------------------ shares */

static void one_share(enum kvgpu_sched_policy_id policy, u32 nr, bool weighted, u64 piece)
{
	struct sim_vgpu *v = sim_vgpus(nr, SIM_MS);
	struct sim_gpu g;
	u32 i, total = 0;

	for (i = 0; i < nr; i++) {
		v[i].ent.weight = weighted ? 100u << i % 3 : 100;
		total += v[i].ent.weight;
	}
	for (i = 0; i < nr; i++)
		v[i].ent.fixed_ppm = (u64)v[i].ent.weight * KVGPU_SCHED_PPM / total;
	if (piece)
		v[0].work = (struct sim_work){ .kind = SIM_BUSY, .len = 3 * piece, .piece = piece };
	sim_init(&g, &sim_k20, v, nr, 0);
	kvgpu_sched_set_policy(&g.sched, policy, 0);
	sim_run(&g, 20 * SIM_S);
	row(obj("\"policy\": \"%s\", \"vgpus\": %u, \"weights\": \"%s\", \"greedy_piece_ms\": %g, \"worst_2s_error_percent\": %.3f, "
		"\"greedy_share_error_percent\": %.3f, \"busy_percent\": %.2f",
		kvgpu_sched_policies[policy].name, nr, weighted ? "1:2:4" : "equal", piece / 1e6,
		share_error(&g),
		sim_share_error(&g, 0, kvgpu_sched_entitlement(&g.sched, &v[0].ent), WARM,
				18 * SIM_S) /
			1e4,
		part_of(sim_busy(&g), 20 * SIM_S)),
	    "%-12s %5u  %-6s %9g %14.2f %14.2f %9.2f", kvgpu_sched_policies[policy].name, nr,
	    weighted ? "1:2:4" : "equal", piece / 1e6, share_error(&g),
	    sim_share_error(&g, 0, kvgpu_sched_entitlement(&g.sched, &v[0].ent), WARM, 18 * SIM_S) /
		    1e4,
	    part_of(sim_busy(&g), 20 * SIM_S));
	free(v);
}

static void shares(void)
{
	u32 policy, nr, w;

	json_section("shares");
	printf("\nAll always busy; the first one's work can't be interrupted for some ms. Errors in per cent of the entitlement.\n");
	printf("policy       vGPUs weights piece, ms   worst in 2 s  greedy in 18 s    busy %%\n");
	for (policy = 0; policy < 3; policy++)
		for (nr = 2; nr <= 8; nr *= 2)
			for (w = 0; w < 2; w++)
				one_share(policy, nr, w, 0);
	for (nr = 2; nr <= 8; nr *= 2) {
		one_share(KVGPU_SCHED_BEST_EFFORT, nr, false, 5 * SIM_MS);
		one_share(KVGPU_SCHED_BEST_EFFORT, nr, false, 100 * SIM_MS);
		one_share(KVGPU_SCHED_EQUAL_SHARE, nr, false, 100 * SIM_MS);
	}
}

/* ------------------------------------------------------------------ latency */

static void latency(void)
{
	static const u64 pieces[] = { 100000, SIM_MS, 4 * SIM_MS };
	u32 policy, nr, k;

	json_section("latency");
	printf("\nOne small job (0.1 ms) every 10 ms beside others that are always busy: ms until it is done, without the job itself.\n");
	printf("policy       others piece, ms     p50     p99     max   busy %%\n");
	for (policy = 0; policy < 2; policy++)
		for (nr = 2; nr <= 16; nr *= 2)
			for (k = 0; k < 3; k++) {
				struct sim_vgpu *v = sim_vgpus(nr, SIM_MS);
				struct sim_gpu g;
				u32 i;

				for (i = 1; i < nr; i++)
					v[i].work = (struct sim_work){ .kind = SIM_BUSY,
								       .len = 4 * SIM_MS,
								       .piece = pieces[k] };
				v[0].work = (struct sim_work){ .kind = SIM_PERIODIC,
							       .len = 100000,
							       .period = 10 * SIM_MS,
							       .from = 500 * SIM_MS };
				sim_init(&g, &sim_k20, v, nr, 0);
				kvgpu_sched_set_policy(&g.sched, policy, 0);
				sim_run(&g, 20 * SIM_S);
				row(obj("\"policy\": \"%s\", \"others\": %u, \"piece_ms\": %g, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
					"\"max_ms\": %.3f, \"busy_percent\": %.2f",
					kvgpu_sched_policies[policy].name, nr - 1, pieces[k] / 1e6,
					sim_latency(&v[0], 500) / 1e6,
					sim_latency(&v[0], 990) / 1e6,
					sim_latency(&v[0], 1000) / 1e6,
					part_of(sim_busy(&g), 20 * SIM_S)),
				    "%-12s %6u %9g %7.2f %7.2f %7.2f %8.2f",
				    kvgpu_sched_policies[policy].name, nr - 1, pieces[k] / 1e6,
				    sim_latency(&v[0], 500) / 1e6, sim_latency(&v[0], 990) / 1e6,
				    sim_latency(&v[0], 1000) / 1e6,
				    part_of(sim_busy(&g), 20 * SIM_S));
				free(v);
			}
}

/* ------------------------------------------------------------------ one that pauses */

/* What B has, in per cent, beside A, and for how much of the time the GPU is idle. */
static void one_pause(enum kvgpu_sched_policy_id policy, u32 weight, u32 cap, u64 piece)
{
	struct sim_vgpu *v = sim_vgpus(2, piece);
	struct sim_gpu g;

	v[0].work.piece = piece;
	v[0].ent.cap = cap;
	v[1].ent.weight = weight;
	v[1].work = (struct sim_work){ .kind = SIM_LOOP, .len = 5 * SIM_MS, .period = 300000 };
	sim_init(&g, &sim_k20, v, 2, 0);
	kvgpu_sched_set_policy(&g.sched, policy, 0);
	sim_run(&g, 100 * SIM_S);
	row(obj("\"policy\": \"%s\", \"weight_of_b\": %u, \"cap_of_a\": %u, \"piece_ms\": %g, \"b_percent\": %.2f, \"idle_percent\": %.2f",
		kvgpu_sched_policies[policy].name, weight, cap, piece / 1e6,
		part_of(v[1].busy, 100 * SIM_S), part_of(g.wasted, 100 * SIM_S)),
	    "%-12s %11u %8u %9g %8.2f %8.2f", kvgpu_sched_policies[policy].name, weight, cap,
	    piece / 1e6, part_of(v[1].busy, 100 * SIM_S), part_of(g.wasted, 100 * SIM_S));
	free(v);
}

static void pauses(void)
{
	static const u64 pieces[] = { 100000, 10 * SIM_MS, 100 * SIM_MS, 1900 * SIM_MS };
	u32 k;

	json_section("pauses");
	printf("\nA, of weight 100, always works in pieces that can't be interrupted; B works for 5 ms and pauses for 0.3 ms.\n");
	printf("policy       weight of B cap of A piece, ms      B %%   idle %%\n");
	for (k = 0; k < 4; k++) {
		one_pause(KVGPU_SCHED_BEST_EFFORT, 100, 100, pieces[k]);
		one_pause(KVGPU_SCHED_BEST_EFFORT, 10000, 100, pieces[k]);
		one_pause(KVGPU_SCHED_BEST_EFFORT, 100, 50, pieces[k]);
		one_pause(KVGPU_SCHED_EQUAL_SHARE, 100, 100, pieces[k]);
		one_pause(KVGPU_SCHED_EQUAL_SHARE, 10000, 100, pieces[k]);
	}
}

/* ------------------------------------------------------------------ what switches cost */

static void switches(void)
{
	static const u64 costs[] = { 30000, 100000, 200000, 400000 }, slices[] = { 2, 4, 8, 16 };
	u32 c, s;

	json_section("switch_cost");
	printf("\n8 always busy, best effort: what a switch costs and how long a slice is.\n");
	printf("switch, us  slice, ms   busy %%   worst error in 2 s, %%\n");
	for (c = 0; c < 4; c++)
		for (s = 0; s < 4; s++) {
			struct sim_vgpu *v = sim_vgpus(8, SIM_MS);
			struct sim_cfg cfg = sim_k20;
			struct sim_gpu g;

			cfg.preempt_ns = costs[c] / 2;
			cfg.load_ns = costs[c] / 2;
			sim_init(&g, &cfg, v, 8, 0);
			kvgpu_sched_set_slice(&g.sched, slices[s] * SIM_MS);
			sim_run(&g, 20 * SIM_S);
			row(obj("\"switch_us\": %g, \"slice_ms\": %u, \"busy_percent\": %.2f, \"worst_2s_error_percent\": %.3f",
				costs[c] / 1e3, (u32)slices[s], part_of(sim_busy(&g), 20 * SIM_S),
				share_error(&g)),
			    "%10g %10u %8.2f %8.2f", costs[c] / 1e3, (u32)slices[s],
			    part_of(sim_busy(&g), 20 * SIM_S), share_error(&g));
			free(v);
		}
}

int main(int argc, char **argv)
{
	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fprintf(stderr, "usage: kvgpu-schedsim [FILE]\n");
		return 2;
	}
	if (argc == 2) {
		json = fopen(argv[1], "w");
		if (!json) {
			perror(argv[1]);
			return 1;
		}
	}
	printf("Simulation: the driver polls every 1 ms, a switch costs 90 us and waits for the piece of work under way (0.1 ms), the\n"
	       "slice is 4 ms; where it does not say otherwise.\n");
	shares();
	latency();
	pauses();
	switches();
	if (json) {
		fprintf(json, "\n  ]\n}\n");
		if (fclose(json)) {
			perror(argv[1]);
			return 1;
		}
	}
	return 0;
}
