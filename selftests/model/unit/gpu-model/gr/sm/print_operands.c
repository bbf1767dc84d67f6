// SPDX-License-Identifier: GPL-2.0-only
/* The operands between the braces of the text forms. */
#include "gr/sm/encoding.h"
#include "print.h"

#define OPERAND(name) static void name(struct sm_text *t, const struct sm_insn *in, uint64_t addr)

OPERAND(put_dst0)
{
	sm_put_operand(t, &in->dst[0]);
	if (in->set_cc)
		sm_put(t, ".CC");
}

OPERAND(put_dst1)
{
	sm_put_operand(t, &in->dst[1]);
}
OPERAND(put_a)
{
	sm_put_operand(t, &in->src[0]);
}
OPERAND(put_b)
{
	sm_put_operand(t, &in->src[1]);
}
OPERAND(put_c)
{
	sm_put_operand(t, &in->src[2]);
}
OPERAND(put_x3)
{
	sm_put_operand(t, &in->src[3]);
}

/* b without its sign, which is in the mnemonic (ISUB) */
OPERAND(put_b_plain)
{
	struct sm_operand o = in->src[1];

	o.neg = false;
	sm_put_operand(t, &o);
}

/* the first factor, with the sign of the product */
OPERAND(put_product)
{
	struct sm_operand o = in->src[0];

	o.neg = in->neg_product;
	sm_put_operand(t, &o);
}

/* R2P's mask: without a sign */
OPERAND(put_b_unsigned)
{
	if (in->src[1].kind == SM_IMM)
		sm_put_hex(t, in->src[1].imm & 0xfffff);
	else
		sm_put_operand(t, &in->src[1]);
}

static void put_unless_rz(struct sm_text *t, const struct sm_operand *o)
{
	if (o->kind != SM_REG || o->reg != SM_RZ)
		sm_put_operand(t, o);
}

OPERAND(put_dst0_unless_rz)
{
	put_unless_rz(t, &in->dst[0]);
}
OPERAND(put_a_unless_rz)
{
	put_unless_rz(t, &in->src[0]);
}
OPERAND(put_b_unless_rz)
{
	put_unless_rz(t, &in->src[1]);
}
OPERAND(put_c_unless_rz)
{
	put_unless_rz(t, &in->src[2]);
}

OPERAND(put_dst1_unless_pt)
{
	if (in->dst[1].reg != SM_PT)
		sm_put_operand(t, &in->dst[1]);
}

OPERAND(put_a_plain)
{
	struct sm_operand o = in->src[0];

	o.neg = false;
	sm_put_operand(t, &o);
}

OPERAND(put_dst1_nonzero)
{
	if (in->dst[1].reg)
		sm_put_operand(t, &in->dst[1]);
}

OPERAND(put_a_nonzero)
{
	if (in->src[0].imm)
		sm_put_operand(t, &in->src[0]);
}

static void put_video_imm(struct sm_text *t, const struct sm_operand *o, uint64_t mask)
{
	sm_put(t, "%s", o->neg && (o->imm & mask) ? "-" : "");
	sm_put_hex(t, o->imm & mask);
}

/* A video instruction's operand, with the part of the register that it takes (.B1, .H1, ...). */
static void put_part(struct sm_text *t, const struct sm_insn *in, unsigned int n)
{
	static const char *const words[] = {
		[SM_SEL_B1] = ".B1",
		[SM_SEL_B2] = ".B2",
		[SM_SEL_B3] = ".B3",
		[SM_SEL_H1] = ".H1",
	};
	struct sm_operand o = in->src[n];

	if (in->op == SM_VMAD && n == 0)
		o.neg = in->neg_product;
	if (o.kind == SM_IMM) {
		put_video_imm(t, &o, 0xffff);
		return;
	}
	sm_put_operand(t, &o);
	if (o.kind == SM_REG && o.sel < sizeof(words) / sizeof(words[0]) && words[o.sel])
		sm_put(t, "%s", words[o.sel]);
}

/* The part is printed as encoded, even where it has no effect. */
static void put_converted(struct sm_text *t, const struct sm_insn *in)
{
	static const char *const bytes[] = { NULL, ".B1", ".B2", ".B3" };
	static const char *const halves[] = { NULL, ".H0", ".H1", ".H1" };
	const char *part = bytes[in->sub & 3];

	if (in->op == SM_F2F || in->op == SM_F2I)
		part = in->sub ? ".H1" : NULL;
	else if (in->stype[0] == SM_U16 || in->stype[0] == SM_S16)
		part = halves[in->sub & 3];
	sm_put_part(t, &in->src[0], part);
}

OPERAND(put_a_part)
{
	if (in->op == SM_F2F || in->op == SM_F2I || in->op == SM_I2F || in->op == SM_I2I)
		put_converted(t, in);
	else
		put_part(t, in, 0);
}

OPERAND(put_b_part)
{
	put_part(t, in, 1);
}

