// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work in the first moment of each turn, with turns that follow each other fast (S5). A third vGPU
 * only waits, so that the chip is never shared. Two partners say in turn that they have work, and
 * kick the slicer, so that the chip goes to and fro between them. As soon as the worker has the
 * chip it works for a few microseconds. The worker's cap holds nevertheless.
 *
 * The partners read the slicer's state to choose their moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/ram.h"
#include "selftests/harness/tests/partners.h"

#define WAITER	BOTH
#define PAIR_NS (80 * US) /* time for a turn of each */

static u64 window, turns;

/* Wait until the slicer has given vGPU @i the chip and its channel 1 is listed, or until @end. */
static void until_only(u32 i, u64 end)
{
	while (!(slicer()->owner == world.vgpu[i].v->m && listed(i)) && harness_now < end)
		harness_sleep(US);
}

static void turn_to(u32 i, u32 from)
{
	tell_work(i, true);
	tell_work(from, false);
	kick(i);
	until_only(i, harness_now + 300 * US);
}

static void partners(void *arg)
{
	u64 end = harness_now + RUN_MS * MS, next = harness_now, until;
	u16 id = chan_at(WORKER, 1);

	while (harness_now < end) {
		turn_to(WORKER, ACCOMPLICE);
		if (slicer()->owner == world.vgpu[WORKER].v->m) {
			turns++;
			chip_load_some(0, id);
			chip_at_work(id, true);
			harness_sleep(window);
			chip_at_work(id, false);
		}
		turn_to(ACCOMPLICE, WORKER);
		next = max(next + PAIR_NS, harness_now);
		harness_sleep(next - harness_now + US);
	}
	done = true;
}

static void judge(const char *cap, u32 us)
{
	u32 share = atoi(cap), has, charged, i;
	u64 began, took;

	setup_begin(&coarse, &plain, WAITER + 1);
	setup_knob(WORKER, "cap", cap);
	for (i = 0; i <= WAITER; i++)
		second_channel(i);
	harness_sleep(1500 * MS);
	tell_work(WAITER, true);
	window = us * US;
	had = all = turns = 0;
	done = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# %u us after each switch, at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu turns\n",
	       us, share, has / 10, has % 10, charged / 10, charged % 10,
	       (unsigned long long)turns);
	assert_in_range(turns, 100, 1000000);
	must_keep_to(share, has, charged);
	setup_end();
}

static void after_each_switch(void **state)
{
	judge("2", 7);
	judge("10", 7);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(after_each_switch) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
