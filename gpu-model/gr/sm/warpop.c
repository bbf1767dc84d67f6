// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions by which lanes of a warp and warps of a CTA work together or learn about themselves.
 */
#include <time.h>

#include "exec.h"

#define SM_CLOCK_KHZ 705500u /* of a K20m; SR_CLOCK counts it */
#define B2R_COUNT    0 /* sub of B2R */
#define B2R_RESULT   1

/* ------------------------------------------------------------------ special registers */

static uint64_t sm_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull * SM_CLOCK_KHZ + ts.tv_nsec * (uint64_t)SM_CLOCK_KHZ / 1000000;
}

enum axis { AXIS_X, AXIS_Y, AXIS_Z };

static uint32_t tid_part(const struct warp *w, unsigned int lane, enum axis axis)
{
	const struct qmd *q = w->t->run->q;
	uint32_t tid = w->id * LANES + lane, x = q->cta_thread_dimension0,
		 y = q->cta_thread_dimension1;

	switch (axis) {
	case AXIS_X:
		return tid % x;
	case AXIS_Y:
		return tid / x % y;
	case AXIS_Z:
		break;
	}
	return tid / x / y;
}

/*
 * SR_VIRTID. envytools tesla/cuda/isa.rst has lane, warp, MP, TPC from bit 0 on; nouveau and Mesa
 * read the warp at bit 8 and the SM at bit 20.
 */
static uint32_t virtual_id(const struct warp *w, unsigned int lane)
{
	const struct cta *c = w->cta;

	return lane | (uint32_t)(c->slot * c->nr_warps + w->id) << 8 | c->sm << 20;
}

static uint32_t uniform_sreg(const struct warp *w, unsigned int nr)
{
	const struct run *r = w->t->run;
	const struct qmd *q = r->q;
	const struct cta *c = w->cta;

	switch (nr) {
	case SM_SR_VIRTCFG:
		return SM_MAX_WARPS << 8 | r->sm->nr << 20;
	case SM_SR_CTAID_X:
	case SM_SR_CTAID_Y:
	case SM_SR_CTAID_Z:
		return c->id[nr - SM_SR_CTAID_X];
	case SM_SR_NTID:
		return q->cta_thread_dimension0 | q->cta_thread_dimension1 << 16 |
		       q->cta_thread_dimension2 << 26;
	case SM_SR_SWINLO:
		return r->grid->shared_window;
	case SM_SR_LWINLO:
		return r->grid->local_window;
	case SM_SR_SWINSZ:
	case SM_SR_LWINSZ:
		return WINDOW_SIZE;
	case SM_SR_SMEMSZ:
		return q->shared_memory_size;
	case SM_SR_SMEMBANKS:
		return 32;
	case SM_SR_LMEMLOSZ:
		return r->local_low;
	case SM_SR_LMEMHIOFF:
		return WINDOW_SIZE - r->local_high;
	case SM_SR_CLOCK:
	case SM_SR_CLOCKLO:
		return (uint32_t)sm_clock();
	case SM_SR_CLOCKHI:
		return (uint32_t)(sm_clock() >> 32);
	case SM_SR_GLOBALTIMERLO:
		return (uint32_t)ptimer_now(r->g);
	case SM_SR_GLOBALTIMERHI:
		return (uint32_t)(ptimer_now(r->g) >> 32);
	default:
		/* of other shader stages, or not modelled */
		return 0;
	}
}

static uint32_t lane_sreg(const struct warp *w, unsigned int nr, unsigned int l)
{
	uint32_t eq = 1u << l;

	switch (nr) {
	case SM_SR_LANEID:
		return l;
	case SM_SR_VIRTID:
		return virtual_id(w, l);
	case SM_SR_TID:
		return tid_part(w, l, AXIS_X) | tid_part(w, l, AXIS_Y) << 16 |
		       tid_part(w, l, AXIS_Z) << 26;
	case SM_SR_TID_X:
	case SM_SR_TID_Y:
	case SM_SR_TID_Z:
		return tid_part(w, l, nr - SM_SR_TID_X);
	case SM_SR_EQMASK:
		return eq;
	case SM_SR_LTMASK:
		return eq - 1;
	case SM_SR_LEMASK:
		return eq | (eq - 1);
	case SM_SR_GTMASK:
		return ~(eq | (eq - 1));
	default: /* GEMASK */
		return ~(eq - 1);
	}
}

static bool differs_by_lane(unsigned int nr)
{
	return nr == SM_SR_LANEID || nr == SM_SR_VIRTID || (nr >= SM_SR_TID && nr <= SM_SR_TID_Z) ||
	       (nr >= SM_SR_EQMASK && nr <= SM_SR_GEMASK);
}

static enum step op_s2r(struct warp *w, const struct uop *u, uint32_t m)
{
	unsigned int nr = u->in->src[0].imm;
	bool by_lane = differs_by_lane(nr);
	uint32_t v = by_lane ? 0 : uniform_sreg(w, nr);
	lanes d;

