// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control flow of a warp whose lanes may go different ways.
 *
 * A warp has one PC, the mask of lanes that follow it, and a stack of tokens. SSY, PBK, PCNT,
 * CAL/PRET and PLONGJMP push a token with the lanes that are active and an address; a branch that
 * only some lanes take pushes a token (DIV) for those that have to wait. A lane leaves with .S,
 * BRK, CONT, RET, LONGJMP, EXIT or KIL. Lanes that left with BRK wait for a PBK token, lanes that
 * left with CONT for a PCNT token, and so on: each of these sets is a mask in struct warp. When no
 * lane is left active the topmost token is popped: its lanes go on at its address, except for lanes
 * that left for a token further down the stack.
 *
 * SAM makes whole quads active, for derivatives. Until RAM takes the old mask back from the stack,
 * lanes that left, and lanes without a thread, execute along with their quad.
 *
 * Sources: envytools docs/hw/graph/tesla/cuda/control.rst (the stack and its tokens), mesa's
 * nv50_ir (how code uses them), and what ptxas emits.
 *
 * Of the two sides of a divergent branch the side at the higher address runs first. For a branch
 * forward this is known from mesa (NVC0LoweringPass::handleSharedATOMNVE4): lanes that hold a lock
 * branch forward, over the branch back of lanes that try again to get it. For a branch back it is
 * the model's choice: the loop needs one token, however often lanes leave it.
 *
 * A lane that returns where nothing was called ends. Kernels of cuBLAS 11.8 end in such a RET
 * (sgemm_sm35_ldg_nn_64x16x64x16x16).
 *
 * Open, the model chooses: a token takes 8 bytes of the call stack that the QMD gives a warp, and
 * 16 more tokens fit; the error that a stack that is too deep raises; that API calls are counted in
 * CAL tokens; that lanes which SAM made active are dropped when all other lanes leave before RAM.
 */
#include "exec.h"

/* envytools docs/hw/graph/tesla/cuda/isa.rst names the tests. */
uint32_t cc_lanes(const struct warp *w, unsigned int test)
{
	uint32_t z = w->z, s = w->s, c = w->c, o = w->o;

	switch (test) {
	case SM_CC_F:
		return 0;
	case SM_CC_LT:
		return (s & ~z) ^ o;
	case SM_CC_EQ:
		return z & ~s;
	case SM_CC_LE:
		return s ^ (z | o);
	case SM_CC_GT:
		return ~s ^ (z | o);
	case SM_CC_NE:
		return ~z;
	case SM_CC_GE:
		return ~(s ^ o);
	case SM_CC_NUM:
		return ~(z & s);
	case SM_CC_NAN:
		return z & s;
	case SM_CC_LTU:
		return s ^ o;
	case SM_CC_EQU:
		return z;
	case SM_CC_LEU:
		return z | (s ^ o);
	case SM_CC_GTU:
		return ~z & ~(s ^ o);
	case SM_CC_NEU:
		return ~z | s;
	case SM_CC_GEU:
		return (~s | z) ^ o;
	case SM_CC_OFF:
		return ~o;
	case SM_CC_LO:
		return ~c;
	case SM_CC_SFF:
		return ~s;
	case SM_CC_LS:
		return z | ~c;
	case SM_CC_HI:
		return ~z & c;
	case SM_CC_SFT:
		return s;
	case SM_CC_HS:
		return c;
	case SM_CC_OFT:
		return o;
	case SM_CC_RLE:
		return s | z;
	case SM_CC_RGT:
		return ~s & ~z;
	/* T, and the clip tests of graphics, which always hold */
	default:
		return ALL_LANES;
	}
}

#define API_CALLS 32u

static bool push(struct warp *w, enum token_type type, uint32_t mask, uint32_t pc)
{
	if (w->depth >= w->stack_size)
		return false;
	w->stack[w->depth++] = (struct token){ .mask = mask, .pc = pc, .type = type };
	return true;
}

