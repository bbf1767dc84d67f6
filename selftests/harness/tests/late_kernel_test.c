// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel that begins while its channel is being unbound is charged, and its vGPU's cap holds
 * (S5). The channel waits for a semaphore, and GR is idle. A vCPU of the guest unbinds the channel.
 * Another one releases the semaphore a moment later: a channel that is disabled, but loaded, goes
 * on. So the kernel begins after the unbind has begun, and before the unbind's preempt is asked
 * for. The preempt waits for the kernel.
 *
 * The guest does not see the moment, but can guess it: a release that comes too late costs nothing,
 * as the channel has left by then. The test looks into the chip for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "mdev/machine/observe.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	  1000000ull
#define US	  1000ull
#define RUN_MS	  1500
#define KERNEL_MS 95 /* less than PREEMPT_EVICT_MS: no reset */
#define CHANNEL	  2
/* by so many per cent of the time a share may be exceeded (docs/invariants.md) */
#define POINTS 4

enum { WORKER, NEIGHBOUR, VGPUS };

/* .late 0: a preempt that nothing holds up ends at once */
static const struct chip_manners prompt = { .eager = true, .busy = true, .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 3000 };
static u64 had, all, kernels;
static bool done, in_unbind;

static u16 worker_id(void)
{
	return g_hchid(&world.vgpu[WORKER], CHANNEL);
}

static u64 paid(void)
{
	return vmach_gpu_time_get(world.vgpu[WORKER].v->m);
}

static void measure(void *arg)
{
	u16 held;

	for (; !done; harness_sleep(MS / 10), all++)
		had += chip_is_held(&held) && held == *(u16 *)arg;
}

/* The kernel that waited for the semaphore begins, if its channel is still loaded. */
static void release(void *arg)
{
	while (!done) {
		harness_wait(&in_unbind, harness_now + MS);
		if (!in_unbind)
			continue;
		/* the unbind blocks the runlist, and then asks for its preempt */
		while (in_unbind && !chip.reg[PFIFO_RUNLIST_BLOCK / 4])
			harness_sleep(50);
		kernels += in_unbind && chip_begin_held(*(u16 *)arg, KERNEL_MS * MS);
		while (in_unbind)
			harness_sleep(MS / 10);
	}
}

static void unbind(void *arg)
{
	struct world_vgpu *g = &world.vgpu[WORKER];
	u64 end = harness_now + RUN_MS * MS, list[] = { CHANNEL };

	g_unbind(g, 1);
	g_inst(g, CHANNEL, 0, 0);
	g_list(g, list, 1);
	while (harness_now < end) {
		g_bind(g, CHANNEL);
		g_enable(g, CHANNEL, true);
		*(u16 *)arg = worker_id();
		while (chip.pbdma[0].chid != worker_id() && harness_now < end) {
			harness_sleep(20 * US);
			chip_load_some(0, worker_id());
		}
		harness_sleep(20 * US);
		in_unbind = true;
		harness_wake(&in_unbind);
		g_unbind(g, CHANNEL);
		in_unbind = false;
		harness_sleep(20 * US);
	}
	done = true;
}

static void judge(const char *cap, u32 cap_pct, bool neighbour_works)
{
	u64 began, took, has, charged;
	u16 id = NO_CHAN;

	setup_begin(&coarse, &prompt, VGPUS);
	setup_knob(WORKER, "cap", cap);
	g_ring(&world.vgpu[WORKER], 1, 0);
	g_ring(&world.vgpu[NEIGHBOUR], 1, neighbour_works);
	had = all = kernels = 0;
	done = in_unbind = false;
	harness_sleep(1500 * MS);
	began = harness_now;
	took = paid();
	/* no actor: what another vCPU or the GPU does goes on in the middle of the unbind */
	task_new("release", release, &id);
	actor_new("meter", setup_mm, false, measure, &id);
	actor_new("unbind", setup_mm, false, unbind, &id);
	actors_run();
	harness_sleep(2 * MS); /* "release" ends */
	has = 1000 * had / all;
	charged = 1000 * (paid() - took) / (harness_now - began);
	printf("# cap %s %%: has %llu.%llu %%, is charged %llu.%llu %%, %llu kernels\n", cap,
	       has / 10, has % 10, charged / 10, charged % 10, kernels);
	assert_true(kernels);
	if (has > 10 * (cap_pct + POINTS) || has > charged + 10 * POINTS)
		harness_fail(
			"S5: a vGPU that may have %s %% has %llu.%llu %% and pays for %llu.%llu %%",
			cap, has / 10, has % 10, charged / 10, charged % 10);
	setup_end();
}

static void alone(void **state)
{
	judge("10", 10, false);
}

static void beside_a_neighbour(void **state)
{
	judge("50", 50, true);
}

/*
 * A thread that waits for the chip gets no CPU for 6 ms, and makes no observations. Another vGPU
 * has a kernel in that time, and is charged by samples.
 */
static void beside_a_thread_without_cpu(void **state)
{
	struct kvgpu_gpu *gpu;
	struct machine_obs obs;
	u64 took, began, pct;
	u32 i, nr = 0;

	setup_begin(&coarse, &prompt, VGPUS);
	gpu = world.gpu;
	setup_knob(WORKER, "cap", "90");
	for (i = 0; i < VGPUS; i++)
		g_ring(&world.vgpu[i], 1, 0);
	harness_sleep(100 * MS);
	took = paid();
	for (i = 0; i < 100; i++) {
		harness_sleep(10 * MS);
		chip_load_some(0, g_hchid(&world.vgpu[WORKER], 1));
		kvgpu_hw_lock(&gpu->lock);
		began = harness_now;
		vmach_wait_begin(&obs, gpu);
		nr += chip_begin_held(g_hchid(&world.vgpu[WORKER], 1), 5 * MS);
		harness_sleep(6 * MS);
		vmach_wait_charge(world.vgpu[NEIGHBOUR].v->m, &obs, false, began);
		kvgpu_hw_unlock(&gpu->lock);
	}
	harness_sleep(10 * MS);
	pct = 100 * (paid() - took) / (nr * 5 * MS);
	printf("# %u kernels, charged by %llu %%\n", nr, pct);
	if (nr < 50 || pct < 80 || pct > 130)
		harness_fail("S5: of %u kernels of 5 ms a vGPU pays for %llu %%", nr, pct);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(alone),
						   cmocka_unit_test(beside_a_neighbour),
						   cmocka_unit_test(beside_a_thread_without_cpu) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
