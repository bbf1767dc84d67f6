// SPDX-License-Identifier: GPL-2.0-only
/* What must hold however fast the machine is: data, progress, knobs, ends. */
#include "tests.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gk110/ce.h>

#include "tap.h"
#include "tenant.h"

/* A hanger waits for PROGRESS_MS twice at most (work.c, STALLED_NS). */
enum { START_MS = 60000, PROGRESS_MS = 60000, HANG_MS = 3 * PROGRESS_MS, MANY = 8 };

static bool progresses(const struct tenant *t, uint64_t jobs)
{
	uint64_t from = t->shared->jobs;
	unsigned int ms;

	for (ms = 0; ms < PROGRESS_MS; ms++) {
		if (t->shared->jobs - from >= jobs)
			return true;
		usleep(1000);
	}
	return false;
}

static bool start_all(struct tenant *t, unsigned int nr, const enum role *role)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		tenant_create(&t[i], i, "512m");
		tenant_start(&t[i], role[i]);
	}
	for (i = 0; i < nr; i++)
		ok &= tenant_await(&t[i], TENANT_READY, START_MS);
	for (i = 0; i < nr; i++)
		t[i].shared->order = ORDER_RUN;
	return ok;
}

static bool end_all(struct tenant *t, unsigned int nr)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < nr; i++)
		ok &= tenant_end(&t[i]);
	for (i = 0; i < nr; i++)
		tenant_remove(&t[i]);
	return ok;
}

/* ------------------------------------------------------------------ knobs */

struct refusal {
	const char *text;
	int err;
};

static const struct refusal numbers[] = {
	{ "", 0 },
	{ "x", EINVAL },
	{ "0x10", EINVAL },
	{ "-1", EINVAL },
	{ "1 2", EINVAL },
	{ "1.5", EINVAL },
	{ "\n", EINVAL },
	{ "99999999999999999999", ERANGE },
	{ "4000000000", ERANGE },
	{ "0", ERANGE },
};

static void check_knob(const struct tenant *t, const char *name, const char *good)
{
	uint64_t before, wrong = 0;
	char text[32];
	unsigned int i;

	before = t ? vgpu_value(t, name) : card_value(name);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int err = t ? vgpu_write(t, name, numbers[i].text) :
			      card_write(name, numbers[i].text);

		if (err != numbers[i].err ||
		    (t ? vgpu_value(t, name) : card_value(name)) != before) {
			tap_diag("%s = \"%s\": error %d", name, numbers[i].text, err);
			wrong++;
		}
	}
	tap_result(!wrong, "a knob refuses what is wrong with the right error, and keeps its value",
		   "%s", name);
	snprintf(text, sizeof(text), "%s\n", good);
	wrong = t ? vgpu_write(t, name, text) : card_write(name, text);
	wrong |= (t ? vgpu_value(t, name) : card_value(name)) != strtoull(good, NULL, 10);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)before);
	wrong |= t ? vgpu_write(t, name, text) : card_write(name, text);
	wrong |= (t ? vgpu_value(t, name) : card_value(name)) != before;
	tap_result(!wrong, "and takes what is right, with a newline and without", "%s", name);
}

static void check_policy(void)
{
	static const char *const names[] = { "equal-share\n", "fixed-share", "best-effort\n" };
	char text[64];
	unsigned int i, wrong = 0;

	for (i = 0; i < 3; i++)
		wrong += card_write("policy", names[i]) ||
			 !card_read("policy", text, sizeof(text)) ||
			 strncmp(text, names[i], strlen(text));
	wrong += card_write("policy", "fair") != EINVAL ||
		 card_write("policy", "best-effortx") != EINVAL;
	wrong += !card_read("policy", text, sizeof(text)) || strcmp(text, "best-effort");
	tap_result(!wrong, "policies are taken by name, others refused", NULL);
}

