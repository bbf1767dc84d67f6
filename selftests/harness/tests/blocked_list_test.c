// SPDX-License-Identifier: GPL-2.0-only
/*
 * An eviction blocks GR's runlist, so that no PBDMA gets a channel of any vGPU, and no vGPU is
 * charged for that time, because no engine works (S5). A guest that does nothing on the GPU unbinds
 * a channel again and again. Its neighbour has two channels, of which one has a kernel, then the
 * other one: a blocked runlist stops it.
 * - Channels that are not loaded: the unbind needs no eviction.
 * - A channel that a PBDMA has: it is evicted. The VMM makes its thread get a CPU late meanwhile.
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

#define MS	  1000000ull
#define US	  1000ull
#define STEP	  (10 * US)
#define RUN_MS	  (harness_all() ? 2000 : 500)
#define KERNEL_NS (300 * US)
/* part of the time, in per mille, that the unbinds may block the runlist or cost the neighbour */
#define BLOCKED 10
#define LOST	40

enum { NEIGHBOUR, IDLER, VGPUS };

static const struct chip_manners plain = { .eager = true, .busy = true, .late = 2, .idles = true };
#define PROMPT                                  \
	{                                       \
		.seed = 1, .oversleep_ns = 3000 \
	}

static const struct policy prompt = PROMPT;
static u64 had, all, kernels, unbinds, blocked, end;
static bool done, loads;

/* The neighbour's kernels. The chip loads the channel that has work as soon as it may. */
static void works(void *arg)
{
	u16 id[2] = { g_hchid(&world.vgpu[NEIGHBOUR], 1), g_hchid(&world.vgpu[NEIGHBOUR], 2) };
	u64 ran = 0;
	u32 cur = 0;

	chip_at_work(id[cur], true);
	for (; harness_now < end; harness_sleep(STEP), all++) {
		blocked += chip.reg[PFIFO_RUNLIST_BLOCK / 4] & 1;
		if (chip.engine[0].chid != id[cur] && chip_may_load(id[cur], 0)) {
			chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
			chip_load_some(0, id[cur]);
		}
		if (!chip_engine_works(id[cur]))
			continue;
		had++;
		ran += STEP;
		if (ran < KERNEL_NS)
			continue;
		ran = 0;
		kernels++;
		chip_at_work(id[cur], false);
		cur = !cur;
		chip_at_work(id[cur], true);
	}
	done = true;
}

/* A PBDMA gets the idler's channel, for commands that need no engine. */
static void pbdma_gets(u16 id)
{
	struct context on = chip.engine[0];

	while (!done && !chip_may_load(id, 0))
		harness_sleep(5 * US);
	if (done)
		return;
	chip_load_some(0, id);
	chip.engine[0] = on;
}

/* The idler's thread gets a CPU late while it has the runlist blocked. */
static void before_write(u32 reg, u32 val)
{
	static struct policy p = PROMPT;

	if (reg != PFIFO_RUNLIST_BLOCK)
		return;
	p.idle_ns = val ? 1050 * US : 0;
	p.seed = harness_random();
	harness_policy(&p);
}

static void unbinds_again(void *arg)
{
	struct world_vgpu *g = &world.vgpu[IDLER];
	u64 list[] = { 2 };

	g_inst(g, 2, 0, 0);
	for (; !done; unbinds++) {
		g_bind(g, 2);
		if (loads)
			g_list(g, list, 1);
		g_enable(g, 2, true);
		if (loads) {
			pbdma_gets(g_hchid(g, 2));
			/* the slicer makes its poll now, and not during the unbind */
			g_list(g, list, 0);
			harness_sleep(150 * US);
		}
		g_unbind(g, 2);
	}
}

/* Return the part of the time that the neighbour has, in per mille. */
static u32 run(bool attack)
{
	struct world_vgpu *n = &world.vgpu[NEIGHBOUR];
	u64 list[2] = { 1, 2 };

	setup_begin(&prompt, &plain, VGPUS);
	g_unbind(&world.vgpu[IDLER], 1);
	g_ring(n, 1, 0);
	g_inst(n, 2, 0, 0);
	g_bind(n, 2);
	g_enable(n, 2, true);
	g_list(n, list, 2);
	harness_sleep(100 * MS);
	had = all = kernels = unbinds = blocked = 0;
	done = false;
	end = harness_now + RUN_MS * MS;
	actor_new("neighbour", setup_mm, false, works, NULL);
	if (attack && loads)
		chip_before_write = before_write;
	if (attack)
		actor_new("idler", setup_mm, true, unbinds_again, NULL);
	actors_run();
	chip_before_write = NULL;
	printf("# %s: the neighbour has %llu per mille of the time, the runlist is blocked for %llu per mille; %llu kernels, %llu unbinds\n",
	       !attack ? "alone" :
	       loads   ? "beside late unbinds of a loaded channel" :
			 "beside unbinds of an idle channel",
	       (unsigned long long)(1000 * had / all), (unsigned long long)(1000 * blocked / all),
	       (unsigned long long)kernels, (unsigned long long)unbinds);
	setup_end();
	return 1000 * had / all;
}

static void judge(bool loaded)
{
	u32 alone, beside;

	loads = loaded;
	alone = run(false);
	beside = run(true);
	assert_true(unbinds > RUN_MS / 7);
	if (beside + LOST < alone)
		harness_fail(
			"S5: a vGPU has %u per mille of the GPU, and %u beside one that does nothing on it",
			alone, beside);
	if (!loaded && blocked * 1000 > all * BLOCKED)
		harness_fail(
			"S5: unbinds of channels that are not loaded block the runlist for %llu per mille of the time",
			(unsigned long long)(1000 * blocked / all));
}

static void idle_channels(void **state)
{
	judge(false);
}

static void loaded_channels(void **state)
{
	judge(true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(idle_channels),
						   cmocka_unit_test(loaded_channels) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
