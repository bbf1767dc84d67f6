// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of many channels, or of one that is unbound soon, while a suspended vGPU is driven off the
 * open chip (S5). It must be charged. observed_names_test and unbound_name_test have the same for a
 * chip in exclusive mode.
 *
 * Seven channels of the accomplice raise interrupts beyond the budget. Then it has a kernel on GR,
 * whose channel it disables once the kernel runs, so that only the slicer drives it off. An
 * interrupt of an eighth channel suspends it. The kernel goes on for less than the watchdog's time,
 * and is no hang. Meanwhile the worker has short copies, and then a long one, on the copy engine of
 * GR's runlist. When the kernel is over the accomplice resets PFIFO, which ends the suspension, and
 * begins anew. The partners read the policy's state to choose their moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	  1000000ull
#define US	  1000ull
#define RUN_MS	  10000
#define KERNEL_MS 1900 /* less than the watchdog's time */
#define NAMES	  8
#define CHANS	  (1 + NAMES) /* channel 1: the long copy, or the kernel */
#define SHORT_NS  (50 * US)
#define POINTS	  4 /* per cent of the time that may go unpaid (docs/invariants.md) */

enum { WORKER, ACCOMPLICE, BOTH, NEIGHBOUR = BOTH };

static const struct chip_manners manners = { .late = 1, .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 3000 };
static u64 had, all, rounds, windows, refused;
static u16 storm_id;
static u32 names;
static bool done, unbinds;

static u16 chan_at(u32 i, u32 c)
{
	return g_hchid(&world.vgpu[i], c);
}

static struct kvgpu_machine *of(u32 i)
{
	return world.vgpu[i].v->m;
}

static void meter(void *arg)
{
	for (; !done; harness_sleep(MS / 25), all++)
		had += harness_now < chip.copying_until;
}

/* Bad methods of the channel on PBDMA 0. */
static void pushbuffer(void *arg)
{
	u32 *intr = &chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4];

	for (; !done; harness_sleep(storm_id ? 5 * US : 100 * US)) {
		if (!storm_id)
			continue;
		if (chip.pbdma[0].chid != storm_id && chip_may_load(storm_id, 0))
			chip_load_some(0, storm_id);
		if (chip.pbdma[0].chid != storm_id || *intr)
			continue;
		chip.reg[(PBDMA(0) + PBDMA_CHANNEL) / 4] = PBDMA_CHANNEL_VALID |
							   FIELD_PREP(PBDMA_CHANNEL_ID, storm_id);
		*intr |= PBDMA_INTR0_DEVICE;
		chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] |= BIT(0);
		chip_raise(0);
	}
}

static void chans(u32 i)
{
	struct world_vgpu *g = &world.vgpu[i];
	u64 list[CHANS];
	u32 c;

	for (c = 1; c <= CHANS; c++) {
		list[c - 1] = c;
		g_inst(g, c, 0, 0);
		g_bind(g, c);
		g_enable(g, c, true);
	}
	g_list(g, list, CHANS);
}

/* Channel @c goes on with bad methods until it is ended. */
static void storm(u32 c, u64 end)
{
	struct world_vgpu *g = &world.vgpu[ACCOMPLICE];
	struct kvgpu_chan *chan = vmach_chan_find(g->v, (gchid_t){ c });

	storm_id = chan->hchid.v;
	while (!chan->dead && !vmach_vgpu_suspended(g->v->m) && harness_now < end)
		harness_sleep(20 * US);
	storm_id = 0;
}

static void accomplice(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ACCOMPLICE];
	u32 enable = g_read(g, PMC_ENABLE), c;
	u64 end = harness_now + RUN_MS * MS;
	u16 id;

	while (harness_now < end) {
		chans(ACCOMPLICE);
		id = chan_at(ACCOMPLICE, 1);
		g_ring(g, 1, 1); /* so that it gets turns beside a neighbour */
		for (c = 2; c < CHANS; c++)
			storm(c, end);
		do {
			harness_sleep(5 * US);
			if (chip_may_load(id, 0) && chip.pbdma[0].chid != id)
				chip_load_some(0, id);
		} while (!chip_begin_held(id, KERNEL_MS * MS) && harness_now < end);
		g_enable(g, 1, false);
		storm(CHANS, end);
		g_ring(g, 1, 0);
		rounds += vmach_vgpu_suspended(g->v->m);
		while (chip_is_stuck() && harness_now < end)
			harness_sleep(100 * US);
		harness_sleep(2 * MS);
		g_write(g, PMC_ENABLE, enable & ~(u32)PMC_ENABLE_FIFO);
		g_write(g, PMC_ENABLE, enable);
	}
	done = true;
}

