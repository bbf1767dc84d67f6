// SPDX-License-Identifier: GPL-2.0-only
/* gpu.h has the contracts. */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "selftests/module/sim/gpu.h"

#define NEVER KVGPU_SCHED_NEVER

const struct sim_cfg sim_ideal = {
	.poll_ns = 100000,
	.piece = 50000,
	.hw_slice = SIM_MS,
	.seed = 1,
};

const struct sim_cfg sim_k20 = {
	.poll_ns = SIM_MS,
	.jitter_ns = 100000,
	.preempt_ns = 60000,
	.load_ns = 30000,
	.piece = 100000,
	.hw_slice = SIM_MS,
	.seed = 1,
};

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static u64 draw(struct sim_gpu *g, u64 below)
{
	g->rng ^= g->rng << 13;
	g->rng ^= g->rng >> 7;
	g->rng ^= g->rng << 17;
	return below ? g->rng % below : 0;
}

/* ------------------------------------------------------------------ work */

static u64 piece(const struct sim_gpu *g, const struct sim_vgpu *v)
{
	return v->work.piece ? v->work.piece : g->cfg.piece;
}

static bool can_do(const struct sim_vgpu *v)
{
	return v->left || v->nr;
}

/* as the driver sees it */
static bool has_work(const struct sim_vgpu *v)
{
	return can_do(v) || v->stalls;
}

static void push(struct sim_gpu *g, struct sim_vgpu *v)
{
	if (v->nr == SIM_QUEUE)
		return;
	v->queue[(v->head + v->nr++) % SIM_QUEUE] = g->now;
	if (g->each_job)
		g->each_job(g, v - g->vgpu);
}

static void take_job(struct sim_vgpu *v)
{
	if (v->left || !v->nr)
		return;
	v->arrived = v->queue[v->head];
	v->head = (v->head + 1) % SIM_QUEUE;
	v->nr--;
	v->left = v->work.len;
	v->done = 0;
}

static bool over(const struct sim_gpu *g, const struct sim_vgpu *v)
{
	return v->work.to && g->now - g->begin >= v->work.to;
}

static void arrive(struct sim_gpu *g, struct sim_vgpu *v)
{
	u32 n;

	if (g->now < v->next_arrival)
		return;
	v->next_arrival = NEVER;
	if (over(g, v))
		return;
	switch (v->work.kind) {
	case SIM_IDLE:
		break;
	case SIM_BUSY:
	case SIM_LOOP:
		push(g, v);
		break;
	case SIM_PERIODIC:
		push(g, v);
		v->next_arrival = g->now + v->work.period;
		break;
	case SIM_BURSTS:
		for (n = 1 + draw(g, v->work.burst); n; n--)
			push(g, v);
		v->next_arrival = g->now + 1 + draw(g, 2 * v->work.period);
		break;
	case SIM_STALL:
		v->stalls = !v->stalls || !v->work.period;
		v->next_arrival = g->now + (v->stalls ? v->work.len : v->work.period);
		break;
	}
}

static void finish_job(struct sim_gpu *g, struct sim_vgpu *v)
{
	v->jobs++;
	if (v->work.kind == SIM_BUSY && !over(g, v))
		push(g, v);
	if (v->work.kind == SIM_LOOP && !over(g, v))
		v->next_arrival = g->now + v->work.period;
	if (v->work.kind != SIM_BUSY && v->nr_lat < SIM_MAX_LAT)
		v->lat[v->nr_lat++] = g->now - v->arrived - v->work.len;
}

/* ------------------------------------------------------------------ the engine */

static void note_run(struct sim_gpu *g, struct sim_vgpu *v, u64 from, u64 to)
{
	v->left -= to - from;
	v->done += to - from;
	v->uncharged += to - from;
	v->progress |= to > from;
	v->busy += to - from;
	while (from < to) {
		u64 bin = (from - g->begin) / SIM_BIN,
		    end = min_u64(to, g->begin + (bin + 1) * SIM_BIN);

		if (bin < SIM_MAX_BINS)
			v->bins[bin] += end - from;
		from = end;
	}
}

