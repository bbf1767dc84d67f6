// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who pays (S5): work, waits, hangs, faults and unbinds cost their own vGPU, and no trick brings
 * one vGPU more of the GPU than it pays for, or than its cap and its share.
 */
#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "selftests/module/harness/work.h"

/*
 * .arg: of which vGPUs (bits) channel 1 has no work, which have a channel 2 of work_second(), and
 * whose channel 2 tells of work
 */
static void begin(const struct scene *s)
{
	u32 i;

	for (i = 0; i < s->vgpus; i++)
		if (s->arg[1] & BIT(i))
			work_second(i);
		else if (s->arg[0] & BIT(i))
			g_ring(V(i), 1, 0);
	harness_sleep(1500 * MS);
	for (i = 0; i < s->vgpus; i++)
		if (s->arg[2] & BIT(i))
			work_put(i, 2, 1);
}

/* Half of the time for which GR's list stands must be paid for, at least. */
static u64 read_free_stops(u32 vgpu)
{
	u64 paid = m_had.read(vgpu) + m_overpaid.read(vgpu) - m_unpaid.read(vgpu);
	u64 half = m_stopped.read(CARD) / 2;

	return half - min(half, paid);
}
static const struct measure m_free_stops = { "stops that are free", read_free_stops, PART };

/* ------------------------------------------------------------------ work that stays on GR */

/* What the guest does with its channel, whose work on GR can't be interrupted for so many ms. */
enum how { STAYS, UNBINDS, DISABLES, UNLISTS, BLOCKS, FAULTS, HANGS, IS_TOLD_OF };
#define HOW(how, ms) ((how) | (u64)(ms) << 8)

static void leaves(enum how how, bool back)
{
	if (how == UNBINDS && !back)
		g_unbind(V(0), 1);
	else if (how == DISABLES)
		g_enable(V(0), 1, back);
	else if (how == UNLISTS)
		g_list(V(0), (u64[]){ 1 }, back);
	else if (how == BLOCKS)
		g_write(V(0), PFIFO_RUNLIST_BLOCK, !back);
}

static void keeps_gr(const struct role *r)
{
	enum how how = r->arg & 0xff;
	u64 ns = (r->arg >> 8) * MS;
	u16 id;

	while (scene_goes_on()) {
		if (admin_chan_lives(0, 1))
			leaves(how, true);
		else
			g_chan_anew(V(0), 1);
		g_ring(V(0), 1, 1);
		id = id_of(0, 1);
		if (admin_read(0, "suspended") || id == CHIP_NOBODY)
			break;
		UNTIL_OVER(MS / 20, how >= HANGS ? chip_hang(id, false) : chip_hold(id, ns));
		scene_count[0]++;
		if (how < FAULTS) {
			harness_sleep(MS);
			leaves(how, false);
			work_sleep(how == UNBINDS ? 0 : ns);
			continue;
		}
		if (how == FAULTS)
			chip_fault(id, 0x1000);
		for (; (chip.chan[id].enabled || chip_is_stuck()) && scene_goes_on();
		     harness_sleep(50 * US))
			if (how == IS_TOLD_OF)
				chip_switch_timeout(); /* an alarm of the chip's own */
	}
}

/* ------------------------------------------------------------------ unbinds */

/* Channel 2 is idle. .arg: unbind it only while channel 1 works. */
static void idle_unbinds(const struct role *r)
{
	while (scene_goes_on()) {
		if (r->arg && !work_runs(r->vgpu)) {
			harness_sleep(MS / 20);
			continue;
		}
		g_run(V(r->vgpu), 2);
		g_unbind(V(r->vgpu), 2);
		scene_count[r->vgpu]++;
	}
}

/*
 * One vCPU unbinds idle channel 2 (.arg: while vGPU 0 works). Its VMM keeps that thread from a CPU
 * from the unbind's preempt on until the channel is unbound. Another vCPU has work of .arg us begin
 * in that time, and ends it with the unbind at the latest.
 */
static bool unbinding, kept;

static void keep(bool on)
{
	struct policy p = { .seed = harness_random() | 1,
			    .oversleep_ns = 3000,
			    .idle_ns = on ? 6 * MS : 0 };

	if (on != kept)
		harness_policy(&p);
	kept = on;
}

static void keeps_unbinder(u32 reg, u32 val)
{
	if (reg == PFIFO_PREEMPT && unbinding)
		keep(true);
	else if (reg >= PCCSR_BASE && reg < PCCSR_BASE + PCCSR_SIZE && !(reg & 4))
		keep(false);
}

