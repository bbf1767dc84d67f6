// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of a channel that is unbound before it is charged (S5). While one vGPU is driven off the
 * chip, the slicer notes for which channels engines work (slice.c). It looks for the vGPUs of these
 * channels when the preempt has ended. The worker, which is the next owner of the chip, has a copy
 * engine work for it while a kernel of the accomplice keeps GR. It unbinds the channel before the
 * kernel ends. It must pay for its copies all the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define KERNEL_MS 60
#define COPY_MS	  30

static bool unbinds;
static u64 paid;

static bool driven_off(void)
{
	return slicer()->owner == world.vgpu[WORKER].v->m && slice_of(ACCOMPLICE)->on_chip;
}

static void partners(void *arg)
{
	struct world_vgpu *g = &world.vgpu[WORKER];
	u64 end = harness_now + 1000 * MS, from;
	u16 id = chan_at(WORKER, 1);

	while ((slicer()->shared || slicer()->owner != world.vgpu[ACCOMPLICE].v->m ||
		!chip_hold(chan_at(ACCOMPLICE, 1), KERNEL_MS * MS)) &&
	       harness_now < end)
		harness_sleep(5 * US);
	while (!driven_off() && harness_now < end)
		harness_sleep(5 * US);
	assert_true(driven_off());
	from = vmach_gpu_time_get(g->v->m);
	chip_switch(id, COPY_MS * MS);
	harness_sleep(COPY_MS * MS + US);
	if (unbinds)
		g_unbind(g, 1);
	assert_true(driven_off());
	while (driven_off() && harness_now < end)
		harness_sleep(5 * US);
	paid = vmach_gpu_time_get(g->v->m) - from;
}

static void judge(bool unbind)
{
	unbinds = unbind;
	setup_begin(&coarse, &plain, BOTH);
	chip_at_work(chan_at(WORKER, 1), true);
	chip_at_work(chan_at(ACCOMPLICE, 1), true);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	printf("# %s: %u ms of copies cost %u us\n", unbind ? "unbound" : "bound", COPY_MS,
	       (u32)(paid / US));
	if (paid < COPY_MS * MS / 2)
		harness_fail("S5: %u ms of copies cost %u us", COPY_MS, (u32)(paid / US));
	setup_end();
}

static void stays_bound(void **state)
{
	judge(false);
}

static void is_unbound(void **state)
{
	judge(true);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(stays_bound),
						   cmocka_unit_test(is_unbound) };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
