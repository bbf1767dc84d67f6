// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shares of GPU time (S5, docs/sharing.md): each vGPU has its own, and no trick gets one more, nor
 * has another one pay. A trick is a script that vGPU 0, the worker, repeats, some with the help of
 * a partner. Scripts choose their moments by what a guest or the chip sees.
 */
#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "gk110/ram.h"
#include "selftests/module/harness/work.h"

#include <linux/bitfield.h>

#define W 0
#define P 1 /* the partner */
#define G V(i)
/* so many thousandths of the time a vGPU may have beyond its share (docs/invariants.md) */
#define MORE 40
/* so many it may pay for idle time in its turns, until the end of its work is noticed */
#define IDLE 150
/* and what a full bucket has, in thousandths of a row of so many ms: 400 ms of a cap of @pct % */
#define SAVED_IN(ms, pct) (10 * (pct)*400 / (ms))
#define NAMES		  8

/* clang-format off */
/* Steps: .b is the vGPU, beyond the role's. Where one asks in vain, its script begins anew. */
#define SOON(is, ns) WITHIN(ns, 10 * US, is)

static u16 gr_has(void)
{
	u16 id = chip.engine[0].chid;

	return id != NO_CHAN && chip_engine_works(id) ? id : NO_CHAN;
}

static bool shared(void)
{
	return work_listed(W) && work_listed(P);
}

STEP(sleeps) { harness_sleep(a * US); return true; }
/* Work of which the ring of channel 1 does not tell, and a ring that tells of what is not done. */
STEP(on) { chip.at_work[id_of(i, 1)] = true; if (gr_has() == NO_CHAN) work_serve(i); return true; }
STEP(off) { chip.at_work[id_of(i, 1)] = false; return true; }
STEP(tells) { work_put(i, 2, a & 1); return true; }
STEP(rings) { work_put(i, 1, a & 1); return true; }
STEP(kicks) { g_write(G, PFIFO_RUNLIST_SUBMIT, a % 3 ?: 2); return true; }
/* Flushes that are asked for by the page of flushes are done after a sample. */
STEP(asks) { *work_flush_word(i, FLUSH_BAR) = FLUSH_TRIGGER; return true; }
STEP(asks_l2) { work_flush(i); return true; }
#define ASKED(reg) (*work_flush_word(i, reg) & FLUSH_TRIGGER)
#define SEEN	   (!ASKED(FLUSH_BAR) && !ASKED(FLUSH_L2_DIRTY))
STEP(seen) { SOON(SEEN, a ? a * US : 100 * MS); return true; }
STEP(unseen) { return ASK(!SOON(SEEN, a * US)); }
STEP(flushed) { SOON(!*work_flush_word(i, FLUSH_L2_DIRTY), 100 * MS); return true; }
/* A copy ends when its channel is preempted (end_copy()). */
STEP(copies) { if (work_listed(i)) chip_copies(id_of(i, 2), harness_now + a * US); return true; }
STEP(ends_copy) { chip.copying_until = 0; return true; }
/* A kernel that can't be preempted for so long. */
STEP(holds) { return ASK(SOON(work_listed(i) && chip_hold(id_of(i, 1), a * US), 5 * MS)); }
STEP(frees) { SOON(!chip_is_stuck(), 2000 * MS); return true; }
STEP(open) { return ASK(SOON(shared(), 100 * MS)); }
STEP(while_open) { SOON(!shared(), a * US); return true; }
STEP(alone) { return ASK(SOON(work_alone(i), a * US)); }
STEP(loads) { return ASK(SOON((work_serve(i), chip_loaded(id_of(i, 1))), MS)); }
STEP(loaded) { return ASK(chip_loaded(id_of(i, 1))); }
STEP(lists) { g_list(G, (u64[]){ 1, 2 }, a % 3); return true; }
STEP(blocks) { g_write(G, PFIFO_RUNLIST_BLOCK, a & 1); return true; }
STEP(enables) { g_enable(G, 1, a & 1); return true; }
STEP(unbinds) { g_unbind(G, 1 + (a & 1)); return true; }
STEP(binds) { a = 1 + (a & 1); g_bind(G, a); kicks(i, a, 0, 0); g_enable(G, a, true); return true; }
STEP(rebinds) { g_unbind(G, 1); g_inst(G, 1, 0, 0); binds(i, 0, 0, 0); return true; }
STEP(groups) { g_list(G, (u64[]){ TSG(5, 1), 1 } + !a, 1 + a); return true; }
/* Ids of channels go back. */
STEP(resets)
{
	g_write(G, PMC_ENABLE, ~(u32)PMC_ENABLE_FIFO);
	g_write(G, PMC_ENABLE, ~0u);
	return true;
}
static u32 preempter;
STEP(preempts) { preempter = 1 + i; SOON(work_leaves(i), 50 * US); return true; }
STEP(preempts_now) { g_preempt(G, false, 1); return true; }
/* Until so much of its work is done, for some time at most. */
STEP(works)
{
	u64 ran = 0;
	SOON((ran += chip_engine_works(id_of(i, 1)) * 10) > a, 20 * MS);
	return true;
}
/* Short pieces of channels 3 and up. */
STEP(pieces)
{
	for (c = 3; c < 3 + a; c++) {
		if (work_listed(i))
			chip_copies(id_of(i, c), harness_now + 30 * US);
		harness_sleep(30 * US);
	}
	return true;
}

