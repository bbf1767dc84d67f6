// SPDX-License-Identifier: GPL-2.0-only
/*
 * Single instructions in the form that the decoder gives. All tests run for each vector unit of
 * this processor (lane_isa_select()).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gr/gr.h"
#include "gr/sm/exec.h"
#include "gr/sm/print.h"
#include "gr/sm/rig.h"

struct world {
	struct rig *r;
	struct run run;
	struct qmd qmd;
	struct sm_grid grid;
	struct sm_thread thread;
	struct cta cta;
	struct warp w;
	struct token stack[8];
	lanes regs[SLOT_REG + 64];
};

#define R(n) (w->w.r[SLOT_REG + (n)])

static const uint32_t corners[] = { 0,		1,	    2,		0x7fffffff,
				    0x80000000, 0x80000001, 0xfffffffe, 0xffffffff };
#define NR_CORNERS 8u

static int setup(void **state)
{
	struct world *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);

	memset(w, 0, sizeof(*w));
	w->r = rig_create(20 << 20);
	w->grid = w->r->grid;
	w->grid.vm = &w->r->space;
	w->run = (struct run){
		.g = w->r->g, .sm = w->r->g->gr->sm, .grid = &w->grid, .q = &w->qmd, .regs = 64
	};
	pthread_mutex_init(&w->run.lock, NULL);
	w->thread.run = &w->run;
	w->thread.g = w->r->g;
	w->thread.gcc = &w->r->g->gr->gcc[0];
	w->thread.l1 = &w->run.sm->l1[0];
	xlat_flush(&w->thread);
	w->w.r = w->regs;
	w->w.t = &w->thread;
	w->w.cta = &w->cta;
	w->w.stack = w->stack;
	w->w.stack_size = 8;
	w->w.live = w->w.active = w->w.p[SM_PT] = ALL_LANES;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (unsigned int i = 0; i < QMD_NR_CBUF; i++)
		free(w->run.cbuf[i].data);
	rig_destroy(w->r);
	free(w);
	return 0;
}

static struct sm_operand reg(unsigned int n)
{
	return (struct sm_operand){ .kind = SM_REG, .reg = n, .regs = 1 };
}

static struct sm_operand pair(unsigned int n)
{
	return (struct sm_operand){ .kind = SM_REG, .reg = n, .regs = 2 };
}

static struct sm_operand pred(unsigned int n, bool not )
{
	return (struct sm_operand){ .kind = SM_PRED, .reg = n, .inv = not };
}

static struct sm_operand imm(uint64_t v)
{
	return (struct sm_operand){ .kind = SM_IMM, .imm = v };
}

static struct sm_operand negated(struct sm_operand o)
{
	o.neg = true;
	return o;
}

static struct sm_insn insn(enum sm_op op)
{
	return (struct sm_insn){ .op = op, .guard = SM_PT, .cc_test = SM_CC_T, .lanes = 0xf };
}

static enum step step(struct world *w, struct sm_insn *in, uint32_t m)
{
	struct uop u;

	uop_bind(&u, in);
	return u.run(&w->w, &u, m);
}

static void run(struct world *w, struct sm_insn in)
{
	assert_int_equal(step(w, &in, ALL_LANES), STEP_NEXT);
}

/* Pairs of corner values; each batch has 32 of them, one for each lane. */
static void corner_pair(unsigned int batch, unsigned int lane, uint32_t *a, uint32_t *b)
{
	unsigned int i = batch * LANES + lane;

	*a = corners[i % NR_CORNERS];
	*b = corners[i / NR_CORNERS % NR_CORNERS];
}

/* ------------------------------------------------------------------ the adder */

