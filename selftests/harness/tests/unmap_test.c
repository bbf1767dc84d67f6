// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM takes memory back while its guests want it pinned. The container's loop gives the kernel up after ten rounds; its thread may be
 * kept from running for as long as the policy likes, at any of its points.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define RAM	0x100000ull
#define GUESTS	2
#define UNMAPS	2
#define SEEDS	6

static const struct chip_manners eager = { .eager = true, .load_ppm = 5000, .look_ppm = 2000, .late = 2 };
static struct mm_struct *mm;
static struct container *c;
static bool stop;

/* channel 1, with a page of its own and one that is everybody's */
static void runs(u32 i)
{
	struct world_vgpu *g = &world.vgpu[i];
	u64 list[] = { 1 };

	g_space(g, 0);
	g_map_sys(g, 0, 16, RAM + i * 0x1000);
	g_map_sys(g, 0, 17, RAM + 0x80000);
	g_inst(g, 1, 0, 0);
	g_bind(g, 1);
	g_list(g, list, 1);
	g_enable(g, 1, true);
}

static void begin(u32 guests)
{
	static const struct policy quiet = { .seed = 1 };
	u32 i;

	stop = false;
	world_begin(&quiet, &eager);
	mm = mm_new();
	c = container_new(mm);
	container_map(c, RAM, 0, RAM);
	for (i = 0; i < guests; i++) {
		assert_non_null(world_make(i));
		assert_true(world_open(i, c));
		runs(i);
	}
}

static void end(u32 guests)
{
	u32 i;

	world_check("at the end");
	for (i = 0; i < guests; i++) {
		world_close(i);
		world_unmake(i);
	}
	container_free(c);
	mm_free(mm);
	world_end();
}

/* ------------------------------------------------------------------ actors */

/* until the unmapping ones are done */
static void invalidates(void *arg)
{
	struct world_vgpu *g = arg;

	while (!stop) {
		g_tlb(g, 0);
		harness_sleep(200000 + harness_below(1000000));
	}
}

static void unmaps(void *arg)
{
	u32 i;

	for (i = 0; i < UNMAPS; i++) {
		assert_int_equal(container_unmap(c, RAM, RAM), RAM);
		world_check("memory was taken back");
		container_map(c, RAM, 0, RAM);
		harness_sleep(1000000);
	}
	stop = true;
}

static void unmaps_another(void *arg)
{
	u32 i;

	for (i = 0; i < UNMAPS && !stop; i++) {
		container_map(c, 4 * RAM, RAM, RAM);
		container_unmap(c, 4 * RAM, RAM);
		harness_sleep(500000);
	}
}

/* the first vGPU of the container, until the unmapping one is done. What it knows of loops has to outlive that */
static void reopens(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];

	while (!stop) {
		world_close(0);
		assert_true(world_open(0, c));
		runs(0);
		g_tlb(g, 0);
		harness_sleep(100000 + harness_below(1000000));
	}
}

/* ------------------------------------------------------------------ tests */

static const struct policy *policy_of(u32 seed)
{
	static struct policy p;

	p = (struct policy){ .seed = 1000 + seed, .switch_ppm = 10000 + 20000 * (seed % 3), .delay_ppm = seed % 4 ? 300000 : 60000,
			     .delay_ns = 3000000u << seed % 3 };
	return &p;
}

static void two_guests_of_one_vmm(void **state)
{
	u32 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		begin(GUESTS);
		harness_policy(policy_of(seed));
		actor_new("unmaps", mm, true, unmaps, NULL);
		actor_new("guest 1", mm, false, invalidates, &world.vgpu[0]);
		actor_new("guest 2", mm, false, invalidates, &world.vgpu[1]);
		actors_run();
		end(GUESTS);
	}
	/* two rounds, and one for each vGPU of the container; the first look is none */
	assert_in_range(container_most_rounds(), 1, 2 + GUESTS);
}

static void two_ranges_at_once(void **state)
{
	u32 seed;

	for (seed = 0; seed < SEEDS / 2; seed++) {
		begin(1);
		harness_policy(policy_of(seed));
		actor_new("unmaps", mm, true, unmaps, NULL);
		actor_new("another", mm, true, unmaps_another, NULL);
		actor_new("guest", mm, false, invalidates, &world.vgpu[0]);
		actors_run();
		end(1);
	}
	assert_in_range(container_most_rounds(), 1, 2 + GUESTS);
}

static void one_is_opened_again(void **state)
{
	u32 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		begin(GUESTS);
		harness_policy(policy_of(seed));
		actor_new("unmaps", mm, true, unmaps, NULL);
		actor_new("VMM", mm, false, reopens, NULL);
		actor_new("guest 2", mm, false, invalidates, &world.vgpu[1]);
		actors_run();
		end(GUESTS);
	}
	assert_in_range(container_most_rounds(), 1, 2 + GUESTS);
}

static u64 took;

static void unmaps_once(void *arg)
{
	/* the first page of the range is of a file of the VMM's own server, the pinned ones are ordinary memory */
	container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
	container_slow(setup_c, 1000000000000ull);
	harness_sleep(20000000);		/* lives, and calls nothing */
}

static void is_killed(void *arg)
{
	u64 began;

	harness_sleep(15000000);
	began = harness_now;
	world_close(0);				/* its descriptors are closed */
	took = harness_now - began;
}

/* a work item that looks whether an unmap is over must not wait for the VMM's memory: nobody can kill it (S6) */
static void nobody_waits_for_the_vmms_memory(void **state)
{
	static const struct chip_manners manners = { .eager = true, .load_ppm = 2000, .late = 1 };
	static const struct policy quiet = { .seed = 1 };

	setup_begin(&quiet, &manners, 1);
	actor_new("unmaps", setup_mm, false, unmaps_once, NULL);
	actor_new("killed", setup_mm, false, is_killed, NULL);
	actors_run();
	container_slow(setup_c, 0);
	if (took > 1000000000)
		harness_fail("S6: the close of a VMM that was killed took %llu ms", (unsigned long long)took / 1000000);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_guests_of_one_vmm),
		cmocka_unit_test(two_ranges_at_once),
		cmocka_unit_test(one_is_opened_again),
		cmocka_unit_test(nobody_waits_for_the_vmms_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
