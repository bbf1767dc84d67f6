// SPDX-License-Identifier: GPL-2.0-only
/*
 * The macro expander of Fermi and Kepler: small programs that software uploads and calls with
 * parameters, and that send methods. One expander serves the 3D and the 2D class (open: whether its
 * memories are shared; the model shares them).
 *
 * Instructions (Mesa src/nouveau/mme/mme_fermi.c, envytools envydis/macro.c):
 *   2:0 operation, 6:4 use of the result, 7 exit after the next instruction, 10:8 destination,
 *   13:11 and 16:14 sources, 31:14 immediate, 21:17 ALU operation or bit-field source bit, 26:22
 *   size, 31:27 target bit; branches: 4 condition, 5 no delay slot. Register 0 is zero, register 1
 *   starts with the first parameter. A method word holds the method in 11:0 (words) and its
 *   increment in 17:12.
 *
 * An exit flag on a branch with a delay slot has no effect; an exit flag in its delay slot has none
 * either then. Otherwise an exit flag in a delay slot ends the macro after the instruction at the
 * branch's target (Mesa mme_fermi_sim.c, compared with hardware by its tests).
 *
 * Errors have the names of nouveau's gf100_macro_error. Open: the watchdog's time; the model counts
 * instructions.
 */
#include "gr.h"

#include <linux/bitfield.h>

#define OP_OPERATION		       GENMASK(2, 0)
#define OP_ALU			       0
#define OP_ADDI			       1
#define OP_MERGE		       2
#define OP_BFE_LSL_IMM		       3 /* source bit from a register, target bit immediate */
#define OP_BFE_LSL_REG		       4 /* source bit immediate, target bit from a register */
#define OP_STATE		       5
#define OP_BRANCH		       7
#define OP_ASSIGN		       GENMASK(6, 4)
#define ASSIGN_LOAD		       0
#define ASSIGN_MOVE		       1
#define ASSIGN_MOVE_SET_MTHD	       2
#define ASSIGN_LOAD_EMIT	       3
#define ASSIGN_MOVE_EMIT	       4
#define ASSIGN_LOAD_SET_MTHD	       5
#define ASSIGN_MOVE_SET_MTHD_LOAD_EMIT 6
#define ASSIGN_MOVE_SET_MTHD_EMIT      7
#define OP_BRANCH_NZ		       BIT(4)
#define OP_BRANCH_NOW		       BIT(5)
#define OP_EXIT			       BIT(7)
#define OP_DST			       GENMASK(10, 8)
#define OP_SRC_A		       GENMASK(13, 11)
#define OP_SRC_B		       GENMASK(16, 14)
#define OP_IMM_SHIFT		       14
#define OP_ALU_OP		       GENMASK(21, 17)
#define ALU_ADD			       0
#define ALU_ADDC		       1
#define ALU_SUB			       2
#define ALU_SUBB		       3
#define ALU_XOR			       8
#define ALU_OR			       9
#define ALU_AND			       10
#define ALU_ANDNOT		       11
#define ALU_NAND		       12
#define OP_BF_SRC		       GENMASK(21, 17)
#define OP_BF_SIZE		       GENMASK(26, 22)
#define OP_BF_DST		       GENMASK(31, 27)
#define MTHD_WORD		       GENMASK(11, 0)
#define MTHD_INC		       GENMASK(17, 12)
#define MTHD_ARG		       GENMASK(17, 12)

#define WATCHDOG (1u << 20)

struct mme {
	struct gr_exec *x;
	uint32_t r[8];
	uint32_t pc, next;
	bool carry, in_delay;
	/*
	 * the last instruction was a delayed branch with an exit flag: ignore the exit flag of this
	 * instruction
	 */
	bool no_exit;
	uint32_t mthd, inc;
	uint32_t param; /* index of the next parameter */
	uint32_t trap; /* GR_MME_ESR bits */
	enum eng_ret ret;
};

static uint32_t param_count(struct gr *gr)
{
	uint32_t n = strand_get(gr, STRAND_MME_COUNT);

	return n < MME_MAX_PARAMS ? n : MME_MAX_PARAMS;
}

static uint32_t fetch(struct mme *m)
{
	if (m->param >= param_count(m->x->gr)) {
		m->trap |= GR_MME_ESR_TOO_FEW;
		return 0;
	}
	return strand_get(m->x->gr, STRAND_MME_PARAM + m->param++);
}

static void set_mthd(struct mme *m, uint32_t val)
{
	m->mthd = FIELD_GET(MTHD_WORD, val);
	m->inc = FIELD_GET(MTHD_INC, val);
}

