// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of the vGPU that gets the chip, while the slicer waits for gpu->lock after it has driven
 * another vGPU off (S5). A sample that falls due during a switch is dropped, so the slicer has to
 * observe the engines while it waits. Another vCPU of the worker submits its list at that moment:
 * the module holds gpu->lock until the chip has taken the list.
 *
 * The partners read the slicer's state to choose their moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/ram.h"
#include "hw/internal.h"
#include "selftests/harness/tests/partners.h"

#define WAITER BOTH

static u64 turns, pieces, pair_ns;
/* how many reads of its register a list takes, once work is there */
static u32 late_reads;
static bool holder_in; /* the other vCPU submits the worker's list */
static struct task_struct *holder;

static void say(u32 i, bool work)
{
	u64 at = world.vgpu[i].v->part.v + G_USERD(2) + USERD_GP_PUT;

	*(u32 *)chip_vram(at) = work;
	chip_wrote(at, 4);
}

static void until_only(u32 i, u64 end)
{
	while (!(slicer()->owner == world.vgpu[i].v->m && listed(i)) && harness_now < end)
		harness_sleep(US / 2);
}

/* The slicer drives the accomplice off: it has the preempt register, and not gpu->lock. */
static bool drives_off(void)
{
	return slicer()->owner == world.vgpu[WORKER].v->m &&
	       world.gpu->hw.p->preempt_lock.holder == slicer()->thread;
}

static void submits(void *arg)
{
	holder = current;
	while (!done) {
		if (late_reads && drives_off()) {
			holder_in = true;
			kick(WORKER);
			holder_in = false;
		}
		harness_sleep(US / 2);
	}
}

static bool slicer_waits(void)
{
	return holder_in && slice_of(ACCOMPLICE)->on_chip && world.gpu->lock.holder == holder &&
	       world.gpu->hw.p->preempt_lock.holder != slicer()->thread;
}

static void turn_to(u32 i, u32 from)
{
	say(i, true);
	say(from, false);
	kick(ACCOMPLICE);
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
			until = harness_now + 40 * US;
			while (!slicer_waits() && harness_now < until)
				harness_sleep(US / 2);
			if (slicer_waits()) {
				pieces++;
				chip_load_some(0, id);
				chip_at_work(id, true);
				chip.runl_late = late_reads;
				while (slicer_waits() && chip.runl_late > 1)
					harness_sleep(US / 2);
				chip_at_work(id, false);
			}
			while (holder_in)
				harness_sleep(US);
		}
		harness_sleep(2 * US);
		turn_to(ACCOMPLICE, WORKER);
		next = max(next + pair_ns, harness_now);
		harness_sleep(next - harness_now + US);
	}
	done = true;
}

static void who_works_closely(void *arg)
{
	for (; !done; harness_sleep(2 * US), all++)
		had += chip_engine_works(chan_at(WORKER, 1));
}

static void judge(const char *cap, u32 late, bool must)
{
	u32 share = atoi(cap), has, charged, i;
	u64 began, took;

	setup_begin(&coarse, &plain, WAITER + 1);
	setup_knob(WORKER, "cap", cap);
	for (i = 0; i <= WAITER; i++)
		second_channel(i);
	harness_sleep(1500 * MS);
	say(WAITER, true);
	late_reads = late;
	pair_ns = 80 * US;
	had = all = turns = pieces = 0;
	done = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works_closely, NULL);
	actor_new("holder", setup_mm, false, submits, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# a list takes %u polls, cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu turns, %llu pieces\n",
	       late, share, has / 10, has % 10, charged / 10, charged % 10,
	       (unsigned long long)turns, (unsigned long long)pieces);
	assert_in_range(turns, 100, 1000000);
	if (must)
		must_keep_to(share, has, charged);
	setup_end();
}

static void while_the_lock_is_held(void **state)
{
	judge("10", 12, false);
	judge("2", 12, false);
	judge("2", 30, true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(while_the_lock_is_held) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
