// SPDX-License-Identifier: GPL-2.0-only
/*
 * While channels are driven off the chip, vGPUs pay for the part of the readings that saw an engine
 * work for them. A reading that finds two engines at work for one vGPU is one reading (S5, against
 * that vGPU).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/seen.h"
#include "selftests/harness/tests/partners.h"

#define READINGS	8
#define AT_WORK		3	/* in so many of them vGPU 0 works, on two engines */

static void a_reading_counts_once(void **state)
{
	u32 engine[KVGPU_MAX_ENGINE] = { }, i, seen;
	struct machine_seen w;

	setup_begin(&coarse, &plain, BOTH);
	vmach_seen_begin(&w, world.gpu);
	for (i = 0; i < READINGS; i++) {
		engine[0] = engine[1] = 0;
		if (i < AT_WORK)
			engine[0] = engine[1] = PFIFO_STATUS_BUSY | PFIFO_STATUS_VALID |
						FIELD_PREP(PFIFO_STATUS_ID, chan_at(WORKER, 1));
		vmach_seen_note(&w, engine);
	}
	seen = vmach_seen_count(&w, world.vgpu[WORKER].v->m);
	if (seen != AT_WORK)
		harness_fail("S5: at work in %u of %u readings, it pays for %u", AT_WORK, READINGS,
			     seen);
	assert_int_equal(vmach_seen_others(&w, world.vgpu[ACCOMPLICE].v->m), AT_WORK);
	assert_int_equal(vmach_seen_count(&w, world.vgpu[ACCOMPLICE].v->m), 0);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(a_reading_counts_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
