/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The condition code in registers, NaNs, shifts of pairs, flags of wide conversions,
 * results that go into a part of a register. Included by ops_test.c.
 */
#ifndef KVGPU_SELFTESTS_SM_OPS_NUMBERS_H
#define KVGPU_SELFTESTS_SM_OPS_NUMBERS_H

/* nvcc -G saves the condition code so: P2R R0, PR, RZ, 0xf000 ... R2P PR, R0, 0xf000 */
static void condition_code_to_a_register_and_back(void **state)
{
	const uint32_t code[] = { 0x0f0f3355, 0x12345678, 0xdeadbeef, 0x80000001 };
	struct world *w = *state;
	struct sm_insn p2r = insn(SM_P2R), r2p = insn(SM_R2P);

	w->w.z = code[0], w->w.s = code[1], w->w.c = code[2], w->w.o = code[3];
	w->w.p[0] = 0x55555555;
	p2r.dst[0] = reg(0);
	p2r.src[0] = (struct sm_operand){ .kind = SM_PRFILE };
	p2r.src[1] = imm(0);
	p2r.src[2] = imm(0xf000);
	run(w, p2r);
	for (unsigned int l = 0; l < LANES; l++) {
		uint32_t want = 0;

		for (unsigned int i = 0; i < 4; i++)
			want |= (code[i] >> l & 1) << (12 + i);
		assert_int_equal(R(0)[l], want);
	}
	w->w.z = w->w.s = w->w.c = w->w.o = 0x33333333;
	r2p.dst[0] = (struct sm_operand){ .kind = SM_PRFILE };
	r2p.src[0] = reg(0);
	r2p.src[1] = imm(0x7000);
	run(w, r2p);
	assert_int_equal(w->w.z, code[0]);
	assert_int_equal(w->w.s, code[1]);
	assert_int_equal(w->w.c, code[2]);
	assert_int_equal(w->w.o, 0x33333333); /* not in the mask, so it keeps its value */
	assert_int_equal(w->w.p[0], 0x55555555);
}

/* A NaN keeps sign and payload in operations with doubles, even if the instruction negates it. */
static void payloads_pass_through_doubles(void **state)
{
	static const uint64_t nans[] = { 0x7ff8000000000000, 0xfff8000000001234, 0x7ff0000000000001,
					 0xfff4000020000000 };
	struct world *w = *state;
	struct sm_insn in = insn(SM_DADD), down = insn(SM_F2F);

	in.dst[0] = pair(4);
	in.src[0] = pair(0);
	in.src[1] = pair(2);
	in.src[1].neg = true;
	for (unsigned int l = 0; l < LANES; l++) {
		R(0)[l] = 0;
		R(1)[l] = 0x3ff00000;
		R(2)[l] = (uint32_t)nans[l % 4];
		R(3)[l] = nans[l % 4] >> 32;
	}
	run(w, in);
	down.dst[0] = reg(6);
	down.src[0] = pair(2);
	down.type = SM_F32;
	down.stype[0] = SM_F64;
	run(w, down);
	for (unsigned int l = 0; l < LANES; l++) {
		uint64_t quiet = nans[l % 4] | 1ull << 51;

		assert_true((R(4)[l] | (uint64_t)R(5)[l] << 32) == quiet);
		assert_int_equal(R(6)[l],
				 (quiet >> 63 << 31) | 0x7f800000 | (quiet >> 29 & 0x7fffff));
	}
}

static void the_first_of_several_payloads_wins(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_DFMA);

	in.dst[0] = pair(6);
	for (unsigned int i = 0; i < 3; i++) {
		in.src[i] = pair(2 * i);
		in.src[i].neg = i != 1;
		for (unsigned int l = 0; l < LANES; l++) {
			R(2 * i)[l] = 0x100 + i;
			R(2 * i + 1)[l] = l >> i & 1 ? 0xfff80000 : 0x40000000;
		}
	}
	run(w, in);
	for (unsigned int l = 0; l < LANES; l++) {
		if (l & 7) {
			assert_int_equal(R(6)[l], 0x100 + __builtin_ctz(l));
			assert_int_equal(R(7)[l], 0xfff80000);
		}
	}
}

/* Shifts of a pair of words by any amount, as ptxas shifts 64-bit numbers. */
static void shifts_of_pairs(void **state)
{
	static const uint64_t values[] = { 0x8000000000000000, 0x0123456789abcdef, ~0ull, 1 };
	static const uint32_t amounts[] = { 0, 1, 31, 32, 33, 63, 64, 65, 0x80000000, ~0u };
	struct world *w = *state;

	for (unsigned int i = 0; i < 3 * 2 * 4 * 10; i++) {
		struct sm_insn in = insn(SM_SHF);
		uint64_t v = values[i / 6 % 4], want;
		uint32_t by = amounts[i / 24], s;

		in.dst[0] = reg(3);
		in.src[0] = reg(0);
		in.src[1] = reg(2);
		in.src[2] = reg(1);
		in.left = i % 3 == 0;
		in.type = i % 3 == 2 ? SM_S64 : SM_U64;
		in.wrap = i / 3 % 2;
		R(0)[5] = (uint32_t)v;
		R(1)[5] = v >> 32;
		R(2)[5] = by;
		run(w, in);
		s = in.wrap ? by % 64 : by;
		if (in.left)
			want = s > 63 ? 0 : v << s >> 32;
		else if (in.type == SM_S64)
			want = (uint64_t)((int64_t)v >> (s > 63 ? 63 : s));
		else
			want = s > 63 ? 0 : v >> s;
		assert_int_equal(R(3)[5], (uint32_t)want);
	}
}

