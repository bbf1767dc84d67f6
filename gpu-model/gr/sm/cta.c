// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CTA on its SM. Its warps take turns: a warp that spins until another warp writes memory must
 * let that warp run. An atomic's result and a volatile load come from the L2, which takes hundreds
 * of cycles: the SM issues for other warps meanwhile. So a warp's turn ends there, and its CTA's
 * once the warps behind it had theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "exec.h"

#define TURN 4096u /* warp instructions */

static size_t aligned_size(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

static size_t regs_bytes(const struct run *r)
{
	return (size_t)(SLOT_REG + r->regs) * sizeof(lanes);
}

static size_t locks_bytes(const struct run *r)
{
	return aligned_size(r->q->shared_memory_size / 32 + 4);
}

static void warp_init(struct sm_thread *t, struct cta *c, unsigned int id)
{
	struct run *r = t->run;
	struct warp *w = &c->warp[id];
	uint32_t first = id * LANES, n = r->threads - first;

	w->t = t;
	w->cta = c;
	w->id = id;
	w->live = w->active = n >= LANES ? ALL_LANES : (1u << n) - 1;
	w->pc = r->q->program_offset;
	memset(w->p, 0, sizeof(w->p));
	w->p[SM_PT] = ALL_LANES;
	w->z = w->s = w->c = w->o = 0;
	w->exited = w->brk = w->cont = w->ret = w->jmp = 0;
	w->depth = w->calls = 0;
	w->stack_size = r->stack_size;
	w->wait_barrier = 0;
	w->red = NO_REDUCTION;
	w->done = false;
	w->issued = 0;
	/* open: the contents of registers at the start; zeros leak nothing of another channel */
	memset(w->r, 0, regs_bytes(r));
}

static struct cta *cta_alloc(struct run *r)
{
	size_t warps = r->warps_per_cta, head = aligned_size(sizeof(struct cta));
	size_t warp = aligned_size(warps * sizeof(struct warp));
	size_t stack = aligned_size(r->stack_size * sizeof(struct token));
	size_t shared = aligned_size(r->q->shared_memory_size + 16);
	size_t total = head + warp + warps * (stack + regs_bytes(r)) + shared + locks_bytes(r);
	uint8_t *p = aligned_alloc(64, total);
	struct cta *c = (struct cta *)p;

	if (!p)
		return NULL;
	memset(p, 0, head + warp);
	p += head;
	c->warp = (struct warp *)p;
	p += warp;
	for (unsigned int i = 0; i < warps; i++) {
		c->warp[i].r = (lanes *)p;
		p += regs_bytes(r);
	}
	for (unsigned int i = 0; i < warps; i++) {
		c->warp[i].stack = (struct token *)p;
		p += stack;
	}
	c->shared = p;
	p += shared;
	c->locks = (uint32_t *)p;
	return c;
}

struct cta *cta_start(struct sm_thread *t, uint64_t nr, unsigned int sm, unsigned int slot)
{
	struct run *r = t->run;
	struct cta *c = t->free_ctas;

	if (c)
		t->free_ctas = c->next;
	else
		c = cta_alloc(r);
	if (!c)
		return NULL;
	c->nr = nr;
	c->id[0] = nr % r->q->cta_raster_width;
	c->id[1] = nr / r->q->cta_raster_width % r->q->cta_raster_height;
	c->id[2] = nr / r->q->cta_raster_width / r->q->cta_raster_height;
	c->nr_warps = c->left = r->warps_per_cta;
	c->turn = 0;
	c->sm = sm;
	c->slot = slot;
	c->shared_size = r->q->shared_memory_size;
	memset(c->shared, 0, c->shared_size);
	memset(c->locks, 0, locks_bytes(r));
	memset(c->barrier, 0, sizeof(c->barrier));
	for (unsigned int i = 0; i < c->nr_warps; i++)
		warp_init(t, c, i);
	return c;
}

void cta_end(struct sm_thread *t, struct cta *c)
{
	c->next = t->free_ctas;
	t->free_ctas = c;
}

void cta_free_all(struct sm_thread *t)
{
	while (t->free_ctas) {
		struct cta *c = t->free_ctas;

		t->free_ctas = c->next;
		free(c);
	}
}

/* ------------------------------------------------------------------ turns */

bool run_dropped(const struct run *r)
{
	return atomic_load_explicit(&r->g->gr->resets, memory_order_relaxed) != r->resets ||
	       atomic_load_explicit(&r->sm->abandon, memory_order_relaxed);
}

static void warp_ended(struct cta *c, struct warp *w)
{
	w->done = true;
	c->left--;
	barrier_warp_left(c);
}

enum cta_state cta_run(struct sm_thread *t, struct cta *c, uint64_t budget)
{
	unsigned int gpc, tpc;
	uint64_t start = 0, used;
	bool moved = false, yielded = false;
	enum step s;

	sm_place(t->g, c->sm, &gpc, &tpc);
	t->gcc = &t->g->gr->gcc[gpc];
	t->l1 = &t->run->sm->l1[c->sm];
	t->tex = &t->run->sm->tex[c->sm];
	for (unsigned int idle = 0; c->left && budget;) {
		struct warp *w = &c->warp[c->turn];

		if (c->turn == 0 && yielded)
			break;
		c->turn = c->turn + 1 == c->nr_warps ? 0 : c->turn + 1;
		if (w->done || w->wait_barrier) {
			if (++idle > c->nr_warps)
				break;
			continue;
		}
		idle = 0;
		moved = true;
		start = w->issued;
		s = warp_run(w, budget < TURN ? budget : TURN);
		yielded |= s == STEP_YIELD;
		switch (s) {
		case STEP_END:
			warp_ended(c, w);
			break;
		case STEP_STOP:
			return CTA_STOPPED;
		case STEP_NEXT:
		case STEP_JUMP:
		case STEP_WAIT:
		case STEP_YIELD:
			break;
		}
		used = w->issued - start;
		atomic_fetch_add_explicit(&t->run->issued, used, memory_order_relaxed);
		budget -= used < budget ? used : budget;
		if (atomic_load_explicit(&t->run->halt, memory_order_relaxed) ||
		    run_dropped(t->run))
			return CTA_STOPPED;
		if (atomic_load_explicit(&t->g->dma_writers, memory_order_relaxed)) {
			dma_read_unlock(t->g);
			dma_read_lock(t->g);
			xlat_flush(t);
		}
	}
	if (!c->left)
		return CTA_DONE;
	return moved ? CTA_RUNS : CTA_STUCK;
}
