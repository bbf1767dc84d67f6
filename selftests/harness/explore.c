// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three ways to switch between the two actors.
 * One switch: to the other actor at each point of the run in turn, or at each POINTS_STEP-th point
 * in a quick run.
 * Two switches: to the other actor at a point, and back at one of the next SPAN points. HARNESS_ALL
 * in the environment tries all such pairs, in LONG_S of CPU time at most; a quick run tries
 * QUICK_PAIRS, spread over the whole run.
 * Seeds: any number of switches, on a restless chip.
 */
#include <time.h>

#include "selftests/harness/explore.h"
#include "selftests/harness/world.h"

#define POINTS_STEP 29
#define SEEDS	    12
#define SPAN	    24
#define QUICK_PAIRS 12
#define LONG_S	    90.0

static const struct chip_manners eager = { .eager = true }, restless = { .eager = true,
									 .load_ppm = 30000,
									 .look_ppm = 10000,
									 .late = 3 };

static u64 run(const struct explore *e, const struct policy *p, const struct chip_manners *m)
{
	u64 points;

	e->begin(m);
	harness_policy(p);
	actor_new("one", *e->mm, false, e->one, NULL);
	actor_new("other", *e->mm, false, e->other, NULL);
	actors_run();
	points = harness_points();
	e->end();
	return points;
}

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void one_switch(const struct explore *e, bool all)
{
	struct policy p = { .seed = 1 };
	u64 points = run(e, &p, &eager), i;

	p.nr_script = 1;
	for (i = all ? 1 : 1 + (points / 3) % POINTS_STEP; i <= points;
	     i += all ? 1 : POINTS_STEP) {
		p.script[0].at = i;
		run(e, &p, &eager);
	}
}

static u64 no_common(u64 a, u64 n)
{
	u64 x = a, y = n, r;

	for (; y; r = x % y, x = y, y = r)
		;
	return x == 1 ? a : no_common(a + 1, n);
}

static void two_switches(const struct explore *e, bool all)
{
	struct policy p = { .seed = 1, .actors_only = true };
	u64 points = run(e, &p, &eager), pairs = points * SPAN,
	    step = no_common(pairs * 5 / 8 + 1, pairs), k = 0, done;
	double end = cpu_time() + LONG_S;

	p.nr_script = 2;
	for (done = 0; done < pairs && (all ? cpu_time() < end : done < QUICK_PAIRS); done++) {
		p.script[0].at = 1 + k / SPAN;
		p.script[1].at = 2 + k / SPAN + k % SPAN;
		run(e, &p, &eager);
		k = (k + step) % pairs;
	}
	printf("# %s: %llu of %llu pairs of switches\n", e->name, done, pairs);
}

void explore(const struct explore *e)
{
	bool all = harness_all();
	struct policy p = {};
	u32 i;

	one_switch(e, all);
	two_switches(e, all);
	for (i = 0; i < SEEDS * (all ? 20 : 1); i++) {
		p.seed = 100 + i;
		p.switch_ppm = 20000 + 40000 * (i % 4);
		run(e, &p, &restless);
	}
}
