// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel whose ring is empty, on the shared chip, where channels of several vGPUs are listed. The
 * chip takes turns between them. When a neighbour works, the kernel is put off for a moment, and a
 * poll in that moment sees nothing that tells of the kernel. It must still be done. If its vGPU
 * counted as without work, it would be kept off the chip for as long as others compete (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define VICTIM BOTH
#define ALL    (VICTIM + 1)
#define STEP   (10 * US)

/* Give vGPU @i work on the shared chip, have GR serve it, and have the slicer poll. */
static void wake_on_the_open_chip(u32 i)
{
	assert_true(slicer()->shared);
	g_ring(&world.vgpu[i], 1, 1);
	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	chip_load_some(0, chan_at(i, 1));
	kick(i);
	harness_sleep(STEP);
}

static void put_off_by_a_neighbour(void **state)
{
	u64 worked[ALL] = {}, end;
	u32 i;

	setup_begin(&coarse, &plain, ALL);
	for (i = 0; i < ALL; i++)
		g_ring(&world.vgpu[i], 1, 0);
	harness_sleep(1500 * MS);
	kernel_begin(VICTIM);
	harness_sleep(20 * MS);
	wake_on_the_open_chip(WORKER);
	g_ring(&world.vgpu[ACCOMPLICE], 1, 1);
	kick(ACCOMPLICE);
	for (all = 0, end = harness_now + RUN_MS * MS; harness_now < end; all++) {
		harness_sleep(MS / 50);
		for (i = 0; i < ALL; i++)
			worked[i] += chip_engine_works(chan_at(i, 1));
	}
	printf("# one whose kernel was put off has %.1f %%, two others %.1f and %.1f %%\n",
	       100.0 * worked[VICTIM] / all, 100.0 * worked[WORKER] / all,
	       100.0 * worked[ACCOMPLICE] / all);
	if (100 * worked[VICTIM] < (33 - POINTS) * all)
		harness_fail("S5: it is entitled to a third and has %.1f %%",
			     100.0 * worked[VICTIM] / all);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(put_off_by_a_neighbour) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