static void emit(struct mme *m, uint32_t val)
{
	struct gr_exec x = *m->x;

	if (m->trap || m->ret != ENG_DONE)
		return;
	x.mthd = m->mthd << 2;
	x.data = val;
	x.last = true;
	x.in_macro = true;
	m->mthd = (m->mthd + m->inc) & (uint32_t)MTHD_WORD;
	m->ret = gr_class_method(&x);
}

static void assign(struct mme *m, uint32_t op, uint32_t result)
{
	uint32_t dst = FIELD_GET(OP_DST, op), val = result;

	switch (FIELD_GET(OP_ASSIGN, op)) {
	case ASSIGN_LOAD:
		val = fetch(m);
		break;
	case ASSIGN_MOVE:
		break;
	case ASSIGN_MOVE_SET_MTHD:
		set_mthd(m, result);
		break;
	case ASSIGN_LOAD_EMIT:
		val = fetch(m);
		emit(m, result);
		break;
	case ASSIGN_MOVE_EMIT:
		emit(m, result);
		break;
	case ASSIGN_LOAD_SET_MTHD:
		val = fetch(m);
		set_mthd(m, result);
		break;
	case ASSIGN_MOVE_SET_MTHD_LOAD_EMIT:
		set_mthd(m, result);
		emit(m, fetch(m));
		break;
	case ASSIGN_MOVE_SET_MTHD_EMIT:
		set_mthd(m, result);
		emit(m, FIELD_GET(MTHD_ARG, result));
		break;
	}
	if (dst)
		m->r[dst] = val;
}

static uint32_t alu(struct mme *m, uint32_t op, uint32_t a, uint32_t b)
{
	uint64_t r;

	switch (FIELD_GET(OP_ALU_OP, op)) {
	case ALU_ADD:
		r = (uint64_t)a + b;
		m->carry = r >> 32;
		return r;
	case ALU_ADDC:
		r = (uint64_t)a + b + m->carry;
		m->carry = r >> 32;
		return r;
	case ALU_SUB:
		m->carry = a >= b;
		return a - b;
	case ALU_SUBB:
		r = (uint64_t)a - b - !m->carry;
		m->carry = !(r >> 32);
		return r;
	case ALU_XOR:
		return a ^ b;
	case ALU_OR:
		return a | b;
	case ALU_AND:
		return a & b;
	case ALU_ANDNOT:
		return a & ~b;
	case ALU_NAND:
		return ~(a & b);
	default:
		m->trap |= GR_MME_ESR_ILLEGAL_OPCODE;
		return 0;
	}
}

static uint32_t shift_right(uint32_t v, uint32_t n)
{
	return n < 32 ? v >> n : 0;
}

static uint32_t shift_left(uint32_t v, uint32_t n)
{
	return n < 32 ? v << n : 0;
}

static uint32_t bitfield(uint32_t op, uint32_t a, uint32_t b)
{
	uint32_t mask = (1u << FIELD_GET(OP_BF_SIZE, op)) - 1;
	uint32_t src = FIELD_GET(OP_BF_SRC, op), dst = FIELD_GET(OP_BF_DST, op);

	switch (FIELD_GET(OP_OPERATION, op)) {
	case OP_MERGE:
		return (a & ~(mask << dst)) | ((b >> src & mask) << dst);
	case OP_BFE_LSL_IMM:
		return (shift_right(b, a) & mask) << dst;
	default:
		return shift_left(b >> src & mask, a);
	}
}

static void branch(struct mme *m, uint32_t at, uint32_t op, uint32_t a, int32_t imm)
{
	bool taken = (op & OP_BRANCH_NZ) ? a != 0 : a == 0;

	if (!taken)
		return;
	if (m->in_delay) {
		m->trap |= GR_MME_ESR_DOUBLE_BRANCH;
		return;
	}
	m->next = at + imm;
	if (op & OP_BRANCH_NOW)
		m->pc = m->next++;
	else
		m->in_delay = true;
}

static void execute(struct mme *m, uint32_t at, uint32_t op)
{
	uint32_t a = m->r[FIELD_GET(OP_SRC_A, op)], b = m->r[FIELD_GET(OP_SRC_B, op)];
	int32_t imm = (int32_t)op >> OP_IMM_SHIFT;

	switch (FIELD_GET(OP_OPERATION, op)) {
	case OP_ALU:
		assign(m, op, alu(m, op, a, b));
		break;
	case OP_ADDI:
		assign(m, op, a + imm);
		break;
	case OP_MERGE:
	case OP_BFE_LSL_IMM:
	case OP_BFE_LSL_REG:
		assign(m, op, bitfield(op, a, b));
		break;
	case OP_STATE:
		assign(m, op,
		       state_get(m->x->gr, m->x->cls, ((a + imm) & (uint32_t)MTHD_WORD) << 2));
		break;
	case OP_BRANCH:
		branch(m, at, op, a, imm);
		break;
	default:
		m->trap |= GR_MME_ESR_ILLEGAL_OPCODE;
		break;
	}
}

