// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of the vGPU that is driven off the chip, behind the names of many channels (S5). While one
 * vGPU is driven off, the slicer notes for which vGPUs engines work (slice.c). It once noted eight
 * channels at most, and what a further one did was the next owner's. The accomplice, which is the
 * next owner, has a short piece on each of eight channels. The worker, which has to leave, has a
 * channel on another PBDMA. That channel's kernel begins after these pieces, and goes on for less
 * than LATE_NS. The accomplice must not pay for it.
 *
 * The worker's kernel begins before the slicer's preempt is asked for: a thread of the accomplice
 * that seldom gets a CPU preempts an idle channel, so that the preempt register is taken until the
 * lender helps.
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

#define NAMES 8
/* channels 3 to 10 of the accomplice have the short pieces */
#define FIRST_NAME 3
#define LOOK_NS	   (22 * US)
#define LEAVE_NS   (4500 * US) /* less than LATE_NS */

static struct context name[NAMES], worker;
static u64 pieces, missed;
static u32 names;

static void say_both(bool work)
{
	tell_work(WORKER, work);
	tell_work(ACCOMPLICE, work);
	kick(WORKER);
}

static void until_ready(u64 end)
{
	while ((slice_of(WORKER)->ent.cap_throttled || slice_of(ACCOMPLICE)->ent.parked ||
		slice_of(WORKER)->ent.parked || !slicer()->shared) &&
	       harness_now < end)
		harness_sleep(50 * US);
}

/* A turn of the worker in which nothing is done. */
static void empty_turn(void)
{
	say_both(true);
	harness_sleep(20 * US);
	say_both(false);
	until_open(harness_now + MS);
}

static void engine_has(const struct context *c)
{
	chip.engine[0] = *c;
	chip.pbdma[0] = worker;
}

static void work_piece(u64 began)
{
	u64 at, k;
	u16 id;

	while (!slicer_waits() && harness_now < began + 200 * US)
		harness_sleep(US);
	if (!slicer_waits() || slicer()->owner != world.vgpu[ACCOMPLICE].v->m) {
		missed++;
		return;
	}
	pieces++;
	at = harness_now;
	for (k = 0; k < names; k++) {
		id = chan_at(ACCOMPLICE, FIRST_NAME + k);
		engine_has(&name[k]);
		chip_at_work(id, true);
		while (harness_now < at + (k + 1) * LOOK_NS)
			harness_sleep(2 * US);
		chip_at_work(id, false);
	}
	engine_has(&worker);
	chip.engine[0].stuck = true;
	chip.hold_until = began + LEAVE_NS;
	while (chip.engine[0].chid == worker.chid && harness_now < began + LEAVE_NS) {
		harness_sleep(5 * US);
		chip_engine_works(worker.chid);
	}
}

static void partners(void *arg)
{
	u64 end = harness_now + RUN_MS * MS, t;

	while (harness_now < end) {
		worker_until_free(min(end, harness_now + 8 * MS));
		until_ready(end);
		if (worker_would_be_chosen()) {
			empty_turn();
			if (worker_would_be_chosen()) {
				harness_sleep(50 * US);
				continue;
			}
		}
		chip_load_some(0, worker.chid);
		wants_preempt = true;
		for (t = harness_now + 50 * US; !register_taken() && harness_now < t;)
			harness_sleep(US);
		if (!register_taken())
			continue;
		engine_has(&name[0]);
		t = harness_now;
		say_both(true);
		work_piece(t);
		say_both(false);
		until_open(harness_now + 4 * MS);
	}
	done = true;
}

static void more_channels(void)
{
	struct world_vgpu *g = &world.vgpu[ACCOMPLICE];
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

static void note_contexts(void)
{
	u32 k;

	until_open(harness_now + 100 * MS);
	for (k = 0; k < NAMES; k++) {
		chip_load_some(0, chan_at(ACCOMPLICE, FIRST_NAME + k));
		name[k] = chip.pbdma[0];
		assert_int_equal(name[k].chid, chan_at(ACCOMPLICE, FIRST_NAME + k));
	}
	chip_load_some(0, chan_at(WORKER, 1));
	worker = chip.pbdma[0];
	assert_int_equal(worker.chid, chan_at(WORKER, 1));
}

static void judge(const char *cap, u32 nr)
{
	u32 share = atoi(cap), has, charged, other;
	u64 began, took, others;

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	setup_knob(ACCOMPLICE, "weight", "10000");
	second_channel(WORKER);
	second_channel(ACCOMPLICE);
	more_channels();
	harness_sleep(1500 * MS);
	note_contexts();
	names = nr;
	had = all = pieces = missed = 0;
	done = wants_preempt = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	others = vmach_gpu_time_get(world.vgpu[ACCOMPLICE].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("preempter", setup_mm, true, preempts_itself, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	other = 1000 * (vmach_gpu_time_get(world.vgpu[ACCOMPLICE].v->m) - others) /
		(harness_now - began);
	printf("# %u names before, at a cap of %u %%: has %u.%u %%, is charged %u.%u %%, its accomplice %u.%u %%; %llu pieces, %llu missed\n",
	       nr, share, has / 10, has % 10, charged / 10, charged % 10, other / 10, other % 10,
	       (unsigned long long)pieces, (unsigned long long)missed);
	assert_true(pieces >= 2);
	must_keep_to(share, has, charged);
	setup_end();
}

/* all that the worker does is noted: this keeps to the cap */
static void few_names(void **state)
{
	judge("10", NAMES - 1);
}

static void nine_names(void **state)
{
	judge("10", NAMES);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(few_names),
						   cmocka_unit_test(nine_names) };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
