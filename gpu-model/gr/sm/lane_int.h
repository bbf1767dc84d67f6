/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Integer instructions. The condition code follows envytools docs/hw/graph/fermi/cuda/isa.rst. With
 * .X the carry is added, and the zero flag says that all words so far were zero.
 */
#ifndef KVGPU_MODEL_GR_SM_LANE_INT_H
#define KVGPU_MODEL_GR_SM_LANE_INT_H

#define LOOP(l)	for (unsigned int l = 0; l < LANES; l++)

static inline uint32_t mask_of(const uint32_t *truth)
{
	uint32_t m = 0;

	LOOP(l)
		m |= (truth[l] & 1u) << l;
	return m;
}

static inline uint32_t zero_lanes(const uint32_t *d)
{
	lanes t;

	LOOP(l)
		t[l] = d[l] == 0;
	return mask_of(t);
}

static inline uint32_t sign_lanes(const uint32_t *d)
{
	lanes t;

	LOOP(l)
		t[l] = d[l] >> 31;
	return mask_of(t);
}

static inline void spread(uint32_t m, uint32_t *d)
{
	LOOP(l)
		d[l] = m >> l & 1;
}

/* Set Z and S as result @d says, and clear C and O: add_flags() sets these two afterwards. */
static void set_zs(struct warp *w, const struct uop *u, const uint32_t *d, uint32_t m)
{
	uint32_t z = zero_lanes(d);

	put_flag(&w->z, u->in->x ? z & w->z : z, m);
	put_flag(&w->s, sign_lanes(d), m);
	put_flag(&w->c, 0, m);
	put_flag(&w->o, 0, m);
}

static void add_flags(struct warp *w, const struct uop *u, const uint32_t *a, const uint32_t *b,
		      const uint32_t *cin, uint32_t *d, uint32_t m)
{
	lanes carry, over;

	LOOP(l) {
		uint64_t t = (uint64_t)a[l] + b[l] + cin[l];

		d[l] = (uint32_t)t;
		carry[l] = (uint32_t)(t >> 32);
		over[l] = (~(a[l] ^ b[l]) & (a[l] ^ d[l])) >> 31;
	}
	if (!u->in->set_cc)
		return;
	set_zs(w, u, d, m);
	put_flag(&w->c, mask_of(carry), m);
	put_flag(&w->o, mask_of(over), m);
}

static inline void saturate_add(const uint32_t *a, const uint32_t *b, uint32_t *d)
{
	LOOP(l) {
		bool over = (~(a[l] ^ b[l]) & (a[l] ^ d[l])) >> 31;

		d[l] = over ? 0x7fffffffu + (a[l] >> 31) : d[l];
	}
}

