/* SPDX-License-Identifier: GPL-2.0-only */
/* Logic, shifts, bit fields, moves, predicates as values. */
#ifndef KVGPU_MODEL_GR_SM_LANE_BITS_H
#define KVGPU_MODEL_GR_SM_LANE_BITS_H

static enum step finish(struct warp *w, const struct uop *u, const uint32_t *d, uint32_t m)
{
	if (u->in->set_cc)
		set_zs(w, u, d, m);
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_lop(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t xa = u->in->src[0].inv ? ~0u : 0, xb = u->in->src[1].inv ? ~0u : 0;
	lanes t0, t1, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);

	switch (u->in->sub) {
	case SM_LOP_AND:
		LOOP(l)
			d[l] = (a[l] ^ xa) & (b[l] ^ xb);
		break;
	case SM_LOP_OR:
		LOOP(l)
			d[l] = (a[l] ^ xa) | (b[l] ^ xb);
		break;
	case SM_LOP_XOR:
		LOOP(l)
			d[l] = a[l] ^ xa ^ b[l] ^ xb;
		break;
	default:
		LOOP(l)
			d[l] = b[l] ^ xb;
		break;
	}
	return finish(w, u, d, m);
}

static uint32_t reversed(uint32_t v)
{
	v = __builtin_bswap32(v);
	v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
	v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
	return (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
}

static enum step op_shl(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);
	bool wrap = u->in->wrap;

	LOOP(l)
		d[l] = wrap || b[l] < 32 ? a[l] << (b[l] & 31) : 0;
	return finish(w, u, d, m);
}

static enum step op_shr(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);
	bool wrap = u->in->wrap;
	lanes t2;

	if (u->in->brev) {
		LOOP(l)
			t2[l] = reversed(a[l]);
		a = t2;
	}
	if (u->in->type == SM_S32) {
		LOOP(l)
		d[l] = (uint32_t)((int32_t)a[l] >> (wrap ? b[l] & 31 : b[l] > 31 ? 31 : b[l]));
	} else {
		LOOP(l)
			d[l] = wrap || b[l] < 32 ? a[l] >> (b[l] & 31) : 0;
	}
	return finish(w, u, d, m);
}

/*
 * Funnel shift of src[2]:src[0]. A left shift gives the upper word of the result, a right shift the
 * lower word, or the upper word with .HI.
 */
static enum step op_shf(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	bool wide = in->type == SM_U64 || in->type == SM_S64, sign = in->type == SM_S64;
	lanes t0, t1, t2, d;
	const uint32_t *lo = src_raw(w, u, 0, t0), *by = src_raw(w, u, 1, t1),
		       *hi = src_raw(w, u, 2, t2);

	LOOP(l) {
		uint64_t v = lo[l] | (uint64_t)hi[l] << 32;
		uint32_t top = wide ? 64 : 32, s = in->wrap    ? by[l] & (wide ? 63 : 31) :
						   by[l] > top ? top :
								 by[l];

		if (s == 64)
			v = sign && !in->left ? 0 - (v >> 63) : 0;
		else if (in->left)
			v <<= s;
		else
			v = sign ? (uint64_t)((int64_t)v >> s) : v >> s;
		d[l] = (uint32_t)(in->left || in->hi ? v >> 32 : v);
	}
	return finish(w, u, d, m);
}

static uint32_t bit_field(uint32_t v, uint32_t pos, uint32_t len, bool sign)
{
	uint32_t d, bits;

	if (!len)
		return 0;
	d = pos < 32 ? v >> pos : 0;
	bits = pos >= 32 ? 0 : len > 32 - pos ? 32 - pos : len;
	if (bits < 32)
		d &= (1u << bits) - 1;
	if (sign && bits < 32) {
		uint32_t at = pos + len - 1 > 31 ? 31 : pos + len - 1;

		if (v >> at & 1)
			d |= ~0u << bits;
	}
	return d;
}

static enum step op_bfe(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);

	LOOP(l) {
		uint32_t v = u->in->brev ? reversed(a[l]) : a[l];

		d[l] = bit_field(v, b[l] & 0xff, b[l] >> 8 & 0xff, u->in->type == SM_S32);
	}
	return finish(w, u, d, m);
}