static void check_add(struct world *w, bool na, bool nb, bool x, bool z_in, bool c_in)
{
	struct sm_insn in = insn(SM_IADD);

	in.dst[0] = reg(2);
	in.src[0] = reg(0);
	in.src[1] = reg(1);
	in.src[0].neg = na;
	in.src[1].neg = nb;
	in.set_cc = true;
	in.x = x;
	for (unsigned int batch = 0; batch < 2; batch++) {
		for (unsigned int l = 0; l < LANES; l++)
			corner_pair(batch, l, &R(0)[l], &R(1)[l]);
		w->w.c = c_in ? ALL_LANES : 0;
		w->w.z = z_in ? ALL_LANES : 0;
		run(w, in);
		for (unsigned int l = 0; l < LANES; l++) {
			uint32_t a = na ? ~R(0)[l] : R(0)[l], b = nb ? ~R(1)[l] : R(1)[l],
				 cin = x ? c_in : na + nb;
			uint64_t sum = (uint64_t)a + b + cin;
			int64_t wide = (int64_t)(int32_t)a + (int32_t)b + cin;
			uint32_t d = (uint32_t)sum;

			assert_int_equal(R(2)[l], d);
			assert_int_equal(w->w.c >> l & 1, sum >> 32);
			assert_int_equal(w->w.z >> l & 1, d == 0 && (!x || z_in));
			assert_int_equal(w->w.s >> l & 1, d >> 31);
			assert_int_equal(w->w.o >> l & 1, wide != (int32_t)d);
		}
	}
}

static void sums_and_their_flags(void **state)
{
	for (unsigned int i = 0; i < 32; i++) {
		/* with both operands negated it is another operation */
		if ((i & 3) != 3)
			check_add(*state, i & 1, i & 2, i & 4, i & 8, i & 16);
	}
}

