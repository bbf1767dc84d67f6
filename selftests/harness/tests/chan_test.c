// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels whose instance block comes to name another page directory, at moments that no driver chooses, on a chip that loads again at
 * once. Two actors: a vCPU that programs, and a thread of the VMM that takes memory or another vCPU; each test runs once for every
 * point where the one can be interrupted by the other, and then with seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define RAM		0x100000ull
#define SEEDS		12
#define POINTS_STEP	29	/* of the points, each so many-th in one run of the tests, from another one on for each seed */

static const struct chip_manners eager = { .eager = true }, restless = { .eager = true, .load_ppm = 30000, .look_ppm = 10000, .late = 3 };
static struct mm_struct *mm;
static struct container *c;
static struct world_vgpu *g;

static void begin(const struct policy *p, const struct chip_manners *m)
{
	static const struct policy quiet = { .seed = 1 };

	world_begin(&quiet, m);
	mm = mm_new();
	c = container_new(mm);
	g = world_make(0);
	assert_non_null(g);
	container_map(c, RAM, 0, RAM);
	assert_true(world_open(0, c));
	g_space(g, 0);
	g_space(g, 1);
	g_map_sys(g, 0, 16, RAM);
	g_map_sys(g, 0, 17, RAM + 0x1000);
	g_map_vram(g, 1, 16, G_DATA);
	g_inst(g, 1, 0, 0);
	g_inst(g, 2, 0, 0);
	harness_policy(p);
}

static void end(void)
{
	world_check("at the end");
	world_close(0);
	world_unmake(0);
	container_free(c);
	mm_free(mm);
	world_end();
}

/* channel 1 runs on space 0 */
static void start(void)
{
	u64 list[] = { 1, 2 };

	g_bind(g, 1);
	g_bind(g, 2);
	g_list(g, list, 2);
	g_enable(g, 1, true);
	g_enable(g, 2, true);
}

/* ------------------------------------------------------------------ what a vCPU does */

static void enabled_again(void *arg)
{
	g_inst(g, 1, 1, 0);
	g_enable(g, 1, true);
	g_tlb(g, 0);
}

static void listed_again(void *arg)
{
	u64 list[] = { 1, 2 };

	g_inst(g, 1, 1, 0);
	g_list(g, list, 2);
	g_tlb(g, 0);
}

static void grouped(void *arg)
{
	u64 list[] = { RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 2) | 5, 1, 2 }, bare[] = { 2, 1 };

	g_list(g, list, 3);
	g_inst(g, 2, 1, 0);
	g_enable(g, 2, true);
	g_preempt(g, true, 5);
	g_list(g, bare, 2);
}

static void unbound(void *arg)
{
	g_inst(g, 1, 1, 0);
	g_enable(g, 1, true);
	g_unbind(g, 1);
	g_bind(g, 1);
	g_enable(g, 1, true);
}

static void resets(void *arg)
{
	g_inst(g, 1, 1, 0);
	g_enable(g, 1, true);
	world_reset(0);
}

/* ------------------------------------------------------------------ what the other thread does */

static void takes_memory(void *arg)
{
	container_unmap(c, RAM, RAM);
}

static void invalidates(void *arg)
{
	g_tlb(g, 0);
	g_unmap(g, 0, 17);
	g_tlb(g, 0);
}

typedef void (*actor_fn)(void *arg);

static u64 run(const struct policy *p, const struct chip_manners *m, actor_fn one, actor_fn other, bool late_bind)
{
	u64 points;

	begin(p, m);
	if (late_bind) {	/* listed before it is bound */
		u64 list[] = { 1, 2 };

		g_list(g, list, 2);
		g_bind(g, 1);
		g_enable(g, 1, true);
	} else {
		start();
	}
	harness_policy(p);
	actor_new("vCPU", mm, false, one, NULL);
	actor_new("thread", mm, false, other, NULL);
	actors_run();
	points = harness_points();
	end();
	return points;
}

static void explore(actor_fn one, actor_fn other, bool late_bind)
{
	struct policy p = { .seed = 1 };
	u64 points = run(&p, &eager, one, other, late_bind), i;

	p.nr_script = 1;
	for (i = 1 + (points / 3) % POINTS_STEP; i <= points; i += getenv("HARNESS_ALL") ? 1 : POINTS_STEP) {
		p.script[0].at = i;
		run(&p, &eager, one, other, late_bind);
	}
	p.nr_script = 0;
	for (i = 0; i < SEEDS; i++) {
		p.seed = 100 + i;
		p.switch_ppm = 20000 + 40000 * (i % 4);
		run(&p, &restless, one, other, late_bind);
	}
}

static void an_enabled_channel_is_enabled(void **state)
{
	explore(enabled_again, takes_memory, false);
	explore(enabled_again, invalidates, false);
}

static void a_running_channel_is_listed(void **state)
{
	explore(listed_again, takes_memory, true);
}

static void a_group_changes(void **state)
{
	explore(grouped, takes_memory, false);
}

static void a_channel_is_unbound(void **state)
{
	explore(unbound, invalidates, false);
}

static void a_guest_is_reset(void **state)
{
	explore(resets, takes_memory, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_enabled_channel_is_enabled),
		cmocka_unit_test(a_running_channel_is_listed),
		cmocka_unit_test(a_group_changes),
		cmocka_unit_test(a_channel_is_unbound),
		cmocka_unit_test(a_guest_is_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