static void unbinds_slowly(const struct role *r)
{
	chip_before_write = keeps_unbinder;
	for (; scene_goes_on(); harness_sleep(20 * US)) {
		g_run(V(r->vgpu), 2);
		UNTIL_OVER(5 * US, !r->arg || work_runs(0));
		unbinding = true;
		g_unbind(V(r->vgpu), 2);
		unbinding = false;
		keep(false);
	}
}

static void works_in_unbinds(const struct role *r)
{
	u16 id = id_of(r->vgpu, 1);
	u64 end;

	while (scene_goes_on()) {
		UNTIL_OVER(US, kept);
		chip.at_work[id] = true;
		work_serve(r->vgpu);
		for (end = harness_now + r->arg * US; kept && harness_now < end;)
			harness_sleep(US);
		chip.at_work[id] = false;
		scene_count[r->vgpu]++;
		UNTIL_OVER(US, !kept);
	}
}

/* Kernels of .arg us, during each of which the guest preempts its channel itself. */
static void preempts_kernels(const struct role *r)
{
	while (scene_goes_on())
		if (chip_hold(id_of(r->vgpu, 1), r->arg * US))
			g_preempt(V(r->vgpu), false, 1);
		else
			harness_sleep(MS / 20);
}

/* vGPU 0 has pieces of work between unbinds of vGPU 1 behind that one's own kernels. */
static void pieces_between_unbinds(const struct role *r)
{
	u64 end;

	for (; scene_goes_on(); scene_count[0]++) {
		if (chip_hold(id_of(1, 1), (u32)r->arg * US))
			g_unbind(V(1), 1);
		else
			harness_sleep(20 * US);
		g_run(V(1), 1);
		g_ring(V(0), 1, 1);
		for (end = harness_now + (r->arg >> 32) * US; harness_now < end;
		     harness_sleep(10 * US))
			work_serve(0);
		g_ring(V(0), 1, 0);
	}
}

/* vGPU 1 unbinds a channel that waits on its PBDMA behind a piece of vGPU 0's of .arg us on GR. */
static void unbinds_behind_pieces(const struct role *r)
{
	u16 id = id_of(0, 1), id2;

	for (; scene_goes_on(); scene_count[0]++) {
		g_run(V(1), 2);
		LIST(V(1), 1, 2);
		id2 = id_of(1, 2);
		do {
			harness_sleep(5 * US);
			if (!chip_may_load(id2, 0) || chip_is_stuck())
				continue;
			chip_load_some(0, id);
			if (chip_begin_held(id, r->arg * US))
				chip_load_some(0, id2);
		} while (chip.pbdma[0].chid != id2 && scene_goes_on());
		g_unbind(V(1), 2);
	}
}

/*
 * Channel 1 waits for a semaphore. One vCPU unbinds it, another one releases the semaphore before
 * the unbind's preempt: a kernel of .arg ms begins.
 */
static u16 waits = NO_CHAN;
static u32 kernel_ms;

static void releases(u32 reg, u32 val)
{
	if (waits == NO_CHAN || reg != PFIFO_PREEMPT || !chip.reg[PFIFO_RUNLIST_BLOCK / 4])
		return;
	scene_count[0] += chip_begin_held(waits, kernel_ms * MS);
	waits = NO_CHAN;
}

static void unbinds_before_kernels(const struct role *r)
{
	u16 id;

	kernel_ms = r->arg;
	chip_before_write = releases;
	for (; scene_goes_on(); g_run(V(0), 1)) {
		id = id_of(0, 1);
		for (; chip.pbdma[0].chid != id && scene_goes_on(); harness_sleep(20 * US))
			chip_load_some(0, id);
		harness_sleep(20 * US);
		waits = id;
		g_unbind(V(0), 1);
		waits = NO_CHAN;
	}
}

/* ------------------------------------------------------------------ copies and kernels */

/* It has a kernel of so many ms when its turn ends. Return when it is driven off. */
static void driven_off(u64 ms)
{
	UNTIL_IN(5000 * MS, 5 * US, work_alone(0) && chip_hold(id_of(0, 1), ms * MS));
	UNTIL_IN(5000 * MS, 5 * US, !work_listed(0));
	NEEDS(chip_is_stuck());
	FAIL_ON(work_listed(CARD), "S5: the next one has the chip before this one has left");
}

