// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fault stops GR's runlist for all vGPUs until the interrupt thread has told of it and recovery
 * has driven its channel off. Guests have the interrupt thread rest when they fault (S5): by faults
 * beyond the budget, by a second vGPU's storms, or by interrupts of nobody's, those of a copy whose
 * channel has left its engine. A fault is told in a rest, too, and its vGPU pays for the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "selftests/harness/tests/nobodys.h"
#include "selftests/harness/tests/partners.h"

#include <linux/bitfield.h>

enum { ATTACKER, VICTIM, STORMER, VGPUS };
enum pace { NONE, NOBODYS, STORMS, OWN };

#define LEAST	85 /* per cent of GR that the victim has at least */
#define CHANS	230
#define BIND_US 100

static const struct chip_manners calm = { .eager = true, .busy = true, .late = 2, .idles = true };
static u64 stopped, faults, most_stop, resets;

static enum pace paces;
static u32 stormers; /* the stormer's channels 2 to @stormers have stormed */

static void raise_for(u16 id)
{
	u32 *intr0 = &chip.reg[(PBDMA(1) + PBDMA_INTR0) / 4];

	chip.reg[(PBDMA(1) + PBDMA_CHANNEL) / 4] = PBDMA_CHANNEL_VALID |
						   FIELD_PREP(PBDMA_CHANNEL_ID, id);
	*intr0 |= PBDMA_INTR0_DEVICE;
	chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] |= BIT(1);
	chip_raise(0);
	while (*intr0)
		harness_sleep(5 * US);
}

/* The stormer's guest loads its driver anew, which takes its strikes away. */
static void stormer_begins(void)
{
	struct world_vgpu *g = &world.vgpu[STORMER];
	u64 list[8];
	u32 i;

	g_write(g, PMC_ENABLE, 0);
	g_write(g, PMC_ENABLE, ~0u);
	for (i = 0; i < 8; i++) {
		list[i] = 2 + i;
		g_inst(g, 2 + i, 0, 0);
		g_bind(g, 2 + i);
		g_enable(g, 2 + i, true);
	}
	g_list(g, list, 8);
	stormers = 1;
	resets++;
}

/* Makes the interrupt thread sleep. The budget of the stormer is used up in this second. */
static void one_storms(void)
{
	u16 id;

	if (stormers == 9)
		stormer_begins();
	id = chan_at(STORMER, ++stormers);
	raise_for(id);
	/* the end of its recovery starts the runlist again */
	while (test_bit(id, world.gpu->chip->recover_chans))
		harness_sleep(5 * US);
	harness_sleep(30 * US);
	nobodys++;
}

static void all_fault(struct world_vgpu *g, u32 nr, u64 end)
{
	struct kvgpu_chan *c;
	u32 i;

	for (i = 2; i < 2 + nr && harness_now < end; i++) {
		c = vmach_chan_find(g->v, (gchid_t){ i });
		while (!chip_loaded(c->hchid.v) && harness_now < end) {
			chip_load_on_gr(c->hchid.v);
			harness_sleep(5 * US);
		}
		if (paces == STORMS || paces == NOBODYS) {
			if (paces == STORMS)
				one_storms();
			else
				nobodys_copy();
			while (COPY_INTR)
				harness_sleep(5 * US);
			while (!chip_loaded(c->hchid.v) && harness_now < end) {
				chip_load_on_gr(c->hchid.v);
				harness_sleep(5 * US);
			}
		}
		if (!chip_fault_now(c->hchid.v))
			continue;
		faults++;
		while ((!READ_ONCE(c->dead) || chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1) &&
		       harness_now < end)
			harness_sleep(10 * US);
	}
}

static void bind_all(struct world_vgpu *g, u32 nr)
{
	u64 list[CHANS];
	u32 i;

	for (i = 0; i < nr; i++) {
		list[i] = 2 + i;
		g_inst(g, 2 + i, 0, 0);
		g_bind(g, 2 + i);
		g_enable(g, 2 + i, true);
		/* what the guest's exits for these take */
		harness_sleep(BIND_US * US);
	}
	g_list(g, list, nr);
}

static void faults_again(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ATTACKER];
	u64 end = harness_now + 1500 * MS, second;
	u32 i;

	g_unbind(g, 1);
	while (harness_now < end) {
		second = harness_now;
		if (paces == STORMS)
			stormer_begins();
		for (i = 0; paces == STORMS && i < EVENTS_PER_SECOND; i++, nobodys++)
			raise_for(chan_at(STORMER, 2));
		/* 10,000 preempts a second */
		for (i = 0; paces == NOBODYS && i < EVENTS_PER_SECOND; i++) {
			nobodys_copy();
			harness_sleep(100 * US);
		}
		/* its own budget: each fault is a strike, and makes the thread rest */
		if (paces == OWN) {
			bind_all(g, 8);
			for (i = 0; i < EVENTS_PER_SECOND; i++, nobodys++)
				raise_for(g_hchid(g, 2));
		}
		while (paces == OWN && harness_now < second + 990 * MS) {
			g_write(g, PMC_ENABLE, 0);
			g_write(g, PMC_ENABLE, ~0u);
			harness_sleep(2 * MS);
			bind_all(g, 8);
			all_fault(g, 8, min(end, second + 990 * MS));
			resets++;
		}
		for (i = 0; paces != OWN && i < 4 && harness_now < second + 990 * MS; i++) {
			bind_all(g, CHANS);
			all_fault(g, CHANS, min(end, second + 990 * MS));
			g_write(g, PMC_ENABLE, 0);
			g_write(g, PMC_ENABLE, ~0u);
		}
		/* the next second of the budget */
		if (harness_now < second + 1001 * MS)
			harness_sleep(second + 1001 * MS - harness_now);
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

static void judge(const char *what, enum pace how)
{
	u64 began, took;
	u32 has, paid;

	paces = how;
	setup_begin(&coarse, &calm, VGPUS);
	g_ring(&world.vgpu[ATTACKER], 1, 0);
	g_ring(&world.vgpu[STORMER], 1, 0);
	harness_sleep(100 * MS);
	done = false;
	had = all = stopped = faults = nobodys = most_stop = resets = 0;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[ATTACKER].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("attacker", setup_mm, false, faults_again, NULL);
	actors_run();
	has = 100 * had / all;
	paid = thousandths(ATTACKER, took, began);
	stopped = 1000 * stopped / all;
	printf("# %s: the victim has %u %% of GR, the runlist is stopped for %llu thousandths (%llu us at the most), the attacker is charged %u thousandths; %llu faults, %llu other interrupts, %llu and %llu strikes, %llu resets\n",
	       what, has, stopped, most_stop / US, paid, faults, nobodys,
	       slice_of(ATTACKER)->strikes.total, slice_of(STORMER)->strikes.total, resets);
	if (has < LEAST)
		harness_fail("S5: a vGPU that always works has %u %% of GR beside one that faults",
			     has);
	if (paid < stopped / 2)
		harness_fail("S5: one that stops the runlist for %llu thousandths is charged %u",
			     stopped, paid);
	setup_end();
}

static void faults_alone(void **state)
{
	judge("faults alone", NONE);
}

static void beside_storms(void **state)
{
	judge("faults while the interrupt thread rests for storms", STORMS);
}

static void beyond_the_budget(void **state)
{
	judge("faults beyond the budget, and a reset of PFIFO after eight", OWN);
}

static void beside_nobodys(void **state)
{
	judge("faults while the interrupt thread rests for nobody's", NOBODYS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_alone),
		cmocka_unit_test(beside_storms),
		cmocka_unit_test(beyond_the_budget),
		cmocka_unit_test(beside_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
