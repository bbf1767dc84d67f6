/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The accomplice keeps the slicer from the preempt register for a while, without work of its own: a
 * thread that seldom gets a CPU preempts an idle channel. The register is then taken until the
 * lender of priority helps.
 */
#ifndef KVGPU_HARNESS_TESTS_STARVED_H
#define KVGPU_HARNESS_TESTS_STARVED_H

#include "hw/internal.h"
#include "selftests/harness/tests/partners.h"

static const struct policy starved = { .seed = 1, .oversleep_ns = 3000, .idle_ns = 1050 * US };
static bool wants_preempt;

/* An actor, lazy: preempts the accomplice's channel 1 each time that wants_preempt is set. */
static void preempts_itself(void *arg)
{
	while (!done) {
		if (wants_preempt) {
			wants_preempt = false;
			harness_policy(&starved);
			g_preempt(&world.vgpu[ACCOMPLICE], false, 1);
			harness_policy(&coarse);
		}
		harness_sleep(2 * US);
	}
}

static bool register_taken(void)
{
	return chip.preempting &&
	       FIELD_GET(PFIFO_PREEMPT_ID, chip.reg[PFIFO_PREEMPT / 4]) == chan_at(ACCOMPLICE, 1);
}

static bool slicer_waits(void)
{
	return hw_lock_is_urgent(&world.gpu->hw.p->preempt_lock);
}

#endif
