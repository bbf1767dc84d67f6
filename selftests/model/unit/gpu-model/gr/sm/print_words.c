// SPDX-License-Identifier: GPL-2.0-only
/*
 * The modifiers between the braces of the text forms. Where insn.h has an enum, words are in its
 * order.
 */
#include "gr/sm/encoding.h"
#include "print.h"

static const char *const type_words[] = {
	[SM_U8] = "U8",	       [SM_S8] = "S8",	      [SM_U16] = "U16",	     [SM_S16] = "S16",
	[SM_U32] = "U32",      [SM_S32] = "S32",      [SM_U64] = "U64",	     [SM_S64] = "S64",
	[SM_F16] = "F16",      [SM_F32] = "F32",      [SM_F64] = "F64",	     [SM_U24] = "U24",
	[SM_S24] = "S24",      [SM_U16_H0] = "U16H0", [SM_S16_H0] = "S16H0", [SM_U16_H1] = "U16H1",
	[SM_S16_H1] = "S16H1", [SM_U128] = "U128",    [SM_F32_FTZ] = NULL,
};
static const char *const size_words[SM_U128 + 1] = {
	[SM_U8] = "U8",	 [SM_S8] = "S8",  [SM_U16] = "U16",  [SM_S16] = "S16",
	[SM_B64] = "64", [SM_B96] = "96", [SM_B128] = "128", [SM_U128] = "U.128",
};
static const char *const susize_words[SM_U128 + 1] = {
	[SM_U8] = "U8",	 [SM_S8] = "S8",  [SM_U16] = "U16",  [SM_S16] = "S16",
	[SM_B32] = "32", [SM_B64] = "64", [SM_B128] = "128",
};
static const char *const atom_type_words[SM_U128 + 1] = {
	[SM_S32] = "S32",   [SM_U64] = "U64", [SM_F32_FTZ] = "F32.FTZ.RN",
	[SM_U128] = "U128", [SM_S64] = "S64",
};
static const char *const unsigned_words[SM_U128 + 1] = { [SM_U32] = "U32" };
static const char *const ud_words[SM_U128 + 1] = { [SM_U32] = "UD" };
static const char *const sd_words[SM_U128 + 1] = { [SM_S32] = "SD" };
static const char *const shf_words[SM_U128 + 1] = { [SM_U64] = "U64", [SM_S64] = "S64" };

static const char *const cmp_words[] = {
	"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",	 "NUM",
	"NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T",
};
static const char *const fcmp_words[] = {
	"F",   "LT",  "EQ",  "LE",  NULL,  "NE",  "GE",	 "NUM",
	"NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T",
};
static const char *const cc_words[] = {
	"F",	  "LT",	    "EQ",     "LE",	 "GT",	    "NE",      "GE",  "NUM",
	"NAN",	  "LTU",    "EQU",    "LEU",	 "GTU",	    "NEU",     "GEU", "T",
	"OFF",	  "LO",	    "SFF",    "LS",	 "HI",	    "SFT",     "HS",  "OFT",
	"CSM_TA", "CSM_TR", "CSM_MX", "FCSM_TA", "FCSM_TR", "FCSM_MX", "RLE", "RGT",
};
static const char *const bool_words[] = { "AND", "OR", "XOR" };
static const char *const round_words[] = { NULL, "RM", "RP", "RZ" };
static const char *const to_int_words[] = { "ROUND", "FLOOR", "CEIL", "TRUNC" };
static const char *const f2i_words[] = { NULL, "FLOOR", "CEIL", "TRUNC" };
static const char *const lop_words[] = { "AND", "OR", "XOR", "PASS_B" };
static const char *const mufu_words[] = { "COS", "SIN", "EX2",	  "LG2",
					  "RCP", "RSQ", "RCP64H", "RSQ64H" };
static const char *const rro_words[] = { "SINCOS", "EX2" };
static const char *const prmt_words[] = { NULL, "F4E", "B4E", "RC8", "ECL", "ECR", "RC16" };
static const char *const xmnmx_words[] = { NULL, "XLO", "XMED", "XHI" };
static const char *const xshr_words[] = { NULL, NULL, "X", "XHI" };
static const char *const scale_words[] = { NULL, "D2", "D4", "D8", "M8", "M4", "M2" };
static const char *const vmad_words[] = { NULL, "SHR_7", "SHR_15" };
static const char *const vote_words[] = { "ALL", "ANY", "EQ" };
static const char *const vtg_words[] = { "R", "A", "RA" };
static const char *const shfl_words[] = { "IDX", "UP", "DOWN", "BFLY" };
static const char *const bar_words[] = { "SYNC",   "ARV",  "RED.POPC", "RED.AND",
					 "RED.OR", "SCAN", "SYNCALL" };
