// SPDX-License-Identifier: GPL-2.0-only
/* Textures. Source: envytools envydis/gk110.c; nvdisasm's text for each bit. */
#include "encoding.h"

static const int8_t lod[] = {
	SM_LOD_AUTO, SM_LOD_LZ, SM_LOD_LB, SM_LOD_LL, -1, -1, SM_LOD_LBA, SM_LOD_LLA,
};
static const int8_t tld_lod[] = { SM_LOD_LZ, SM_LOD_LL };
static const int8_t phase[] = { 0, 1, 2, -1 };
static const int8_t query[64] = {
	-1, 1,	2,  -1, -1, 5,	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 16, -1, 18, -1, 20, -1,
	22, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
};

#define DST		  SM_OPND(SM_TO_DREG, 0, 2, 8)
#define A		  SM_OPND(SM_TO_REG, 0, 10, 8)
#define B		  SM_OPND(SM_TO_REG, 1, 23, 8)
#define FIELDS(name, ...) static const struct sm_field name[] = { __VA_ARGS__, SM_END }
#define TOP(top10, class) ((uint64_t)(top10) << 54 | (class))

#define RESULT	 DST, SM_F(tex.nodep, 31, 1), SM_M(tex.phase, 32, 2, phase), SM_F(tex.mask, 34, 4)
#define ID(pos)	 SM_OPND(SM_TO_TEXID, 0, pos, 13)
#define DIM	 SM_F(tex.dim, 38, 3)
#define BINDLESS SM_S(tex.bindless, 1)
static const struct sm_field bindless[] = { BINDLESS, SM_END };
FIELDS(id41, ID(41));
FIELDS(id45, ID(45));
FIELDS(id47, ID(47));

FIELDS(tex, RESULT, A, B, DIM, SM_F(tex.ndv, 41, 1), SM_F(tex.shadow, 42, 1),
       SM_F(tex.aoffi, 43, 1), SM_M(tex.lod, 44, 3, lod));
FIELDS(tld4, RESULT, A, B, DIM, SM_F(tex.ndv, 41, 1), SM_F(tex.shadow, 42, 1),
       SM_F(tex.aoffi, 43, 1), SM_F(tex.ptp, 44, 1), SM_F(tex.component, 45, 2));
FIELDS(tld, RESULT, A, B, DIM, SM_F(tex.aoffi, 41, 1), SM_F(tex.clamp, 42, 1),
       SM_F(tex.multisample, 43, 1), SM_M(tex.lod, 44, 1, tld_lod));
FIELDS(txd, RESULT, A, B, DIM, SM_F(tex.aoffi, 54, 1));
FIELDS(tmml, RESULT, A, DIM, SM_F(tex.ndv, 30, 1));
FIELDS(tmml_b, RESULT, A, B, DIM, SM_F(tex.ndv, 41, 1), BINDLESS);
FIELDS(txq, RESULT, A, SM_M(tex.dim, 25, 6, query));
FIELDS(txa, RESULT, A, SM_F(tex.ndv, 30, 1), ID(41));
FIELDS(texdepbar, SM_OPND(SM_TO_UIMM, 0, 23, 6));
FIELDS(stp, SM_S(guard, SM_PT), SM_S(guard_not, 0), SM_OPND(SM_TO_UIMM, 0, 23, 8),
       SM_M(tex.phase, 32, 2, phase), SM_F(sub, 34, 1));

/*
 * LDG is encoded as a TEX or a TLD without a second source: level 0 of a texture of one dimension
 * (32-bit address) or two (64-bit address).
 */