/* The two numbers that a row has for its script: .arg[0] and [1] */
#define N ~0u
#define M (~0u - 1)

enum { POLLS, KICKS, STOPS, WARNED, BUDGET, AFTER, FLUSHES, RESTS, UNLISTS, BLOCKS, GIVES_BACK,
       UNBINDS, REGROUPS, OTHER_ENGINE, LEAVES, OWNS, MANY_LEAVE, TURNS,
       LONG_UNLISTED, WAITER, EVICTED, EVICTED_UNBINDS, KERNELS, TELLS, WAKES };

/* a turn in which nothing is done, after which the other one is chosen */
#define EMPTY_TURN(j) { open }, { tells, 1, P }, { tells, 1 }, { kicks, 0, j }, { sleeps, 20 }, \
	{ tells }, { tells, 0, P }, { kicks, 0, j }, { open }

/* all ask for flushes, after which the host rests */
#define LONG_REST { asks_l2 }, { asks_l2, 0, 1 }, { asks_l2, 0, 2 }, { asks_l2, 0, 3 }, \
	{ flushed, 0, 3 }

static const struct step scripts[][24] = {
	[POLLS] = { { kicks }, { sleeps, 30 }, { on }, { sleeps, 540 }, { off }, { sleeps, 5 } },
	[KICKS] = { { kicks }, { sleeps, 5 }, { on }, { sleeps, 30 }, { off }, { sleeps, 1 } },
	[STOPS] = { { asks }, { on }, { seen }, { sleeps, 10 }, { off }, { kicks },
		{ sleeps, 30 } },
	[WARNED] = { { asks }, { on }, { seen }, { sleeps, 5 }, { off }, { sleeps, 100 } },
	/* a budget of a cap of 10 % is over when it is known to be, and then there is a poll */
	[BUDGET] = { { tells, 1 }, { asks }, { seen }, { sleeps, 60 }, { asks }, { on },
		{ seen, 1620 }, { off } },
	[AFTER] = { { asks }, { seen }, { sleeps, M }, { on }, { sleeps, N }, { off } },
	[FLUSHES] = { { asks_l2 }, { asks_l2, 0, P }, { seen }, { on }, { flushed }, { off } },
	[RESTS] = { { asks_l2 }, { asks_l2, 0, P }, { unseen, N }, { asks_l2, 0, P }, { on },
		{ seen }, { off } },
	[UNLISTS] = { { lists, 1 }, { loads }, { lists }, { asks }, { seen }, { sleeps, 60 },
		{ loaded }, { on }, { asks }, { seen }, { off } },
	[BLOCKS] = { { blocks }, { loads }, { blocks, 1 }, { asks }, { seen }, { sleeps, 60 },
		{ loaded }, { on }, { asks }, { seen }, { off } },
	[GIVES_BACK] = { LONG_REST, { binds }, { on }, { sleeps, N }, { off }, { kicks, 1 },
		{ asks }, { seen }, { asks }, { seen }, { resets } },
	[UNBINDS] = { LONG_REST, { binds }, { on }, { sleeps, N }, { off }, { unbinds } },
	[REGROUPS] = { LONG_REST, { groups, 1 }, { on }, { sleeps, N }, { off }, { groups } },
	/* a copy that is seen, and then a kernel beside a copy of the partner's */
	[OTHER_ENGINE] = { { ends_copy }, { kicks, 0, P }, { open }, { copies, 100 }, { kicks },
		{ sleeps, 50 }, { copies, 520, P }, { rings, 1 }, { on }, { while_open, 500 },
		{ off }, { rings } },
	/* the worker's kernel is waited for, since it is the partner's turn, who has no work */
	[LEAVES] = { EMPTY_TURN(W), { holds, N }, { tells, 1 }, { tells, 1, P }, { kicks, 0, P },
		{ sleeps, 60 }, { tells }, { frees }, { sleeps, 10 }, { tells, 0, P },
		{ kicks, 0, P } },
	/* the worker's kernel runs while the idle partner is driven off */
	[OWNS] = { EMPTY_TURN(P), { holds, N }, { preempts }, { tells, 1 }, { tells, 1, P },
		{ kicks, 0, P }, { frees }, { tells }, { tells, 0, P }, { kicks, 0, P } },
	[MANY_LEAVE] = { EMPTY_TURN(W), { loads }, { preempts, 0, P }, { tells, 1 },
		{ tells, 1, P }, { kicks }, { sleeps, 20 }, { pieces, NAMES, P }, { holds, 4500 },
		{ frees }, { tells }, { tells, 0, P }, { kicks } },
	[TURNS] = { { tells, 1 }, { tells, 0, P }, { kicks }, { alone, 5000 }, { on },
		{ sleeps, 7 }, { off }, { tells, 1, P }, { tells }, { kicks, 0, P },
		{ alone, 5000, P }, { sleeps, 20 } },
	[LONG_UNLISTED] = { { lists, 2 }, { sleeps, 300 }, { holds, 100000 }, { lists }, { frees },
		{ loads, 0, P }, { sleeps, 1024 } },
	[WAITER] = { { tells, 1 }, { on }, { works, N }, { off }, { tells }, { kicks },
		{ sleeps, 30 } },
	/* the partner's kernel is driven off, and the worker has its channels on another engine */
	[EVICTED] = { { rings, 1, P }, { tells, 1 }, { holds, 30000, P }, { alone, 40000 },
		{ pieces, NAMES }, { copies, 20000 }, { sleeps, 20000 }, { frees }, { rings, 0, P },
		{ tells }, { sleeps, 500 } },
	[EVICTED_UNBINDS] = { { rings, 1, P }, { tells, 1 }, { holds, 30000, P }, { alone, 40000 },
		{ copies, 20000 }, { sleeps, 19000 }, { unbinds, 1 }, { frees }, { rings, 0, P },
		{ binds, 1 } },
	[KERNELS] = { { rings, 1 }, { kicks }, { holds, N }, { frees }, { rings }, { kicks },
		{ sleeps, M } },
	[TELLS] = { { tells, 1 }, { sleeps, 1000 } },
	[WAKES] = { { tells, 1 }, { kicks }, { alone, 5000 }, { on }, { sleeps, N }, { off },
		{ tells }, { kicks }, { sleeps, 20 } },
};
/* clang-format on */