static bool sat_ok(int64_t v, uint32_t got)
{
	return got == (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

static void saturating_sums(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_IADD);

	in.dst[0] = reg(2);
	in.src[0] = reg(0);
	in.src[1] = reg(1);
	in.sat = true;
	for (unsigned int batch = 0; batch < 2; batch++) {
		for (unsigned int l = 0; l < LANES; l++)
			corner_pair(batch, l, &R(0)[l], &R(1)[l]);
		in.src[1].neg = false;
		run(w, in);
		for (unsigned int l = 0; l < LANES; l++)
			assert_true(sat_ok((int64_t)(int32_t)R(0)[l] + (int32_t)R(1)[l], R(2)[l]));
		in.src[1] = negated(reg(1));
		run(w, in);
		for (unsigned int l = 0; l < LANES; l++)
			assert_true(sat_ok((int64_t)(int32_t)R(0)[l] - (int32_t)R(1)[l], R(2)[l]));
	}
	in = insn(SM_IADD); /* .PO */
	in.dst[0] = reg(2);
	in.src[0] = reg(0);
	in.src[1] = imm(41);
	in.po = true;
	run(w, in);
	assert_int_equal(R(2)[0], R(0)[0] + 42);
}

/* 64-bit numbers in pairs of registers. */
static void chains_of_words(void **state)
{
	struct world *w = *state;
	static const enum sm_cmp cmp[] = { SM_CMP_LT, SM_CMP_EQ, SM_CMP_LE,
					   SM_CMP_GT, SM_CMP_NE, SM_CMP_GE };

	for (unsigned int i = 0; i < 4096 / LANES; i++) {
		struct sm_insn sub = insn(SM_IADD), set = insn(SM_ISETP), max = insn(SM_IMNMX);

		for (unsigned int l = 0; l < LANES; l++) {
			unsigned int n = i * LANES + l;

			for (unsigned int k = 0; k < 4; k++)
				R(k)[l] = corners[n >> (3 * k) & 7];
		}
		sub.src[0] = reg(0);
		sub.src[1] = negated(reg(2));
		sub.dst[0] = reg(SM_RZ);
		sub.set_cc = true;
		set.src[0] = reg(1);
		set.src[1] = reg(3);
		set.src[2] = pred(SM_PT, false);
		set.dst[0] = pred(0, false);
		set.dst[1] = pred(1, false);
		set.x = true;
		max.dst[0] = reg(5);
		max.src[0] = reg(1);
		max.src[1] = reg(3);
		max.src[2] = pred(SM_PT, true);
		max.type = SM_S32;
		max.set_cc = true;
		max.xmode = 3;
		run(w, max);
		max.set_cc = false;
		max.dst[0] = reg(4);
		max.src[0] = reg(0);
		max.src[1] = reg(2);
		max.type = SM_U32;
		max.xmode = 1;
		run(w, max);
		for (unsigned int k = 0; k < 12; k++) {
			set.cmp = cmp[k / 2];
			set.type = k & 1 ? SM_S32 : SM_U32;
			run(w, sub);
			run(w, set);
			for (unsigned int l = 0; l < LANES; l++) {
				uint64_t a = R(0)[l] | (uint64_t)R(1)[l] << 32,
					 b = R(2)[l] | (uint64_t)R(3)[l] << 32;
				bool lt = k & 1 ? (int64_t)a < (int64_t)b : a < b;
				bool want = (lt && set.cmp & 1) || (a == b && set.cmp & 2) ||
					    (!lt && a != b && set.cmp & 4);

				assert_int_equal(w->w.p[0] >> l & 1, want);
				assert_int_equal(w->w.p[1] >> l & 1, !want);
				assert_true((R(4)[l] | (uint64_t)R(5)[l] << 32) ==
					    ((int64_t)a > (int64_t)b ? a : b));
			}
		}
	}
}

/* --------------------------------------------------------------- predicates and flags as values */

/* @at: the lowest bit of the half that predicates have in a register */
static void check_predicates(struct world *w, unsigned int at)
{
	struct sm_insn p2r = insn(SM_P2R), r2p = insn(SM_R2P);
	const uint32_t before = 0xa5a5a5a5;

	for (unsigned int i = 0; i < SM_PT; i++)
		w->w.p[i] = 0x12345678u * (i + 3);
	p2r.hi = r2p.hi = at == 16;
	p2r.dst[0] = reg(0);
	p2r.src[0] = (struct sm_operand){ .kind = SM_PRFILE };
	p2r.src[1] = imm(before);
	p2r.src[2] = imm(0x5f);
	run(w, p2r);
	for (unsigned int l = 0; l < LANES; l++) {
		uint32_t want = before & ~(0x5fu << at);

		for (unsigned int i = 0; i < SM_PT; i++)
			if (0x5f >> i & 1)
				want |= (w->w.p[i] >> l & 1) << (at + i);
		assert_int_equal(R(0)[l], want);
	}
	for (unsigned int l = 0; l < LANES; l++)
		R(1)[l] = (l * 5) << at | (~(l * 5) & 0xffff) << (16 - at);
	r2p.dst[0] = (struct sm_operand){ .kind = SM_PRFILE };
	r2p.src[0] = reg(1);
	r2p.src[1] = imm(0x29);
	run(w, r2p);
	for (unsigned int i = 0; i < SM_PT; i++) {
		for (unsigned int l = 0; l < LANES; l++)
			assert_int_equal(w->w.p[i] >> l & 1,
					 (0x29 >> i & 1 ? l * 5 >> i : 0x12345678u * (i + 3) >> l) &
						 1);
	}
	assert_int_equal(w->w.p[SM_PT], ALL_LANES);
}

static void predicates_to_registers_and_back(void **state)
{
	check_predicates(*state, 0);
	check_predicates(*state, 16);
}

static uint32_t combined(unsigned int op, uint32_t a, uint32_t b)
{
	return op == SM_AND ? a & b : op == SM_OR ? a | b : a ^ b;
}

static void predicate_arithmetic(void **state)
{
	struct world *w = *state;

	w->w.p[0] = 0x0f0f0f0f;
	w->w.p[1] = 0x00ff00ff;
	w->w.p[2] = 0x0000ffff;
	for (unsigned int i = 0; i < 72; i++) {
		struct sm_insn in = insn(SM_PSETP);
		uint32_t a = i & 1 ? ~w->w.p[0] : w->w.p[0], b = i & 2 ? ~w->w.p[1] : w->w.p[1];
		uint32_t c = i & 4 ? ~w->w.p[2] : w->w.p[2], first;

		in.bop2 = i / 8 % 3;
		in.bop = i / 24;
		in.dst[0] = pred(3, false);
		in.dst[1] = pred(4, false);
		in.src[0] = pred(0, i & 1);
		in.src[1] = pred(1, i & 2);
		in.src[2] = pred(2, i & 4);
		run(w, in);
		first = combined(in.bop2, a, b);
		assert_int_equal(w->w.p[3], combined(in.bop, first, c));
		assert_int_equal(w->w.p[4], combined(in.bop, ~first, c));
		in.op = SM_PSET;
		in.dst[0] = reg(0);
		in.dst[1] = (struct sm_operand){ 0 };
		in.bf = i & 1;
		run(w, in);
		for (unsigned int l = 0; l < LANES; l++)
			assert_int_equal(R(0)[l],
					 w->w.p[3] >> l & 1 ? (i & 1 ? 0x3f800000 : ~0u) : 0);
	}
}

/* Tests of the condition code after a - b: signed tests use S, O and Z, unsigned tests C and Z. */
/* clang-format off */
static void condition_tests_after_a_subtraction(void **state)
{
	struct world *w = *state;
	struct sm_insn sub = insn(SM_IADD), in = insn(SM_CSETP);

	sub.dst[0] = reg(2);
	sub.src[0] = reg(0);
	sub.src[1] = negated(reg(1));
	sub.set_cc = true;
	in.dst[0] = pred(0, false);
	in.dst[1] = pred(SM_PT, false);
	in.src[1] = pred(SM_PT, false);
	for (unsigned int batch = 0; batch < 2; batch++) {
		for (unsigned int l = 0; l < LANES; l++)
			corner_pair(batch, l, &R(0)[l], &R(1)[l]);
		run(w, sub);
		for (unsigned int test = 0; test < 32; test++) {
			in.cc_test = test;
			run(w, in);
			for (unsigned int l = 0; l < LANES; l++) {
				int32_t a = (int32_t)R(0)[l], b = (int32_t)R(1)[l];
				bool got = w->w.p[0] >> l & 1, want = got;

				switch (test) {
				case SM_CC_F: want = false; break;
				case SM_CC_LTU: want = a < b; break;
				case SM_CC_EQU: case SM_CC_EQ: want = a == b; break;
				case SM_CC_LEU: want = a <= b; break;
				case SM_CC_GTU: want = a > b; break;
				case SM_CC_NE: want = a != b; break;
				case SM_CC_GE: want = a >= b; break;
				case SM_CC_LO: want = (uint32_t)a < (uint32_t)b; break;
				case SM_CC_HS: want = (uint32_t)a >= (uint32_t)b; break;
				case SM_CC_HI: want = (uint32_t)a > (uint32_t)b; break;
				case SM_CC_LS: want = (uint32_t)a <= (uint32_t)b; break;
				case SM_CC_T: want = true; break;
				}
				assert_int_equal(got, want);
			}
		}
	}
}
/* clang-format on */

/* ------------------------------------------------------------------ floats */

static void comparisons_with_zero_choose(void **state)
{
	static const float v[] = { 0, -0.0f, 1, -1, NAN, INFINITY, -INFINITY, 1e-40f };
	struct world *w = *state;

	for (unsigned int cmp = 0; cmp < 16; cmp++) {
		struct sm_insn in = insn(SM_FCMP);

		in.dst[0] = reg(3);
		in.src[0] = imm(1);
		in.src[1] = imm(2);
		in.src[2] = reg(0);
		in.cmp = cmp;
		in.ftz = true;
		for (unsigned int l = 0; l < LANES; l++)
			memcpy(&R(0)[l], &v[l % 8], 4);
		run(w, in);
		for (unsigned int l = 0; l < LANES; l++) {
			float x = l % 8 == 7 ? 0 : v[l % 8];
			bool want = x != x ? cmp & 8 : x < 0 ? cmp & 1 : x == 0 ? cmp & 2 : cmp & 4;

			assert_int_equal(R(3)[l], want ? 1 : 2);
		}
	}
}

static void every_half_there_and_back(void **state)
{
	struct world *w = *state;
	struct sm_insn up = insn(SM_F2F), down = insn(SM_F2F);

	up.dst[0] = down.dst[0] = reg(1);
	up.src[0] = reg(0);
	up.type = down.stype[0] = SM_F32;
	up.stype[0] = down.type = SM_F16;
	down.src[0] = reg(1);
	for (uint32_t base = 0; base < 65536; base += LANES) {
		for (unsigned int l = 0; l < LANES; l++)
			R(0)[l] = base + l;
		run(w, up);
		for (unsigned int l = 0; l < LANES; l++) {
			uint32_t h = base + l, exp = h >> 10 & 31, man = h & 1023;
			float want = exp == 31 ? (man ? NAN : INFINITY) :
				     exp       ? ldexpf(1024 + man, (int)exp - 25) :
						 ldexpf(man, -24),
			      got;

			memcpy(&got, &R(1)[l], 4);
			want = h >> 15 ? -want : want;
			assert_true(want != want ? got != got :
						   got == want && !signbit(got) == !signbit(want));
		}
		run(w, down);
		for (unsigned int l = 0; l < LANES; l++)
			assert_int_equal(R(1)[l],
					 ((base + l) & 0x7fff) > 0x7c00 ? 0x7fff : base + l);
	}
}

static void products_scaled_and_zeroed(void **state)
{
	static const float scale[] = { 1, 0.5f, 0.25f, 0.125f, 8, 4, 2 };
	struct world *w = *state;
	struct sm_insn in = insn(SM_FMUL);
	float a = 1.3f, b = -3.7f, got;

	in.dst[0] = reg(0);
	in.src[0] = reg(1);
	in.src[1] = reg(2);
	for (unsigned int l = 0; l < LANES; l++) {
		memcpy(&R(1)[l], &a, 4);
		memcpy(&R(2)[l], &b, 4);
	}
	for (in.scale = 0; in.scale < 7; in.scale++) {
		run(w, in);
		memcpy(&got, &R(0)[5], 4);
		assert_true(got == a * b * scale[in.scale]);
	}
	in.scale = 0;
	R(1)[3] = 0;
	R(2)[3] = 0x7f800000; /* 0 * inf */
	run(w, in);
	assert_int_equal(R(0)[3], 0x7fffffff);
	in.fmz = true;
	run(w, in);
	assert_int_equal(R(0)[3], 0);
}

/* ------------------------------------------------------------------ control */

static void loops_with_continue_and_break(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_PBK);

	w->w.pc = 0x100;
	in.src[0] = imm(0x80);
	in.relative = true;
	run(w, in);
	in.op = SM_PCNT;
	in.src[0] = imm(0x40);
	run(w, in);
	in.op = SM_BRK;
	assert_int_equal(step(w, &in, 0x0000000f), STEP_NEXT);
	assert_int_equal(w->w.active, 0xfffffff0);
	in.op = SM_CONT;
	assert_int_equal(step(w, &in, 0x000000f0), STEP_NEXT);
	/* the last lanes continue: all lanes that did not break go on at the loop's head */
	assert_int_equal(step(w, &in, 0xffffff00), STEP_JUMP);
	assert_int_equal(w->w.active, 0xfffffff0);
	assert_int_equal(w->w.pc, 0x148);
	in.op = SM_BRK;
	assert_int_equal(step(w, &in, 0xfffffff0), STEP_JUMP);
	assert_int_equal(w->w.active, ALL_LANES);
	assert_int_equal(w->w.pc, 0x188);
	assert_int_equal(w->w.depth, 0);
}

