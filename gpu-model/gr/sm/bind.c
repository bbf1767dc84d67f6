// SPDX-License-Identifier: GPL-2.0-only
/* Binding: find the handler of a decoded instruction and the slots of its operands. */
#include "exec.h"

static enum step illegal_encoding(struct warp *w, const struct uop *u, uint32_t m)
{
	return warp_trap(w, WARP_ILLEGAL_ENCODING);
}

static enum step illegal_param(struct warp *w, const struct uop *u, uint32_t m)
{
	return warp_trap(w, WARP_ILLEGAL_PARAM);
}

static enum step misaligned_constant(struct warp *w, const struct uop *u, uint32_t m)
{
	return warp_trap(w, WARP_MISALIGNED_IMMC_ADDR);
}

static enum step misaligned_reg(struct warp *w, const struct uop *u, uint32_t m)
{
	return warp_trap(w, WARP_MISALIGNED_REG);
}

static enum step nothing(struct warp *w, const struct uop *u, uint32_t m)
{
	return STEP_NEXT;
}

static bool is_texture(unsigned int op)
{
	return op >= SM_TEX && op <= SM_SUEAU;
}

static bool is_graphics(unsigned int op)
{
	return op >= SM_IPA && op <= SM_OUT;
}

/* pairs start at even registers, triples and quads at multiples of four */
static bool misaligned(const struct sm_operand *o)
{
	return o->kind == SM_REG && o->reg != SM_RZ && o->regs > 1 &&
	       o->reg % (o->regs == 2 ? 2 : 4);
}

static void bind_top(struct uop *u, const struct sm_operand *o)
{
	unsigned int top = o->kind == SM_REG && o->reg != SM_RZ ? o->reg + (o->regs ? o->regs : 1) :
								  0;

	if (top > u->top)
		u->top = top;
}

static bool takes_64_bits(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_DADD:
	case SM_DMUL:
	case SM_DFMA:
	case SM_DMNMX:
	case SM_DSET:
	case SM_DSETP:
	case SM_DCHK:
		return true;
	case SM_F2F:
	case SM_F2I:
	case SM_I2F:
	case SM_I2I:
		return sm_type_bits(in->stype[0]) == 64;
	default:
		return false;
	}
}

static bool bind_operands(struct uop *u, const struct sm_insn *in)
{
	bool ok = true;

	for (unsigned int i = 0; i < 2; i++) {
		u->dst[i] = SLOT_DUMP;
		if (in->dst[i].kind == SM_REG && in->dst[i].reg != SM_RZ)
			u->dst[i] = SLOT_REG + in->dst[i].reg;
		bind_top(u, &in->dst[i]);
		ok &= !misaligned(&in->dst[i]);
	}
	for (unsigned int i = 0; i < 4; i++) {
		const struct sm_operand *o = &in->src[i];

		u->src[i] = SLOT_ZERO;
		u->src_kind[i] = SRC_REG;
		if (o->kind == SM_REG && o->reg != SM_RZ)
			u->src[i] = SLOT_REG + o->reg;
		if (o->kind == SM_IMM || o->kind == SM_CONST)
			u->src_kind[i] = SRC_UNIFORM;
		if (o->kind == SM_CONST && in->op != SM_BRX && in->op != SM_JMX) {
			u->constant = true;
			u->wide_constant = takes_64_bits(in);
			u->csrc = i;
		}
		bind_top(u, o);
		ok &= !misaligned(o);
	}
	return ok || is_texture(in->op);
}

static op_fn handler(const struct sm_insn *in)
{
	op_fn (*const tables[])(const struct sm_insn *in) = {
		lane_op, control_op, warpop_op, atom_op, texture_op, surface_op,
	};
	op_fn fn = NULL;

	if (in->op == SM_ILLEGAL || in->op >= SM_OP_COUNT)
		return illegal_encoding;
	if (in->op == SM_SCHED)
		return nothing;
	if (is_graphics(in->op))
		return illegal_param;
	for (unsigned int i = 0; !fn && i < sizeof(tables) / sizeof(tables[0]); i++)
		fn = tables[i](in);
	return fn ? fn : illegal_param;
}

void uop_bind(struct uop *u, const struct sm_insn *in)
{
	*u = (struct uop){
		.in = in, .guard = in->guard & 7, .guard_not = in->guard_not, .join = in->join
	};
	u->run = handler(in);
	u->conditional = in->cc_test != SM_CC_T && in->op != SM_CSET && in->op != SM_CSETP;
	if (in->op == SM_ILLEGAL || in->op == SM_SCHED) {
		u->guard = SM_PT;
		u->guard_not = u->conditional = u->join = false;
		return;
	}
	if (!bind_operands(u, in))
		u->run = misaligned_reg;
	else if (u->wide_constant && in->src[u->csrc].offset % 8)
		u->run = misaligned_constant;
}