enum step stack_pop(struct warp *w)
{
	while (w->depth) {
		const struct token *k = &w->stack[--w->depth];
		uint32_t gone;

		switch (k->type) {
		case TOKEN_PBK:
			w->brk &= ~k->mask;
			break;
		case TOKEN_PCNT:
			w->cont &= ~k->mask;
			break;
		case TOKEN_CALL:
			w->calls--;
			/* fall through */
		case TOKEN_RET:
			w->ret &= ~k->mask;
			break;
		case TOKEN_QUAD:
			continue;
		case TOKEN_LONGJMP:
			w->jmp &= ~k->mask;
			break;
		}
		gone = w->exited | w->brk | w->cont | w->ret | w->jmp;
		if (k->mask & ~gone) {
			w->active = k->mask & ~gone;
			w->pc = k->pc;
			return STEP_JUMP;
		}
	}
	return w->live & ~w->exited & ~w->ret ? warp_trap(w, WARP_STACK_ERROR) : STEP_END;
}

static uint32_t target(const struct warp *w, const struct uop *u)
{
	const struct sm_insn *in = u->in;

	if (u->constant)
		return (uint32_t)w->uniform;
	return (in->relative ? w->pc + SM_INSN_BYTES : 0) + (uint32_t)in->src[0].imm;
}

/* Active lanes @m go to @to, the other active lanes to the next instruction. */
static enum step branch(struct warp *w, uint32_t m, uint32_t to)
{
	uint32_t stay = w->active & ~m, next = w->pc + SM_INSN_BYTES;
	bool forward = to > w->pc;

	if (to % SM_INSN_BYTES)
		return warp_trap(w, WARP_MISALIGNED_PC);
	if (stay && !(forward ? push(w, TOKEN_DIV, stay, next) : push(w, TOKEN_DIV, m, to)))
		return warp_trap(w, WARP_STACK_ERROR);
	if (stay && !forward) {
		w->active = stay;
		w->pc = next;
	} else {
		w->active = m;
		w->pc = to;
	}
	return STEP_JUMP;
}

/*
 * With .U the lanes branch only if all active ones do (envytools' gf100.c: "allwarp"). nvcc sets it
 * where what follows is guarded for those that would leave, and shall be passed over where it can.
 */
static enum step op_bra(struct warp *w, const struct uop *u, uint32_t m)
{
	if (u->in->uniform && m != w->active)
		return STEP_NEXT;
	return branch(w, m, target(w, u));
}

static bool indexed_target(struct warp *w, const struct uop *u, unsigned int lane, uint32_t *to)
{
	const struct sm_insn *in = u->in;
	const struct sm_operand *o = &in->src[0];

	if (o->kind == SM_CONST)
		return const_read(w, o->bank, in->offset + w->r[u->src[1]][lane], to, 4,
				  WARP_INVALID_CONST_ADDR);
	*to = (in->relative ? w->pc + SM_INSN_BYTES : 0) + in->offset + w->r[u->src[0]][lane];
	return true;
}

static enum step op_indexed(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t to, same = 0, stay = w->active & ~m, other;

	if (!indexed_target(w, u, __builtin_ctz(m), &to))
		return STEP_STOP;
	for (unsigned int l = 0; l < LANES; l++) {
		if (!(m >> l & 1))
			continue;
		if (!indexed_target(w, u, l, &other))
			return STEP_STOP;
		same |= (uint32_t)(other == to) << l;
	}
	if (m & ~same) {
		if (stay && !push(w, TOKEN_DIV, stay, w->pc + SM_INSN_BYTES))
			return warp_trap(w, WARP_STACK_ERROR);
		if (!push(w, TOKEN_DIV, m & ~same, w->pc))
			return warp_trap(w, WARP_STACK_ERROR);
		w->active = same;
	}
	return branch(w, same, to);
}

/*
 * Where the QMD's API_VISIBLE_CALL_LIMIT is 0, calls nest at most API_CALLS deep. Calls with .NOINC
 * do not count.
 */
static enum step push_call(struct warp *w, const struct uop *u, uint32_t mask, uint32_t pc)
{
	bool counts = !u->in->noinc;

	if (counts && !w->t->run->q->api_visible_call_limit && w->calls == API_CALLS)
		return warp_trap(w, WARP_API_STACK_ERROR);
	if (!push(w, counts ? TOKEN_CALL : TOKEN_RET, mask, pc))
		return warp_trap(w, WARP_STACK_ERROR);
	w->calls += counts;
	return STEP_NEXT;
}

