// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of many channels while one vGPU is driven off the chip (S5). No sample is taken during that.
 * The slicer notes for which vGPUs engines work (slice.c); it once noted eight channels at most. A
 * worker has a short piece on each of eight channels, one in each poll, and then a long one on a
 * ninth.
 *
 * The partners make the time long in which nobody pays: an idle accomplice preempts its own idle
 * channel by a thread that seldom gets a CPU, so that the preempt register is taken until the
 * lender helps, a millisecond after the slicer began to wait.
 *
 * On a GK110 the short pieces are copies on the copy engine of GR's runlist, by channels without a
 * graphics context, and the long one is a kernel on GR that waits for the last copy's semaphore.
 * Here one engine does both.
 *
 * The partners read the policy's state to choose their moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/tests/starved.h"
#include "selftests/harness/world.h"

#define NAMES	   8
#define UNPAID	   2 /* per cent of the time */
#define FIRST_NAME 3 /* channels 3 to 10 of the worker have the short pieces */
#define LOOK_NS	   (22 * US)
#define WINDOW_NS  (960 * US) /* the lender helps after a millisecond at the earliest */

static u64 pieces, missed;
static u32 names;

static void kick_worker(void)
{
	g_write(&world.vgpu[WORKER], PFIFO_RUNLIST_SUBMIT, 2 + NAMES);
}

static void empty_turn(u64 end)
{
	const struct machine_slice *w = slice_of(WORKER), *a = slice_of(ACCOMPLICE);

	while ((w->ent.cap_throttled || a->ent.parked || !slicer()->shared) && harness_now < end)
		harness_sleep(50 * US);
	if (worker_would_be_chosen())
		return;
	tell_work(ACCOMPLICE, true);
	tell_work(WORKER, true);
	kick_worker();
	harness_sleep(20 * US);
	tell_work(WORKER, false);
	tell_work(ACCOMPLICE, false);
	kick_worker();
	until_open(harness_now + MS);
}

static void work_at(u32 c, u64 until)
{
	u16 id = chan_at(WORKER, c);

	chip_at_work(id, true);
	chip_load_some(0, id);
	while (harness_now < until)
		harness_sleep(min(until - harness_now, 2 * US));
	chip_at_work(id, false);
}

static void work_piece(void)
{
	u64 began = harness_now, k;

	while (!slicer_waits() && harness_now < began + 200 * US)
		harness_sleep(US);
	if (!slicer_waits()) {
		missed++;
		return;
	}
	pieces++;
	began = harness_now;
	for (k = 0; k < names; k++)
		work_at(FIRST_NAME + k, began + (k + 1) * LOOK_NS);
	work_at(1, began + WINDOW_NS);
}

static void partners(void *arg)
{
	u64 end = harness_now + RUN_MS * MS, t;

	while (harness_now < end) {
		worker_until_free(min(end, harness_now + 8 * MS));
		empty_turn(end);
		if (!worker_would_be_chosen()) {
			harness_sleep(50 * US);
			continue;
		}
		/* a PBDMA has the accomplice's idle channel, which will have to leave */
		chip_load_some(0, chan_at(ACCOMPLICE, 1));
		wants_preempt = true;
		for (t = harness_now + 50 * US; !register_taken() && harness_now < t;)
			harness_sleep(US);
		if (!register_taken())
			continue;
		chip_load_some(0, chan_at(ACCOMPLICE, 1));
		tell_work(WORKER, true);
		tell_work(ACCOMPLICE, true);
		kick_worker();
		work_piece();
		tell_work(WORKER, false);
		tell_work(ACCOMPLICE, false);
		kick_worker();
		until_open(harness_now + 4 * MS);
	}
	done = true;
}

static void more_channels(void)
{
	struct world_vgpu *g = &world.vgpu[WORKER];
	u64 list[2 + NAMES] = { 1, 2 };
	u32 k;

	for (k = 0; k < NAMES; k++) {
		list[2 + k] = FIRST_NAME + k;
		g_inst(g, FIRST_NAME + k, 0, 0);
		g_bind(g, FIRST_NAME + k);
		g_enable(g, FIRST_NAME + k, true);
	}
	g_list(g, list, 2 + NAMES);
}

static void judge(const char *cap, u32 nr)
{
	u32 share = atoi(cap), has, charged;
	u64 began, took;

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	second_channel(WORKER);
	second_channel(ACCOMPLICE);
	more_channels();
	harness_sleep(1500 * MS);
	names = nr;
	had = all = pieces = missed = 0;
	done = wants_preempt = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("preempter", setup_mm, true, preempts_itself, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# %u names before, at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu pieces, %llu missed\n",
	       nr, share, has / 10, has % 10, charged / 10, charged % 10,
	       (unsigned long long)pieces, (unsigned long long)missed);
	assert_true(pieces > 10);
	must_keep_to(share, has, charged);
	/* one more name than fits gained 3.3 %: without a name too many it is 0.2 % */
	if (has > charged + 10 * UNPAID)
		harness_fail("S5: it has %u.%u %% and pays for %u.%u %%", has / 10, has % 10,
			     charged / 10, charged % 10);
	setup_end();
}

/* all that the worker does is noted: these keep to the cap */
static void few_names(void **state)
{
	judge("10", 0);
	judge("10", NAMES - 1);
}

static void nine_names(void **state)
{
	judge("10", NAMES);
}

static void nine_names_at_two(void **state)
{
	judge("2", NAMES);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(few_names),
						   cmocka_unit_test(nine_names),
						   cmocka_unit_test(nine_names_at_two) };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
