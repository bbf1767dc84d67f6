// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU only waits, for a semaphore, while its neighbour works on the shared chip. The neighbour
 * works in pieces and kicks the slicer after each. Between pieces no two vGPUs compete, so that the
 * chip is shared again. The cap of the vGPU that waits is not used up by that (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/ram.h"
#include "selftests/harness/tests/partners.h"

#define WAITER	  WORKER
#define NEIGHBOUR ACCOMPLICE
#define STEP	  (10 * US)

static u64 piece, gap, worked;

static void meter(void *arg)
{
	for (; !done; harness_sleep(MS / 50), all++) {
		had += chip_engine_works(chan_at(WAITER, 1));
		worked += chip_engine_works(chan_at(NEIGHBOUR, 1));
	}
}

static void begin_piece(u16 id)
{
	tell_work(NEIGHBOUR, true);
	chip_at_work(id, true);
	if (!slicer()->shared || chip.engine[0].chid == id)
		return;
	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	chip_load_some(0, id);
}

static void pieces(void *arg)
{
	u64 end = harness_now + RUN_MS * MS, ran;
	u16 id = chan_at(NEIGHBOUR, 1);

	while (harness_now < end) {
		begin_piece(id);
		for (ran = 0; ran < piece && harness_now < end; harness_sleep(STEP))
			ran += chip_engine_works(id) ? STEP : 0;
		chip_at_work(id, false);
		tell_work(NEIGHBOUR, false);
		kick(NEIGHBOUR);
		harness_sleep(gap);
	}
	done = true;
}

static void judge(const char *cap, u32 piece_us, u32 gap_us)
{
	u64 began, took[BOTH];
	u32 charged[BOTH], i;

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WAITER, "cap", cap);
	for (i = 0; i < BOTH; i++)
		second_channel(i);
	harness_sleep(1500 * MS);
	tell_work(WAITER, true);
	piece = piece_us * US;
	gap = gap_us * US;
	had = worked = all = 0;
	done = false;
	began = harness_now;
	for (i = 0; i < BOTH; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("neighbour", setup_mm, false, pieces, NULL);
	actors_run();
	for (i = 0; i < BOTH; i++)
		charged[i] = 1000 * (vmach_gpu_time_get(world.vgpu[i].v->m) - took[i]) /
			     (harness_now - began);
	printf("# pieces of %u us with %u us between them: has %.1f %%, is charged %u.%u %%; one that waits, with a cap of %s %%, has %.1f %%, is charged %u.%u %%\n",
	       piece_us, gap_us, 100.0 * worked / all, charged[NEIGHBOUR] / 10,
	       charged[NEIGHBOUR] % 10, cap, 100.0 * had / all, charged[WAITER] / 10,
	       charged[WAITER] % 10);
	if (had)
		harness_fail("one that only waits had an engine");
	if (charged[WAITER] > 10 * POINTS)
		harness_fail(
			"S5: one that only waits is charged %u.%u %% for what its neighbour does",
			charged[WAITER] / 10, charged[WAITER] % 10);
	if (1000 * worked > (charged[NEIGHBOUR] + 10 * POINTS) * all)
		harness_fail("S5: a neighbour of one that waits has %.1f %% and pays for %u.%u %%",
			     100.0 * worked / all, charged[NEIGHBOUR] / 10,
			     charged[NEIGHBOUR] % 10);
	setup_end();
}

static void on_the_open_chip(void **state)
{
	judge("100", 100, 30);
	judge("100", 300, 30);
	judge("10", 100, 30);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(on_the_open_chip) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
