/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KVGPU_MODEL_GR_SM_INSN_H
#define KVGPU_MODEL_GR_SM_INSN_H
/*
 * A decoded instruction of GK110's shader machine (sm_35): the contract between the decoder
 * (decode.c), the handlers that execute it, and the tests' text form. Pure data, no lock.
 *
 * Sources of the encoding: envytools envydis/gk110.c, and the text that nvdisasm of CUDA 11.8
 * prints for a word.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SM_RZ	       255 /* reads zero, drops what is written */
#define SM_PT	       7 /* reads true, drops what is written */
#define SM_INSN_BYTES  8
#define SM_GROUP_WORDS 8

/* Keep the order of textures, graphics and control: bind.c and warp.c ask for ranges of these. */
enum sm_op {
	SM_ILLEGAL, /* no such encoding */
	SM_SCHED, /* scheduling control word; nothing to do */

	/* integer */
	SM_IADD,
	SM_IADD32I,
	SM_ISCADD,
	SM_ISCADD32I,
	SM_IMUL,
	SM_IMUL32I,
	SM_IMAD,
	SM_IMAD32I,
	SM_IMADSP,
	SM_IMNMX,
	SM_ISAD,
	SM_ISET,
	SM_ISETP,
	SM_ICMP,
	SM_LOP,
	SM_LOP32I,
	SM_SHL,
	SM_SHR,
	SM_SHF,
	SM_BFE,
	SM_BFI,
	SM_FLO,
	SM_POPC,

	/* float */
	SM_FADD,
	SM_FADD32I,
	SM_FMUL,
	SM_FMUL32I,
	SM_FFMA,
	SM_FFMA32I,
	SM_FMNMX,
	SM_FSET,
	SM_FSETP,
	SM_FCMP,
	SM_FCHK,
	SM_FCCO,
	SM_FSWZ,
	SM_MUFU,
	SM_RRO,

	/* double */
	SM_DADD,
	SM_DMUL,
	SM_DFMA,
	SM_DMNMX,
	SM_DSET,
	SM_DSETP,
	SM_DCHK,

	/* conversion */
	SM_F2F,
	SM_F2I,
	SM_I2F,
	SM_I2I,

	/* move, select, predicates */
	SM_MOV,
	SM_MOV32I,
	SM_SEL,
	SM_PRMT,
	SM_P2R,
	SM_R2P,
	SM_PSET,
	SM_PSETP,
	SM_CSET,
	SM_CSETP,
	SM_S2R,
	SM_B2R,
	SM_R2B,
	SM_LEPC,

	/* across the warp and the CTA */
	SM_VOTE,
	SM_VOTE_VTG,
	SM_SHFL,
	SM_BAR,
	SM_MEMBAR,

	/* video */
	SM_VADD,
	SM_VADD2,
	SM_VADD4,
	SM_VMNMX,
	SM_VMNMX2,
	SM_VMNMX4,
	SM_VSET,
	SM_VSET2,
	SM_VSET4,
	SM_VSETP,
	SM_VSEL2,
	SM_VSEL4,
	SM_VABSDIFF,
	SM_VABSDIFF2,
	SM_VABSDIFF4,
	SM_VSHL,
	SM_VSHR,
	SM_VMAD,

	/* memory */
	SM_LD,
	SM_LDG,
	SM_ST,
	SM_LDL,
	SM_STL,
	SM_LDS,
	SM_STS,
	SM_LDC,
	SM_LDSLK,
	SM_STSCUL,
	SM_ATOM,
	SM_ATOM_CAS,
	SM_CCTL,
	SM_CCTLL,
	SM_CCTLS,

	/* textures and surfaces */
	SM_TEX,
	SM_TLD,
	SM_TLD4,
	SM_TXD,
	SM_TXQ,
	SM_TMML,
	SM_TXA,
	SM_TEXDEPBAR,
	SM_STP,
	SM_SULDGA,
	SM_SUSTGA,
	SM_SUCLAMP,
	SM_SUBFM,
	SM_SUEAU,

	/* graphics stages: decoded, not executed */
	SM_IPA,
	SM_ALD,
	SM_AST,
	SM_AL2P,
	SM_VILD,
	SM_PIXLD,
	SM_OUT,

