// SPDX-License-Identifier: GPL-2.0-only
/* The last step of decoding: facts about an instruction that the tables can't express. */
#include "encoding.h"

unsigned int sm_type_bits(enum sm_type type)
{
	switch (type) {
	case SM_U8:
	case SM_S8:
		return 8;
	case SM_U16:
	case SM_S16:
	case SM_F16:
	case SM_U16_H0:
	case SM_S16_H0:
	case SM_U16_H1:
	case SM_S16_H1:
		return 16;
	case SM_U24:
	case SM_S24:
		return 24;
	case SM_U64:
	case SM_S64:
	case SM_F64:
	case SM_B64:
		return 64;
	case SM_B96:
		return 96;
	case SM_B128:
	case SM_U128:
		return 128;
	case SM_U32:
	case SM_S32:
	case SM_F32:
	case SM_B32:
	case SM_F16X2:
	case SM_F32_FTZ:
		break;
	}
	return 32;
}

static unsigned int registers(enum sm_type type)
{
	return (sm_type_bits(type) + 31) / 32;
}

static void set_regs(struct sm_operand *o, unsigned int regs)
{
	if (o->kind == SM_REG)
		o->regs = regs;
}

/* negations of both operands stand for .PO */
static void plus_one(struct sm_insn *in, bool *a, bool *b)
{
	in->po = *a && *b;
	if (in->po)
		*a = *b = false;
}

static bool finish_integer(struct sm_insn *in)
{
	static const uint8_t third[2][4] = {
		{ SM_U32, SM_U24, SM_U16_H0 },
		{ SM_S32, SM_S24, SM_S16_H0 },
	};
	bool is_signed;

	switch (in->op) {
	case SM_IADD32I:
		if (in->src[1].neg && !in->src[0].neg)
			return false;
		plus_one(in, &in->src[0].neg, &in->src[1].neg);
		break;
	case SM_IADD:
	case SM_ISCADD:
		plus_one(in, &in->src[0].neg, &in->src[1].neg);
		break;
	case SM_IMAD:
	case SM_IMAD32I:
		plus_one(in, &in->neg_product, &in->src[2].neg);
		break;
	case SM_IMADSP:
		is_signed = in->stype[0] == SM_S32 || in->stype[0] == SM_S24 ||
			    in->stype[0] == SM_S16_H0 || in->stype[0] == SM_S16_H1 ||
			    in->stype[1] == SM_S24 || in->stype[1] == SM_S16_H0;
		in->sd = in->stype[2] == 3;
		in->stype[2] = third[is_signed][in->stype[2]];
		break;
	}
	return true;
}

static bool finish_float(struct sm_insn *in)
{
	unsigned int i;

	if (in->ftz && in->fmz)
		return false;
	switch (in->op) {
	case SM_DADD:
	case SM_DMUL:
	case SM_DFMA:
	case SM_DMNMX:
		set_regs(&in->dst[0], 2);
		/* fall through */
	case SM_DSET:
	case SM_DSETP:
	case SM_DCHK:
		for (i = 0; i < 4; i++)
			set_regs(&in->src[i], 2);
		break;
	}
	return true;
}

static uint8_t signed_type(uint8_t type, bool is_signed)
{
	return is_signed ? type + (SM_S8 - SM_U8) : type;
}

static void select_part(struct sm_insn *in)
{
	struct sm_operand *o = &in->src[0];

	in->sub = o->sel;
	switch (in->stype[0]) {
	case SM_U8:
	case SM_S8:
		o->sel = SM_SEL_B0 + in->sub;
		break;
	case SM_U16:
	case SM_S16:
		o->sel = in->sub & 2 ? SM_SEL_H1 : SM_SEL_H0;
		break;
	case SM_F16:
		o->sel = in->sub ? SM_SEL_H1 : SM_SEL_H0;
		break;
	default:
		o->sel = SM_SEL_WORD;
		break;
	}
}

static bool finish_conversion(struct sm_insn *in)
{
	if (in->op == SM_F2F && in->type != in->stype[0])
		in->to_int = false;
	if (in->op == SM_F2I)
		in->type = signed_type(in->type, in->stype[1]);
	if (in->op == SM_I2I)
		in->type = signed_type(in->type, in->stype[2]);
	if (in->op == SM_I2F || in->op == SM_I2I)
		in->stype[0] = signed_type(in->stype[0], in->stype[1]);
	in->stype[1] = in->stype[2] = 0;
	select_part(in);
	set_regs(&in->dst[0], registers(in->type));
	set_regs(&in->src[0], registers(in->stype[0]));
	return true;
}