static void put_swizzle(struct sm_text *t, const struct sm_insn *in, unsigned int n)
{
	bool halves = in->stype[0] == SM_U16 || in->stype[0] == SM_S16;
	static const uint16_t identity[2][2] = { { 0x3210, 0x7654 }, { 0x10, 0x32 } };
	struct sm_operand o = in->src[n];

	if (o.kind == SM_IMM) {
		put_video_imm(t, &o, halves ? 0xffff : 0xff);
		return;
	}
	sm_put_operand(t, &o);
	if (o.kind == SM_REG && o.swizzle != identity[halves][n])
		sm_put(t, halves ? ".%02x" : ".%04x", o.swizzle);
}

OPERAND(put_a_swizzle)
{
	put_swizzle(t, in, 0);
}
OPERAND(put_b_swizzle)
{
	put_swizzle(t, in, 1);
}

OPERAND(put_lanes)
{
	if (in->lanes != 0xf)
		sm_put_hex(t, in->lanes);
}

OPERAND(put_signs)
{
	int lane;

	for (lane = 3; lane >= 0; lane--)
		sm_put(t, "%c%c", "PNPZ"[in->lanes >> (2 * lane) & 3],
		       "PPNP"[in->lanes >> (2 * lane) & 3]);
}

static uint32_t address_mask(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_ATOM:
	case SM_ATOM_CAS:
		return 0xfffff;
	case SM_LDL:
	case SM_STL:
	case SM_LDS:
	case SM_STS:
	case SM_LDSLK:
	case SM_STSCUL:
	case SM_CCTLL:
		return 0xffffff;
	case SM_PIXLD:
	case SM_VILD:
		return 0xff;
	default:
		return 0xffffffff;
	}
}

OPERAND(put_mem)
{
	bool based = in->src[0].reg != SM_RZ;

	sm_put(t, "[");
	if (in->op == SM_LDC && in->src[0].reg == SM_RZ)
		sm_put_hex(t, in->offset);
	else
		sm_put_address(t, in->src[0].reg,
			       based ? in->offset :
				       (int64_t)((uint32_t)in->offset & address_mask(in)));
	sm_put(t, "]");
}

OPERAND(put_attr)
{
	sm_put(t, "a");
	put_mem(t, in, addr);
}

OPERAND(put_vmem)
{
	sm_put(t, "v");
	put_mem(t, in, addr);
}

OPERAND(put_cmem)
{
	sm_put(t, "c[0x%x]", in->bank);
	put_mem(t, in, addr);
}

OPERAND(put_sumem)
{
	sm_put(t, "[");
	sm_put_reg(t, in->src[0].reg);
	sm_put(t, "]");
}

OPERAND(put_number)
{
	if (in->offset)
		sm_put_hex(t, in->offset);
}

/* 0 (all of the CTA) is left out, except with ARV and SCAN. */
OPERAND(put_bar_count)
{
	bool shown = in->sub == SM_BAR_ARV || in->sub == SM_BAR_SCAN;

	if (shown || in->src[1].kind != SM_IMM || in->src[1].imm)
		sm_put_operand(t, &in->src[1]);
}

OPERAND(put_cc)
{
	static const char *const words[] = {
		"F",	  "LT",	    "EQ",     "LE",	 "GT",	    "NE",      "GE",  "NUM",
		"NAN",	  "LTU",    "EQU",    "LEU",	 "GTU",	    "NEU",     "GEU", "T",
		"OFF",	  "LO",	    "SFF",    "LS",	 "HI",	    "SFT",     "HS",  "OFT",
		"CSM_TA", "CSM_TR", "CSM_MX", "FCSM_TA", "FCSM_TR", "FCSM_MX", "RLE", "RGT",
	};

	if (in->cc_test != SM_CC_T)
		sm_put(t, "CC.%s", words[in->cc_test]);
}

static void put_const_target(struct sm_text *t, const struct sm_insn *in)
{
	sm_put(t, "c[0x%x][", in->src[0].bank);
	if (in->src[1].kind == SM_REG && (in->src[1].reg != SM_RZ || !in->offset))
		sm_put_address(t, in->src[1].reg, in->offset);
	else
		sm_put_hex(t, in->offset);
	sm_put(t, "]");
}

OPERAND(put_target)
{
	if (in->src[0].kind == SM_CONST)
		put_const_target(t, in);
	else
		sm_put_hex(t, in->src[0].imm + (in->relative ? addr + SM_INSN_BYTES : 0));
}

OPERAND(put_table)
{
	if (in->src[0].kind == SM_CONST) {
		put_const_target(t, in);
		return;
	}
	sm_put_reg(t, in->src[0].reg);
	if (in->offset) {
		sm_put(t, " ");
		sm_put_hex(t, in->offset);
	}
}

