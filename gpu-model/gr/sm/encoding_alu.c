// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arithmetic (class 2, and class 1 for immediates). Source: envytools envydis/gk110.c; nvdisasm's
 * text for each bit.
 */
#include "encoding.h"

static const int8_t icmp[] = {
	SM_CMP_F, SM_CMP_LT, SM_CMP_EQ, SM_CMP_LE, SM_CMP_GT, SM_CMP_NE, SM_CMP_GE, SM_CMP_T,
};
static const int8_t boolean[] = { SM_AND, SM_OR, SM_XOR, -1 };
static const int8_t us32[] = { SM_U32, SM_S32 };
static const int8_t zero_only[64] = {
	0,  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
};
static const int8_t madsp_a[] = {
	SM_U32, SM_S32, SM_U24, SM_S24, SM_U16_H0, SM_S16_H0, SM_U16_H1, SM_S16_H1,
};
static const int8_t madsp_b[] = { SM_U24, SM_S24, SM_U16_H0, SM_S16_H0 };
static const int8_t prmt[16] = {
	SM_PRMT_IDX,  SM_PRMT_F4E, SM_PRMT_B4E, SM_PRMT_RC8, SM_PRMT_ECL, SM_PRMT_ECR,
	SM_PRMT_RC16, -1,	   -1,		-1,	     -1,	  -1,
	-1,	      -1,	   -1,		-1,
};
static const int8_t shf_type[] = { SM_B32, -1, SM_U64, SM_S64 };
static const int8_t shr_x[] = { 0, -1, 2, 3 };
static const int8_t scale[] = { 0, 1, 2, 3, 4, 5, 6, -1 };
static const int8_t out_type[] = { -1, 1, 2, 3 };
static const int8_t float_type[] = { -1, SM_F16, SM_F32, SM_F64 };
static const int8_t uint_type[] = { SM_U8, SM_U16, SM_U32, SM_U64 };
static const int8_t su_mode[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1 };
static const int8_t two_d[] = { 1, 0 };

#define DST		  SM_OPND(SM_TO_DREG, 0, 2, 8)
#define A		  SM_OPND(SM_TO_REG, 0, 10, 8)
#define PDST2		  SM_OPND(SM_TO_DPRED, 0, 5, 3), SM_OPND(SM_TO_DPRED, 1, 2, 3)
#define PSRC(n)		  SM_OPND(SM_TO_PRED, n, 42, 3), SM_F(src[n].inv, 45, 1)
#define CC		  SM_F(set_cc, 50, 1)
#define FIELDS(name, ...) static const struct sm_field name[] = { __VA_ARGS__, SM_END }

#define SET_SIGNS SM_F(src[0].neg, 46, 1), SM_F(src[1].abs, 47, 1)
FIELDS(fset, DST, A, PSRC(2), SET_SIGNS, SM_M(bop, 48, 2, boolean), CC, SM_F(cmp, 51, 4),
       SM_F(bf, 55, 1), SM_F(src[1].neg, 56, 1), SM_F(src[0].abs, 57, 1), SM_F(ftz, 58, 1),
       SM_S(type, SM_F32));
FIELDS(dset, DST, A, PSRC(2), SET_SIGNS, SM_M(bop, 48, 2, boolean), CC, SM_F(cmp, 51, 4),
       SM_F(bf, 55, 1), SM_F(src[1].neg, 56, 1), SM_F(src[0].abs, 57, 1), SM_S(type, SM_F64));
FIELDS(ffma, DST, A, CC, SM_F(src[0].neg, 51, 1), SM_F(src[2].neg, 52, 1), SM_F(sat, 53, 1),
       SM_F(round, 54, 2), SM_F(ftz, 56, 1), SM_F(fmz, 57, 1), SM_S(type, SM_F32));
FIELDS(imad, DST, A, CC, SM_M(stype[0], 51, 1, us32), SM_F(x, 52, 1), SM_F(sat, 53, 1),
       SM_F(src[2].neg, 54, 1), SM_F(neg_product, 55, 1), SM_M(stype[1], 56, 1, us32),
       SM_F(hi, 57, 1), SM_S(type, SM_B32));
FIELDS(imadsp, DST, A, CC, SM_M(stype[0], 51, 3, madsp_a), SM_F(stype[2], 54, 2),
       SM_M(stype[1], 56, 2, madsp_b));
