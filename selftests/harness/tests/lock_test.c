// SPDX-License-Identifier: GPL-2.0-only
/*
 * V5: a VMM decides when its threads get a CPU. One of them has SCHED_IDLE, beside others of its VMM that keep the CPU busy: whenever it
 * slept in the kernel it goes on 2 s later. What its neighbours, and the slicer, wait for while it has a lock of the card.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "mdev/machine.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	1000000ull
#define IDLE_MS	2000
#define WAIT_MS	50		/* a lender's patience at each of some locks, and what is done under them */

static const struct chip_manners manners = { .eager = true, .load_ppm = 2000, .late = 1 };	/* done at the second look, whenever that is */
static const struct policy quiet = { .seed = 1 };
/* with chance: also where a thread may be preempted with the lock held */
static const struct policy idle = { .seed = 3, .idle_ns = IDLE_MS * MS };
static const struct policy preempted = { .seed = 5, .idle_ns = IDLE_MS * MS, .delay_ppm = 100000, .delay_ns = IDLE_MS * MS };

static bool done;
static u64 worst, worst_slicer, acted;

enum what { LIST, FLUSH, TABLES, ALL };

static void acts(struct world_vgpu *g, enum what what)
{
	static const u64 list[] = { 1 };

	if (what == LIST || what == ALL)
		g_list(g, list, 1);
	if (what == FLUSH || what == ALL)
		g_write(g, FLUSH_L2_DIRTY, FLUSH_TRIGGER);
	if (what == TABLES || what == ALL) {
		g_map_vram(g, 0, 20, G_DATA);	/* a table was written: the host's copy engine reads it */
		g_tlb(g, 0);
	}
}

static void starves(void *arg)
{
	u32 i;

	for (i = 0; i < 3; i++)
		acts(&world.vgpu[0], (uintptr_t)arg);
	done = true;
}

static void neighbour(void *arg)
{
	u64 began;

	while (!done) {
		began = harness_now;
		acts(&world.vgpu[1], (uintptr_t)arg);
		worst = max(worst, harness_now - began);
		acted++;
		harness_sleep(MS);
	}
}

static void watches_the_slicer(void *arg)
{
	struct machine_slicer *s = &world.gpu->chip->slicer;
	u64 looked = READ_ONCE(s->looked), since = harness_now;

	while (!done) {
		if (READ_ONCE(s->looked) != looked) {
			looked = READ_ONCE(s->looked);
			since = harness_now;
		}
		worst_slicer = max(worst_slicer, harness_now - since);
		harness_sleep(MS);
	}
}

static void stretch(enum what what, const struct policy *p)
{
	done = false;
	worst = worst_slicer = acted = 0;
	setup_begin(&quiet, &manners, 2);
	g_ring(&world.vgpu[0], 1, 100);
	g_ring(&world.vgpu[1], 1, 100);
	harness_policy(p);
	actor_new("starves", setup_mm, true, starves, (void *)(uintptr_t)what);
	actor_new("neighbour", setup_mm, false, neighbour, (void *)(uintptr_t)what);
	actor_new("watcher", setup_mm, false, watches_the_slicer, NULL);
	actors_run();
	harness_policy(&quiet);
	printf("# %llu commands of the neighbour, the longest took %llu us; the slicer did not look for %llu us; wedged %d\n",
	       (unsigned long long)acted, (unsigned long long)worst / 1000, (unsigned long long)worst_slicer / 1000,
	       world.gpu->chip->wedged);
	if (world.gpu->chip->wedged)
		harness_fail("S5: a thread that was not run for a while takes the card for dead");
	if (worst > WAIT_MS * MS || worst_slicer > WAIT_MS * MS)
		harness_fail("S5: a thread that is not run has a lock of the card: a neighbour waits for %llu ms, the slicer for %llu",
			     (unsigned long long)(worst / MS), (unsigned long long)(worst_slicer / MS));
	setup_end();
}

static void the_cards_lock(void **state)
{
	stretch(LIST, &idle);
	stretch(LIST, &preempted);
}

static void the_flushes_lock(void **state)
{
	stretch(FLUSH, &idle);
	stretch(FLUSH, &preempted);
}

static void the_copy_engines_lock(void **state)
{
	stretch(TABLES, &idle);
	stretch(TABLES, &preempted);
}

static void all_of_them(void **state)
{
	stretch(ALL, &idle);
	stretch(ALL, &preempted);
}

static void starves_once(void *arg)
{
	acts(&world.vgpu[0], ALL);
}

/* nobody waits, so nothing is lent: it goes on long after all it waits for has happened, and looks before it says that it took too long */
static void nobody_lends(void **state)
{
	static const struct policy for_a_minute = { .seed = 3, .idle_ns = 60000 * MS };

	setup_begin(&quiet, &manners, 1);
	harness_policy(&for_a_minute);
	actor_new("starves", setup_mm, true, starves_once, NULL);
	actors_run();
	harness_policy(&quiet);
	if (world.gpu->chip->wedged)
		harness_fail("S5: a thread that was not run for a while takes the card for dead");
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cards_lock),
		cmocka_unit_test(the_flushes_lock),
		cmocka_unit_test(the_copy_engines_lock),
		cmocka_unit_test(all_of_them),
		cmocka_unit_test(nobody_lends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