static void calls_nest_and_exits_are_final(void **state)
{
	struct world *w = *state;
	struct sm_insn call = insn(SM_JCAL), ret = insn(SM_RET), leave = insn(SM_EXIT),
		       pret = insn(SM_PRET);

	w->w.pc = 0x100;
	call.src[0] = imm(0x1000);
	assert_int_equal(step(w, &call, ALL_LANES), STEP_JUMP);
	assert_int_equal(w->w.pc, 0x1000);
	assert_int_equal(step(w, &call, ALL_LANES), STEP_JUMP); /* itself */
	assert_int_equal(step(w, &leave, 0xff), STEP_NEXT);
	assert_int_equal(step(w, &ret, 0xffffff00), STEP_JUMP);
	assert_int_equal(w->w.pc, 0x1008);
	assert_int_equal(w->w.active, 0xffffff00);
	assert_int_equal(step(w, &ret, 0xffffff00), STEP_JUMP);
	assert_int_equal(w->w.pc, 0x108);
	pret.src[0] = imm(0x2000);
	run(w, pret);
	assert_int_equal(step(w, &ret, 0xffffff00), STEP_JUMP);
	assert_int_equal(w->w.pc, 0x2000);
	/* no call is left to return from */
	assert_int_equal(step(w, &ret, 0xffff0000), STEP_NEXT);
	assert_int_equal(w->w.active, 0xff00);
	assert_int_equal(step(w, &leave, 0xff00), STEP_END);
}

