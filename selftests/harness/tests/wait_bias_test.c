// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for the chip under gpu->lock, and samples (S5). Samples come at random times, also during
 * such waits. A wait is charged by its own observations, and is taken out of the time between two
 * polls (vmach_wait_charge() moves slicer->polled on). If the samples of that time counted, a vGPU
 * that works between waits alone would be seen by its part of all samples, and each would charge
 * only the part of the time that is no wait. A vGPU that works in waits alone would pay twice. The
 * accomplice unbinds its channel again and again behind short kernels of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define TEN_S 10000

static u64 kernel_ns, piece_ns, cycles, hers;

static u16 her_id(void)
{
	struct kvgpu_chan *c = vmach_chan_find(world.vgpu[ACCOMPLICE].v, (gchid_t){ 1 });

	return c ? c->hchid.v : 0;
}

static void meter(void *arg)
{
	for (; !done; harness_sleep(MS / 50), all++) {
		had += chip_engine_works(chan_at(WORKER, 1));
		hers += her_id() && chip_engine_works(her_id());
	}
}

/* The worker has a piece of work on GR, of which its words tell. */
static void piece(void)
{
	u16 id = chan_at(WORKER, 1);
	u64 end = harness_now + piece_ns;

	g_ring(&world.vgpu[WORKER], 1, 1);
	chip_at_work(id, true);
	while (harness_now < end) {
		if (listed(WORKER))
			chip_load_on_gr(id);
		harness_sleep(10 * US);
	}
	chip_at_work(id, false);
	g_ring(&world.vgpu[WORKER], 1, 0);
}

static void partners(void *arg)
{
	struct world_vgpu *b = &world.vgpu[ACCOMPLICE];
	u64 end = harness_now + TEN_S * MS;

	while (harness_now < end) {
		cycles++;
		if (kernel_ns) {
			if (chip_hold(her_id(), kernel_ns))
				g_unbind(b, 1);
			else
				harness_sleep(20 * US);
			g_inst(b, 1, 0, 0);
			g_bind(b, 1);
			g_enable(b, 1, true);
		} else {
			harness_sleep(100 * US);
		}
		piece();
	}
	done = true;
}

static void judge(const char *cap, u32 kernel_us, u32 piece_us)
{
	u32 share = strtoul(cap, NULL, 10), has, paid[BOTH], i;
	u64 began, took[BOTH];

	kernel_ns = kernel_us * US;
	piece_ns = piece_us * US;
	had = all = cycles = hers = 0;
	done = false;
	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	for (i = 0; i < BOTH; i++)
		g_ring(&world.vgpu[i], 1, 0);
	harness_sleep(500 * MS);
	began = harness_now;
	for (i = 0; i < BOTH; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	hers = 1000 * hers / all;
	for (i = 0; i < BOTH; i++)
		paid[i] = thousandths(i, took[i], began);
	printf("# unbinds behind %u us, pieces of %u us, cap %u %%: has %u.%u %%, is charged %u.%u %%; accomplice has %u.%u %%, is charged %u.%u %%; %llu cycles\n",
	       kernel_us, piece_us, share, has / 10, has % 10, paid[WORKER] / 10, paid[WORKER] % 10,
	       (u32)hers / 10, (u32)hers % 10, paid[ACCOMPLICE] / 10, paid[ACCOMPLICE] % 10,
	       (unsigned long long)cycles);
	assert_int_equal(slice_of(ACCOMPLICE)->strikes.total, 0);
	must_keep_to(share, has, paid[WORKER]);
	if (paid[ACCOMPLICE] > hers + hers / 10 + 10)
		harness_fail("S5: the accomplice has %u per mille and pays for %u", (u32)hers,
			     paid[ACCOMPLICE]);
	setup_end();
}

static void without_unbinds(void **state)
{
	judge("10", 0, 200);
}

static void between_unbinds(void **state)
{
	judge("10", 500, 200);
	judge("30", 1000, 1000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(without_unbinds),
						   cmocka_unit_test(between_unbinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
