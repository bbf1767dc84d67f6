// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest makes the slicer's looks long, by flushes that it asks for in its page of flushes, and so
 * the rests after them. That must not lengthen its turns while another vGPU waits (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "selftests/harness/tests/partners.h"

#define FLUSH_READS	24
#define READ_NS		(20 * US)	/* between reads of the flush register */
/*
 * The longest turn (half as long again after one that was too short), the longest look with its
 * flushes of both vGPUs (a flush of L2 is two of the chip's), as much rest, and as much again until
 * a switch is done.
 */
#define LONGEST_NS	(KVGPU_SCHED_SLICE_DEFAULT * 3 / 2 + 12 * FLUSH_READS * READ_NS)

static u64 longest;

static void ask(u32 i)
{
	const struct vgpu_own *o = &world.vgpu[i].v->own[VGPU_OWN_FLUSH];
	volatile u32 *words = (volatile u32 *)o->memory;

	words[(FLUSH_L2_SYSMEM_INVALIDATE - o->at) / 4] = FLUSH_TRIGGER;
	words[(FLUSH_L2_DIRTY - o->at) / 4] = FLUSH_TRIGGER;
}

/* Asks again and again, and notes for how long the worker has the chip at once. */
static void asks(void *arg)
{
	u64 end = harness_now + 3 * RUN_MS * MS, since = harness_now;

	while (harness_now < end) {
		ask(WORKER);
		harness_sleep(MS / 10);
		if (slicer()->owner != world.vgpu[WORKER].v->m)
			since = harness_now;
		longest = max(longest, harness_now - since);
	}
}

static void long_looks(void **state)
{
	struct chip_manners slow = plain;
	struct policy p = coarse;
	u32 i;

	slow.late = FLUSH_READS;
	p.oversleep_ns = READ_NS;
	setup_begin(&p, &slow, BOTH);
	for (i = 0; i < BOTH; i++) {
		g_ring(&world.vgpu[i], 1, 1);
		chip_at_work(chan_at(i, 1), true);
	}
	harness_sleep(500 * MS);
	actor_new("asks", setup_mm, false, asks, NULL);
	actors_run();
	printf("# it had the chip for %llu us at once, %llu are allowed\n",
	       (unsigned long long)(longest / US), LONGEST_NS / US);
	assert_true(longest >= MS);
	if (longest > LONGEST_NS)
		harness_fail("S5: a turn of %llu us beside a vGPU that waits, %llu are allowed",
			     (unsigned long long)(longest / US), LONGEST_NS / US);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(long_looks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
