// SPDX-License-Identifier: GPL-2.0-only
/*
 * GR is to switch from a channel of one vGPU to a channel of another, and the first one's kernel
 * can't be saved yet. The status of GR then names both (chip.h, .names_next), and the second one,
 * which waits, can't leave its PBDMA (.waiters_stay). Whatever is done to the second one, the first
 * one's kernel is its own vGPU's: it is charged to that one, it is not lost before the watchdog's
 * time, and it ends, strikes and suspends no other vGPU (S5).
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

#define MS	   1000000ull
#define US	   1000ull
#define ROUNDS	   4
#define OWN_ROUNDS 10 /* more than the strikes that suspend a vGPU */
/* more than PREEMPT_GUEST_MS, and than its turns beside those of the slicer */
#define WATCHDOG_MS 8000
#define ENDLESS_MS  20000
/* a kernel of the worker that ends before the watchdog's time, and the watchdog ends nothing */
#define LONG_MS	 1800
#define LEGAL_MS 500
/* an unbind ends within 2.1 s of waits, and the eviction of the channel that kept the engine */
#define UNBIND_MS 2800

enum { WORKER, WAITER, VGPUS };

static const struct chip_manners names = { .eager = true,
					   .busy = true,
					   .late = 2,
					   .idles = true,
					   .waiters_stay = true,
					   .names_next = true };
