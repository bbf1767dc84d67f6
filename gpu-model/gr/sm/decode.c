// SPDX-License-Identifier: GPL-2.0-only
/* A word of code becomes a struct sm_insn, as the tables in encoding_*.c say. */
#include <string.h>

#include "encoding.h"

#define CLASS_IMM   1
#define CLASS_PLAIN 2
#define BIT59	    (1ull << 59)

static int64_t sign_extend(uint64_t value, unsigned int width)
{
	uint64_t sign = 1ull << (width - 1);

	return (int64_t)((value ^ sign) - sign);
}

static void set_reg(struct sm_operand *o, uint64_t reg)
{
	o->kind = SM_REG;
	o->reg = reg;
	o->regs = 1;
}

static void set_const(struct sm_operand *o, uint64_t word)
{
	o->kind = SM_CONST;
	o->offset = sm_bits(word, 23, 14) << 2;
	o->bank = sm_bits(word, 37, 5);
}

static void set_number(struct sm_operand *o, uint64_t value, enum sm_type type)
{
	o->kind = SM_IMM;
	o->imm = value;
	o->imm_type = type;
}

static void set_pred(struct sm_operand *o, uint64_t reg)
{
	o->kind = SM_PRED;
	o->reg = reg;
}

/* False: the field's bits must all be 1 (SM_TO_MUST), and are not. */
static bool put_operand(const struct sm_field *f, uint64_t word, struct sm_insn *in)
{
	unsigned int n = f->to & 0xf;
	uint64_t v = sm_bits(word, f->pos, f->width);

	switch (f->to & ~0xf) {
	case SM_TO_DREG:
		set_reg(&in->dst[n], v);
		break;
	case SM_TO_DPRED:
		set_pred(&in->dst[n], v);
		break;
	case SM_TO_REG:
		set_reg(&in->src[n], v);
		break;
	case SM_TO_PRED:
		set_pred(&in->src[n], v);
		break;
	case SM_TO_UIMM:
		set_number(&in->src[n], v, SM_U32);
		break;
	case SM_TO_SIMM:
		set_number(&in->src[n], sign_extend(v, f->width), SM_S32);
		break;
	case SM_TO_FIMM:
		set_number(&in->src[n], v, SM_F32);
		break;
	case SM_TO_CONST:
		set_const(&in->src[n], word);
		break;
	case SM_TO_KIND:
		in->src[n].kind = f->pos;
		break;
	case SM_TO_DKIND:
		in->dst[n].kind = f->pos;
		break;
	case SM_TO_SOFF:
		in->offset = sign_extend(v, f->width);
		break;
	case SM_TO_SOFF4:
		in->offset = sign_extend(v << 2, f->width + 2);
		break;
	case SM_TO_TEXID:
		in->tex.id = v;
		break;
	case SM_TO_MUST:
		return v == (1ull << f->width) - 1;
	}
	return true;
}

static bool put_fields(const struct sm_field *f, uint64_t word, struct sm_insn *in)
{
	int value;

	for (; f && f->to; f++) {
		if (f->to >= SM_TO_OPERAND) {
			if (!put_operand(f, word, in))
				return false;
			continue;
		}
		value = f->width ? (int)sm_bits(word, f->pos, f->width) : f->pos;
		if (f->map)
			value = f->map[value];
		if (value < 0)
			return false;
		((uint8_t *)in)[f->to] = value;
	}
	return true;
}

/* The immediate of 20 bits: bits 23..41 of the word, and bit 59 as the top bit. */
static void set_short_imm(struct sm_insn *in, struct sm_operand *o, uint64_t word,
			  enum sm_type type)
{
	uint64_t v = sm_bits(word, 23, 19) | (word & BIT59 ? 1 << 19 : 0);

	if (type == SM_F16) {
		type = in->stype[0];
		if (type == SM_F16) {
			set_number(o, sm_bits(word, 23, 16), SM_F16);
			return;
		}
	}
	if (type == SM_F32)
		set_number(o, v << 12, type);
	else if (type == SM_F64)
		set_number(o, v << 44, type);
	else
		set_number(o, sign_extend(v, 20), SM_S32);
}

