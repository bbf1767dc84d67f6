// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates, special registers, barriers, and instructions that work across a warp. Source:
 * envytools envydis/gk110.c; nvdisasm's text for each bit.
 */
#include "encoding.h"

static const int8_t boolean[] = { SM_AND, SM_OR, SM_XOR, -1 };
static const int8_t mufu[16] = {
	SM_MUFU_COS,
	SM_MUFU_SIN,
	SM_MUFU_EX2,
	SM_MUFU_LG2,
	SM_MUFU_RCP,
	SM_MUFU_RSQ,
	SM_MUFU_RCP64H,
	SM_MUFU_RSQ64H,
	-1,
	-1,
	-1,
	-1,
	-1,
	-1,
	-1,
	-1,
};
static const int8_t vote[] = { SM_VOTE_ALL, SM_VOTE_ANY, SM_VOTE_EQ, -1 };
static const int8_t membar[] = { SM_MEMBAR_CTA, SM_MEMBAR_GL, SM_MEMBAR_SYS, -1 };
static const int8_t r2b_mode[] = { 0, 1, 2, -1 };
static const int8_t swizzle[] = { 0, 1, 2, 3, 4, 5, -1, -1 };
static const int8_t zero[] = { 0, -1 };
static const int8_t bar_red[] = { SM_BAR_RED_POPC, SM_BAR_RED_AND, SM_BAR_RED_OR, -1 };

#define DST		  SM_OPND(SM_TO_DREG, 0, 2, 8)
#define A		  SM_OPND(SM_TO_REG, 0, 10, 8)
#define PDST2		  SM_OPND(SM_TO_DPRED, 0, 5, 3), SM_OPND(SM_TO_DPRED, 1, 2, 3)
#define CC		  SM_F(set_cc, 50, 1)
#define FIELDS(name, ...) static const struct sm_field name[] = { __VA_ARGS__, SM_END }
#define TOP(top10, class) ((uint64_t)(top10) << 54 | (class))

FIELDS(mufu_fields, DST, A, SM_M(sub, 23, 4, mufu), SM_F(src[0].abs, 49, 1),
       SM_F(src[0].neg, 51, 1), SM_F(sat, 53, 1));
#define THREE_PREDS                                                                         \
	SM_OPND(SM_TO_PRED, 0, 14, 3), SM_F(src[0].inv, 17, 1), SM_M(bop2, 27, 2, boolean), \
		SM_OPND(SM_TO_PRED, 1, 32, 3), SM_F(src[1].inv, 35, 1),                     \
		SM_OPND(SM_TO_PRED, 2, 42, 3), SM_F(src[2].inv, 45, 1), SM_M(bop, 48, 2, boolean)
FIELDS(pset, DST, THREE_PREDS, SM_F(bf, 47, 1), CC);
FIELDS(psetp, PDST2, THREE_PREDS);
#define CC_AND_PRED                                                                               \
	SM_OPND(SM_TO_KIND, 0, SM_CCREG, 0), SM_F(cc_test, 10, 5), SM_OPND(SM_TO_PRED, 1, 42, 3), \
		SM_F(src[1].inv, 45, 1), SM_M(bop, 48, 2, boolean)
FIELDS(cset, DST, CC_AND_PRED, SM_F(bf, 47, 1), CC);
FIELDS(csetp, PDST2, CC_AND_PRED);

