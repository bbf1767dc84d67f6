// SPDX-License-Identifier: GPL-2.0-only
/* scene.h has the contracts. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "selftests/module/harness/scene.h"

const struct scene *scene;
u64 scene_count[8];
static const char *asked;
static u64 began, ends;

bool scene_ask(const char *step, bool is)
{
	asked = step;
	return is;
}

bool scene_goes_on(void)
{
	return harness_now < ends;
}

void scene_stop(void)
{
	ends = 0;
}

/* ------------------------------------------------------------------ measures */

MEASURE(charged, "gpu_time_ns", admin_read(vgpu, "gpu_time_ns"), PART);
MEASURE(strikes, "strikes", admin_read(vgpu, "strikes"), GROWTH);
MEASURE(suspended, "suspended", admin_read(vgpu, "suspended"), VALUE);
MEASURE(faults, "faults", admin_read(vgpu, "faults"), GROWTH);
MEASURE(interrupts, "chip_interrupts", admin_read(vgpu, "chip_interrupts"), GROWTH);
MEASURE(resets, "engine_resets", admin_read(vgpu, "engine_resets"), GROWTH);
MEASURE(lost, "lost", admin_read(vgpu, "lost"), VALUE);
/* "events waiting 0 dropped 0" */
MEASURE(events_dropped, "events dropped", admin_word(vgpu, "state", "events waiting 0 dropped "),
	GROWTH);
MEASURE(lives, "channel 1 lives", admin_chan_lives(vgpu, 1), VALUE);
MEASURE(irq_ran, "time of the interrupt thread", the_irq.ran, PART);
MEASURE(irq_worked, "work of the interrupt thread", the_irq.worked, PART);
MEASURE(count, "count", scene_count[vgpu], VALUE);

static void measure(const struct scene *s, u64 *val)
{
	const struct must *m;

	for (m = s->must; m < s->must + SCENE_MUSTS && m->what; m++)
		val[m - s->must] = m->what->read(m->vgpu);
}

static void judge(const struct scene *s, const u64 *was)
{
	u64 is[SCENE_MUSTS], n, ns = max(harness_now - began, 1ull);
	const struct must *m;

	measure(s, is);
	for (m = s->must; m < s->must + SCENE_MUSTS && m->what; m++) {
		n = is[m - s->must];
		if (m->what->kind != VALUE)
			n -= was[m - s->must];
		if (m->what->kind == PART)
			n = n * 1000 / ns;
		printf("# %s: %s of %d: %llu\n", s->name, m->what->name, (int)m->vgpu, n);
		FAIL_ON(n < m->least || n > m->most, "%s: %s: %s of %d is %llu, not %lld to %lld",
			m->why, s->name, m->what->name, (int)m->vgpu, n, m->least, m->most);
	}
}

/* ------------------------------------------------------------------ a row */

static void act(void *arg)
{
	const struct role *r = arg;

	r->act(r);
}

static void take(const struct step *first, u32 vgpu)
{
	const struct step *s;

	for (s = first; s && s->act; s++) {
		FAIL_ON(!s->act(vgpu + s->i, s->a, s->b, s->c),
			"%s: step %td, %s(0x%llx, 0x%llx), is not so", scene->name, s - first,
			asked, s->a, s->b);
		if (!scene->roles[1].act)
			world_check(scene->name);
	}
}

void plays(const struct role *r)
{
	take((const struct step *)r->arg, r->vgpu);
}

static void set(const char *text)
{
	char file[16], val[16];
	int vgpu, n;

	for (; text && sscanf(text, "%d %15s %15s%n", &vgpu, file, val, &n) == 3; text += n)
		admin_write(vgpu, file, val);
}

static void begin(const struct policy *p, const struct chip_manners *chip)
{
	if (scene->probe)
		scene->probe(scene);
	setup_begin(p, chip, scene->vgpus);
	set(scene->set);
	if (scene->before)
		scene->before(scene);
	take(scene->first, 0);
	began = harness_now;
	ends = began + scene->ms * MS;
}

static void end(void)
{
	chip_before_write = NULL;
	FAIL_ON(!scene->may_lose && world.gpu && admin_read(CARD, "lost"),
		"S5: %s: the card is lost", scene->name);
	if (scene->after)
		scene->after(scene);
	take(scene->last, 0);
	world_end();
}

/* ------------------------------------------------------------------ interleavings */

/*
 * Three ways to switch between two roles.
 * One switch: to the other role at each point of the run in turn, or at each POINTS_STEP-th point
 * in a quick run.
 * Two switches: to the other role at a point, and back at one of the next SPAN points. HARNESS_ALL
 * in the environment tries all such pairs, in LONG_S of CPU time at most; a quick run tries
 * QUICK_PAIRS, spread over the whole run.
 * Seeds: any number of switches, on a restless chip.
 */
