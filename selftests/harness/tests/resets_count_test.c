// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's channel has several endless kernels, one behind the other, and the guest unbinds it,
 * again and again. The reset of GR that ends one kernel lets the next one begin, because the
 * channel is still on its PBDMA (two_endless_test unbinds_one_with_two_kernels). Each reset of an
 * engine counts in the vGPU's budget, of 32 and two a second (docs/invariants.md, S5 in numbers).
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
#define KERNELS	   4 /* that begin after a reset */
#define UNBINDS	   60

enum { ATTACKER, NEIGHBOUR, VGPUS };

static const struct chip_manners plain = { .eager = true, .busy = true, .late = 2, .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
static u32 begun;
static u16 chan;

static void goes_on(u32 reg, u32 val)
{
	if (begun < KERNELS && reg == PFIFO_PREEMPT && !chip_is_stuck() &&
	    !world.gpu->hw.p->gr_lock.holder && chip.pbdma[0].chid == chan &&
	    chip_begin_held(chan, ENDLESS_NS))
		begun++;
}

static void attacks(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ATTACKER];
	struct kvgpu_machine *m = g->v->m;
	u64 began = harness_now, at, held = 0, resets = world.gpu->hw.stats.resets, allowed;
	u32 i, tries;

	g_ring(&world.vgpu[NEIGHBOUR], 1, 1);
	for (i = 0; i < UNBINDS && !m->slice.strikes.total; i++) {
		g_ring(g, 1, 1);
		chan = g_hchid(g, 1);
		for (tries = 200000; !chip_hold(chan, ENDLESS_NS) && tries; tries--)
			harness_sleep(MS / 20);
		if (!tries)
			harness_fail("the attacker does not get GR");
		begun = 0;
		chip_before_write = goes_on;
		at = harness_now;
		g_chan_anew(g, 1);
		held += harness_now - at;
		chip_before_write = NULL;
	}
	resets = world.gpu->hw.stats.resets - resets;
	allowed = 32 + 2 * (harness_now - began) / (1000 * MS);
	printf("# %u unbinds in %llu ms, which took %llu ms: %llu resets of engines, %u in the budget, strikes %llu; %llu may be without a strike; charged %llu ms, cut off %d\n",
	       i, (harness_now - began) / MS, held / MS, resets, m->slice.resets.count,
	       m->slice.strikes.total, allowed, atomic64_read(&m->gpu_ns) / MS,
	       vmach_gpu_lost(world.gpu));
	if (resets > allowed && !m->slice.strikes.total)
		harness_fail("S5: %llu resets of engines without a strike, %llu may be", resets,
			     allowed);
}

static void each_reset_counts(void **state)
{
	setup_begin(&coarse, &plain, VGPUS);
	/* an admin has given it four fifths */
	setup_knob(ATTACKER, "weight", "400");
	actor_new("guest", setup_mm, false, attacks, NULL);
	actors_run();
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reset_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