static void test_knobs(void)
{
	struct tenant t;

	tenant_create(&t, 0, "512m");
	check_knob(&t, "weight", "4321");
	check_knob(&t, "cap", "17");
	check_knob(NULL, "slice_us", "7777");
	check_knob(NULL, "watchdog_ms", "1234");
	check_policy();
	tap_result(!vgpu_write(&t, "suspended", "0\n") &&
			   vgpu_write(&t, "suspended", "1") == ERANGE &&
			   vgpu_write(&t, "suspended", "no") == EINVAL,
		   "suspension can be lifted, not ordered", NULL);
	tap_result(vgpu_value(&t, "entitlement_ppm") == 1000000,
		   "one alone is entitled to everything", NULL);
	tap_result(card_value("temperature_mc") < 150000 && card_value("core_clock_khz") > 1000 &&
			   card_value("mem_clock_khz") > 1000,
		   "temperature and clocks are told", "%llu mC, %llu and %llu kHz",
		   (unsigned long long)card_value("temperature_mc"),
		   (unsigned long long)card_value("core_clock_khz"),
		   (unsigned long long)card_value("mem_clock_khz"));
	tenant_remove(&t);
}

/* ------------------------------------------------------------------ together */

static void test_many(void)
{
	static const enum role roles[MANY] = {
		ROLE_STREAM,  ROLE_STREAM, ROLE_GREEDY, ROLE_STREAM,
		ROLE_LATENCY, ROLE_STREAM, ROLE_STREAM, ROLE_GREEDY,
	};
	struct tenant t[MANY];
	unsigned int i, ms, moved = 0;
	uint64_t slices = 0;
	bool ok;

	ok = start_all(t, MANY, roles);
	tap_result(ok, "eight vGPUs start", NULL);
	for (i = 0; i < MANY; i++)
		moved += progresses(&t[i], 3);
	/*
	 * At rate 0 (run.sh) the CPUs may be too slow to keep the GPU busy, so that two tenants
	 * seldom have work at the same time: wait for the first slice.
	 */
	for (ms = 0; !slices && ms < PROGRESS_MS; ms++) {
		usleep(1000);
		for (i = 0; i < MANY; i++)
			slices += vgpu_value(&t[i], "slices");
	}
	tap_result(moved == MANY && slices > 0, "all eight get on",
		   "%u do, %llu slices after %u ms", moved, (unsigned long long)slices, ms);
	ok = end_all(t, MANY);
	tap_result(ok, "every byte of the eight is right", NULL);
}

static void test_alone(void)
{
	static const enum role roles[] = { ROLE_STREAM };
	uint64_t time, preempts;
	struct tenant t[2];
	unsigned int ms;
	bool ok;

	tenant_create(&t[1], 7, "512m"); /* present, but no process uses it */
	ok = start_all(t, 1, roles) && progresses(t, 500);
	/* at rate 0 (run.sh) copies are short, and few samples find a busy engine: wait for one */
	for (ms = 0, time = 0; !time && ms < PROGRESS_MS; ms++) {
		usleep(1000);
		time = vgpu_value(t, "gpu_time_ns") + vgpu_value(t, "copy_time_ns");
	}
	preempts = vgpu_value(t, "preempts");
	tap_result(ok && time > 0 && !vgpu_value(&t[1], "gpu_time_ns") &&
			   !vgpu_value(&t[1], "copy_time_ns"),
		   "who works is charged, who does not is not", "%llu ns after %u ms",
		   (unsigned long long)time, ms);
	tap_result(!preempts && !vgpu_value(t, "slices"), "who works alone is never switched",
		   NULL);
	ok = end_all(t, 1);
	tap_result(ok, "every byte is right", NULL);
	tenant_remove(&t[1]);
}