#define NO_JOIN SM_S(join, 0)
FIELDS(bar_rr, NO_JOIN, A, SM_OPND(SM_TO_REG, 1, 23, 8));
FIELDS(bar_ri, NO_JOIN, A, SM_OPND(SM_TO_UIMM, 1, 23, 12));
FIELDS(bar_ir, NO_JOIN, SM_OPND(SM_TO_UIMM, 0, 10, 8), SM_OPND(SM_TO_REG, 1, 23, 8));
FIELDS(bar_ii, NO_JOIN, SM_OPND(SM_TO_UIMM, 0, 10, 8), SM_OPND(SM_TO_UIMM, 1, 23, 12));
FIELDS(bar_sync, SM_M(sub, 45, 1, zero), SM_S(sub, SM_BAR_SYNC), SM_OPND(SM_TO_MUST, 0, 42, 3));
FIELDS(bar_arv, SM_S(sub, SM_BAR_ARV));
#define BAR_PRED SM_OPND(SM_TO_PRED, 2, 42, 3), SM_F(src[2].inv, 45, 1)
FIELDS(bar_red_fields, SM_M(sub, 38, 2, bar_red), BAR_PRED);
FIELDS(bar_scan, SM_S(sub, SM_BAR_SCAN), BAR_PRED);
FIELDS(bar_syncall, SM_S(sub, SM_BAR_SYNCALL), NO_JOIN, SM_S(guard, SM_PT), SM_S(guard_not, 0));

FIELDS(nop, SM_F(cc_test, 10, 5), SM_F(sub, 15, 1), SM_OPND(SM_TO_UIMM, 0, 23, 16));
FIELDS(b2r, DST, SM_OPND(SM_TO_UIMM, 0, 10, 8));
FIELDS(b2r_result, DST, SM_OPND(SM_TO_MUST, 0, 10, 8), SM_OPND(SM_TO_DPRED, 1, 48, 3),
       SM_S(sub, 1));
FIELDS(b2r_warp, DST, SM_OPND(SM_TO_MUST, 0, 10, 8), SM_S(sub, 2));
FIELDS(r2b, SM_M(sub, 35, 2, r2b_mode), SM_OPND(SM_TO_UIMM, 0, 31, 4),
       SM_OPND(SM_TO_REG, 1, 23, 8));
FIELDS(s2r, DST, SM_OPND(SM_TO_UIMM, 0, 23, 8), SM_S(src[0].kind, SM_SREG));
FIELDS(lepc, DST);
FIELDS(vote_fields, DST, SM_OPND(SM_TO_DPRED, 1, 48, 3), SM_OPND(SM_TO_PRED, 0, 42, 3),
       SM_F(src[0].inv, 45, 1), SM_M(sub, 51, 2, vote));
FIELDS(vote_vtg, SM_OPND(SM_TO_UIMM, 0, 23, 28), SM_M(sub, 51, 2, vote));
FIELDS(membar_fields, SM_M(sub, 10, 2, membar));

FIELDS(shfl, SM_OPND(SM_TO_DPRED, 0, 51, 3), SM_OPND(SM_TO_DREG, 1, 2, 8), A, SM_F(sub, 33, 2));
FIELDS(shfl_rr, SM_OPND(SM_TO_REG, 1, 23, 8), SM_OPND(SM_TO_REG, 2, 42, 8));
FIELDS(shfl_ir, SM_OPND(SM_TO_UIMM, 1, 23, 5), SM_OPND(SM_TO_REG, 2, 42, 8));
FIELDS(shfl_ri, SM_OPND(SM_TO_REG, 1, 23, 8), SM_OPND(SM_TO_UIMM, 2, 37, 13));
FIELDS(shfl_ii, SM_OPND(SM_TO_UIMM, 1, 23, 5), SM_OPND(SM_TO_UIMM, 2, 37, 13));

FIELDS(fswz, DST, A, SM_OPND(SM_TO_REG, 1, 23, 8), SM_F(lanes, 31, 8), SM_F(tex.ndv, 41, 1),
       SM_F(round, 42, 2), SM_M(sub, 44, 3, swizzle), SM_F(ftz, 47, 1), CC);

#define BAR_ROWS(mode, op, fields)                                                                \
	{ TOP(0x215, 2) | (mode), TOP(0x3ff, 3) | BAR_MODE | BAR_FORM(3), op, fields, bar_rr },   \
		{ TOP(0x215, 2) | (mode) | BAR_FORM(1), TOP(0x3ff, 3) | BAR_MODE | BAR_FORM(3),   \
		  op, fields, bar_ri },                                                           \
		{ TOP(0x215, 2) | (mode) | BAR_FORM(2), TOP(0x3ff, 3) | BAR_MODE | BAR_FORM(3),   \
		  op, fields, bar_ir },                                                           \
	{                                                                                         \
		TOP(0x215, 2) | (mode) | BAR_FORM(3), TOP(0x3ff, 3) | BAR_MODE | BAR_FORM(3), op, \
			fields, bar_ii                                                            \
	}
