// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest works while the slicer does a flush that the guest asked for. The page of flushes tells
 * the guest when the flush begins and ends. The slicer does not poll meanwhile, and a guest can
 * make a flush long, by what it leaves of system memory in L2. An accomplice asks for flushes, too,
 * so that the slicer is still busy when the worker sees the end of its own flush. The worker's time
 * is charged nevertheless, and its cap holds (S5).
 *
 * How long a flush of L2 takes on a card is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "selftests/harness/tests/partners.h"

#define LONG_MS (4 * RUN_MS)
#define READ_NS (20 * US) /* between reads of the flush register */

static void ask(u32 i)
{
	*flush_word(i, FLUSH_L2_SYSMEM_INVALIDATE) = FLUSH_TRIGGER;
	*flush_word(i, FLUSH_L2_DIRTY) = FLUSH_TRIGGER;
}

static void work(void)
{
	u16 id = chan_at(WORKER, 1);

	chip_at_work(id, true);
	if (!listed(WORKER) || chip.engine[0].chid == id)
		return;
	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	chip_load_some(0, id);
}

static void partners(void *arg)
{
	volatile u32 *mine = flush_word(WORKER, FLUSH_L2_DIRTY);
	u64 end = harness_now + LONG_MS * MS;

	while (harness_now < end) {
		ask(WORKER);
		ask(ACCOMPLICE);
		while (*mine & FLUSH_TRIGGER)
			harness_sleep(2 * US);
		work();
		while (*mine & FLUSH_BUSY)
			harness_sleep(2 * US);
		chip_at_work(chan_at(WORKER, 1), false);
	}
	done = true;
}

static void judge(const char *cap, u32 share, u32 reads)
{
	struct chip_manners slow = plain;
	struct policy p = coarse;
	u64 began, took;
	u32 has, charged, i;

	slow.late = reads;
	p.oversleep_ns = READ_NS;
	had = all = 0;
	done = false;
	setup_begin(&p, &slow, BOTH);
	setup_knob(WORKER, "cap", cap);
	for (i = 0; i < BOTH; i++)
		g_ring(&world.vgpu[i], 1, 0);
	harness_sleep(1500 * MS);
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# in flushes of %u reads, at a cap of %u %%: has %u.%u %%, is charged %u.%u %%\n",
	       reads, share, has / 10, has % 10, charged / 10, charged % 10);
	must_keep_to(share, has, charged);
	setup_end();
}

static void in_flushes(void **state)
{
	judge("2", 2, 8);
	judge("2", 2, 24);
	judge("10", 10, 24);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(in_flushes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
