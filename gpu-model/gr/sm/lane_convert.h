/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Conversions, and the special functions.
 *
 * F2I of a NaN gives 0; where source or destination have 64 bits, and where the QMD says so of
 * singles (FP32_F2I_NAN_BEHAVIOR), it gives the destination's top bit alone (PTX ISA, "cvt"; seen
 * on a newer chip). I2F, F2F and the integer roundings are exact IEEE ones in the stated mode; NaN
 * payloads pass between single and double.
 *
 * MUFU: subnormal arguments and results are flushed, as ptxas expects. Open: the fixed-point form
 * of RRO's result, which programs pass on to MUFU.
 */
#ifndef KVGPU_MODEL_GR_SM_LANE_CONVERT_H
#define KVGPU_MODEL_GR_SM_LANE_CONVERT_H


static bool is_signed_type(unsigned int t)
{
	return t == SM_S8 || t == SM_S16 || t == SM_S32 || t == SM_S64;
}

static unsigned int int_bits(unsigned int t)
{
	switch (t) {
	case SM_U8: case SM_S8:
		return 8;
	case SM_U16: case SM_S16:
		return 16;
	case SM_U64: case SM_S64:
		return 64;
	default:
		return 32;
	}
}

static float half_to_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 0x1f, man = h & 0x3ff;

	if (exp == 31)
		return as_f32(man ? NAN32 : sign | INF32);
	if (exp)
		return as_f32(sign | (exp + 112) << 23 | man << 13);
	return as_f32(sign) + (sign ? -1.0f : 1.0f) * (float)man * 0x1p-24f;
}

static uint16_t f64_to_half(double v, unsigned int mode)
{
	uint64_t b = bits_f64(v);
	uint16_t sign = b >> 48 & 0x8000;
	double a = as_f64(b & ABS64), unit, q, r;
	int exp;

	if (is_nan64(b))
		return 0x7fff;
	if (a > 0x1p17)
		a = a == as_f64(INF64) ? a : 0x1p17;
	if (a == as_f64(INF64))
		return sign | 0x7c00;
	exp = (int)(bits_f64(a) >> 52) - 1023;
	if (exp < -14)
		exp = -14;
	unit = as_f64((uint64_t)(exp - 10 + 1023) << 52);
	q = a / unit;			/* exact: a power of two */
	r = __builtin_floor(q);
	switch (mode) {
	case SM_RM:
		r += sign && q > r;
		break;
	case SM_RP:
		r += !sign && q > r;
		break;
	case SM_RZ_MODE:
		break;
	default:
		r += q - r > 0.5 || (q - r == 0.5 && (uint64_t)r & 1);
		break;
	}
	a = r * unit;
	if (a >= 65536.0) {
		bool away = mode == SM_RN || (mode == SM_RM && sign) || (mode == SM_RP && !sign);

		return sign | (away ? 0x7c00 : 0x7bff);
	}
	exp = (int)(bits_f64(a) >> 52) - 1023;
	if (a < 0x1p-14)
		return sign | (uint16_t)(a * 0x1p24);
	return sign | (uint16_t)((exp + 15) << 10 | (bits_f64(a) >> 42 & 0x3ff));
}

static uint32_t select_part(uint32_t v, unsigned int sel)
{
	switch (sel) {
	case SM_SEL_B0: case SM_SEL_B1: case SM_SEL_B2: case SM_SEL_B3:
		return v >> (8 * (sel - SM_SEL_B0));
	case SM_SEL_H1:
		return v >> 16;
	default:
		return v;
	}
}

/* The source as a double, with its modifiers. */
static double src_float(const struct warp *w, const struct uop *u, unsigned int l)
{
	const struct sm_insn *in = u->in;
	const struct sm_operand *o = &in->src[0];
	double v;

	if (in->stype[0] == SM_F64) {
		v = as_f64(src_lane64(w, u, 0, l));
	} else {
		uint32_t r = select_part(src_lane(w, u, 0, l), o->sel);

		if (in->stype[0] == SM_F16)
			v = half_to_f32(r);
		else
			v = as_f32(in->ftz ? flush32(r) : r);
	}
	if (o->abs)
		v = __builtin_fabs(v);
	return o->neg ? -v : v;
}

