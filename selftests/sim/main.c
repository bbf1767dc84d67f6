// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-schedsim [FILE]: what sched/ does with many vGPUs on one and several GPUs, simulated; and
 * the time of a decision, measured. Prints tables, and writes the same as JSON to FILE.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "selftests/sim/gpu.h"

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

static struct sim_vgpu *vgpus(u32 nr)
{
	struct sim_vgpu *v = calloc(nr, sizeof(*v));
	u32 i;

	if (!v)
		exit(1);
	for (i = 0; i < nr; i++) {
		v[i].ent = (struct kvgpu_sched_ent){ .weight = 100,
						     .cap = 100,
						     .fixed_ppm = KVGPU_SCHED_PPM / nr };
		v[i].work = (struct sim_work){ .kind = SIM_BUSY, .len = SIM_MS };
	}
	return v;
}

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

static void one_share(enum kvgpu_sched_policy policy, u32 nr, bool weighted, u64 piece)
{
	struct sim_vgpu *v = vgpus(nr);
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
		kvgpu_sched_policy_name(policy), nr, weighted ? "1:2:4" : "equal", piece / 1e6,
		share_error(&g),
		sim_share_error(&g, 0, kvgpu_sched_entitlement(&g.sched, &v[0].ent), WARM,
				18 * SIM_S) /
			1e4,
		part_of(sim_busy(&g), 20 * SIM_S)),
	    "%-12s %5u  %-6s %9g %14.2f %14.2f %9.2f", kvgpu_sched_policy_name(policy), nr,
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

/* ------------------------------------------------------------------ other chips, other seeds */

#define SEEDS 4

static double worst_of(const struct sim_gpu *g, u64 window)
{
	u32 i, error, worst = 0;

	for (i = 0; i < g->nr; i++) {
		error = sim_share_error(g, i, kvgpu_sched_entitlement(&g->sched, &g->vgpu[i].ent),
					WARM, window);
		worst = error > worst ? error : worst;
	}
	return worst / 1e4;
}

static void one_seed(const struct sim_cfg *cfg, enum kvgpu_sched_policy policy, u32 nr,
		     bool weighted, double *worst)
{
	struct sim_vgpu *v = vgpus(nr);
	struct sim_gpu g;
	u32 i, total = 0;
	double busy;

	for (i = 0; i < nr; i++) {
		v[i].ent.weight = weighted ? 100u << i % 3 : 100;
		total += v[i].ent.weight;
	}
	for (i = 0; i < nr; i++)
		v[i].ent.fixed_ppm = (u64)v[i].ent.weight * KVGPU_SCHED_PPM / total;
	sim_init(&g, cfg, v, nr, 0);
	kvgpu_sched_set_policy(&g.sched, policy, 0);
	sim_run(&g, 20 * SIM_S);
	for (i = 2; i < 4; i++)
		worst[i - 2] = worst_of(&g, i * SIM_S) > worst[i - 2] ? worst_of(&g, i * SIM_S) :
									worst[i - 2];
	busy = part_of(sim_busy(&g), 20 * SIM_S);
	worst[2] = busy < worst[2] ? busy : worst[2];
	free(v);
}

static void seeds(void)
{
	static const u64 pieces[] = { 50000, 100000, 200000 },
			 switches[] = { 30000, 90000, 300000, 700000 };
	u32 nr, w, c, k, policy, seed;

	json_section("seeds");
	printf("\nAll always busy; the worst of all policies, pieces of 50, 100 and 200 us, %u seeds. Errors in per cent of the entitlement.\n",
	       SEEDS);
	printf("switch, us  vGPUs weights   worst in 2 s   worst in 3 s  least busy %%\n");
	for (c = 0; c < 4; c++)
		for (nr = 2; nr <= 8; nr *= 2)
			for (w = 0; w < 2; w++) {
				double worst[3] = { 0, 0, 100 };
				struct sim_cfg cfg = sim_k20;

				cfg.preempt_ns = switches[c] / 3;
				cfg.load_ns = switches[c] - cfg.preempt_ns;
				for (policy = 0; policy < 3; policy++)
					for (k = 0; k < 3; k++)
						for (seed = 1; seed <= SEEDS; seed++) {
							cfg.piece = pieces[k];
							cfg.seed = 1000 * seed + 7;
							one_seed(&cfg, policy, nr, w, worst);
						}
				row(obj("\"switch_us\": %g, \"vgpus\": %u, \"weights\": \"%s\", \"runs\": %u, \"worst_2s_error_percent\": %.3f, "
					"\"worst_3s_error_percent\": %.3f, \"busy_percent\": %.2f",
					switches[c] / 1e3, nr, w ? "1:2:4" : "equal", 9 * SEEDS,
					worst[0], worst[1], worst[2]),
				    "%10g %6u  %-6s %14.2f %14.2f %13.2f", switches[c] / 1e3, nr,
				    w ? "1:2:4" : "equal", worst[0], worst[1], worst[2]);
			}
}