static enum step op_call(struct warp *w, const struct uop *u, uint32_t m)
{
	uint32_t to = target(w, u);

	if (push_call(w, u, w->active, w->pc + SM_INSN_BYTES) != STEP_NEXT)
		return STEP_STOP;
	if (to % SM_INSN_BYTES)
		return warp_trap(w, WARP_MISALIGNED_PC);
	w->active = m;
	w->pc = to;
	return STEP_JUMP;
}

static enum step op_push(struct warp *w, const struct uop *u, uint32_t m)
{
	enum token_type type;

	switch (u->in->op) {
	case SM_SSY:
		type = TOKEN_SSY;
		break;
	case SM_PBK:
		type = TOKEN_PBK;
		break;
	case SM_PCNT:
		type = TOKEN_PCNT;
		break;
	case SM_PRET:
		return push_call(w, u, m, target(w, u));
	default:
		type = TOKEN_LONGJMP;
		break;
	}
	if (!push(w, type, m, target(w, u)))
		return warp_trap(w, WARP_STACK_ERROR);
	return STEP_NEXT;
}

static enum step leave(struct warp *w, uint32_t *where, uint32_t m)
{
	*where |= m;
	w->active &= ~m;
	return w->active ? STEP_NEXT : stack_pop(w);
}

static enum step op_leave(struct warp *w, const struct uop *u, uint32_t m)
{
	switch (u->in->op) {
	case SM_BRK:
		return leave(w, &w->brk, m);
	case SM_CONT:
		return leave(w, &w->cont, m);
	case SM_RET:
		return leave(w, &w->ret, m);
	case SM_LONGJMP:
		return leave(w, &w->jmp, m);
	default:
		return leave(w, &w->exited, m); /* EXIT, KIL */
	}
}

static uint32_t whole_quads(uint32_t mask)
{
	mask |= mask >> 1;
	mask |= mask >> 2;
	return (mask & quad_lanes(1)) * 0xf;
}

static enum step op_sam(struct warp *w, const struct uop *u, uint32_t m)
{
	if (!push(w, TOKEN_QUAD, w->active, w->pc))
		return warp_trap(w, WARP_STACK_ERROR);
	w->active = whole_quads(w->active);
	return STEP_NEXT;
}

static enum step op_ram(struct warp *w, const struct uop *u, uint32_t m)
{
	if (!w->depth || w->stack[w->depth - 1].type != TOKEN_QUAD)
		return warp_trap(w, WARP_STACK_ERROR);
	w->active = w->stack[--w->depth].mask;
	return STEP_NEXT;
}

static enum step op_nop(struct warp *w, const struct uop *u, uint32_t m)
{
	return STEP_NEXT;
}

static enum step op_bpt(struct warp *w, const struct uop *u, uint32_t m)
{
	switch (u->in->sub) {
	case SM_BPT_PAUSE:
	case SM_BPT_CAL:
		return warp_trap_global(w, GLOBAL_BPT_PAUSE);
	case SM_BPT_DRAIN:
		return STEP_NEXT;
	case SM_BPT_DRAIN_ILLEGAL:
		return warp_trap(w, WARP_ILLEGAL_ENCODING);
	default:
		return warp_trap_global(w, GLOBAL_BPT_INT);
	}
}

op_fn control_op(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_BRA:
	case SM_JMP:
		return op_bra;
	case SM_BRX:
	case SM_JMX:
		return op_indexed;
	case SM_CAL:
	case SM_JCAL:
		return op_call;
	case SM_SSY:
	case SM_PBK:
	case SM_PCNT:
	case SM_PRET:
	case SM_PLONGJMP:
		return op_push;
	case SM_BRK:
	case SM_CONT:
	case SM_RET:
	case SM_LONGJMP:
	case SM_EXIT:
	case SM_KIL:
		return op_leave;
	case SM_SAM:
		return op_sam;
	case SM_RAM:
		return op_ram;
	case SM_NOP:
	case SM_IDE: /* nothing interrupts a warp */
		return op_nop;
	case SM_BPT:
		return op_bpt;
	default:
		return NULL;
	}
}
