// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU that is driven off the chip, and whose VMM waits for the chip meanwhile (S5). Its kernel
 * keeps GR, and its copies a copy engine, which go on longer. Shortly before the kernel ends the
 * guest unbinds the channel of the copies. So the unbind waits, with gpu->lock, from the kernel's
 * last moments until the copies end, and is charged for that. The vGPU must pay for its kernel all
 * the same: what the wait has charged is other time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define KERNEL_MS 60
#define COPY_MS	  120

static const struct chip_manners manners = { .eager = true,
					     .busy = true,
					     .late = 2,
					     .idles = true,
					     .copies_stay = true };
static u64 early_ms; /* the unbind comes this long before the kernel's end */
static u64 paid, used, copies_end;
static u16 gr_chan;

static bool driven_off(void)
{
	return slicer()->owner == world.vgpu[WORKER].v->m && slice_of(ACCOMPLICE)->on_chip;
}

static void meter(void *arg)
{
	for (; !done; harness_sleep(20 * US))
		used += chip_engine_works(gr_chan) || harness_now < copies_end ? 20 * US : 0;
}

static void leaver(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ACCOMPLICE];
	u64 end = harness_now + 1000 * MS, from, kernel;

	while ((slicer()->shared || slicer()->owner != g->v->m ||
		!chip_hold(gr_chan, KERNEL_MS * MS)) &&
	       harness_now < end)
		harness_sleep(5 * US);
	kernel = harness_now + KERNEL_MS * MS;
	copies_end = harness_now + COPY_MS * MS;
	from = vmach_gpu_time_get(g->v->m);
	used = 0;
	chip_copies(chan_at(ACCOMPLICE, 2), copies_end);
	while (!driven_off() && harness_now < end)
		harness_sleep(5 * US);
	assert_true(driven_off());
	harness_sleep(kernel - early_ms * MS - harness_now);
	g_unbind(g, 2);
	while (driven_off() && harness_now < end)
		harness_sleep(5 * US);
	harness_sleep(2 * MS);
	paid = vmach_gpu_time_get(g->v->m) - from;
	done = true;
}

static void judge(u64 early)
{
	early_ms = early;
	copies_end = 0;
	done = false;
	setup_begin(&coarse, &manners, BOTH);
	second_channel(ACCOMPLICE);
	g_ring(&world.vgpu[ACCOMPLICE], 1, 1);
	chip_at_work(chan_at(WORKER, 1), true);
	gr_chan = chan_at(ACCOMPLICE, 1);
	chip_at_work(gr_chan, true);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("leaver", setup_mm, false, leaver, NULL);
	actors_run();
	printf("# unbind %u ms before the kernel's end: worked for %u ms, paid for %u\n",
	       (u32)early, (u32)(used / MS), (u32)(paid / MS));
	if (paid < used * 9 / 10 || paid > used * 11 / 10 + 2 * MS)
		harness_fail("S5: it worked for %u ms and paid for %u", (u32)(used / MS),
			     (u32)(paid / MS));
	setup_end();
}

static void just_before(void **state)
{
	judge(1);
}

static void long_before(void **state)
{
	judge(40);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(just_before),
						   cmocka_unit_test(long_before) };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