/* NaN and infinities stay as they are. */
static double round_int(double v, unsigned int mode)
{
	switch (mode) {
	case SM_RM:
		return __builtin_floor(v);
	case SM_RP:
		return __builtin_ceil(v);
	case SM_RZ_MODE:
		return __builtin_trunc(v);
	default:
		return __builtin_rint(v);
	}
}

static float f32_of(double v, unsigned int mode)
{
	volatile double in = v;
	float r;

	if (mode == SM_RN)
		return (float)in;
	fesetround(host_round(mode));
	*(volatile float *)&r = (float)in;
	fesetround(FE_TONEAREST);
	return r;
}

static void put_lane64(struct warp *w, unsigned int slot, unsigned int l, uint64_t v)
{
	w->r[slot][l] = (uint32_t)v;
	w->r[slot + 1][l] = (uint32_t)(v >> 32);
}

static double saturate(double v)
{
	return v > 0 ? (v < 1 ? v : 1) : 0;	/* NaN gives 0 */
}

/* A half gets the flags of the equal single. */
static void set_converted_flags(struct warp *w, const struct uop *u, uint32_t m)
{
	struct doubles d;
	lanes h;

	if (u->in->type == SM_F64) {
		LOOP(l)
			d.v[l] = w->r[u->dst[0]][l] | (uint64_t)w->r[u->dst[0] + 1][l] << 32;
		set_double_flags(w, &d, m);
	} else if (u->in->type == SM_F16) {
		LOOP(l)
			h[l] = bits_f32(half_to_f32(w->r[u->dst[0]][l]));
		set_float_flags(w, h, m);
	} else {
		set_float_flags(w, w->r[u->dst[0]], m);
	}
}

static enum step op_f2f(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;

	EACH_LANE(l, m) {
		double v = src_float(w, u, l);
		uint32_t r;

		if (in->to_int)
			v = round_int(v, in->round);
		if (in->sat)
			v = saturate(v);
		if (in->type == SM_F64) {
			put_lane64(w, u->dst[0], l, bits_f64(v));
			continue;
		}
		if (in->type == SM_F16) {
			w->r[u->dst[0]][l] = f64_to_half(v, in->to_int ? SM_RN : in->round);
			continue;
		}
		r = bits_f32(f32_of(v, in->to_int ? SM_RN : in->round));
		r = is_nan32(r) && in->stype[0] != SM_F64 ? NAN32 : r;
		w->r[u->dst[0]][l] = in->ftz ? flush32(r) : r;
	}
	if (in->set_cc)
		set_converted_flags(w, u, m);
	return STEP_NEXT;
}

static uint64_t f2i_nan(const struct warp *w, const struct sm_insn *in)
{
	bool indefinite = w->t->run->q->fp32_f2i_nan_behavior && in->stype[0] == SM_F32;
	unsigned int bits = int_bits(in->type);

	if (bits < 64 && in->stype[0] != SM_F64 && !indefinite)
		return 0;
	return is_signed_type(in->type) ? ~0ull << (bits - 1) : 1ull << (bits - 1);
}