/* The neighbour works on GR whenever its list is on the chip and GR is free. */
static void neighbour(void *arg)
{
	u16 id = chan_at(NEIGHBOUR, 1);

	chip_at_work(id, true);
	for (; !done; harness_sleep(30 * US))
		if (!chip_is_stuck() && !storm_id && chip_may_load(id, 0) &&
		    chip.engine[0].chid != id)
			chip_load_some(0, id);
	chip_at_work(id, false);
}

static void copy(u32 c, u64 until)
{
	u16 id = chan_at(WORKER, c);

	/* the chip loads it only if the worker's list is on the chip */
	if (chip_may_load(id, 0) && chip.pbdma[0].chid != id)
		chip_load_some(0, id);
	if (chip.pbdma[0].chid != id) {
		refused++;
		return;
	}
	chip_copies(id, until);
	while (!done && harness_now < until)
		harness_sleep(min(until - harness_now, 20 * US));
}

static void worker(void *arg)
{
	u32 c;

	for (; !done; harness_sleep(20 * US)) {
		if (!of(ACCOMPLICE)->slice.evicting || !vmach_vgpu_suspended(of(ACCOMPLICE)) ||
		    !chip.preempting || !chip_is_stuck() || chip.hold_until < harness_now + 50 * MS)
			continue;
		windows++;
		for (c = 2; c < 2 + names; c++)
			copy(c, harness_now + SHORT_NS);
		copy(1, chip.hold_until - (unbinds ? 10 : 1) * MS);
		if (unbinds)
			g_unbind(&world.vgpu[WORKER], 1);
		while (!done && of(ACCOMPLICE)->slice.evicting)
			harness_sleep(20 * US);
		if (unbinds) {
			g_bind(&world.vgpu[WORKER], 1);
			g_enable(&world.vgpu[WORKER], 1, true);
		}
	}
}

/* @busy: a neighbour always has work. @gone: the worker unbinds its channel before the end. */
static void judge(const char *cap, u32 nr, bool busy, bool gone)
{
	u32 has, charged;
	u64 began, took;

	names = nr;
	unbinds = gone;
	had = all = rounds = windows = refused = 0;
	done = false;
	storm_id = 0;
	setup_begin(&coarse, &manners, BOTH + busy);
	setup_knob(WORKER, "cap", cap);
	g_ring(&world.vgpu[WORKER], 1, 0);
	g_ring(&world.vgpu[ACCOMPLICE], 1, 0);
	g_unbind(&world.vgpu[WORKER], 1);
	g_unbind(&world.vgpu[ACCOMPLICE], 1);
	chans(WORKER);
	harness_sleep(1500 * MS);
	began = harness_now;
	took = vmach_gpu_time_get(of(WORKER));
	task_new("pushbuffer", pushbuffer, NULL);
	if (busy)
		task_new("neighbour", neighbour, NULL);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("worker", setup_mm, false, worker, NULL);
	actor_new("accomplice", setup_mm, false, accomplice, NULL);
	actors_run();
	has = 1000 * had / all;
	charged = 1000 * (vmach_gpu_time_get(of(WORKER)) - took) / (harness_now - began);
	printf("# %u names before%s%s, at a cap of %s %%: has %u.%u %%, is charged %u.%u %%; %llu suspensions, %llu windows, %llu copies not begun\n",
	       nr, busy ? ", beside a neighbour" : "", gone ? ", unbound" : "", cap, has / 10,
	       has % 10, charged / 10, charged % 10, rounds, windows, refused);
	assert_true(windows);
	harness_sleep(2 * MS);
	if (has > charged + 10 * POINTS)
		harness_fail("S5: it has %u.%u %% and pays for %u.%u %%", has / 10, has % 10,
			     charged / 10, charged % 10);
	setup_end();
}

static void nine_names(void **state)
{
	judge("10", NAMES, false, false);
}

static void nine_names_beside_a_neighbour(void **state)
{
	judge("2", NAMES, true, false);
}

static void unbound_beside_a_neighbour(void **state)
{
	judge("2", 0, true, true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nine_names),
		cmocka_unit_test(nine_names_beside_a_neighbour),
		cmocka_unit_test(unbound_beside_a_neighbour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
