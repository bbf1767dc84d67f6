// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's list has what guests submit: the channels that are bound, in the guests' order, by the
 * chip's ids, and no more than the chip takes.
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

#define CHANS 6
#define MS    1000000ull

static const struct chip_manners calm = { .eager = true, .late = 1 };
static const struct policy quiet = { .seed = 1 };
static u64 entry[2 * KVGPU_MAX_CHAN];
static struct world_vgpu *g;

/* Channels 1 to CHANS are bound and enabled; only channel 1 is listed. */
static void begin(u32 vgpus)
{
	u32 i;

	setup_begin(&quiet, &calm, vgpus);
	g = &world.vgpu[0];
	for (i = 2; i <= CHANS; i++) {
		g_inst(g, i, 0, 0);
		g_bind(g, i);
		g_enable(g, i, true);
	}
}

/* Return the channel's place in the chip's list; ~0: it is not there. */
static u32 place(u16 hchid)
{
	u32 nr = chip_list(0, entry), i;

	for (i = 0; i < nr; i++)
		if (!(entry[i] & RUNLIST_TSG) && FIELD_GET(RUNLIST_ID, entry[i]) == hchid)
			return i;
	return ~0u;
}

static u64 group(u32 id, u32 n)
{
	return RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, n) | id;
}

static bool told(const char *what)
{
	u32 i;

	for (i = 0; i < min_t(u32, g->v->nr_faults, KVGPU_FAULT_LOG); i++)
		if (!strcmp(g->v->fault_log[i].what, what))
			return true;
	return false;
}

static void in_their_order(void **state)
{
	u64 list[] = { 4, 100, 2, 3 }; /* channel 100 is not bound */

	begin(1);
	g_list(g, list, 4);
	assert_int_equal(chip_list(0, entry), 3);
	assert_true(place(g_hchid(g, 4)) < place(g_hchid(g, 2)) &&
		    place(g_hchid(g, 2)) < place(g_hchid(g, 3)));
	assert_int_equal(place(g_hchid(g, 3)), 2);
	assert_int_equal(place(g_hchid(g, 1)), ~0u);
	g_enable(g, 2, false);
	g_unbind(g, 2);
	assert_int_equal(chip_list(0, entry), 2);
	/* bound again, channel 2 is where the list that was submitted before has it */
	g_bind(g, 2);
	assert_int_equal(place(g_hchid(g, 2)), 1);
	g_list(g, list, 0);
	assert_int_equal(chip_list(0, entry), 0);
	setup_end();
}

/*
 * A group's header counts only the members that are bound. A header without any is left out, and
 * takes no id of the chip.
 */
static void groups(void **state)
{
	u64 list[] = { group(7, 3), 1, 100, 2, group(9, 2), 101, 102, 3 };

	begin(1);
	g_list(g, list, ARRAY_SIZE(list));
	assert_int_equal(chip_list(0, entry), 4);
	assert_int_equal(entry[0] & (RUNLIST_TSG | RUNLIST_TSG_COUNT),
			 RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 2));
	assert_int_equal(g->v->m->nr_tsgs, 1);
	g_enable(g, 1, false);
	g_unbind(g, 1);
	assert_int_equal(chip_list(0, entry), 3);
	assert_int_equal(FIELD_GET(RUNLIST_TSG_COUNT, entry[0]), 1);
	world_reset(0);
	g_list(g, list, 0); /* the ids of the chip's groups are given back with the next list */
	assert_int_equal(g->v->m->nr_tsgs, 0);
	assert_int_equal(find_next_bit(world.gpu->chip->tsgs, 4096, 0), 4096);
	setup_end();
}

/*
 * The chip gets a group's header once, from all runlists of the guest together. Otherwise two
 * PBDMAs might have the group, and a preempt of it might end when one of them has left it.
 */
static void a_group_twice(void **state)
{
	u64 list[] = { group(7, 1), 1, group(7, 2), 2, 3, group(8, 1), 4, group(7, 1), 5, 6 };
	u32 nr, i, headers = 0;

	begin(1);
	g_list(g, list, ARRAY_SIZE(list));
	nr = chip_list(0, entry);
	for (i = 0; i < nr; i++)
		headers += !!(entry[i] & RUNLIST_TSG);
	if (headers != 2)
		harness_fail("S5: the chip's list has %u headers of two groups", headers);
	assert_int_equal(nr, 5);
	assert_int_equal(place(g_hchid(g, 1)), 1);
	assert_int_equal(place(g_hchid(g, 4)), 3);
	assert_int_equal(place(g_hchid(g, 6)), 4);
	/* the next list has it again */
	g_list(g, list + 2, 3);
	assert_int_equal(chip_list(0, entry), 3);
	setup_end();
}