static uint64_t clamp_int(double v, unsigned int type)
{
	unsigned int bits = int_bits(type);
	/* 2^(bits - 1) or 2^bits */
	double top = as_f64((uint64_t)(1023 + bits - is_signed_type(type)) << 52);
	double low = is_signed_type(type) ? -top : 0;

	if (v >= top)
		return is_signed_type(type) ? (1ull << (bits - 1)) - 1 :
		       bits == 64	    ? ~0ull :
					      (1ull << bits) - 1;
	if (v <= low)
		return is_signed_type(type) ? ~0ull << (bits - 1) : 0;
	return is_signed_type(type) ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static void set_int_flags(struct warp *w, const struct uop *u, uint32_t m)
{
	unsigned int slot = u->dst[0];

	set_zs(w, u, w->r[slot], m);
	if (int_bits(u->in->type) != 64)
		return;
	put_flag(&w->z, zero_lanes(w->r[slot]) & zero_lanes(w->r[slot + 1]), m);
	put_flag(&w->s, sign_lanes(w->r[slot + 1]), m);
}

static enum step op_f2i(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;

	EACH_LANE(l, m) {
		double v = src_float(w, u, l);
		uint64_t r = v != v ? f2i_nan(w, in) : clamp_int(round_int(v, in->round), in->type);

		if (int_bits(in->type) == 64)
			put_lane64(w, u->dst[0], l, r);
		else
			w->r[u->dst[0]][l] = (uint32_t)r;
	}
	if (in->set_cc)
		set_int_flags(w, u, m);
	return STEP_NEXT;
}

static uint64_t src_int(const struct warp *w, const struct uop *u, unsigned int l, bool *negative)
{
	const struct sm_insn *in = u->in;
	const struct sm_operand *o = &in->src[0];
	unsigned int bits = int_bits(in->stype[0]);
	uint64_t v = bits == 64 ? src_lane64(w, u, 0, l) :
				  select_part(src_lane(w, u, 0, l), o->sel);
	int64_t s;

	*negative = false;
	if (bits < 64)
		v &= (1ull << bits) - 1;
	if (!is_signed_type(in->stype[0])) {
		*negative = o->neg && v;
		return v;
	}
	s = bits == 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
	*negative = s < 0;
	v = s < 0 ? 0 - (uint64_t)s : (uint64_t)s;
	if (o->abs)
		*negative = false;
	if (o->neg && v)
		*negative = !*negative;
	return v;
}

/* I2F: one rounding */
static enum step op_i2f(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	int mode = host_round(in->round);

	/* once for all lanes: nothing else in the loop rounds */
	if (mode != FE_TONEAREST)
		fesetround(mode);
	EACH_LANE(l, m) {
		bool negative;
		volatile int64_t s;
		uint64_t v = src_int(w, u, l, &negative);
		double d;
		float f;

		if (v >> 63) {
			/* keep a lost 1 bit in bit 0 (sticky) */
			s = (int64_t)(v >> 1 | (v & 1));
			s = negative ? -s : s;
			*(volatile double *)&d = (double)s * 2;
			*(volatile float *)&f = (float)s * 2;
		} else {
			s = negative ? -(int64_t)v : (int64_t)v;
			*(volatile double *)&d = (double)s;
			*(volatile float *)&f = (float)s;
		}
		if (in->type == SM_F64)
			put_lane64(w, u->dst[0], l, bits_f64(d));
		else if (in->type == SM_F16)
			w->r[u->dst[0]][l] = f64_to_half(d, in->round);
		else
			w->r[u->dst[0]][l] = bits_f32(f);
	}
	if (mode != FE_TONEAREST)
		fesetround(FE_TONEAREST);
	if (in->set_cc)
		set_converted_flags(w, u, m);
	return STEP_NEXT;
}

static enum step op_i2f_s32(struct warp *w, const struct uop *u, uint32_t m)
{
	lanes t0, d;
	const uint32_t *a = src_raw(w, u, 0, t0);

	LOOP(l)
		d[l] = bits_f32((float)(int32_t)a[l]);
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static uint64_t saturate_int(uint64_t mag, bool negative, unsigned int type)
{
	unsigned int bits = int_bits(type);
	uint64_t top = is_signed_type(type) ? (1ull << (bits - 1)) - 1 :
		       bits == 64	    ? ~0ull :
					      (1ull << bits) - 1;

	if (!negative)
		return mag > top ? top : mag;
	if (!is_signed_type(type))
		return 0;
	return mag > top ? ~top : 0 - mag;
}

static enum step op_i2i(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	unsigned int bits = int_bits(in->type);

	EACH_LANE(l, m) {
		bool negative;
		uint64_t mag = src_int(w, u, l, &negative), r;

		r = in->sat ? saturate_int(mag, negative, in->type) : negative ? 0 - mag : mag;
		if (bits < 32 && is_signed_type(in->type))
			r = (uint64_t)((int64_t)(r << (64 - bits)) >> (64 - bits));
		else if (bits < 32)
			r &= (1ull << bits) - 1;
		if (bits == 64)
			put_lane64(w, u->dst[0], l, r);
		else
			w->r[u->dst[0]][l] = (uint32_t)r;
	}
	if (in->set_cc)
		set_int_flags(w, u, m);
	return STEP_NEXT;
}

/* ------------------------------------------------------------------ special functions */

static double mufu_value(unsigned int sub, double v)
{
	switch (sub) {
	case SM_MUFU_COS:
		return cos(v);
	case SM_MUFU_SIN:
		return sin(v);
	case SM_MUFU_EX2:
		return exp2(v);
	case SM_MUFU_LG2:
		return log2(v);
	case SM_MUFU_RCP:
		return 1 / v;
	default:
		return 1 / sqrt(v);
	}
}

/* RCP64H, RSQ64H: operate on the upper word of a double; the lower word counts as zero. */
static uint32_t mufu_64h(unsigned int sub, uint32_t hi)
{
	uint64_t b = (uint64_t)hi << 32, r;
	double v;

	if (!(b & INF64))
		b &= SIGN64;
	v = as_f64(b);
	r = bits_f64(sub == SM_MUFU_RCP64H ? 1 / v : 1 / sqrt(v));
	if (is_nan64(r))
		return 0x7fffffff;
	if (!(r & INF64))
		r &= SIGN64;
	return (uint32_t)(r >> 32);
}

static enum step op_mufu(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	const struct sm_operand *o = &in->src[0];
	lanes d = { 0 };

	EACH_LANE(l, m) {
		uint32_t v = src_lane(w, u, 0, l);

		if (o->abs)
			v &= ABS32;
		if (o->neg)
			v ^= 0x80000000u;
		if (in->sub >= SM_MUFU_RCP64H)
			d[l] = mufu_64h(in->sub, v);
		else
			d[l] = flush32(bits_f32((float)mufu_value(in->sub, as_f32(flush32(v)))));
		if (is_nan32(d[l]) && in->sub < SM_MUFU_RCP64H)
			d[l] = NAN32;
		if (in->sat)
			d[l] = is_nan32(d[l]) || d[l] >> 31 ? 0 :
			       d[l] > 0x3f800000u	    ? 0x3f800000u :
							      d[l];
	}
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_mufu_rcp(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_operand *o = &u->in->src[0];
	uint32_t keep = o->abs ? ABS32 : ~0u, flip = o->neg ? 0x80000000u : 0;
	lanes t0, d;
	const uint32_t *a = src_raw(w, u, 0, t0);

	LOOP(l) {
		uint32_t v = flush32(bits_f32(1.0f / as_f32(flush32((a[l] & keep) ^ flip))));

		d[l] = is_nan32(v) ? NAN32 : v;
	}
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static enum step op_rro(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_operand *o = &u->in->src[0];
	uint32_t keep = o->abs ? ABS32 : ~0u, flip = o->neg ? 0x80000000u : 0;
	lanes t0, d;
	const uint32_t *a = src_raw(w, u, 0, t0);

	LOOP(l)
		d[l] = (a[l] & keep) ^ flip;
	put(w, u->dst[0], d, m);
	return STEP_NEXT;
}

static op_fn select_convert(const struct sm_insn *in)
{
	bool plain = in->src[0].sel == SM_SEL_WORD && !in->src[0].neg && !in->src[0].abs &&
		     in->round == SM_RN && !in->set_cc;

	switch (in->op) {
	case SM_F2F:	return op_f2f;
	case SM_F2I:	return op_f2i;
	case SM_I2F:
		return plain && in->type == SM_F32 && in->stype[0] == SM_S32 ? op_i2f_s32 : op_i2f;
	case SM_I2I:	return op_i2i;
	case SM_MUFU:	return in->sub == SM_MUFU_RCP && !in->sat ? op_mufu_rcp : op_mufu;
	case SM_RRO:	return op_rro;
	default:	return NULL;
	}
}

#endif