static void the_stack_has_an_end(void **state)
{
	struct world *w = *state;
	struct sm_insn call = insn(SM_JCAL);

	call.src[0] = imm(0x1000);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(step(w, &call, ALL_LANES), STEP_JUMP);
	assert_int_equal(step(w, &call, ALL_LANES), STEP_STOP);
	assert_int_equal(w->grid.trap.warp_esr, WARP_STACK_ERROR);
	assert_int_equal(w->run.result, SM_TRAP);
}

static void indexed_branches_group_their_lanes(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_BRX);
	uint32_t seen = 0;

	for (unsigned int l = 0; l < LANES; l++)
		R(0)[l] = 0x40 * (l % 3);
	w->w.pc = 0x100;
	in.src[0] = reg(0);
	in.offset = 0x1000 - 0x108;
	in.relative = true;
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t want = 0;

		for (unsigned int l = 0; l < LANES; l++)
			want |= (uint32_t)(l % 3 == i) << l;
		assert_int_equal(step(w, &in, w->w.active), STEP_JUMP);
		assert_int_equal(w->w.active, want);
		assert_int_equal(w->w.pc, 0x1000 + 0x40 * i);
		seen |= want;
		w->w.exited |= want; /* as if each group had run to its end */
		if (i < 2) {
			assert_int_equal(stack_pop(&w->w), STEP_JUMP);
			assert_int_equal(w->w.pc, 0x100);
		}
	}
	assert_int_equal(seen, ALL_LANES);
	assert_int_equal(stack_pop(&w->w), STEP_END);
}

