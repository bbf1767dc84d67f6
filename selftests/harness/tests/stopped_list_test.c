// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fault stops GR's runlist (PFIFO_RUNLIST_ERROR) for all vGPUs until its channel was driven off,
 * and an eviction blocks the runlist. No vGPU is charged for that time. So it must not last for as
 * long as a VMM lets its thread wait for a CPU (S5).
 * - A channel faults while it is being unbound. Recovery leaves a dead channel alone.
 * - An accomplice's thread has the preempt register, again and again, and gets a CPU late.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "gk110/mmu.h"
#include "selftests/harness/tests/partners.h"

#include <linux/bitfield.h>

enum { ATTACKER, VICTIM, HELPER, VGPUS };

/* part of GR that the victim has at least, in per cent; it has 82 to 99 beside threads in time */
#define LEAST 75

static const struct chip_manners calm = { .eager = true, .busy = true, .late = 2, .idles = true };
static struct policy late = { .seed = 1, .oversleep_ns = 3000 };
static struct kvgpu_chan *dying;
static bool in_unbind, faults_in_unbind;
static u64 run_ms, stopped, blocked, faults, unbinds;

/* The channel faults when the list without it is submitted; its thread is late from then on. */
static void before_write(u32 reg, u32 val)
{
	if (!in_unbind || !dying)
		return;
	if (reg == PFIFO_RUNLIST_SUBMIT && dying->dead) {
		if (faults_in_unbind)
			faults += chip_fault_now(dying->hchid.v);
		late.seed = harness_random();
		harness_policy(&late);
	}
	if (reg == PFIFO_RUNLIST_BLOCK && val) {
		harness_policy(&coarse);
		dying = NULL;
	}
}

static u64 attack_begins(struct world_vgpu *g)
{
	u64 list[] = { 2 };

	g_unbind(g, 1);
	g_inst(g, 2, 0, 0);
	g_list(g, list, 1);
	return harness_now + run_ms * MS;
}

static void loaded_again(struct world_vgpu *g)
{
	g_bind(g, 2);
	g_enable(g, 2, true);
	chip_load_on_gr(g_hchid(g, 2));
	dying = vmach_chan_find(g->v, (gchid_t){ 2 });
}

static void unbinds_again(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ATTACKER];
	u64 end = attack_begins(g);

	for (; harness_now < end && !vmach_vgpu_suspended(g->v->m); unbinds++) {
		loaded_again(g);
		in_unbind = true;
		g_unbind(g, 2);
		in_unbind = false;
		if (late.delay_ppm)
			harness_policy(&coarse);
	}
	done = true;
}

static void faults_again(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ATTACKER];
	u64 end = attack_begins(g);

	for (; harness_now < end && !vmach_vgpu_suspended(g->v->m); unbinds++) {
		loaded_again(g);
		faults += chip_fault_now(dying->hchid.v);
		while (!READ_ONCE(dying->dead) && harness_now < end)
			harness_sleep(20 * US);
		g_unbind(g, 2);
	}
	done = true;
}

/* Lazy: preempts its idle channel without a break. */
static void preempts(void *arg)
{
	while (!done)
		g_preempt(&world.vgpu[HELPER], false, 1);
}

/* The victim always has work. The chip loads it whenever it may. */
static void meter(void *arg)
{
	u16 id = chan_at(VICTIM, 1);

	for (; !done; harness_sleep(20 * US), all++) {
		chip_load_on_gr(id);
		had += chip_engine_works(id);
		stopped += chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1;
		blocked += chip.reg[PFIFO_RUNLIST_BLOCK / 4] & 1;
	}
}

/* Lazy: submits lists without a break, and gets a CPU late while it has gpu->lock. */
static void submits(void *arg)
{
	static const u64 list[2][2] = { { 1 }, { 1, 2 } };
	u32 i;

	for (i = 0; !done; i++)
		g_list(&world.vgpu[HELPER], list[i & 1], 1 + (i & 1));
}

static void judge(const char *what, void (*attack)(void *arg), void (*helps)(void *arg))
{
	u64 began, took;
	u32 has;

	setup_begin(&coarse, &calm, VGPUS);
	g_ring(&world.vgpu[ATTACKER], 1, 0);
	g_ring(&world.vgpu[HELPER], 1, 0);
	harness_sleep(100 * MS);
	done = false;
	had = all = stopped = blocked = faults = unbinds = 0;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[ATTACKER].v->m);
	if (late.delay_ppm)
		chip_before_write = before_write;
	else
		harness_policy(&late);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("attacker", setup_mm, !helps, attack, NULL);
	if (helps)
		actor_new("helper", setup_mm, true, helps, NULL);
	actors_run();
	chip_before_write = NULL;
	harness_policy(&coarse);
	has = 100 * had / all;
	printf("# %s: the victim has %u %% of GR, the runlist is stopped for %llu %% and blocked for %llu %%, the attacker is charged %u thousandths; %llu unbinds, %llu faults\n",
	       what, has, (unsigned long long)(100 * stopped / all),
	       (unsigned long long)(100 * blocked / all), thousandths(ATTACKER, took, began),
	       (unsigned long long)unbinds, (unsigned long long)faults);
	if (has < LEAST)
		harness_fail(
			"S5: %s: a vGPU that always works has %u %% of GR beside one that does nothing",
			what, has);
	setup_end();
}

static void beside_lists(void **state)
{
	run_ms = 600;
	late.idle_ns = 10 * MS;
	judge("faults beside late lists", faults_again, submits);
}

static void faults_in_an_unbind(void **state)
{
	run_ms = 1200;
	late.delay_ppm = 1000000;
	late.delay_ns = 2 * MS;
	faults_in_unbind = false;
	judge("unbinds", unbinds_again, NULL);
	faults_in_unbind = true;
	judge("unbinds of channels that fault", unbinds_again, NULL);
	late.delay_ns = 200 * MS;
	judge("unbinds of channels that fault, 100 ms late", unbinds_again, NULL);
	late.delay_ppm = 0;
	faults_in_unbind = false;
}

static void beside_preempts(void **state)
{
	run_ms = 600;
	late.idle_ns = 2 * MS;
	judge("unbinds beside late preempts", unbinds_again, preempts);
	late.idle_ns = 10 * MS;
	judge("faults beside late preempts", faults_again, preempts);
	late.idle_ns = 0;
	judge("unbinds beside preempts", unbinds_again, preempts);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(faults_in_an_unbind),
						   cmocka_unit_test(beside_lists),
						   cmocka_unit_test(beside_preempts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