static const char *const membar_words[] = { "CTA", "GL", "SYS" };
static const char *const vfinal_words[] = { "MRG_16H", "MRG_16L", "MRG_8B0", "MRG_8B2",
					    "ACC",     "MIN",	  "MAX",     NULL };
static const char *const acc_words[] = { NULL, NULL, NULL, NULL, "ACC", NULL, NULL, NULL };
static const char *const xyzw_words[] = {
	NULL, "X",  "Y",  "XY",	 "Z",  "XZ",  "YZ",  "XYZ",
	"W",  "XW", "YW", "XYW", "ZW", "XZW", "YZW", NULL,
};
static const char *const xy_words[] = { NULL, "X", "Y", NULL };
static const char *const load_words[] = { NULL, "CG", "CS", "CV" };
static const char *const local_words[] = { NULL, "CG", "LU", "CV" };
static const char *const store_words[] = { NULL, "CG", "CS", "WT" };
static const char *const ldc_words[] = { NULL, "IL", "IS", "ISL" };
static const char *const atom_words[] = { "ADD", "MIN", "MAX",	"INC", "DEC",	 "AND",
					  "OR",	 "XOR", "EXCH", NULL,  "SAFEADD" };
static const char *const cctl_words[] = { "QRY1", "PF1",   "PF1.5", "PF2",   "WB",
					  "IV",	  "IVALL", "RS",    "WBALL", "RSLB" };
static const char *const cctl_cache_words[] = { NULL, "U", "C", "I", "CRS", NULL, NULL, NULL };
static const char *const cctll_cache_words[] = { NULL, "CRS" };
static const char *const lod_words[] = { NULL, "LZ", "LB", "LL", NULL, NULL, "LBA", "LLA" };
static const char *const component_words[] = { "R", "G", "B", "A" };
static const char *const phase_words[] = { NULL, "T", "P" };
static const char *const suld_words[] = { "CA", NULL, "CS", "CV" };
static const char *const clamp_words[] = { "Z", "TRAP", NULL, "SDCL" };
static const char *const suaddr_words[] = { "U32", "S32", "U8", "S8" };
static const char *const sumode_words[] = {
	NULL,	 "SD.R2",  "SD.R4", "SD.R8", "SD.R16", "PL.R1", "PL.R2",  "PL.R4",
	"PL.R8", "PL.R16", "BL.R1", "BL.R2", "BL.R4",  "BL.R8", "BL.R16",
};
static const char *const ipa_words[] = { "PASS", NULL, "CONSTANT", "SC" };
static const char *const ipaloc_words[] = { NULL, "CENTROID", "OFFSET" };
static const char *const pixld_words[] = { NULL,     "COVMASK",		"COVERED",
					   "OFFSET", "CENTROID_OFFSET", "MY_INDEX" };
static const char *const out_words[] = { NULL, "EMIT", "CUT", "EMIT_THEN_CUT" };
static const char *const fcco_words[] = { "SP", "DP0Z", "DP1XY", "DP1Z" };
static const char *const fswz_words[] = { "0000", "1111", "2222", "3333", "1032", "2301" };
static const char *const rtt_words[] = { NULL, "TERMINATE", "FALLTHROUGH", "PREEMPTED" };
static const char *const bpt_words[] = { "DRAIN_ILLEGAL", "CAL", "PAUSE", "TRAP", "INT", "DRAIN" };
static const char *const b2r_words[] = { NULL, "RESULT", "WARP" };
static const char *const keep_words[] = { NULL, "KEEPREFCOUNT" };
static const char *const en_words[] = { NULL, "EN" };
static const char *const trig_words[] = { NULL, "TRIG" };
static const char *const wait_words[] = { NULL, "WAIT" };
static const char *const left_words[] = { "R", "L" };

#define FLAG(word) static const char *const word##_flag[] = { NULL, #word }
FLAG(FTZ);
FLAG(FMZ);
FLAG(SAT);
FLAG(X);
FLAG(PO);
FLAG(AVRG);
FLAG(HI);
FLAG(W);
FLAG(BF);
FLAG(BREV);
FLAG(SH);
FLAG(H1);
FLAG(E);
FLAG(B);
FLAG(DC);
FLAG(AOFFI);
FLAG(PTP);
FLAG(MS);
FLAG(CL);
FLAG(NDV);
FLAG(NODEP);
FLAG(U);
FLAG(LMT);
FLAG(NOINC);
FLAG(MX);
FLAG(O);
static const char *const one_d_flag[] = { NULL, "1D" };
static const char *const three_d_flag[] = { NULL, "3D" };

