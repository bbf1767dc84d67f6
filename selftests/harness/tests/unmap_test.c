// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM unmaps memory while its guests want it pinned. When a mapping has pins after the container
 * asked for it eleven times, the kernel hits a BUG_ON(). At any of its points the VMM's thread may
 * get no CPU for as long as the policy likes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define RAM    0x100000ull
#define GUESTS 2
#define UNMAPS 2
#define SEEDS  6

static const struct chip_manners eager = { .eager = true,
					   .load_ppm = 5000,
					   .look_ppm = 2000,
					   .late = 2 };
static struct mm_struct *mm;
static struct container *c;
static bool stop;

/* Channel 1 runs with a page that only this vGPU has, and a page that all vGPUs have. */
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

/*
 * At most two rounds, and one more for each vGPU of the container. A mapping's first look is not
 * counted as a round.
 */
static void check_rounds(void)
{
	if (container_most_rounds() > 2 + GUESTS)
		harness_fail("S6: the core asked for the same memory %u times again",
			     container_most_rounds());
	assert_in_range(container_most_rounds(), 1, 2 + GUESTS);
}

/* ------------------------------------------------------------------ actors */

/* Invalidate until unmaps() has ended. */
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

/*
 * Close and open the first vGPU of the container until unmaps() has ended. What the module knows of
 * threads in the container's loop must survive that.
 */
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

	p = (struct policy){ .seed = 1000 + seed,
			     .switch_ppm = 10000 + 20000 * (seed % 3),
			     .delay_ppm = seed % 4 ? 300000 : 60000,
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
	check_rounds();
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
	check_rounds();
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
	check_rounds();
}

static u64 took;

static void unmaps_once(void *arg)
{
	/* as if the first page of the range were of a file of the VMM's own server */
	container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
	container_slow(setup_c, 1000000000000ull);
	harness_sleep(20000000); /* the thread lives, and calls nothing */
}

static void is_killed(void *arg)
{
	u64 began;

	harness_sleep(15000000);
	began = harness_now;
	world_close(0);
	took = harness_now - began;
}

/*
 * A thread unmaps once, and then calls nothing. The close of its killed VMM must not wait for the
 * VMM's memory, which may never come (S5).
 */
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
		harness_fail("S5: the close of a VMM that was killed took %llu ms",
			     (unsigned long long)took / 1000000);
	setup_end();
}

/* --------------------------------------------- what is no proof that a thread has left the loop */

#define MS	1000000ull
#define CYCLES	16
#define HELPERS 66

static const struct policy quiet_then = { .seed = 1 };
/* At each of its points the thread that unmaps gets no CPU for up to 40 ms. */
static const struct policy slow_unmapper = { .seed = 7, .delay_ppm = 1000000, .delay_ns = 40 * MS };

static void unmaps_until(void *arg)
{
	container_unmap(setup_c, SETUP_RAM, *(const u64 *)arg);
	stop = true;
}

static bool wait_for_answer(void)
{
	while (container_pins(setup_c) && !stop)
		harness_sleep(MS / 10);
	return !stop;
}

static void run_against_unmap(u64 size, void (*fn)(void *arg))
{
	static const struct chip_manners manners = { .eager = true, .load_ppm = 2000, .late = 2 };

	stop = false;
	setup_begin(&quiet_then, &manners, 1);
	harness_policy(&slow_unmapper);
	actor_new("unmaps", setup_mm, true, unmaps_until, &size);
	actor_new("VMM", setup_mm, false, fn, NULL);
	actors_run();
	harness_policy(&quiet_then);
	check_rounds();
	setup_end();
}

/*
 * As soon as the slow thread's pins are gone, another thread unmaps the range itself, has the
 * guest see that nothing is mapped there, and maps it again. Then the core's record of the new
 * mapping may have the address of the old record.
 */
static void remaps(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 i;

	for (i = 0; i < CYCLES && wait_for_answer(); i++) {
		container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
		g_tlb(g, 0);
		container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
		g_tlb(g, 0);
	}
}

static void nothing_was_mapped_for_a_while(void **state)
{
	run_against_unmap(SETUP_RAM, remaps);
}

/* As remaps(), but to another range each time. The slow thread unmaps all of these ranges. */
static void remaps_elsewhere(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 at = SETUP_RAM;
	u32 i;

	for (i = 0; i < CYCLES && wait_for_answer(); i++) {
		container_unmap(setup_c, at, SETUP_RAM);
		at += SETUP_RAM;
		g_map_sys(g, 0, 16, at);
		g_map_sys(g, 0, 17, at + 0x80000);
		container_map(setup_c, at, 0, SETUP_RAM);
		g_tlb(g, 0);
	}
}

static void another_range_each_time(void **state)
{
	run_against_unmap(64 * SETUP_RAM, remaps_elsewhere);
}

/* Many threads. Each unmaps a page that is pinned, and then stays in user mode. */
#define HELPERS_IOVA(i) (0x10000000ull + (i)*0x2000ull)

