/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Single precision. The host's IEEE arithmetic computes. The model adds: .FTZ makes subnormal
 * inputs and results zeros of the same sign; a NaN result is 0x7fffffff (PTX: "NaN payloads",
 * canonical NaN); .SAT clamps to [0, 1] and makes NaN 0. For a rounding other than to nearest, the
 * host's rounding mode is set for the length of a loop; the empty asm keeps the arithmetic in it.
 *
 * A source may be the warp's registers themselves, and the destination may be the same registers:
 * compute all lanes into an array before put().
 */
#ifndef KVGPU_MODEL_GR_SM_LANE_FLOAT_H
#define KVGPU_MODEL_GR_SM_LANE_FLOAT_H

#define NAN32	0x7fffffffu
#define INF32	0x7f800000u
#define ABS32	0x7fffffffu

static inline float as_f32(uint32_t v)
{
	float f;

	memcpy(&f, &v, 4);
	return f;
}

static inline uint32_t bits_f32(float f)
{
	uint32_t v;

	memcpy(&v, &f, 4);
	return v;
}

static inline uint32_t flush32(uint32_t v)
{
	return (v & INF32) ? v : v & 0x80000000u;
}

static inline bool is_nan32(uint32_t v)
{
	return (v & ABS32) > INF32;
}

static inline void float_result(const struct sm_insn *in, uint32_t *d)
{
	LOOP(l)
		d[l] = is_nan32(d[l]) ? NAN32 : d[l];
	if (in->ftz || in->fmz)
		LOOP(l)
			d[l] = flush32(d[l]);
	if (in->sat)
		LOOP(l)
	d[l] = is_nan32(d[l]) || d[l] >> 31 ? 0 : d[l] > 0x3f800000u ? 0x3f800000u : d[l];
}

/* Set the flags of a float result: Z means zero or NaN, S means negative or NaN. */
static void set_float_flags(struct warp *w, const uint32_t *d, uint32_t m)
{
	lanes z, s;

	LOOP(l) {
		bool nan = is_nan32(d[l]);

		z[l] = nan || !(d[l] & ABS32);
		s[l] = nan || (d[l] >> 31 && (d[l] & ABS32));
	}
	put_flag(&w->z, mask_of(z), m);
	put_flag(&w->s, mask_of(s), m);
	put_flag(&w->c, 0, m);
	put_flag(&w->o, 0, m);
}

