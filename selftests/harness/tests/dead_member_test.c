// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest leaves a channel that faulted bound, binds another one, and lists that in the same group.
 * The rules hold for the new channel, too: it is ended by a storm of a copy engine's interrupts,
 * for which the chip names only the group, and by a kernel that does not leave the chip (S5, S6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS	1000000ull
#define GROUP	5
#define SECONDS 3
#define EVERY	50000ull /* ns between two interrupts */
#define ENGINE	3 /* a copy engine */

static const struct chip_manners calm = { .eager = true, .late = 1, .idles = true };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;

static struct kvgpu_chan *chan(u32 id)
{
	return vmach_chan_find(g->v, (gchid_t){ id });
}

static void list_in_group(u32 id)
{
	u64 list[] = { RUNLIST_TSG | GROUP | FIELD_PREP(RUNLIST_TSG_COUNT, 1), id };

	g_list(g, list, 2);
}

/* Channel 2 runs in the group: alone, or with @beside_dead beside channel 1, which is dead. */
static void begin(u32 vgpus, bool beside_dead)
{
	setup_begin(&quiet, &calm, vgpus);
	g = &world.vgpu[0];
	list_in_group(1);
	if (beside_dead) {
		while (!chip_fault(chan(1)->hchid.v, 0x1000))
			harness_sleep(MS);
		while (!chan(1)->dead)
			harness_sleep(MS);
	} else {
		g_enable(g, 1, false);
		g_unbind(g, 1);
	}
	g_inst(g, 2, 0, 0);
	g_bind(g, 2);
	list_in_group(2);
	g_enable(g, 2, true);
	g_ring(g, 2, 1);
	while (!chip_loaded(chan(2)->hchid.v))
		harness_sleep(MS);
	if (beside_dead)
		assert_int_equal(chan(2)->htsg, chan(1)->htsg);
}

static void storm(bool beside_dead)
{
	u64 end;
	u32 n = 0;

	begin(1, beside_dead);
	for (end = harness_now + SECONDS * 1000 * MS; harness_now < end && !chan(2)->dead;
	     harness_sleep(EVERY)) {
		if (!chip_loaded(chan(2)->hchid.v))
			continue;
		world.gpu->hw.events->ce(world.gpu, ENGINE, 1, 0, chan(2)->htsg, true);
		n++;
	}
	if (n > 2 * EVENTS_PER_SECOND || !chan(2)->dead)
		harness_fail("S6: %u interrupts of a copy engine in %u s, and its channel goes on",
			     n, SECONDS);
	assert_int_equal(g->v->m->slice.strikes.total, 1);
	setup_end();
}

static void a_storm_alone(void **state)
{
	storm(false);
}

static void a_storm_beside_a_dead_one(void **state)
{
	storm(true);
}

/* The neighbour waits for the chip. Within 3 s the watchdog must have ended the hung channel. */
static void a_hang_beside_a_dead_one(void **state)
{
	u64 end;

	begin(2, true);
	while (!chip_hang(chan(2)->hchid.v, false))
		harness_sleep(MS);
	for (end = harness_now + 3 * 1000 * MS; harness_now < end && !chan(2)->dead;)
		harness_sleep(MS);
	if (!chan(2)->dead)
		harness_fail(
			"S5: a kernel that does not end goes on for 3 s beside a neighbour that waits");
	assert_false(world.gpu->chip->lost);
	setup_end();
}

/* The guest preempts its own group. When the wait for that is over, the hung channel is ended. */
static void a_preempt_beside_a_dead_one(void **state)
{
	begin(1, true);
	while (!chip_hang(chan(2)->hchid.v, false))
		harness_sleep(MS);
	g_preempt(g, true, GROUP);
	if (!chan(2)->dead || chip_is_stuck())
		harness_fail(
			"S5: a guest preempts its group, whose kernel does not end, and that goes on");
	setup_end();
}

/* A hung channel is ended with its group, whose other channel the chip would load at once. */
static void a_hang_ends_its_group(void **state)
{
	u64 list[] = { RUNLIST_TSG | GROUP | FIELD_PREP(RUNLIST_TSG_COUNT, 2), 1, 2 }, end;
	u32 i;

	setup_begin(&quiet, &calm, 2);
	g = &world.vgpu[0];
	g_inst(g, 2, 0, 0);
	g_bind(g, 2);
	g_list(g, list, 3);
	g_enable(g, 2, true);
	g_ring(g, 2, 1);
	while (!chip_hang(chan(1)->hchid.v, false))
		harness_sleep(MS);
	for (end = harness_now + 3 * 1000 * MS; harness_now < end && !chan(1)->dead;)
		harness_sleep(MS);
	assert_true(chan(1)->dead);
	for (i = 0; i < 500; i++) {
		if (!chan(2)->dead || chip_loaded(chan(2)->hchid.v))
			harness_fail(
				"S5: a channel is ended for a hang, and another one of its group goes on");
		harness_sleep(MS);
	}
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_alone),
		cmocka_unit_test(a_storm_beside_a_dead_one),
		cmocka_unit_test(a_hang_beside_a_dead_one),
		cmocka_unit_test(a_hang_ends_its_group),
		cmocka_unit_test(a_preempt_beside_a_dead_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