FIELDS(suclamp, SM_OPND(SM_TO_DPRED, 0, 48, 3), SM_OPND(SM_TO_DREG, 1, 2, 8), A,
       SM_OPND(SM_TO_SIMM, 2, 42, 6), SM_M(type, 51, 1, us32), SM_M(su_mode, 52, 4, su_mode),
       SM_M(su_1d, 56, 1, two_d));
FIELDS(icmp_fields, DST, A, SM_M(type, 51, 1, us32), SM_M(cmp, 52, 3, icmp));
FIELDS(iset, DST, A, PSRC(2), SM_F(x, 46, 1), SM_F(bf, 47, 1), SM_M(bop, 48, 2, boolean), CC,
       SM_M(type, 51, 1, us32), SM_M(cmp, 52, 3, icmp));
FIELDS(isetp, PDST2, A, PSRC(2), SM_F(x, 46, 1), SM_M(bop, 48, 2, boolean), SM_M(type, 51, 1, us32),
       SM_M(cmp, 52, 3, icmp));
FIELDS(dfma, DST, A, CC, SM_F(src[0].neg, 51, 1), SM_F(src[2].neg, 52, 1), SM_F(round, 53, 2),
       SM_S(type, SM_F64));
#define SETP                                                                          \
	PDST2, A, SM_F(src[1].neg, 8, 1), SM_F(src[0].abs, 9, 1), PSRC(2), SET_SIGNS, \
		SM_M(bop, 48, 2, boolean), SM_F(cmp, 51, 4)
FIELDS(dsetp, SETP, SM_S(type, SM_F64));
FIELDS(fsetp, SETP, SM_F(ftz, 50, 1), SM_S(type, SM_F32));
FIELDS(fcco, PDST2, SM_F(sub, 8, 2), A);
FIELDS(fcmp, DST, A, SM_F(ftz, 50, 1), SM_F(cmp, 51, 4), SM_S(type, SM_F32));
FIELDS(prmt_fields, DST, A, SM_M(sub, 51, 4, prmt));
FIELDS(subfm, SM_OPND(SM_TO_DPRED, 0, 51, 3), SM_OPND(SM_TO_DREG, 1, 2, 8), A,
       SM_F(su_mode, 50, 1));
FIELDS(sueau, DST, A);
FIELDS(out, DST, A, SM_M(sub, 42, 2, out_type));
FIELDS(isad, DST, A, CC, SM_M(type, 51, 1, us32));
FIELDS(bfi, DST, A, CC);
FIELDS(shf, DST, A, SM_M(type, 40, 2, shf_type), CC, SM_F(hi, 51, 1), SM_F(x, 52, 1),
       SM_F(wrap, 53, 1));
FIELDS(shf_left, DST, A, SM_M(type, 40, 2, shf_type), CC, SM_F(hi, 51, 1), SM_F(x, 52, 1),
       SM_F(wrap, 53, 1), SM_S(left, 1));
FIELDS(bfe, DST, A, SM_F(brev, 43, 1), CC, SM_M(type, 51, 1, us32));
FIELDS(popc, DST, A, SM_F(src[0].inv, 42, 1), SM_F(src[1].inv, 43, 1));
FIELDS(iadd, DST, A, SM_F(x, 46, 1), CC, SM_F(src[1].neg, 51, 1), SM_F(src[0].neg, 52, 1),
       SM_F(sat, 53, 1), SM_S(type, SM_B32));
FIELDS(iscadd, DST, A, SM_OPND(SM_TO_UIMM, 2, 42, 5), CC, SM_F(src[1].neg, 51, 1),
       SM_F(src[0].neg, 52, 1), SM_S(type, SM_B32));
FIELDS(imnmx, DST, A, PSRC(2), SM_F(xmode, 46, 2), CC, SM_M(type, 51, 1, us32));
FIELDS(shr, DST, A, SM_F(wrap, 42, 1), SM_F(brev, 43, 1), SM_M(xmode, 46, 2, shr_x), CC,
       SM_M(type, 51, 1, us32));
FIELDS(flo, DST, SM_F(src[0].inv, 43, 1), SM_F(shift_amount, 44, 1), CC, SM_M(type, 51, 1, us32));
FIELDS(imul, DST, A, SM_F(hi, 42, 1), SM_M(stype[0], 43, 1, us32), SM_M(stype[1], 44, 1, us32), CC);
FIELDS(lop, DST, A, SM_F(src[0].inv, 42, 1), SM_F(src[1].inv, 43, 1), SM_F(sub, 44, 2),
       SM_F(x, 46, 1), CC);