	/* Control. SAM makes quads whole for derivatives, RAM ends that. */
	SM_BRA,
	SM_BRX,
	SM_JMP,
	SM_JMX,
	SM_CAL,
	SM_JCAL,
	SM_PRET,
	SM_PLONGJMP,
	SM_SSY,
	SM_PBK,
	SM_PCNT,
	SM_EXIT,
	SM_LONGJMP,
	SM_RET,
	SM_KIL,
	SM_BRK,
	SM_CONT,
	SM_RTT,
	SM_SAM,
	SM_RAM,
	SM_IDE,
	SM_BPT,
	SM_GETCRSPTR,
	SM_GETLMEMBASE,
	SM_SETCRSPTR,
	SM_SETLMEMBASE,
	SM_NOP,

	SM_OP_COUNT,
};

/* A signed integer type is behind its unsigned one: derive.c adds 1. */
enum sm_type {
	SM_U8,
	SM_S8,
	SM_U16,
	SM_S16,
	SM_U32,
	SM_S32,
	SM_U64,
	SM_S64,
	SM_F16,
	SM_F32,
	SM_F64,
	SM_B32,
	SM_B64,
	SM_B96,
	SM_B128, /* untyped; memory widths */
	SM_U24,
	SM_S24,
	SM_U16_H0,
	SM_S16_H0,
	SM_U16_H1,
	SM_S16_H1, /* IMADSP */
	SM_F16X2,
	SM_F32_FTZ, /* ATOM */
	SM_U128, /* ATOM; LD.U.128, LDS.U.128 */
};

/* Bits of a type. */
unsigned int sm_type_bits(enum sm_type type);

enum sm_round {
	SM_RN,
	SM_RM,
	SM_RP,
	SM_RZ_MODE,
};

/*
 * Numbers as the chip encodes them: bit 0 less, bit 1 equal, bit 2 greater, bit 3 unordered (float
 * and double only).
 */
enum sm_cmp {
	SM_CMP_F,
	SM_CMP_LT,
	SM_CMP_EQ,
	SM_CMP_LE,
	SM_CMP_GT,
	SM_CMP_NE,
	SM_CMP_GE,
	SM_CMP_NUM,
	SM_CMP_NAN,
	SM_CMP_LTU,
	SM_CMP_EQU,
	SM_CMP_LEU,
	SM_CMP_GTU,
	SM_CMP_NEU,
	SM_CMP_GEU,
	SM_CMP_T,
};

enum sm_bool { SM_AND, SM_OR, SM_XOR };

/* a test of the condition code */
enum sm_cc {
	SM_CC_F,
	SM_CC_LT,
	SM_CC_EQ,
	SM_CC_LE,
	SM_CC_GT,
	SM_CC_NE,
	SM_CC_GE,
	SM_CC_NUM,
	SM_CC_NAN,
	SM_CC_LTU,
	SM_CC_EQU,
	SM_CC_LEU,
	SM_CC_GTU,
	SM_CC_NEU,
	SM_CC_GEU,
	SM_CC_T,
	SM_CC_OFF,
	SM_CC_LO,
	SM_CC_SFF,
	SM_CC_LS,
	SM_CC_HI,
	SM_CC_SFT,
	SM_CC_HS,
	SM_CC_OFT,
	SM_CC_CSM_TA,
	SM_CC_CSM_TR,
	SM_CC_CSM_MX,
	SM_CC_FCSM_TA,
	SM_CC_FCSM_TR,
	SM_CC_FCSM_MX,
	SM_CC_RLE,
	SM_CC_RGT,
};

enum sm_kind {
	SM_NONE, /* the instruction has no such operand */
	SM_REG, /* `regs` registers from `reg` on */
	SM_PRED, /* reg: P0..P6, SM_PT */
	SM_CCREG, /* the condition code as a whole */
	SM_IMM, /* imm */
	/* c[bank][offset], offset in bytes */
	SM_CONST,
	SM_SREG, /* imm: enum sm_sreg */
	SM_PRFILE, /* P0..P6 as bits 0..6 (P2R, R2P) */
};

struct sm_operand {
	uint8_t kind; /* enum sm_kind */
	uint8_t reg;
	uint8_t regs; /* how many registers; SM_REG only */
	uint8_t bank; /* SM_CONST */
	uint16_t offset; /* SM_CONST, bytes; control instructions: sm_insn.offset */
	/* byte or half of the register (enum sm_sel) */
	uint8_t sel;
	/*
	 * Packed video: 4 bits for each lane, low lane first. They name the byte (0..3 of src[0],
	 * 4..7 of src[1]) or half (0..1, 2..3) of the pair of registers that the lane takes. An
	 * immediate is the same in every lane.
	 */
	uint16_t swizzle;
	bool neg; /* arithmetic negation, after abs */
	bool abs;
	bool inv; /* bitwise complement (LOP, POPC, FLO); predicates: not */
	/* SM_IMM: SM_S32, SM_U32, SM_F16, SM_F32, SM_F64 */
	uint8_t imm_type;
	/*
	 * SM_IMM: SM_S32 sign-extended to 64 bits; SM_U32 zero-extended (video: sign-extended where
	 * stype[] is signed); floats their IEEE bits, a half or single in the low bits.
	 */
	uint64_t imm;
};