static uint8_t part_type(uint8_t sel, bool is_signed)
{
	switch (sel) {
	case SM_SEL_WORD:
		return is_signed ? SM_S32 : SM_U32;
	case SM_SEL_H0:
	case SM_SEL_H1:
		return is_signed ? SM_S16 : SM_U16;
	default:
		return is_signed ? SM_S8 : SM_U8;
	}
}

static bool finish_scalar_video(struct sm_insn *in)
{
	struct sm_operand *b = &in->src[1];
	unsigned int i;

	for (i = 0; i < 2; i++)
		in->stype[i] = part_type(in->src[i].sel, in->stype[i]);
	if (b->kind == SM_IMM && in->stype[1] == SM_S16)
		b->imm = (int64_t)(int16_t)b->imm;
	if (in->op == SM_VADD)
		plus_one(in, &in->src[0].neg, &in->src[1].neg);
	if (in->op == SM_VMAD)
		plus_one(in, &in->neg_product, &in->src[2].neg);
	if (in->op == SM_VSETP) {
		in->cmp |= in->sub << 2;
		if (in->cmp == SM_CMP_NUM)
			in->cmp = SM_CMP_T;
		in->sub = 0;
	}
	return true;
}

static bool finish_halves(struct sm_insn *in)
{
	struct sm_operand *a = &in->src[0], *b = &in->src[1];
	unsigned int i;

	if (b->kind == SM_REG) {
		a->swizzle = (a->sel & 3) | (a->sel >> 2) << 4;
		b->swizzle = (b->sel & 3) | (b->sel >> 2) << 4;
	} else {
		a->swizzle = (a->sel & 1) | (a->sel >> 1) << 4;
	}
	for (i = 0; i < 2; i++) {
		in->src[i].sel = SM_SEL_WORD;
		in->stype[i] = in->stype[i] ? SM_S16 : SM_U16;
	}
	if (b->kind == SM_IMM && in->stype[1] == SM_S16)
		b->imm = (int64_t)(int16_t)b->imm;
	plus_one(in, &a->neg, &b->neg);
	return true;
}

static bool finish_bytes(struct sm_insn *in)
{
	static const uint16_t lanes_a[16] = {
		0x0000, 0x1111, 0x2222, 0x3333, 0x3210, 0x4321, 0x5432,
		0x6543, 0x3201, 0x3012, 0x0213, 0x3120, 0x1230, 0x2310,
	};
	static const uint16_t lanes_b[16] = {
		0x4444, 0x5555, 0x6666, 0x7777, 0x7654, 0x6543,
		0x5432, 0x4321, 0x4567, 0x6745, 0x5476,
	};
	struct sm_operand *a = &in->src[0], *b = &in->src[1];
	unsigned int i;

	if (a->sel > 13 || (b->kind == SM_REG && b->sel > 10))
		return false;
	a->swizzle = lanes_a[a->sel];
	if (b->kind == SM_REG)
		b->swizzle = lanes_b[b->sel];
	for (i = 0; i < 2; i++) {
		in->src[i].sel = SM_SEL_WORD;
		in->stype[i] = in->stype[i] ? SM_S8 : SM_U8;
	}
	if (b->kind == SM_IMM && in->stype[1] == SM_S8)
		b->imm = (int64_t)(int8_t)b->imm;
	in->lanes |= in->xmode << 2;
	in->xmode = 0;
	plus_one(in, &a->neg, &b->neg);
	return in->lanes != 0;
}

/* ATOM_CAS: which values are in registers, by in->sub. CAS_BOTH: the new one after the expected. */
enum { CAS_BOTH, CAS_EXPECTED, CAS_NEW };

static bool cas_sources(struct sm_insn *in)
{
	unsigned int regs = registers(in->type);

	set_regs(&in->dst[0], regs);
	set_regs(&in->src[1], regs);
	in->src[2] = in->src[1];
	switch (in->sub) {
	case CAS_BOTH:
		if (in->src[1].reg + regs >= SM_RZ)
			return false;
		in->src[2].reg = in->src[1].reg + regs;
		break;
	case CAS_EXPECTED:
		in->src[2].reg = SM_RZ;
		break;
	case CAS_NEW:
		if (in->src[1].reg == SM_RZ)
			return false;
		in->src[1].reg = SM_RZ;
		break;
	}
	in->sub = 0;
	return true;
}

static bool finish_surface_store(struct sm_insn *in)
{
	static const uint8_t access[] = { SM_U8, SM_S8, SM_U16, SM_S16, SM_B32, SM_B64, SM_B128 };

	in->su_packed = in->su_mask != 0;
	set_regs(&in->src[0], 2);
	if (in->su_packed) {
		if (in->type & 3)
			return false;
		in->type = SM_B32;
		set_regs(&in->src[2], __builtin_popcount(in->su_mask));
		return true;
	}
	if (in->type >= sizeof(access))
		return false;
	in->type = access[in->type];
	set_regs(&in->src[2], registers(in->type));
	return true;
}