/* what runs has run up to now */
static void advance_engine(struct sim_gpu *g)
{
	struct sim_vgpu *v;

	if (g->running < 0)
		return;
	v = &g->vgpu[g->running];
	note_run(g, v, g->run_start, g->now);
	g->run_start = g->now;
	if (!v->left) {
		finish_job(g, v);
		g->running = -1;
	} else if (g->stop_at == NEVER ? g->shared && g->now >= g->hw_end :
					 g->preempt_ns && g->now >= g->stop_at - g->preempt_ns) {
		/* its time is over, or its context is saved now */
		g->running = -1;
	}
}

/* which vGPU runs next, of those whose lists are on the chip; the round goes on behind @last */
static int next_running(const struct sim_gpu *g, int last)
{
	u32 i;

	if (!g->shared)
		return g->owner >= 0 && can_do(&g->vgpu[g->owner]) ? g->owner : -1;
	for (i = 1; i <= g->nr; i++)
		if (can_do(&g->vgpu[(last + i) % g->nr]))
			return (last + i) % g->nr;
	return -1;
}

static void start_engine(struct sim_gpu *g, int last)
{
	if (g->running >= 0 || g->stop_at != NEVER || g->loaded_at != NEVER)
		return;
	g->running = next_running(g, last < 0 ? 0 : last);
	if (g->running < 0)
		return;
	take_job(&g->vgpu[g->running]);
	g->run_start = g->now;
	g->hw_end = g->now + g->cfg.hw_slice;
}

/* when the piece that runs could be interrupted */
static u64 piece_end(const struct sim_gpu *g)
{
	const struct sim_vgpu *v;
	u64 p;

	if (g->running < 0)
		return g->now;
	v = &g->vgpu[g->running];
	p = piece(g, v);
	return g->now + min_u64(v->left, p - v->done % p);
}

/* ------------------------------------------------------------------ the driver */

/*
 * While vGPUs take turns, the owner pays from the time on at which its list is on the chip until it
 * is to be saved; who pays for that is the policy's. Else each vGPU pays for what it ran.
 */
static void charge(struct sim_gpu *g)
{
	bool stamps = !g->shared && g->owner >= 0 && g->choice.turns;
	u64 to = g->loaded_at != NEVER ? g->charged : g->now;
	u32 i;

	if (stamps && g->stop_at != NEVER)
		to = min_u64(to, g->stop_at - g->preempt_ns);
	if (stamps && to > g->charged)
		kvgpu_sched_charge(&g->sched, &g->vgpu[g->owner].ent, to - g->charged, g->now);
	for (i = 0; i < g->nr; i++) {
		u64 ns = g->vgpu[i].uncharged;

		g->vgpu[i].uncharged = 0;
		if (ns && !(stamps && g->owner == (int)i))
			kvgpu_sched_charge(&g->sched, &g->vgpu[i].ent, ns, g->now);
	}
	g->charged = g->now;
}

static void poll_vgpus(struct sim_gpu *g)
{
	u32 i;

	for (i = 0; i < g->nr; i++) {
		kvgpu_sched_note(&g->vgpu[i].ent, has_work(&g->vgpu[i]), g->vgpu[i].progress);
		g->vgpu[i].progress = false;
	}
	charge(g);
	kvgpu_sched_polled(&g->sched, g->now);
}

static void decide(struct sim_gpu *g)
{
	bool turns = g->choice.turns;
	int owner;

	kvgpu_sched_choose(&g->sched, g->now, &g->choice);
	if (g->each_choice)
		g->each_choice(g);
	owner = g->choice.ent && !g->choice.shared ?
			(int)(container_of(g->choice.ent, struct sim_vgpu, ent) - g->vgpu) :
			-1;
	if (g->choice.shared == g->shared && (g->shared || owner == g->owner)) {
		if (!g->shared)
			g->choice.until = kvgpu_sched_started(&g->sched, g->now);
		return;
	}
	g->next_shared = g->choice.shared;
	g->next_owner = owner;
	g->next_turns = g->choice.turns;
	g->choice.turns = turns;
	/*
	 * lists may join those on the chip, and an empty chip may be given one, without a preempt
	 */
	g->preempt_ns =
		!g->next_shared && g->running >= 0 && g->running != owner ? g->cfg.preempt_ns : 0;
	g->stop_at = g->next_shared || g->running == owner ? g->now : piece_end(g) + g->preempt_ns;
	g->switches++;
}