static enum step float_finish(struct warp *w, const struct uop *u, uint32_t *d, uint32_t m)
{
	float_result(u->in, d);
	if (u->in->set_cc)
		set_float_flags(w, d, m);
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

/* Returns the register itself if it needs no change, else @tmp. */
static inline const uint32_t *src_f32(const struct warp *w, const struct uop *u, unsigned int i,
				      uint32_t *tmp)
{
	const struct sm_operand *o = &u->in->src[i];
	const uint32_t *r = src_raw(w, u, i, tmp);
	uint32_t keep = o->abs ? ABS32 : ~0u, flip = o->neg ? 0x80000000u : 0;

	if (!o->abs && !o->neg && !u->in->ftz && !u->in->fmz)
		return r;
	LOOP(l)
		tmp[l] = (r[l] & keep) ^ flip;
	if (u->in->ftz || u->in->fmz)
		LOOP(l)
			tmp[l] = flush32(tmp[l]);
	return tmp;
}

/* ------------------------------------------------------------------ rounding */

static int host_round(unsigned int mode)
{
	switch (mode) {
	case SM_RM:
		return FE_DOWNWARD;
	case SM_RP:
		return FE_UPWARD;
	case SM_RZ_MODE:
		return FE_TOWARDZERO;
	default:
		return FE_TONEAREST;
	}
}

/*
 * Begin and end arithmetic in rounding mode @mode, which is the thread's: call nothing in between
 * that wants the mode to nearest, such as most functions of libm (fmaf() does not).
 */
static inline void round_begin(unsigned int mode, const void *a, const void *b, const void *c)
{
	if (mode != SM_RN)
		fesetround(host_round(mode));
	__asm__ volatile("" :: "r"(a), "r"(b), "r"(c) : "memory");
}

static inline void round_end(unsigned int mode, const void *d)
{
	__asm__ volatile("" :: "r"(d) : "memory");
	if (mode != SM_RN)
		fesetround(FE_TONEAREST);
}

/* ------------------------------------------------------------------ arithmetic */

static enum step op_fadd(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, d;
	const uint32_t *a = src_f32(w, u, 0, t0), *b = src_f32(w, u, 1, t1);

	round_begin(u->in->round, a, b, d);
	LOOP(l)
		d[l] = bits_f32(as_f32(a[l]) + as_f32(b[l]));
	round_end(u->in->round, d);
	return float_finish(w, u, d, m);
}

static const float mul_scale[] = { 1, 0.5f, 0.25f, 0.125f, 8, 4, 2, 1 };

static inline void zero_products(const uint32_t *a, const uint32_t *b, uint32_t *d)
{
	LOOP(l)
		d[l] = (a[l] & ABS32) && (b[l] & ABS32) ? d[l] : 0;
}

static enum step op_fmul(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	lanes t0, t1, d;
	const uint32_t *a = src_f32(w, u, 0, t0), *b = src_f32(w, u, 1, t1);
	double scale = mul_scale[in->scale & 7];

	round_begin(in->round, a, b, d);
	if (in->scale) {
		LOOP(l)
		d[l] = bits_f32((float)((double)as_f32(a[l]) * (double)as_f32(b[l]) * scale));
	} else {
		LOOP(l)
			d[l] = bits_f32(as_f32(a[l]) * as_f32(b[l]));
	}
	round_end(in->round, d);
	if (in->fmz)
		zero_products(a, b, d);
	return float_finish(w, u, d, m);
}

static enum step op_ffma(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	lanes t0, t1, t2, d;
	const uint32_t *a = src_f32(w, u, 0, t0), *b = src_f32(w, u, 1, t1),
		       *c = src_f32(w, u, 2, t2);

	round_begin(in->round, a, b, c);
	LOOP(l)
		d[l] = bits_f32(__builtin_fmaf(as_f32(a[l]), as_f32(b[l]), as_f32(c[l])));
	round_end(in->round, d);
	if (in->fmz)
		LOOP(l)
			d[l] = (a[l] & ABS32) && (b[l] & ABS32) ? d[l] : c[l];
	return float_finish(w, u, d, m);
}

/* a fast path: the form of FFMA that matrix products are made of */
static enum step op_ffma_plain(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, t2, d;
	const uint32_t *a = src_f32(w, u, 0, t0), *b = src_f32(w, u, 1, t1),
		       *c = src_f32(w, u, 2, t2);

	LOOP(l) {
		uint32_t v = bits_f32(__builtin_fmaf(as_f32(a[l]), as_f32(b[l]), as_f32(c[l])));

		d[l] = is_nan32(v) ? NAN32 : v;
	}
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

/* FMNMX: of a NaN and a number the result is the number; -0 is less than +0. */
static enum step op_fmnmx(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, min, d;
	const uint32_t *a = src_f32(w, u, 0, t0), *b = src_f32(w, u, 1, t1);

	spread(src_pred(w, &u->in->src[2]), min);
	LOOP(l) {
		int32_t x = a[l], y = b[l];
		int32_t ox = x < 0 ? x ^ 0x7fffffff : x, oy = y < 0 ? y ^ 0x7fffffff : y;
		uint32_t r = (ox < oy) == (min[l] != 0) ? a[l] : b[l];

		d[l] = is_nan32(a[l]) ? b[l] : is_nan32(b[l]) ? a[l] : r;
	}
	return float_finish(w, u, d, m);
}

static inline void float_compare(unsigned int cmp, const uint32_t *a, const uint32_t *b,
				 uint32_t *t)
{
	uint32_t lt = cmp & 1, eq = cmp >> 1 & 1, gt = cmp >> 2 & 1, un = cmp >> 3 & 1;

	LOOP(l) {
		float x = as_f32(a[l]), y = as_f32(b[l]);
		uint32_t nan = (uint32_t)is_nan32(a[l]) | (uint32_t)is_nan32(b[l]);

		t[l] = nan ? un : x < y ? lt : x == y ? eq : gt;
	}
}

static uint32_t float_compare_lanes(struct warp *w, const struct uop *u)
{
	lanes t0, t1, t;

	float_compare(u->in->cmp, src_f32(w, u, 0, t0), src_f32(w, u, 1, t1), t);
	return mask_of(t);
}

static enum step op_fset(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t t = float_compare_lanes(w, u);

	return put_truth(w, u, combine(u->in->bop, t, src_pred(w, &u->in->src[2])), m);
}

static enum step op_fsetp(struct warp *w, const struct uop *u, uint32_t m)
{
	return put_setp(w, u, float_compare_lanes(w, u), src_pred(w, &u->in->src[2]), m);
}

static enum step op_fcmp(struct warp *w, const struct uop *u, uint32_t m)
{
	static const lanes zero;
	lanes t0, t1, t2, t, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1),
		       *c = src_f32(w, u, 2, t2);

	float_compare(u->in->cmp, c, zero, t);
	LOOP(l)
		d[l] = t[l] ? a[l] : b[l];
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

/*
 * FCHK: true where a / b needs the long way. Open: the chip's exact ranges. The model gives true
 * where the short way (reciprocal, two steps of Newton without .FTZ) could meet a subnormal, an
 * infinity, a NaN or a zero.
 */
static enum step op_fchk(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, t;
	const uint32_t *a = src_f32(w, u, 0, t0), *b = src_f32(w, u, 1, t1);

	LOOP(l) {
		int32_t ea = a[l] >> 23 & 0xff, eb = b[l] >> 23 & 0xff;

		t[l] = ea < 26 || ea == 255 || eb < 2 || eb > 251 || ea - eb > 125 ||
		       ea - eb < -123;
	}
	put_pred(w, &u->in->dst[0], mask_of(t), m);
	return STEP_NEXT;
}

/*
 * FSWZ: a is the first source of the thread that fswz_lane() names, b the second source of this
 * thread. The instruction's .lanes has one of these operations for each thread of the quad.
 */
enum { FSWZ_ADD, FSWZ_B_MINUS_A, FSWZ_A_MINUS_B, FSWZ_B };

static unsigned int fswz_lane(unsigned int sub, unsigned int l)
{
	switch (sub) {
	case SM_FSWZ_1032:
		return l ^ 1;
	case SM_FSWZ_2301:
		return l ^ 2;
	default:
		return (l & ~3u) | (sub - SM_FSWZ_0000);
	}
}

static enum step op_fswz(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	lanes t0, t1, what, x, y, d;
	const uint32_t *a = src_f32(w, u, 0, t0), *b = src_f32(w, u, 1, t1);

	LOOP(l) {
		what[l] = in->lanes >> (6 - 2 * (l & 3)) & 3;
		x[l] = a[fswz_lane(in->sub, l)] ^ (what[l] == FSWZ_B_MINUS_A ? 0x80000000u : 0);
		y[l] = b[l] ^ (what[l] == FSWZ_A_MINUS_B ? 0x80000000u : 0);
	}
	round_begin(in->round, x, y, d);
	LOOP(l)
		d[l] = bits_f32(as_f32(x[l]) + as_f32(y[l]));
	round_end(in->round, d);
	LOOP(l)
		d[l] = what[l] == FSWZ_B ? b[l] : d[l];
	return float_finish(w, u, d, m);
}

static op_fn select_float(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_FADD: case SM_FADD32I:
		return op_fadd;
	case SM_FMUL: case SM_FMUL32I:
		return op_fmul;
	case SM_FFMA: case SM_FFMA32I:
		return in->ftz || in->fmz || in->sat || in->set_cc || in->round ? op_ffma :
										  op_ffma_plain;
	case SM_FMNMX:	return op_fmnmx;
	case SM_FSET:	return op_fset;
	case SM_FSETP:	return op_fsetp;
	case SM_FCMP:	return op_fcmp;
	case SM_FCHK:	return op_fchk;
	case SM_FSWZ:	return op_fswz;
	default:	return NULL;
	}
}

#endif
