/* SPDX-License-Identifier: GPL-2.0-only */
/* Video instructions. PTX ISA, "video instructions", defines the results. */
#ifndef KVGPU_MODEL_GR_SM_LANE_VIDEO_H
#define KVGPU_MODEL_GR_SM_LANE_VIDEO_H

static int64_t video_extend(uint32_t v, unsigned int bits, bool sign)
{
	if (bits == 32)
		return sign ? (int64_t)(int32_t)v : (int64_t)v;
	v &= (1u << bits) - 1;
	return sign && v >> (bits - 1) ? (int64_t)v - (1ll << bits) : (int64_t)v;
}

static bool video_signed(unsigned int type)
{
	return type == SM_S8 || type == SM_S16 || type == SM_S32 || type == SM_S64;
}

static int64_t video_pick(uint32_t v, unsigned int sel, unsigned int type)
{
	bool sign = video_signed(type);

	if (sel >= SM_SEL_B0 && sel <= SM_SEL_B3)
		return video_extend(v >> (8 * (sel - SM_SEL_B0)), 8, sign);
	if (sel == SM_SEL_H0 || sel == SM_SEL_H1)
		return video_extend(v >> (16 * (sel - SM_SEL_H0)), 16, sign);
	return video_extend(v, 32, sign);
}

static int64_t video_clamp(int64_t v, unsigned int bits, bool sign)
{
	int64_t top = sign ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1,
		low = sign ? -(1ll << (bits - 1)) : 0;

	return v > top ? top : v < low ? low : v;
}

static bool video_compare(unsigned int cmp, int64_t a, int64_t b)
{
	return cmp == SM_CMP_T || (a < b && cmp & 1) || (a == b && cmp & 2) || (a > b && cmp & 4);
}

static unsigned int video_result_bits(unsigned int what)
{
	switch (what) {
	case SM_V_MRG_8B0: case SM_V_MRG_8B2:
		return 8;
	case SM_V_MRG_16H: case SM_V_MRG_16L:
		return 16;
	default:
		return 32;
	}
}

static uint32_t video_final(unsigned int what, bool sign, uint32_t v, uint32_t c)
{
	bool less = sign ? (int32_t)v < (int32_t)c : v < c;

	switch (what) {
	case SM_V_MRG_16H:
		return v << 16 | (c & 0xffff);
	case SM_V_MRG_16L:
		return (v & 0xffff) | (c & 0xffff0000);
	case SM_V_MRG_8B0:
		return (v & 0xff) | (c & 0xffffff00);
	case SM_V_MRG_8B2:
		return (v & 0xff) << 16 | (c & 0xff00ffff);
	case SM_V_ACC:
		return v + c;
	case SM_V_MIN:
		return less ? v : c;
	case SM_V_MAX:
		return less ? c : v;
	default:
		return v;
	}
}

static int64_t video_shift(const struct sm_insn *in, int64_t a, uint32_t by)
{
	by = in->wrap ? by & 31 : by > 32 ? 32 : by;
	if (in->op == SM_VSHL)
		return (int64_t)((uint64_t)a << by);
	return a >> by;
}

static int64_t video_primary(const struct sm_insn *in, int64_t a, int64_t b)
{
	switch (in->op) {
	case SM_VADD: case SM_VADD2: case SM_VADD4:
		if (in->po && in->op != SM_VADD)	/* .AVRG */
			return (a + b + (a + b >= 0)) >> 1;
		return (in->src[0].neg ? -a : a) + (in->src[1].neg ? -b : b) + in->po;
	case SM_VABSDIFF: case SM_VABSDIFF2: case SM_VABSDIFF4:
		return a > b ? a - b : b - a;
	case SM_VMNMX: case SM_VMNMX2: case SM_VMNMX4:
		return (a < b) != in->max ? a : b;
	case SM_VSHL: case SM_VSHR:
		return video_shift(in, a, (uint32_t)b);
	default:
		return 0;
	}
}

static enum step op_video(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	bool sign = video_signed(in->type);

	EACH_LANE(l, m) {
		int64_t a = video_pick(src_lane(w, u, 0, l), in->src[0].sel, in->stype[0]);
		int64_t b = video_pick(src_lane(w, u, 1, l), in->src[1].sel, in->stype[1]);
		uint32_t v, c = src_lane(w, u, 2, l);

		if (in->op == SM_VSET) {
			v = video_compare(in->cmp, a, b);
		} else {
			int64_t p = video_primary(in, a, b);

			v = (uint32_t)(in->sat ?
					       video_clamp(p, video_result_bits(in->vfinal), sign) :
					       p);
		}
		w->r[u->dst[0]][l] = video_final(in->vfinal, sign, v, c);
	}
	if (in->set_cc)
		set_zs(w, u, w->r[u->dst[0]], m);
	return STEP_NEXT;
}