static void repeat(const struct step *first, u32 i)
{
	const struct step *s;

	while (scene_goes_on()) {
		for (s = first; s->act && scene_goes_on(); s++)
			if (!s->act(s->b + i,
				    s->a == N ? scene->arg[0] :
				    s->a == M ? scene->arg[1] :
						s->a,
				    0, 0))
				break;
		scene_count[i] += !s->act;
		harness_sleep(2 * US);
	}
}

static void tricks(const struct role *r)
{
	repeat(scripts[r->arg], r->vgpu);
}

/* A thread that preempts beside the script, which would wait. */
static void preempts_beside(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(2 * US))
		if (preempter) {
			g_preempt(V(preempter - 1), false, 1);
			preempter = 0;
		}
}

/* GR goes on to the next vGPU with work, one timeslice each, as far as the list allows. */
static void chip_turns(u32 me)
{
	static u64 since;
	static u16 had;
	u16 has = gr_has();
	u32 i;

	if (has != had)
		since = harness_now;
	had = has;
	if (has == NO_CHAN)
		work_serve(me);
	for (i = 0; harness_now >= since + MS && i < scene->vgpus; i++)
		if (id_of(i, 1) != has && chip.at_work[id_of(i, 1)])
			work_serve(i);
}

static void serves(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(20 * US))
		chip_turns(0);
}

/* Channel 1 has so much work and so long a pause as .arg says (EACH()); 0: it always has work. */
static void honest(const struct role *r)
{
	u64 did, work = (u32)r->arg * US, step = 20 * US;
	u16 id = id_of(r->vgpu, 1);

	while (scene_goes_on()) {
		work_put(r->vgpu, 1, 1);
		chip.at_work[id] = true;
		for (did = 0; (!work || did < work) && scene_goes_on(); harness_sleep(step)) {
			chip_turns(r->vgpu);
			did += chip_engine_works(id) ? step : 0;
		}
		chip.at_work[id] = false;
		work_put(r->vgpu, 1, 0);
		harness_sleep((r->arg >> 32) * US);
	}
}

static void end_copy(u32 reg, u32 val)
{
	if (reg == PFIFO_PREEMPT && !(val & PFIFO_PREEMPT_TSG) &&
	    FIELD_GET(PFIFO_PREEMPT_ID, val) == chip.copying)
		chip.copying_until = 0;
}