/* It copies for so many ms then, and unbinds that channel so many ms later, or not. */
static void leaves_with_copies(const struct role *r)
{
	driven_off(60);
	chip_copies(id_of(0, 1 + !!(r->arg >> 32)), harness_now + (u32)r->arg * MS);
	harness_sleep((r->arg >> 32) * MS);
	if (r->arg >> 32)
		g_unbind(V(0), 2);
	scene_count[0]++;
	work_sleep(400 * MS);
}

static void second_may_copy(const struct scene *s)
{
	work_second(0);
	g_ring(V(0), 1, 1);
	begin(s);
}

/*
 * vGPU 1 asks for a flush of L2 in its page of flushes, and polls the word, while vGPU 0 is driven
 * off. .arg: it has channel 2 on another engine, too, with a copy that can't be preempted either.
 * scene_count[2]: ms until the flush is done
 */
static void flush_in_a_switch(const struct role *r)
{
	u64 began;

	if (r->arg) {
		g_run(V(0), 2);
		LIST(V(0), 1, 2);
	}
	driven_off(1900);
	if (r->arg)
		chip_copies(id_of(0, 2), harness_now + 3700 * MS);
	work_kick(1);
	harness_sleep(5 * MS);
	FAIL_ON(work_listed(CARD), "S5: a list that is submitted is loaded too early");
	scene_count[0] += chip_is_stuck();
	began = harness_now;
	work_flush(1);
	WITHIN(10000 * MS, 100 * US, !*work_flush_word(1, FLUSH_L2_DIRTY));
	scene_count[2] = (harness_now - began) / MS;
	scene_stop();
}

/* ------------------------------------------------------------------ faults and interrupts */

static bool list_stands(void)
{
	return chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1;
}

/*
 * Channel 1's ring is not mapped: it faults on its PBDMA. GR has a kernel of vGPU 1 of .arg ms.
 * Again until there were 500 ms of kernels: samples tell little of one short one.
 */
static void faults_beside_a_kernel(const struct role *r)
{
	u16 id, other = id_of(1, 1);
	u64 ms;

	for (ms = 0; ms < 500; ms += r->arg, g_run(V(0), 1)) {
		id = id_of(0, 1);
		UNTIL(chip_hold(other, r->arg * MS));
		chip.at_work[other] = true;
		harness_sleep(3 * MS);
		chip.pbdma[0].chid = NO_CHAN;
		chip_load_some(0, id);
		scene_count[0] += chip_fault_now(id);
		UNTIL_OVER(10 * US, !chip.chan[id].enabled && !list_stands() && !chip_is_stuck());
		chip.at_work[other] = false;
		harness_sleep(20 * MS);
	}
	scene_stop();
}

/* Copies have ended, and told so. Their channels have left the engine when that is served. */
static void nobodys(u32 nr, u64 ns)
{
	for (; nr--; harness_sleep(ns))
		chip_copy_raise(2, 0);
	UNTIL_IN(5000 * MS, 5 * US, !chip_copy_raised());
}

static void nobodys_budget(const struct scene *s)
{
	begin(s);
	nobodys(PER_SECOND, 20 * US);
}

/* The guest loads its driver, which forgives its strikes, and lists channels 2 to 1 + @nr. */
static void driver_loads(u32 nr)
{
	g_write(V(0), PMC_ENABLE, 0);
	g_write(V(0), PMC_ENABLE, ~0u);
	if (admin_read(0, "suspended"))
		world_reset(0);
	work_chans(0, 2, 1 + nr);
	harness_sleep(nr * 100 * US); /* what the guest's exits take */
}

static void until_loaded(u16 id)
{
	for (; !chip_loaded(id) && scene_goes_on(); harness_sleep(5 * US))
		chip_load_on_gr(id);
}

/* So many channels (.arg) fault, one after the other. */
#define IN_RESTS BIT(16) /* the interrupt thread rests at each, for nobody's interrupts */
#define ON_GR	 BIT(17) /* half of the faults hold GR until its reset */

static void faults_again(const struct role *r)
{
	u32 nr = (u16)r->arg, rests = !!(r->arg & IN_RESTS), i;
	u64 second = 0;
	u16 id;

	while (scene_goes_on()) {
		if (harness_now >= second + 1001 * MS) {
			second = harness_now;
			nobodys(rests * PER_SECOND, 100 * US);
		}
		driver_loads(nr);
		for (i = 2; i < 2 + nr && scene_goes_on() && !admin_read(0, "suspended"); i++) {
			id = id_of(0, i);
			until_loaded(id);
			nobodys(rests, 0);
			until_loaded(id);
			if (!(r->arg & ON_GR ? chip_fault(id, 0x1000) : chip_fault_now(id)))
				continue;
			scene_count[0]++;
			UNTIL_OVER(10 * US, !chip.chan[id].enabled && !list_stands());
		}
	}
}