static enum step op_bfi(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, t2, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1),
		       *c = src_raw(w, u, 2, t2);

	LOOP(l) {
		uint32_t pos = b[l] & 0xff, len = b[l] >> 8 & 0xff,
			 ones = len >= 32 ? ~0u : (1u << len) - 1;
		uint32_t at = pos < 32 ? ones << (pos & 31) : 0;

		d[l] = (c[l] & ~at) | ((pos < 32 ? a[l] << (pos & 31) : 0) & at);
	}
	return finish(w, u, d, m);
}

static enum step op_flo(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, d;
	const uint32_t *a = src_raw(w, u, 0, t0);

	LOOP(l) {
		uint32_t v = u->in->src[0].inv ? ~a[l] : a[l];

		if (u->in->type == SM_S32 && v >> 31)
			v = ~v;
		d[l] = !v		   ? ~0u :
		       u->in->shift_amount ? (uint32_t)__builtin_clz(v) :
					     31u - __builtin_clz(v);
	}
	return finish(w, u, d, m);
}

static enum step op_popc(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t xa = u->in->src[0].inv ? ~0u : 0, xb = u->in->src[1].inv ? ~0u : 0;
	lanes t0, t1, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);

	LOOP(l)
		d[l] = __builtin_popcount((a[l] ^ xa) & (b[l] ^ xb));
	return finish(w, u, d, m);
}

/* which byte of {c, a} goes to each byte (PTX prmt) */
static uint32_t permutation(unsigned int mode, uint32_t sel)
{
	static const uint16_t f4e[] = { 0x3210, 0x4321, 0x5432, 0x6543 },
			      b4e[] = { 0x5670, 0x6701, 0x7012, 0x0123 },
			      rc8[] = { 0x0000, 0x1111, 0x2222, 0x3333 },
			      ecl[] = { 0x3210, 0x3211, 0x3222, 0x3333 },
			      ecr[] = { 0x0000, 0x1110, 0x2210, 0x3210 },
			      rc16[] = { 0x1010, 0x3232, 0x1010, 0x3232 };

	switch (mode) {
	case SM_PRMT_F4E:	return f4e[sel & 3];
	case SM_PRMT_B4E:	return b4e[sel & 3];
	case SM_PRMT_RC8:	return rc8[sel & 3];
	case SM_PRMT_ECL:	return ecl[sel & 3];
	case SM_PRMT_ECR:	return ecr[sel & 3];
	case SM_PRMT_RC16:	return rc16[sel & 3];
	default:		return sel;
	}
}

static enum step op_prmt(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, t2, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1),
		       *c = src_raw(w, u, 2, t2);

	LOOP(l) {
		uint64_t v = a[l] | (uint64_t)c[l] << 32;
		uint32_t p = permutation(u->in->sub, b[l]), r = 0;

		for (unsigned int i = 0; i < 4; i++, p >>= 4) {
			uint32_t byte = v >> (8 * (p & 7)) & 0xff;

			r |= (p & 8 ? (byte & 0x80 ? 0xffu : 0) : byte) << (8 * i);
		}
		d[l] = r;
	}
	return finish(w, u, d, m);
}

/* ------------------------------------------------------------------ moves */

static enum step op_mov(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t;

	put(w, u->dst[0], src_raw(w, u, 0, t), m & quad_lanes(u->in->lanes));
	return STEP_NEXT;
}