static bool finish_memory(struct sm_insn *in)
{
	unsigned int regs = registers(in->type);

	if ((in->op == SM_ALD || in->op == SM_AST || in->op == SM_AL2P || in->op == SM_IPA) &&
	    in->src[0].reg == SM_RZ)
		in->offset &= 0x3ff;
	if ((in->op == SM_ALD || in->op == SM_AST) && !in->left && in->src[0].reg != SM_RZ &&
	    in->offset)
		return false;

	if (in->wide_addr)
		set_regs(&in->src[0], 2);
	switch (in->op) {
	case SM_LD:
	case SM_LDG:
	case SM_LDL:
	case SM_LDS:
	case SM_LDC:
	case SM_ALD:
		set_regs(&in->dst[0], regs);
		break;
	case SM_LDSLK:
		set_regs(&in->dst[1], regs);
		break;
	case SM_ST:
	case SM_STL:
	case SM_STS:
	case SM_STSCUL:
	case SM_AST:
		set_regs(&in->src[1], regs);
		break;
	case SM_ATOM:
		if (in->dst[0].reg == SM_RZ && in->sub > SM_ATOM_XOR)
			return false;
		set_regs(&in->dst[0], regs);
		set_regs(&in->src[1], regs);
		break;
	case SM_ATOM_CAS:
		return cas_sources(in);
	case SM_SULDGA:
		set_regs(&in->src[0], 2);
		set_regs(&in->dst[0], regs);
		break;
	case SM_SUSTGA:
		return finish_surface_store(in);
	}
	return true;
}

/* The first four words of a request are in src[0]'s registers, the others in src[1]'s. */
static bool finish_texture(struct sm_insn *in)
{
	static const uint8_t coordinates[] = { 1, 1, 2, 2, 3, 3, 3, 3 };
	const struct sm_tex *t = &in->tex;
	unsigned int words = coordinates[t->dim & 7] + (t->dim & 1);

	if (in->op == SM_TLD4 && t->aoffi && t->ptp)
		return false;
	set_regs(&in->dst[0], __builtin_popcount(t->mask));
	if (in->op == SM_TEX || in->op == SM_TLD || in->op == SM_TLD4 || in->op == SM_TXD) {
		words += t->bindless + t->shadow + 2 * t->ptp + t->multisample +
			 (t->aoffi && (in->op != SM_TXD || !(t->dim & 1)));
		words += t->lod != SM_LOD_AUTO && t->lod != SM_LOD_LZ;
		if (in->op == SM_TXD)
			words += 2 * coordinates[t->dim & 7];
		set_regs(&in->src[0], words > 4 ? 4 : words);
		set_regs(&in->src[1], words > 4 ? words - 4 : 0);
	}
	return true;
}

/* clang-format off */
bool sm_decode_finish(struct sm_insn *in)
{
	switch (in->op) {
	case SM_IADD:
	case SM_IADD32I:
	case SM_ISCADD:
	case SM_IMAD:
	case SM_IMAD32I:
	case SM_IMADSP:
		return finish_integer(in);
	case SM_F2F: case SM_F2I: case SM_I2F: case SM_I2I:
		return finish_conversion(in);
	case SM_VADD:
	case SM_VMNMX:
	case SM_VSET:
	case SM_VABSDIFF:
	case SM_VSHL:
	case SM_VSHR:
	case SM_VMAD:
	case SM_VSETP:
		return finish_scalar_video(in);
	case SM_VADD2: case SM_VMNMX2: case SM_VSET2: case SM_VSEL2: case SM_VABSDIFF2:
		return finish_halves(in);
	case SM_VADD4: case SM_VMNMX4: case SM_VSET4: case SM_VSEL4: case SM_VABSDIFF4:
		return finish_bytes(in);
	case SM_TEX: case SM_TLD: case SM_TLD4: case SM_TXD: case SM_TXQ: case SM_TMML: case SM_TXA:
		return finish_texture(in);
	case SM_LD:
	case SM_LDG:
	case SM_ST:
	case SM_LDL:
	case SM_STL:
	case SM_LDS:
	case SM_STS:
	case SM_LDC:
	case SM_LDSLK:
	case SM_STSCUL:
	case SM_ATOM:
	case SM_ATOM_CAS:
	case SM_CCTL:
	case SM_ALD:
	case SM_AST:
	case SM_AL2P:
	case SM_IPA:
	case SM_SULDGA:
	case SM_SUSTGA:
		return finish_memory(in);
	default:
		return finish_float(in);
	}
}
/* clang-format on */
