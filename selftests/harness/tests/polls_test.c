// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a guest knows of the slicer's polls does not help it. The guest can cause a poll at any
 * time, by a register write that kicks the slicer. Some polls come at times that follow from what
 * was charged, since the policy wants them then. And the guest's page of flushes tells of each
 * sample, afterwards. The guest works whenever it believes that no poll comes. A cap holds
 * nevertheless, and a neighbour has its share (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	     1000000ull
#define US	     1000ull
#define RUN_MS	     4000
#define POLICY_LOOKS (1780 * US) /* how long the budget of a cap of 10 % lasts */
/*
 * PBDMA interrupt after which the host takes the channel off the chip; the guest still sees it
 * enabled
 */
#define FATAL 0x80000000u

static const struct chip_manners busy = { .eager = true,
					  .load_ppm = 50000,
					  .late = 2,
					  .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
/*
 * For a chip that means no harm: timeslices() gives each channel that is listed and has work a
 * slice of 1 ms, one after the other.
 */
static const struct chip_manners plain = { .eager = true, .busy = true, .late = 2, .idles = true };
static const struct chip_manners *manners = &busy;
static const char *weight = "100"; /* the neighbour's weight */
static u64 on[2], all;
static u32 chans, listed;
static bool done;

static u16 chan_at(u32 vgpu, u32 i)
{
	return g_hchid(&world.vgpu[vgpu], i);
}

static bool has_engine(u32 vgpu, u32 nr)
{
	u32 i;

	for (i = 1; i <= nr; i++)
		if (chip_engine_works(chan_at(vgpu, i)))
			return true;
	return false;
}

static void meter(void *arg)
{
	for (; !done; harness_sleep(MS / 50), all++) {
		on[0] += has_engine(0, chans);
		on[1] += world.vgpu[1].v && world.vgpu[1].open && has_engine(1, 1);
	}
}

static void work(bool yes)
{
	u32 i;

	for (i = 1; i <= chans; i++)
		chip_at_work(chan_at(0, i), yes);
}

static bool has_work(u16 id)
{
	u32 i;

	for (i = 1; i <= chans; i++)
		if (id == chan_at(0, i))
			return chip.at_work[id];
	return world.vgpu[1].open && id == chan_at(1, 1);
}

static void timeslices(void *arg)
{
	u64 since = 0;
	u32 i, at = 0;

	for (; !done; harness_sleep(20 * US)) {
		if (chip.engine[0].chid != NO_CHAN && has_work(chip.engine[0].chid) &&
		    harness_now < since + MS)
			continue;
		for (i = 0; i < chip.list[0].nr; i++) {
			u16 id = FIELD_GET(RUNLIST_ID, chip.list[0].entry[++at % chip.list[0].nr]);

			if (!chip_may_load(id, 0) || !has_work(id))
				continue;
			chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
			chip_load_some(0, id);
			since = harness_now;
			break;
		}
	}
}

static void kick(struct world_vgpu *g)
{
	g_write(g, PFIFO_RUNLIST_SUBMIT, listed);
}

static volatile u32 *flush_word(struct world_vgpu *g)
{
	return (volatile u32 *)(g->v->own[VGPU_OWN_FLUSH].memory +
				(FLUSH_BAR - g->v->own[VGPU_OWN_FLUSH].at));
}

/* ------------------------------------------------------------------ polls that it makes */

/* The guest causes polls while it is idle, more often than polls come by themselves. */

static void works_between_its_own_polls(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		kick(g);
		harness_sleep(30 * US);
		work(true);
		harness_sleep(540 * US);
		work(false);
		harness_sleep(5 * US);
	}
	done = true;
}

/* The guest kicks so often that there is a kick each time the slicer's timer is late. */
static void kicks_all_the_time(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		kick(g);
		harness_sleep(5 * US);
		work(true);
		harness_sleep(30 * US);
		work(false);
		harness_sleep(1 * US);
	}
	done = true;
}