/*
 * .arg[2]: reads that a flush takes. Of three vGPUs the last one waits, of four none but the worker
 * has channels.
 */
static void quiet(const struct scene *s)
{
	u32 i;

	for (i = 0; i < s->vgpus; i++)
		work_second(i);
	if (s->vgpus == 3)
		work_put(2, 2, 1);
	for (i = 1; s->vgpus == 4 && i < 4; i++)
		world_reset(i);
	chip_before_write = end_copy;
	if (s->arg[2]) {
		work_slow_flushes(s->arg[2]);
		harness_policy(&(struct policy){ .seed = 1, .oversleep_ns = 20 * US });
	}
	harness_sleep(1500 * MS);
}

/* The same with channels 3 and up, which have copies. */
static void many_names(const struct scene *s)
{
	u64 list[2 + NAMES] = { 1, 2 };
	u32 i, c;

	quiet(s);
	for (i = 0; i < 2; i++) {
		for (c = 3; c < 3 + NAMES; c++) {
			list[c - 1] = c;
			g_run(G, c);
		}
		g_list(G, list, 2 + NAMES);
	}
}

/* Kernels go on, and the rings behind them are empty. */
static void unreported(const struct scene *s)
{
	u32 i;

	for (i = 0; i < s->vgpus; i++)
		g_ring(G, 1, 0);
	harness_sleep(1500 * MS);
	for (i = 0; i < s->vgpus; i++) {
		g_ring(G, 1, 1);
		kicks(i, 1, 0, 0);
		SOON(chip_engine_works(id_of(i, 1)), 20 * MS);
		chip.at_work[id_of(i, 1)] = true;
		g_ring(G, 1, 0);
		harness_sleep(20 * MS);
	}
}

/* Each leave of a channel 1 takes .arg[1] us, of the worker's .arg[2] us: its context is saved. */
static void save_slowly(u32 reg, u32 val)
{
	u32 i;

	if (reg != PFIFO_PREEMPT || val & PFIFO_PREEMPT_TSG)
		return;
	for (i = 0; i < scene->vgpus; i++)
		if (FIELD_GET(PFIFO_PREEMPT_ID, val) == id_of(i, 1) && chip_loaded(id_of(i, 1)))
			chip_hold(id_of(i, 1), scene->arg[i == W ? 2 : 1] * US);
}

static void saves_slowly(const struct scene *s)
{
	u32 i;

	for (i = 0; i < s->vgpus; i++)
		work_second(i);
	chip_before_write = save_slowly;
	harness_sleep(1500 * MS);
}

static u64 useful[WORLD_VGPUS];

/* A role: notes for whom GR works, and saves no context. */
static void meters_use(const struct role *r)
{
	u64 last = harness_now;
	u32 i;

	for (; scene_goes_on(); last = harness_now) {
		harness_sleep(10 * US);
		for (i = 0; i < scene->vgpus; i++)
			if (work_runs(i) && !chip_is_stuck() && !chip.preempting)
				useful[i] += harness_now - last;
	}
}

MEASURE(useful, "use of GR", useful[vgpu], PART);

/*
 * The worker waits for a semaphore (.arg[1]), while the last vGPU pays for a long kernel, and
 * .arg[0] ms later the worker and its partner work.
 */
static void saves(const struct scene *s)
{
	u32 i;

	for (i = 0; i < s->vgpus; i++)
		work_second(i);
	work_put(W, 2, s->arg[1]);
	kicks(W, 0, 0, 0);
	i = s->vgpus - 1;
	rings(i, 1, 0, 0);
	kicks(i, 0, 0, 0);
	NEEDS(SOON(holds(i, 1900000, 0, 0), 100 * MS));
	harness_sleep(100 * MS);
	rings(i, 0, 0, 0);
	frees(i, 0, 0, 0);
	harness_sleep(s->arg[0] * MS);
}

/* Counts the us for which gpu_time_ns of a vGPU that works has stood still, at most. */
static void reads_time(const struct role *r)
{
	u64 time, was = 0, grew = harness_now;

	while (scene_goes_on()) {
		harness_sleep(100 * US);
		time = admin_read(r->vgpu, "gpu_time_ns");
		if (time > was)
			grew = harness_now;
		was = time;
		scene_count[0] = max(scene_count[0], (harness_now - grew) / US);
	}
}

static void no_work(const struct scene *s)
{
	g_ring(V(P), 1, 0);
	harness_sleep(100 * MS);
}