OPERAND(put_texid)
{
	sm_put_hex(t, in->tex.id);
}
OPERAND(put_mask)
{
	sm_put_hex(t, in->tex.mask);
}

OPERAND(put_dim)
{
	static const char *const words[] = { "1D", "ARRAY_1D", "2D",   "ARRAY_2D",
					     "3D", "ARRAY_3D", "CUBE", "ARRAY_CUBE" };

	sm_put(t, "%s", words[in->tex.dim]);
}

OPERAND(put_query)
{
	static const char *const words[] = {
		[1] = "TEX_HEADER_DIMENSION",	   [2] = "TEX_HEADER_TEXTURE_TYPE",
		[5] = "TEX_HEADER_SAMPLER_POS",	   [16] = "TEX_SAMPLER_FILTER",
		[18] = "TEX_SAMPLER_LOD",	   [20] = "TEX_SAMPLER_WRAP",
		[22] = "TEX_SAMPLER_BORDER_COLOR",
	};

	sm_put(t, "%s", words[in->tex.dim]);
}

OPERAND(put_sreg)
{
	/* clang-format off */
	static const char *const words[256] = {
		[0x00] = "SR_LANEID", "SR_CLOCK", "SR_VIRTCFG", "SR_VIRTID", "SR_PM0", "SR_PM1",
			"SR_PM2", "SR_PM3", "SR_PM4", "SR_PM5",
		"SR_PM6", "SR_PM7",
		[0x10] = "SR_PRIM_TYPE", "SR_INVOCATION_ID", "SR_Y_DIRECTION", "SR_THREAD_KILL",
			"SM_SHADER_TYPE",
		[0x18] = "SR_MACHINE_ID_0", "SR_MACHINE_ID_1", "SR_MACHINE_ID_2", "SR_MACHINE_ID_3",
			"SR_AFFINITY",
		[0x20] = "SR_TID", "SR_TID.X", "SR_TID.Y", "SR_TID.Z", "SR_CTA_PARAM", "SR_CTAID.X",
			"SR_CTAID.Y", "SR_CTAID.Z",
		"SR_NTID", "SR_CirQueueIncrMinusOne", "SR_NLATC",
		[0x30] = "SR_SWINLO", "SR_SWINSZ", "SR_SMEMSZ", "SR_SMEMBANKS", "SR_LWINLO",
			"SR_LWINSZ", "SR_LMEMLOSZ", "SR_LMEMHIOFF",
		"SR_EQMASK", "SR_LTMASK", "SR_LEMASK", "SR_GTMASK", "SR_GEMASK", "SR_REGALLOC",
			"SR_CTXADDR",
		[0x40] = "SR_GLOBALERRORSTATUS", [0x42] = "SR_WARPERRORSTATUS",
			"SR_WARPERRORSTATUSCLEAR",
		[0x50] = "SR_CLOCKLO", "SR_CLOCKHI", "SR_GLOBALTIMERLO", "SR_GLOBALTIMERHI",
		[0x60] = "SR_HWTASKID", "SR_CIRCULARQUEUEENTRYINDEX",
			"SR_CIRCULARQUEUEENTRYADDRESSLOW",
		"SR_CIRCULARQUEUEENTRYADDRESSHIGH",
	};
	/* clang-format on */
	unsigned int n = in->src[0].imm & 0xff;

	if (words[n])
		sm_put(t, "%s", words[n]);
	else
		sm_put(t, "SR%u", n);
}

const struct sm_operand_form sm_operand_forms[] = {
	{ "d", put_dst0 },
	{ "e", put_dst1 },
	{ "a", put_a },
	{ "b", put_b },
	{ "c", put_c },
	{ "x3", put_x3 },
	{ "aplain", put_a_plain },
	{ "bplain", put_b_plain },
	{ "bunsigned", put_b_unsigned },
	{ "dnorz", put_dst0_unless_rz },
	{ "anorz", put_a_unless_rz },
	{ "bnorz", put_b_unless_rz },
	{ "cnorz", put_c_unless_rz },
	{ "enopt", put_dst1_unless_pt },
	{ "product", put_product },
	{ "ecco", put_dst1_nonzero },
	{ "anonzero", put_a_nonzero },
	{ "apart", put_a_part },
	{ "bpart", put_b_part },
	{ "aswz", put_a_swizzle },
	{ "bswz", put_b_swizzle },
	{ "lanes", put_lanes },
	{ "signs", put_signs },
	{ "mem", put_mem },
	{ "attr", put_attr },
	{ "vmem", put_vmem },
	{ "cmem", put_cmem },
	{ "sumem", put_sumem },
	{ "number", put_number },
	{ "barcount", put_bar_count },
	{ "cc", put_cc },
	{ "target", put_target },
	{ "table", put_table },
	{ "texid", put_texid },
	{ "mask", put_mask },
	{ "dim", put_dim },
	{ "query", put_query },
	{ "sreg", put_sreg },
	{ NULL, NULL },
};