enum sm_sel { SM_SEL_WORD, SM_SEL_B0, SM_SEL_B1, SM_SEL_B2, SM_SEL_B3, SM_SEL_H0, SM_SEL_H1 };

enum sm_lop { SM_LOP_AND, SM_LOP_OR, SM_LOP_XOR, SM_LOP_PASS_B };
enum sm_mufu {
	SM_MUFU_COS,
	SM_MUFU_SIN,
	SM_MUFU_EX2,
	SM_MUFU_LG2,
	SM_MUFU_RCP,
	SM_MUFU_RSQ,
	SM_MUFU_RCP64H,
	SM_MUFU_RSQ64H
};
enum sm_rro { SM_RRO_SINCOS, SM_RRO_EX2 };
enum sm_prmt {
	SM_PRMT_IDX,
	SM_PRMT_F4E,
	SM_PRMT_B4E,
	SM_PRMT_RC8,
	SM_PRMT_ECL,
	SM_PRMT_ECR,
	SM_PRMT_RC16
};
enum sm_vote { SM_VOTE_ALL, SM_VOTE_ANY, SM_VOTE_EQ };
enum sm_shfl { SM_SHFL_IDX, SM_SHFL_UP, SM_SHFL_DOWN, SM_SHFL_BFLY };
enum sm_bar {
	SM_BAR_SYNC,
	SM_BAR_ARV,
	SM_BAR_RED_POPC,
	SM_BAR_RED_AND,
	SM_BAR_RED_OR,
	SM_BAR_SCAN,
	SM_BAR_SYNCALL
};
enum sm_membar { SM_MEMBAR_CTA, SM_MEMBAR_GL, SM_MEMBAR_SYS };
enum sm_atom {
	SM_ATOM_ADD,
	SM_ATOM_MIN,
	SM_ATOM_MAX,
	SM_ATOM_INC,
	SM_ATOM_DEC,
	SM_ATOM_AND,
	SM_ATOM_OR,
	SM_ATOM_XOR,
	SM_ATOM_EXCH,
	SM_ATOM_SAFEADD = 10,
};
enum sm_su_addr { SM_SU_ADDR_U32, SM_SU_ADDR_S32, SM_SU_ADDR_U8, SM_SU_ADDR_S8 };
enum sm_cctl {
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
};
enum sm_bpt {
	SM_BPT_DRAIN_ILLEGAL,
	SM_BPT_CAL,
	SM_BPT_PAUSE,
	SM_BPT_TRAP,
	SM_BPT_INT,
	SM_BPT_DRAIN
};
enum sm_fswz { /* FSWZ: the thread of the quad that src[0] comes from */
	       SM_FSWZ_0000,
	       SM_FSWZ_1111,
	       SM_FSWZ_2222,
	       SM_FSWZ_3333,
	       SM_FSWZ_1032,
	       SM_FSWZ_2301,
};
/* video: what is done with the primary result */
enum sm_vfinal {
	SM_V_MRG_16H,
	SM_V_MRG_16L,
	SM_V_MRG_8B0,
	SM_V_MRG_8B2, /* merged into src[2] */
	/* sum, minimum, maximum with src[2]; VSEL2, VSEL4: SM_V_ACC adds to 0 */
	SM_V_ACC,
	SM_V_MIN,
	SM_V_MAX,
	SM_V_PLAIN,
};

