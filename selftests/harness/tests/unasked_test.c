// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU that works without a list, beside a vGPU whose GP_GET moves (S5). The worker submits its
 * list, and an empty list as soon as its kernel has begun. A loaded channel runs on until it is
 * preempted (docs/hardware.md, Turns), and these kernels can't be preempted. The neighbour has work
 * for GR on one channel, and copies on another channel, whose GP_GET moves. The worker must not get
 * more than half of GR, and each must pay for what it has.
 *
 * The stand-in has no copy engine for guests: GP_GET is stored here as a PBDMA stores it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/ram.h"
#include "selftests/harness/tests/partners.h"

#define KERNELS_MS    20000
#define KERNEL_NS     (500 * MS)
#define CHIP_SLICE_NS (1024 * US) /* RAMFC_TIMESLICE_INIT */

static u64 loads, neighbour_had;
static u32 copies_on; /* channel of the words that move */
static bool moves;

static void userd_store(u32 i, u32 word, u32 val)
{
	u64 at = world.vgpu[i].v->part.v + G_USERD(copies_on) + word;

	*(u32 *)chip_vram(at) = val;
	chip_wrote(at, 4);
}

static void copies(void *arg)
{
	u32 get = 1;

	userd_store(ACCOMPLICE, USERD_GP_PUT, ~0u);
	for (; !done; harness_sleep(40 * US)) {
		userd_store(ACCOMPLICE, USERD_GP_GET, get);
		get += moves;
	}
}

static void long_kernels(void *arg)
{
	struct world_vgpu *g = &world.vgpu[WORKER];
	u64 end = harness_now + KERNELS_MS * MS, t, list[1] = { 1 };
	u16 id = chan_at(WORKER, 1);

	while (harness_now < end) {
		g_list(g, list, 1);
		harness_sleep(300 * US);
		for (t = harness_now + 20 * MS; !chip_hold(id, KERNEL_NS) && harness_now < t;)
			harness_sleep(50 * US);
		g_list(g, list, 0);
		if (harness_now >= t)
			continue;
		loads++;
		while (chip.engine[0].chid == id && chip.engine[0].stuck) {
			harness_sleep(50 * US);
			chip_engine_works(id);
		}
		/* the neighbour's channel has waited for GR */
		if (listed(ACCOMPLICE))
			chip_load_some(0, chan_at(ACCOMPLICE, 1));
		harness_sleep(CHIP_SLICE_NS);
	}
	done = true;
}

static void who_has_gr(void *arg)
{
	for (; !done; harness_sleep(MS / 10), all++) {
		had += chip_engine_works(chan_at(WORKER, 1));
		neighbour_had += chip_engine_works(chan_at(ACCOMPLICE, 1));
	}
}

static void judge_beside_a_copier(bool m)
{
	u32 has, charged, other, paid;
	u64 began, took[BOTH], list[1] = { 1 };
	u32 i;

	moves = m;
	setup_begin(&coarse, &plain, BOTH);
	g_ring(&world.vgpu[WORKER], 1, 0);
	g_list(&world.vgpu[WORKER], list, 0);
	second_channel(ACCOMPLICE);
	copies_on = 2;
	g_ring(&world.vgpu[ACCOMPLICE], 1, 1);
	harness_sleep(1500 * MS);
	had = all = loads = neighbour_had = 0;
	done = false;
	began = harness_now;
	for (i = 0; i < BOTH; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	actor_new("copies", setup_mm, false, copies, NULL);
	actor_new("meter", setup_mm, false, who_has_gr, NULL);
	actor_new("worker", setup_mm, false, long_kernels, NULL);
	actors_run();
	has = 1000 * had / all;
	other = 1000 * neighbour_had / all;
	charged = thousandths(WORKER, took[WORKER], began);
	paid = thousandths(ACCOMPLICE, took[ACCOMPLICE], began);
	printf("# kernels of 0.5 s beside one whose copies %s: has %u.%u %% of GR, is charged %u.%u %%; its neighbour has %u.%u %%, is charged %u.%u %%; %llu kernels, %llu strikes\n",
	       m ? "go on" : "stand still", has / 10, has % 10, charged / 10, charged % 10,
	       other / 10, other % 10, paid / 10, paid % 10, (unsigned long long)loads,
	       (unsigned long long)slice_of(WORKER)->strikes.total);
	must_keep_to(50, has, charged);
	if (paid > other + 20 || other > paid + 20)
		harness_fail("S5: the neighbour has %u.%u %% and is charged %u.%u %%", other / 10,
			     other % 10, paid / 10, paid % 10);
	assert_true(loads > 10);
	setup_end();
}

/* the engine is asked: the worker pays for its kernels */
static void copies_stand_still(void **state)
{
	judge_beside_a_copier(false);
}

static void copies_go_on(void **state)
{
	judge_beside_a_copier(true);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(copies_stand_still),
						   cmocka_unit_test(copies_go_on) };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