FIELDS(shl, DST, A, SM_F(wrap, 42, 1), SM_F(x, 46, 1), CC);
#define ADD_SIGNS                                                                  \
	SM_F(src[1].neg, 48, 1), SM_F(src[0].abs, 49, 1), SM_F(src[0].neg, 51, 1), \
		SM_F(src[1].abs, 52, 1)
FIELDS(dmnmx, DST, A, PSRC(2), ADD_SIGNS, CC, SM_S(type, SM_F64));
FIELDS(fmnmx, DST, A, PSRC(2), ADD_SIGNS, SM_F(ftz, 47, 1), CC, SM_S(type, SM_F32));
FIELDS(fadd, DST, A, SM_F(round, 42, 2), SM_F(ftz, 47, 1), ADD_SIGNS, CC, SM_F(sat, 53, 1),
       SM_S(type, SM_F32));
FIELDS(dadd, DST, A, SM_F(round, 42, 2), ADD_SIGNS, CC, SM_S(type, SM_F64));
FIELDS(fmul, DST, A, SM_F(round, 42, 2), SM_M(scale, 44, 3, scale), SM_F(ftz, 47, 1),
       SM_F(fmz, 48, 1), CC, SM_F(src[0].neg, 51, 1), SM_F(sat, 53, 1), SM_S(type, SM_F32));
FIELDS(dmul, DST, A, SM_F(round, 42, 2), CC, SM_F(src[0].neg, 51, 1), SM_S(type, SM_F64));
FIELDS(fchk, SM_OPND(SM_TO_DPRED, 0, 5, 3), A, SM_M(sub, 42, 6, zero_only), ADD_SIGNS,
       SM_S(type, SM_F32));
FIELDS(dchk, SM_OPND(SM_TO_DPRED, 0, 5, 3), A, SM_M(sub, 42, 6, zero_only), ADD_SIGNS,
       SM_S(type, SM_F64));
FIELDS(rro, DST, SM_F(sub, 42, 1), SM_F(src[0].neg, 48, 1), SM_F(src[0].abs, 52, 1));
FIELDS(mov, DST, SM_F(lanes, 42, 4));
FIELDS(sel, DST, A, PSRC(2));
#define CVT_SIGNS SM_F(src[0].neg, 48, 1), CC, SM_F(src[0].abs, 52, 1)
FIELDS(f2f, DST, SM_M(type, 10, 2, float_type), SM_M(stype[0], 12, 2, float_type),
       SM_F(round, 42, 2), SM_F(src[0].sel, 44, 1), SM_F(to_int, 45, 1), SM_F(ftz, 47, 1),
       CVT_SIGNS, SM_F(sat, 53, 1));
FIELDS(f2i, DST, SM_M(type, 10, 2, uint_type), SM_M(stype[0], 12, 2, float_type),
       SM_F(stype[1], 14, 1), SM_F(round, 42, 2), SM_F(src[0].sel, 44, 1), SM_F(ftz, 47, 1),
       CVT_SIGNS);
FIELDS(i2f, DST, SM_M(type, 10, 2, float_type), SM_M(stype[0], 12, 2, uint_type),
       SM_F(stype[1], 15, 1), SM_F(round, 42, 2), SM_F(src[0].sel, 44, 2), CVT_SIGNS);
FIELDS(i2i, DST, SM_M(type, 10, 2, uint_type), SM_M(stype[0], 12, 2, uint_type),
       SM_F(stype[2], 14, 1), SM_F(stype[1], 15, 1), SM_F(src[0].sel, 44, 2), CVT_SIGNS,
       SM_F(sat, 53, 1));
FIELDS(p2r, DST, SM_OPND(SM_TO_KIND, 0, SM_PRFILE, 0), SM_OPND(SM_TO_REG, 1, 10, 8),
       SM_F(hi, 42, 1));
FIELDS(r2p, SM_OPND(SM_TO_DKIND, 0, SM_PRFILE, 0), A, SM_F(hi, 42, 1));

#define ROW2(code, mask, op, b, imm, fields)                      \
	{                                                         \
		code, mask, SM_FORMS_2, b, false, imm, op, fields \
	}
#define ROW3(code, mask, op, imm, fields)                        \
	{                                                        \
		code, mask, SM_FORMS_3, 1, true, imm, op, fields \
	}

