// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fault stops GR's runlist for all vGPUs until recovery has driven its channel off. Threads of
 * VMMs may have waited for gpu->lock longer than recovery has. Such a thread may get a CPU late,
 * and an unused lock is kept for it: recovery must not wait behind it (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "gk110/mmu.h"
#include "selftests/harness/tests/partners.h"

#include <linux/bitfield.h>

enum { ATTACKER, VICTIM, HELPER, HELPER2, VGPUS };

/* by so many per cent of GR the victim may have less than if the threads were not there */
#define LESS  6
#define CHANS 64

static const struct chip_manners calm = { .eager = true, .busy = true, .late = 2, .idles = true };
static struct policy late = { .seed = 1, .oversleep_ns = 3000 };
static u64 stopped, faults, lists, most_stop;
static bool faulting;

/* Each channel faults, the next one when the last one has ended. */
static void all_fault(struct world_vgpu *g, u64 end)
{
	struct kvgpu_chan *c;
	u32 i;

	faulting = true;
	for (i = 2; i < 2 + CHANS && harness_now < end; i++) {
		c = vmach_chan_find(g->v, (gchid_t){ i });
		while (!chip_loaded(c->hchid.v) && harness_now < end) {
			chip_load_on_gr(c->hchid.v);
			harness_sleep(5 * US);
		}
		if (!chip_fault_now(c->hchid.v))
			continue;
		faults++;
		while ((!READ_ONCE(c->dead) || chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1) &&
		       harness_now < end)
			harness_sleep(10 * US);
		harness_sleep(200 * US);
	}
	faulting = false;
}

static void faults_again(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ATTACKER];
	u64 list[CHANS], end = harness_now + 1000 * MS, second = harness_now, n = 0;
	u32 i;

	g_unbind(g, 1);
	for (i = 0; i < CHANS; i++) {
		list[i] = 2 + i;
		g_inst(g, 2 + i, 0, 0);
	}
	g_list(g, list, CHANS);
	while (harness_now < end && !vmach_vgpu_suspended(g->v->m)) {
		for (i = 0; i < CHANS; i++) {
			g_bind(g, 2 + i);
			g_enable(g, 2 + i, true);
		}
		/* stay below the budget of interrupts */
		if (harness_now - second > 1100 * MS) {
			second = harness_now;
			n = 0;
		}
		n += CHANS;
		if (n > 1900) {
			harness_sleep(second + 1100 * MS - harness_now);
			second = harness_now;
			n = CHANS;
		}
		all_fault(g, end);
		for (i = 0; i < CHANS; i++)
			g_unbind(g, 2 + i);
	}
	done = true;
}

static void meter(void *arg)
{
	u64 last = harness_now, step, since = 0;
	u16 id = chan_at(VICTIM, 1);

	for (; !done; harness_sleep(20 * US)) {
		step = harness_now - last;
		last = harness_now;
		chip_load_on_gr(id);
		if (!faulting)
			continue;
		all += step;
		had += chip_engine_works(id) ? step : 0;
		if (chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1) {
			stopped += step;
			since += step;
			most_stop = max(most_stop, since);
		} else {
			since = 0;
		}
	}
}

/* Lazy: the attacker's other vCPU submits its list without a break. */
static void submits_too(void *arg)
{
	u64 list[CHANS];
	u32 i;

	for (i = 0; i < CHANS; i++)
		list[i] = 2 + i;
	for (; !done; lists++) {
		while (!faulting && !done)
			harness_sleep(20 * US);
		g_list(&world.vgpu[ATTACKER], list, CHANS);
	}
}

static void submits(void *arg)
{
	static const u64 list[2][2] = { { 1 }, { 1, 2 } };
	u64 who = (u64)arg;
	u32 i;

	for (i = 0; !done; i++, lists++) {
		while (!faulting && !done)
			harness_sleep(20 * US);
		g_list(&world.vgpu[who], list[i & 1], 1 + (i & 1));
	}
}

enum helpers { NONE, SUBMITTER, SUBMITTER_AND_OWN, SUBMITTERS };

/* @idle_ms: so long the threads of the helpers wait for a CPU */
static void judge(const char *what, enum helpers helpers, u32 idle_ms)
{
	static u32 alone;
	u64 began, took;
	u32 has;

	late.idle_ns = idle_ms * MS;
	setup_begin(&coarse, &calm, VGPUS);
	g_ring(&world.vgpu[ATTACKER], 1, 0);
	g_ring(&world.vgpu[HELPER], 1, 0);
	g_ring(&world.vgpu[HELPER2], 1, 0);
	harness_sleep(100 * MS);
	done = faulting = false;
	had = all = stopped = faults = lists = most_stop = 0;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[ATTACKER].v->m);
	harness_policy(&late);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("attacker", setup_mm, false, faults_again, NULL);
	if (helpers != NONE)
		actor_new("helper", setup_mm, true, submits, (void *)(u64)HELPER);
	if (helpers == SUBMITTER_AND_OWN)
		actor_new("attacker2", setup_mm, true, submits_too, NULL);
	if (helpers == SUBMITTERS)
		actor_new("helper2", setup_mm, true, submits, (void *)(u64)HELPER2);
	actors_run();
	harness_policy(&coarse);
	has = 100 * had / all;
	printf("# %s: while channels fault, the victim has %u %% of GR, the runlist is stopped for %llu %% (%llu us at the most), the attacker is charged %u thousandths; %llu faults, %llu lists, %llu strikes\n",
	       what, has, 100 * stopped / all, most_stop / US, thousandths(ATTACKER, took, began),
	       faults, lists, slice_of(ATTACKER)->strikes.total);
	if (helpers == NONE)
		alone = has;
	if (has + LESS < alone)
		harness_fail("S5: late threads have a vGPU lose %u %% of GR", alone - has);
	setup_end();
}

static void behind_waiters(void **state)
{
	judge("faults alone", NONE, 0);
	judge("one late helper", SUBMITTER, 10);
	judge("one late helper, and the attacker's other vCPU late", SUBMITTER_AND_OWN, 10);
	judge("two late helpers, 3 ms", SUBMITTERS, 3);
	judge("two late helpers", SUBMITTERS, 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(behind_waiters) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