#define BAR_MODE     (7ull << 35)
#define BAR_FORM(n)  ((uint64_t)(n) << 46)
#define B2R_MODE(n)  ((uint64_t)(n) << 35)
#define SHFL_FORM(n) ((uint64_t)(n) << 31)

const struct sm_row sm_other_rows[] = {
	{ TOP(0x210, 2), TOP(0x3ff, 3), SM_MUFU, mufu_fields, NULL },
	{ TOP(0x211, 2), TOP(0x3ff, 3), SM_PSET, pset, NULL },
	{ TOP(0x212, 2), TOP(0x3ff, 3), SM_PSETP, psetp, NULL },
	{ TOP(0x213, 2), TOP(0x3ff, 3), SM_CSET, cset, NULL },
	{ TOP(0x214, 2), TOP(0x3ff, 3), SM_CSETP, csetp, NULL },
	BAR_ROWS(0ull << 35, SM_BAR, bar_sync),
	BAR_ROWS(1ull << 35, SM_BAR, bar_arv),
	BAR_ROWS(2ull << 35, SM_BAR, bar_red_fields),
	BAR_ROWS(3ull << 35, SM_BAR, bar_scan),
	{ TOP(0x215, 2) | 4ull << 35, TOP(0x3ff, 3) | BAR_MODE, SM_BAR, bar_syncall, NULL },
	{ TOP(0x216, 2), TOP(0x3ff, 3), SM_NOP, nop, NULL },
	{ TOP(0x217, 2), TOP(0x3ff, 3) | B2R_MODE(3), SM_B2R, b2r, NULL },
	{ TOP(0x217, 2) | B2R_MODE(1), TOP(0x3ff, 3) | B2R_MODE(3), SM_B2R, b2r_result, NULL },
	{ TOP(0x217, 2) | B2R_MODE(2), TOP(0x3ff, 3) | B2R_MODE(3), SM_B2R, b2r_warp, NULL },
	{ TOP(0x218, 2), TOP(0x3ff, 3), SM_R2B, r2b, NULL },
	{ TOP(0x219, 2), TOP(0x3ff, 3), SM_S2R, s2r, NULL },
	{ TOP(0x21a, 2), TOP(0x3ff, 3), SM_LEPC, lepc, NULL },
	{ TOP(0x21b, 2), TOP(0x3ff, 3), SM_VOTE, vote_fields, NULL },
	{ TOP(0x21c, 2), TOP(0x3ff, 3), SM_VOTE_VTG, vote_vtg, NULL },
	{ TOP(0x1f3, 2), TOP(0x3ff, 3), SM_MEMBAR, membar_fields, NULL },
	{ TOP(0x1e2, 2) | SHFL_FORM(0), TOP(0x3ff, 3) | SHFL_FORM(3), SM_SHFL, shfl, shfl_rr },
	{ TOP(0x1e2, 2) | SHFL_FORM(1), TOP(0x3ff, 3) | SHFL_FORM(3), SM_SHFL, shfl, shfl_ir },
	{ TOP(0x1e2, 2) | SHFL_FORM(2), TOP(0x3ff, 3) | SHFL_FORM(3), SM_SHFL, shfl, shfl_ri },
	{ TOP(0x1e2, 2) | SHFL_FORM(3), TOP(0x3ff, 3) | SHFL_FORM(3), SM_SHFL, shfl, shfl_ii },
	{ TOP(0x1ff, 2), TOP(0x3ff, 3), SM_FSWZ, fswz, NULL },
	{ .op = SM_ILLEGAL },
};
