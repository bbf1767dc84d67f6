// SPDX-License-Identifier: GPL-2.0-only
/*
 * Video: byte and half-word arithmetic. Source: nvdisasm's text for each bit; envytools
 * envydis/gk110.c for VSHL and VSHR.
 */
#include "encoding.h"

static const int8_t select[] = {
	SM_SEL_B0, SM_SEL_B1, SM_SEL_B2, SM_SEL_B3, SM_SEL_H0, SM_SEL_H1, SM_SEL_WORD, -1,
};
static const int8_t icmp[] = {
	SM_CMP_F, SM_CMP_LT, SM_CMP_EQ, SM_CMP_LE, SM_CMP_GT, SM_CMP_NE, SM_CMP_GE, SM_CMP_T,
};
static const int8_t boolean[] = { SM_AND, SM_OR, SM_XOR, -1 };
static const int8_t us32[] = { SM_U32, SM_S32 };
static const int8_t packed_final[] = { SM_V_PLAIN, SM_V_ACC, -1, -1 };
static const int8_t vmad_scale[] = { 0, 1, 2, -1 };
static const int8_t xy[] = { -1, 1, 2, 3 };

#define DST		  SM_OPND(SM_TO_DREG, 0, 2, 8)
#define A		  SM_OPND(SM_TO_REG, 0, 10, 8)
#define C		  SM_OPND(SM_TO_REG, 2, 42, 8)
#define PRED2		  SM_OPND(SM_TO_PRED, 2, 42, 3), SM_F(src[2].inv, 45, 1)
#define CC		  SM_F(set_cc, 50, 1)
#define FIELDS(name, ...) static const struct sm_field name[] = { __VA_ARGS__, SM_END }

/* stype[] holds 1 for a signed operand until sm_decode_finish() knows the size. */
#define SCALAR_A A, SM_M(src[0].sel, 39, 3, select), SM_F(stype[0], 51, 1)
#define SCALAR	 DST, SCALAR_A, SM_F(stype[1], 52, 1), C, CC, SM_F(vfinal, 54, 3)
FIELDS(scalar_reg, SM_OPND(SM_TO_REG, 1, 23, 8), SM_M(src[1].sel, 31, 3, select));
FIELDS(scalar_imm, SM_OPND(SM_TO_UIMM, 1, 23, 16), SM_S(src[1].sel, SM_SEL_H0));

FIELDS(vadd, SCALAR, SM_M(type, 57, 1, us32), SM_F(sat, 58, 1), SM_F(src[1].neg, 59, 1),
       SM_F(src[0].neg, 60, 1));
FIELDS(vmnmx, SCALAR, SM_M(type, 57, 1, us32), SM_F(sat, 58, 1), SM_F(max, 59, 1));
FIELDS(vset, SCALAR, SM_M(cmp, 57, 3, icmp));
FIELDS(vabsdiff, SCALAR, SM_M(type, 57, 1, us32), SM_F(sat, 58, 1));
FIELDS(vshift, DST, SCALAR_A, SM_F(wrap, 52, 1), C, CC, SM_F(vfinal, 54, 3),
       SM_M(type, 57, 1, us32), SM_F(sat, 58, 1));
FIELDS(vmad, DST, SCALAR_A, SM_F(stype[1], 52, 1), C, CC, SM_M(scale, 54, 2, vmad_scale),
       SM_F(src[2].neg, 56, 1), SM_F(neg_product, 57, 1), SM_F(sat, 58, 1));
FIELDS(vsetp, SM_OPND(SM_TO_DPRED, 0, 5, 3), SM_OPND(SM_TO_DPRED, 1, 2, 3), SCALAR_A,
       SM_F(stype[1], 52, 1), PRED2, SM_F(cmp, 46, 2), SM_F(sub, 50, 1), SM_M(bop, 48, 2, boolean));

#define HALVES A, CC
FIELDS(halves_reg, SM_OPND(SM_TO_REG, 1, 23, 8), SM_F(src[0].sel, 37, 4), SM_F(src[1].sel, 33, 4));
FIELDS(halves_imm, SM_OPND(SM_TO_UIMM, 1, 23, 16), SM_F(src[0].sel, 39, 2));

#define HALVES_ADD                                                                            \
	DST, HALVES, C, SM_F(stype[0], 51, 1), SM_F(stype[1], 52, 1), SM_M(lanes, 54, 2, xy), \
		SM_M(vfinal, 56, 2, packed_final), SM_F(sat, 58, 1)
FIELDS(vadd2, HALVES_ADD, SM_M(type, 41, 1, us32), SM_F(src[1].neg, 59, 1),
       SM_F(src[0].neg, 60, 1));
FIELDS(vmnmx2, HALVES_ADD, SM_M(type, 41, 1, us32), SM_F(max, 59, 1));
FIELDS(vabsdiff2, HALVES_ADD, SM_M(type, 41, 1, us32));
FIELDS(vset2, DST, HALVES, C, SM_F(stype[0], 41, 1), SM_M(vfinal, 51, 2, packed_final),
       SM_M(lanes, 54, 2, xy), SM_F(stype[1], 56, 1), SM_M(cmp, 57, 3, icmp));
