// SPDX-License-Identifier: GPL-2.0-only
/*
 * An eviction blocks the runlist until its preempt has ended, and a preempt may not end while an
 * interrupt of its PBDMA is not served (docs/hardware.md). A guest has the interrupt thread rest,
 * and unbinds a channel whose interrupt waits for that thread. The interrupt is served in the rest,
 * too, and the vGPU pays for the time (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "selftests/harness/tests/nobodys.h"
#include "selftests/harness/tests/partners.h"

#include <linux/bitfield.h>

enum { ATTACKER, VICTIM, VGPUS };

#define LEAST 80 /* per cent of GR that the victim has at least */

static const struct chip_manners calm = { .eager = true,
					  .busy = true,
					  .late = 2,
					  .idles = true,
					  .interrupts_stay = true };
static u64 blocked, most_block, unbinds;
static bool rests;

static void unbinds_again(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ATTACKER];
	u64 end = harness_now + 2000 * MS, second, list[] = { 2 };
	u32 i;
	u16 id;

	g_unbind(g, 1);
	g_inst(g, 2, 0, 0);
	g_list(g, list, 1);
	while (harness_now < end) {
		second = harness_now;
		for (i = 0; rests && i < EVENTS_PER_SECOND; i++) {
			nobodys_copy();
			harness_sleep(100 * US);
		}
		while (harness_now < min(end, second + 1001 * MS)) {
			g_bind(g, 2);
			g_enable(g, 2, true);
			id = g_hchid(g, 2);
			if (rests) {
				nobodys_copy();
				while (COPY_INTR)
					harness_sleep(5 * US);
			}
			chip_load_on_gr(id);
			chip_pbdma_intr(id, PBDMA_INTR0_DEVICE);
			g_unbind(g, 2);
			unbinds++;
			/* below the budget */
			harness_sleep(300 * US);
		}
	}
	done = true;
}

static void meter(void *arg)
{
	u64 last = harness_now, step, since = 0;
	u16 id = chan_at(VICTIM, 1);

	for (; !done; harness_sleep(20 * US)) {
		step = harness_now - last;
		last = harness_now;
		chip_load_on_gr(id);
		all += step;
		had += chip_engine_works(id) ? step : 0;
		since = chip.reg[PFIFO_RUNLIST_BLOCK / 4] & 1 ? since + step : 0;
		blocked += chip.reg[PFIFO_RUNLIST_BLOCK / 4] & 1 ? step : 0;
		most_block = max(most_block, since);
	}
}

static void judge(const char *what)
{
	u64 began, took;
	u32 has, paid;

	setup_begin(&coarse, &calm, VGPUS);
	g_ring(&world.vgpu[ATTACKER], 1, 0);
	harness_sleep(100 * MS);
	done = false;
	had = all = blocked = most_block = unbinds = nobodys = 0;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[ATTACKER].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("attacker", setup_mm, false, unbinds_again, NULL);
	actors_run();
	has = 100 * had / all;
	paid = thousandths(ATTACKER, took, began);
	blocked = 1000 * blocked / all;
	printf("# %s: the victim has %u %% of GR, the runlist is blocked for %llu thousandths (%llu us at the most), the attacker is charged %u thousandths; %llu unbinds, %llu other interrupts, %llu strikes\n",
	       what, has, blocked, most_block / US, paid, unbinds, nobodys,
	       slice_of(ATTACKER)->strikes.total);
	if (has < LEAST)
		harness_fail(
			"S5: a vGPU that always works has %u %% of GR beside one that does nothing",
			has);
	if (blocked > 20 && paid < blocked / 2)
		harness_fail("S5: one that blocks the runlist for %llu thousandths is charged %u",
			     blocked, paid);
	setup_end();
}

static void unbinds_in_rests(void **state)
{
	rests = false;
	judge("unbinds of channels that interrupt");
	rests = true;
	judge("the same while the interrupt thread rests");
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(unbinds_in_rests) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
