// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grids. CTAs are started in launch order. The thread that owns the engine executes them. Once a
 * grid has run for WAKE_AFTER_NS, helper threads join in, one per further core and SMX but one at
 * most, unless the grid is paced, must run its CTAs one after the other, or has one for each SM at
 * most. Such CTAs often meet at barriers that count on the chip's even pace, which one thread keeps
 * and several, which the host's scheduler may stop, do not. A thread runs a CTA to its end if the
 * end comes soon. While a CTA takes long or waits for memory, the thread starts further CTAs, up to
 * as many as the chip would hold at the same time, and runs them in turns: CTAs that wait for each
 * other then get on as they do on the chip.
 *
 * Preemption is at CTA boundaries: after *stop no CTA is started, and CTAs that run come to their
 * end first, however long that takes. An error or a reset of the engine drops running CTAs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exec.h"

#define CHUNK_WARPS 4096 /* of an empty program, charged at a time */
#define EMPTY_WORDS 512u /* words that an empty program may have */
/* instructions of a CTA's turn: while the thread has one CTA, and while it has several */
#define FIRST_SLICE    (256u << 10)
#define SLICE	       (32u << 10)
#define WAKE_AFTER_NS  30000
#define STUCK_SLEEP_NS 200000 /* while all CTAs of the thread wait at barriers */
#define STACK_BASE     16 /* tokens without any call stack memory (control.c) */
#define TOKEN_BYTES    8
#define MAX_STACK      (256u << 10) /* bytes */
#define REG_UNIT       8 /* unit of a thread's registers */
#define SM_REGS	       65536u
#define SM_SHARED      (48u << 10)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* ------------------------------------------------------------------ empty programs */

static bool is_plain(const struct uop *u, enum sm_op op)
{
	return u->in->op == op && u->guard == SM_PT && !u->guard_not && !u->conditional && !u->join;
}

/* NOPs up to an unconditional EXIT */
static bool program_is_empty(struct sm_thread *t)
{
	uint32_t pc = t->run->q->program_offset;

	for (unsigned int i = 0; i < EMPTY_WORDS; i++, pc += SM_INSN_BYTES) {
		const struct code_line *l;
		const struct uop *u;

		if (pc % 64 == 0)
			continue;
		l = code_peek(t, pc);
		if (!l)
			return false;
		u = &l->uop[pc % LINE_BYTES / SM_INSN_BYTES];
		if (is_plain(u, SM_EXIT))
			return true;
		if (!is_plain(u, SM_NOP))
			return false;
	}
	return false;
}

static enum sm_result charge_empty(struct sm_grid *grid, uint64_t warps)
{
	while (grid->pacer->per_s && grid->warps_done < warps) {
		uint64_t n = warps - grid->warps_done;

		if (n > CHUNK_WARPS)
			n = CHUNK_WARPS;
		if (atomic_load(grid->stop))
			return SM_AGAIN;
		pacer_charge(grid->pacer, n, grid->stop);
		grid->warps_done += n;
	}
	return SM_DONE;
}

/* ------------------------------------------------------------------ what fits on an SM */