/* Copies of channel 2, whose words move. */
static void moves_get(const struct role *r)
{
	u64 at = admin_place(r->vgpu).part + G_USERD(2);
	u32 get = 1;

	work_put(r->vgpu, 2, ~0u);
	for (; scene_goes_on(); harness_sleep(40 * US), chip_wrote(at, 256))
		*(u32 *)chip_vram(at + USERD_GP_GET) = get++;
}

/* scene_count[0]: turns of the worker, [1]: those longer than .arg us */
static void times_turns(const struct role *r)
{
	u64 since = 0;

	for (; scene_goes_on(); harness_sleep(20 * US)) {
		if (work_alone(W)) {
			since = since ?: harness_now;
		} else if (since) {
			scene_count[0]++;
			scene_count[1] += harness_now - since > r->arg * US;
			since = 0;
		}
	}
}

/* A flush of L2 is asked for each .arg ns. */
static void flushes(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(r->arg))
		work_flush(r->vgpu);
}

/* clang-format off */
STEP(slow_flushes) { work_slow_flushes(a); return true; }
/* clang-format on */

MEASURE(reads, "reads of the card by the host", host_reads, GROWTH);

static void idle_many(const struct scene *s)
{
	g_ring(V(W), 1, 0);
	work_chans(W, 2, 61);
}

/* A channel is not bound unless its USERD pointer names its own doorbell. */
static void words_elsewhere(const struct role *r)
{
	u32 i = 0;

	g_inst(G, 2, 0, 0);
	g_store32(G, G_INST(2) + RAMFC_USERD, G_USERD(7));
	g_bind(G, 2);
	scene_count[0] = admin_chan_lives(0, 2);
	g_unbind(G, 2);
	g_store32(G, G_INST(2) + RAMFC_USERD, G_USERD(2));
	g_bind(G, 2);
	scene_count[1] = admin_chan_lives(0, 2);
}

static u32 walk_random(u32 n)
{
	static u32 state;

	if (!state)
		state = scene->arg[0] * 2654435761u + 12345;
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % n;
}

static void walk_begin(const struct scene *s)
{
	static const char *const caps[] = { "100", "100", "50", "10", "30" };
	u32 i;

	for (i = 0; i < s->vgpus; i++)
		work_second(i);
	admin_write(W, "cap", caps[walk_random(ARRAY_SIZE(caps))]);
	if (!walk_random(4))
		admin_write(CARD, "policy", "equal-share");
	chip_before_write = end_copy;
	harness_sleep(300 * MS);
}

/* The worker and its partner repeat a short script that .arg[0] has made. */
static void walks(const struct role *r)
{
	/* clang-format off */
	static bool (*const acts[])(u32, u64, u64, u64) = {
		on, sleeps, kicks, off, copies, on, sleeps, kicks, off, copies, on, sleeps, kicks,
		off, copies, on, sleeps, kicks, off, copies, on, off, copies, ends_copy, kicks,
		lists, enables, rebinds, asks, asks_l2, seen, sleeps, loads, tells, rings, holds,
		preempts_now, while_open,
	};
	/* clang-format on */
	struct step script[12] = {};
	u32 k, nr = 4 + walk_random(8);

	for (k = 0; k < nr; k++)
		script[k] = (struct step){ acts[walk_random(ARRAY_SIZE(acts))],
					   20 + walk_random(walk_random(3) ? 400 : 3000),
					   walk_random(2) };
	repeat(script, 0);
}

static void third(const struct role *r)
{
	u32 kind = walk_random(3), work = 50 + walk_random(500), pause = 100 + walk_random(800);

	if (kind)
		honest(&(struct role){ .vgpu = 2, .arg = kind > 1 ? EACH(work, pause) : 0 });
}

/* clang-format off */

#define METER  { meter, 0, 40 * US }
#define MORE_THAN_SHARE "S5: a vGPU has more than its share"
#define LESS_THAN_SHARE "S5: a vGPU has less than its share"
#define DOES_NOT_PAY	"S5: a vGPU does not pay for what it has"
#define PAYS_MORE	"S5: a vGPU pays for what it does not have"

#define ROW(n, v, ms_, set_, before_, ...) \
	n, v, PLAIN(), COARSE, .ms = ms_, .set = set_, .arg = { __VA_ARGS__ }, .before = before_
#define NO_GAIN(most) \
	.must = { { &m_had, 0, 1, most, MORE_THAN_SHARE }, \
		  { &m_unpaid, 0, AT_MOST(MORE), DOES_NOT_PAY }, \
		  { &m_count, 0, AT_LEAST(3), "the trick is not played" } }
