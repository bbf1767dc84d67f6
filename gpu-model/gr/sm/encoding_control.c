// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control (class 0), and arithmetic with 32-bit immediates. Source: envytools envydis/gk110.c;
 * nvdisasm's text for each bit.
 */
#include "encoding.h"

static const int8_t bpt[] = {
	SM_BPT_DRAIN_ILLEGAL, SM_BPT_CAL,   SM_BPT_PAUSE, SM_BPT_TRAP,
	SM_BPT_INT,	      SM_BPT_DRAIN, -1,		  -1,
};
static const int8_t us32[] = { SM_U32, SM_S32 };
static const int8_t not [] = { 1, 0 };

#define DST		  SM_OPND(SM_TO_DREG, 0, 2, 8)
#define A		  SM_OPND(SM_TO_REG, 0, 10, 8)
#define GUARD		  SM_F(guard, 18, 3), SM_F(guard_not, 21, 1)
#define CC_TEST		  SM_F(cc_test, 2, 5)
#define FIELDS(name, ...) static const struct sm_field name[] = { __VA_ARGS__, SM_END }
#define TOP(top10, class) ((uint64_t)(top10) << 54 | (class))
/* set where the target is in a constant */
#define BIT7 (1ull << 7)

FIELDS(to_word, SM_OPND(SM_TO_SIMM, 0, 23, 24), SM_S(relative, 1));
FIELDS(to_byte, SM_OPND(SM_TO_UIMM, 0, 23, 32));
FIELDS(to_const, SM_OPND(SM_TO_KIND, 0, SM_CONST, 0), SM_OPND(SM_TO_SOFF, 0, 23, 16),
       SM_F(src[0].bank, 39, 5));
FIELDS(to_reg, A, SM_OPND(SM_TO_SOFF, 0, 23, 24), SM_S(relative, 1));
FIELDS(to_reg_abs, A, SM_OPND(SM_TO_SOFF, 0, 23, 32));
FIELDS(to_const_reg, SM_OPND(SM_TO_KIND, 0, SM_CONST, 0), SM_OPND(SM_TO_REG, 1, 10, 8),
       SM_OPND(SM_TO_SOFF, 0, 23, 16), SM_F(src[0].bank, 39, 5));

FIELDS(bra, GUARD, CC_TEST, SM_F(limit, 8, 1), SM_F(uniform, 9, 1));
FIELDS(brx, GUARD, CC_TEST, SM_F(limit, 8, 1));
FIELDS(cal, SM_M(noinc, 8, 1, not ));
FIELDS(pre, SM_S(sub, 0));
FIELDS(leave, GUARD, CC_TEST);
FIELDS(exit_fields, GUARD, CC_TEST, SM_F(sub, 7, 1));
FIELDS(rtt, SM_F(sub, 2, 2));
FIELDS(ide, SM_M(sub, 7, 1, not ), SM_OPND(SM_TO_UIMM, 0, 23, 16));
FIELDS(bpt_fields, SM_M(sub, 8, 3, bpt), SM_OPND(SM_TO_UIMM, 0, 23, 20));
FIELDS(get, DST);
FIELDS(set, A);
FIELDS(nothing, SM_S(sub, 0));

#define LONG   DST, A, GUARD, SM_F(join, 22, 1), SM_F(set_cc, 55, 1)
#define IMM32  SM_OPND(SM_TO_SIMM, 1, 23, 32)
#define FIMM32 SM_OPND(SM_TO_FIMM, 1, 23, 32), SM_S(type, SM_F32)
FIELDS(lop32i, LONG, SM_OPND(SM_TO_UIMM, 1, 23, 32), SM_F(sub, 56, 2), SM_F(src[0].inv, 58, 1),
       SM_F(src[1].inv, 59, 1), SM_F(x, 60, 1));
FIELDS(fadd32i, LONG, FIMM32, SM_F(src[1].neg, 56, 1), SM_F(src[0].abs, 57, 1), SM_F(ftz, 58, 1),
       SM_F(src[0].neg, 59, 1), SM_F(src[1].abs, 60, 1));
FIELDS(ffma32i, LONG, FIMM32, SM_OPND(SM_TO_REG, 2, 2, 8), SM_F(ftz, 56, 1), SM_F(fmz, 57, 1),
       SM_F(sat, 58, 1), SM_F(src[0].neg, 59, 1), SM_F(src[2].neg, 60, 1));
FIELDS(imad32i, LONG, IMM32, SM_OPND(SM_TO_REG, 2, 2, 8), SM_F(hi, 56, 1),
       SM_M(stype[0], 57, 1, us32), SM_F(src[2].neg, 58, 1), SM_F(neg_product, 59, 1),
       SM_M(stype[1], 60, 1, us32), SM_S(type, SM_B32));