static unsigned int alu_form(uint64_t word)
{
	static const uint8_t by_source[] = { 0, SM_FORM_CB, SM_FORM_CC, SM_FORM_REG };

	return (word & 3) == CLASS_IMM ? SM_FORM_IMM | SM_FORM_SHIFT : by_source[word >> 62];
}

/* The 8 bits of the opcode. */
static unsigned int alu_code(uint64_t word)
{
	if ((word & 3) == CLASS_IMM)
		return sm_bits(word, 60, 3) << 5 | sm_bits(word, 54, 5);
	return sm_bits(word, 54, 8);
}

static void put_alu_sources(const struct sm_alu_row *row, unsigned int form, uint64_t word,
			    struct sm_insn *in)
{
	struct sm_operand *b = &in->src[row->b], *c = &in->src[row->b + 1];

	if (row->c && form != SM_FORM_CC)
		set_reg(c, sm_bits(word, 42, 8));
	switch (form & row->forms) {
	case SM_FORM_REG:
		set_reg(b, sm_bits(word, 23, 8));
		break;
	case SM_FORM_CB:
		set_const(b, word);
		break;
	case SM_FORM_CC:
		set_reg(b, sm_bits(word, 42, 8));
		set_const(c, word);
		break;
	case SM_FORM_SHIFT:
		set_number(b, sm_bits(word, 23, 6), SM_U32);
		break;
	default:
		set_short_imm(in, b, word, row->imm);
		break;
	}
}

static bool decode_alu(uint64_t word, struct sm_insn *in)
{
	unsigned int form = alu_form(word), code = alu_code(word);
	const struct sm_alu_row *row;

	if ((word & 3) != CLASS_PLAIN && ((word & 3) != CLASS_IMM || !(word >> 63)))
		return false;
	for (row = sm_alu_rows; row->op != SM_ILLEGAL; row++) {
		if ((code & row->mask) != row->code || !(form & row->forms))
			continue;
		in->op = row->op;
		if (!put_fields(row->fields, word, in))
			return false;
		put_alu_sources(row, form, word, in);
		return true;
	}
	return false;
}

static bool decode_row(const struct sm_row *row, uint64_t word, struct sm_insn *in)
{
	for (; row->op != SM_ILLEGAL; row++) {
		if ((word & row->mask) != row->match)
			continue;
		in->op = row->op;
		return put_fields(row->fields, word, in) && put_fields(row->more, word, in);
	}
	return false;
}

static bool decode_tables(uint64_t word, struct sm_insn *in)
{
	static const struct sm_row *const tables[] = {
		sm_memory_rows, sm_other_rows, sm_control_rows, sm_texture_rows, sm_video_rows,
	};
	unsigned int i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (decode_row(tables[i], word, in))
			return true;
		if (in->op != SM_ILLEGAL)
			return false;
	}
	return decode_alu(word, in);
}

static void guard_and_join(uint64_t word, struct sm_insn *in)
{
	in->guard = sm_bits(word, 18, 3);
	in->guard_not = sm_bits(word, 21, 1);
	in->join = sm_bits(word, 22, 1);
}

bool sm_decode(uint64_t word, uint64_t addr, struct sm_insn *in)
{
	memset(in, 0, sizeof(*in));
	in->guard = SM_PT;
	in->cc_test = SM_CC_T;
	in->lanes = 0xf;
	in->type = SM_B32;
	if (addr % (SM_GROUP_WORDS * SM_INSN_BYTES) == 0) {
		in->raw = word;
		in->op = SM_SCHED;
		return true;
	}
	if ((word & 3) == CLASS_IMM || (word & 3) == CLASS_PLAIN)
		guard_and_join(word, in);
	if (!decode_tables(word, in) || !sm_decode_finish(in)) {
		memset(in, 0, sizeof(*in));
		in->guard = SM_PT;
		in->raw = word;
		return false;
	}
	in->raw = word;
	return true;
}