static uint32_t at_most(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static bool run_limits(struct run *r)
{
	const struct qmd *q = r->q;
	uint32_t wpc = r->warps_per_cta, n = at_most(SM_MAX_CTAS, SM_MAX_WARPS / wpc);

	n = at_most(n, SM_REGS / (wpc * LANES * (r->regs ? r->regs : 1)));
	if (q->shared_memory_size)
		n = at_most(n, SM_SHARED / q->shared_memory_size);
	if (!n)
		n = 1;
	r->local_low = q->shader_local_memory_low_size;
	r->local_high = q->shader_local_memory_high_size;
	r->local_per_warp = (uint64_t)(r->local_low + r->local_high) * LANES;
	if (r->local_per_warp) {
		uint64_t fit = r->grid->local_size_per_sm / (r->local_per_warp * wpc);

		if (!fit)
			return false;
		n = at_most(n, fit > SM_MAX_CTAS ? SM_MAX_CTAS : fit);
	}
	r->ctas_per_sm = q->sequentially_run_ctas ? 1 : n;
	r->alone = r->grid->pacer->per_s || q->sequentially_run_ctas || r->nr_ctas <= r->sm->nr;
	return true;
}

static void run_init(struct run *r, struct gk110 *g, struct sm_grid *grid)
{
	const struct qmd *q = grid->qmd;
	uint32_t crs = at_most(q->shader_local_memory_crs_size, MAX_STACK);

	*r = (struct run){
		.g = g,
		.sm = g->gr->sm,
		.grid = grid,
		.q = q,
		.warps_per_cta = qmd_warps_per_cta(q),
		.threads = q->cta_thread_dimension0 * q->cta_thread_dimension1 *
			   q->cta_thread_dimension2,
		.regs = (q->register_count + REG_UNIT - 1) / REG_UNIT * REG_UNIT,
		.stack_size = STACK_BASE + crs / TOKEN_BYTES,
		.result = SM_DONE,
		.resets = atomic_load(&g->gr->resets),
	};
	if (r->regs > SM_RZ)
		r->regs = SM_RZ;
	pthread_mutex_init(&r->lock, NULL);
	for (unsigned int i = 0; i < QMD_NR_CBUF; i++) {
		r->cbuf[i].valid = q->constant_buffer_valid[i];
		r->cbuf[i].va = (uint64_t)q->constant_buffer_addr_upper[i] << 32 |
				q->constant_buffer_addr_lower[i];
		r->cbuf[i].size = q->constant_buffer_size[i];
	}
}

static void run_fini(struct run *r)
{
	for (unsigned int i = 0; i < QMD_NR_CBUF; i++)
		free(r->cbuf[i].data);
	pthread_mutex_destroy(&r->lock);
}

/* ------------------------------------------------------------------ one host thread's part */

struct share {
	struct sm_thread *t;
	unsigned int nr_threads, next_sm;
	uint32_t slots[SM_MAX]; /* bit per resident CTA */
	struct cta *cta[SM_MAX * SM_MAX_CTAS];
	unsigned int nr;
	bool drained; /* no CTA is left to start, or *stop is true */
	uint64_t start, charged;
	bool woken;
};

static void run_halt(struct run *r, enum sm_result why)
{
	pthread_mutex_lock(&r->lock);
	if (r->result == SM_DONE)
		r->result = why;
	pthread_mutex_unlock(&r->lock);
	atomic_store(&r->halt, true);
}

static bool place(struct share *s, unsigned int *sm, unsigned int *slot)
{
	unsigned int limit = s->t->run->ctas_per_sm, nr = s->t->run->sm->nr;

	for (unsigned int i = 0; i < nr; i++) {
		*sm = s->next_sm;
		s->next_sm += s->nr_threads;
		if (s->next_sm >= nr)
			s->next_sm = s->t->index;
		*slot = __builtin_ctz(~s->slots[*sm]);
		if (*slot < limit)
			return true;
	}
	return false;
}

static bool start_one(struct share *s)
{
	struct run *r = s->t->run;
	unsigned int sm, slot;
	struct cta *c;
	uint64_t nr;

	if (s->drained || s->nr == r->sm->nr * SM_MAX_CTAS || !place(s, &sm, &slot))
		return false;
	if (r->q->sequentially_run_ctas && s->nr)
		return false;
	if (atomic_load(r->grid->stop)) {
		s->drained = true;
		return false;
	}
	nr = atomic_fetch_add(&r->next_cta, 1);
	if (nr >= r->nr_ctas) {
		s->drained = true;
		return false;
	}
	c = cta_start(s->t, nr, sm, slot);
	if (!c) {
		gk110_note(r->g, "no memory for a CTA");
		run_halt(r, SM_TRAP);
		return false;
	}
	s->slots[sm] |= 1u << slot;
	s->cta[s->nr++] = c;
	return true;
}

static void end_one(struct share *s, unsigned int i)
{
	struct cta *c = s->cta[i];

	s->slots[c->sm] &= ~(1u << c->slot);
	cta_end(s->t, c);
	memmove(&s->cta[i], &s->cta[i + 1], (--s->nr - i) * sizeof(s->cta[0]));
}

static void pause_stuck(struct sm_thread *t)
{
	const struct timespec ts = { .tv_nsec = STUCK_SLEEP_NS };

	dma_read_unlock(t->g);
	nanosleep(&ts, NULL);
	dma_read_lock(t->g);
	xlat_flush(t);
}

static void charge(struct share *s)
{
	struct run *r = s->t->run;
	uint64_t issued = atomic_load_explicit(&r->issued, memory_order_relaxed);

	if (!r->grid->pacer->per_s || issued == s->charged)
		return;
	dma_read_unlock(s->t->g);
	pacer_charge(r->grid->pacer, issued - s->charged, r->grid->stop);
	dma_read_lock(s->t->g);
	xlat_flush(s->t);
	s->charged = issued;
}

static void wake_helpers(struct share *s);

static uint64_t slice_of(const struct share *s)
{
	uint64_t per_s = s->t->run->grid->pacer->per_s, n = s->nr > 1 ? SLICE : FIRST_SLICE;

	if (per_s && n > per_s / 500)
		n = per_s / 500 < 256 ? 256 : per_s / 500;
	return n;
}

/* *@ended: a CTA came to its end. False: the grid was halted. */
static bool pass(struct share *s, bool *ended)
{
	unsigned int stuck = 0;

	*ended = false;
	for (unsigned int i = 0; i < s->nr;) {
		enum cta_state state = cta_run(s->t, s->cta[i], slice_of(s));

		charge(s);
		if (run_dropped(s->t->run))
			run_halt(s->t->run, SM_RESET);
		if (state == CTA_STOPPED || atomic_load(&s->t->run->halt))
			return false;
		if (state == CTA_DONE) {
			end_one(s, i);
			*ended = true;
			continue;
		}
		stuck += state == CTA_STUCK;
		i++;
	}
	if (s->nr && stuck == s->nr)
		pause_stuck(s->t);
	return true;
}

static void work(struct sm_thread *t, struct run *r, unsigned int nr_threads)
{
	struct share s = {
		.t = t, .nr_threads = nr_threads, .next_sm = t->index, .start = now_ns()
	};
	bool ended = true;

	t->run = r;
	memset(t->front, 0, sizeof(t->front));
	dma_read_lock(t->g);
	xlat_flush(t);
	for (;;) {
		if (!s.nr || !ended)
			start_one(&s);
		if (!s.nr || !pass(&s, &ended))
			break;
		if (t->index == 0 && !s.woken && now_ns() - s.start > WAKE_AFTER_NS)
			wake_helpers(&s);
	}
	while (s.nr)
		end_one(&s, s.nr - 1);
	cta_free_all(t);
	dma_read_unlock(t->g);
}

/* ------------------------------------------------------------------ helpers */

static void *helper_main(void *arg)
{
	struct sm_thread *t = arg;
	struct sm *sm = t->g->gr->sm;
	uint64_t seen = 0;

	pthread_mutex_lock(&sm->lock);
	while (!sm->quit) {
		struct run *r = sm->run;

		if (!r || sm->serial == seen) {
			pthread_cond_wait(&sm->work, &sm->lock);
			continue;
		}
		seen = sm->serial;
		r->active++;
		pthread_mutex_unlock(&sm->lock);
		work(t, r, sm->nr_threads);
		pthread_mutex_lock(&sm->lock);
		if (!--r->active)
			pthread_cond_signal(&sm->idle);
	}
	pthread_mutex_unlock(&sm->lock);
	return NULL;
}

static struct sm_thread *thread_new(struct gk110 *g, unsigned int index)
{
	struct sm_thread *t = aligned_alloc(64, (sizeof(*t) + 63) & ~(size_t)63);
	unsigned int gpc, tpc;

	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->g = g;
	t->index = index;
	sm_place(g, index % board_tpcs(&g->cfg.board), &gpc, &tpc);
	t->gcc = &g->gr->gcc[gpc];
	return t;
}

/* With fewer helpers a grid is slower, not wrong. Call with sm.lock. */
static void start_helpers(struct gk110 *g)
{
	struct sm *sm = g->gr->sm;

	while (sm->nr_helpers + 1 < sm->nr_threads) {
		struct sm_thread **t = &sm->thread[sm->nr_helpers + 1];

		/* what was allocated for a thread that could not be created is still there */
		if (!*t)
			*t = thread_new(g, sm->nr_helpers + 1);
		if (!*t || pthread_create(&sm->helper[sm->nr_helpers], NULL, helper_main, *t))
			return;
		sm->nr_helpers++;
	}
}

static void wake_helpers(struct share *s)
{
	struct run *r = s->t->run;
	struct sm *sm = r->sm;

	s->woken = true;
	if (r->alone || atomic_load(&r->next_cta) >= r->nr_ctas)
		return;
	pthread_mutex_lock(&sm->lock);
	start_helpers(r->g);
	sm->run = r;
	sm->serial++;
	pthread_cond_broadcast(&sm->work);
	pthread_mutex_unlock(&sm->lock);
}

static void wait_helpers(struct run *r)
{
	struct sm *sm = r->sm;

	pthread_mutex_lock(&sm->lock);
	sm->run = NULL;
	while (r->active)
		pthread_cond_wait(&sm->idle, &sm->lock);
	pthread_mutex_unlock(&sm->lock);
}

/* ------------------------------------------------------------------ the interface */

static enum sm_result execute(struct run *r, struct sm_thread *t)
{
	struct sm_grid *grid = r->grid;
	uint64_t started;

	if (!run_limits(r))
		return SM_NO_TEMP;
	atomic_store(&r->next_cta, grid->warps_done / r->warps_per_cta);
	if (grid->pacer->per_s)
		pacer_begin(grid->pacer);
	work(t, r, r->alone ? 1 : r->sm->nr_threads);
	wait_helpers(r);
	if (grid->pacer->per_s)
		pacer_end(grid->pacer);
	atomic_fetch_add(&r->sm->instructions, atomic_load(&r->issued));
	if (r->result != SM_DONE)
		return r->result;
	started = atomic_load(&r->next_cta);
	if (started >= r->nr_ctas)
		return SM_DONE;
	grid->warps_done = started * r->warps_per_cta;
	return SM_AGAIN;
}

enum sm_result sm_run_grid(struct gk110 *g, struct sm_grid *grid)
{
	struct sm *sm = g->gr->sm;
	struct sm_thread *t = sm->thread[0];
	uint64_t warps = qmd_warps(grid->qmd);
	enum sm_result ret;
	struct run r;

	if (!warps)
		return SM_DONE;
	run_init(&r, g, grid);
	r.nr_ctas = warps / r.warps_per_cta;
	sm_place(g, 0, &grid->trap.gpc, &grid->trap.tpc);
	code_trim(sm);
	t->run = &r;
	memset(t->front, 0, sizeof(t->front));
	if (program_is_empty(t))
		ret = charge_empty(grid, warps);
	else
		ret = execute(&r, t);
	run_fini(&r);
	return ret;
}

uint64_t sm_instructions(struct gk110 *g)
{
	return atomic_load(&g->gr->sm->instructions);
}

void sm_abandon(struct gk110 *g, bool on)
{
	atomic_store(&g->gr->sm->abandon, on);
}

int sm_init(struct gk110 *g)
{
	static const uint8_t l1_client[] = { 0x00, 0x03, 0x06 },
			     tex_client[] = { 0x01, 0x04, 0x07 };
	struct sm *sm = calloc(1, sizeof(*sm));
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int ret = 0;

	if (!sm)
		return -ENOMEM;
	g->gr->sm = sm;
	sm->nr = board_tpcs(&g->cfg.board);
	sm->nr_threads = cores > sm->nr ? sm->nr : cores > 1 ? cores : 1;
	pthread_mutex_init(&sm->lock, NULL);
	pthread_mutex_init(&sm->code_lock, NULL);
	pthread_cond_init(&sm->work, NULL);
	pthread_cond_init(&sm->idle, NULL);
	for (unsigned int i = 0; !ret && i < sm->nr; i++) {
		unsigned int gpc, tpc;

		sm_place(g, i, &gpc, &tpc);
		ret = mmu_client_init(g, &sm->l1[i], "L1", GR_FAULT_UNIT, l1_client[tpc], gpc);
		if (!ret)
			ret = mmu_client_init(g, &sm->tex[i], "T1", GR_FAULT_UNIT, tex_client[tpc],
					      gpc);
	}
	sm->thread[0] = thread_new(g, 0);
	return sm->thread[0] ? ret : -ENOMEM;
}

static void thread_free(struct sm_thread *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < sizeof(t->spare) / sizeof(t->spare[0]); i++)
		free(t->spare[i]);
	free(t);
}

void sm_fini(struct gk110 *g)
{
	struct sm *sm = g->gr->sm;

	if (!sm)
		return;
	pthread_mutex_lock(&sm->lock);
	sm->quit = true;
	pthread_cond_broadcast(&sm->work);
	pthread_mutex_unlock(&sm->lock);
	for (unsigned int i = 0; i < sm->nr_helpers; i++)
		pthread_join(sm->helper[i], NULL);
	for (unsigned int i = 0; i <= SM_MAX; i++)
		thread_free(sm->thread[i]);
	for (unsigned int i = 0; i < sm->nr; i++) {
		mmu_client_fini(g, &sm->l1[i]);
		mmu_client_fini(g, &sm->tex[i]);
	}
	code_free(sm);
	free(sm);
	g->gr->sm = NULL;
}