static void blocked(void **state)
{
	u64 list[] = { 1, 2 };

	begin(1);
	g_list(g, list, 2);
	g_write(g, PFIFO_RUNLIST_BLOCK, 1);
	assert_int_equal(chip_list(0, entry), 0);
	g_preempt(g, false, 1);
	g_preempt(g, false, 2);
	assert_false(chip_loaded(g_hchid(g, 1)));
	assert_false(chip_loaded(g_hchid(g, 2)));
	g_write(g, PFIFO_RUNLIST_BLOCK, 0);
	assert_int_equal(chip_list(0, entry), 2);
	setup_end();
}

/* While the chip is shared its list has the lists of all vGPUs, one after the other. */
static void two_vgpus(void **state)
{
	u64 list[] = { 1, 3, 5 };

	begin(2);
	g_ring(&world.vgpu[0], 1, 0);
	g_ring(&world.vgpu[1], 1, 0);
	harness_sleep(200 * MS); /* the chip becomes shared when no vGPU has work */
	g_list(g, list, 3);
	assert_int_equal(chip_list(0, entry), 4);
	assert_true(place(g_hchid(g, 5)) != ~0u && place(g_hchid(&world.vgpu[1], 1)) != ~0u);
	world_close(1);
	assert_int_equal(chip_list(0, entry), 3);
	setup_end();
}

/* rnndb has 12 bits for the number of entries. The chip would cut a longer list anywhere. */
static void no_longer_than_the_chip_takes(void **state)
{
	static u64 list[4096];
	u32 i, all = 0;

	setup_begin(&quiet, &calm, WORLD_VGPUS);
	g = &world.vgpu[0];
	for (i = 0; i < WORLD_VGPUS; i++)
		all += world.vgpu[i].v->m->runl_max;
	if (all > KVGPU_MAX_CHAN - 2)
		harness_fail("S5: vGPUs may list %u entries together, of which the chip sees %u",
			     all, KVGPU_MAX_CHAN - 2);
	/* A list that is too long is cut, and the guest is told. */
	for (i = 0; i < ARRAY_SIZE(list); i++)
		list[i] = 1;
	for (i = 0; i < ARRAY_SIZE(list); i++)
		g_store64(g, 0x40000 + i * RUNLIST_ENTRY_SIZE, list[i]);
	g_write(g, PFIFO_RUNLIST_BASE, 0x40000 >> 12);
	g_write(g, PFIFO_RUNLIST_SUBMIT, ARRAY_SIZE(list) - 1);
	if (!told("runlist too long, cut"))
		harness_fail("S5: a list of %zu entries is taken, the vGPU may have %u",
			     ARRAY_SIZE(list) - 1, g->v->m->runl_max);
	setup_end();
}

/* The host must believe a channel to be in the group in which the chip's list has it. */
static void check_name(u32 chan)
{
	struct kvgpu_chan *c = vmach_chan_find(g->v, (gchid_t){ chan });
	u32 at = place(c->hchid.v);
	int h = at && at != ~0u && entry[at - 1] & RUNLIST_TSG ?
			(int)FIELD_GET(RUNLIST_ID, entry[at - 1]) :
			-1;

	if (at != ~0u && c->htsg != h)
		harness_fail(
			"S1/S2: the chip has channel %u in group %d, the host believes that it is in %d",
			c->hchid.v, h, c->htsg);
}

/*
 * When a group is listed, all of the chip's ids of groups are taken. One comes free before the next
 * list.
 */
static void no_id_for_a_group(void **state)
{
	DECLARE_BITMAP(mine, GK110_FIFO_NR_TSG);
	u64 list[] = { group(7, 1), 2 }, other[] = { group(8, 1), 2 };

	begin(1);
	memcpy(mine, world.gpu->chip->tsgs, sizeof(mine));
	memset(world.gpu->chip->tsgs, 0xff, sizeof(mine));
	g_list(g, list, 2);
	assert_int_equal(chip_list(0, entry), 0);
	__clear_bit(5, world.gpu->chip->tsgs);
	g_write(g, PFIFO_RUNLIST_BLOCK, 1);
	g_write(g, PFIFO_RUNLIST_BLOCK, 0);
	check_name(2);
	g_list(g, list, 2);
	assert_int_equal(chip_list(0, entry), 2);
	check_name(2);
	/* the only id is still that of group 7, which the list no longer has */
	g_list(g, other, 2);
	assert_int_equal(chip_list(0, entry), 2);
	check_name(2);
	g_list(g, NULL, 0);
	memcpy(world.gpu->chip->tsgs, mine, sizeof(mine));
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_their_order),
		cmocka_unit_test(groups),
		cmocka_unit_test(a_group_twice),
		cmocka_unit_test(blocked),
		cmocka_unit_test(two_vgpus),
		cmocka_unit_test(no_longer_than_the_chip_takes),
		cmocka_unit_test(no_id_for_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