#define LDG	  DST, A, SM_M(tex.phase, 32, 2, phase), SM_F(wide_addr, 39, 1)
#define LDG_CACHE SM_M(cache, 42, 1, ldg_cache)
static const int8_t narrow[] = { SM_U8, SM_S8, SM_U16, SM_S16 };
static const int8_t none[] = { -1, -1 };
static const int8_t ldg_cache[] = { SM_CACHE_CG, SM_CACHE_CS };
static const struct sm_field cache_all[] = { SM_S(cache, SM_CACHE_CA), SM_END };
static const struct sm_field cache_some[] = { LDG_CACHE, SM_END };
FIELDS(ldg_narrow47, LDG, SM_M(type, 47, 2, narrow));
FIELDS(ldg_narrow45, LDG, SM_M(type, 45, 2, narrow));
FIELDS(ldg_32, LDG, SM_S(type, SM_B32));
FIELDS(ldg_64, LDG, SM_S(type, SM_B64));
FIELDS(ldg_128, LDG, SM_S(type, SM_B128));
FIELDS(ldg_no_size, SM_M(sub, 0, 1, none));

#define NO_B			   (0xffull << 23)
#define COMMON_ZERO		   (1ull << 31 | 5ull << 38)
#define SIZE_MASK(size, mask, pos) ((uint64_t)(size) << (pos) | (uint64_t)(mask) << 34)
#define TEX_LDG(size, mask, any, fields)                                       \
	{                                                                      \
		TOP(0x180, 1) | NO_B | 1ull << 44 | SIZE_MASK(size, mask, 47), \
			TOP(0x3c0, 3) | NO_B | COMMON_ZERO | 63ull << 41 |     \
				SIZE_MASK(0x1fff & ~(any), 15, 47),            \
			SM_LDG, fields, cache_all                              \
	}
#define TLD_LDG(size, mask, any, fields)                                   \
	{                                                                  \
		TOP(0x1c0, 2) | NO_B | SIZE_MASK(size, mask, 45),          \
			TOP(0x3f0, 3) | NO_B | COMMON_ZERO | 13ull << 41 | \
				SIZE_MASK(0x1fff & ~(any), 15, 45),        \
			SM_LDG, fields, cache_some                         \
	}

const struct sm_row sm_texture_rows[] = {
	TEX_LDG(0, 1, 3, ldg_narrow47),
	TEX_LDG(4, 1, 0, ldg_32),
	TEX_LDG(5, 3, 0, ldg_64),
	TEX_LDG(6, 15, 0, ldg_128),
	TEX_LDG(7, 1, 0, ldg_no_size),
	TLD_LDG(0, 1, 3, ldg_narrow45),
	TLD_LDG(4, 1, 0, ldg_32),
	TLD_LDG(5, 3, 0, ldg_64),
	TLD_LDG(6, 15, 0, ldg_128),
	TLD_LDG(7, 1, 0, ldg_no_size),
	{ TOP(0x180, 1), TOP(0x3c0, 3), SM_TEX, tex, id47 },
	{ TOP(0x1f6, 2), TOP(0x3ff, 3), SM_TEX, tex, bindless },
	{ TOP(0x1c0, 1), TOP(0x3c0, 3), SM_TLD4, tld4, id47 },
	{ TOP(0x1f7, 2), TOP(0x3ff, 3), SM_TLD4, tld4, bindless },
	{ TOP(0x1c0, 2), TOP(0x3f0, 3), SM_TLD, tld, id45 },
	{ TOP(0x1e0, 2), TOP(0x3ff, 3), SM_TLD, tld, bindless },
	{ TOP(0x1d8, 2), TOP(0x3fe, 3), SM_TXD, txd, id41 },
	{ TOP(0x1f8, 2), TOP(0x3fe, 3), SM_TXD, txd, bindless },
	{ TOP(0x1da, 2), TOP(0x3ff, 3), SM_TMML, tmml, id41 },
	{ TOP(0x1fa, 2), TOP(0x3ff, 3), SM_TMML, tmml_b, NULL },
	{ TOP(0x1d5, 2), TOP(0x3ff, 3), SM_TXQ, txq, id41 },
	{ TOP(0x1f5, 2), TOP(0x3ff, 3), SM_TXQ, txq, bindless },
	{ TOP(0x1db, 2), TOP(0x3ff, 3), SM_TXA, txa, NULL },
	{ TOP(0x1dc, 2), TOP(0x3ff, 3), SM_TEXDEPBAR, texdepbar, NULL },
	{ TOP(0x1d4, 2), TOP(0x3ff, 3), SM_STP, stp, NULL },
	{ .op = SM_ILLEGAL },
};