#define POINTS_STEP 29
#define SEEDS	    12
#define SPAN	    24
#define QUICK_PAIRS 12
#define LONG_S	    90.0

static const struct chip_manners eager = { .eager = true }, restless = { .eager = true,
									 .load_ppm = 30000,
									 .look_ppm = 10000,
									 .late = 3 };

/* Run the first two roles by the policy. Return how many points there were. */
static u64 interleave(const struct policy *p, const struct chip_manners *chip)
{
	static const struct policy quiet = { .seed = 1 };
	u64 points;
	u32 i;

	begin(&quiet, chip);
	harness_policy(p);
	for (i = 0; i < 2; i++)
		actor_new(scene->name, setup_mm, false, act, (void *)&scene->roles[i]);
	actors_run();
	points = harness_points;
	end();
	return points;
}

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void one_switch(bool all)
{
	struct policy p = { .seed = 1 };
	u64 points = interleave(&p, &eager), i;

	for (i = all ? 1 : 1 + (points / 3) % POINTS_STEP; i <= points;
	     i += all ? 1 : POINTS_STEP) {
		p.switch_at[0] = i;
		interleave(&p, &eager);
	}
}

static u64 no_common(u64 a, u64 n)
{
	u64 x = a, y = n, r;

	for (; y; r = x % y, x = y, y = r)
		;
	return x == 1 ? a : no_common(a + 1, n);
}

static void two_switches(bool all)
{
	struct policy p = { .seed = 1, .actors_only = true };
	u64 points = interleave(&p, &eager), pairs = points * SPAN,
	    step = no_common(pairs * 5 / 8 + 1, pairs), k = 0, done;
	double end = cpu_time() + LONG_S;

	for (done = 0; done < pairs && (all ? cpu_time() < end : done < QUICK_PAIRS); done++) {
		p.switch_at[0] = 1 + k / SPAN;
		p.switch_at[1] = 2 + k / SPAN + k % SPAN;
		interleave(&p, &eager);
		k = (k + step) % pairs;
	}
	printf("# %s: %llu of %llu pairs of switches\n", scene->name, done, pairs);
}

static void explore(void)
{
	bool all = harness_all();
	struct policy p = {};
	u32 i;

	one_switch(all);
	two_switches(all);
	for (i = 0; i < SEEDS * (all ? 20 : 1); i++) {
		p.seed = 100 + i;
		p.switch_ppm = 20000 + 40000 * (i % 4);
		interleave(&p, &restless);
	}
}

/* ------------------------------------------------------------------ a program */

static void run(const struct scene *s)
{
	struct policy p = s->policy;
	const struct role *r;
	u64 was[SCENE_MUSTS];

	scene = s;
	p.seed = p.seed ?: 1;
	if (s->interleaved) {
		explore();
		return;
	}
	begin(&p, &s->chip);
	measure(s, was);
	for (r = s->roles; r < s->roles + SCENE_ROLES && r->act; r++)
		actor_new(s->name, setup_mm, r->lazy, act, (void *)r);
	if (!s->roles[0].act)
		harness_sleep(s->ms * MS);
	actors_run();
	judge(s, was);
	end();
}

static bool wanted(int argc, char **argv, const struct scene *s)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!fnmatch(argv[i], s->name, 0))
			return true;
	return argc < 2;
}

/* Return true if make check runs this row on another day. HARNESS_DAY is set by run.sh. */
static bool another_day(const struct scene *s, u32 nr_slow)
{
	const char *day = getenv("HARNESS_DAY");

	return s->slow && day && !harness_all() && nr_slow % 4 != (u32)atoi(day) % 4;
}

int scenes_main(int argc, char **argv, const struct scene *s, u32 nr)
{
	u32 i, n = 0, failed = 0, slow = 0;
	int status;
	pid_t pid;

	for (i = 0; i < nr; i++) {
		if (argc > 1 && !strcmp(argv[1], "-l")) {
			printf("%s\n", s[i].name);
			continue;
		}
		if (!wanted(argc, argv, &s[i]) || another_day(&s[i], slow += s[i].slow))
			continue;
		fflush(NULL);
		pid = fork();
		if (!pid) {
			run(&s[i]);
			exit(0); /* with its counts of `make coverage` */
		}
		FAIL_ON(pid < 0 || waitpid(pid, &status, 0) != pid, "no process for %s", s[i].name);
		failed += !!status;
		printf("%sok %u - %s\n", status ? "not " : "", ++n, s[i].name);
	}
	if (n)
		printf("1..%u\n", n);
	return failed || (!n && argc < 2);
}
