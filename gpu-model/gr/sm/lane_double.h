/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Double precision: the host's arithmetic, with subnormals and NaN payloads (as seen on a newer
 * chip).
 */
#ifndef KVGPU_MODEL_GR_SM_LANE_DOUBLE_H
#define KVGPU_MODEL_GR_SM_LANE_DOUBLE_H

#define INF64	0x7ff0000000000000ull
#define ABS64	0x7fffffffffffffffull
#define SIGN64	0x8000000000000000ull
#define QUIET64	0x0008000000000000ull

struct doubles {
	uint64_t v[LANES] __attribute__((aligned(64)));
};

static inline double as_f64(uint64_t v)
{
	double f;

	memcpy(&f, &v, 8);
	return f;
}

static inline uint64_t bits_f64(double f)
{
	uint64_t v;

	memcpy(&v, &f, 8);
	return v;
}

static inline bool is_nan64(uint64_t v)
{
	return (v & ABS64) > INF64;
}

static void src_f64(const struct warp *w, const struct uop *u, unsigned int i, struct doubles *d)
{
	const struct sm_operand *o = &u->in->src[i];
	uint64_t keep = o->abs ? ABS64 : ~0ull, flip = o->neg ? SIGN64 : 0;

	if (u->src_kind[i] == SRC_REG) {
		const uint32_t *lo = w->r[u->src[i]], *hi = w->r[u->src[i] + 1];

		LOOP(l)
			d->v[l] = ((lo[l] | (uint64_t)hi[l] << 32) & keep) ^ flip;
	} else {
		uint64_t v = (uniform_src(w, u, i) & keep) ^ flip;

		LOOP(l)
			d->v[l] = v;
	}
}

static void set_double_flags(struct warp *w, const struct doubles *d, uint32_t m)
{
	lanes z, s;

	LOOP(l) {
		bool nan = is_nan64(d->v[l]);

		z[l] = nan || !(d->v[l] & ABS64);
		s[l] = nan || (d->v[l] >> 63 && (d->v[l] & ABS64));
	}
	put_flag(&w->z, mask_of(z), m);
	put_flag(&w->s, mask_of(s), m);
	put_flag(&w->c, 0, m);
	put_flag(&w->o, 0, m);
}

static enum step double_finish(struct warp *w, const struct uop *u, const struct doubles *d,
			       uint32_t m)
{
	lanes lo, hi;

	LOOP(l) {
		lo[l] = (uint32_t)d->v[l];
		hi[l] = (uint32_t)(d->v[l] >> 32);
	}
	if (u->in->set_cc)
		set_double_flags(w, d, m);
	put(w, u->dst[0], lo, m);
	put(w, u->dst[0] + 1, hi, m);
	return STEP_NEXT;
}

/*
 * If operands are NaN, the result is the first of them, made quiet, without the sign change that
 * the instruction may ask for.
 */
static void keep_nans(const struct warp *w, const struct uop *u, unsigned int n, struct doubles *d)
{
	uint64_t any = 0;

	LOOP(l)
		any |= is_nan64(d->v[l]);
	for (unsigned int i = n; any && i--; ) {
		LOOP(l) {
			uint64_t raw = src_lane64(w, u, i, l);

			d->v[l] = is_nan64(raw) ? raw | QUIET64 : d->v[l];
		}
	}
}

static enum step op_dadd(struct warp *w, const struct uop *u, uint32_t m)
{
	struct doubles a, b, d;

	src_f64(w, u, 0, &a);
	src_f64(w, u, 1, &b);
	round_begin(u->in->round, &a, &b, &d);
	LOOP(l)
		d.v[l] = bits_f64(as_f64(a.v[l]) + as_f64(b.v[l]));
	round_end(u->in->round, &d);
	keep_nans(w, u, 2, &d);
	return double_finish(w, u, &d, m);
}

static enum step op_dmul(struct warp *w, const struct uop *u, uint32_t m)
{
	struct doubles a, b, d;