static void drive(struct sim_gpu *g)
{
	if (g->stop_at != NEVER || g->loaded_at != NEVER)
		return;
	if (g->now < g->poll_at && g->now < g->choice.until)
		return;
	poll_vgpus(g);
	decide(g);
	g->poll_at = g->now + g->cfg.poll_ns + draw(g, g->cfg.jitter_ns + 1);
}

static void switch_lists(struct sim_gpu *g)
{
	if (g->now >= g->stop_at) {
		bool keeps = g->running < 0 ? g->next_shared :
					      g->next_shared || g->running == g->next_owner;

		charge(g);
		g->stop_at = NEVER;
		g->shared = g->next_shared;
		g->choice.turns = g->next_turns;
		g->owner = g->next_owner;
		g->loaded_at = g->now + (keeps ? 0 : g->cfg.load_ns);
		if (!keeps)
			g->running = -1;
	}
	if (g->now >= g->loaded_at) {
		g->loaded_at = NEVER;
		g->charged = g->now;
		if (!g->shared)
			g->choice.until = kvgpu_sched_started(&g->sched, g->now);
	}
}

/* ------------------------------------------------------------------ time */

static u64 next_event(const struct sim_gpu *g)
{
	u64 t = min_u64(g->stop_at, g->loaded_at), save = g->stop_at - g->preempt_ns;
	u32 i;

	if (g->stop_at != NEVER && save > g->now)
		t = min_u64(t, save);

	if (t == NEVER)
		t = min_u64(g->poll_at, g->choice.until > g->now ? g->choice.until : NEVER);
	if (g->running >= 0) {
		t = min_u64(t, g->now + g->vgpu[g->running].left);
		if (g->shared && g->hw_end > g->now)
			t = min_u64(t, g->hw_end);
	}
	for (i = 0; i < g->nr; i++)
		t = min_u64(t, g->vgpu[i].next_arrival);
	return t;
}

static bool anybody_has_work(const struct sim_gpu *g)
{
	u32 i;

	for (i = 0; i < g->nr; i++)
		if (can_do(&g->vgpu[i]))
			return true;
	return false;
}

static void note_waste(struct sim_gpu *g, u64 ns)
{
	const struct kvgpu_sched_ent *e = g->sched.current_ent;

	if (g->running >= 0 || !anybody_has_work(g))
		return;
	g->wasted += ns;
	if (e && g->sched.hold_end)
		container_of(e, struct sim_vgpu, ent)->held += ns;
}

static void step(struct sim_gpu *g, u64 end)
{
	u64 to = min_u64(next_event(g), end);
	int last = g->running;
	u32 i;

	note_waste(g, to - g->now);
	g->now = to;
	advance_engine(g);
	for (i = 0; i < g->nr; i++)
		arrive(g, &g->vgpu[i]);
	/* preempted: it does not go on with another job */
	if (g->running < 0 && g->stop_at != NEVER && !g->next_shared &&
	    g->stop_at > g->now + g->preempt_ns)
		g->stop_at = g->now + g->preempt_ns;
	switch_lists(g);
	drive(g);
	start_engine(g, last);
}

struct sim_vgpu *sim_vgpus(u32 nr, u64 len)
{
	struct sim_vgpu *v = calloc(nr, sizeof(*v));
	u32 i;

	if (!v)
		exit(1);
	for (i = 0; i < nr; i++) {
		v[i].ent = (struct kvgpu_sched_ent){ .weight = 100,
						     .cap = KVGPU_SCHED_CAP_NONE,
						     .fixed_ppm = KVGPU_SCHED_PPM / nr };
		v[i].work = (struct sim_work){ .kind = SIM_BUSY, .len = len };
	}
	return v;
}