/* S2R: numbers of the special registers */
enum sm_sreg {
	SM_SR_LANEID = 0x00,
	SM_SR_CLOCK = 0x01,
	SM_SR_VIRTCFG = 0x02,
	SM_SR_VIRTID = 0x03,
	SM_SR_PM0 = 0x04,
	SM_SR_PM7 = 0x0b,
	SM_SR_PRIM_TYPE = 0x10,
	SM_SR_INVOCATION_ID = 0x11,
	SM_SR_Y_DIRECTION = 0x12,
	SM_SR_TID = 0x20,
	SM_SR_TID_X = 0x21,
	SM_SR_TID_Y = 0x22,
	SM_SR_TID_Z = 0x23,
	SM_SR_CTA_PARAM = 0x24,
	SM_SR_CTAID_X = 0x25,
	SM_SR_CTAID_Y = 0x26,
	SM_SR_CTAID_Z = 0x27,
	SM_SR_NTID = 0x28,
	SM_SR_CIRQUEUEINCRMINUSONE = 0x29,
	SM_SR_NLATC = 0x2a,
	SM_SR_SWINLO = 0x30,
	SM_SR_SWINSZ = 0x31,
	SM_SR_SMEMSZ = 0x32,
	SM_SR_SMEMBANKS = 0x33,
	SM_SR_LWINLO = 0x34,
	SM_SR_LWINSZ = 0x35,
	SM_SR_LMEMLOSZ = 0x36,
	SM_SR_LMEMHIOFF = 0x37,
	SM_SR_EQMASK = 0x38,
	SM_SR_LTMASK = 0x39,
	SM_SR_LEMASK = 0x3a,
	SM_SR_GTMASK = 0x3b,
	SM_SR_GEMASK = 0x3c,
	SM_SR_REGALLOC = 0x3d,
	SM_SR_CTXADDR = 0x3e,
	SM_SR_GLOBALERRORSTATUS = 0x40,
	SM_SR_WARPERRORSTATUS = 0x42,
	SM_SR_WARPERRORSTATUSCLEAR = 0x43,
	SM_SR_CLOCKLO = 0x50,
	SM_SR_CLOCKHI = 0x51,
	SM_SR_GLOBALTIMERLO = 0x52,
	SM_SR_GLOBALTIMERHI = 0x53,
};

enum sm_cache {
	SM_CACHE_CA,
	SM_CACHE_CG,
	SM_CACHE_CS,
	SM_CACHE_CV,
};

enum sm_tex_dim {
	SM_TEX_1D,
	SM_TEX_ARRAY_1D,
	SM_TEX_2D,
	SM_TEX_ARRAY_2D,
	SM_TEX_3D,
	SM_TEX_ARRAY_3D,
	SM_TEX_CUBE,
	SM_TEX_ARRAY_CUBE
};
enum sm_tex_lod { SM_LOD_AUTO, SM_LOD_LZ, SM_LOD_LB, SM_LOD_LL, SM_LOD_LBA = 6, SM_LOD_LLA = 7 };

struct sm_tex {
	uint8_t dim; /* enum sm_tex_dim; TXQ: the query's number */
	uint8_t lod; /* enum sm_tex_lod */
	/* components that are written */
	uint8_t mask;
	uint8_t component; /* TLD4: 0 red .. 3 alpha */
	/* not .bindless: the handle is word .id of constant bank sm_grid.texture_cbuf */
	uint16_t id;
	bool bindless; /* .B: the handle is the first source word */
	bool shadow; /* .DC */
	bool multisample; /* .MS */
	bool clamp; /* TLD.CL */
	bool aoffi; /* .AOFFI: packed offsets, for TXD in the word that has the layer */
	bool ptp; /* .PTP: TLD4 with four offsets */
	bool ndv, nodep;
	uint8_t phase; /* none, .T, .P: scheduling only */
};

struct sm_insn {
	uint64_t raw;
	uint16_t op; /* enum sm_op */
	uint8_t guard; /* predicate, SM_PT: none */
	bool guard_not;
	/* .S: after this instruction the threads wait for the topmost token (control.c) */
	bool join;
	/* enum sm_cc; SM_CC_T where nothing is tested. BRA etc: taken if guard and test hold */
	uint8_t cc_test;
	bool set_cc; /* .CC: write the result's flags to the condition code */
	/* .X: add the carry; Z is kept only if the result is zero as well */
	bool x;

	/*
	 * In the order of the text form, destinations apart: dst[0], dst[1] (SETP: the two
	 * predicates; SHFL, SUCLAMP...: dst[0] is the predicate and dst[1] the register). src[] has
	 * no gaps. Memory: src[0] is the base register (SM_RZ: none), src[1] the data of a store or
	 * atomic, src[2] ATOM_CAS' new value. Operands that the encoding has and the text form
	 * leaves out are here too.
	 */
	struct sm_operand dst[2];
	struct sm_operand src[4];

