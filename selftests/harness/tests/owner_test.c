// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of the vGPU that gets the chip while another vGPU is driven off the chip (S5). No sample
 * counts during that. In behind_its_preempt() a worker begins a kernel and preempts its own
 * channel, so that the preempt register is taken. An accomplice without work wakes, and the policy
 * chooses the worker. So the accomplice's idle channel is to be driven off, for which the slicer
 * waits a millisecond for the register. By then the kernel is over. short_pieces() has shorter
 * kernels and no preempt.
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
#include "selftests/harness/tests/partners.h"
#include "selftests/harness/world.h"

static u64 pieces, preempts, piece_ns;
static bool with_preempt, wants_preempt;

static void preempts_itself(void *arg)
{
	while (!done) {
		if (wants_preempt) {
			wants_preempt = false;
			g_preempt(&world.vgpu[WORKER], false, 1);
			preempts++;
		}
		harness_sleep(2 * US);
	}
}

/* Make a turn of the accomplice in which nothing is done. After that the worker is chosen next. */
static void empty_turn(u64 end)
{
	const struct machine_slice *w = slice_of(WORKER), *a = slice_of(ACCOMPLICE);

	while ((w->ent.cap_throttled || a->ent.parked || !slicer()->shared) && harness_now < end)
		harness_sleep(50 * US);
	if (worker_would_be_chosen())
		return;
	tell_work(ACCOMPLICE, true);
	tell_work(WORKER, true);
	kick(ACCOMPLICE);
	harness_sleep(20 * US);
	tell_work(WORKER, false);
	tell_work(ACCOMPLICE, false);
	kick(ACCOMPLICE);
	until_open(harness_now + MS);
}

static void work_piece(u64 end)
{
	u16 id = chan_at(WORKER, 1);

	pieces++;
	/* The PBDMA gets another channel while GR works. */
	chip_load_some(0, chan_at(ACCOMPLICE, 1));
	wants_preempt = with_preempt;
	harness_sleep(5 * US);
	tell_work(WORKER, true);
	tell_work(ACCOMPLICE, true);
	kick(ACCOMPLICE);
	while (chip.engine[0].chid == id && chip.engine[0].stuck && harness_now < end) {
		harness_sleep(5 * US);
		chip_engine_works(id);
	}
	tell_work(WORKER, false);
	tell_work(ACCOMPLICE, false);
	kick(ACCOMPLICE);
	until_open(harness_now + MS);
}

static void partners(void *arg)
{
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		worker_until_free(min(end, harness_now + 8 * MS));
		empty_turn(end);
		if (!worker_would_be_chosen()) {
			harness_sleep(50 * US);
			continue;
		}
		if (chip_hold(chan_at(WORKER, 1), piece_ns))
			work_piece(end);
		else
			harness_sleep(50 * US);
	}
	done = true;
}

static void judge(const char *cap, u32 us, bool preempt)
{
	u32 share = atoi(cap), has, charged;
	u64 began, took;

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	second_channel(WORKER);
	second_channel(ACCOMPLICE);
	harness_sleep(1500 * MS);
	piece_ns = us * US;
	with_preempt = preempt;
	had = all = pieces = preempts = 0;
	done = wants_preempt = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("preempter", setup_mm, false, preempts_itself, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# pieces of %u us at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu pieces, %llu preempts\n",
	       us, share, has / 10, has % 10, charged / 10, charged % 10,
	       (unsigned long long)pieces, (unsigned long long)preempts);
	assert_true(pieces > 10);
	must_keep_to(share, has, charged);
	setup_end();
}

static void behind_its_preempt(void **state)
{
	judge("10", 1000, true);
	judge("2", 1000, true);
}

static void short_pieces(void **state)
{
	judge("10", 40, false);
	judge("10", 25, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(behind_its_preempt),
						   cmocka_unit_test(short_pieces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
