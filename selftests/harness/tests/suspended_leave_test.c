// SPDX-License-Identifier: GPL-2.0-only
/*
 * A suspended vGPU's kernel does not end, and the slicer drives it off the shared chip, which takes
 * the watchdog's time. Meanwhile a second vGPU is suspended, or the first one gets a list onto the
 * chip and is suspended again. The next channel is loaded when the kernel is ended, and its guest
 * has disabled it, so that only the slicer can drive it off. A suspended vGPU must not keep GR from
 * a neighbour (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define US	    1000ull
#define MS	    1000000ull
#define WATCHDOG_MS 2000
#define RUN_MS	    10000
/* enabled channels in no list: a suspended vGPU's channels are ended one after the other */
#define DECOY  2
#define DECOYS 2
#define HOLDS  (DECOY + DECOYS) /* the channel that gets GR next */

enum { FIRST, SECOND, VICTIM };

static const struct chip_manners steady = { .eager = true, .late = 1, .idles = true };
static const struct policy fine = { .seed = 1, .oversleep_ns = 3000 };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 100000 };
static u64 suspended_at;

static void suspend(struct world_vgpu *g)
{
	u32 i;

	kvgpu_hw_lock(&world.gpu->lock);
	for (i = 0; i < KVGPU_STRIKES_MAX; i++)
		vmach_strike_add(g->v->m, "of this test");
	kvgpu_hw_unlock(&world.gpu->lock);
}

static void bind_next(struct world_vgpu *g)
{
	u32 i;

	for (i = DECOY; i <= HOLDS; i++) {
		g_inst(g, i, 0, 0);
		g_bind(g, i);
	}
}

static void list_next(struct world_vgpu *g)
{
	u64 list[] = { HOLDS };
	u32 i;

	g_list(g, list, 1);
	for (i = DECOY; i <= HOLDS; i++)
		g_enable(g, i, true);
}

/* The channel has GR for good as soon as GR is free, and is disabled then. */
static void hold_gr(struct world_vgpu *g)
{
	u64 end = harness_now + 3000 * MS;

	while (harness_now < end && (chip_is_stuck() || !chip_hang(g_hchid(g, HOLDS), false)))
		harness_sleep(US);
	g_enable(g, HOLDS, false);
}

static void sleep_until_the_kernel_is_ended(void)
{
	while (harness_now < suspended_at + (WATCHDOG_MS - 20) * MS)
		harness_sleep(MS);
}

static void second_is_suspended(void *arg)
{
	sleep_until_the_kernel_is_ended();
	suspend(&world.vgpu[SECOND]);
	hold_gr(&world.vgpu[SECOND]);
}

/* As when the guest loads its driver again: that clears strikes. */
static void first_comes_back(void *arg)
{
	struct world_vgpu *g = &world.vgpu[FIRST];

	sleep_until_the_kernel_is_ended();
	vmach_strikes_clear(g->v);
	list_next(g);
	suspend(g);
	hold_gr(g);
}

static void check_victim(u16 holder)
{
	u64 all = 0, had = 0, held = 0, end = harness_now + RUN_MS * MS;

	for (; harness_now < end; all++) {
		harness_sleep(MS);
		had += chip_engine_works(g_hchid(&world.vgpu[VICTIM], 1));
		held += chip.engine[0].chid == holder && chip_is_stuck();
	}
	if (had < all * 2 / 3)
		harness_fail("S5: a suspended vGPU keeps GR from a neighbour for %.1f s of %u",
			     (double)held / all * RUN_MS / 1000, RUN_MS / 1000);
}

static void while_one_leaves(u32 holder, void (*attack)(void *arg))
{
	struct world_vgpu *g = &world.vgpu[holder];

	setup_begin(&fine, &steady, 3);
	g_ring(&world.vgpu[SECOND], 1, 0);
	g_ring(&world.vgpu[VICTIM], 1, 0);
	bind_next(g);
	if (holder == SECOND) {
		g_unbind(g, 1);
		list_next(g);
	}
	harness_sleep(1500 * MS);
	assert_true(world.gpu->chip->slicer.shared);
	assert_true(chip_hang(g_hchid(&world.vgpu[FIRST], 1), false));
	g_enable(&world.vgpu[FIRST], 1, false);
	suspend(&world.vgpu[FIRST]);
	suspended_at = harness_now;
	actor_new("attacker", setup_mm, false, attack, NULL);
	actors_run();
	harness_policy(&coarse);
	g_ring(&world.vgpu[VICTIM], 1, 1);
	check_victim(g_hchid(g, HOLDS));
	setup_end();
}

static void another_is_suspended(void **state)
{
	while_one_leaves(SECOND, second_is_suspended);
}

static void it_comes_back_and_is_suspended_again(void **state)
{
	while_one_leaves(FIRST, first_comes_back);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_is_suspended),
		cmocka_unit_test(it_comes_back_and_is_suspended_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