static struct {
	bool unmap;
} helper[HELPERS];

static void helps(void *arg)
{
	u32 i = (uintptr_t)arg;

	for (; !stop; harness_wait(&helper[i], NEVER))
		if (helper[i].unmap) {
			container_unmap(setup_c, HELPERS_IOVA(i), 0x1000);
			container_map(setup_c, HELPERS_IOVA(i), i * 0x1000, 0x1000);
			helper[i].unmap = false;
		}
}

static void fills_the_book(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 i, n;

	for (i = 0; i < HELPERS; i++) {
		g_map_sys(g, 0, 32 + i, HELPERS_IOVA(i));
		container_map(setup_c, HELPERS_IOVA(i), i * 0x1000, 0x1000);
	}
	for (n = 0; n < CYCLES && !stop; n++) {
		g_tlb(g, 0);
		for (i = 0; i < HELPERS && !stop; i++) {
			helper[i].unmap = true;
			harness_wake(&helper[i]);
			while (helper[i].unmap)
				harness_sleep(MS / 50);
		}
		if (!wait_for_answer())
			break;
		for (i = 0; i < HELPERS; i++)
			container_unmap(setup_c, HELPERS_IOVA(i), 0x1000);
		g_tlb(g, 0);
		for (i = 0; i < HELPERS; i++)
			container_map(setup_c, HELPERS_IOVA(i), i * 0x1000, 0x1000);
	}
	while (!stop)
		harness_sleep(MS);
	for (i = 0; i < HELPERS; i++)
		harness_wake(&helper[i]);
}

static void more_threads_than_lines(void **state)
{
	u32 i;

	memset(helper, 0, sizeof(helper));
	stop = false;
	setup_begin(&quiet_then, &eager, 1);
	harness_policy(&slow_unmapper);
	for (i = 0; i < HELPERS; i++)
		actor_new("helper", setup_mm, false, helps, (void *)(uintptr_t)i);
	actor_new("VMM", setup_mm, false, fills_the_book, NULL);
	actor_new("unmaps", setup_mm, true, unmaps_until, &(u64){ SETUP_RAM });
	actors_run();
	harness_policy(&quiet_then);
	check_rounds();
	setup_end();
}

static void invalidates_once(void *arg)
{
	g_tlb(&world.vgpu[0], 0);
}

static void unmaps_two_pieces(void *arg)
{
	container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
}

/*
 * A VMM unmaps two pieces in one call, by a slow thread. Meanwhile a guest maps other memory, which
 * is not unmapped. The module must pin that memory.
 */
static void maps_meanwhile(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];

	while (!READ_ONCE(g->v->m->unmaps_forbid))
		harness_sleep(MS / 10);
	g_map_sys(g, 0, 16, 8 * SETUP_RAM);
	g_map_sys(g, 0, 17, 8 * SETUP_RAM);
	g_tlb(g, 0);
	if (container_pins(setup_c) != 1)
		harness_fail("%u pages are pinned of one that was mapped", container_pins(setup_c));
}

static void a_guest_is_not_harmed(void **state)
{
	static const struct policy slow = { .seed = 5, .delay_ppm = 1000000, .delay_ns = MS };
	static const struct chip_manners manners = { .late = 1 };
	struct world_vgpu *g = &world.vgpu[0];

	setup_begin(&quiet_then, &manners, 1);
	container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM / 2);
	container_map(setup_c, SETUP_RAM + SETUP_RAM / 2, SETUP_RAM / 2, SETUP_RAM / 2);
	container_map(setup_c, 8 * SETUP_RAM, SETUP_RAM, 0x1000);
	g_tlb(g, 0);
	harness_policy(&slow);
	actor_new("unmaps", setup_mm, true, unmaps_two_pieces, NULL);
	actor_new("vCPU", setup_mm, false, maps_meanwhile, NULL);
	actors_run();
	harness_policy(&quiet_then);
	setup_end();
}

/*
 * There is no memory for the file whose close tells that a thread has left the loop. The thread
 * must count as gone in the end, and not at once.
 */
static void no_memory_to_be_told(void **state)
{
	static const struct policy no_memory = { .seed = 3, .nomem_ppm = 1000000 };
	static const struct chip_manners manners = { .late = 1 };
	struct world_vgpu *g = &world.vgpu[0];
	u64 began;

	setup_begin(&quiet_then, &manners, 1);
	container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM / 2);
	container_map(setup_c, SETUP_RAM + SETUP_RAM / 2, SETUP_RAM / 2, SETUP_RAM / 2);
	g_tlb(g, 0);
	harness_policy(&no_memory);
	/* two pieces with pins: the module is asked twice */
	container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
	harness_policy(&quiet_then);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
	began = harness_now;
	actor_new("vCPU", setup_mm, false, invalidates_once, NULL);
	actors_run();
	assert_int_equal(container_pins(setup_c), 0);
	/* the guest's access waited for the thread; g_tlb() does two */
	assert_in_range(harness_now - began, 18 * MS, 60 * MS);
	/* the thread that unmapped makes this access itself: so it has left the loop */
	g_tlb(g, 0);
	assert_true(container_pins(setup_c) > 0);
	setup_end();
}

