// SPDX-License-Identifier: GPL-2.0-only
/*
 * An unbind waits for the chip under gpu->lock. A guest unbinds behind kernels, again and again,
 * and still a neighbour has its share. And an accomplice's unbinds do not hide the work of another
 * vGPU (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS 1000000ull

static const struct chip_manners busy = {
	.busy = true,
	.eager = true,
	.load_ppm = 2000,
	.late = 1,
};
static const struct chip_manners steady = { .eager = true,
					    .load_ppm = 2000,
					    .late = 2,
					    .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
static bool done;
static u32 run_ms, hold_ms, unbinds_done;
static u64 had[2], samples, took[2], began;

static struct kvgpu_chan *chan(u32 id)
{
	return vmach_chan_find(world.vgpu[0].v, (gchid_t){ id });
}

static void start(u32 ms)
{
	u32 i;

	run_ms = ms;
	done = false;
	had[0] = had[1] = samples = 0;
	unbinds_done = 0;
	began = harness_now;
	for (i = 0; i < 2; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
}

static double part(u32 i)
{
	return 100.0 * had[i] / samples;
}

static double paid(u32 i)
{
	return 100.0 * (vmach_gpu_time_get(world.vgpu[i].v->m) - took[i]) / (harness_now - began);
}

static void unbinds_behind_kernels(void *arg)
{
	u64 end = harness_now + run_ms * MS, list[] = { 2 };
	struct world_vgpu *g = &world.vgpu[0];
	struct kvgpu_chan *c;

	g_unbind(g, 1);
	g_inst(g, 2, 0, 0);
	g_list(g, list, 1);
	while (harness_now < end && !vmach_vgpu_suspended(g->v->m)) {
		g_bind(g, 2);
		g_enable(g, 2, true);
		g_ring(g, 2, harness_below(100) + 1);
		c = chan(2);
		while (c && !chip_loaded(c->hchid.v) && harness_now < end)
			harness_sleep(MS / 20);
		if (c && chip_hold(c->hchid.v, hold_ms * MS))
			unbinds_done++;
		g_enable(g, 2, false);
		g_unbind(g, 2);
	}
	done = true;
}

static void who_holds(void *arg)
{
	bool held;
	u16 id;

	for (; !done; harness_sleep(MS / 4)) {
		held = chip_is_held(&id);
		samples++;
		had[0] += held;
		had[1] += !held && id == g_hchid(&world.vgpu[1], 1);
	}
}

static void behind_kernels(void **state)
{
	static const u32 ms[] = { 0, 20, 95 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		hold_ms = ms[i];
		setup_begin(&coarse, &busy, 2);
		start(8000);
		actor_new("attacker", setup_mm, false, unbinds_behind_kernels, NULL);
		actor_new("meter", setup_mm, false, who_holds, NULL);
		actors_run();
		if (part(1) < 40)
			harness_fail(
				"S5: beside unbinds behind kernels of %u ms a neighbour has %.0f %% of GR, the other one %.0f %%",
				hold_ms, part(1), part(0));
		if (paid(0) < 0.8 * part(0) || paid(1) > 1.2 * part(1))
			harness_fail(
				"S5: unbinds behind kernels of %u ms: %.0f %% of GR for %.0f %%, the neighbour %.0f %% for %.0f %%",
				hold_ms, part(0), paid(0), part(1), paid(1));
		setup_end();
	}
}

/* ------------------------------------------------------------------ an accomplice */

static void idle_unbinds(void *arg)
{
	u64 end = harness_now + run_ms * MS;
	struct world_vgpu *g = &world.vgpu[0];

	g_inst(g, 2, 0, 0);
	while (harness_now < end) {
		g_bind(g, 2);
		g_enable(g, 2, true);
		g_unbind(g, 2);
		unbinds_done++;
	}
	done = true;
}

static void who_works(void *arg)
{
	for (; !done; harness_sleep(MS / 20)) {
		samples++;
		had[0] += chip_engine_works(g_hchid(&world.vgpu[0], 1));
		had[1] += chip_engine_works(g_hchid(&world.vgpu[1], 1));
	}
}

static void an_accomplice(void **state)
{
	setup_begin(&coarse, &steady, 2);
	setup_knob(1, "cap", "10");
	g_ring(&world.vgpu[0], 1, 0);
	g_ring(&world.vgpu[1], 1, 1);
	harness_sleep(1000 * MS);
	start(6000);
	actor_new("attacker", setup_mm, false, idle_unbinds, NULL);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actors_run();
	if (part(1) > 15)
		harness_fail(
			"S5: beside %u unbinds of an idle vGPU one with a cap of 10 %% has %.1f %%, and is charged %.1f %%",
			unbinds_done, part(1), paid(1));
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_kernels),
		cmocka_unit_test(an_accomplice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
