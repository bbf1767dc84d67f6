// SPDX-License-Identifier: GPL-2.0-only
/*
 * When recovery or an unbind has to wait because of a guest, that time is charged to the guest
 * (S5). Causes are a fault behind a long kernel, faults of many channels, and unbinds of an idle
 * channel while another one works. It is charged once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS   1000000ull
#define MANY 16

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
static u32 hold_ms, run_ms, forgiven;
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
	had[0] = had[1] = samples = forgiven = 0;
	began = harness_now;
	for (i = 0; i < 2; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
}

static double part(u32 i)
{
	return (double)had[i] / samples;
}

static double paid(u32 i)
{
	return (double)(vmach_gpu_time_get(world.vgpu[i].v->m) - took[i]) / (harness_now - began);
}

static void judge(const char *what)
{
	printf("# %s: one has %.2f of the time and is charged %.2f; its neighbour has %.2f and is charged %.2f\n",
	       what, part(0), paid(0), part(1), paid(1));
	if (paid(0) + paid(1) > 1.03)
		harness_fail(
			"S5: %s: one is charged %.2f of the time and its neighbour %.2f, more than there is",
			what, paid(0), paid(1));
	if (part(1) < 0.46 || paid(1) > 1.1 * part(1) + 0.05 || paid(0) < 0.85 * part(0))
		harness_fail(
			"S5: %s: one has %.2f of the time and is charged %.2f; its neighbour has %.2f and is charged %.2f",
			what, part(0), paid(0), part(1), paid(1));
}

/*
 * Return channel @id. Unless it is bound and alive, bind it, enable it and give it work. NULL: it
 * can't be bound now.
 */
static struct kvgpu_chan *fresh(u32 id)
{
	struct world_vgpu *g = &world.vgpu[0];

	if (chan(id) && chan(id)->dead) {
		g_enable(g, id, false);
		g_unbind(g, id);
	}
	if (!chan(id)) {
		g_bind(g, id);
		g_enable(g, id, true);
		g_ring(g, id, harness_below(100) + 1);
	}
	return chan(id);
}

/* -------------------------------------------- a kernel, and the ring's next entry leads nowhere */

static void faults_behind_kernels(void *arg)
{
	u64 end = harness_now + run_ms * MS, list[] = { 2 };
	struct world_vgpu *g = &world.vgpu[0];
	struct kvgpu_chan *c;

	g_unbind(g, 1);
	g_inst(g, 2, 0, 0);
	g_list(g, list, 1);
	while (harness_now < end && !vmach_vgpu_suspended(g->v->m)) {
		c = fresh(2);
		while (c && !chip_loaded(c->hchid.v) && harness_now < end)
			harness_sleep(MS / 20);
		if (!c || !chip_hold(c->hchid.v, hold_ms * MS)) {
			harness_sleep(MS / 20);
			continue;
		}
		harness_sleep(10000);
		chip_fault(c->hchid.v, 0x1000);
		harness_sleep(MS);
		while (!c->dead && harness_now < end)
			harness_sleep(MS / 4);
		/* recovery has this lock until the channel is off the chip */
		kvgpu_hw_lock(&world.gpu->lock);
		kvgpu_hw_unlock(&world.gpu->lock);
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

static void a_fault_behind_a_kernel(void **state)
{
	static const u32 ms[] = { 95, 20 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		hold_ms = ms[i];
		setup_begin(&coarse, &busy, 2);
		start(20000);
		actor_new("attacker", setup_mm, false, faults_behind_kernels, NULL);
		actor_new("meter", setup_mm, false, who_holds, NULL);
		actors_run();
		judge("faults behind a kernel");
		if (!vmach_vgpu_suspended(world.vgpu[0].v->m))
			harness_fail(
				"S5: recovery waits for kernels of %u ms of one vGPU again and again, and it goes on",
				hold_ms);
		setup_end();
	}
}

/* ------------------------------- many channels that fault; suspended, the guest resets its vGPU */

static void faults_of_many(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 end = harness_now + run_ms * MS, list[MANY];
	struct kvgpu_chan *c;
	u32 i;

	do {
		for (i = 0; i < MANY; i++) {
			list[i] = i + 1;
			g_inst(g, i + 1, 0, 0);
		}
		g_list(g, list, MANY);
		for (; harness_now < end && !vmach_vgpu_suspended(g->v->m); harness_sleep(20000))
			for (i = 1; i <= MANY && harness_now < end; i++) {
				c = fresh(i);
				if (c && !c->dead && !chip_is_stuck())
					chip_fault(c->hchid.v, 0x1000);
			}
		if (harness_now < end) {
			world_reset(0); /* which forgives */
			forgiven++;
		}
	} while (harness_now < end);
	done = true;
}

static void who_works(void *arg)
{
	for (; !done; harness_sleep(MS / 10)) {
		samples++;
		if (chan(1))
			had[0] += chip_engine_works(g_hchid(&world.vgpu[0], 1));
		had[1] += chip_engine_works(g_hchid(&world.vgpu[1], 1));
	}
}

/* Which faults come at the end of a switch goes by the seed: several with HARNESS_ALL. */
static void a_storm_of_faults(void **state)
{
	static const u64 seeds[] = { 1, 3, 5 };
	struct policy p = coarse;
	u32 i;

	for (i = 0; i < (harness_all() ? ARRAY_SIZE(seeds) : 1); i++) {
		p.seed = seeds[i];
		setup_begin(&p, &steady, 2);
		start(10000);
		actor_new("attacker", setup_mm, false, faults_of_many, NULL);
		actor_new("meter", setup_mm, false, who_works, NULL);
		actors_run();
		judge("faults of many channels");
		setup_end();
	}
}

/* ------------------------------------------ one channel works, another one is bound and unbound */

static void unbinds(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 end = harness_now + run_ms * MS;

	g_inst(g, 2, 0, 0);
	while (harness_now < end) {
		if (!chip_engine_works(g_hchid(g, 1))) {
			harness_sleep(MS / 20);
			continue;
		}
		g_bind(g, 2);
		g_enable(g, 2, true);
		g_unbind(g, 2);
	}
	done = true;
}

static void an_idle_channel_is_unbound(void **state)
{
	setup_begin(&coarse, &steady, 2);
	harness_sleep(100 * MS);
	start(2000);
	actor_new("attacker", setup_mm, false, unbinds, NULL);
	actor_new("meter", setup_mm, false, who_works, NULL);
	actors_run();
	if (paid(0) < 0.95 * part(0))
		harness_fail(
			"S5: one that unbinds an idle channel has %.2f of the time and is charged %.2f",
			part(0), paid(0));
	judge("unbinds");
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_behind_a_kernel),
		cmocka_unit_test(a_storm_of_faults),
		cmocka_unit_test(an_idle_channel_is_unbound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
