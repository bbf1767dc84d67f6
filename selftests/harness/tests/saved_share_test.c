// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPU time that is saved up under equal and fixed share (S5). A channel of the saver waits for a
 * semaphore, so that the saver has work and uses no GPU. Another vGPU runs a long kernel, and is
 * then throttled until it has paid. Meanwhile no vGPU but the saver could use the chip, so the
 * saver is neither parked nor charged for idling. The saver must not be owed that time: else it has
 * the GPU alone when it begins to work.
 *
 * The long kernels are the neighbour's own, or those of helpers that wake in turns, or of a helper
 * that is suspended while it owes.
 *
 * On a GK110 a SEMAPHORE_ACQUIRE keeps a PBDMA and no engine. Here the saver has a second channel
 * whose doorbell words tell of work. A kernel of one thread block can't be preempted
 * (docs/sharing.md, "What it can't do"). Here chip_hold() stands for that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/ram.h"
#include "selftests/harness/tests/partners.h"

#define SAVER	     WORKER
#define NEIGHBOUR    ACCOMPLICE
#define FIRST_HELPER 2u
#define KERNEL_NS    (1900 * MS) /* less than the watchdog's time */
#define WINDOW_NS    (10000 * MS) /* shares are promised for any ten seconds */
#define SOON_NS	     (20 * (s64)MS)
#define V	     4096 /* SCHED_V */

static u64 seen[WORLD_VGPUS], nr_polls, first_neighbour;
static u32 nr, kernels;
static bool saves, light, is_suspended, measures;
static s64 credit;

static void submit(u32 i)
{
	g_write(&world.vgpu[i], PFIFO_RUNLIST_SUBMIT, i == SAVER ? 2 : 1);
}

/* What vGPU @i owes, ns of GPU time; below 0: what it is owed. */
static s64 debt(u32 i)
{
	const struct kvgpu_sched_ent *e = &slice_of(i)->ent;

	return (s64)(e->vtime - slicer()->sched.vclock) / V * (s64)e->share;
}

/* Waits until the turn under way is so old that a vGPU that wakes ends it at once. */
static void until_turn_is_old(void)
{
	while (harness_now < slicer()->sched.turn_start + MS)
		harness_sleep(50 * US);
}

static void long_kernel(u32 i)
{
	const struct kvgpu_machine *m = world.vgpu[i].v->m;
	u16 id = chan_at(i, 1);
	u64 end = harness_now + 100 * MS;

	until_turn_is_old();
	g_ring(&world.vgpu[i], 1, 1);
	submit(i);
	while (!((slicer()->shared || slicer()->owner == m) && listed(i) &&
		 chip_hold(id, KERNEL_NS)) &&
	       harness_now < end)
		harness_sleep(20 * US);
	if (harness_now >= end)
		harness_fail("vGPU %u had no turn", i);
	end = harness_now + KERNEL_NS;
	kernels++;
	harness_sleep(100 * MS);
	g_ring(&world.vgpu[i], 1, 0);
	harness_sleep(end - harness_now + MS);
}

/* The helpers run long kernels in turns. */
static void helpers_work(u32 rounds)
{
	u32 k, i, helpers = nr - FIRST_HELPER;

	for (k = 0; k < rounds; k++) {
		i = FIRST_HELPER + k % helpers;
		while (slice_of(i)->ent.share_throttled)
			harness_sleep(200 * US);
		long_kernel(i);
	}
	while (debt(FIRST_HELPER + (k - 1) % helpers) > SOON_NS)
		harness_sleep(MS);
}

static void suspend(u32 i)
{
	struct kvgpu_machine *m = world.vgpu[i].v->m;

	kvgpu_hw_lock(&world.gpu->lock);
	while (!vmach_vgpu_suspended(m))
		vmach_strike_add(m, "of this test");
	kvgpu_hw_unlock(&world.gpu->lock);
}

/*
 * One helper of a tenth of the others' weight. It owes for long after one long kernel, in which the
 * saver saves up.
 */
static void light_helper_works(void)
{
	u64 end = harness_now + 25000 * MS;

	long_kernel(FIRST_HELPER);
	if (is_suspended)
		suspend(FIRST_HELPER);
	while (-debt(SAVER) < 5000 * (s64)MS && harness_now < end)
		harness_sleep(10 * MS);
}

static void neighbour_works(void)
{
	long_kernel(NEIGHBOUR);
	while (debt(NEIGHBOUR) > SOON_NS)
		harness_sleep(MS);
}