/* Channel 2 interrupts, and is unbound before that is served. .arg: the interrupt thread rests. */
static void interrupts_and_unbinds(const struct role *r)
{
	u16 id;

	g_unbind(V(0), 1);
	LIST(V(0), 2);
	for (; scene_goes_on(); harness_sleep(300 * US)) { /* below the budget */
		g_run(V(0), 2);
		id = id_of(0, 2);
		nobodys(r->arg, 0);
		chip_load_on_gr(id);
		scene_count[0] += chip_pbdma_intr(id, PBDMA_INTR0_DEVICE);
		g_unbind(V(0), 2);
	}
}

/* vGPU 1 unbinds its channel behind copies of it of 1 ms. */
static void unbinds_behind_copies(const struct role *r)
{
	for (; scene_goes_on(); g_run(V(1), 1)) {
		chip_copies(id_of(1, 1), harness_now + MS);
		g_unbind(V(1), 1);
	}
}

/* Pieces of work of 1 ms on GR. At the begin of each another channel faults on its PBDMA. */
static void pieces_with_faults(const struct role *r)
{
	u32 n = 0;
	u16 id;

	for (; scene_goes_on(); n++) {
		if (n % 32 == 0) {
			driver_loads(32);
			id = id_of(0, 2);
		}
		chip.at_work[id] = true;
		while (!chip_begin_held(id, MS) && scene_goes_on()) {
			chip_load_on_gr(id);
			harness_sleep(5 * US);
		}
		chip.pbdma[0].chid = NO_CHAN;
		chip_load_some(0, id_of(0, 3 + n % 31));
		harness_sleep(20 * US);
		scene_count[0] += chip_fault_now(id_of(0, 3 + n % 31));
		UNTIL_OVER(5 * US, !list_stands() && !chip_is_stuck());
		chip.at_work[id] = false;
		harness_sleep(MS);
	}
}

/* ------------------------------------------------------------------ light work, idle time */

/* vGPU 1 wakes each 3.5 ms, has the chip for nothing, and sleeps. */
static void wakes(const struct role *r)
{
	u64 end;

	for (; scene_goes_on(); harness_sleep(3500 * US)) {
		work_put(1, 2, 1);
		work_kick(1);
		for (end = harness_now + MS; harness_now < end && !work_alone(1);)
			harness_sleep(10 * US);
		work_put(1, 2, 0);
		work_kick(1);
		scene_count[1]++;
	}
}

static void until_off(u32 vgpu, u64 until)
{
	while (work_listed(vgpu) && harness_now < until && scene_goes_on())
		harness_sleep(5 * US);
}

/* clang-format off */
STEP(slow_flushes) { work_slow_flushes(a); return true; }
/* clang-format on */

/*
 * It works in its turn, which has 1160 us. 800 us before its end all ask for flushes, so that the
 * end is seen late. .arg: it stops working at the end.
 */
static void turn_ends_late(const struct role *r)
{
	u16 id = id_of(r->vgpu, 1);
	u64 stop;
	u32 i;

	while (scene_goes_on()) {
		chip.at_work[id] = true;
		UNTIL_OVER(5 * US, work_listed(r->vgpu) && chip_engine_works(id));
		stop = harness_now + 1160 * US;
		until_off(r->vgpu, stop - 800 * US);
		for (i = 1; i < 4; i++)
			work_flush(i);
		until_off(r->vgpu, stop);
		scene_count[0] += !!work_listed(r->vgpu);
		chip.at_work[id] = !r->arg;
		until_off(r->vgpu, ~0ull);
	}
}

/* The vGPU has a channel 2, too, which waits for a semaphore all the time. */
static void channel_waits(const struct scene *s)
{
	g_run(V(0), 2);
	LIST(V(0), 1, 2);
	g_ring(V(0), 2, 1);
	begin(s);
}

/* ------------------------------------------------------------------ the table */

/* clang-format off */

#define ROUGH { .eager = true, .load_ppm = 2000, .late = 2, .idles = true }
#define OBEYS { .late = 2, .idles = true }
#define LATE { .oversleep_ns = 3000, .idle_ns = 6 * MS } /* lazy roles get a CPU so late */

