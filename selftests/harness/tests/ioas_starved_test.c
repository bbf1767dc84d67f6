// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread of a VMM that uses iommufd unmaps memory. iommufd asks the vGPU to unpin it, and the
 * thread gets no CPU where it is to take the vGPU's lock: a VMM decides when its threads run.
 * Another thread closes the vGPU. iommufd waits for the first thread for 60 s, and then gives up
 * with a WARN (iommufd_object_dec_wait_shortterm(), iommufd_object_destroy_user()). The device
 * counts as closed then. So the first thread's call could take away what the next VMM's guest has
 * mapped (S5), or go on with the memory of a vGPU that was removed (S6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/kernel/container.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define SECOND 1000000000ull

static const struct policy quiet = { .seed = 1 };
static struct mm_struct *mm, *mm2;
static struct container *c, *c2;
static bool asks, next_tenant, ended;

/* from now on the lazy thread gets no CPU at its next point: the vGPU's lock */
static void starve(void)
{
	static const struct policy starved = { .seed = 1,
					       .delay_ppm = 1000000,
					       .delay_ns = 1000 * SECOND };

	asks = true;
	harness_policy(&starved);
}

static void unmaps(void *arg)
{
	ioas_unmap(c, SETUP_RAM, SETUP_RAM);
	printf("# the unmap has ended\n");
	ended = true;
}

static void runs(struct world_vgpu *g)
{
	u64 list[] = { 1 };

	g_space(g, 0);
	g_map_sys(g, 0, 16, SETUP_RAM);
	g_inst(g, 1, 0, 0);
	g_bind(g, 1);
	g_list(g, list, 1);
	g_enable(g, 1, true);
}

/* Another VMM opens the vGPU, with a container of its own, and its guest maps a page. */
static void next_runs(void)
{
	task_mm_set(mm2);
	/* refused while the last VMM's thread is in its unmap */
	while (!world_open_ioas(0, c2))
		harness_sleep(SECOND);
	runs(&world.vgpu[0]);
	printf("# the next tenant runs, %u page pinned\n", container_pins(c2));
	assert_int_equal(container_pins(c2), 1);
	while (!ended)
		harness_sleep(SECOND);
	printf("# and after the last one's unmap %u pages\n", container_pins(c2));
	if (!container_pins(c2))
		harness_fail("S5: the last VMM's unmap took the next tenant's page off the GPU");
}

static void closes(void *arg)
{
	u64 at;

	while (!asks)
		harness_sleep(1000);
	harness_sleep(1000000);
	at = harness_now;
	world_close(0);
	/* the next thread is not late */
	harness_policy(&quiet);
	printf("# closed after %llu s\n", (harness_now - at) / SECOND);
	if (next_tenant) {
		next_runs();
		world_close(0);
	}
	task_mm_set(NULL);
	world_unmake(0);
	printf("# removed by the admin after %llu s\n", (harness_now - at) / SECOND);
}

static void thread_is_late(void)
{
	static const struct chip_manners eager = { .eager = true };
	struct world_vgpu *g;

	asks = ended = false;
	ioas_asks = starve;
	world_begin(&quiet, &eager);
	mm = mm_new();
	c = container_new(mm);
	container_map(c, SETUP_RAM, 0, SETUP_RAM);
	mm2 = mm_new();
	c2 = container_new(mm2);
	container_map(c2, SETUP_RAM, 0, SETUP_RAM);
	g = world_make(0);
	if (!g || !world_open_ioas(0, c))
		harness_fail("no vGPU");
	runs(g);
	assert_int_equal(container_pins(c), 1);
	actor_new("unmaps", mm, true, unmaps, NULL);
	actor_new("closes", mm, false, closes, NULL);
	actors_run();
	container_free(c);
	mm_free(mm);
	container_free(c2);
	mm_free(mm2);
	world_end();
}

static void next_tenants_memory(void **state)
{
	next_tenant = true;
	thread_is_late();
}

static void freed_memory(void **state)
{
	next_tenant = false;
	thread_is_late();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_tenants_memory),
		cmocka_unit_test(freed_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