static enum step op_sel(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, t, d;
	const uint32_t *a = src_raw(w, u, 0, t0), *b = src_raw(w, u, 1, t1);

	spread(src_pred(w, &u->in->src[2]), t);
	LOOP(l)
		d[l] = t[l] ? a[l] : b[l];
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

/*
 * P2R, R2P: bits 0-6 of the flags word are the predicates, bits 12-15 the condition code (envytools
 * fermi/cuda/isa.rst).
 */
#define H1_SHIFT	16
#define NR_FLAGS	(SM_PT + 4)

static uint32_t *flag(struct warp *w, unsigned int i, unsigned int *bit)
{
	uint32_t *const code[] = { &w->z, &w->s, &w->c, &w->o };

	*bit = i < SM_PT ? i : 12 + i - SM_PT;
	return i < SM_PT ? &w->p[i] : code[i - SM_PT];
}

static void flags_get(struct warp *w, uint32_t *d)
{
	LOOP(l)
		d[l] = 0;
	for (unsigned int i = 0, bit; i < NR_FLAGS; i++) {
		uint32_t f = *flag(w, i, &bit);

		LOOP(l)
			d[l] |= (f >> l & 1) << bit;
	}
}

static enum step op_p2r(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t1, t2, f, d;
	const uint32_t *base = src_raw(w, u, 1, t1), *mask = src_raw(w, u, 2, t2);
	unsigned int by = u->in->hi ? H1_SHIFT : 0;

	flags_get(w, f);
	LOOP(l)
		d[l] = (base[l] & ~(mask[l] << by)) | (f[l] & mask[l]) << by;
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_r2p(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, t1, bit;
	const uint32_t *a = src_raw(w, u, 0, t0), *mask = src_raw(w, u, 1, t1);
	unsigned int by = u->in->hi ? H1_SHIFT : 0;

	for (unsigned int i = 0, at; i < NR_FLAGS; i++) {
		uint32_t *to = flag(w, i, &at), which;

		LOOP(l)
			bit[l] = mask[l] >> at;
		which = mask_of(bit) & m;
		LOOP(l)
			bit[l] = a[l] >> by >> at;
		put_flag(to, mask_of(bit), which);
	}
	return STEP_NEXT;
}

static uint32_t pset_first(const struct warp *w, const struct sm_insn *in)
{
	return combine(in->bop2, src_pred(w, &in->src[0]), src_pred(w, &in->src[1]));
}

static enum step op_pset(struct warp *w, const struct uop *u, uint32_t m)
{
	return put_truth(w, u,
			 combine(u->in->bop, pset_first(w, u->in), src_pred(w, &u->in->src[2])), m);
}

static enum step op_psetp(struct warp *w, const struct uop *u, uint32_t m)
{
	return put_setp(w, u, pset_first(w, u->in), src_pred(w, &u->in->src[2]), m);
}

static uint32_t last_pred(const struct warp *w, const struct sm_insn *in)
{
	for (int i = 3; i >= 0; i--) {
		if (in->src[i].kind == SM_PRED)
			return src_pred(w, &in->src[i]);
	}
	return ALL_LANES;
}

static enum step op_cset(struct warp *w, const struct uop *u, uint32_t m)
{
	return put_truth(w, u,
			 combine(u->in->bop, cc_lanes(w, u->in->cc_test), last_pred(w, u->in)), m);
}

static enum step op_csetp(struct warp *w, const struct uop *u, uint32_t m)
{
	return put_setp(w, u, cc_lanes(w, u->in->cc_test), last_pred(w, u->in), m);
}

/* Shifts that chain words through the condition code: no source was found that says how. */
static enum step op_chained_shift(struct warp *w, const struct uop *u, uint32_t m)
{
	return warp_trap(w, WARP_ILLEGAL_PARAM);
}

/* SHF.L.HI: the chip refuses it. SHF.L gives the upper word without .HI (Mesa nak/sm32.rs). */
static enum step op_shf_left_high(struct warp *w, const struct uop *u, uint32_t m)
{
	return warp_trap(w, WARP_ILLEGAL_ENCODING);
}

static op_fn select_bits(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_LOP: case SM_LOP32I:
		return op_lop;
	case SM_SHL:	return in->x ? op_chained_shift : op_shl;
	case SM_SHR:	return in->xmode ? op_chained_shift : op_shr;
	case SM_SHF:
		if (in->left && in->hi)
			return op_shf_left_high;
		return in->x ? op_chained_shift : op_shf;
	case SM_BFE:	return op_bfe;
	case SM_BFI:	return op_bfi;
	case SM_FLO:	return op_flo;
	case SM_POPC:	return op_popc;
	case SM_PRMT:	return op_prmt;
	case SM_MOV: case SM_MOV32I:
		return op_mov;
	case SM_SEL:	return op_sel;
	case SM_P2R:	return op_p2r;
	case SM_R2P:	return op_r2p;
	case SM_PSET:	return op_pset;
	case SM_PSETP:	return op_psetp;
	case SM_CSET:	return op_cset;
	case SM_CSETP:	return op_csetp;
	default:	return NULL;
	}
}

#endif
