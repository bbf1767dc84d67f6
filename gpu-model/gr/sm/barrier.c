// SPDX-License-Identifier: GPL-2.0-only
/* Barriers of a CTA, and the reductions that its warps compute at them. */
#include "exec.h"

static void reduction_result(struct warp *w, const struct barrier *b)
{
	switch (w->red) {
	case SM_BAR_RED_POPC:
		w->red_value = b->count;
		w->red_pred = b->count != 0;
		break;
	case SM_BAR_RED_AND:
		w->red_pred = b->count == b->threads;
		w->red_value = w->red_pred ? ~0u : 0;
		break;
	case SM_BAR_RED_OR:
		w->red_pred = b->count != 0;
		w->red_value = w->red_pred ? ~0u : 0;
		break;
	}
	w->red = NO_REDUCTION;
}

static void release(struct cta *c, unsigned int nr)
{
	struct barrier *b = &c->barrier[nr];

	for (unsigned int i = 0; i < c->nr_warps; i++) {
		struct warp *w = &c->warp[i];

		if (w->wait_barrier != nr + 1)
			continue;
		w->wait_barrier = 0;
		reduction_result(w, b);
	}
	*b = (struct barrier){ 0 };
}

/* Warps that have exited do not count. */
static uint32_t everybody(const struct cta *c)
{
	return c->left * LANES;
}

static bool complete(const struct cta *c, const struct barrier *b)
{
	return b->arrived && b->arrived >= (b->expected ? b->expected : everybody(c));
}

void barrier_reduce(struct warp *w, unsigned int nr, uint32_t lanes_true, uint32_t lanes_all)
{
	struct barrier *b = &w->cta->barrier[nr];

	b->count += __builtin_popcount(lanes_true);
	b->threads += __builtin_popcount(lanes_all);
}

bool barrier_arrive(struct warp *w, unsigned int nr, uint32_t expected, bool wait)
{
	struct barrier *b = &w->cta->barrier[nr];

	if (expected)
		b->expected = (expected + LANES - 1) / LANES * LANES;
	b->arrived += LANES;
	if (wait)
		w->wait_barrier = nr + 1;
	if (!complete(w->cta, b))
		return !wait;
	release(w->cta, nr);
	return true;
}

void barrier_warp_left(struct cta *c)
{
	for (unsigned int i = 0; i < NR_BARRIER; i++) {
		if (complete(c, &c->barrier[i]))
			release(c, i);
	}
}
