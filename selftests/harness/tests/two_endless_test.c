// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest has two channels with an endless kernel each. The one's kernel has GR, and the other one
 * waits for GR on its PBDMA, from which it can't leave meanwhile (T18 and T19 of
 * docs/supported.md). The guest unbinds the one that waits. The host ends the first one, by a reset
 * of GR, and then the second one's kernel begins: a channel that is disabled, but loaded, goes on.
 * The card must not be lost for all (S5). In the last two tests a neighbour's kernel gets GR
 * then, in the last one after a kernel of the channel that waited. It must not be lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "hw/internal.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	   1000000ull
#define ENDLESS_NS (60000 * MS)
/* kernels that begin on the channel that waits, one after the reset for the other */
#define KERNELS 2

enum { ATTACKER, NEIGHBOUR, VGPUS };
enum { HOLDER = 1, WAITER };

static struct chip_manners names = { .eager = true,
				     .busy = true,
				     .late = 2,
				     .idles = true,
				     .waiters_stay = true,
				     .names_next = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
static bool alone;
static u32 begun;
static bool to_neighbour;
static u64 began_at, lost_at;
static struct context kept, neighbours;
static u64 waiter_ns;
static u16 waiter;

/*
 * When GR is free and up again after its reset, the kernel of the channel that waits on PBDMA 0
 * begins: before the host's next preempt.
 */
static void goes_on(u32 reg, u32 val)
{
	if (begun < KERNELS && reg == PFIFO_PREEMPT && !chip_is_stuck() &&
	    !world.gpu->hw.p->gr_lock.holder && chip.pbdma[0].chid == waiter &&
	    chip_begin_held(waiter, ENDLESS_NS)) {
		begun++;
		printf("# %llu ms: the waiter's kernel begins\n", harness_now / MS);
	}
}

/* The neighbour's channel is loaded by another PBDMA, and has GR from now on, for a second. */
static void neighbour_gets_gr(void)
{
	chip.engine[0] = neighbours;
	chip.engine[0].stuck = true;
	chip.hold_until = harness_now + 1000 * MS;
	began_at = harness_now;
}

/*
 * Between the eviction of the holder and the host's next block of the runlist the neighbour's
 * channel is loaded, and has GR at once, or when a kernel of the waiter's of @waiter_ns has ended.
 * The waiter stays on PBDMA 0 until then.
 */
static void neighbour_works(u32 reg, u32 val)
{
	u16 id = g_hchid(&world.vgpu[NEIGHBOUR], 1);

	if (begun && !began_at && chip.pbdma[0].chid != waiter &&
	    !(chip.engine[0].chid == waiter && chip_is_stuck()))
		neighbour_gets_gr();
	if (began_at && chip.engine[0].chid != id && !lost_at)
		lost_at = harness_now;
	if (begun || reg != PFIFO_RUNLIST_BLOCK || chip_is_stuck())
		return;
	if (!val && chip.pbdma[0].chid == waiter)
		kept = chip.pbdma[0];
	if (!val || kept.chid != waiter || !chip_may_load(id, 0))
		return;
	chip_load_some(0, id);
	neighbours = chip.pbdma[0];
	chip.pbdma[0] = kept;
	chip.engine[0].stuck = false;
	if (!waiter_ns)
		neighbour_gets_gr();
	else if (!chip_begin_held(waiter, waiter_ns))
		harness_fail("the waiter can't work");
	begun++;
}

static void attacks(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ATTACKER];
	u16 holder = g_hchid(g, HOLDER);
	u64 list[] = { HOLDER, WAITER }, at;
	u32 tries = 10000;

	g_ring(&world.vgpu[NEIGHBOUR], 1, 0);
	waiter = holder;
	if (!alone) {
		g_inst(g, WAITER, 0, 0);
		g_bind(g, WAITER);
		g_list(g, list, 2);
		g_enable(g, WAITER, true);
		g_ring(g, WAITER, 1);
		waiter = g_hchid(g, WAITER);
	}
	harness_sleep(200 * MS);
	while (!chip_hold(holder, ENDLESS_NS) && tries--)
		harness_sleep(MS / 10);
	for (; chip.pbdma[0].chid != waiter && tries--; harness_sleep(MS / 10))
		if (chip_may_load(waiter, 0))
			chip_load_some(0, waiter);
	assert_int_equal(chip.engine[0].chid, holder);
	assert_int_equal(chip.pbdma[0].chid, waiter);
	chip_before_write = to_neighbour ? neighbour_works : goes_on;
	at = harness_now;
	g_unbind(g, alone ? HOLDER : WAITER);
	chip_before_write = NULL;
	printf("# took %llu ms, another kernel began %u times, strikes %llu, lost %d\n",
	       (harness_now - at) / MS, begun, g->v->m->slice.strikes.total,
	       vmach_gpu_lost(world.gpu));
	if (to_neighbour && lost_at && lost_at < began_at + 900 * MS)
		harness_fail(
			"S5: a neighbour's kernel of 1 s is lost by a reset of GR after %llu ms",
			(lost_at - began_at) / MS);
	if (vmach_gpu_lost(world.gpu))
		harness_fail("S5: a guest unbinds a channel, and the card is lost for all");
}

static void run(bool name)
{
	begun = 0;
	began_at = lost_at = 0;
	kept.chid = NO_CHAN;
	names.names_next = name;
	setup_begin(&coarse, &names, VGPUS);
	actor_new("guest", setup_mm, false, attacks, NULL);
	actors_run();
	setup_end();
}

/* T18 and T19 */
static void unbinds_the_waiter(void **state)
{
	run(true);
}

/* T18, but GR names only the channel that it has */
static void unbinds_the_unnamed_waiter(void **state)
{
	run(false);
}

/*
 * Neither: one channel with two endless kernels, one behind the other. The second one begins when
 * GR was reset for the first one, because the channel is still on its PBDMA.
 */
static void unbinds_one_with_two_kernels(void **state)
{
	alone = true;
	names.waiters_stay = false;
	run(false);
	names.waiters_stay = true;
	alone = false;
}

static void another_gets_gr(void **state)
{
	to_neighbour = true;
	run(true);
}

/*
 * The waiter's kernel is longer than a preempt of an eviction may take, and ends while its PBDMA is
 * cleared for the reset of GR.
 */
static void another_gets_gr_later(void **state)
{
	waiter_ns = 150 * MS;
	to_neighbour = true;
	run(true);
	to_neighbour = false;
	waiter_ns = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unbinds_the_waiter),
		cmocka_unit_test(unbinds_the_unnamed_waiter),
		cmocka_unit_test(unbinds_one_with_two_kernels),
		cmocka_unit_test(another_gets_gr),
		cmocka_unit_test(another_gets_gr_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
