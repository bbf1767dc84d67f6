// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work that begins just before its vGPU has to leave the chip (S5). While one leaves there are no samples. An accomplice without any work wakes
 * when the partner begins a piece: the chip is the accomplice's, the partner is waited for, and the accomplice has nothing to do after all. What
 * the partner keeps the chip for is charged all the same, and its cap holds.
 *
 * The partners read the policy's state for their times. A guest can tell it from when it is on the chip, from flushes, and from gpu_time_ns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	1000000ull
#define US	1000ull
#define FATAL	0x80000000u
#define RUN_MS	600
#define POINTS	4	/* of a hundred: what docs/invariants.md promises */

enum { WORKER, ACCOMPLICE, BOTH };

static const struct chip_manners plain = { .eager = true, .busy = true, .late = 2, .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 3000 };
static u64 had, all, pieces, piece_ns;
static bool done;

static u16 chan_at(u32 vgpu, u32 i)
{
	return g_hchid(&world.vgpu[vgpu], i);
}

static struct machine_slicer *slicer(void)
{
	return &world.gpu->chip->slicer;
}

static struct machine_slice *slice_of(u32 i)
{
	return &world.vgpu[i].v->m->slice;
}

static void who_works(void *arg)
{
	for (; !done; harness_sleep(MS / 25), all++)
		had += chip_engine_works(chan_at(WORKER, 1));
}

/* the words of channel 2, which does nothing, tell of work or of none, and the slicer looks */
static void say(u32 i, bool work)
{
	g_ring(&world.vgpu[i], 2, work);
}

static void kick(u32 i)
{
	g_write(&world.vgpu[i], PFIFO_RUNLIST_SUBMIT, 2);
}

static bool listed(u32 i)
{
	u64 e[2 * KVGPU_MAX_CHAN];
	u32 n = chip_list(0, e), k;

	for (k = 0; k < n; k++)
		if (FIELD_GET(RUNLIST_ID, e[k]) == chan_at(i, 1))
			return true;
	return false;
}

static void until_open(u64 end)
{
	while (!(listed(WORKER) && listed(ACCOMPLICE)) && harness_now < end)
		harness_sleep(3 * US);
}

/* charged until the next sample: it is idle until then */
static void until_free(u64 end)
{
	const struct machine_slice *w = slice_of(WORKER);

	if (!w->busy || w->ent.cap_out)
		return;
	say(ACCOMPLICE, true);
	kick(ACCOMPLICE);
	while (w->busy && !w->ent.cap_out && harness_now < end)
		harness_sleep(20 * US);
}

/* a turn of the worker's in which nothing is done: then the accomplice has waited longer, and will be chosen */
static void empty_turn(u64 end)
{
	const struct machine_slice *w = slice_of(WORKER), *a = slice_of(ACCOMPLICE);

	if (slicer()->sched.ents.next != &w->ent.node && !w->ent.cap_out && !a->parked)
		return;
	say(ACCOMPLICE, false);
	kick(ACCOMPLICE);
	while ((w->ent.cap_out || a->parked || !slicer()->open) && harness_now < end)
		harness_sleep(100 * US);
	harness_sleep(50 * US);
	say(WORKER, true);
	say(ACCOMPLICE, true);
	kick(ACCOMPLICE);
	harness_sleep(20 * US);
	say(WORKER, false);
	say(ACCOMPLICE, false);
	kick(WORKER);
	until_open(harness_now + MS);
}

static void work_piece(u64 end)
{
	u16 id = chan_at(WORKER, 1);

	pieces++;
	say(WORKER, true);
	say(ACCOMPLICE, true);
	kick(ACCOMPLICE);
	harness_sleep(60 * US);
	say(WORKER, false);
	while (chip.engine[0].chid == id && chip.engine[0].stuck && harness_now < end) {
		harness_sleep(5 * US);
		chip_engine_works(id);
	}
	harness_sleep(10 * US);
	say(ACCOMPLICE, false);
	kick(ACCOMPLICE);
	until_open(harness_now + MS);
}

static void partners(void *arg)
{
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		until_free(min(end, harness_now + 8 * MS));
		empty_turn(end);
		if (chip_hold(chan_at(WORKER, 1), piece_ns))
			work_piece(end);
		else
			harness_sleep(50 * US);
	}
	done = true;
}

/* a second channel, which waits for nothing and does nothing */
static void second_channel(u32 i)
{
	struct world_vgpu *g = &world.vgpu[i];
	u64 list[2] = { 1, 2 };

	g_ring(g, 1, 0);
	g_inst(g, 2, 0, 0);
	g_bind(g, 2);
	g_enable(g, 2, true);
	g_list(g, list, 2);
	g_ring(g, 2, 1);
	while (!chip_pbdma_intr(chan_at(i, 2), FATAL))
		harness_sleep(MS);
	harness_sleep(MS);
	g_preempt(g, false, 2);
	g_ring(g, 2, 0);
}

static void judge(const char *cap, u32 us)
{
	u32 share = atoi(cap), has, charged;
	u64 began, took;

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	second_channel(WORKER);
	second_channel(ACCOMPLICE);
	harness_sleep(1500 * MS);
	piece_ns = us * US;
	had = all = pieces = 0;
	done = false;
	began = harness_now;
	took = machine_gpu_time(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged = 1000 * (machine_gpu_time(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# pieces of %u us at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu pieces\n", us, share, has / 10, has % 10,
	       charged / 10, charged % 10, (unsigned long long)pieces);
	if (has > 10 * (share + POINTS))
		harness_fail("S5: it may have %u %% and %u %% more, and has %u.%u %%", share, POINTS, has / 10, has % 10);
	if (has > charged + 10 * POINTS)
		harness_fail("S5: it has %u.%u %% and pays for %u.%u %%", has / 10, has % 10, charged / 10, charged % 10);
	assert_true(pieces > 1);
	setup_end();
}

static void long_pieces(void **state)
{
	judge("10", 4850);
	judge("2", 4850);
}

static void short_pieces(void **state)
{
	judge("10", 950);
	judge("10", 300);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(long_pieces), cmocka_unit_test(short_pieces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