static void put_madsp(struct sm_text *t, const struct sm_insn *in)
{
	if (in->sd)
		sm_put(t, ".SD");
	else
		sm_put(t, ".%s.%s.%s", type_words[in->stype[0]], type_words[in->stype[1]],
		       type_words[in->stype[2]]);
}

static void put_factors(struct sm_text *t, const struct sm_insn *in)
{
	if (in->stype[0] != SM_S32 || in->stype[1] != SM_S32)
		sm_put(t, ".%s.%s", type_words[in->stype[0]], type_words[in->stype[1]]);
}

static void put_f2f(struct sm_text *t, const struct sm_insn *in)
{
	if (in->type != in->stype[0]) {
		if (in->round)
			sm_put(t, ".%s", round_words[in->round]);
	} else if (in->to_int) {
		sm_put(t, ".%s", to_int_words[in->round]);
	} else if (in->round) {
		sm_put(t, ".PASS");
	}
}

static void put_scalar_types(struct sm_text *t, const struct sm_insn *in)
{
	bool shift = in->op == SM_VSHL || in->op == SM_VSHR;

	if (in->stype[0] != SM_S32 || in->stype[1] != (shift ? SM_U32 : SM_S32))
		sm_put(t, ".%s.%s", type_words[in->stype[0]], type_words[in->stype[1]]);
}

static void put_packed_types(struct sm_text *t, const struct sm_insn *in)
{
	bool is_signed = in->stype[0] == SM_S16 || in->stype[0] == SM_S8;

	if (is_signed && in->stype[0] == in->stype[1])
		return;
	sm_put(t, ".%s.%s", type_words[in->stype[0]], type_words[in->stype[1]]);
}

static void put_texmods(struct sm_text *t, const struct sm_insn *in)
{
	const struct sm_tex *x = &in->tex;

	sm_put(t, "%s%s%s%s", x->aoffi ? ".AOFFI" : "", x->shadow ? ".DC" : "",
	       x->ndv ? ".NDV" : "", x->nodep ? ".NODEP" : "");
	if (phase_words[x->phase])
		sm_put(t, ".%s", phase_words[x->phase]);
}

static void put_shf_part(struct sm_text *t, const struct sm_insn *in)
{
	if (in->hi || in->x)
		sm_put(t, in->hi && in->x ? ".XHI" : in->hi ? ".HI" : ".X");
}

static void put_sust(struct sm_text *t, const struct sm_insn *in)
{
	static const char *const cache[] = { "WB", NULL, "CS", "WT" };
	static const char *const clamp[] = { "IGN", "TRAP", NULL, "SDCL" };
	unsigned int i;

	sm_put(t, in->su_packed ? ".P" : ".B");
	if (cache[in->cache])
		sm_put(t, ".%s", cache[in->cache]);
	if (!in->su_packed) {
		sm_put(t, ".%s.%s.%s", susize_words[in->type], clamp[in->su_clamp],
		       suaddr_words[in->su_addr]);
		return;
	}
	if (in->su_mask != 15) {
		sm_put(t, ".");
		for (i = 0; i < 4; i++)
			if (in->su_mask >> i & 1)
				sm_put(t, "%c", "RGBA"[i]);
	}
	if (in->su_clamp != 3)
		sm_put(t, ".%s", clamp[in->su_clamp]);
	if (in->su_addr)
		sm_put(t, ".%s", suaddr_words[in->su_addr]);
}

/* ALD, AST: print .P if its bit is set, else .PHYS if the address is in a register. */
static void put_phys(struct sm_text *t, const struct sm_insn *in)
{
	if (in->left)
		sm_put(t, ".P");
	else if (in->src[0].reg != SM_RZ)
		sm_put(t, ".PHYS");
}

#define WORDS(name, member, words)                                  \
	{                                                           \
		name, offsetof(struct sm_insn, member), words, NULL \
	}
#define FUNCTION(name, print)        \
	{                            \
		name, 0, NULL, print \
	}