/* ------------------------------------------------------------------ constants and registers */

static void constants_by_index(void **state)
{
	struct world *w = *state;
	uint64_t va = rig_alloc(w->r, 1024);
	uint32_t *c = rig_host(w->r, va);
	struct sm_insn in = insn(SM_LDC);

	for (unsigned int i = 0; i < 256; i++)
		c[i] = i * 0x01010101;
	w->run.cbuf[2] = (struct cbuf){ .valid = true, .va = va, .size = 1000 };
	in.dst[0] = pair(2);
	in.src[0] = reg(0);
	in.bank = 2;
	in.offset = 16;
	in.type = SM_B64;
	for (unsigned int l = 0; l < LANES; l++)
		/* the last lane's index is behind the bank's end */
		R(0)[l] = 8 * l * (l < 31 ? 1 : 100);
	dma_read_lock(w->r->g);
	run(w, in);
	for (unsigned int l = 0; l < LANES; l++) {
		assert_int_equal(R(2)[l], l < 31 ? c[4 + 2 * l] : 0);
		assert_int_equal(R(3)[l], l < 31 ? c[5 + 2 * l] : 0);
	}
	in.type = SM_S8;
	in.dst[0] = reg(2);
	in.offset = 0;
	/* the upper half of the index has the bank's number */
	in.ldc_mode = 2;
	in.bank = 0;
	for (unsigned int l = 0; l < LANES; l++)
		R(0)[l] = 2 << 16 | (600 + l);
	run(w, in);
	for (unsigned int l = 0; l < LANES; l++)
		assert_int_equal(R(2)[l], (uint32_t)(int8_t)((600 + l) / 4));
	in.ldc_mode = 0;
	in.bank = 5;
	assert_int_equal(step(w, &in, 1), STEP_STOP);
	assert_int_equal(w->grid.trap.warp_esr, WARP_INVALID_CONST_ADDR_LDC);
	dma_read_unlock(w->r->g);
}