static const struct chip_manners names_holder = { .eager = true,
						  .busy = true,
						  .late = 2,
						  .idles = true,
						  .waiters_stay = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
static u64 kernel_ms, own_ms, began_at, had, paid[VGPUS];
static u16 waiter;

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
	while (harness_now < end || !world.gpu->chip->slicer.shared)
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

static void kernels(void *arg)
{
	u64 was[VGPUS], at;
	u32 n, i;

	for (n = 0; n < ROUNDS && !vmach_vgpu_suspended(machine(WORKER)); n++) {
		work_alone(WAITER, 1500 * MS);
		for (i = 0; i < VGPUS; i++)
			was[i] = vmach_gpu_time_get(machine(i));
		at = harness_now;
		begin_kernel(kernel_ms);
		while (works_on(WORKER))
			harness_sleep(MS);
		had += harness_now - at;
		/* a recovery ends */
		kvgpu_hw_lock(&world.gpu->lock);
		kvgpu_hw_unlock(&world.gpu->lock);
		harness_sleep(MS);
		for (i = 0; i < VGPUS; i++)
			paid[i] += vmach_gpu_time_get(machine(i)) - was[i];
		if (chan(WAITER)->dead)
			harness_fail("S5: a channel is ended behind another vGPU's kernel");
		make_chan(WORKER);
	}
	printf("# kernels of %llu ms: charged %llu and %llu ms, strikes %llu and %llu\n",
	       had / MS / n, paid[WORKER] / MS, paid[WAITER] / MS, strikes(WORKER),
	       strikes(WAITER));
	if (strikes(WAITER))
		harness_fail("S5: another vGPU's kernels cost a vGPU %llu strikes",
			     strikes(WAITER));
	if (paid[WAITER] > had / 20 || paid[WORKER] < had - had / 20)
		harness_fail(
			"S5: kernels had GR for %llu ms, their vGPU is charged %llu ms, and the one that waited %llu ms",
			had / MS, paid[WORKER] / MS, paid[WAITER] / MS);
}

static void run_on(const struct chip_manners *manners, void (*fn)(void *arg), u64 ms)
{
	kernel_ms = ms;
	had = paid[WORKER] = paid[WAITER] = 0;
	setup_begin(&coarse, manners, VGPUS);
	actor_new("guests", setup_mm, false, fn, NULL);
	actors_run();
	setup_end();
}

static void run(void (*fn)(void *arg), u64 ms)
{
	run_on(&names, fn, ms);
}

/* The watchdog ends the worker's channel, and no other. */
static void endless_kernels(void **state)
{
	run(kernels, ENDLESS_MS);
}

static void long_kernels(void **state)
{
	run(kernels, LONG_MS);
}

/* The same on a chip whose GR names only the channel that it has. */
static void unnamed_endless_kernels(void **state)
{
	run_on(&names_holder, kernels, ENDLESS_MS);
}

static void unnamed_long_kernels(void **state)
{
	run_on(&names_holder, kernels, LONG_MS);
}

/* When GR is free, the kernel of the channel that waits on PBDMA 0 begins. */
static void waiter_goes_on(u32 reg, u32 val)
{
	if (!began_at && reg == PFIFO_PREEMPT && !chip_is_stuck() && chip.pbdma[0].chid == waiter &&
	    chip_begin_held(waiter, own_ms * MS))
		began_at = harness_now;
}

/*
 * The worker's kernel takes longer than the watchdog's time, but its channel leaves within the time
 * of its own that it is given. Then the waiter gets GR, and its own kernel of less than the
 * watchdog's time begins: it must be neither ended nor struck.
 */
static void own_kernels(void *arg)
{
	u32 n;

	for (n = 0; n < OWN_ROUNDS && !vmach_vgpu_suspended(machine(WAITER)); n++) {
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
		harness_fail(
			"S5: kernels of %llu ms behind another vGPU's kernels cost their vGPU %llu strikes%s, and that one %llu",
			own_ms, strikes(WAITER),
			vmach_vgpu_suspended(machine(WAITER)) ? ", it is suspended" : "",
			strikes(WORKER));
}

static void unnamed_short_behind_long(void **state)
{
	own_ms = 100;
	run_on(&names_holder, own_kernels, 3000);
}

static void unnamed_long_behind_long(void **state)
{
	own_ms = 1000;
	run_on(&names_holder, own_kernels, 3000);
}

/*
 * A guest preempts its channel, as a driver does to change the channel's context. The preempt gives
 * up before the watchdog ends the worker's channel.
 */
static void preempt_waiter(void *arg)
{
	assert_int_equal(kvgpu_machine_gpu_knob_set(world.gpu, MACHINE_WATCHDOG_MS, WATCHDOG_MS),
			 0);
	work_alone(WAITER, 1500 * MS);
	begin_kernel(ENDLESS_MS);
	g_preempt(&world.vgpu[WAITER], false, 1);
	harness_sleep(WATCHDOG_MS * MS);
	if (chan(WAITER)->dead || strikes(WAITER))
		harness_fail(
			"S5: a channel that waits behind another vGPU's kernel is ended by its own guest's preempt");
	if (!chan(WORKER)->dead)
		harness_fail("S5: an endless kernel goes on");
}

static void a_preempt_of_a_waiter(void **state)
{
	run(preempt_waiter, 0);
}

/* The waiter's guest unbinds its channel behind a kernel that ends before the watchdog's time. */
static void unbind_waiter(void *arg)
{
	u32 n, val;
	u64 end;

	for (n = 0; n < ROUNDS; n++) {
		work_alone(WORKER, 1500 * MS);
		begin_kernel(LEGAL_MS);
		end = harness_now + (LEGAL_MS - 10) * MS;
		chip_watch_writes();
		g_unbind(&world.vgpu[WAITER], 1);
		if ((harness_now < end && !works_on(WORKER)) || chip_written(PMC_ENABLE, &val))
			harness_fail(
				"S5: a kernel is lost by a reset of GR when another vGPU's channel is unbound");
		make_chan(WAITER);
	}
	if (strikes(WORKER) || strikes(WAITER) || chan(WORKER)->dead)
		harness_fail("S5: a kernel of %u ms counts as a hang", LEGAL_MS);
}

static void unbinds_behind_a_kernel(void **state)
{
	run(unbind_waiter, 0);
}

/* The same behind an endless kernel: the worker's channel is ended, and the unbind is bounded. */
static void unbind_behind_endless(void *arg)
{
	u64 at;

	work_alone(WORKER, 1500 * MS);
	begin_kernel(ENDLESS_MS);
	at = harness_now;
	g_unbind(&world.vgpu[WAITER], 1);
	at = harness_now - at;
	printf("# an unbind behind an endless kernel takes %llu ms\n", at / MS);
	if (vmach_gpu_lost(world.gpu) || at > UNBIND_MS * MS)
		harness_fail("S5: an unbind behind another vGPU's endless kernel takes %llu ms%s",
			     at / MS, vmach_gpu_lost(world.gpu) ? ", and the card is lost" : "");
	if (!chan(WORKER)->dead || strikes(WORKER) != 1 || strikes(WAITER) ||
	    machine(WAITER)->slice.resets.count)
		harness_fail("S5: an endless kernel is not its own vGPU's");
}

static void an_unbind_behind_an_endless_kernel(void **state)
{
	run(unbind_behind_endless, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(endless_kernels),
		cmocka_unit_test(long_kernels),
		cmocka_unit_test(unnamed_endless_kernels),
		cmocka_unit_test(unnamed_long_kernels),
		cmocka_unit_test(unnamed_short_behind_long),
		cmocka_unit_test(unnamed_long_behind_long),
		cmocka_unit_test(a_preempt_of_a_waiter),
		cmocka_unit_test(unbinds_behind_a_kernel),
		cmocka_unit_test(an_unbind_behind_an_endless_kernel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