void sim_init(struct sim_gpu *g, const struct sim_cfg *cfg, struct sim_vgpu *vgpu, u32 nr,
	      u64 begin)
{
	u32 i;

	*g = (struct sim_gpu){
		.cfg = *cfg,
		.vgpu = vgpu,
		.nr = nr,
		.now = begin,
		.begin = begin,
		.rng = cfg->seed * 0x9e3779b97f4a7c15ull + 1,
		.shared = true,
		.owner = -1,
		.running = -1,
		.stop_at = NEVER,
		.loaded_at = NEVER,
		.poll_at = begin,
		.choice.until = NEVER,
	};
	kvgpu_sched_init(&g->sched);
	for (i = 0; i < nr; i++) {
		kvgpu_sched_add(&g->sched, &vgpu[i].ent, begin);
		vgpu[i].next_arrival = vgpu[i].work.kind == SIM_IDLE ? NEVER :
								       begin + vgpu[i].work.from;
	}
}

void sim_run(struct sim_gpu *g, u64 ns)
{
	u64 end = g->now + ns;

	while (g->now < end)
		step(g, end);
	/* the driver makes no poll while a switch waits */
	if (g->stop_at == NEVER && g->loaded_at == NEVER)
		poll_vgpus(g);
}

/* ------------------------------------------------------------------ what came of it */

u64 sim_busy(const struct sim_gpu *g)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < g->nr; i++)
		sum += g->vgpu[i].busy;
	return sum;
}

static u64 window_sum(const struct sim_vgpu *v, u64 bin, u64 nr)
{
	u64 sum = 0, i;

	for (i = bin; i < bin + nr; i++)
		sum += v->bins[i];
	return sum;
}

u32 sim_share_error(const struct sim_gpu *g, u32 vgpu, u32 ppm, u64 from, u64 window)
{
	u64 nr = window / SIM_BIN, bin, last = min_u64((g->now - g->begin) / SIM_BIN, SIM_MAX_BINS);
	u64 error = 0;
	u32 i;

	for (bin = from / SIM_BIN; bin + nr <= last; bin++) {
		u64 mine = window_sum(&g->vgpu[vgpu], bin, nr), all = 0, want, d;

		for (i = 0; i < g->nr; i++)
			all += window_sum(&g->vgpu[i], bin, nr);
		want = (u64)((double)all * ppm / 1e6);
		d = mine > want ? mine - want : want - mine;
		if (want && d * 1000000 / want > error)
			error = d * 1000000 / want;
	}
	return (u32)min_u64(error, 0xffffffff);
}

void sim_range(const struct sim_gpu *g, u32 vgpu, u64 from, u64 window, u32 *least, u32 *most)
{
	u64 nr = window / SIM_BIN, bin, last = min_u64((g->now - g->begin) / SIM_BIN, SIM_MAX_BINS);

	*least = 1000000;
	*most = 0;
	for (bin = from / SIM_BIN; bin + nr <= last; bin++) {
		u32 ppm = (u32)(window_sum(&g->vgpu[vgpu], bin, nr) * 1000000 / window);

		*least = ppm < *least ? ppm : *least;
		*most = ppm > *most ? ppm : *most;
	}
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

u64 sim_latency(struct sim_vgpu *v, u32 per_mille)
{
	if (!v->nr_lat)
		return 0;
	qsort(v->lat, v->nr_lat, sizeof(v->lat[0]), by_value);
	return v->lat[(u64)(v->nr_lat - 1) * per_mille / 1000];
}

u32 sim_nr_seeds(void)
{
	const char *s = getenv("SCHED_TEST_SEEDS");

	return s ? strtoul(s, NULL, 10) : 1;
}

bool sim_takes(u32 sum, u32 of)
{
	return sim_nr_seeds() > 1 || sum % of == 0;
}

u64 sim_run_ns(void)
{
	return (sim_nr_seeds() > 1 ? 20 : 10) * SIM_S;
}