static void odd_pairs_are_refused(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_DADD);

	in.dst[0] = pair(2);
	in.src[0] = pair(4);
	in.src[1] = pair(7);
	assert_int_equal(step(w, &in, ALL_LANES), STEP_STOP);
	assert_int_equal(w->grid.trap.warp_esr, WARP_MISALIGNED_REG);
}

static void vertex_instructions_have_no_place_here(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_AST);

	assert_int_equal(step(w, &in, ALL_LANES), STEP_STOP);
	assert_int_equal(w->grid.trap.warp_esr, WARP_ILLEGAL_PARAM);
}

#include "ops_numbers.h"
#include "ops_quads.h"
#include "ops_branches.h"
#include "ops_refused.h"
#include "ops_stores.h"

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const char *const isas[] = { "base", "avx2", "avx512" };
	const struct CMUnitTest tests[] = {
		T(sums_and_their_flags),
		T(saturating_sums),
		T(chains_of_words),
		T(predicates_to_registers_and_back),
		T(condition_code_to_a_register_and_back),
		T(predicate_arithmetic),
		T(condition_tests_after_a_subtraction),
		T(comparisons_with_zero_choose),
		T(every_half_there_and_back),
		T(products_scaled_and_zeroed),
		T(loops_with_continue_and_break),
		T(calls_nest_and_exits_are_final),
		T(the_stack_has_an_end),
		T(indexed_branches_group_their_lanes),
		T(constants_by_index),
		T(odd_pairs_are_refused),
		T(vertex_instructions_have_no_place_here),
		T(payloads_pass_through_doubles),
		T(the_first_of_several_payloads_wins),
		T(shifts_of_pairs),
		T(video_results_fit_their_part),
		T(integers_of_what_is_no_number),
		T(flags_of_wide_conversions),
		T(shuffles_from_lanes_that_sleep),
		T(moves_reach_the_named_threads_of_quads),
		T(swizzled_sums),
		T(higher_side_of_a_branch_goes_first),
		T(uniform_branch_is_taken_by_all_or_none),
		T(quads_become_whole_and_are_restored),
		T(leaving_a_whole_quad_goes_on_below),
		T(only_these_are_not_executed),
		T(atomics_that_nobody_describes),
		T(locked_words_have_32_or_64_bits),
		T(shifts_that_are_refused),
		T(barriers_that_are_refused),
		T(wide_constants_are_aligned),
		T(calls_that_count_have_a_limit),
		T(local_addresses_wrap_downwards_only),
		T(windows_are_not_the_texture_units),
		T(clocks_count_single_cycles),
		T(local_words_at_odd_addresses_are_refused),
		T(local_words_of_a_warp_may_lie_on_two_pages),
		T(shared_words_at_odd_places_are_refused),
		T(a_page_is_partly_in_a_window),
		T(the_lowest_lane_that_stores_stays),
	};
	int failed = 0;

	for (unsigned int i = 0; i < 3; i++) {
		if (lane_isa_select(isas[i]))
			failed += cmocka_run_group_tests_name(isas[i], tests, NULL, NULL);
	}
	return failed;
}
