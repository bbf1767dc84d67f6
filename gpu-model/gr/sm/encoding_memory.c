// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads, stores, atomics, cache control, surfaces. Source: envytools envydis/gk110.c; nvdisasm's
 * text for each bit.
 */
#include "encoding.h"

static const int8_t load[] = { SM_U8, SM_S8, SM_U16, SM_S16, SM_B32, SM_B64, SM_B128, SM_U128 };
static const int8_t access[] = { SM_U8, SM_S8, SM_U16, SM_S16, SM_B32, SM_B64, SM_B128, -1 };
static const int8_t attribute[] = { SM_B32, SM_B64, SM_B96, SM_B128 };
static const int8_t atom_type[] = { SM_U32, SM_S32, SM_U64, SM_F32_FTZ, SM_U128, SM_S64, -1, -1 };
static const int8_t atom_op[16] = {
	SM_ATOM_ADD, SM_ATOM_MIN, SM_ATOM_MAX,	SM_ATOM_INC, SM_ATOM_DEC,     SM_ATOM_AND,
	SM_ATOM_OR,  SM_ATOM_XOR, SM_ATOM_EXCH, -1,	     SM_ATOM_SAFEADD, -1,
	-1,	     -1,	  -1,		-1,
};
static const int8_t cas_type[] = { SM_B32, SM_B64, SM_B32, SM_B64, SM_B32, SM_B64, -1, -1 };
static const int8_t cas_form[] = { 0, 0, 1, 1, 2, 2, -1, -1 };
static const int8_t cctl_op[16] = {
	SM_CCTL_QRY1,
	SM_CCTL_PF1,
	SM_CCTL_PF1_5,
	SM_CCTL_PF2,
	SM_CCTL_WB,
	SM_CCTL_IV,
	SM_CCTL_IVALL,
	SM_CCTL_RS,
	SM_CCTL_WBALL,
	SM_CCTL_RSLB,
	-1,
	-1,
	-1,
	-1,
	-1,
	-1,
};
static const int8_t clamp[] = { 0, 1, -1, 3 };
static const int8_t cctl_cache[] = { 0, 1, 2, 3, 4, -1, -1, -1 };
static const int8_t pixld_type[] = { 0, 1, 2, 3, 4, 5, -1, -1 };
static const int8_t ipa_where[] = { 0, 1, 2, -1 };
static const int8_t zero[16] = { 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
static const int8_t cctll_cache[] = { 0, 1, -1, -1 };

#define DST		  SM_OPND(SM_TO_DREG, 0, 2, 8)
#define BASE		  SM_OPND(SM_TO_REG, 0, 10, 8)
#define DATA(pos)	  SM_OPND(SM_TO_REG, 1, pos, 8)
#define FIELDS(name, ...) static const struct sm_field name[] = { __VA_ARGS__, SM_END }
#define TOP(top10, class) ((uint64_t)(top10) << 54 | (class))

#define GUARD SM_F(guard, 18, 3), SM_F(guard_not, 21, 1), SM_F(join, 22, 1)
#define GENERIC \
	GUARD, BASE, SM_OPND(SM_TO_SOFF, 0, 23, 32), SM_F(wide_addr, 55, 1), SM_F(cache, 59, 2)
FIELDS(ld, DST, GENERIC, SM_M(type, 56, 3, load));
FIELDS(st, DATA(2), GENERIC, SM_M(type, 56, 3, access));

#define ANY_WINDOW BASE, SM_OPND(SM_TO_SOFF, 0, 23, 24)
#define WINDOW	   ANY_WINDOW, SM_M(type, 51, 3, access)
FIELDS(ldl, DST, WINDOW, SM_F(cache, 47, 2));
FIELDS(stl, DATA(2), WINDOW, SM_F(cache, 47, 2));
FIELDS(lds, DST, ANY_WINDOW, SM_M(type, 51, 3, load));
FIELDS(sts, DATA(2), WINDOW);
FIELDS(ldslk, SM_OPND(SM_TO_DPRED, 0, 48, 3), SM_OPND(SM_TO_DREG, 1, 2, 8), WINDOW);
FIELDS(stscul, SM_OPND(SM_TO_DPRED, 0, 48, 3), DATA(2), WINDOW);
FIELDS(ldc, DST, BASE, SM_OPND(SM_TO_SOFF, 0, 23, 16), SM_F(bank, 39, 5), SM_F(ldc_mode, 47, 2),
       SM_M(type, 51, 3, access));

#define ATOMIC DST, BASE, DATA(23), SM_OPND(SM_TO_SOFF, 0, 31, 20), SM_F(wide_addr, 51, 1)
FIELDS(atom, ATOMIC, SM_M(type, 52, 3, atom_type), SM_M(sub, 55, 4, atom_op));
FIELDS(atom_cas, ATOMIC, SM_M(type, 52, 3, cas_type), SM_M(sub, 52, 3, cas_form));

FIELDS(cctl, BASE, SM_OPND(SM_TO_SOFF4, 0, 25, 30), SM_M(sub, 2, 4, cctl_op),
       SM_M(cache, 6, 3, cctl_cache), SM_F(wide_addr, 55, 1));
FIELDS(cctll, BASE, SM_OPND(SM_TO_SOFF4, 0, 25, 22), SM_M(sub, 2, 4, cctl_op),
       SM_M(cache, 6, 2, cctll_cache));
FIELDS(cctls, SM_S(sub, SM_CCTL_RSLB));

FIELDS(ald, DST, BASE, SM_OPND(SM_TO_SOFF, 0, 23, 11), SM_F(left, 34, 1), SM_F(hi, 35, 1),
       SM_OPND(SM_TO_REG, 1, 42, 8), SM_M(type, 50, 2, attribute));
FIELDS(ast, SM_OPND(SM_TO_REG, 1, 2, 8), BASE, SM_OPND(SM_TO_SOFF, 0, 23, 11), SM_F(left, 34, 1),
       SM_OPND(SM_TO_REG, 2, 42, 8), SM_M(type, 50, 2, attribute));
FIELDS(al2p, DST, BASE, SM_OPND(SM_TO_SOFF, 0, 23, 11), SM_F(hi, 35, 1),
       SM_M(type, 50, 2, attribute));
FIELDS(ipa, DST, BASE, SM_OPND(SM_TO_SOFF, 0, 31, 11), SM_OPND(SM_TO_REG, 1, 23, 8),
       SM_OPND(SM_TO_REG, 2, 42, 8), SM_F(sat, 50, 1), SM_M(xmode, 51, 2, ipa_where),
       SM_F(sub, 53, 2));
FIELDS(vild, DST, BASE, SM_OPND(SM_TO_SOFF, 0, 23, 8));
FIELDS(pixld, DST, SM_OPND(SM_TO_DPRED, 1, 48, 3), BASE, SM_OPND(SM_TO_SOFF, 0, 23, 8),
       SM_M(sub, 34, 3, pixld_type));

/*
 * Surfaces: src[0] the pair of address words, src[1] the word with the format, src[2] the predicate
 * "out of bounds". SUSTGA: src[2] is the data, src[3] the predicate.
 */
#define SULD_PRED                                                                             \
	SM_OPND(SM_TO_PRED, 2, 42, 3), SM_F(src[2].inv, 45, 1), SM_M(su_clamp, 46, 2, clamp), \
		SM_F(su_addr, 52, 2)
FIELDS(suldga, DST, BASE, SULD_PRED, SM_M(sub, 48, 4, zero));
FIELDS(suldga_reg, SM_OPND(SM_TO_REG, 1, 23, 8), SM_F(cache, 31, 2), SM_M(type, 33, 3, access));
FIELDS(suldga_const, SM_OPND(SM_TO_CONST, 1, 0, 0), SM_F(cache, 54, 2), SM_M(type, 56, 3, access));
#define SUST_DATA \
	SM_OPND(SM_TO_REG, 2, 42, 8), SM_OPND(SM_TO_PRED, 3, 50, 3), SM_F(src[3].inv, 53, 1)
FIELDS(sustga, BASE, SUST_DATA);
FIELDS(sustga_reg, SM_OPND(SM_TO_REG, 1, 2, 8), SM_M(su_clamp, 23, 2, clamp), SM_F(su_mask, 25, 4),
       SM_F(su_addr, 29, 2), SM_F(cache, 31, 2), SM_F(type, 33, 3));
FIELDS(sustga_const, SM_OPND(SM_TO_CONST, 1, 0, 0), SM_M(su_clamp, 2, 2, clamp),
       SM_F(su_mask, 4, 4), SM_F(su_addr, 8, 2), SM_F(cache, 54, 2), SM_F(type, 56, 3));

const struct sm_row sm_memory_rows[] = {
	{ TOP(0x300, 0), TOP(0x380, 3), SM_LD, ld, NULL },
	{ TOP(0x380, 0), TOP(0x380, 3), SM_ST, st, NULL },
	{ TOP(0x1e8, 2), TOP(0x3ff, 3), SM_LDL, ldl, NULL },
	{ TOP(0x1e9, 2), TOP(0x3ff, 3), SM_LDS, lds, NULL },
	{ TOP(0x1ea, 2), TOP(0x3ff, 3), SM_STL, stl, NULL },
	{ TOP(0x1eb, 2), TOP(0x3ff, 3), SM_STS, sts, NULL },
	{ TOP(0x1f2, 2), TOP(0x3ff, 3), SM_LDC, ldc, NULL },
	{ TOP(0x1dd, 2), TOP(0x3ff, 3), SM_LDSLK, ldslk, NULL },
	{ TOP(0x1e1, 2), TOP(0x3ff, 3), SM_STSCUL, stscul, NULL },
	{ TOP(0x1a0, 2), TOP(0x3e0, 3), SM_ATOM, atom, NULL },
	{ TOP(0x1de, 2), TOP(0x3fe, 3), SM_ATOM_CAS, atom_cas, NULL },
	{ TOP(0x1ec, 2), TOP(0x3fc, 3), SM_CCTL, cctl, NULL },
	{ TOP(0x1f0, 2), TOP(0x3ff, 3), SM_CCTLL, cctll, NULL },
	{ TOP(0x1f1, 2), TOP(0x3ff, 3), SM_CCTLS, cctls, NULL },
	{ TOP(0x1e6, 2), TOP(0x3ff, 3), SM_SULDGA, suldga, suldga_reg },
	{ TOP(0x0c0, 2), TOP(0x3e0, 3), SM_SULDGA, suldga, suldga_const },
	{ TOP(0x1e7, 2), TOP(0x3ff, 3), SM_SUSTGA, sustga, sustga_reg },
	{ TOP(0x0e0, 2), TOP(0x3e0, 3), SM_SUSTGA, sustga, sustga_const },
	{ TOP(0x1d2, 2), TOP(0x3fe, 3), SM_IPA, ipa, NULL },
	{ TOP(0x1f4, 2), TOP(0x3ff, 3), SM_AL2P, al2p, NULL },
	{ TOP(0x1fb, 2), TOP(0x3ff, 3), SM_ALD, ald, NULL },
	{ TOP(0x1fc, 2), TOP(0x3ff, 3), SM_AST, ast, NULL },
	{ TOP(0x1fd, 2), TOP(0x3ff, 3), SM_PIXLD, pixld, NULL },
	{ TOP(0x1fe, 2), TOP(0x3ff, 3), SM_VILD, vild, NULL },
	{ .op = SM_ILLEGAL },
};