FIELDS(vsel2, DST, HALVES, PRED2, SM_M(type, 41, 1, us32), SM_M(lanes, 46, 2, xy),
       SM_M(vfinal, 48, 2, packed_final), SM_F(stype[0], 51, 1), SM_F(stype[1], 52, 1),
       SM_F(sat, 54, 1));

/* Packed bytes: xmode holds the upper two bits of lanes until sm_decode_finish(). */
#define BYTES DST, A, CC, SM_F(src[0].sel, 35, 4), SM_F(xmode, 39, 2)
#define BYTES_ADD                                                                 \
	BYTES, C, SM_F(stype[0], 51, 1), SM_F(stype[1], 52, 1), SM_F(sat, 53, 1), \
		SM_F(lanes, 54, 2), SM_M(vfinal, 56, 2, packed_final)
FIELDS(bytes_reg, SM_OPND(SM_TO_REG, 1, 23, 8), SM_F(src[1].sel, 31, 4));
FIELDS(bytes_imm, SM_OPND(SM_TO_UIMM, 1, 23, 8));
FIELDS(vadd4, BYTES_ADD, SM_M(type, 41, 1, us32), SM_F(src[1].neg, 58, 1), SM_F(src[0].neg, 59, 1));
FIELDS(vmnmx4, BYTES_ADD, SM_M(type, 41, 1, us32), SM_F(max, 58, 1));
FIELDS(vabsdiff4, BYTES_ADD, SM_M(type, 41, 1, us32));
FIELDS(vset4, BYTES, C, SM_F(stype[0], 41, 1), SM_M(cmp, 51, 3, icmp), SM_F(lanes, 54, 2),
       SM_M(vfinal, 56, 2, packed_final), SM_F(stype[1], 58, 1));
FIELDS(vsel4, BYTES, PRED2, SM_M(type, 41, 1, us32), SM_F(lanes, 46, 2),
       SM_M(vfinal, 48, 2, packed_final), SM_F(stype[0], 51, 1), SM_F(stype[1], 52, 1),
       SM_F(sat, 53, 1));

#define TOP(top10, class) ((uint64_t)(top10) << 54 | (class))
#define BIT53		  (1ull << 53)
#define SCALAR_ROWS(match, mask, op, fields)                         \
	{ (match) | BIT53, (mask) | BIT53, op, fields, scalar_reg }, \
	{                                                            \
		match, (mask) | BIT53, op, fields, scalar_imm        \
	}
#define HALVES_ROWS(match, mask, op, fields)                         \
	{ (match) | BIT53, (mask) | BIT53, op, fields, halves_reg }, \
	{                                                            \
		match, (mask) | BIT53, op, fields, halves_imm        \
	}
#define IMM4 (0xfull << 31)
#define BYTES_ROWS(match, mask, op, fields)                       \
	{ (match) | IMM4, (mask) | IMM4, op, fields, bytes_imm }, \
	{                                                         \
		match, mask, op, fields, bytes_reg                \
	}

const struct sm_row sm_video_rows[] = {
	SCALAR_ROWS(TOP(0x000, 1), TOP(0x380, 3), SM_VADD, vadd),
	HALVES_ROWS(TOP(0x080, 1), TOP(0x380, 3), SM_VADD2, vadd2),
	BYTES_ROWS(TOP(0x340, 1), TOP(0x3c0, 3), SM_VADD4, vadd4),
	SCALAR_ROWS(TOP(0x380, 1), TOP(0x3c0, 3), SM_VMNMX, vmnmx),
	HALVES_ROWS(TOP(0x3c0, 1), TOP(0x3c0, 3), SM_VMNMX2, vmnmx2),
	SCALAR_ROWS(TOP(0x000, 2), TOP(0x3c0, 3), SM_VSET, vset),
	HALVES_ROWS(TOP(0x040, 2), TOP(0x3c0, 3), SM_VSET2, vset2),
	HALVES_ROWS(TOP(0x1e4, 2), TOP(0x3fe, 3), SM_VSEL2, vsel2),
	BYTES_ROWS(TOP(0x200, 2), TOP(0x3f0, 3), SM_VABSDIFF4, vabsdiff4),
	BYTES_ROWS(TOP(0x21d, 2), TOP(0x3ff, 3), SM_VSEL4, vsel4),
	SCALAR_ROWS(TOP(0x21e, 2), TOP(0x3ff, 3), SM_VSETP, vsetp),
	SCALAR_ROWS(TOP(0x280, 2), TOP(0x3e0, 3), SM_VABSDIFF, vabsdiff),
	HALVES_ROWS(TOP(0x2a0, 2), TOP(0x3e0, 3), SM_VABSDIFF2, vabsdiff2),
	SCALAR_ROWS(TOP(0x2c0, 2), TOP(0x3e0, 3), SM_VSHR, vshift),
	SCALAR_ROWS(TOP(0x2e0, 2), TOP(0x3e0, 3), SM_VSHL, vshift),
	BYTES_ROWS(TOP(0x3a0, 2), TOP(0x3e0, 3), SM_VSET4, vset4),
	BYTES_ROWS(TOP(0x3c0, 2), TOP(0x3e0, 3), SM_VMNMX4, vmnmx4),
	SCALAR_ROWS(TOP(0x3e0, 2), TOP(0x3e0, 3), SM_VMAD, vmad),
	{ .op = SM_ILLEGAL },
};
