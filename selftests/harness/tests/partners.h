/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two vGPUs work together so that the worker gets more of the GPU than its cap. Each vGPU has a
 * channel 1 that can work. second_channel() gives a vGPU a channel 2, whose doorbell words can tell
 * of work that there is not.
 * Each program has these functions and variables for itself, used or not.
 */
#ifndef KVGPU_HARNESS_TESTS_PARTNERS_H
#define KVGPU_HARNESS_TESTS_PARTNERS_H

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS     1000000ull
#define US     1000ull
#define FATAL  0x80000000u
#define RUN_MS 600
/* By so many per cent of the time a share may be exceeded: docs/invariants.md promises that. */
#define POINTS 4

enum { WORKER, ACCOMPLICE, BOTH };

static const struct chip_manners plain = { .eager = true, .busy = true, .late = 2, .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 3000 };
static u64 had, all; /* of @all looks at the worker, @had saw it at work */
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

/*
 * Start a kernel of vGPU @i on channel 1 and empty the ring again. The kernel works on, and the
 * doorbell words tell of no work.
 */
static void kernel_begin(u32 i)
{
	u16 id = chan_at(i, 1);

	g_ring(&world.vgpu[i], 1, 1);
	kick(i);
	while (!chip_engine_works(id))
		harness_sleep(10 * US);
	chip_at_work(id, true);
	g_ring(&world.vgpu[i], 1, 0);
}

/* A channel that does a kernel, waits, and does the next kernel. Times are in ns. */
struct kernels {
	u64 kernel_ns, wait_ns, ran, next;
};

/* Go on by @step ns. A kernel's time counts only while the chip serves channel @id. */
static void kernels_step(struct kernels *k, u16 id, u64 step)
{
	if (!chip.at_work[id])
		chip_at_work(id, harness_now >= k->next);
	else if (chip_engine_works(id))
		k->ran += step;
	if (k->ran >= k->kernel_ns) {
		k->ran = 0;
		k->next = harness_now + k->wait_ns;
		chip_at_work(id, false);
	}
}

/*
 * Give vGPU @i a channel 2, which an error has ended for the chip: it never works, but its doorbell
 * words can be set. Empty the ring of channel 1.
 */
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

/* Have the doorbell words of channel 2, which does nothing, tell of work or of none. */
static void tell_work(u32 i, bool work)
{
	u64 at = world.vgpu[i].v->part.v + G_USERD(2) + USERD_GP_PUT;

	*(u32 *)chip_vram(at) = work;
	chip_wrote(at, 4);
}

/* Wait until the worker counts as idle. */
static void worker_until_free(u64 end)
{
	const struct machine_slice *w = slice_of(WORKER);

	while ((w->busy || w->left_busy) && harness_now < end)
		harness_sleep(20 * US);
}

/* Return true when the policy would choose the worker if both woke now (sched/choose.c). */
static bool worker_would_be_chosen(void)
{
	const struct kvgpu_sched *s = &slicer()->sched;
	const struct kvgpu_sched_ent *w = &slice_of(WORKER)->ent, *a = &slice_of(ACCOMPLICE)->ent;
	bool wf = (s64)(s->pace - w->paced) >= (s64)(w->lead_v / 2),
	     af = (s64)(s->pace - a->paced) >= (s64)(a->lead_v / 2);
	s64 ahead = w->vtime - a->vtime, near = max(w->near_v, a->near_v);

	if (w->cap_throttled)
		return false;
	if (wf != af)
		return wf;
	return ahead < -near || (ahead <= near && s->ents.next == &w->node);
}

/*
 * For what part of the time since @began vGPU @i was charged, in thousandths. @took: its
 * gpu_time_ns at @began.
 */
static u32 thousandths(u32 i, u64 took, u64 began)
{
	return 1000 * (vmach_gpu_time_get(world.vgpu[i].v->m) - took) / (harness_now - began);
}

/* @has and @charged are thousandths of the time, @share is per cent. */
static void must_keep_to(u32 share, u32 has, u32 charged)
{
	if (has > 10 * (share + POINTS))
		harness_fail("S5: it may have %u %% and %u %% more, and has %u.%u %%", share,
			     POINTS, has / 10, has % 10);
	if (has > charged + 10 * POINTS)
		harness_fail("S5: it has %u.%u %% and pays for %u.%u %%", has / 10, has % 10,
			     charged / 10, charged % 10);
}

/* the word of the flush register @reg in the flush page of vGPU @i */
static volatile u32 *flush_word(u32 i, u32 reg)
{
	const struct vgpu_own *o = &world.vgpu[i].v->own[VGPU_OWN_FLUSH];

	return (volatile u32 *)(o->memory + (reg - o->at));
}

/* chip_before_write: flushes of L2 take @slow_reads reads of their register, all else takes two */
static u32 slow_reads;

static void slow_flushes(u32 reg, u32 val)
{
	bool l2 = reg == FLUSH_L2_SYSMEM_INVALIDATE || reg == FLUSH_L2_DIRTY;

	chip.manners.late = l2 ? slow_reads : 2;
}

/* An actor, lazy: the accomplice preempts its idle channel 1 without a break. */
static void preempts_idle(void *arg)
{
	while (!done)
		g_preempt(&world.vgpu[ACCOMPLICE], false, 1);
}

#endif
