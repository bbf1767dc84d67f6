// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest makes the slicer's polls long, by flushes that it asks for in its page of flushes, and so
 * the rests after them. That must not lengthen its turns while another vGPU waits (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "selftests/harness/tests/partners.h"

#define FLUSH_READS 24
#define READ_NS	    (20 * US) /* between reads of the flush register */
/*
 * The longest turn (half as long again after one that was too short), the longest poll with its
 * flushes of both vGPUs (a flush of L2 is two of the chip's), as much rest, and as much again until
 * a switch is done.
 */
#define LONGEST_NS (KVGPU_SCHED_SLICE_DEFAULT * 3 / 2 + 12 * FLUSH_READS * READ_NS)

/*
 * If long polls are seldom, the turn ends when the poll and its flush (two of the chip's) end. The
 * turns before it were hardly too short.
 */
#define ONE_LONG_NS (KVGPU_SCHED_SLICE_DEFAULT * 5 / 4 + 2 * FLUSH_READS * READ_NS)

static u64 longest;

static void ask(u32 i)
{
	const struct vgpu_own *o = &world.vgpu[i].v->own[VGPU_OWN_FLUSH];
	volatile u32 *words = (volatile u32 *)o->memory;

	words[(FLUSH_L2_SYSMEM_INVALIDATE - o->at) / 4] = FLUSH_TRIGGER;
	words[(FLUSH_L2_DIRTY - o->at) / 4] = FLUSH_TRIGGER;
}

/* Asks every *@arg ns, and notes the worker's longest turn. It may have two turns in a row. */
static void asks(void *arg)
{
	u64 end = harness_now + 3 * RUN_MS * MS, asked = 0;

	while (harness_now < end) {
		if (harness_now >= asked + *(u64 *)arg) {
			ask(WORKER);
			asked = harness_now;
		}
		harness_sleep(MS / 10);
		if (slicer()->owner == world.vgpu[WORKER].v->m)
			longest = max(longest, harness_now - slicer()->sched.turn_start);
	}
}

static void run(u64 each, u64 most)
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
	longest = 0;
	harness_sleep(500 * MS);
	actor_new("asks", setup_mm, false, asks, &each);
	actors_run();
	printf("# its longest turn took %llu us, %llu are allowed\n", longest / US, most / US);
	assert_true(longest >= MS);
	if (longest > most)
		harness_fail("S5: a turn of %llu us beside a vGPU that waits, %llu are allowed",
			     longest / US, most / US);
	setup_end();
}

static void long_polls(void **state)
{
	run(MS / 10, LONGEST_NS);
}

static void a_long_poll_now_and_then(void **state)
{
	run(50 * MS, ONE_LONG_NS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(long_polls),
						   cmocka_unit_test(a_long_poll_now_and_then) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