static void meter(void *arg)
{
	u32 i;

	while (!done) {
		harness_sleep(MS / 5);
		if (!measures)
			continue;
		nr_polls++;
		for (i = 0; i < nr; i++)
			seen[i] += chip_engine_works(chan_at(i, 1));
		if (nr_polls == 5000) /* a second */
			first_neighbour = seen[NEIGHBOUR];
	}
}

static void plays(void *arg)
{
	u32 rounds = *(u32 *)arg;

	if (saves) {
		tell_work(SAVER, true);
		submit(SAVER);
	}
	if (light)
		light_helper_works();
	else if (nr > FIRST_HELPER)
		helpers_work(rounds);
	else
		neighbour_works();
	credit = -debt(SAVER);
	g_ring(&world.vgpu[NEIGHBOUR], 1, 1);
	submit(NEIGHBOUR);
	g_ring(&world.vgpu[SAVER], 1, 1);
	submit(SAVER);
	measures = true;
	harness_sleep(WINDOW_NS);
	done = true;
}

static void judge(enum kvgpu_sched_policy policy, u32 vgpus, u32 rounds, bool save)
{
	u32 has, first, share, i;

	nr = vgpus;
	saves = save;
	setup_begin(&coarse, &plain, nr);
	assert_int_equal(kvgpu_machine_gpu_knob_set(world.gpu, MACHINE_POLICY, policy), 0);
	if (light)
		setup_knob(FIRST_HELPER, "weight", "10");
	second_channel(SAVER);
	for (i = NEIGHBOUR; i < nr; i++)
		g_ring(&world.vgpu[i], 1, 0);
	harness_sleep(500 * MS);
	memset(seen, 0, sizeof(seen));
	nr_polls = first_neighbour = kernels = 0;
	measures = done = false;
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("vGPUs", setup_mm, false, plays, &rounds);
	actors_run();
	share = (kvgpu_machine_entitlement_get(world.vgpu[SAVER].v) + 5000) / 10000;
	has = 1000 * seen[SAVER] / nr_polls;
	first = 1000 * first_neighbour / 5000;
	printf("# policy %u, %u vGPUs, %u long kernels, %s: is owed %lld ms; in ten seconds it has %u.%u %%, the neighbour %llu.%llu %%, in the first second %u.%u %%\n",
	       policy, nr, kernels, save ? "waits meanwhile" : "sleeps meanwhile",
	       (long long)credit / 1000000, has / 10, has % 10,
	       (unsigned long long)(100 * seen[NEIGHBOUR] / nr_polls),
	       (unsigned long long)(1000 * seen[NEIGHBOUR] / nr_polls % 10), first / 10,
	       first % 10);
	for (i = 0; i < nr; i++)
		if (!is_suspended || i != FIRST_HELPER)
			assert_int_equal(slice_of(i)->strikes.total, 0);
	if (has > 10 * (share + POINTS))
		harness_fail("S5: it may have %u %% and %u %% more, and has %u.%u %%", share,
			     POINTS, has / 10, has % 10);
	setup_end();
}

/* A vGPU without work saves up nothing: the same, but the saver sleeps. */
static void sleeps(void **state)
{
	judge(KVGPU_SCHED_EQUAL_SHARE, 2, 0, false);
	judge(KVGPU_SCHED_EQUAL_SHARE, 4, 4, false);
	judge(KVGPU_SCHED_FIXED_SHARE, 2, 0, false);
}

static void beside_a_long_kernel(void **state)
{
	judge(KVGPU_SCHED_EQUAL_SHARE, 2, 0, true);
}

static void beside_a_long_kernel_fixed(void **state)
{
	judge(KVGPU_SCHED_FIXED_SHARE, 2, 0, true);
}

static void with_one_helper(void **state)
{
	judge(KVGPU_SCHED_EQUAL_SHARE, 3, 1, true);
}

static void with_two_helpers(void **state)
{
	judge(KVGPU_SCHED_EQUAL_SHARE, 4, 4, true);
}

static void with_a_light_helper(void **state)
{
	light = true;
	judge(KVGPU_SCHED_EQUAL_SHARE, 3, 1, true);
	light = false;
}

static void with_a_suspended_helper(void **state)
{
	light = is_suspended = true;
	judge(KVGPU_SCHED_EQUAL_SHARE, 3, 1, true);
	judge(KVGPU_SCHED_FIXED_SHARE, 3, 1, true);
	light = is_suspended = false;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeps),
		cmocka_unit_test(beside_a_long_kernel),
		cmocka_unit_test(beside_a_long_kernel_fixed),
		cmocka_unit_test(with_one_helper),
		cmocka_unit_test(with_two_helpers),
		cmocka_unit_test(with_a_light_helper),
		cmocka_unit_test(with_a_suspended_helper),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
