// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work that can't be preempted for a while, and what a guest does with its channel meanwhile (enum
 * how). The guest gets no more of the GPU than it is charged for, but for the piece of work that is
 * under way, and its neighbour is not charged for it (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS     1000000ull
#define RUN_MS 20000

static const struct chip_manners steady = { .busy = true,
					    .eager = true,
					    .load_ppm = 2000,
					    .late = 1 };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
enum how { PREEMPTED, UNBINDS, DISABLES, UNLISTS, BLOCKS };
static const char *const names[] = { "lets the slicer preempt", "unbinds", "disables",
				     "submits an empty list", "blocks its list" };
static enum how how;
static u32 hold_ms;
static bool done;
static u64 had[2], samples;

static void attacker(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 end = harness_now + RUN_MS * MS, list[] = { 2 };

	g_unbind(g, 1);
	g_inst(g, 2, 0, 0);
	g_list(g, list, 1);
	while (harness_now < end) {
		if (how == DISABLES)
			g_enable(g, 2, true);
		else if (how == UNLISTS)
			g_list(g, list, 1);
		else if (how == BLOCKS)
			g_write(g, PFIFO_RUNLIST_BLOCK, 0);
		if (!vmach_chan_find(g->v, (gchid_t){ 2 })) {
			g_bind(g, 2);
			g_enable(g, 2, true);
			g_ring(g, 2, harness_below(100) + 1);
		}
		if (!vmach_chan_find(g->v, (gchid_t){ 2 }) || vmach_vgpu_suspended(g->v->m))
			break;
		while (!chip_loaded(g_hchid(g, 2)) && harness_now < end)
			harness_sleep(MS / 20);
		if (!chip_hold(g_hchid(g, 2), hold_ms * MS)) {
			harness_sleep(MS / 20);
			continue;
		}
		harness_sleep(MS);
		if (how == UNBINDS) {
			g_unbind(g, 2);
			continue;
		} else if (how == DISABLES) {
			g_enable(g, 2, false);
		} else if (how == UNLISTS) {
			g_list(g, list, 0);
		} else if (how == BLOCKS) {
			g_write(g, PFIFO_RUNLIST_BLOCK, 1);
		}
		harness_sleep(hold_ms * MS);
	}
	done = true;
}

static void meter(void *arg)
{
	bool held;
	u16 id;

	for (; !done; harness_sleep(MS / 4)) {
		held = chip_is_held(&id);
		samples++;
		had[0] += held;
		had[1] += !held && id == g_hchid(&world.vgpu[1], 1);
	}
}

static void is_paid_for(enum how h, u32 ms)
{
	double part[2], paid[2];
	u64 t[2], began;
	u32 i;

	how = h;
	hold_ms = ms;
	done = false;
	had[0] = had[1] = samples = 0;
	setup_begin(&coarse, &steady, 2);
	for (i = 0; i < 2; i++)
		t[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	began = harness_now;
	actor_new("attacker", setup_mm, false, attacker, NULL);
	actor_new("meter", setup_mm, false, meter, NULL);
	actors_run();
	for (i = 0; i < 2; i++) {
		paid[i] = (double)(vmach_gpu_time_get(world.vgpu[i].v->m) - t[i]) /
			  (harness_now - began);
		part[i] = (double)had[i] / samples;
	}
	if (part[0] > 0.6 || paid[0] < 0.85 * part[0] || paid[1] > 1.1 * part[1] + 0.05)
		harness_fail(
			"S5: pieces of %u ms, one who %s: has %.2f of the time and is charged %.2f; the other one has %.2f and is charged %.2f",
			ms, names[h], part[0], paid[0], part[1], paid[1]);
	setup_end();
}

static void the_slicer_preempts(void **state)
{
	is_paid_for(PREEMPTED, 90);
	is_paid_for(PREEMPTED, 1900);
}

static void it_unbinds(void **state)
{
	is_paid_for(UNBINDS, 90);
}

static void it_disables(void **state)
{
	is_paid_for(DISABLES, 90);
	is_paid_for(DISABLES, 1900);
}

static void it_unlists(void **state)
{
	is_paid_for(UNLISTS, 90);
	is_paid_for(UNLISTS, 1900);
	is_paid_for(UNLISTS, 9000);
}

static void it_blocks(void **state)
{
	is_paid_for(BLOCKS, 90);
	is_paid_for(BLOCKS, 1900);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slicer_preempts), cmocka_unit_test(it_unbinds),
		cmocka_unit_test(it_disables),	       cmocka_unit_test(it_unlists),
		cmocka_unit_test(it_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
