// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of the vGPU that gets the chip while another vGPU is driven off it (S5). No sample comes then. A worker begins a kernel and preempts
 * its own channel, so that the preempt register is taken. An accomplice without work wakes, and the policy chooses the worker. The
 * accomplice's idle channel is driven off, for which the slicer waits for the register a millisecond. Then the kernel is over.
 *
 * The partners read the policy's state for their times, as in leave_test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/ram.h"
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
static struct policy coarse = { .seed = 1, .oversleep_ns = 3000 };
static u64 had, all, pieces, preempts, piece_ns;
static bool done, with_preempt, wants_preempt;

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

/* another CPU of the worker's */
static void preempts_itself(void *arg)
{
	while (!done) {
		if (wants_preempt) {
			wants_preempt = false;
			g_preempt(&world.vgpu[WORKER], false, 1);
			preempts++;
		}
		harness_sleep(2 * US);
	}
}

/* the words of channel 2, which does nothing, tell of work or of none: a store through a mapping, which waits for no lock */
static void say(u32 i, bool work)
{
	u64 at = world.vgpu[i].v->part.v + G_USERD(2) + USERD_GP_PUT;

	*(u32 *)chip_vram(at) = work;
	chip_wrote(at, 4);
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

	while ((w->busy || w->left_busy) && harness_now < end)
		harness_sleep(20 * US);
}

/* whom the policy would choose if both woke now (sched/choose.c) */
static bool would_be_chosen(void)
{
	const struct kvgpu_sched *s = &slicer()->sched;
	const struct kvgpu_sched_ent *w = &slice_of(WORKER)->ent, *a = &slice_of(ACCOMPLICE)->ent;
	bool wf = (s64)(s->pace - w->paced) >= (s64)(w->lead_v / 2), af = (s64)(s->pace - a->paced) >= (s64)(a->lead_v / 2);
	s64 ahead = w->vtime - a->vtime, near = max(w->near_v, a->near_v);

	if (w->cap_out)
		return false;
	if (wf != af)
		return wf;
	return ahead < -near || (ahead <= near && s->ents.next == &w->node);
}

/* a turn of the accomplice's in which nothing is done: then the worker has waited longer, and will be chosen */
static void empty_turn(u64 end)
{
	const struct machine_slice *w = slice_of(WORKER), *a = slice_of(ACCOMPLICE);

	while ((w->ent.cap_out || a->parked || !slicer()->open) && harness_now < end)
		harness_sleep(50 * US);
	if (would_be_chosen())
		return;
	say(ACCOMPLICE, true);
	say(WORKER, true);
	kick(ACCOMPLICE);
	harness_sleep(20 * US);
	say(WORKER, false);
	say(ACCOMPLICE, false);
	kick(ACCOMPLICE);
	until_open(harness_now + MS);
}

static void work_piece(u64 end)
{
	u16 id = chan_at(WORKER, 1);

	pieces++;
	chip_load_some(0, chan_at(ACCOMPLICE, 1));	/* the PBDMA goes on while GR works */
	wants_preempt = with_preempt;
	harness_sleep(5 * US);
	say(WORKER, true);
	say(ACCOMPLICE, true);
	kick(ACCOMPLICE);
	while (chip.engine[0].chid == id && chip.engine[0].stuck && harness_now < end) {
		harness_sleep(5 * US);
		chip_engine_works(id);
	}
	say(WORKER, false);
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
		if (!would_be_chosen()) {
			harness_sleep(50 * US);
			continue;
		}
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

static void judge(const char *cap, u32 us, bool preempt)
{
	u32 share = atoi(cap), has, charged;
	u64 began, took;

	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	second_channel(WORKER);
	second_channel(ACCOMPLICE);
	harness_sleep(1500 * MS);
	piece_ns = us * US;
	with_preempt = preempt;
	had = all = pieces = preempts = 0;
	done = wants_preempt = false;
	began = harness_now;
	took = machine_gpu_time(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("preempter", setup_mm, false, preempts_itself, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	has = 1000 * had / all;
	charged = 1000 * (machine_gpu_time(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# pieces of %u us at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu pieces, %llu preempts\n", us, share, has / 10,
	       has % 10, charged / 10, charged % 10, (unsigned long long)pieces, (unsigned long long)preempts);
	assert_true(pieces > 10);
	if (has > 10 * (share + POINTS))
		harness_fail("S5: it may have %u %% and %u %% more, and has %u.%u %%", share, POINTS, has / 10, has % 10);
	if (has > charged + 10 * POINTS)
		harness_fail("S5: it has %u.%u %% and pays for %u.%u %%", has / 10, has % 10, charged / 10, charged % 10);
	setup_end();
}

static void behind_its_preempt(void **state)
{
	judge("10", 1000, true);
	judge("2", 1000, true);
}

static void short_pieces(void **state)
{
	judge("10", 40, false);
	judge("10", 25, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(behind_its_preempt), cmocka_unit_test(short_pieces) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
