// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU pays once for the recovery of its channel, in each thread that recovers channels (S5).
 * Recovery waits for the chip with gpu->lock held. In a recovery by the slicer's thread, no sample
 * counts, because samples during a switch are dropped, and the switch charges only the time before
 * the recovery.
 *
 * The tests read struct machine_slice, where the charge is written: vmach_gpu_time_get() adds time
 * that is not charged yet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	    1000000ull
#define US	    1000ull
#define SEEDS	    5
#define WATCHDOG_MS 100
#define GIVE_UP_MS  1000
#define KERNEL_MS   95 /* less than PREEMPT_EVICT_MS: no reset */

enum { HANGS, NEIGHBOUR, VGPUS };

static const struct chip_manners steady = { .eager = true,
					    .busy = true,
					    .load_ppm = 2000,
					    .late = 2,
					    .idles = true };

static struct kvgpu_machine *machine(u32 i)
{
	return world.vgpu[i].v->m;
}

static u64 charged(u32 i)
{
	return atomic64_read(&machine(i)->gpu_ns);
}

/* GR works until its reset. */
static bool hangs(u16 id)
{
	return chip_hang(id, false);
}

static bool faults_behind_a_kernel(u16 id)
{
	return chip_hold(id, KERNEL_MS * MS) && chip_fault(id, 0x1000);
}

/*
 * vGPU HANGS has @begin happen to its channel. Fails unless the vGPU pays for all of the time up to
 * the end of the recovery, and once. The tolerance is a tenth of the recovery's wait. @alarm: the
 * chip tells of the hang while the slicer drives the channel off.
 */
static void judge(const char *what, u64 seed, bool (*begin)(u16 id), bool alarm)
{
	const struct policy coarse = { .seed = seed, .oversleep_ns = 20000 };
	u64 began, dead, off, wait, left, end, paid[VGPUS];
	struct kvgpu_chan *c;
	u32 i;

	setup_begin(&coarse, &steady, VGPUS);
	assert_int_equal(kvgpu_machine_gpu_knob_set(world.gpu, MACHINE_WATCHDOG_MS, WATCHDOG_MS),
			 0);
	c = vmach_chan_find(world.vgpu[HANGS].v, (gchid_t){ 1 });
	harness_sleep((30 + seed) * MS);
	while (!chip_engine_works(c->hchid.v) || !begin(c->hchid.v))
		harness_sleep(20 * US);
	began = harness_now;
	for (i = 0; i < VGPUS; i++)
		paid[i] = charged(i);
	for (end = began + GIVE_UP_MS * MS; !c->dead && harness_now < end; harness_sleep(50 * US))
		if (alarm)
			chip_switch_timeout();
	assert_true(c->dead);
	dead = harness_now;
	/* recovery has this lock until the channel is off the chip */
	kvgpu_hw_lock(&world.gpu->lock);
	off = harness_now;
	kvgpu_hw_unlock(&world.gpu->lock);
	wait = off - dead;
	assert_in_range(wait, 50 * MS, 400 * MS);
	while (machine(HANGS)->slice.on_chip && harness_now < end)
		harness_sleep(50 * US);
	assert_false(machine(HANGS)->slice.on_chip);
	left = harness_now;
	for (i = 0; i < VGPUS; i++)
		paid[i] = charged(i) - paid[i];
	printf("# %s, seed %llu: recovery begins after %llu us and waits %llu us; after %llu us its vGPU has paid %llu us, the neighbour %llu us\n",
	       what, (unsigned long long)seed, (dead - began) / US, wait / US, (left - began) / US,
	       paid[HANGS] / US, paid[NEIGHBOUR] / US);
	if (paid[HANGS] + wait / 10 < off - began || paid[HANGS] > left - began + wait / 10)
		harness_fail(
			"S5: %s, seed %llu: recovery waits %llu us, and of %llu us its vGPU pays %llu us",
			what, (unsigned long long)seed, wait / US, (left - began) / US,
			paid[HANGS] / US);
	if (paid[NEIGHBOUR] > wait / 10)
		harness_fail(
			"S5: %s, seed %llu: a neighbour's recovery waits %llu us, and a vGPU that does not get the chip pays %llu us",
			what, (unsigned long long)seed, wait / US, paid[NEIGHBOUR] / US);
	setup_end();
}

/* The slicer's thread recovers the channel, in a switch, after the watchdog's time. */
static void hang_found_in_a_switch(void **state)
{
	u64 s;

	for (s = 1; s <= SEEDS; s++)
		judge("a hang", s, hangs, false);
}

/*
 * A work item recovers the channel while the slicer waits in a switch. The switch charges all of
 * its time, except for the recovery's wait.
 */
static void hang_that_the_chip_tells_of(void **state)
{
	u64 s;

	for (s = 1; s <= SEEDS; s++)
		judge("an alarm", s, hangs, true);
}

/* A work item recovers the channel. The sampler sees the vGPU at work meanwhile. */
static void fault_behind_a_kernel(void **state)
{
	u64 s;

	for (s = 1; s <= SEEDS; s++)
		judge("a fault", s, faults_behind_a_kernel, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(hang_found_in_a_switch),
		cmocka_unit_test(hang_that_the_chip_tells_of),
		cmocka_unit_test(fault_behind_a_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
