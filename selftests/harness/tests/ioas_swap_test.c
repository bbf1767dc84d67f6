// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM that uses iommufd has two vGPUs, and its memory in many pieces (areas), one behind the
 * other. One thread unmaps all of them by one call. While it waits for the lock of the vGPU that it
 * asks to unpin an area, other threads detach this vGPU and attach the other one, whose guest
 * invalidates its TLB, and so pins the areas that are left. So each vGPU is asked for every second
 * area only. iommufd counts all the times that it has asked, and warns beyond 100 (S6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/kernel/container.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define AREAS 128

static struct mm_struct *mm;
static struct container *c;
static u32 nr, attached, asks;
static bool asked, ended;

/* The unmapping thread is where it takes the vGPU's lock, and waits for it. */
static void waits_for_lock(void)
{
	asks++;
	asked = true;
	while (asked)
		harness_sleep(1000);
}

static void unmaps(void *arg)
{
	int ret = ioas_unmap(c, SETUP_RAM, AREAS * PAGE_SIZE);

	ended = true;
	assert_int_equal(ret, 0);
}

static void swaps(void *arg)
{
	while (!ended) {
		harness_sleep(1000);
		if (!asked)
			continue;
		if (nr > 1) {
			ioas_detach(world.vgpu[attached].dev);
			attached = (attached + 1) % nr;
			assert_int_equal(ioas_attach(world.vgpu[attached].dev), 0);
			g_tlb(&world.vgpu[attached], 0);
		}
		asked = false;
	}
}

static void unmap_beside_swaps(u32 vgpus)
{
	static const struct chip_manners eager = { .eager = true };
	static const struct policy quiet = { .seed = 1 };
	u64 list[] = { 1 };
	u32 i, k;

	nr = vgpus;
	attached = asks = 0;
	asked = ended = false;
	ioas_asks = waits_for_lock;
	world_begin(&quiet, &eager);
	mm = mm_new();
	c = container_new(mm);
	for (i = 0; i < AREAS; i++)
		assert_int_equal(
			container_map(c, SETUP_RAM + i * PAGE_SIZE, i * PAGE_SIZE, PAGE_SIZE), 0);
	for (k = 0; k < nr; k++) {
		struct world_vgpu *g = world_make(k);

		if (!g || !world_open_ioas(k, c))
			harness_fail("no vGPU");
		g_space(g, 0);
		for (i = 0; i < AREAS; i++)
			g_map_sys(g, 0, 16 + i, SETUP_RAM + i * PAGE_SIZE);
		g_inst(g, 1, 0, 0);
		g_bind(g, 1);
		g_list(g, list, 1);
		g_enable(g, 1, true);
		if (k)
			ioas_detach(g->dev);
	}
	assert_int_equal(container_pins(c), AREAS);
	actor_new("unmaps", mm, true, unmaps, NULL);
	actor_new("swaps", mm, false, swaps, NULL);
	actors_run();
	printf("# %u vGPUs in turns: asked %u times\n", nr, asks);
	assert_int_equal(container_pins(c), 0);
	for (k = 0; k < nr; k++) {
		world_close(k);
		world_unmake(k);
	}
	container_free(c);
	mm_free(mm);
	world_end();
	ioas_asks = NULL;
}

static void one_vgpu(void **state)
{
	unmap_beside_swaps(1);
}

static void two_in_turns(void **state)
{
	unmap_beside_swaps(2);
}

static void three_in_turns(void **state)
{
	unmap_beside_swaps(3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_vgpu),
		cmocka_unit_test(two_in_turns),
		cmocka_unit_test(three_in_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
