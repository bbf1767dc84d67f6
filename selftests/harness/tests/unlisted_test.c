// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest must not choose how far apart samples are (S5). A vGPU is charged from the sample that
 * saw it at work until the next one. If samples came further apart while no vGPU has a list, a
 * guest could work while gaps are long, have the gap after the sample that saw it cut short, and
 * pay for the short gap only. So the mean goes by bound channels, not by lists (sched/gap.c).
 *
 * The worker submits a list with its channel, waits until the channel is loaded, and submits an
 * empty list. A loaded channel stays until it is preempted (docs/hardware.md, Turns). The channel
 * waits for a semaphore, which keeps its PBDMA and no engine. After the next sample, of which the
 * page of flushes tells, the worker hopes for a long gap, and works until the page tells of a
 * sample again. Then it stops, and submits its list once more, so that a new time would be drawn
 * for the next sample, from the short mean.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "selftests/harness/tests/partners.h"

enum { UNLISTS, BLOCKS, STAYS };

static const char *const names[] = { "submits an empty list", "blocks its list",
				     "leaves its list" };
static u64 cycles, lost;
static u32 how, run_ms;

/* Ask for a flush, and wait until it is done: a sample was taken. */
static void until_sample(struct world_vgpu *g, u64 end)
{
	volatile u32 *flush = (u32 *)(g->v->own[VGPU_OWN_FLUSH].memory +
				      (FLUSH_BAR - g->v->own[VGPU_OWN_FLUSH].at));

	*flush = FLUSH_TRIGGER;
	while (*flush & FLUSH_TRIGGER && harness_now < end)
		harness_sleep(20 * US);
}

static void list_show(struct world_vgpu *g, bool on)
{
	u64 list[1] = { 1 };

	if (how == UNLISTS)
		g_list(g, list, on);
	else if (how == BLOCKS)
		g_write(g, PFIFO_RUNLIST_BLOCK, !on);
}

static void works_while_gaps_are_long(void *arg)
{
	struct world_vgpu *g = &world.vgpu[WORKER];
	u64 end = harness_now + run_ms * MS, t;
	u16 id = chan_at(WORKER, 1);

	while (harness_now < end) {
		list_show(g, true);
		for (t = harness_now + MS; !chip_loaded(id) && harness_now < t;) {
			chip_load_some(0, id);
			harness_sleep(5 * US);
		}
		list_show(g, false);
		until_sample(g, end);
		harness_sleep(60 * US); /* by now the poll has asked the engines, too */
		if (!chip_loaded(id)) {
			lost++;
			continue;
		}
		cycles++;
		chip_at_work(id, true);
		until_sample(g, end);
		chip_at_work(id, false);
	}
	done = true;
}

static void judge(enum kvgpu_sched_policy policy, const char *cap, u32 vgpus, bool listed, u32 h,
		  u32 share)
{
	u32 has, charged, i;
	u64 began, took;

	how = h;
	run_ms = 4000;
	setup_begin(&coarse, &plain, vgpus);
	assert_int_equal(kvgpu_machine_gpu_knob_set(world.gpu, MACHINE_POLICY, policy), 0);
	setup_knob(WORKER, "cap", cap);
	for (i = 0; i < vgpus; i++) {
		g_ring(&world.vgpu[i], 1, 0);
		if (i != WORKER && !listed)
			g_list(&world.vgpu[i], NULL, 0);
	}
	harness_sleep(1500 * MS);
	if (!share)
		share = (kvgpu_machine_entitlement_get(world.vgpu[WORKER].v) + 5000) / 10000;
	had = all = cycles = lost = 0;
	done = false;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actor_new("worker", setup_mm, false, works_while_gaps_are_long, NULL);
	actors_run();
	has = 1000 * had / all;
	charged =
		1000 * (vmach_gpu_time_get(world.vgpu[WORKER].v->m) - took) / (harness_now - began);
	printf("# policy %u, cap %s, %u vGPUs%s, %s: may have %u %%, has %u.%u %%, is charged %u.%u %%; %llu cycles, %llu lost\n",
	       policy, cap, vgpus, listed ? " with lists" : "", names[how], share, has / 10,
	       has % 10, charged / 10, charged % 10, (unsigned long long)cycles,
	       (unsigned long long)lost);
	assert_true(cycles > 10);
	must_keep_to(share, has, charged);
	setup_end();
}

/* this keeps to the cap */
static void with_its_list(void **state)
{
	judge(KVGPU_SCHED_BEST_EFFORT, "10", 1, false, STAYS, 10);
}

static void without_a_list(void **state)
{
	judge(KVGPU_SCHED_BEST_EFFORT, "10", 1, false, UNLISTS, 10);
}

static void with_a_blocked_list(void **state)
{
	judge(KVGPU_SCHED_BEST_EFFORT, "10", 1, false, BLOCKS, 10);
}

static void beside_an_idle_one(void **state)
{
	judge(KVGPU_SCHED_BEST_EFFORT, "10", 2, true, UNLISTS, 10);
}

static void equal_share(void **state)
{
	judge(KVGPU_SCHED_EQUAL_SHARE, "100", 2, false, UNLISTS, 0);
}

static void fixed_share(void **state)
{
	judge(KVGPU_SCHED_FIXED_SHARE, "100", 1, false, UNLISTS, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_its_list),       cmocka_unit_test(without_a_list),
		cmocka_unit_test(with_a_blocked_list), cmocka_unit_test(beside_an_idle_one),
		cmocka_unit_test(equal_share),	       cmocka_unit_test(fixed_share),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