static enum step op_vsetp(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	uint32_t truth = 0;

	EACH_LANE(l, m) {
		int64_t a = video_pick(src_lane(w, u, 0, l), in->src[0].sel, in->stype[0]);
		int64_t b = video_pick(src_lane(w, u, 1, l), in->src[1].sel, in->stype[1]);

		truth |= (uint32_t)video_compare(in->cmp, a, b) << l;
	}
	return put_setp(w, u, truth, src_pred(w, &in->src[2]), m);
}

/* (+-(a * b) +- c), plus 1 with .PO, shifted right */
static enum step op_vmad(struct warp *w, const struct uop *u, uint32_t m)
{
	static const uint8_t shift[] = { 0, 7, 15 };
	const struct sm_insn *in = u->in;
	bool sign = video_signed(in->stype[0]) || video_signed(in->stype[1]);

	EACH_LANE(l, m) {
		int64_t a = video_pick(src_lane(w, u, 0, l), in->src[0].sel, in->stype[0]);
		int64_t b = video_pick(src_lane(w, u, 1, l), in->src[1].sel, in->stype[1]);
		uint32_t raw = src_lane(w, u, 2, l);
		int64_t c = sign || in->src[2].neg ? (int64_t)(int32_t)raw : (int64_t)raw,
			p = a * b;

		p = (in->neg_product ? -p : p) + (in->src[2].neg ? -c : c) + in->po;
		p >>= shift[in->scale % 3];
		w->r[u->dst[0]][l] = (uint32_t)(in->sat ? video_clamp(p, 32,
								      sign || in->neg_product ||
									      in->src[2].neg) :
							  p);
	}
	if (in->set_cc)
		set_zs(w, u, w->r[u->dst[0]], m);
	return STEP_NEXT;
}

/* ------------------------------------------------------------------ packed */

static int64_t packed_pick(uint32_t a, uint32_t b, uint16_t swizzle, unsigned int i,
			   unsigned int bits, bool sign)
{
	uint64_t both = a | (uint64_t)b << 32;
	unsigned int sel = swizzle >> (4 * i) & (bits == 8 ? 7 : 3);

	return video_extend((uint32_t)(both >> (bits * sel)), bits, sign);
}

static uint32_t packed_result(const struct sm_insn *in, uint32_t a, uint32_t b, uint32_t c,
			      uint32_t pred)
{
	bool bytes = in->op == SM_VADD4 || in->op == SM_VMNMX4 || in->op == SM_VSET4 ||
		     in->op == SM_VABSDIFF4 || in->op == SM_VSEL4;
	bool set = in->op == SM_VSET2 || in->op == SM_VSET4,
	     choose = in->op == SM_VSEL2 || in->op == SM_VSEL4;
	bool sign = video_signed(in->type);
	unsigned int bits = bytes ? 8 : 16, n = 32 / bits;
	uint32_t sum = c, merged = c, mask = (1u << bits) - 1;

	for (unsigned int i = 0; i < n; i++) {
		int64_t x =
			packed_pick(a, b, in->src[0].swizzle, i, bits, video_signed(in->stype[0]));
		int64_t y = in->src[1].kind == SM_IMM ?
				    (int64_t)in->src[1].imm :
				    packed_pick(a, b, in->src[1].swizzle, i, bits,
						video_signed(in->stype[1])),
			p;

		if (!(in->lanes >> i & 1))
			continue;
		p = set	   ? video_compare(in->cmp, x, y) :
		    choose ? (pred ? x : y) :
			     video_primary(in, x, y);
		if (in->sat)
			p = video_clamp(p, bits, sign);
		sum += (uint32_t)p;
		merged = (merged & ~(mask << (bits * i))) | ((uint32_t)p & mask) << (bits * i);
	}
	return in->vfinal == SM_V_ACC ? sum : merged;
}

static enum step op_packed(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	uint32_t pred = in->src[2].kind == SM_PRED ? src_pred(w, &in->src[2]) : 0;

	EACH_LANE(l, m) {
		uint32_t c = in->src[2].kind == SM_PRED ? 0 : src_lane(w, u, 2, l);

		w->r[u->dst[0]][l] = packed_result(in, src_lane(w, u, 0, l), src_lane(w, u, 1, l),
						   c, pred >> l & 1);
	}
	if (in->set_cc)
		set_zs(w, u, w->r[u->dst[0]], m);
	return STEP_NEXT;
}

static op_fn select_video(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_VADD: case SM_VMNMX: case SM_VSET: case SM_VABSDIFF: case SM_VSHL: case SM_VSHR:
		return op_video;
	case SM_VSETP:	return op_vsetp;
	case SM_VMAD:	return op_vmad;
	case SM_VADD2: case SM_VADD4: case SM_VMNMX2: case SM_VMNMX4: case SM_VSET2: case SM_VSET4:
	case SM_VABSDIFF2: case SM_VABSDIFF4: case SM_VSEL2: case SM_VSEL4:
		return op_packed;
	default:	return NULL;
	}
}

#endif