const struct sm_alu_row sm_alu_rows[] = {
	ROW2(0x00, 0xe0, SM_FSET, 1, SM_F32, fset),
	ROW2(0x20, 0xf0, SM_DSET, 1, SM_F64, dset),
	ROW3(0x30, 0xf0, SM_FFMA, SM_F32, ffma),
	ROW3(0x40, 0xf0, SM_IMAD, SM_S32, imad),
	ROW3(0x50, 0xf0, SM_IMADSP, SM_S32, imadsp),
	ROW2(0x60, 0xf8, SM_SUCLAMP, 1, SM_S32, suclamp),
	ROW3(0x68, 0xfe, SM_ICMP, SM_S32, icmp_fields),
	ROW2(0x6a, 0xfe, SM_ISET, 1, SM_S32, iset),
	ROW2(0x6c, 0xfe, SM_ISETP, 1, SM_S32, isetp),
	ROW3(0x6e, 0xfe, SM_DFMA, SM_F64, dfma),
	ROW2(0x70, 0xfe, SM_DSETP, 1, SM_F64, dsetp),
	ROW3(0x72, 0xfe, SM_FCCO, SM_F32, fcco),
	ROW3(0x74, 0xfe, SM_FCMP, SM_F32, fcmp),
	ROW2(0x76, 0xfe, SM_FSETP, 1, SM_F32, fsetp),
	ROW3(0x78, 0xfe, SM_PRMT, SM_S32, prmt_fields),
	ROW3(0x7a, 0xff, SM_SUBFM, SM_S32, subfm),
	ROW3(0x7b, 0xff, SM_SUEAU, SM_S32, sueau),
	ROW2(0x7c, 0xff, SM_OUT, 1, SM_S32, out),
	ROW3(0x7d, 0xff, SM_ISAD, SM_S32, isad),
	ROW3(0x7e, 0xff, SM_BFI, SM_S32, bfi),
	{ 0x7f, 0xff, SM_FORM_REG | SM_FORM_SHIFT, 1, true, SM_S32, SM_SHF, shf_left },
	ROW2(0x80, 0xff, SM_BFE, 1, SM_S32, bfe),
	ROW2(0x81, 0xff, SM_POPC, 1, SM_S32, popc),
	ROW2(0x82, 0xff, SM_IADD, 1, SM_S32, iadd),
	ROW2(0x83, 0xff, SM_ISCADD, 1, SM_S32, iscadd),
	ROW2(0x84, 0xff, SM_IMNMX, 1, SM_S32, imnmx),
	ROW2(0x85, 0xff, SM_SHR, 1, SM_S32, shr),
	ROW2(0x86, 0xff, SM_FLO, 0, SM_S32, flo),
	ROW2(0x87, 0xff, SM_IMUL, 1, SM_S32, imul),
	ROW2(0x88, 0xff, SM_LOP, 1, SM_S32, lop),
	ROW2(0x89, 0xff, SM_SHL, 1, SM_S32, shl),
	ROW2(0x8a, 0xff, SM_DMNMX, 1, SM_F64, dmnmx),
	ROW2(0x8b, 0xff, SM_FADD, 1, SM_F32, fadd),
	ROW2(0x8c, 0xff, SM_FMNMX, 1, SM_F32, fmnmx),
	ROW2(0x8d, 0xff, SM_FMUL, 1, SM_F32, fmul),
	ROW2(0x8e, 0xff, SM_DADD, 1, SM_F64, dadd),
	ROW2(0x8f, 0xff, SM_DCHK, 1, SM_F64, dchk),
	ROW2(0x90, 0xff, SM_DMUL, 1, SM_F64, dmul),
	ROW2(0x91, 0xff, SM_FCHK, 1, SM_F32, fchk),
	ROW2(0x92, 0xff, SM_RRO, 0, SM_F32, rro),
	ROW2(0x93, 0xff, SM_MOV, 0, SM_S32, mov),
	ROW2(0x94, 0xff, SM_SEL, 1, SM_S32, sel),
	ROW2(0x95, 0xff, SM_F2F, 0, SM_F16, f2f),
	ROW2(0x96, 0xff, SM_F2I, 0, SM_F16, f2i),
	ROW2(0x97, 0xff, SM_I2F, 0, SM_S32, i2f),
	ROW2(0x98, 0xff, SM_I2I, 0, SM_S32, i2i),
	ROW2(0x99, 0xff, SM_P2R, 2, SM_S32, p2r),
	ROW2(0x9a, 0xff, SM_R2P, 1, SM_S32, r2p),
	{ 0x9f, 0xff, SM_FORM_REG | SM_FORM_SHIFT, 1, true, SM_S32, SM_SHF, shf },
	{ .op = SM_ILLEGAL },
};