/*
 * The guest stops when it sees that there was a poll, and kicks. So the work that the poll saw
 * would be over at once.
 */
static void stops_when_seen(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	volatile u32 *flush = flush_word(g);
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		*flush = FLUSH_TRIGGER;
		work(true);
		while (*flush & FLUSH_TRIGGER && harness_now < end)
			harness_sleep(5 * US);
		harness_sleep(10 * US);
		work(false);
		kick(g);
		harness_sleep(30 * US);
	}
	done = true;
}

/* ------------------------------------------------------- polls that it sees, without a register */

/*
 * The guest hopes that a poll clears the trigger before the poll asks the engines, so that there is
 * time to stop.
 */
static void stops_when_warned(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	volatile u32 *flush = flush_word(g);
	u64 end = harness_now + RUN_MS * MS;

	while (harness_now < end) {
		*flush = FLUSH_TRIGGER;
		work(true);
		while (*flush & FLUSH_TRIGGER && harness_now < end)
			harness_sleep(2 * US);
		harness_sleep(5 * US);
		work(false);
		harness_sleep(100 * US);
	}
	done = true;
}

/*
 * The policy wants a poll when a budget is used up, so that the guest knows when. The guest's page
 * of flushes tells of the sample before that.
 */
static void works_between_the_policys_polls(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	volatile u32 *flush = flush_word(g);
	u64 end = harness_now + RUN_MS * MS, stop;

	while (harness_now < end) {
		*flush = FLUSH_TRIGGER;
		while (*flush & FLUSH_TRIGGER && harness_now < end)
			harness_sleep(5 * US);
		harness_sleep(60 * US);
		*flush = FLUSH_TRIGGER;
		stop = harness_now + POLICY_LOOKS - 160 * US;
		work(true);
		while (*flush & FLUSH_TRIGGER && harness_now < stop)
			harness_sleep(5 * US);
		work(false);
	}
	done = true;
}

/* ------------------------------------------------------------------ */

/* For comparison: the guest works all the time, and hides nothing. */
static void works_always(void *arg)
{
	u64 end = harness_now + RUN_MS * MS;

	work(true);
	while (harness_now < end)
		harness_sleep(MS);
	done = true;
}

static void run(void (*attack)(void *arg), u32 vgpus, const char *cap, u32 nr_chans, bool dead_one,
		double *had, double *paid)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 began, before[2] = {}, list[32];
	u32 i;

	on[0] = on[1] = all = 0;
	done = false;
	chans = nr_chans;
	setup_begin(&coarse, manners, vgpus);
	setup_knob(0, "cap", cap);
	for (i = 1; i < vgpus; i++)
		setup_knob(i, "weight", weight);
	for (i = 1; i <= nr_chans + dead_one; i++) {
		list[i - 1] = i;
		if (i == 1)
			continue;
		g_inst(g, i, 0, 0);
		g_bind(g, i);
		g_enable(g, i, true);
	}
	listed = nr_chans + dead_one;
	g_list(g, list, listed);
	g_ring(g, 1, 0);
	/* channel 2's words always tell of work, of which no engine does any */
	if (dead_one) {
		g_ring(g, 2, 1);
		while (!chip_pbdma_intr(chan_at(0, 2), FATAL))
			harness_sleep(MS);
		harness_sleep(MS);
		g_preempt(g, false, 2);
	}
	for (i = 1; i < vgpus; i++)
		g_ring(&world.vgpu[i], 1, 1);
	harness_sleep(1500 * MS);
	for (i = 0; i < vgpus; i++)
		before[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	began = harness_now;
	actor_new("meter", setup_mm, false, meter, NULL);
	if (manners == &plain)
		actor_new("chip", setup_mm, false, timeslices, NULL);
	actor_new("attacker", setup_mm, false, attack, NULL);
	actors_run();
	for (i = 0; i < 2; i++) {
		had[i] = (double)on[i] / all;
		paid[i] = i < vgpus ? (double)(vmach_gpu_time_get(world.vgpu[i].v->m) - before[i]) /
					      (harness_now - began) :
				      0;
	}
	setup_end();
}