#define SLACK 20 /* in thousandths */
#define HAS(vgpu, pct) { &m_had, vgpu, AT_MOST(10 * (pct) + SLACK), "S5: a trick brings more" }
/* a cap, and a full bucket, which has 400 ms of it, in a row of so many ms */
#define CAPPED(pct, ms) ((pct) + (pct) * 400 / (ms))
/* so many thousandths it may pay for idle time in its turns, until its work's end is noticed */
#define IDLE 100
#define PAYS_BUT(vgpu, n) { &m_unpaid, vgpu, AT_MOST(n), "S5: it pays for less than it has" }
#define PAYS(vgpu) PAYS_BUT(vgpu, SLACK)
#define OWN_BUT(vgpu, n) { &m_overpaid, vgpu, AT_MOST(n), "S5: it pays for what it does not have" }
#define ONLY_OWN(vgpu) OWN_BUT(vgpu, SLACK)
#define LEFT(vgpu, least) { &m_had, vgpu, AT_LEAST(least), "S5: it is kept from its share" }
#define STOPS_COST { &m_free_stops, 0, AT_MOST(5), "S5: one stops the list and does not pay" }
#define DONE(vgpu, least) { &m_count, vgpu, AT_LEAST(least), "the trick is not played" }
#define IS_SUSPENDED { &m_suspended, 0, IS(1), "S5: recovery waits for it again and again" }

#define KEEPS(n, row_ms, how, for_ms, ...)                                                    \
	{ n, 2, { .busy = true, .eager = true, .load_ppm = 2000, .late = 1, .idles = true },  \
	  VERY_COARSE, .ms = row_ms, .set = (how) >= HANGS ? "-1 watchdog_ms 100" : NULL,       \
	  .before = (how) >= HANGS ? begin : NULL, .slow = (row_ms) >= 10000,                \
	  .roles = { { meter, .arg = 250 * US }, { keeps_gr, 0, HOW(how, for_ms) } },        \
	  .must = { PAYS_BUT(0, 40), OWN_BUT(0, 60), PAYS_BUT(1, 40), OWN_BUT(1, 60),         \
		    DONE(0, 1), __VA_ARGS__ } }

#define UNBOUND(n, nr, pol, set_, idle, share, ...)                                          \
	{ n, nr, ROUGH, pol, .ms = 2000, .slow = true, .before = begin,                       \
	  .set = set_, .arg = { idle },                                                       \
	  .roles = { { meter, .arg = 50 * US }, __VA_ARGS__ },                               \
	  .must = { HAS(0, share), PAYS(0), DONE(1, 10) } }
#define KERNELS(us) { preempts_kernels, 0, us }
#define IDLE_UNBINDS { idle_unbinds, 1 }

#define TRICK(n, chip, pol, row_ms, set_, idle, trick, trick_arg, ...)                   \
	{ n, 2, chip, pol, .ms = row_ms, .before = begin, .set = set_, .arg = { idle },   \
	  .roles = { { meter }, { trick, 0, trick_arg } },                               \
	  .must = { PAYS(0), DONE(0, 1), __VA_ARGS__ } }
#define WAITERS PLAIN(.waiters_stay = true)
#define PROMPT { .eager = true, .busy = true, .idles = true }

#define SLOWLY(n, nr, idle, most, by, us, ...) \
	{ n, nr, PLAIN(), COARSE, .ms = 2000, .before = begin, .set = "0 cap 10", .arg = { idle }, \
	  .roles = { { meter }, { works_in_unbinds, 0, us }, { unbinds_slowly, by, .lazy = true }, \
		     __VA_ARGS__ }, \
	  .must = { HAS(0, CAPPED(most, 2000)), PAYS_BUT(0, 30), DONE(0, 100) } }

#define FLUSHES(n, copies) \
	{ n, 2, PLAIN(.copies_stay = true), COARSE, .ms = 10000, .before = begin, \
	  .roles = { { flush_in_a_switch, .arg = copies } }, \
	  .must = { { &m_count, 2, AT_MOST(100), "S5: a neighbour's flush waits" }, DONE(0, 1), \
		    { &m_strikes, 0, IS(0), "it pays" } } }

#define COPIES(n, how_long) \
	{ n, 2, PLAIN(.copies_stay = true), COARSE, .ms = 700, .before = second_may_copy, \
	  .roles = { { meter }, { leaves_with_copies, 0, how_long } }, \
	  .must = { PAYS(0), ONLY_OWN(0), DONE(0, 1) } }

