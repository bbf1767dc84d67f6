// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work in the slicer's rest (S5). After a poll the slicer rests for twice as long as the poll and
 * its flushes took, on the average (slice.c, slicer_main()). If the sampler took one sample only in
 * that time, the remainder of the rest would have none. A guest learns from its page of flushes
 * when a poll's flushes begin, and makes the rest long by the flushes that it and an accomplice ask
 * for. The worker works late in the rest.
 *
 * How long a flush of L2 takes on a card is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "selftests/harness/tests/partners.h"

#define LONG_MS (6 * RUN_MS)
#define READ_NS (20 * US) /* between reads of the flush register */

static u64 wait_ns, rests, pieces;

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
	u64 end = harness_now + LONG_MS * MS, at;

	while (harness_now < end) {
		/* both ask again while the flushes are done, for the next poll */
		ask(WORKER);
		ask(ACCOMPLICE);
		at = harness_now + wait_ns;
		rests++;
		while (*mine & FLUSH_TRIGGER && harness_now < at)
			harness_sleep(5 * US);
		if (!(*mine & FLUSH_TRIGGER))
			continue;
		pieces++;
		ask(ACCOMPLICE);
		work();
		while (*mine & FLUSH_TRIGGER)
			harness_sleep(5 * US);
		chip_at_work(chan_at(WORKER, 1), false);
	}
	done = true;
}

static void judge(const char *cap, u32 reads, u32 wait_us)
{
	u32 share = atoi(cap), has, charged, i;
	struct chip_manners slow = plain;
	struct policy p = coarse;
	u64 began, took;

	slow.late = reads;
	p.oversleep_ns = READ_NS;
	wait_ns = wait_us * US;
	had = all = rests = pieces = 0;
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
	printf("# flushes of %u reads, work from %u us on, at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu rests, %llu pieces\n",
	       reads, wait_us, share, has / 10, has % 10, charged / 10, charged % 10,
	       (unsigned long long)rests, (unsigned long long)pieces);
	must_keep_to(share, has, charged);
	setup_end();
}

static void late_in_the_rest(void **state)
{
	judge("2", 24, 3000);
	judge("10", 24, 3000);
}

static void late_in_shorter_rests(void **state)
{
	judge("10", 12, 2000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(late_in_the_rest),
						   cmocka_unit_test(late_in_shorter_rests) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