/*
 * The attacker may have the engine for @most of the time, and must be charged for at least half of
 * what it had. The neighbour must not be charged for much more than it had.
 */
static void judge(const char *what, double most, const double *had, const double *paid)
{
	if (had[0] > most || paid[0] < had[0] / 2)
		harness_fail(
			"S5: %s: it has the engine for %.1f %% of the time and is charged %.1f %%; its neighbour has %.1f %%, is charged %.1f %%",
			what, 100 * had[0], 100 * paid[0], 100 * had[1], 100 * paid[1]);
	if (paid[1] > 1.4 * had[1])
		harness_fail(
			"S5: %s: its neighbour has the engine for %.1f %% of the time and is charged %.1f %%",
			what, 100 * had[1], 100 * paid[1]);
}

/*
 * The guest must have the engine for @least to @most of the time, and be charged for that, within
 * 10 %.
 */
static void judge_honest(const char *what, double least, double most, const double *had,
			 const double *paid)
{
	if (had[0] < least || had[0] > most || paid[0] < had[0] * 0.9 || paid[0] > had[0] * 1.1)
		harness_fail(
			"S5: %s: one that hides nothing has the engine for %.1f %% of the time and is charged %.1f %%",
			what, 100 * had[0], 100 * paid[0]);
}

static void a_cap_holds(void (*attack)(void *arg), const char *cap, bool dead_one, const char *what,
			double most)
{
	double had[2], paid[2];

	run(attack, 1, cap, 1, dead_one, had, paid);
	judge(what, most, had, paid);
}

static void polls_of_its_own(void **state)
{
	a_cap_holds(works_between_its_own_polls, "2", false, "polls of its own, cap 2", 0.04);
}

static void kicks_without_a_break(void **state)
{
	a_cap_holds(kicks_all_the_time, "2", false, "a kick every 60 us, cap 2", 0.04);
}

static void seen_and_gone(void **state)
{
	a_cap_holds(stops_when_seen, "10", false, "seen and gone, cap 10", 0.15);
}

static void warned_by_the_poll(void **state)
{
	a_cap_holds(stops_when_warned, "10", false, "warned by the poll, cap 10", 0.15);
}

static void polls_of_the_policy(void **state)
{
	a_cap_holds(works_between_the_policys_polls, "10", true, "polls of the policy, cap 10",
		    0.15);
}

/* There is no cap. The neighbour works all the time, and should have half of the time. */
static void a_neighbour_works(void **state)
{
	double had[2], paid[2];

	run(stops_when_seen, 2, "100", 1, false, had, paid);
	judge("a neighbour that always works, 1 channel", 0.55, had, paid);
	run(stops_when_seen, 2, "100", 16, false, had, paid);
	judge("a neighbour that always works, 16 channels", 0.55, had, paid);
}

static void by_slices(void **state)
{
	double honest[4], had[2], paid[2];

	manners = &plain;
	weight = "1900"; /* 95 % of the card for the neighbour */
	run(works_always, 2, "100", 16, false, honest, honest + 2);
	run(stops_when_seen, 2, "100", 16, false, had, paid);
	manners = &busy;
	weight = "100";
	judge_honest("slices, weight 1:19", 0.045, 0.055, honest, honest + 2);
	judge("slices, weight 1:19", 0.07, had, paid);
}

static void one_that_hides_nothing(void **state)
{
	double had[2], paid[2];

	run(works_always, 1, "10", 1, false, had, paid);
	judge_honest("cap 10", 0.08, 0.12, had, paid);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_hides_nothing), cmocka_unit_test(polls_of_its_own),
		cmocka_unit_test(kicks_without_a_break),  cmocka_unit_test(seen_and_gone),
		cmocka_unit_test(a_neighbour_works),	  cmocka_unit_test(by_slices),
		cmocka_unit_test(polls_of_the_policy),	  cmocka_unit_test(warned_by_the_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