	src_f64(w, u, 0, &a);
	src_f64(w, u, 1, &b);
	round_begin(u->in->round, &a, &b, &d);
	LOOP(l)
		d.v[l] = bits_f64(as_f64(a.v[l]) * as_f64(b.v[l]));
	round_end(u->in->round, &d);
	keep_nans(w, u, 2, &d);
	return double_finish(w, u, &d, m);
}

static enum step op_dfma(struct warp *w, const struct uop *u, uint32_t m)
{
	struct doubles a, b, c, d;

	src_f64(w, u, 0, &a);
	src_f64(w, u, 1, &b);
	src_f64(w, u, 2, &c);
	round_begin(u->in->round, &a, &b, &c);
	LOOP(l)
		d.v[l] = bits_f64(__builtin_fma(as_f64(a.v[l]), as_f64(b.v[l]), as_f64(c.v[l])));
	round_end(u->in->round, &d);
	keep_nans(w, u, 3, &d);
	return double_finish(w, u, &d, m);
}

static enum step op_dmnmx(struct warp *w, const struct uop *u, uint32_t m)
{
	struct doubles a, b, d;
	lanes min;

	src_f64(w, u, 0, &a);
	src_f64(w, u, 1, &b);
	spread(src_pred(w, &u->in->src[2]), min);
	LOOP(l) {
		int64_t x = a.v[l], y = b.v[l];
		int64_t ox = x < 0 ? x ^ (int64_t)ABS64 : x, oy = y < 0 ? y ^ (int64_t)ABS64 : y;
		uint64_t r = (ox < oy) == (min[l] != 0) ? a.v[l] : b.v[l];

		d.v[l] = is_nan64(a.v[l]) ? b.v[l] : is_nan64(b.v[l]) ? a.v[l] : r;
	}
	return double_finish(w, u, &d, m);
}

static uint32_t double_compare_lanes(struct warp *w, const struct uop *u)
{
	uint32_t cmp = u->in->cmp, lt = cmp & 1, eq = cmp >> 1 & 1, gt = cmp >> 2 & 1,
		 un = cmp >> 3 & 1;
	struct doubles a, b;
	lanes t;

	src_f64(w, u, 0, &a);
	src_f64(w, u, 1, &b);
	LOOP(l) {
		double x = as_f64(a.v[l]), y = as_f64(b.v[l]);
		uint32_t nan = (uint32_t)is_nan64(a.v[l]) | (uint32_t)is_nan64(b.v[l]);

		t[l] = nan ? un : x < y ? lt : x == y ? eq : gt;
	}
	return mask_of(t);
}

static enum step op_dset(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t t = double_compare_lanes(w, u);

	return put_truth(w, u, combine(u->in->bop, t, src_pred(w, &u->in->src[2])), m);
}

static enum step op_dsetp(struct warp *w, const struct uop *u, uint32_t m)
{
	return put_setp(w, u, double_compare_lanes(w, u), src_pred(w, &u->in->src[2]), m);
}

/* DCHK: true where a / b of doubles needs the long way. op_fchk() tells how ranges were chosen. */
static enum step op_dchk(struct warp *w, const struct uop *u, uint32_t m)
{
	struct doubles a, b;
	lanes t;

	src_f64(w, u, 0, &a);
	src_f64(w, u, 1, &b);
	LOOP(l) {
		int32_t ea = a.v[l] >> 52 & 0x7ff, eb = b.v[l] >> 52 & 0x7ff;

		t[l] = ea < 56 || ea == 2047 || eb < 2 || eb > 2043 || ea - eb > 1021 ||
		       ea - eb < -1019;
	}
	put_pred(w, &u->in->dst[0], mask_of(t), m);
	return STEP_NEXT;
}

static op_fn select_double(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_DADD:	return op_dadd;
	case SM_DMUL:	return op_dmul;
	case SM_DFMA:	return op_dfma;
	case SM_DMNMX:	return op_dmnmx;
	case SM_DSET:	return op_dset;
	case SM_DSETP:	return op_dsetp;
	case SM_DCHK:	return op_dchk;
	default:	return NULL;
	}
}

#endif
