// SPDX-License-Identifier: GPL-2.0-only
/* scene.h has the contracts. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "selftests/harness/explore.h"
#include "selftests/harness/scene.h"

void __gcov_dump(void) __attribute__((weak));

const struct scene *scene;
u64 scene_count[8];
static u64 began, ends;

bool scene_goes_on(void)
{
	return harness_now < ends;
}

void scene_stop(void)
{
	ends = 0;
}

/* ------------------------------------------------------------------ measures */

#define SYSFS(n, file, k)                      \
	static u64 read_##n(u32 vgpu)          \
	{                                      \
		return admin_read(vgpu, file); \
	}                                      \
	const struct measure m_##n = { file, read_##n, k }

SYSFS(charged, "gpu_time_ns", PART);
SYSFS(strikes, "strikes", GROWTH);
SYSFS(faults, "faults", GROWTH);
SYSFS(interrupts, "chip_interrupts", GROWTH);
SYSFS(resets, "engine_resets", GROWTH);
SYSFS(lost, "lost", VALUE);

static u64 read_events_dropped(u32 vgpu)
{
	/* "events waiting 0 dropped 0" */
	return admin_word(vgpu, "state", "events waiting 0 dropped ");
}
const struct measure m_events_dropped = { "events dropped", read_events_dropped, GROWTH };

static u64 read_lives(u32 vgpu)
{
	return admin_chan_lives(vgpu, 1);
}
const struct measure m_lives = { "channel 1 lives", read_lives, VALUE };

static u64 read_irq_ran(u32 vgpu)
{
	return irq_time();
}
const struct measure m_irq_ran = { "time of the interrupt thread", read_irq_ran, PART };

static u64 read_irq_worked(u32 vgpu)
{
	return irq_worked();
}
const struct measure m_irq_worked = { "work of the interrupt thread", read_irq_worked, PART };

static u64 read_count(u32 i)
{
	return scene_count[i];
}
const struct measure m_count = { "count", read_count, VALUE };

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
		if (n < m->least || n > m->most)
			harness_fail("%s: %s: %s of %d is %llu, not %lld to %lld", m->why, s->name,
				     m->what->name, (int)m->vgpu, n, m->least, m->most);
	}
}

/* ------------------------------------------------------------------ a row */

static void act(void *arg)
{
	const struct role *r = arg;

	r->act(r);
}

static void begin(const struct policy *p, const struct chip_manners *chip)
{
	if (scene->probe)
		scene->probe(scene);
	setup_begin(p, chip, scene->vgpus);
	if (scene->before)
		scene->before(scene);
	began = harness_now;
	ends = began + scene->ms * MS;
}

static void explore_begin(const struct chip_manners *chip)
{
	static const struct policy quiet = { .seed = 1 };

	begin(&quiet, chip);
}

static void one(void *arg)
{
	act((void *)&scene->roles[0]);
}

static void other(void *arg)
{
	act((void *)&scene->roles[1]);
}

static void explore_end(void)
{
	if (scene->after)
		scene->after(scene);
	setup_end();
}

static void run(const struct scene *s)
{
	struct policy p = s->policy;
	const struct role *r;
	u64 was[SCENE_MUSTS];

	scene = s;
	p.seed = p.seed ?: 1;
	if (s->interleaved) {
		explore(&(struct explore){ s->name, explore_begin, explore_end, one, other,
					   &setup_mm });
		return;
	}
	begin(&p, &s->chip);
	measure(s, was);
	for (r = s->roles; r < s->roles + SCENE_ROLES && r->act; r++)
		actor_new(s->name, setup_mm, r->lazy, act, (void *)r);
	actors_run();
	judge(s, was);
	if (s->after)
		s->after(s);
	setup_end();
}

/* ------------------------------------------------------------------ a program */

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
			fflush(NULL);
			if (__gcov_dump)
				__gcov_dump();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			harness_fail("no process for %s", s[i].name);
		failed += !!status;
		printf("%sok %u - %s\n", status ? "not " : "", ++n, s[i].name);
	}
	if (n)
		printf("1..%u\n", n);
	return failed || (!n && argc < 2);
}