static void test_killed(void)
{
	static const enum role roles[] = { ROLE_STREAM, ROLE_GREEDY };
	struct tenant t[3];
	unsigned int i, bad = 0;
	bool ok;

	ok = start_all(t, 2, roles) && progresses(&t[0], 10) && progresses(&t[1], 1);
	kill(t[1].pid, SIGKILL);
	waitpid(t[1].pid, NULL, 0);
	ok &= progresses(t, 20);
	tap_result(ok, "a neighbour killed in the middle of its copies: the stream goes on", NULL);
	for (i = 0; i < PROGRESS_MS / 50 && vgpu_value(&t[1], "pinned_pages"); i++)
		usleep(50000);
	tap_result(!vgpu_value(&t[1], "pinned_pages"), "nothing of the killed one stays pinned",
		   NULL);
	tenant_remove(&t[1]);
	for (i = 0; i < 5; i++) {
		tenant_create(&t[2], 2, "512m");
		tenant_start(&t[2], ROLE_STREAM);
		bad += !tenant_await(&t[2], TENANT_READY, START_MS);
		t[2].shared->order = ORDER_RUN;
		bad += !progresses(&t[2], 2) || !tenant_end(&t[2]) || !progresses(t, 2);
		tenant_remove(&t[2]);
	}
	tap_result(!bad, "neighbours made, used and removed beside a stream",
		   "%u of 5 with trouble", bad);
	tap_result(end_all(t, 1), "and every byte of the stream is right", NULL);
}

/* ------------------------------------------------------------------ hangs */

static bool hang(struct tenant *t, volatile uint32_t *regs)
{
	unsigned int i, ms;

	/* until its reset the copy engine can't tell that it waits */
	for (i = 0; i < GK110_CE_NR; i++)
		regs[(GK110_CE(i) + GK110_CE_INTR_EN) / 4] = 0;
	t->shared->suspended = vgpu_value(t, "suspended") == 1;
	t->shared->rounds++;
	for (ms = 0; ms < HANG_MS && t->shared->rounds_done != t->shared->rounds; ms++) {
		usleep(1000);
		t->shared->suspended = vgpu_value(t, "suspended") == 1;
	}
	return t->shared->rounds_done == t->shared->rounds;
}

static void hang_once(struct tenant *t, volatile uint32_t *regs)
{
	uint64_t resets = card_value("engine_resets");
	bool ok = hang(&t[1], regs);

	tap_result(ok && t[1].shared->faults == 1, "a hung channel is ended, and its guest is told",
		   NULL);
	tap_result(vgpu_value(&t[1], "strikes") == 1 && card_value("engine_resets") > resets &&
			   !vgpu_value(&t[1], "suspended"),
		   "that was a strike", "%llu engine resets",
		   (unsigned long long)(card_value("engine_resets") - resets));
	tap_result(t[1].shared->jobs == 1, "its guest's next channel works", NULL);
	tap_result(progresses(t, 20) && !vgpu_value(t, "strikes"), "the neighbour goes on", NULL);
}

static void test_hangs(void)
{
	static const enum role roles[] = { ROLE_STREAM, ROLE_HANGER };
	volatile uint32_t *regs = card_registers();
	struct tenant t[2];
	bool ok;

	if (!regs) {
		tap_skip("hangs", "the card's registers can't be mapped: boot with iomem=relaxed");
		return;
	}
	/*
	 * The card's watchdog_ms is the default, 2 s: a stream whose GPU is away for longer,
	 * because its machine is, gets the strike that it must not get here.
	 */
	ok = start_all(t, 2, roles) && progresses(t, 5);
	tap_result(ok, "two vGPUs start", NULL);
	hang_once(t, regs);
	ok = tenant_end(&t[1]);
	tenant_start(&t[1], ROLE_STREAM);
	ok &= tenant_await(&t[1], TENANT_READY, START_MS);
	t[1].shared->order = ORDER_RUN;
	tap_result(ok && progresses(&t[1], 20), "opened again its vGPU serves as new", NULL);
	tap_result(end_all(t, 2), "every byte of both is right", NULL);
}

int run_tests(void)
{
	test_knobs();
	test_alone();
	test_many();
	test_killed();
	test_hangs();
	return tap_finish();
}
