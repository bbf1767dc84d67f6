// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hung kernel keeps GR, and an accomplice unbinds a channel again and again, each time behind a
 * copy of COPY_MS. The evictions have the preempt register for that long, and the slicer, which is
 * to end the hung channel, has it for PREEMPT_TURN_MS in between. The watchdog's time must not
 * stretch by that (S5). The copy engine is on GR's runlist.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	1000000ull
#define US	1000ull
#define COPY_MS 95
/* twice the watchdog's time */
#define LONGEST_MS 4000

enum { HOG, ACCOMPLICE, VGPUS };

static const struct chip_manners steady = { .busy = true,
					    .eager = true,
					    .late = 1,
					    .copies_stay = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
static struct kvgpu_chan *hung;
static bool done;
static u64 unbound, ended_at;

static bool listed(u16 id)
{
	u32 k;

	for (k = 0; k < chip.list[0].nr; k++)
		if (FIELD_GET(RUNLIST_ID, chip.list[0].entry[k]) == id)
			return true;
	return false;
}

static void unbinds(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ACCOMPLICE];
	u64 list[] = { 1, 2 };
	u16 id;

	for (; !done; unbound++) {
		g_inst(g, 2, 0, 0);
		g_bind(g, 2);
		g_list(g, list, 2);
		g_enable(g, 2, true);
		id = g_hchid(g, 2);
		while (!done && !(listed(id) && chip_may_load(id, 0)))
			harness_sleep(50 * US);
		if (!done)
			chip_copies(id, harness_now + COPY_MS * MS);
		g_unbind(g, 2);
	}
}

static void waits(void *arg)
{
	u64 end = harness_now + 10 * LONGEST_MS * MS;

	while (!READ_ONCE(hung->dead) && harness_now < end)
		harness_sleep(MS);
	ended_at = harness_now;
	done = true;
}

static void unbinds_beside_a_hang(void **state)
{
	u64 began;
	u16 id;

	setup_begin(&coarse, &steady, VGPUS);
	harness_sleep(50 * MS);
	id = g_hchid(&world.vgpu[HOG], 1);
	hung = vmach_chan_find(world.vgpu[HOG].v, (gchid_t){ 1 });
	while (!chip_hang(id, false))
		harness_sleep(50 * US);
	began = harness_now;
	actor_new("unbinds", setup_mm, false, unbinds, NULL);
	actor_new("waits", setup_mm, false, waits, NULL);
	actors_run();
	printf("# the hung channel is ended after %llu ms, beside %llu unbinds\n",
	       (unsigned long long)((ended_at - began) / MS), (unsigned long long)unbound);
	assert_true(unbound > 10);
	if (ended_at - began > LONGEST_MS * MS)
		harness_fail("S5: a hang keeps GR for %llu ms", (ended_at - began) / MS);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(unbinds_beside_a_hang) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
