/* SPDX-License-Identifier: GPL-2.0-only */
/* Which side of a divergent branch is executed first. Included by ops_test.c. */
#ifndef KVGPU_SELFTESTS_SM_OPS_BRANCHES_H
#define KVGPU_SELFTESTS_SM_OPS_BRANCHES_H

#define BRANCH_AT 0x1008u

/*
 * Lanes @m branch by @distance bytes. The lanes @first must continue at @at, and a token must hold
 * the others.
 */
static void branch_by(struct world *w, int32_t distance, uint32_t m, uint32_t first, uint32_t at)
{
	struct sm_insn in = insn(SM_BRA);
	const struct token *t = &w->stack[0];
	uint32_t to = BRANCH_AT + SM_INSN_BYTES + (uint32_t)distance,
		 next = BRANCH_AT + SM_INSN_BYTES;

	in.relative = true;
	in.src[0].kind = SM_IMM;
	in.src[0].imm = distance;
	w->w.active = ALL_LANES;
	w->w.pc = BRANCH_AT;
	w->w.depth = 0;
	assert_int_equal(step(w, &in, m), STEP_JUMP);
	assert_int_equal(w->w.pc, at);
	assert_int_equal(w->w.active, first);
	if (first == ALL_LANES) {
		assert_int_equal(w->w.depth, 0);
		return;
	}
	assert_int_equal(w->w.depth, 1);
	assert_int_equal(t->type, TOKEN_DIV);
	assert_int_equal(t->mask, ~first);
	assert_int_equal(t->pc, at == to ? next : to);
}

/* The side with the higher address goes first. Mesa's atomics on shared memory rely on that. */
static void higher_side_of_a_branch_goes_first(void **state)
{
	struct world *w = *state;

	branch_by(w, 0x40, 0x00000001, 0x00000001, BRANCH_AT + SM_INSN_BYTES + 0x40);
	branch_by(w, 0x08, 0xffff0000, 0xffff0000, BRANCH_AT + SM_INSN_BYTES + 0x08);
	branch_by(w, -0x40, 0x0000000f, 0xfffffff0, BRANCH_AT + SM_INSN_BYTES);
	branch_by(w, -0x40, ALL_LANES, ALL_LANES, BRANCH_AT + SM_INSN_BYTES - 0x40);
	branch_by(w, 0x40, ALL_LANES, ALL_LANES, BRANCH_AT + SM_INSN_BYTES + 0x40);
}

/* BRA.U is taken by all active lanes, or by none: these then go on together. */
static void uniform_branch_is_taken_by_all_or_none(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_BRA);

	in.relative = in.uniform = true;
	in.src[0].kind = SM_IMM;
	in.src[0].imm = 0x40;
	w->w.active = 0xffff;
	w->w.pc = BRANCH_AT;
	w->w.depth = 0;
	assert_int_equal(step(w, &in, 0xfffe), STEP_NEXT);
	assert_int_equal(w->w.active, 0xffff);
	assert_int_equal(w->w.depth, 0);
	assert_int_equal(step(w, &in, 0xffff), STEP_JUMP);
	assert_int_equal(w->w.pc, BRANCH_AT + SM_INSN_BYTES + 0x40);
	assert_int_equal(w->w.active, 0xffff);
	assert_int_equal(w->w.depth, 0);
}

#endif