/* ------------------------------------------------------------------ caps */

static void caps(void)
{
	static const u32 caps[] = { 1, 5, 10, 25, 50, 75, 90 };
	u32 c, nr, least, most;

	json_section("caps");
	printf("\nBest effort, the first has a cap. Its part of the time in any 2 s, per cent.\n");
	printf("  cap vGPUs    least     most\n");
	for (c = 0; c < 7; c++)
		for (nr = 1; nr <= 4; nr *= 4) {
			struct sim_vgpu *v = vgpus(nr);
			struct sim_gpu g;

			v[0].ent.cap = caps[c];
			sim_init(&g, &sim_k20, v, nr, 0);
			sim_run(&g, 20 * SIM_S);
			sim_range(&g, 0, WARM, WINDOW, &least, &most);
			row(obj("\"cap\": %u, \"vgpus\": %u, \"least_percent\": %.3f, \"most_percent\": %.3f",
				caps[c], nr, least / 1e4, most / 1e4),
			    "%5u %5u %8.2f %8.2f", caps[c], nr, least / 1e4, most / 1e4);
			free(v);
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
				struct sim_vgpu *v = vgpus(nr);
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
					kvgpu_sched_policy_name(policy), nr - 1, pieces[k] / 1e6,
					sim_latency(&v[0], 500) / 1e6,
					sim_latency(&v[0], 990) / 1e6,
					sim_latency(&v[0], 1000) / 1e6,
					part_of(sim_busy(&g), 20 * SIM_S)),
				    "%-12s %6u %9g %7.2f %7.2f %7.2f %8.2f",
				    kvgpu_sched_policy_name(policy), nr - 1, pieces[k] / 1e6,
				    sim_latency(&v[0], 500) / 1e6, sim_latency(&v[0], 990) / 1e6,
				    sim_latency(&v[0], 1000) / 1e6,
				    part_of(sim_busy(&g), 20 * SIM_S));
				free(v);
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
			struct sim_vgpu *v = vgpus(8);
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

/* ------------------------------------------------------------------ many of them */

/* about half of them always busy, one of these greedy; the rest: small jobs and bursts */
static void mixed_work(struct sim_vgpu *v, u32 nr, u32 seed)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		switch ((i + seed) % 6) {
		case 0:
		case 1:
			break;
		case 2:
			if (i < 6)
				v[i].work = (struct sim_work){ SIM_BUSY, .len = 30 * SIM_MS,
							       .piece = 5 * SIM_MS };
			break;
		case 3:
		case 4:
			v[i].work = (struct sim_work){ SIM_PERIODIC,
						       .len = 400 * SIM_MS / 1000 * 4 / nr + 20000,
						       .period = (10 + i % 7) * SIM_MS,
						       .from = i * 777777 };
			break;
		case 5:
			v[i].work = (struct sim_work){ SIM_BURSTS, .len = 200000, .burst = 6,
						       .period = nr * SIM_MS };
			break;
		}
	}
}

/* Jain's index of the vGPUs that are always busy: 1 is fair, 1/n is all for one */
static double fairness(const struct sim_gpu *g)
{
	double sum = 0, squares = 0, x;
	u32 i, n = 0;

	for (i = 0; i < g->nr; i++) {
		if (g->vgpu[i].work.kind != SIM_BUSY)
			continue;
		x = g->vgpu[i].busy;
		sum += x;
		squares += x * x;
		n++;
	}
	return n ? sum * sum / (n * squares) : 1;
}

static void merge_latencies(struct sim_vgpu *into, const struct sim_gpu *g)
{
	u32 i, k;

	for (i = 0; i < g->nr; i++)
		if (g->vgpu[i].work.kind == SIM_PERIODIC)
			for (k = 5; k < g->vgpu[i].nr_lat && into->nr_lat < SIM_MAX_LAT; k += 5)
				into->lat[into->nr_lat++] = g->vgpu[i].lat[k];
}

