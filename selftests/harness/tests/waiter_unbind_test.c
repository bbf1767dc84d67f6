// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel waits on its PBDMA for GR, which another channel holds, and its guest unbinds or
 * preempts it. If such a channel can't leave before GR is free (.waiters_stay), its preempt does
 * not end, and no engine names it. Then the engines of the runlist are reset, and the card is not
 * lost for all (S5). That a GK110 keeps such a channel is not known (T18 of docs/supported.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	 NSEC_PER_MSEC
#define LONG_NS	 (4000 * MS) /* longer than an eviction waits for GR */
#define SHORT_NS (1000 * MS) /* shorter */
/* A neighbour's register access that waits for the chip ends within this (docs/invariants.md). */
#define BOUND_NS (5000 * MS)

enum { ATTACKER, OTHER, BOTH };

static const struct chip_manners stays = { .eager = true, .late = 1, .waiters_stay = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 100000 };

static u64 resets;
static u16 holder;

/* @v's channel 1 holds GR for @ns; 0: until GR's reset. Then the attacker's channel 2 waits. */
static void attacker_waits(u32 v, u64 ns)
{
	struct world_vgpu *w = &world.vgpu[ATTACKER];
	u64 list[] = { 1, 2 };
	u32 tries = 10000;
	u16 id;

	setup_begin(&coarse, &stays, BOTH);
	g_inst(w, 2, 0, 0);
	g_bind(w, 2);
	g_list(w, list, 2);
	g_enable(w, 2, true);
	g_ring(w, 2, 1);
	holder = g_hchid(&world.vgpu[v], 1);
	id = g_hchid(w, 2);
	while (!(ns ? chip_hold(holder, ns) : chip_hang(holder, false)) && tries--)
		harness_sleep(MS / 10);
	assert_int_equal(chip.engine[0].chid, holder);
	for (; chip.pbdma[0].chid != id && tries--; harness_sleep(MS / 10))
		if (chip_may_load(id, 0))
			chip_load_some(0, id);
	assert_int_equal(chip.pbdma[0].chid, id);
	assert_true(chip_is_stuck());
	resets = world.gpu->hw.stats.resets;
}

static void judge(const char *what, bool reset)
{
	bool was_reset;

	/* the slicer may be the thread that evicts, and has this lock until it is done */
	kvgpu_hw_lock(&world.gpu->lock);
	kvgpu_hw_unlock(&world.gpu->lock);
	was_reset = world.gpu->hw.stats.resets != resets;
	if (vmach_gpu_lost(world.gpu))
		harness_fail("S5: %s: the card is lost for all", what);
	if (was_reset != reset)
		harness_fail("S5: %s: %s engine was reset", what, was_reset ? "an" : "no");
	/* the runlist goes on */
	g_ring(&world.vgpu[OTHER], 1, 1);
	assert_int_equal(chip.reg[PFIFO_RUNLIST_BLOCK / 4], 0);
	setup_end();
}

/* An unbind has gpu->lock nearly all the time, so that neighbours wait as long. */
static void unbind(void)
{
	u64 began = harness_now;

	g_enable(&world.vgpu[ATTACKER], 2, false);
	g_unbind(&world.vgpu[ATTACKER], 2);
	if (harness_now - began > BOUND_NS)
		harness_fail("S5: an unbind took %llu ms", (harness_now - began) / MS);
}

static void behind_its_own_kernel(void **state)
{
	attacker_waits(ATTACKER, 0);
	unbind();
	judge("an unbind behind an endless kernel of the same guest", true);
}

static void behind_a_neighbours_kernel(void **state)
{
	attacker_waits(OTHER, LONG_NS);
	unbind();
	judge("an unbind behind a neighbour's long kernel", true);
}

/* A kernel that ends in time is not cut short by the neighbour's unbind. */
static void behind_a_short_kernel(void **state)
{
	attacker_waits(OTHER, SHORT_NS);
	unbind();
	judge("an unbind behind a neighbour's short kernel", false);
}

static void by_a_preempt(void **state)
{
	attacker_waits(ATTACKER, 0);
	g_preempt(&world.vgpu[ATTACKER], false, 2);
	judge("a preempt behind an endless kernel of the same guest", true);
}

/* With an argument, runs the test of that name alone. */
int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_its_own_kernel),
		cmocka_unit_test(behind_a_neighbours_kernel),
		cmocka_unit_test(behind_a_short_kernel),
		cmocka_unit_test(by_a_preempt),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
