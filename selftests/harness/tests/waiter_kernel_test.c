// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel of one vGPU waits on its PBDMA for GR behind a kernel of another vGPU, as in
 * next_channel_test unnamed_long_kernels (T18 of docs/supported.md; GR names the channel that it
 * has alone). The kernel takes longer than the watchdog's time, but its channel leaves within the
 * time of its own that it is given. Then the channel that waited gets GR, and its own kernel of
 * less than the watchdog's time begins: it must be neither ended nor struck (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS		1000000ull
#define US		1000ull
#define ROUNDS		10
enum { WORKER, WAITER, VGPUS };

static const struct chip_manners names_holder = { .eager = true, .busy = true, .late = 2,
	.idles = true, .waiters_stay = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
static u64 kernel_ms, own_ms;

static struct kvgpu_machine *machine(u32 i)
{
	return world.vgpu[i].v->m;
}

static u64 strikes(u32 i)
{
	return machine(i)->slice.strikes.total;
}

static struct kvgpu_chan *chan(u32 i)
{
	return vmach_chan_find(world.vgpu[i].v, (gchid_t){ 1 });
}

static bool works_on(u32 i)
{
	u16 held;

	return chip_is_held(&held) && held == g_hchid(&world.vgpu[i], 1);
}

/* The guest binds and lists its channel again, if it was ended or unbound. */
static void make_chan(u32 i)
{
	if (chan(i) && !chan(i)->dead)
		return;
	g_chan_anew(&world.vgpu[i], 1);
}

/* vGPU @i works alone for @ns, then its ring is empty for a moment. */
static void work_alone(u32 i, u64 ns)
{
	u64 end = harness_now + ns;

	g_ring(&world.vgpu[!i], 1, 0);
	g_ring(&world.vgpu[i], 1, 1);
	chip_load_some(0, g_hchid(&world.vgpu[i], 1));
	while (harness_now < end || !world.gpu->chip->slicer.open)
		harness_sleep(MS);
	g_ring(&world.vgpu[i], 1, 0);
	harness_sleep(20 * US);
}

/* The worker's kernel begins, then the waiter has work, and the chip turns to it. */
static void begin_kernel(u64 ms)
{
	struct world_vgpu *g = world.vgpu;

	g_ring(&g[WORKER], 1, 1);
	for (;;) {
		chip_load_some(0, g_hchid(&g[WORKER], 1));
		if (chip_hold(g_hchid(&g[WORKER], 1), ms * MS))
			break;
		work_alone(WAITER, 100 * MS);
		g_ring(&g[WORKER], 1, 1);
	}
	harness_sleep(20 * US);
	g_ring(&g[WAITER], 1, 1);
	chip_load_some(0, g_hchid(&g[WAITER], 1));
}

static u16 waiter;
static u64 began_at;

/* When GR is free, the kernel of the channel that waits on PBDMA 0 begins. */
static void waiter_goes_on(u32 reg, u32 val)
{
	if (!began_at && reg == PFIFO_PREEMPT && !chip_is_stuck() && chip.pbdma[0].chid == waiter &&
	    chip_begin_held(waiter, own_ms * MS))
		began_at = harness_now;
}

static void kernels(void *arg)
{
	u32 n;

	for (n = 0; n < ROUNDS && !vmach_vgpu_suspended(machine(WAITER)); n++) {
		make_chan(WAITER);
		make_chan(WORKER);
		work_alone(WAITER, 1500 * MS);
		waiter = g_hchid(&world.vgpu[WAITER], 1);
		began_at = 0;
		begin_kernel(kernel_ms);
		chip_before_write = waiter_goes_on;
		while (works_on(WORKER))
			harness_sleep(MS);
		while (works_on(WAITER))
			harness_sleep(MS);
		chip_before_write = NULL;
		/* a recovery ends */
		kvgpu_hw_lock(&world.gpu->lock);
		kvgpu_hw_unlock(&world.gpu->lock);
		harness_sleep(MS);
		printf("# a kernel of %llu ms, then one of %llu ms had GR for %llu ms: its channel is ended %d, strikes %llu and %llu\n",
		       kernel_ms, own_ms, began_at ? (harness_now - began_at) / MS : 0,
		       chan(WAITER)->dead, strikes(WORKER), strikes(WAITER));
	}
	if (strikes(WAITER))
		harness_fail("S5: kernels of %llu ms behind another vGPU's kernels cost their vGPU %llu strikes%s, and that one %llu",
			     own_ms, strikes(WAITER),
			     vmach_vgpu_suspended(machine(WAITER)) ? ", it is suspended" : "",
			     strikes(WORKER));
}

static void run_on(u64 ms, u64 own)
{
	kernel_ms = ms;
	own_ms = own;
	setup_begin(&coarse, &names_holder, VGPUS);
	actor_new("guests", setup_mm, false, kernels, NULL);
	actors_run();
	setup_end();
}

static void short_behind_long(void **state)
{
	run_on(3000, 100);
}

static void long_behind_long(void **state)
{
	run_on(3000, 1000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_behind_long),
		cmocka_unit_test(long_behind_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