static void integers_of_what_is_no_number(void **state)
{
	static const enum sm_type to[] = { SM_U8, SM_S8, SM_U16, SM_S16, SM_U32, SM_S32 };
	static const uint32_t top[] = {
		0x80, 0xffffff80, 0x8000, 0xffff8000, 0x80000000, 0x80000000
	};
	struct world *w = *state;
	struct sm_insn in = insn(SM_F2I);

	in.dst[0] = reg(4);
	for (unsigned int l = 0; l < LANES; l++) {
		R(0)[l] = 0x7fc00000;
		R(2)[l] = 1;
		R(3)[l] = 0xfff80000;
	}
	for (unsigned int t = 0; t < 12; t++) {
		in.type = to[t % 6];
		in.stype[0] = t < 6 ? SM_F32 : SM_F64;
		in.src[0] = t < 6 ? reg(0) : pair(2);
		w->qmd.fp32_f2i_nan_behavior = 0;
		run(w, in);
		assert_int_equal(R(4)[7], t < 6 ? 0 : top[t % 6]);
		w->qmd.fp32_f2i_nan_behavior = 1;
		run(w, in);
		assert_int_equal(R(4)[7], top[t % 6]);
	}
}

static void flags_of_wide_conversions(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_F2I);

	in.dst[0] = pair(4);
	in.src[0] = reg(0);
	in.type = SM_S64;
	in.stype[0] = SM_F32;
	in.set_cc = true;
	R(0)[0] = 0x4f800000; /* 2^32: the lower word of the result is zero */
	R(0)[1] = 0xcf800000;
	R(0)[2] = 0;
	run(w, in);
	assert_int_equal(w->w.z & 7, 4);
	assert_int_equal(w->w.s & 7, 2);
	in = insn(SM_F2F);
	in.dst[0] = pair(4);
	in.src[0] = reg(0);
	in.type = SM_F64;
	in.stype[0] = SM_F32;
	in.set_cc = true;
	w->w.z = w->w.s = ALL_LANES;
	run(w, in);
	assert_int_equal(w->w.z & 7, 4);
	assert_int_equal(w->w.s & 7, 2);
}

/*
 * .sat clamps the result to the part of the register that it goes into (PTX ISA, "video
 * instructions", optSaturate).
 */
static void video_results_fit_their_part(void **state)
{
	static const struct {
		enum sm_vfinal part;
		int32_t low[2], high[2]; /* limits of unsigned and of signed results */
		unsigned int at;
		uint32_t ones;
	} parts[] = {
		{ SM_V_MRG_8B0, { 0, -128 }, { 255, 127 }, 0, 0xff },
		{ SM_V_MRG_8B2, { 0, -128 }, { 255, 127 }, 16, 0xff },
		{ SM_V_MRG_16L, { 0, -32768 }, { 65535, 32767 }, 0, 0xffff },
		{ SM_V_MRG_16H, { 0, -32768 }, { 65535, 32767 }, 16, 0xffff },
	};
	static const int32_t values[] = { 0,	1,     -1,    100,   -100,  128,    255,    256,
					  -129, 30000, 32768, 65535, 65536, -32769, 1 << 30 };
	struct world *w = *state;

	for (unsigned int i = 0; i < 4 * 2 * 15; i++) {
		struct sm_insn in = insn(SM_VADD);
		bool sign = i / 4 % 2;
		int32_t v = values[i / 8], low = parts[i % 4].low[sign],
			high = parts[i % 4].high[sign];
		uint32_t want = (uint32_t)(v < low ? low : v > high ? high : v) & parts[i % 4].ones;

		in.dst[0] = reg(3);
		in.src[0] = reg(0);
		in.src[1] = reg(1);
		in.src[2] = reg(2);
		in.stype[0] = in.stype[1] = SM_S32;
		in.type = sign ? SM_S32 : SM_U32;
		in.vfinal = parts[i % 4].part;
		in.sat = true;
		R(0)[9] = (uint32_t)(v - 7);
		R(1)[9] = 7;
		R(2)[9] = 0xdeadbeef;
		run(w, in);
		assert_int_equal(R(3)[9], (0xdeadbeef & ~(parts[i % 4].ones << parts[i % 4].at)) |
						  want << parts[i % 4].at);
	}
}

#endif