/*
 * A tenant closes the vGPU while a thread of the tenant is still in its unmap, as the kernel writes
 * the answer to memory of a server of the tenant's own. The next tenant's open fails until that
 * thread has left.
 */
static bool stalled, let_go;

static void stalls(void)
{
	if (strcmp(task_name(), "stalls"))
		return;
	stalled = true;
	while (!let_go)
		harness_sleep(MS);
}

static void hands_over(void *arg)
{
	struct mm_struct *next_mm = mm_new();
	struct container *next_c;
	bool opened;

	while (!stalled)
		harness_sleep(MS);
	world_close(0);
	task_mm_set(next_mm);
	next_c = container_new(next_mm);
	container_map(next_c, SETUP_RAM, 0, SETUP_RAM);
	opened = world_open(0, next_c);
	if (opened)
		harness_fail(
			"S5: a vGPU is opened that may pin nothing, for another process's sake");
	let_go = true;
	harness_sleep(10 * MS);
	if (!world_open(0, next_c))
		harness_fail("S5: a vGPU is not opened, though nobody unmaps any more");
	setup_run(0, 1, 0);
	g_tlb(&world.vgpu[0], 0);
	if (!container_pins(next_c))
		harness_fail("S5: nothing is pinned");
	world_close(0);
	container_free(next_c);
	mm_free(next_mm);
}

static void the_next_tenant_pins(void **state)
{
	static const struct chip_manners manners = { .late = 1 };

	stalled = let_go = false;
	setup_begin(&quiet_then, &manners, 1);
	container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM / 2);
	container_map(setup_c, SETUP_RAM + SETUP_RAM / 2, SETUP_RAM / 2, SETUP_RAM / 2);
	g_tlb(&world.vgpu[0], 0);
	container_answer = stalls;
	actor_new("stalls", setup_mm, false, unmaps_two_pieces, NULL);
	actor_new("admin", setup_mm, false, hands_over, NULL);
	actors_run();
	container_answer = NULL;
	assert_true(world_open(0, setup_c));
	setup_end();
}

/*
 * For a thread there was no memory for the file whose close tells that the thread has left its
 * unmap. One vGPU knows of the thread. That vGPU is removed while an unmap of the thread asks
 * another vGPU.
 */
static bool closed_one;
static struct container *setup_two[2];

static void unmaps_of_two(void *arg)
{
	static const struct policy no_memory = { .seed = 3, .nomem_ppm = 1000000 };
	struct policy slow = { .seed = 1 + *(u32 *)arg,
			       .delay_ppm = 1000000,
			       .delay_ns = 1000 * MS };

	harness_policy(&no_memory);
	container_unmap(setup_two[0], SETUP_RAM, SETUP_RAM);
	harness_policy(&quiet_then);
	world_close(0);
	closed_one = true;
	harness_policy(&slow);
	container_unmap(setup_two[1], SETUP_RAM, SETUP_RAM);
	harness_policy(&quiet_then);
}

static void removes(void *arg)
{
	while (!closed_one)
		harness_sleep(MS);
	harness_sleep(*(u32 *)arg * 60 * MS);
	world_unmake(0);
}

static void removed_meanwhile(void **state)
{
	static const struct chip_manners manners = { .late = 1 };
	u32 at, i;

	for (at = 1; at < 40; at++) {
		closed_one = false;
		world_begin(&quiet_then, &manners);
		mm = mm_new();
		for (i = 0; i < 2; i++) {
			setup_two[i] = container_new(mm);
			container_map(setup_two[i], RAM, 0, RAM);
			assert_non_null(world_make(i));
			assert_true(world_open(i, setup_two[i]));
			runs(i);
		}
		actor_new("unmaps", mm, true, unmaps_of_two, &at);
		actor_new("admin", mm, false, removes, &at);
		actors_run();
		world_close(1);
		world_unmake(1);
		container_free(setup_two[0]);
		container_free(setup_two[1]);
		mm_free(mm);
		world_end();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_was_mapped_for_a_while),
		cmocka_unit_test(another_range_each_time),
		cmocka_unit_test(more_threads_than_lines),
		cmocka_unit_test(no_memory_to_be_told),
		cmocka_unit_test(a_guest_is_not_harmed),
		cmocka_unit_test(the_next_tenant_pins),
		cmocka_unit_test(removed_meanwhile),
		cmocka_unit_test(two_guests_of_one_vmm),
		cmocka_unit_test(two_ranges_at_once),
		cmocka_unit_test(one_is_opened_again),
		cmocka_unit_test(nobody_waits_for_the_vmms_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