static bool delayed_branch(uint32_t op)
{
	return FIELD_GET(OP_OPERATION, op) == OP_BRANCH && !(op & OP_BRANCH_NOW);
}

static enum eng_ret run(struct gr_exec *x, uint32_t macro)
{
	struct mme m = { .x = x, .ret = ENG_DONE };
	uint32_t at = 0, op = 0, steps = 0, exit_in = 0;

	m.pc = strand_get(x->gr, STRAND_MME_START + macro % MME_START_WORDS);
	m.next = m.pc + 1;
	m.r[1] = fetch(&m);
	while (!m.trap && m.ret == ENG_DONE) {
		bool delay = m.in_delay;

		if (++steps > WATCHDOG) {
			m.trap |= GR_MME_ESR_WATCHDOG;
			break;
		}
		at = m.pc % MME_CODE_WORDS;
		op = strand_get(x->gr, STRAND_MME_CODE + at);
		m.pc = m.next;
		m.next = m.pc + 1;
		execute(&m, at, op);
		if (delay)
			m.in_delay = false;
		if ((op & OP_EXIT) && !exit_in && !m.no_exit && !delayed_branch(op))
			exit_in = 2;
		m.no_exit = (op & OP_EXIT) && delayed_branch(op);
		if (exit_in && --exit_in == 0)
			break;
	}
	if (!m.trap && m.ret == ENG_DONE && m.param < param_count(x->gr))
		m.trap |= GR_MME_ESR_TOO_MANY;
	return m.trap ? trap_macro(x, m.trap, at, op) : m.ret;
}

static enum eng_ret call(struct gr_exec *x)
{
	uint32_t macro = (x->mthd - M_CALL_MME_MACRO) / 8, n = param_count(x->gr);
	enum eng_ret ret;

	if (x->in_macro)
		return trap_illegal_method(x);
	if (!(x->mthd & 4)) {
		n = 0;
		strand_set(x->gr, STRAND_MME_MACRO, macro + 1);
		strand_set(x->gr, STRAND_MME_CLASS, x->cls);
	} else if (strand_get(x->gr, STRAND_MME_MACRO) != macro + 1 ||
		   strand_get(x->gr, STRAND_MME_CLASS) != x->cls) {
		return trap_macro(x, GR_MME_ESR_TOO_MANY, 0, 0);
	}
	if (n == MME_MAX_PARAMS) {
		strand_set(x->gr, STRAND_MME_MACRO, 0);
		return trap_macro(x, GR_MME_ESR_TOO_MANY, 0, 0);
	}
	strand_set(x->gr, STRAND_MME_PARAM + n, x->data);
	strand_set(x->gr, STRAND_MME_COUNT, n + 1);
	if (!x->last)
		return ENG_DONE;
	ret = run(x, macro);
	if (ret == ENG_AGAIN)
		/* this parameter will be sent again, and the macro run from its start */
		strand_set(x->gr, STRAND_MME_COUNT, n);
	else
		strand_set(x->gr, STRAND_MME_MACRO, 0);
	return ret;
}

static enum eng_ret load_insn(struct gr_exec *x)
{
	uint32_t at = state_get(x->gr, x->cls, M_LOAD_MME_INSN_POINTER);

	strand_set(x->gr, STRAND_MME_CODE + at % MME_CODE_WORDS, x->data);
	state_set(x->gr, x->cls, M_LOAD_MME_INSN_POINTER, at + 1);
	return ENG_DONE;
}

static enum eng_ret load_start(struct gr_exec *x)
{
	uint32_t at = state_get(x->gr, x->cls, M_LOAD_MME_START_POINTER);

	strand_set(x->gr, STRAND_MME_START + at % MME_START_WORDS, x->data);
	state_set(x->gr, x->cls, M_LOAD_MME_START_POINTER, at + 1);
	return ENG_DONE;
}

static const struct gr_action table[] = {
	{ M_LOAD_MME_INSN, M_LOAD_MME_INSN, 4, load_insn },
	{ M_LOAD_MME_START, M_LOAD_MME_START, 4, load_start },
	{ M_CALL_MME_MACRO, M_CALL_MME_END - 4, 4, call },
};
const struct gr_actions gr_actions_mme = { table, sizeof(table) / sizeof(table[0]) };