#define STOPS(n, chip, prepare, row_ms, least, ...)                                         \
	{ n, 2, chip, COARSE, .ms = row_ms, .before = prepare, .set = "0 cap 10", .arg = { 1 }, \
	  .roles = { { meter }, { work_served, 1 }, __VA_ARGS__ },                           \
	  .must = { LEFT(1, least), STOPS_COST, DONE(0, 100) } }
#define STAY PLAIN(.interrupts_stay = true)

#define JOBS(n, cap, job, attack, least)                                                   \
	{ n, 2, PLAIN(), LATE, .ms = 2000, .slow = true, .set = "0 cap " #cap, .arg = { 1, 2, 2 }, \
	  .before = begin, .roles = { { meter }, { work_jobs, 0, job }, attack },           \
	  .must = { OWN_BUT(0, IDLE), DONE(0, least) } }
#define PREEMPTS { work_preempts, 1, .lazy = true }
#define SUBMITS { work_kicks, 1, 20 * US, .lazy = true }

#define LIGHT(n, nr, prepare, set_, idle, job, slack, least)                                  \
	{ n, nr, OBEYS, COARSE, .ms = 2000, .set = set_, .arg = { idle }, .before = prepare,    \
	  .roles = { { meter, .arg = 7 * US }, { work_jobs, 0, (job) | JOB_QUIET },          \
		     { (nr) > 1 ? work_served : NULL, 1 } },                                \
	  .must = { PAYS_BUT(0, slack), \
		    OWN_BUT(0, (nr) > 1 && (slack) < 2 * IDLE ? 2 * IDLE : (slack)), \
		    DONE(0, 100), LEFT((nr) - 1, least) } }