FIELDS(iscadd32i, LONG, IMM32, SM_OPND(SM_TO_UIMM, 2, 56, 5), SM_S(type, SM_B32));
FIELDS(iadd32i, DST, A, IMM32, SM_F(set_cc, 55, 1), SM_F(x, 56, 1), SM_F(sat, 57, 1),
       SM_F(src[1].neg, 58, 1), SM_F(src[0].neg, 59, 1), SM_S(type, SM_B32));
FIELDS(fmul32i, DST, A, FIMM32, SM_F(set_cc, 55, 1), SM_F(ftz, 56, 1), SM_F(fmz, 57, 1),
       SM_F(sat, 58, 1));
FIELDS(imul32i, DST, A, IMM32, SM_F(set_cc, 55, 1), SM_F(hi, 56, 1), SM_M(stype[0], 57, 1, us32),
       SM_M(stype[1], 58, 1, us32));
FIELDS(mov32i, DST, SM_OPND(SM_TO_UIMM, 0, 23, 32), SM_F(lanes, 14, 4));

#define TARGET_ROWS(top, op, fields, direct, indirect)                         \
	{ TOP(top, 0), TOP(0x3fe, 3) | BIT7, op, fields, direct },             \
	{                                                                      \
		TOP(top, 0) | BIT7, TOP(0x3fe, 3) | BIT7, op, fields, indirect \
	}
#define CONTROL(top, op, fields)                             \
	{                                                    \
		TOP(top, 0), TOP(0x3fe, 3), op, fields, NULL \
	}

const struct sm_row sm_control_rows[] = {
	CONTROL(0x000, SM_BPT, bpt_fields),
	TARGET_ROWS(0x040, SM_JMX, brx, to_reg_abs, to_const_reg),
	TARGET_ROWS(0x042, SM_JMP, bra, to_byte, to_const),
	TARGET_ROWS(0x044, SM_JCAL, cal, to_byte, to_const),
	TARGET_ROWS(0x048, SM_BRA, bra, to_word, to_const),
	TARGET_ROWS(0x04a, SM_BRX, brx, to_reg, to_const_reg),
	TARGET_ROWS(0x04c, SM_CAL, cal, to_word, to_const),
	TARGET_ROWS(0x04e, SM_PRET, cal, to_word, to_const),
	TARGET_ROWS(0x050, SM_PLONGJMP, pre, to_word, to_const),
	TARGET_ROWS(0x052, SM_SSY, pre, to_word, to_const),
	TARGET_ROWS(0x054, SM_PBK, pre, to_word, to_const),
	TARGET_ROWS(0x056, SM_PCNT, pre, to_word, to_const),
	CONTROL(0x058, SM_GETCRSPTR, get),
	CONTROL(0x05a, SM_GETLMEMBASE, get),
	CONTROL(0x05c, SM_SETCRSPTR, set),
	CONTROL(0x05e, SM_SETLMEMBASE, set),
	CONTROL(0x060, SM_EXIT, exit_fields),
	CONTROL(0x062, SM_LONGJMP, leave),
	CONTROL(0x064, SM_RET, leave),
	CONTROL(0x066, SM_KIL, leave),
	CONTROL(0x068, SM_BRK, leave),
	CONTROL(0x06a, SM_CONT, leave),
	CONTROL(0x06c, SM_RTT, rtt),
	CONTROL(0x06e, SM_SAM, nothing),
	CONTROL(0x070, SM_RAM, nothing),
	CONTROL(0x072, SM_IDE, ide),
	{ TOP(0x080, 0), TOP(0x380, 3), SM_LOP32I, lop32i, NULL },
	{ TOP(0x100, 0), TOP(0x380, 3), SM_FADD32I, fadd32i, NULL },
	{ TOP(0x180, 0), TOP(0x380, 3), SM_FFMA32I, ffma32i, NULL },
	{ TOP(0x200, 0), TOP(0x380, 3), SM_IMAD32I, imad32i, NULL },
	{ TOP(0x280, 0), TOP(0x380, 3), SM_ISCADD32I, iscadd32i, NULL },
	{ TOP(0x100, 1), TOP(0x3c0, 3), SM_IADD32I, iadd32i, NULL },
	{ TOP(0x080, 2), TOP(0x3e0, 3), SM_FMUL32I, fmul32i, NULL },
	{ TOP(0x0a0, 2), TOP(0x3e0, 3), SM_IMUL32I, imul32i, NULL },
	{ TOP(0x1d0, 2), TOP(0x3fe, 3), SM_MOV32I, mov32i, NULL },
	{ .op = SM_ILLEGAL },
};
