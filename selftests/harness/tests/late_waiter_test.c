// SPDX-License-Identifier: GPL-2.0-only
/*
 * A neighbour's thread that is woken gets a CPU some milliseconds later: another thread of the same
 * priority has its CPU, and finishes its slice first. Linux's fair scheduler does so since EEVDF
 * (RUN_TO_PARITY): the base slice is 2.8 ms on a host with 8 CPUs or more, and ends at a tick,
 * which with HZ=250 is up to 4 ms after a thread began. The attacker decides when its own threads
 * begin: just before it lets a lock go.
 *
 * A lock of the card is kept for its oldest waiter for 1 ms, less than that. The waiter needs the
 * lender.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define US	  1000ull
#define MS	  1000000ull
#define NEIGHBOUR (WORLD_VGPUS - 1)
/*
 * most that a command of the neighbour may take: it sleeps about ten times for the chip, and is run
 * late after each sleep
 */
#define COMMAND_LIMIT_MS 100
/* most that its preempt may take, as in lock_test, and its own kernel */
#define PREEMPT_LIMIT_MS 40
#define KERNEL_MS	 100

static const struct policy quiet = { .seed = 1 };
static const struct chip_manners steady = { .busy = true, .eager = true, .late = 1 };
static u64 worst, acted, began;
static bool done;

static const u64 list[2][2] = { { 1 }, { 1, 2 } };

static void begin(const struct chip_manners *m, u32 vgpus)
{
	done = false;
	worst = acted = 0;
	setup_begin(&quiet, m, vgpus);
}

static void lateness(u64 ns)
{
	const struct policy p = { .seed = 1, .oversleep_ns = 5000, .idle_ns = ns };

	harness_policy(&p);
}

static void end(const char *what, u64 late, u64 limit_ms)
{
	harness_policy(&quiet);
	printf("# %s, woken late by %llu us: %llu commands of the neighbour, the longest took %llu us\n",
	       what, (unsigned long long)(late / US), (unsigned long long)acted,
	       (unsigned long long)(worst / US));
	if (!acted || worst > limit_ms * MS)
		harness_fail("S5: %s: a neighbour that is run late by %llu us waits for %llu ms",
			     what, (unsigned long long)(late / US),
			     (unsigned long long)(worst / MS));
	setup_end();
}

/* Submits lists without a break, until the neighbour has done enough or has waited for long. */
static void submits(void *arg)
{
	u32 i;

	for (i = 0; acted < 20 && harness_now - began < 10 * COMMAND_LIMIT_MS * MS; i++)
		g_list(arg, list[i & 1], 1 + (i & 1));
	done = true;
}

static void submits_now_and_then(void *arg)
{
	while (!done) {
		harness_sleep(5 * MS);
		began = harness_now;
		g_list(&world.vgpu[NEIGHBOUR], list[acted & 1], 1 + (acted & 1));
		worst = max(worst, harness_now - began);
		acted++;
	}
}

/* Three vGPUs of one tenant submit lists without a break. */
static void beside_threads_that_submit(void **state)
{
	static const struct chip_manners m = { .eager = true, .late = 10 };
	static const u64 late[] = { 2800 * US, 6 * MS };
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(late); k++) {
		begin(&m, WORLD_VGPUS);
		lateness(late[k]);
		began = harness_now;
		actor_new("neighbour", setup_mm, true, submits_now_and_then, NULL);
		for (i = 0; i < NEIGHBOUR; i++)
			actor_new("submits", setup_mm, false, submits, &world.vgpu[i]);
		actors_run();
		end("three vGPUs submit", late[k], COMMAND_LIMIT_MS);
	}
}

/*
 * A guest's VMM asks for a preempt of a kernel of 1.9 s, which is legal, and the neighbour for
 * preempts of its own, as in lock_test.
 */
static void preempts_long(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 i, k;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < 1000 && !chip_hold(g_hchid(g, 1), 1900 * MS); k++)
			harness_sleep(MS / 20);
		harness_sleep(MS);
		g_preempt(g, false, 1);
	}
	done = true;
}

static void preempts(void *arg)
{
	while (!done) {
		harness_sleep(5 * MS);
		began = harness_now;
		g_preempt(&world.vgpu[1], false, 1);
		worst = max(worst, harness_now - began);
		acted++;
	}
}

/* vGPU 1, the neighbour, has no work, and ordinary threads are run @late ns after their wake-up. */
static void begin_beside_an_idle_one(u64 late)
{
	begin(&steady, 2);
	g_ring(&world.vgpu[1], 1, 0);
	harness_sleep(50 * MS);
	lateness(late);
}

static void beside_a_long_preempt(void **state)
{
	static const u64 late[] = { 900 * US, 1500 * US, 2800 * US, 6 * MS };
	u32 k;

	for (k = 0; k < ARRAY_SIZE(late); k++) {
		begin_beside_an_idle_one(late[k]);
		actor_new("neighbour", setup_mm, true, preempts, NULL);
		actor_new("preempts", setup_mm, false, preempts_long, NULL);
		actors_run();
		end("a long preempt", late[k], PREEMPT_LIMIT_MS);
	}
}

/* The neighbour has one kernel, which gets GR when the attacker's have ended. */
static void works_then(void *arg)
{
	u32 k;

	while (!done)
		harness_sleep(MS / 20);
	for (k = 0; k < 1000 && !chip_hold(g_hchid(&world.vgpu[1], 1), KERNEL_MS * MS); k++)
		harness_sleep(MS / 20);
}

static void preempts_a_little_longer(void *arg)
{
	preempts(arg);
	for (u32 i = 0; i < 20; i++) {
		harness_sleep(5 * MS);
		g_preempt(&world.vgpu[1], false, 1);
	}
}

/*
 * A guest's preempt has the preempt register for 2 s at most, then the channel is ended. The
 * neighbour's waits for the attacker's preempts, then for its own kernel.
 */
static void a_neighbours_channel(void **state)
{
	static const u64 late[] = { 2800 * US, 4 * MS };
	struct kvgpu_chan *c;
	u32 k;

	for (k = 0; k < ARRAY_SIZE(late); k++) {
		begin_beside_an_idle_one(late[k]);
		c = vmach_chan_find(world.vgpu[1].v, (gchid_t){ 1 });
		actor_new("neighbour", setup_mm, true, preempts_a_little_longer, NULL);
		actor_new("preempts", setup_mm, false, preempts_long, NULL);
		actor_new("works", NULL, false, works_then, NULL);
		actors_run();
		if (c->dead)
			harness_fail("S5: a neighbour's channel is ended, whose kernel takes %u ms",
				     KERNEL_MS);
		end("a channel", late[k], PREEMPT_LIMIT_MS + KERNEL_MS);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside_a_long_preempt),
		cmocka_unit_test(a_neighbours_channel),
		cmocka_unit_test(beside_threads_that_submit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
