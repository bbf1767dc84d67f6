// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work begins just before its vGPU has to leave the chip (S5). The worker begins a piece, and its
 * accomplice, which has no work, wakes: the chip is to be the accomplice's, the worker's piece is
 * waited for, and then the accomplice has nothing to do after all. Still the worker is charged for
 * the time for which it keeps the chip, and its cap holds.
 *
 * The partners read the policy's state to choose their moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/tests/partners.h"
#include "selftests/harness/world.h"

static u64 pieces, piece_ns;

/* Have the doorbell words of channel 2, which does nothing, tell of work or of none. */
static void say(u32 i, bool work)
{
	g_ring(&world.vgpu[i], 2, work);
}

/* Wait until the worker counts as idle. */
static void until_free(u64 end)
{
	const struct machine_slice *w = slice_of(WORKER);

	if (!w->busy || w->ent.cap_throttled)
		return;
	say(ACCOMPLICE, true);
	kick(ACCOMPLICE);
	while (w->busy && !w->ent.cap_throttled && harness_now < end)
		harness_sleep(20 * US);
}

/* Make a turn of the worker in which nothing is done. After that the accomplice is chosen next. */
static void empty_turn(u64 end)
{
	const struct machine_slice *w = slice_of(WORKER), *a = slice_of(ACCOMPLICE);

	if (slicer()->sched.ents.next != &w->ent.node && !w->ent.cap_throttled && !a->ent.parked)
		return;
	say(ACCOMPLICE, false);
	kick(ACCOMPLICE);
	while ((w->ent.cap_throttled || a->ent.parked || !slicer()->shared) && harness_now < end)
		harness_sleep(100 * US);
	harness_sleep(50 * US);
	say(WORKER, true);
	say(ACCOMPLICE, true);
	kick(ACCOMPLICE);
	harness_sleep(20 * US);
	say(WORKER, false);
	say(ACCOMPLICE, false);
	kick(WORKER);
	until_open(harness_now + MS);
}

static void work_piece(u64 end)
{
	u16 id = chan_at(WORKER, 1);

	pieces++;
	say(WORKER, true);
	say(ACCOMPLICE, true);
	kick(ACCOMPLICE);
	harness_sleep(60 * US);
	say(WORKER, false);
	while (chip.engine[0].chid == id && chip.engine[0].stuck && harness_now < end) {
		harness_sleep(5 * US);
		chip_engine_works(id);
	}
	harness_sleep(10 * US);
	say(ACCOMPLICE, false);
	kick(ACCOMPLICE);
	until_open(harness_now + MS);
}

static void partners(void *arg)
{
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		until_free(min(end, harness_now + 8 * MS));
		empty_turn(end);
		if (chip_hold(chan_at(WORKER, 1), piece_ns))
			work_piece(end);
		else
			harness_sleep(50 * US);
	}
	done = true;
}

static void judge(const char *cap, u32 us)
{
	u32 share = atoi(cap), has, charged;
	u64 began, took;

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	second_channel(WORKER);
	second_channel(ACCOMPLICE);
	harness_sleep(1500 * MS);
	piece_ns = us * US;
	had = all = pieces = 0;
	done = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# pieces of %u us at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu pieces\n",
	       us, share, has / 10, has % 10, charged / 10, charged % 10,
	       (unsigned long long)pieces);
	must_keep_to(share, has, charged);
	assert_true(pieces > 1);
	setup_end();
}

static void long_pieces(void **state)
{
	judge("10", 4850);
	judge("2", 4850);
}

static void short_pieces(void **state)
{
	judge("10", 950);
	judge("10", 300);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(long_pieces),
						   cmocka_unit_test(short_pieces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