const struct sm_modifier sm_modifiers[] = {
	WORDS("ftz", ftz, FTZ_flag),
	WORDS("fmz", fmz, FMZ_flag),
	WORDS("sat", sat, SAT_flag),
	WORDS("x", x, X_flag),
	WORDS("po", po, PO_flag),
	WORDS("avrg", po, AVRG_flag),
	WORDS("hi", hi, HI_flag),
	WORDS("h1", hi, H1_flag),
	WORDS("w", wrap, W_flag),
	WORDS("bf", bf, BF_flag),
	WORDS("brev", brev, BREV_flag),
	WORDS("sh", shift_amount, SH_flag),
	WORDS("lr", left, left_words),
	WORDS("mx", max, MX_flag),
	WORDS("out", hi, O_flag),
	WORDS("t0", stype[0], type_words),
	WORDS("type", type, type_words),
	WORDS("u32", type, unsigned_words),
	WORDS("ud", type, ud_words),
	WORDS("sd", type, sd_words),
	WORDS("shf", type, shf_words),
	WORDS("size", type, size_words),
	WORDS("susize", type, susize_words),
	WORDS("atomtype", type, atom_type_words),
	FUNCTION("tt", put_packed_types),
	FUNCTION("st", put_scalar_types),
	FUNCTION("factors", put_factors),
	FUNCTION("madsp", put_madsp),
	WORDS("round", round, round_words),
	WORDS("f2i", round, f2i_words),
	FUNCTION("f2f", put_f2f),
	WORDS("cmp", cmp, cmp_words),
	WORDS("fcmp", cmp, fcmp_words),
	WORDS("cctest", cc_test, cc_words),
	WORDS("bop", bop, bool_words),
	WORDS("bop2", bop2, bool_words),
	WORDS("lop", sub, lop_words),
	WORDS("mufu", sub, mufu_words),
	WORDS("rro", sub, rro_words),
	WORDS("prmt", sub, prmt_words),
	WORDS("xmnmx", xmode, xmnmx_words),
	WORDS("xshr", xmode, xshr_words),
	WORDS("fscale", scale, scale_words),
	WORDS("vscale", scale, vmad_words),
	WORDS("vfinal", vfinal, vfinal_words),
	WORDS("acc", vfinal, acc_words),
	WORDS("xy", lanes, xy_words),
	WORDS("xyzw", lanes, xyzw_words),
	WORDS("vote", sub, vote_words),
	WORDS("vtg", sub, vtg_words),
	WORDS("shfl", sub, shfl_words),
	WORDS("bar", sub, bar_words),
	WORDS("membar", sub, membar_words),
	WORDS("b2r", sub, b2r_words),
	WORDS("wide", wide_addr, E_flag),
	WORDS("ldcache", cache, load_words),
	WORDS("llcache", cache, local_words),
	WORDS("stcache", cache, store_words),
	WORDS("ldc", ldc_mode, ldc_words),
	WORDS("atom", sub, atom_words),
	WORDS("cctl", sub, cctl_words),
	WORDS("cctlcache", cache, cctl_cache_words),
	WORDS("cctllcache", cache, cctll_cache_words),
	WORDS("texb", tex.bindless, B_flag),
	WORDS("lod", tex.lod, lod_words),
	FUNCTION("texmods", put_texmods),
	WORDS("aoffi", tex.aoffi, AOFFI_flag),
	WORDS("dc", tex.shadow, DC_flag),
	WORDS("ptp", tex.ptp, PTP_flag),
	WORDS("ms", tex.multisample, MS_flag),
	WORDS("cl", tex.clamp, CL_flag),
	WORDS("ndv", tex.ndv, NDV_flag),
	WORDS("nodep", tex.nodep, NODEP_flag),
	WORDS("phase", tex.phase, phase_words),
	WORDS("component", tex.component, component_words),
	WORDS("wait", sub, wait_words),
	WORDS("suld", cache, suld_words),
	WORDS("zclamp", su_clamp, clamp_words),
	WORDS("suaddr", su_addr, suaddr_words),
	WORDS("sumode", su_mode, sumode_words),
	FUNCTION("sust", put_sust),
	FUNCTION("shfhi", put_shf_part),
	WORDS("1d", su_1d, one_d_flag),
	WORDS("3d", su_mode, three_d_flag),
	WORDS("ipa", sub, ipa_words),
	WORDS("ipaloc", xmode, ipaloc_words),
	WORDS("pixld", sub, pixld_words),
	WORDS("outtype", sub, out_words),
	WORDS("fcco", sub, fcco_words),
	WORDS("fswz", sub, fswz_words),
	FUNCTION("phys", put_phys),
	WORDS("u", uniform, U_flag),
	WORDS("lmt", limit, LMT_flag),
	WORDS("noinc", noinc, NOINC_flag),
	WORDS("keep", sub, keep_words),
	WORDS("rtt", sub, rtt_words),
	WORDS("bpt", sub, bpt_words),
	WORDS("en", sub, en_words),
	WORDS("trig", sub, trig_words),
	{ NULL, 0, NULL, NULL },
};
