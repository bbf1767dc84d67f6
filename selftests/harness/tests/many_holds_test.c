// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest submits a list of channels of which nothing has changed. That must not take gpu->lock
 * once for each channel (set_group() in note_members()): a register access ends within about 5 s
 * (S5, docs/invariants.md), however many channels the guest has.
 *
 * The attacker's first vGPU has channels with a kernel of 95 ms each, and unbinds each when its
 * kernel has begun: that keeps gpu->lock until the kernel is over, and costs nothing. Its other two
 * vGPUs submit empty lists, so that one of them is always in the lock's queue. Without them the
 * neighbour takes the lock for all of its channels in one gap between two unbinds.
 *
 * reset_beside_unbinds: a guest resets GR, and what is waited for is the lock of the preempt
 * register, for each channel that is preempted. The other two vGPUs preempt an idle channel then,
 * by threads that get a CPU late.
 *
 * behind_long_kernels rests on T18 and T19 of supported.md (.waiters_stay, .names_next): the
 * kernels are of 1.9 s, on a channel that is left alone, and what is unbound are channels that
 * wait for GR.
 */
#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "gk110/ram.h"
#include "selftests/harness/work.h"

#define LIMIT_MS     5000
#define KERNEL_MS    95 /* less than PREEMPT_EVICT_MS: no reset */
#define LONG_MS	     1900 /* less than the watchdog's time */
#define LOAD_US	     100 /* a channel's load, until its kernel has begun */
#define OWN_INST(c)  (0x400000ull + (c)*0x1000)
#define OWN_USERD(c) (0x300000ull + (c)*0x200)
#define OWN_LIST     0x2f0000ull
#define FIRST	     8
#define WORKER_CHANS 200

enum { WORKER, SUBMITS, NEIGHBOUR = WORLD_VGPUS - 1 };
/* .arg[0]: what the neighbour does; [1]: its channels */
enum { LISTS, RESETS_GR, LISTS_BEHIND };

static u16 next_id, long_id;

/* @nr channels of vGPU @i: bound, enabled and listed. */
static void own_chans(u32 i, u32 nr)
{
	struct world_vgpu *g = V(i);
	u32 c;

	for (c = FIRST; c < FIRST + nr; c++) {
		g_store64(g, OWN_LIST + (c - FIRST) * RUNLIST_ENTRY_SIZE, c);
		g_inst_at(g, OWN_INST(c), OWN_USERD(c), 0, 0);
		g_bind_at(g, c, OWN_INST(c));
		g_enable(g, c, true);
		if (!admin_chan(i, c).bound)
			harness_fail("channel %u can't be bound", c);
	}
	g_write(g, PFIFO_RUNLIST_BASE, OWN_LIST >> 12);
	g_write(g, PFIFO_RUNLIST_SUBMIT, nr);
}

/*
 * The chip. Without .long_id, GR gets channel .next_id for a kernel. With it, GR gets .long_id for
 * a long kernel, and then .next_id waits for GR. What has no work is not loaded: it is not .eager,
 * nor .busy.
 */
static void gpu(void *arg)
{
	u16 id, held;

	for (; scene_goes_on(); harness_sleep(5 * US)) {
		id = long_id ?: next_id;
		if (chip_is_stuck()) {
			if (long_id && chip_is_held(&held) && held == long_id && next_id &&
			    chip.pbdma[0].chid != next_id && chip_may_load(next_id, 0))
				chip_load_some(0, next_id);
			continue;
		}
		if (!id || !chip_may_load(id, 0))
			continue;
		harness_sleep(LOAD_US * US);
		if (!scene_goes_on() || !chip_may_load(id, 0))
			continue;
		chip_load_some(0, id);
		chip_begin_held(id, (long_id ? LONG_MS : KERNEL_MS) * MS);
	}
}

static void begins(const struct scene *s)
{
	u32 i;

	for (i = 0; i < WORLD_VGPUS; i++) {
		g_ring(V(i), 1, 0);
		g_unbind(V(i), 1);
	}
	own_chans(WORKER, WORKER_CHANS);
	own_chans(NEIGHBOUR, s->arg[1]);
	for (i = SUBMITS; s->arg[0] == RESETS_GR && i < NEIGHBOUR; i++)
		own_chans(i, 1);
	/* all channels have work, so that the vGPU never sleeps */
	for (i = FIRST; i < FIRST + WORKER_CHANS; i++)
		g_store32(V(WORKER), OWN_USERD(i) + USERD_GP_PUT, 1);
	if (s->arg[0] == LISTS_BEHIND)
		long_id = id_of(WORKER, FIRST + WORKER_CHANS - 1);
	harness_sleep(2000 * MS);
	task_new("gpu", gpu, NULL);
}

/* The guest unbinds its channels one after the other, each when it has its place on the chip. */
static void unbinds(const struct role *r)
{
	u32 c;

	for (c = FIRST; scene_goes_on() && c < FIRST + WORKER_CHANS - 1; c++) {
		next_id = id_of(r->vgpu, c);
		/* a guest can tell, by what its kernels write and by its rings */
		while (scene_goes_on() && !(chip_is_stuck() && chip.pbdma[0].chid == next_id))
			harness_sleep(5 * US);
		if (!scene_goes_on())
			break;
		g_unbind(V(r->vgpu), c);
		scene_count[WORKER]++;
	}
	next_id = 0;
}

static void submits(const struct role *r)
{
	for (; scene_goes_on(); scene_count[SUBMITS]++)
		if (scene->arg[0] == RESETS_GR)
			g_preempt(V(r->vgpu), false, FIRST);
		else
			g_write(V(r->vgpu), PFIFO_RUNLIST_SUBMIT, 0);
}

/* scene_count[NEIGHBOUR]: ms that it takes */
static void neighbour(const struct role *r)
{
	u64 at;

	harness_sleep(50 * MS);
	at = harness_now;
	if (scene->arg[0] == RESETS_GR)
		g_write(V(r->vgpu), PMC_ENABLE,
			g_read(V(r->vgpu), PMC_ENABLE) & ~(u32)PMC_ENABLE_GR);
	else
		g_write(V(r->vgpu), PFIFO_RUNLIST_SUBMIT, scene->arg[1]);
	scene_count[NEIGHBOUR] = (harness_now - at) / MS;
	scene_stop();
}

/* clang-format off */

#define ROW(n, how, chans, chip, lazy_, ...) \
	{ n, WORLD_VGPUS, chip, { .oversleep_ns = 3000, ##__VA_ARGS__ }, .ms = 600000, \
	  .arg = { how, chans }, .before = begins, \
	  .roles = { { unbinds, WORKER }, { submits, SUBMITS, .lazy = lazy_ }, \
		     { submits, SUBMITS + 1, .lazy = lazy_ }, { neighbour, NEIGHBOUR } }, \
	  .must = { { &m_count, NEIGHBOUR, AT_MOST(LIMIT_MS), "S5: a register access" }, \
		    { &m_count, WORKER, AT_LEAST(1), "no unbinds" }, \
		    { &m_count, SUBMITS, AT_LEAST(2), "nobody is in the lock's queue" } } }
#define CHIP(reads, ...) { .idles = true, .late = reads, ##__VA_ARGS__ }

static const struct scene table[] = {
	ROW("beside_unbinds", LISTS, 256, CHIP(60), false),
	ROW("reset_beside_unbinds", RESETS_GR, 256, CHIP(20), true, .idle_ns = 200 * US),
	ROW("behind_long_kernels", LISTS_BEHIND, 32,
	    CHIP(20, .waiters_stay = true, .names_next = true), false),
};

/* clang-format on */

SCENES(table)