static void one_scale(u32 gpus, u32 nr)
{
	struct sim_vgpu *lat = calloc(1, sizeof(*lat)), *v;
	double busy = 0, fair = 1, f;
	u64 decisions = 0;
	struct sim_gpu g;
	u32 m;

	for (m = 0; m < gpus; m++) {
		struct sim_cfg cfg = sim_k20;

		cfg.seed = m + 1;
		v = vgpus(nr);
		mixed_work(v, nr, m);
		sim_init(&g, &cfg, v, nr, 0);
		sim_run(&g, 5 * SIM_S);
		busy += part_of(sim_busy(&g), 5 * SIM_S) / gpus;
		f = fairness(&g);
		fair = f < fair ? f : fair;
		decisions += g.decisions / 5;
		merge_latencies(lat, &g);
		free(v);
	}
	row(obj("\"gpus\": %u, \"vgpus_each\": %u, \"busy_percent\": %.2f, \"worst_fairness\": %.5f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
		"\"decisions_per_s\": %llu",
		gpus, nr, busy, fair, sim_latency(lat, 500) / 1e6, sim_latency(lat, 990) / 1e6,
		(unsigned long long)decisions),
	    "%5u %6u %8.2f %9.4f %7.2f %7.2f %12llu", gpus, nr, busy, fair,
	    sim_latency(lat, 500) / 1e6, sim_latency(lat, 990) / 1e6,
	    (unsigned long long)decisions);
	free(lat);
}

static void scale(void)
{
	u32 gpus, nr;

	json_section("scale");
	printf("\nMixed work, best effort, equal weights: some always busy, one greedy (5 ms), the rest small jobs and bursts.\n");
	printf(" GPUs  vGPUs   busy %%  fairness     p50     p99  decisions/s\n");
	for (gpus = 1; gpus <= 8; gpus *= 8)
		for (nr = 8; nr <= 64; nr *= 2)
			one_scale(gpus, nr);
}

/* -------------------------------------------------------------- what a decision costs, measured */

static u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SIM_S + t.tv_nsec;
}

/* a round as the driver does it each turn: charge, a vGPU wakes or sleeps, choose, started */
static double decision_ns(u32 nr, enum kvgpu_sched_policy policy)
{
	struct kvgpu_sched_ent *e = calloc(nr, sizeof(*e));
	struct kvgpu_sched_choice c = {};
	struct kvgpu_sched s;
	u64 now = 1, start, best = ~0ull, took;
	u32 i, round, rounds = 200000 / nr;

	kvgpu_sched_init(&s);
	for (i = 0; i < nr; i++) {
		e[i] = (struct kvgpu_sched_ent){ .weight = 100 + i,
						 .cap = i % 3 ? 100 : 50,
						 .fixed_ppm = KVGPU_SCHED_PPM / nr };
		kvgpu_sched_add(&s, &e[i], now);
		vsched_runnable_set(&s, &e[i], true, now);
	}
	kvgpu_sched_set_policy(&s, policy, now);
	for (round = 0; round < 5; round++) {
		start = clock_ns();
		for (i = 0; i < rounds; i++) {
			struct kvgpu_sched_ent *o = &e[i * 7 % nr];

			now += SIM_MS;
			if (c.ent)
				kvgpu_sched_charge(&s, c.ent, SIM_MS, now);
			vsched_runnable_set(&s, o, !o->runnable, now);
			kvgpu_sched_choose(&s, now, &c);
			kvgpu_sched_started(&s, now);
		}
		took = clock_ns() - start;
		best = took < best ? took : best;
	}
	free(e);
	return (double)best / rounds;
}

static void cost(void)
{
	static const u32 nrs[] = { 8, 64, 512 };
	u32 i, policy;

	json_section("decision_cost");
	printf("\nOne decision (charge, wake or sleep, choose, started), measured on this machine, ns.\n");
	printf("policy        vGPUs       ns\n");
	for (policy = 0; policy < 3; policy++)
		for (i = 0; i < 3; i++) {
			double ns = decision_ns(nrs[i], policy);

			row(obj("\"policy\": \"%s\", \"vgpus\": %u, \"ns\": %.0f",
				kvgpu_sched_policy_name(policy), nrs[i], ns),
			    "%-12s %6u %8.0f", kvgpu_sched_policy_name(policy), nrs[i], ns);
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
	seeds();
	caps();
	latency();
	switches();
	scale();
	cost();
	if (json) {
		fprintf(json, "\n  ]\n}\n");
		if (fclose(json)) {
			perror(argv[1]);
			return 1;
		}
	}
	return 0;
}
