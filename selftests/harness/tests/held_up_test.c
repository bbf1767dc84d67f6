// SPDX-License-Identifier: GPL-2.0-only
/*
 * A preempt waits for the preempt register's lock for 2 s, because a channel of another vGPU is
 * evicted. That wait is no reason to end the channel that is to leave: its own kernel takes 100 ms.
 * The source is included, under other names, for its static functions; the module of the program
 * has its own copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "hw/internal.h"

#define vmach_slicer_init  copy_slicer_init
#define vmach_watchdog_set copy_watchdog_set
#define vmach_slicer_start copy_slicer_start
#define vmach_slicer_stop  copy_slicer_stop
#include "mdev/machine/slice.c"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS 1000000ull
/* for so long the other thread has the register: a little less than a preempt may take */
#define HELD_MS (PREEMPT_LAST_MS - 10)
/* the kernel of the channel that is to leave begins so long before that */
#define BEFORE_MS 50
#define KERNEL_MS 100

static const struct chip_manners steady = { .busy = true, .eager = true, .late = 1 };
static const struct policy quiet = { .seed = 1 };
static const struct policy short_sleeps = { .seed = 1, .oversleep_ns = 5000 };
static bool held;
static u64 waited;

/* Has the register for the time of an eviction's last preempt. */
static void evicts(void *arg)
{
	struct kvgpu_hw_lock *l = &world.gpu->hw.p->preempt_lock;

	kvgpu_hw_lock(l);
	held = true;
	harness_sleep((HELD_MS - BEFORE_MS) * MS);
	if (!chip_hold(g_hchid(&world.vgpu[1], 1), KERNEL_MS * MS))
		harness_fail("GR does not have the channel");
	harness_sleep(BEFORE_MS * MS);
	kvgpu_hw_unlock(l);
}

static void await_eviction(void)
{
	while (!held)
		harness_sleep(MS / 20);
}

static void preempts(void *arg)
{
	await_eviction();
	waited = harness_now;
	g_preempt(&world.vgpu[1], false, 1);
	waited = harness_now - waited;
}

static void drives_off(void *arg)
{
	struct machine_loaded l = { .vgpu = world.vgpu[1].v->id, .id = g_hchid(&world.vgpu[1], 1) };
	struct machine_obs w;

	await_eviction();
	vmach_obs_begin(&w, world.gpu);
	waited = harness_now;
	chan_drive_off(world.gpu->chip, &l, &w);
	waited = harness_now - waited;
}

static void beside_an_eviction(const char *what, void (*acts)(void *arg))
{
	struct kvgpu_chan *c;

	held = false;
	setup_begin(&quiet, &steady, 2);
	g_ring(&world.vgpu[1], 1, 0);
	harness_sleep(50 * MS);
	harness_policy(&short_sleeps);
	c = vmach_chan_find(world.vgpu[1].v, (gchid_t){ 1 });
	vmach_watchdog_set(world.gpu, PREEMPT_LAST_MS);
	actor_new("evicts", setup_mm, false, evicts, NULL);
	actor_new(what, setup_mm, false, acts, NULL);
	actors_run();
	harness_policy(&quiet);
	printf("# %s: waits for %llu ms, its channel %s\n", what, (unsigned long long)(waited / MS),
	       c->dead ? "was ended" : "lives");
	/* the scenario holds: the wait was longer than the budget */
	assert_true(waited > PREEMPT_GUEST_MS * MS);
	if (c->dead)
		harness_fail(
			"S5: %s: a channel is ended that has a kernel of %u ms, because another one is evicted",
			what, KERNEL_MS);
	setup_end();
}

static void a_guests_preempt(void **state)
{
	beside_an_eviction("a guest's preempt", preempts);
}

static void the_slicers_preempt(void **state)
{
	beside_an_eviction("the slicer's preempt", drives_off);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guests_preempt),
		cmocka_unit_test(the_slicers_preempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