#define TRICK(n, v, trick, c, ...) \
	{ ROW(n, v, 2000, "0 cap " #c, quiet, ##__VA_ARGS__), \
	  .roles = { METER, { tricks, 0, trick } }, \
	  NO_GAIN(10 * (c) + SAVED_IN(2000, c) + MORE) }
/* with a thread that preempts for the script, against a cap of 10 % */
#define BESIDE(n, before_, trick, most, ...) \
	{ ROW(n, 2, 2000, "0 cap 10", before_, ##__VA_ARGS__), \
	  .roles = { METER, { tricks, 0, trick }, { preempts_beside } }, NO_GAIN(most) }
/* the share of the first vGPU */
#define HONEST(n, v, s, set_) \
	{ ROW(n, v, 2000, set_, NULL), \
	  .roles = { METER, { honest, 0 }, { honest, 1 }, { honest, (v) > 2 ? 2 : 0 }, \
		     { honest, (v) > 3 ? 3 : 0 } }, \
	  .must = { { &m_had, 0, (s) - 20, (s) + 20, "S5: the share of a vGPU" }, \
		    { &m_unpaid, 0, AT_MOST(20), DOES_NOT_PAY }, \
		    { &m_overpaid, 0, AT_MOST(20), PAYS_MORE }, \
		    { &m_overpaid, 1, AT_MOST(20), PAYS_MORE } } }
#define PAIR(n, s, v, set_) \
	{ ROW(n, v, 2000, set_, unreported), .roles = { METER, { serves } }, \
	  .must = { { &m_had, 0, (s) - MORE, (s) + MORE, "S5: the share of a vGPU" }, \
		    { &m_unpaid, 0, AT_MOST(MORE), DOES_NOT_PAY }, \
		    { &m_overpaid, 0, AT_MOST(MORE), PAYS_MORE } } }
#define WAITS(n, set_, us) \
	{ ROW(n, 2, 2000, set_, quiet, us), \
	  .roles = { METER, { tricks, 0, TELLS }, { tricks, 1, WAITER } }, \
	  .must = { { &m_had, 0, IS(0), "the waiter works" }, \
		    { &m_had, 1, AT_LEAST(100), LESS_THAN_SHARE }, \
		    { &m_charged, 0, AT_MOST(500), PAYS_MORE }, \
		    { &m_unpaid, 1, AT_MOST(MORE), DOES_NOT_PAY } } }
#define EQUAL "-1 policy equal-share"
/* .arg: kernels of the partner that can't be preempted, and pauses, us */
#define OWED(n, s, set_, ...) \
	{ ROW(n, 2, 4000, EQUAL " " set_, NULL, __VA_ARGS__), \
	  .roles = { METER, { honest, 0 }, { tricks, 1, KERNELS } }, \
	  .must = { { &m_had, 0, AT_LEAST((s) - 25), LESS_THAN_SHARE }, \
		    { &m_count, 1, AT_LEAST(3), "no kernels" } } }
#define SAVED(n, v, s, set_, ...) \
	{ ROW(n, v, 2000, set_, saves, __VA_ARGS__), \
	  .roles = { METER, { honest, 0 }, { honest, 1 } }, \
	  .must = { { &m_had, 0, 100, (s) + SAVED_IN(2000, (s) / 10) + MORE, MORE_THAN_SHARE }, \
		    { &m_had, 1, AT_LEAST((s) - 60), LESS_THAN_SHARE } } }
/* The worker wakes again and again, for .arg[0] us of work. A leave of others takes @save us. */
#define WAKES_BESIDE(n, set_, us, save, least) \
	{ ROW(n, 2, 4000, set_, saves_slowly, us, save), \
	  .roles = { { tricks, 0, WAKES }, { honest, 1 }, { meters_use } }, \
	  .must = { { &m_useful, 1, AT_LEAST(least), LESS_THAN_SHARE }, \
		    { &m_count, 0, AT_LEAST(3), "the trick is not played" } } }
/* Leaves take 0.3 ms, those of others a little more. */
#define LEAVES_SLOWLY(n, set_, most) \
	{ ROW(n, 2, 4000, set_, saves_slowly, 0, 320, 300), \
	  .roles = { METER, { honest, 0 }, { honest, 1 } }, \
	  .must = { { &m_had, 0, 1, (most) + MORE, MORE_THAN_SHARE } } }
/* vGPU 2 wakes for moments: it pays for switches, too */
#define WALK(k) \
	{ "walk " #k, 3, PLAIN(), { .seed = 1 + (k), .oversleep_ns = 3000 }, .ms = 1500, \
	  .arg = { k }, .slow = (k) > 2, .before = walk_begin, \
	  .roles = { METER, { walks }, { third } }, \
	  .must = { { &m_unpaid, 0, AT_MOST(2 * MORE), DOES_NOT_PAY }, \
		    { &m_unpaid, 1, AT_MOST(2 * MORE), DOES_NOT_PAY }, \
		    { &m_unpaid, 2, AT_MOST(2 * MORE), DOES_NOT_PAY }, \
		    { &m_overpaid, 2, AT_MOST(IDLE + 2 * MORE), PAYS_MORE } } }

static const struct scene table[] = {
	HONEST("one of two", 2, 500, NULL),
	HONEST("one of four", 4, 250, NULL),
	HONEST("a weight of 300 beside 100", 2, 750, "0 weight 300"),
	HONEST("a weight of 300 beside three of 100", 4, 500, "0 weight 300"),
	HONEST("a cap of 20 %", 2, 200, "0 cap 20"),
	PAIR("unreported kernels of two", 500, 2, NULL),
	PAIR("unreported kernels, weight 1900 beside 100", 950, 2, "0 weight 1900"),
	PAIR("unreported kernels, a cap of 10 %", 100, 2, "0 cap 10"),
	PAIR("an unreported kernel, a cap of 10 %", 100, 1, "0 cap 10"),
	PAIR("an unreported kernel", 1000, 1, NULL),
	{ ROW("the time of who works grows between samples, too", 1, 500, NULL, unreported),
	  .roles = { { serves }, { reads_time } },
	  .must = { { &m_count, 0, AT_MOST(500), "gpu_time_ns stands still" } } },
	{ ROW("who has no work pays nothing", 2, 2000, NULL, no_work), .roles = { METER },
	  .must = { { &m_charged, 1, AT_MOST(20), PAYS_MORE },
		    { &m_had, 0, 960, 1000, LESS_THAN_SHARE } } },

	TRICK("works between polls of its own", 1, POLLS, 2),
	TRICK("kicks all the time", 1, KICKS, 2),
	TRICK("stops when it is seen", 1, STOPS, 10),
	{ ROW("stops when it is seen, beside another", 2, 2000, NULL, quiet),
	  .roles = { METER, { tricks, 0, STOPS }, { honest, 1 } }, NO_GAIN(500 + MORE) },
	{ ROW("stops when it is seen, weight 1 beside 19", 2, 2000, "1 weight 1900", quiet),
	  .roles = { METER, { tricks, 0, STOPS }, { honest, 1 } }, NO_GAIN(50 + MORE) },
	TRICK("stops when it is warned", 1, WARNED, 10),
	TRICK("works between the policy's polls", 1, BUDGET, 10),
	TRICK("works until 4 ms after a sample", 1, AFTER, 10, 3840, 60),
	{ ROW("works until 1 ms after a sample, beside another", 2, 2000, "0 cap 10", quiet, 840,
	      60), .roles = { METER, { tricks, 0, AFTER }, { honest, 1 } },
	  NO_GAIN(100 + SAVED_IN(2000, 10) + MORE) },
	TRICK("works for 245 us after a sample", 1, AFTER, 1, 245),
	TRICK("works for 60 us after a sample", 1, AFTER, 1, 60),
	TRICK("works in flushes", 2, FLUSHES, 2, 0, 0, 24),
	TRICK("works late in rests", 2, RESTS, 2, 3000, 0, 24),
	TRICK("works late in shorter rests", 2, RESTS, 10, 2000, 0, 12),
	TRICK("works without a list", 1, UNLISTS, 10),
	TRICK("works with a blocked list", 1, BLOCKS, 10),
	TRICK("gives its ids back", 4, GIVES_BACK, 10, 2000, 0, 20),
	TRICK("unbinds what worked", 4, UNBINDS, 10, 1500, 0, 20),
	TRICK("regroups what worked", 4, REGROUPS, 10, 1500, 0, 20),
	TRICK("hides behind a copy", 2, OTHER_ENGINE, 10),
	TRICK("works before it leaves", 2, LEAVES, 10, 4850),
	TRICK("works for a moment before it leaves", 2, LEAVES, 10, 950),
	BESIDE("works behind its preempt", quiet, OWNS, 140, 1000),
	BESIDE("works behind many names before it leaves", many_names, MANY_LEAVE, 140),
	/* it is the next owner, and has no engine before the other one has left */
	BESIDE("works by many names beside one that is driven off", many_names, EVICTED, 140),
	BESIDE("unbinds what worked beside one that is driven off", quiet, EVICTED_UNBINDS, 140),
	TRICK("works first in short turns", 3, TURNS, 2),
	{ ROW("works long without a list", 2, 4000, NULL, quiet),
	  .roles = { METER, { tricks, 0, LONG_UNLISTED }, { honest, 1 }, { moves_get, 1 } },
	  NO_GAIN(500 + MORE) },
	{ ROW("kicks beside one that pauses", 2, 1000, NULL, quiet),
	  .roles = { METER, { tricks, 0, TELLS }, { work_kernels, 0, EACH(300, 100) },
		     { honest, 1 }, { work_kicks, 1, 10 * US } },
	  .must = { { &m_had, 1, 400, 500 + MORE, MORE_THAN_SHARE } } },
	{ ROW("beside one that only waits", 2, 1000, NULL, quiet),
	  .roles = { METER, { tricks, 0, TELLS }, { honest, 1 } },
	  .must = { { &m_had, 1, AT_LEAST(920), LESS_THAN_SHARE } } },
	WAITS("waits beside pieces of 100 us", NULL, 100),
	WAITS("waits beside pieces of 300 us", NULL, 300),
	WAITS("waits with a cap", "0 cap 10", 100),

	OWED("owed after kernels and pauses", 333, "1 weight 200", 24000, 41000),
	OWED("owed after long kernels", 200, "1 weight 400", 33000, 36000),
	OWED("owed beside a cap and a weight", 200, "1 weight 400 1 cap 60", 30000),
	SAVED("sleeps beside a long kernel", 2, 500, EQUAL, 3800),
	SAVED("saves beside a long kernel", 2, 500, EQUAL, 3800, 1),
	SAVED("saves beside a long kernel, fixed", 2, 195, "-1 policy fixed-share", 9500, 1),
	SAVED("saves beside a helper", 3, 333, EQUAL, 3800, 1),
	SAVED("saves beside a light helper", 3, 476, EQUAL " 2 weight 10", 15000, 1),

	WAKES_BESIDE("wakes for nothing", NULL, 0, 1000, 500 - MORE),
	WAKES_BESIDE("wakes for nothing, a cap of 10 %", "0 cap 10", 0, 1000,
		     900 - SAVED_IN(4000, 10) - MORE),
	WAKES_BESIDE("wakes for nothing, weight 25", "0 weight 25", 0, 380, 800 - MORE),
	WAKES_BESIDE("wakes for nothing, equal share", EQUAL, 0, 380, 500 - MORE),
	WAKES_BESIDE("wakes for 0.85 ms, weight 25", "0 weight 25", 850, 380, 800 - MORE),
	{ ROW("leaves slowly with a cap beside one that wakes for nothing", 2, 4000, "1 cap 30",
	      saves_slowly, 0, 1000), .roles = { METER, { tricks, 0, WAKES }, { honest, 1 } },
	  .must = { { &m_had, 1, 1, 300 + SAVED_IN(4000, 30) + MORE, MORE_THAN_SHARE },
		    { &m_count, 0, AT_LEAST(3), "the trick is not played" } } },
	LEAVES_SLOWLY("leaves slowly, slices of 0.5 ms", "-1 slice_us 500 0 weight 25", 200),
	LEAVES_SLOWLY("leaves slowly, slices of 0.5 ms and a cap", "-1 slice_us 500 0 cap 30",
		      300 + SAVED_IN(4000, 30)),

	{ "a long poll now and then", 2, PLAIN(), { .oversleep_ns = 20 * US }, .ms = 36000,
	  .first = STEPS({ slow_flushes, 72 }, { sleeps, 500000 }),
	  .roles = { { times_turns, 0, 7900 }, { honest, 0 }, { honest, 1 },
		     { flushes, 0, 50 * MS } },
	  .must = { { &m_count, 0, AT_LEAST(2000), "no turns" },
		    { &m_count, 1, AT_MOST(44), "S5: turns are too long beside one that waits" } } },
	{ "a light vGPU on a slow card", 3, PLAIN(), { .oversleep_ns = 3000, .read_ns = 40 * US },
	  .ms = 2000, .set = "0 weight 5",
	  .roles = { METER, { honest, 0 }, { honest, 1 }, { honest, 2 },
		     { work_kicks, 0, 50 * US } },
	  .must = { { &m_had, 0, 14, 34, "S5: the share of a vGPU" },
		    { &m_reads, CARD, AT_MOST(2000 * 1000 / 40 * 2 / 3), "S6: polls" } } },
	{ ROW("many idle channels", 1, 500, NULL, idle_many),
	  .must = { { &m_reads, CARD, 5, 5000, "S5: polls of many channels" } } },
	{ ROW("words elsewhere", 1, 0, NULL, NULL), .roles = { { words_elsewhere } },
	  .must = { { &m_count, 0, IS(0), "S5: a channel has its words in another one's place" },
		    { &m_count, 1, IS(1), "a channel is not bound" } } },

	WALK(1), WALK(2), WALK(3), WALK(4), WALK(5), WALK(6), WALK(7), WALK(8), WALK(9), WALK(10),
};

/* clang-format on */

SCENES(table)