/* @na, @nb: operand a, b is subtracted. */
static enum step adder(struct warp *w, const struct uop *u, uint32_t m, const uint32_t *a,
		       const uint32_t *b, bool na, bool nb)
{
	const struct sm_insn *in = u->in;
	lanes ta, tb, cin, d;

	if (!in->x && !in->set_cc && !in->sat) {
		uint32_t xa = na ? ~0u : 0, xb = nb ? ~0u : 0, one = na + nb + in->po;

		LOOP(l)
			d[l] = (a[l] ^ xa) + (b[l] ^ xb) + one;
		put(w, u->dst[0], d, m);
		return STEP_NEXT;
	}
	LOOP(l) {
		ta[l] = na ? ~a[l] : a[l];
		tb[l] = nb ? ~b[l] : b[l];
	}
	if (in->x)
		spread(w->c, cin);
	else
		LOOP(l)
			cin[l] = na + nb + in->po;
	add_flags(w, u, ta, tb, cin, d, m);
	if (in->sat)
		saturate_add(ta, tb, d);
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_iadd(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1;

	return adder(w, u, m, src_raw(w, u, 0, t0), src_raw(w, u, 1, t1), u->in->src[0].neg,
		     u->in->src[1].neg);
}

static enum step op_iscadd(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	unsigned int shift = in->src[2].imm & 31;
	lanes t0, t1, a;
	const uint32_t *r = src_raw(w, u, 0, t0);

	LOOP(l)
		a[l] = r[l] << shift;
	return adder(w, u, m, a, src_raw(w, u, 1, t1), in->src[0].neg, in->src[1].neg);
}

/* ------------------------------------------------------------------ products */

static void product(const struct sm_insn *in, const uint32_t *a, const uint32_t *b, bool neg,
		    uint32_t *d)
{
	bool sa = in->stype[0] == SM_S32, sb = in->stype[1] == SM_S32;

	if (!in->hi) {
		LOOP(l)
			d[l] = a[l] * b[l];
		return;
	}
	LOOP(l) {
		int64_t x = sa ? (int32_t)a[l] : (int64_t)a[l],
			y = sb ? (int32_t)b[l] : (int64_t)b[l];
		uint64_t p = (uint64_t)x * (uint64_t)y;

		d[l] = (uint32_t)((neg ? -p : p) >> 32);
	}
}

static enum step op_imul(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, d;

	product(u->in, src_raw(w, u, 0, t0), src_raw(w, u, 1, t1), false, d);
	if (u->in->src[0].neg != u->in->src[1].neg)
		LOOP(l)
			d[l] = -d[l];
	if (u->in->set_cc)
		set_zs(w, u, d, m);
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_imad(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	bool whole = in->hi && !in->x;
	lanes t0, t1, t2, p;

	product(in, src_raw(w, u, 0, t0), src_raw(w, u, 1, t1), in->neg_product && whole, p);
	return adder(w, u, m, p, src_raw(w, u, 2, t2), in->neg_product && !whole, in->src[2].neg);
}

static int64_t part(uint32_t v, unsigned int type)
{
	switch (type) {
	case SM_U24:	return v & 0xffffff;
	case SM_S24:	return (int32_t)(v << 8) >> 8;
	case SM_U16_H0: case SM_U16:
		return v & 0xffff;
	case SM_S16_H0: case SM_S16:
		return (int16_t)v;
	case SM_U16_H1:	return v >> 16;
	case SM_S16_H1:	return (int32_t)v >> 16;
	case SM_S32:	return (int32_t)v;
	case SM_U8:	return v & 0xff;
	case SM_S8:	return (int8_t)v;
	default:	return v;
	}
}

/*
 * With .SD the types are in the upper bits of the second source, a word of a surface's descriptor
 * (Mesa nak/ir.rs).
 */
static enum step op_imadsp(struct warp *w, const struct uop *u, uint32_t m)
{
	static const uint8_t first[] = { SM_U32, SM_U24, SM_U16_H0, SM_U16_H1 },
			     third[] = { SM_U32, SM_U24, SM_U16_H0, SM_U32 };
	const struct sm_insn *in = u->in;
	lanes t0, t1, t2, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1),
		       *c = src_raw(w, u, 2, t2);

	LOOP(l) {
		unsigned int ta = in->stype[0], tb = in->stype[1], tc = in->stype[2];

		if (in->sd) {
			ta = first[b[l] >> 30];
			tb = b[l] >> 28 & 1 ? SM_U24 : SM_U16_H0;
			tc = third[b[l] >> 26 & 3];
		}
		d[l] = (uint32_t)(part(a[l], ta) * part(b[l], tb) + part(c[l], tc));
	}
	if (in->set_cc)
		set_zs(w, u, d, m);
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

/* ------------------------------------------------------------------ compare and select */

static inline void int_compare(unsigned int cmp, bool sign, const uint32_t *a, const uint32_t *b,
			       uint32_t *t)
{
	uint32_t flip = sign ? 0x80000000u : 0, lt = cmp & 1, eq = cmp >> 1 & 1, gt = cmp >> 2 & 1;

	LOOP(l) {
		uint32_t x = a[l] ^ flip, y = b[l] ^ flip;

		t[l] = (x < y ? lt : 0) | (x == y ? eq : 0) | (x > y ? gt : 0);
	}
}

/* Compare longer numbers: CC has the flags of the lower words' difference */
static uint32_t compare_chained(const struct warp *w, unsigned int cmp, bool sign,
				const uint32_t *a, const uint32_t *b)
{
	uint32_t less = 0, equal = 0;

	LOOP(l) {
		uint64_t t = (uint64_t)a[l] + (uint32_t)~b[l] + (w->c >> l & 1);
		uint32_t d = (uint32_t)t;
		bool over = ((a[l] ^ b[l]) & (a[l] ^ d)) >> 31;
		bool lt = sign ? (d >> 31) ^ over : !(t >> 32);

		less |= (uint32_t)lt << l;
		equal |= (uint32_t)(!d && (w->z >> l & 1)) << l;
	}
	return (cmp & 1 ? less : 0) | (cmp & 2 ? equal : 0) | (cmp & 4 ? ~(less | equal) : 0);
}

static uint32_t int_compare_lanes(struct warp *w, const struct uop *u)
{
	const struct sm_insn *in = u->in;
	bool sign = in->type == SM_S32;
	lanes t0, t1, t;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);

	if (in->cmp == SM_CMP_T)
		return ALL_LANES;
	if (in->x)
		return compare_chained(w, in->cmp, sign, a, b);
	int_compare(in->cmp, sign, a, b, t);
	return mask_of(t);
}

static inline uint32_t combine(unsigned int bop, uint32_t a, uint32_t b)
{
	return bop == SM_AND ? a & b : bop == SM_OR ? a | b : a ^ b;
}

static enum step put_truth(struct warp *w, const struct uop *u, uint32_t truth, uint32_t m)
{
	uint32_t yes = u->in->bf ? 0x3f800000u : ~0u;
	lanes d;

	LOOP(l)
		d[l] = truth >> l & 1 ? yes : 0;
	if (u->in->set_cc) {
		put_flag(&w->z, ~truth, m);
		put_flag(&w->s, u->in->bf ? 0 : truth, m);
		put_flag(&w->c, 0, m);
		put_flag(&w->o, 0, m);
	}
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step put_setp(struct warp *w, const struct uop *u, uint32_t truth, uint32_t with,
			  uint32_t m)
{
	const struct sm_insn *in = u->in;

	put_pred(w, &in->dst[0], combine(in->bop, truth, with), m);
	put_pred(w, &in->dst[1], combine(in->bop, ~truth, with), m);
	return STEP_NEXT;
}

static enum step op_iset(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t t = int_compare_lanes(w, u);

	return put_truth(w, u, combine(u->in->bop, t, src_pred(w, &u->in->src[2])), m);
}

static enum step op_isetp(struct warp *w, const struct uop *u, uint32_t m)
{
	return put_setp(w, u, int_compare_lanes(w, u), src_pred(w, &u->in->src[2]), m);
}

static enum step op_icmp(struct warp *w, const struct uop *u, uint32_t m)
{
	static const lanes zero;
	lanes t0, t1, t2, t, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1),
		       *c = src_raw(w, u, 2, t2);

	int_compare(u->in->cmp, u->in->type == SM_S32, c, zero, t);
	LOOP(l)
		d[l] = t[l] || u->in->cmp == SM_CMP_T ? a[l] : b[l];
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_imnmx(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t flip = u->in->type == SM_S32 ? 0x80000000u : 0;
	lanes t0, t1, min, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);

	spread(src_pred(w, &u->in->src[2]), min);
	LOOP(l) {
		bool less = (a[l] ^ flip) < (b[l] ^ flip);

		d[l] = less == (min[l] != 0) ? a[l] : b[l];
	}
	if (u->in->set_cc)
		set_zs(w, u, d, m);
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

/*
 * IMNMX on longer numbers, the highest word first (.XHI, .XMED, .XLO). The condition code says
 * whether the words so far were equal (Z), and if not, whether the first operand's words were
 * chosen (C).
 */
#define IMNMX_XLO	1
#define IMNMX_XMED	2
#define IMNMX_XHI	3

static enum step op_imnmx_words(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	uint32_t flip = in->type == SM_S32 ? 0x80000000u : 0, min = src_pred(w, &in->src[2]),
		 first = 0, equal = 0;
	uint32_t undecided = in->xmode == IMNMX_XHI ? ALL_LANES : w->z;
	lanes t0, t1, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);

	LOOP(l) {
		bool less = (a[l] ^ flip) < (b[l] ^ flip), take = less == (min >> l & 1);

		if (!(undecided >> l & 1))
			take = w->c >> l & 1;
		first |= (uint32_t)take << l;
		equal |= (uint32_t)((undecided >> l & 1) && a[l] == b[l]) << l;
		d[l] = take ? a[l] : b[l];
	}
	if (in->set_cc) {
		put_flag(&w->z, equal, m);
		put_flag(&w->c, first, m);
	}
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_isad(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t flip = u->in->type == SM_S32 ? 0x80000000u : 0;
	lanes t0, t1, t2, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1),
		       *c = src_raw(w, u, 2, t2);

	LOOP(l)
		d[l] = ((a[l] ^ flip) < (b[l] ^ flip) ? b[l] - a[l] : a[l] - b[l]) + c[l];
	if (u->in->set_cc)
		set_zs(w, u, d, m);
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static op_fn select_int(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_IADD: case SM_IADD32I:
		return op_iadd;
	case SM_ISCADD: case SM_ISCADD32I:
		return op_iscadd;
	case SM_IMUL: case SM_IMUL32I:
		return op_imul;
	case SM_IMAD: case SM_IMAD32I:
		return op_imad;
	case SM_IMADSP:	return op_imadsp;
	case SM_ISET:	return op_iset;
	case SM_ISETP:	return op_isetp;
	case SM_ICMP:	return op_icmp;
	case SM_IMNMX:	return in->xmode ? op_imnmx_words : op_imnmx;
	case SM_ISAD:	return op_isad;
	default:	return NULL;
	}
}

#endif