	/* a value of the enum of the instruction's family */
	uint8_t sub;
	/* enum sm_type of the result, of the access, or of what is compared */
	uint8_t type;
	/* enum sm_type of each source, where they can differ */
	uint8_t stype[3];
	uint8_t round; /* enum sm_round */
	uint8_t cmp; /* enum sm_cmp */
	/* enum sm_bool: combines the comparison with the last predicate source */
	uint8_t bop;
	uint8_t bop2; /* PSET, PSETP: combines the first two sources */
	bool bf; /* .BF: true is 1.0f instead of all ones */
	/* .SAT: clamp; .FTZ: subnormals are 0; .FMZ: the same, and 0 times anything is 0 */
	bool sat, ftz, fmz;
	bool hi; /* .HI: upper half; P2R, R2P: .H1; ALD, AL2P: .O */
	bool wrap; /* .W: a shift's count is taken modulo the width */
	bool left; /* SHF.L, else .R; ALD, AST: .P */
	bool brev; /* BFE, SHR: .BREV: reverse the bits first */
	bool po; /* .PO: plus one; VADD2, VADD4: .AVRG, the rounded average */
	bool neg_product; /* IMAD, VMAD: the product is negated */
	/* IMADSP.SD: src[1] has the types */
	bool sd;
	bool shift_amount; /* FLO.SH: give 31 - position */
	bool to_int; /* F2F between equal types: round to a whole number */
	bool wide_addr; /* .E: 64-bit base */
	/*
	 * FMUL: 0 none, 1 D2, 2 D4, 3 D8, 4 M8, 5 M4, 6 M2; VMAD: 0 none, 1 shift right by 7, 2 by
	 * 15
	 */
	uint8_t scale;
	/*
	 * MOV, MOV32I: which threads of each quad write (bit 0: the first), 0xf: all. Packed video:
	 * which parts of the result are written (SM_V_ACC: added to src[2]), bit 0 the lowest; the
	 * other parts come from src[2], and are 0 in VSEL2 and VSEL4. FSWZ: two bits for each
	 * thread of the quad, the first thread's on top (bits 7:6): 0 a + b, 1 b - a, 2 a - b, 3 b,
	 * where a is src[0] of the thread that enum sm_fswz names, and b src[1] of the thread
	 * itself.
	 */
	uint8_t lanes;
	uint8_t cache; /* enum sm_cache; CCTL, CCTLL: which cache */
	uint8_t bank; /* LDC: constant bank */
	int32_t offset; /* memory, LDC: bytes added to the base */
	/* .X of IMNMX: 0, 1 XLO, 2 XMED, 3 XHI; SHR: 0, 2 X, 3 XHI; IPA: 0, 1 CENTROID, 2 OFFSET */
	uint8_t xmode;
	bool max; /* VMNMX.MX */
	/* LDC: 0 plain, 1 .IL, 2 .IS, 3 .ISL */
	uint8_t ldc_mode;
	uint8_t vfinal; /* enum sm_vfinal */
	bool uniform; /* BRA.U */
	bool limit; /* .LMT */
	bool noinc; /* CAL.NOINC, PRET.NOINC */
	/*
	 * Branches. src[0] of kind SM_IMM is the target in bytes: sign-extended and relative to the
	 * next word where `relative` is set, else absolute.
	 * SM_CONST: the target is read from the bank, at `offset` (BRX, JMX: plus src[1]). BRX, JMX
	 * otherwise: src[0] is the base register, and `offset` is added.
	 */
	bool relative;
	struct sm_tex tex;
	/* surface instructions, down to su_mask */
	/* SUCLAMP: 0..4 SD.R1..R16, 5..9 PL.R1..R16, 10..14 BL.R1..R16; SUBFM: 0 2D, 1 3D */
	uint8_t su_mode;
	uint8_t su_clamp; /* 0 .Z / .IGN, 1 .TRAP, 3 .SDCL */
	bool su_1d; /* SUCLAMP.1D */
	bool su_packed; /* SUSTGA.P: format conversion; else .B raw bytes */
	uint8_t su_addr; /* type of the offset word: enum sm_su_addr */
	uint8_t su_mask;
};

/*
 * Decode the word at address @addr of a program (bytes from the code base). Return false for an
 * illegal encoding; insn->op is then SM_ILLEGAL. A word whose address is a multiple of 64 is
 * SM_SCHED, whatever it holds.
 */
bool sm_decode(uint64_t word, uint64_t addr, struct sm_insn *insn);

#endif