	for (unsigned int l = 0; l < LANES; l++)
		d[l] = by_lane ? lane_sreg(w, nr, l) : v;
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_lepc(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes d;

	for (unsigned int l = 0; l < LANES; l++)
		d[l] = w->pc + SM_INSN_BYTES;
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

/* ------------------------------------------------------------------ vote, shuffle */

static enum step op_vote(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	uint32_t ballot = 0;
	bool yes;
	lanes d;

	for (unsigned int i = 0; i < 4; i++) {
		if (in->src[i].kind == SM_PRED)
			ballot = src_pred(w, &in->src[i]) & m;
	}
	yes = in->sub == SM_VOTE_ALL ? ballot == m :
	      in->sub == SM_VOTE_ANY ? ballot :
				       ballot == m || !ballot;
	for (unsigned int l = 0; l < LANES; l++)
		d[l] = ballot;
	for (unsigned int i = 0; i < 2; i++) {
		if (in->dst[i].kind == SM_REG)
			put(w, u->dst[i], d, m);
		put_pred(w, &in->dst[i], yes ? ALL_LANES : 0, m);
	}
	return STEP_NEXT;
}

/*
 * PTX shfl: c holds the clamp in bits 4:0 and the segment mask in 12:8. A source lane outside of
 * the clamp or the segment gives the reader its own value back. A source lane inside that is not
 * active gives 0: open in PTX; seen on a GH100.
 */
static enum step op_shfl(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	lanes t0, t1, t2, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1),
		       *c = src_raw(w, u, 2, t2);
	uint32_t pred = 0;

	for (unsigned int l = 0; l < LANES; l++) {
		uint32_t by = b[l] & 31, clamp = c[l] & 31, seg = c[l] >> 8 & 31;
		uint32_t max = (l & seg) | (clamp & ~seg), min = l & seg;
		int32_t j;
		bool ok;

		switch (in->sub) {
		case SM_SHFL_UP:
			j = (int32_t)(l - by);
			ok = j >= (int32_t)max;
			break;
		case SM_SHFL_DOWN:
			j = l + by;
			ok = j <= (int32_t)max;
			break;
		case SM_SHFL_BFLY:
			j = l ^ by;
			ok = j <= (int32_t)max;
			break;
		default:
			j = min | (by & ~seg);
			ok = j <= (int32_t)max;
			break;
		}
		d[l] = !ok ? a[l] : m >> (j & 31) & 1 ? a[j & 31] : 0;
		pred |= (uint32_t)ok << l;
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (in->dst[i].kind == SM_REG)
			put(w, u->dst[i], d, m);
		put_pred(w, &in->dst[i], pred, m);
	}
	return STEP_NEXT;
}

/* ------------------------------------------------------------------ barriers */

static enum step op_bar(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	unsigned int first = __builtin_ctz(m),
		     nr = in->src[0].kind == SM_NONE ? 0 : src_lane(w, u, 0, first);
	uint32_t count = in->src[1].kind == SM_REG || in->src[1].kind == SM_IMM ?
				 src_lane(w, u, 1, first) :
				 0;
	uint32_t all = w->active, truth = ALL_LANES;
	bool reduce = in->sub == SM_BAR_RED_POPC || in->sub == SM_BAR_RED_AND ||
		      in->sub == SM_BAR_RED_OR;

	if (in->src[1].kind == SM_REG && in->src[1].reg == SM_RZ)
		count = 0;
	if (nr >= NR_BARRIER || in->sub == SM_BAR_SCAN)
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	if (reduce) {
		for (unsigned int i = 0; i < 4; i++) {
			if (in->src[i].kind == SM_PRED)
				truth = src_pred(w, &in->src[i]);
		}
		barrier_reduce(w, nr, truth & all, all);
		w->red = in->sub;
	}
	return barrier_arrive(w, nr, count, in->sub != SM_BAR_ARV) ? STEP_NEXT : STEP_WAIT;
}

/* B2R: how many threads have arrived at a barrier, or the result of this warp's last BAR.RED. */
static enum step op_b2r(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	uint32_t v;
	lanes d;

	if (in->sub == B2R_RESULT)
		v = w->red_value;
	else if (in->sub == B2R_COUNT && in->src[0].imm < NR_BARRIER)
		v = w->cta->barrier[in->src[0].imm].arrived;
	else
		return warp_trap(w, WARP_ILLEGAL_PARAM);
	for (unsigned int l = 0; l < LANES; l++)
		d[l] = v;
	put(w, u->dst[0], d, m);
	if (in->sub == B2R_RESULT)
		put_pred(w, &in->dst[1], w->red_pred ? ALL_LANES : 0, m);
	return STEP_NEXT;
}

static enum step op_membar(struct warp *w, const struct uop *u, uint32_t m)
{
	atomic_thread_fence(memory_order_seq_cst);
	return STEP_NEXT;
}

/* a texture instruction's result is there when it is done */
static enum step op_texture_order(struct warp *w, const struct uop *u, uint32_t m)
{
	return STEP_NEXT;
}

op_fn warpop_op(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_S2R:
		return op_s2r;
	case SM_LEPC:
		return op_lepc;
	case SM_VOTE:
		return op_vote;
	case SM_SHFL:
		return op_shfl;
	case SM_BAR:
		return op_bar;
	case SM_B2R:
		return op_b2r;
	case SM_MEMBAR:
		return op_membar;
	case SM_TEXDEPBAR:
	case SM_STP:
		return op_texture_order;
	default:
		return NULL;
	}
}