#define HOLDS(n, nr, set_, idle, second, tells, kernel, ...)                                 \
	{ n, nr, PLAIN(), COARSE, .ms = 700, .set = set_, .arg = { idle, second, tells },      \
	  .before = begin,                                                                   \
	  .roles = { { meter }, { work_kernels, 0, EACH(kernel, 400) }, __VA_ARGS__ }
#define KICKS { work_kicks, 0, 10 * US }

#define ENDS_LATE(n, stops)                                                                   \
	{ n, 4, PLAIN(), VERY_COARSE, .ms = 2000, .before = begin,                        \
	  .first = STEPS({ slow_flushes, 48 }),                                               \
	  .set = "1 weight 11 2 weight 11 3 weight 11", .arg = { 0, 14, 14 },                 \
	  .roles = { { meter, .arg = 10 * US }, { turn_ends_late, 1, stops },                 \
		     { turn_ends_late, 2, stops }, { turn_ends_late, 3, stops } },            \
	  .must = { LEFT(0, 752 - 2 * SLACK), DONE(0, 20) } }

static const struct scene table[] = {
	KEEPS("90 ms on GR", 4000, STAYS, 90, LEFT(1, 460)),
	KEEPS("1900 ms on GR", 15000, STAYS, 1900, LEFT(1, 440)),
	KEEPS("an unbind behind 1 ms on GR", 2000, UNBINDS, 1, LEFT(1, 460)),
	KEEPS("an unbind behind 90 ms on GR", 4000, UNBINDS, 90, LEFT(1, 460)),
	KEEPS("disabled behind 1900 ms on GR", 15000, DISABLES, 1900, LEFT(1, 440)),
	KEEPS("off its list behind 9000 ms on GR", 20000, UNLISTS, 9000, LEFT(1, 440)),
	KEEPS("its list blocked behind 1900 ms on GR", 15000, BLOCKS, 1900, LEFT(1, 440)),
	KEEPS("a fault behind 20 ms on GR", 10000, FAULTS, 20, IS_SUSPENDED),
	KEEPS("a fault behind 95 ms on GR", 20000, FAULTS, 95, IS_SUSPENDED),
	KEEPS("a hang", 20000, HANGS, 0, LEFT(1, 800)),
	KEEPS("a hang that the chip tells of", 20000, IS_TOLD_OF, 0, LEFT(1, 800)),

	UNBOUND("unbinds of an idle channel", 2, VERY_COARSE, "", 0, 50, { idle_unbinds, 0, 1 },
		{ idle_unbinds, 1, 1 }),
	UNBOUND("unbinds beside one that works", 2, VERY_COARSE, "0 cap 10", 2, CAPPED(10, 2000),
		IDLE_UNBINDS),
	UNBOUND("unbinds hide kernels of 9 ms", 2, VERY_COARSE, "0 cap 10", 3, CAPPED(10, 2000),
		KERNELS(9000), IDLE_UNBINDS),
	UNBOUND("unbinds hide kernels of 300 us", 2, VERY_COARSE, "0 cap 10", 3, CAPPED(10, 2000),
		KERNELS(300), IDLE_UNBINDS),
	UNBOUND("unbinds hide kernels from a heavy one", 3, VERY_COARSE, "2 weight 1900", 3, 5,
		KERNELS(9000), IDLE_UNBINDS),
	UNBOUND("unbinds hide kernels from an equal", 3, VERY_COARSE, "", 3, 50, KERNELS(9000),
		IDLE_UNBINDS),
	UNBOUND("unbinds by a thread that gets a CPU late", 2, LATE, "0 cap 50", 3, CAPPED(50, 2000),
		KERNELS(5000), { idle_unbinds, 1, .lazy = true }),
	TRICK("pieces between unbinds behind 500 us", PLAIN(), COARSE, 2000, "0 cap 10", 3,
	      pieces_between_unbinds, EACH(500, 200), HAS(0, CAPPED(10, 2000)), ONLY_OWN(1)),
	TRICK("pieces between unbinds behind 1 ms", PLAIN(), COARSE, 2000, "0 cap 30", 3,
	      pieces_between_unbinds, EACH(1000, 1000), HAS(0, CAPPED(30, 2000)), ONLY_OWN(1)),
	TRICK("unbinds behind pieces", WAITERS, { .oversleep_ns = 1000 }, 1500, "0 cap 10", 3,
	      unbinds_behind_pieces, 60, HAS(0, CAPPED(10, 1500))),
	TRICK("a kernel begins in an unbind", PROMPT, COARSE, 6000, "0 cap 10", 3,
	      unbinds_before_kernels, 95, HAS(0, 12)),
	TRICK("a kernel begins in an unbind beside one that works", PROMPT, COARSE, 6000,
	      "0 cap 50", 1, unbinds_before_kernels, 95, HAS(0, 52)),

	SLOWLY("works in slow unbinds of its own", 1, 1, 10, 0, 400),
	SLOWLY("works longer in slow unbinds of its own", 1, 1, 10, 0, 1000),
	SLOWLY("works in another one's slow unbinds", 2, 3, 10, 1, 400),
	SLOWLY("works in another one's slow unbinds, beside one that works", 3, 3, 10, 1, 400,
	       { work_served, 2 }),

	{ "slow unbinds while another one works", 2, PLAIN(), COARSE, .ms = 2000, .before = begin,
	  .set = "0 cap 50", .arg = { 3 },
	  .roles = { { meter }, { work_jobs, 0, EACH(100, 900) | JOB_QUIET },
		     { unbinds_slowly, 1, 1, .lazy = true } },
	  .must = { ONLY_OWN(0), DONE(0, 100), HAS(0, CAPPED(50, 2000)) } },
	FLUSHES("a flush while another one is driven off", 0),
	FLUSHES("a flush while two channels are driven off", 1),

	COPIES("copies go on when it has left", EACH(120, 59)),
	COPIES("copies are unbound early", EACH(120, 20)),
	COPIES("copies beside its own kernel", 60),

	TRICK("a fault beside a kernel of 20 ms", WAITERS, COARSE, 5000, "", 3,
	      faults_beside_a_kernel, 20, PAYS(1), ONLY_OWN(0)),
	TRICK("a fault beside a kernel of 500 ms", WAITERS, COARSE, 5000, "", 3,
	      faults_beside_a_kernel, 500, PAYS(1), ONLY_OWN(0)),
	TRICK("a fault beside a kernel of 1500 ms", WAITERS, COARSE, 5000, "", 3,
	      faults_beside_a_kernel, 1500, PAYS(1), ONLY_OWN(0)),
	{ "faults beside pieces, and another one's unbinds", 2, PLAIN(.copies_stay = true), COARSE,
	  .ms = 1500, .set = "0 cap 15", .arg = { 3 }, .before = begin,
	  .roles = { { meter }, { unbinds_behind_copies, 1 }, { pieces_with_faults } },
	  .must = { HAS(0, CAPPED(17, 1500)), PAYS(0), PAYS(1), OWN_BUT(1, IDLE), DONE(0, 50) } },
	STOPS("faults", PLAIN(), begin, 900, 850, { faults_again, 0, 230 }),
	STOPS("faults in rests", PLAIN(), begin, 900, 850, { faults_again, 0, 230 | IN_RESTS }),
	{ "faults that hold GR", 2, ROUGH, VERY_COARSE, .ms = 4000, .before = begin,
	  .arg = { 1 }, .roles = { { meter, .arg = 100 * US }, { work_served, 1 },
				      { faults_again, 0, 16 | ON_GR } },
	  .must = { LEFT(1, 450), PAYS_BUT(0, 40), OWN_BUT(1, 40), DONE(0, 15) } },
	STOPS("unbinds of channels that interrupt", STAY, begin, 900, 800,
	      { interrupts_and_unbinds }),
	STOPS("the same in rests", STAY, nobodys_budget, 900, 800,
	      { interrupts_and_unbinds, 0, 1 }),
	STOPS("jobs that interrupt", STAY, begin, 900, 800,
	      { work_jobs, 0, EACH(10, 600) | JOB_STOPS }),
	STOPS("jobs that interrupt in rests", STAY, nobodys_budget, 900, 800,
	      { work_nobodys_copies, .arg = 100 * US },
	      { work_jobs, 0, EACH(10, 600) | JOB_STOPS }),

	JOBS("jobs beside preempts", 100, EACH(400, 700), PREEMPTS, 300),
	JOBS("jobs beside submits", 100, EACH(400, 700), SUBMITS, 300),
	JOBS("few jobs beside preempts", 100, EACH(100, 20000), PREEMPTS, 80),
	JOBS("short jobs and a cap beside preempts", 10, EACH(50, 5000), PREEMPTS, 150),
	JOBS("short jobs and a cap beside submits", 10, EACH(50, 5000), SUBMITS, 150),

	LIGHT("10 us of 1 ms", 1, begin, "0 cap 50", 1, EACH(10, 990), 12, 0),
	LIGHT("20 us of 250", 1, begin, "0 cap 10", 1, EACH(20, 230), 30, 0),
	LIGHT("40 us of 240", 1, begin, "0 cap 20", 1, EACH(40, 200), 50, 0),
	LIGHT("a PBDMA keeps the channel", 1, begin, "0 cap 50", 1, EACH(10, 990) | JOB_STAYS, 12,
	      0),
	LIGHT("beside an idle channel", 2, begin, "", 3, EACH(10, 990), 12, 0),
	LIGHT("beside its own channel that waits", 1, channel_waits, "0 cap 50", 1, EACH(10, 990),
	      12, 0),
	LIGHT("light work", 2, begin, "", 1, EACH(60, 400), 45, 800),
	LIGHT("light work at equal shares", 2, begin, "-1 policy equal-share", 1, EACH(60, 400), 45,
	      480),
	LIGHT("light work and a channel that waits", 2, channel_waits, "-1 policy equal-share", 1,
	      EACH(10, 990), 12, 480),
	LIGHT("work of no engine", 2, begin, "", 1, EACH(20, 0) | JOB_UNSEEN, 1000, 480),
	LIGHT("work of no engine at equal shares", 2, begin, "-1 policy equal-share", 1,
	      EACH(20, 0) | JOB_UNSEEN, 1000, 480),

	HOLDS("it keeps the chip, and hardly works", 2, "0 cap 2", 0, 1, 1, 10, KICKS),
	  .must = { LEFT(1, 940) } },
	HOLDS("it keeps the chip, and works little", 2, "0 cap 10", 0, 1, 1, 30, KICKS),
	  .must = { LEFT(1, 1000 - 10 * CAPPED(10, 700) - SLACK) } },
	HOLDS("a heavy one keeps the chip", 2, "0 cap 10 0 weight 1900", 0, 1, 1, 30, KICKS),
	  .must = { LEFT(1, 1000 - 10 * CAPPED(10, 700) - SLACK) } },
	HOLDS("waits beside one that its cap holds back", 3, "0 cap 25 2 cap 1", 0, 3, 1, 100),
	  .must = { LEFT(0, 140) } },
	HOLDS("waits beside one that wakes for nothing", 3, "0 cap 25", 4, 3, 1, 100, { wakes }),
	  .must = { LEFT(0, 140), DONE(1, 100) } },
	HOLDS("works, and submits without a break", 2, "0 cap 10", 0, 3, 3, 2000,
	      { work_kicks, 0, 5 * US }),
	  .must = { HAS(0, CAPPED(10, 700)), PAYS(0) } },
	ENDS_LATE("turns end late", 0),
	ENDS_LATE("turns end late, and idle", 1),
};

/* clang-format on */

SCENES(table)
