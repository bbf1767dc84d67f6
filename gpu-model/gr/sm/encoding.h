/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KVGPU_MODEL_GR_SM_ENCODING_H
#define KVGPU_MODEL_GR_SM_ENCODING_H
/*
 * How the decoder's tables describe an encoding: which words have it, and where in struct sm_insn
 * each of its bits goes.
 *
 * A word's two lowest bits are its class.
 */
#include <linux/types.h>

#include "insn.h"

/*
 * where a field goes: the offset of a byte of struct sm_insn, or one of these with the operand's
 * number in the low bits
 */
enum sm_to {
	SM_TO_OPERAND = 0x8000,
	SM_TO_DREG = 0x8000, /* dst[n] = register */
	SM_TO_DPRED = 0x8010, /* dst[n] = predicate */
	SM_TO_REG = 0x8020, /* src[n] = register */
	SM_TO_PRED = 0x8030, /* src[n] = predicate */
	SM_TO_UIMM = 0x8040, /* src[n] = unsigned number */
	SM_TO_SIMM = 0x8050, /* src[n] = signed number */
	SM_TO_FIMM = 0x8060, /* src[n] = bits of a single */
	SM_TO_CONST = 0x8070, /* src[n] = constant; its bits are at fixed places */
	SM_TO_KIND = 0x8080, /* src[n].kind = pos */
	SM_TO_SOFF = 0x8090, /* offset, signed */
	SM_TO_SOFF4 = 0x80b0, /* offset, signed, in units of 4 */
	SM_TO_TEXID = 0x80c0, /* tex.id */
	SM_TO_MUST = 0x80d0, /* the bits must be all ones */
	SM_TO_DKIND = 0x80e0, /* dst[n].kind = pos */
};

struct sm_field {
	uint16_t to;
	uint8_t pos, width; /* width 0: the value is pos itself */
	/* what each value becomes; negative: illegal; NULL: itself */
	const int8_t *map;
};

#define SM_F(member, pos, width)                                   \
	{                                                          \
		offsetof(struct sm_insn, member), pos, width, NULL \
	}
#define SM_M(member, pos, width, map)                             \
	{                                                         \
		offsetof(struct sm_insn, member), pos, width, map \
	}
/* set a member to a constant */
#define SM_S(member, value)                                      \
	{                                                        \
		offsetof(struct sm_insn, member), value, 0, NULL \
	}
#define SM_OPND(to, n, pos, width)           \
	{                                    \
		(to) | (n), pos, width, NULL \
	}
#define SM_END                \
	{                     \
		0, 0, 0, NULL \
	}

/* the forms of the sources b and c */
#define SM_FORM_REG   1 /* b: register at bit 23, c: register at bit 42 */
#define SM_FORM_CB    2 /* b: constant, c: register at bit 42 */
#define SM_FORM_CC    4 /* b: register at bit 42, c: constant */
#define SM_FORM_IMM   8 /* b: immediate of 20 bits, c: register at bit 42 */
#define SM_FORM_SHIFT 16 /* b: immediate of 6 bits, c: register at bit 42 */
#define SM_FORMS_2    (SM_FORM_REG | SM_FORM_CB | SM_FORM_IMM)
#define SM_FORMS_3    (SM_FORMS_2 | SM_FORM_CC)

struct sm_alu_row {
	uint8_t code, mask; /* of the opcode's 8 bits those in mask must be as in code */
	uint8_t forms;
	uint8_t b; /* the source that is b; c is the next one */
	bool c; /* there is a c */
	uint8_t imm; /* type of an immediate; SM_F16: as the source's type says */
	uint16_t op;
	const struct sm_field *fields;
};

/* any other instruction */
struct sm_row {
	uint64_t match, mask;
	uint16_t op;
	const struct sm_field *fields;
	/* further fields, or NULL */
	const struct sm_field *more;
};

/* each table ends with a row whose op is SM_ILLEGAL */
extern const struct sm_alu_row sm_alu_rows[];
extern const struct sm_row sm_control_rows[];
extern const struct sm_row sm_memory_rows[];
extern const struct sm_row sm_texture_rows[];
extern const struct sm_row sm_video_rows[];
extern const struct sm_row sm_other_rows[];

/* Add to a decoded instruction what a row can't say, and check it. False: illegal. */
bool sm_decode_finish(struct sm_insn *insn);

static inline uint64_t sm_bits(uint64_t word, unsigned int pos, unsigned int width)
{
	return width >= 64 ? word >> pos : word >> pos & ((1ull << width) - 1);
}

#endif
