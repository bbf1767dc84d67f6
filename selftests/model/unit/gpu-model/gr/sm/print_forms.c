// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text form of each instruction. print.c prints a comma where a form has a blank between
 * operands.
 */
#include "gr/sm/encoding.h"
#include "print.h"

struct form {
	const char *name, *text;
};

/* each instruction's name, and the form of what follows the name */
static const struct form forms[SM_OP_COUNT] = {
	[SM_ILLEGAL] = { "ILLEGAL", "" },
	[SM_SCHED] = { "SCHED", "" },

	[SM_IADD] = { "IADD", "{po}{sat}{x} {d} {a} {b}" },
	[SM_IADD32I] = { "IADD32I", "{po}{sat}{x} {d} {a} {b}" },
	[SM_ISCADD] = { "ISCADD", "{po} {d} {a} {b} {c}" },
	[SM_ISCADD32I] = { "ISCADD32I", " {d} {a} {b} {c}" },
	[SM_IMUL] = { "IMUL", "{factors}{hi} {d} {a} {b}" },
	[SM_IMUL32I] = { "IMUL32I", "{factors}{hi} {d} {a} {b}" },
	[SM_IMAD] = { "IMAD", "{factors}{hi}{po}{sat}{x} {d} {product} {b} {c}" },
	[SM_IMAD32I] = { "IMAD32I", "{factors}{hi}{po} {d} {product} {b} {c}" },
	[SM_IMADSP] = { "IMADSP", "{madsp} {d} {a} {b} {c}" },
	[SM_IMNMX] = { "IMNMX", "{u32}{xmnmx} {d} {a} {b} {c}" },
	[SM_ISAD] = { "ISAD", "{u32} {d} {a} {b} {c}" },
	[SM_ISET] = { "ISET", "{bf}{cmp}{u32}{x}{bop} {d} {a} {b} {c}" },
	[SM_ISETP] = { "ISETP", "{cmp}{u32}{x}{bop} {d} {e} {a} {b} {c}" },
	[SM_ICMP] = { "ICMP", "{cmp}{u32} {d} {a} {b} {c}" },
	[SM_LOP] = { "LOP", "{lop}{x} {d} {a} {b}" },
	[SM_LOP32I] = { "LOP32I", "{lop}{x} {d} {a} {b}" },
	[SM_SHL] = { "SHL", "{w}{x} {d} {a} {b}" },
	[SM_SHR] = { "SHR", "{u32}{w}{xshr}{brev} {d} {a} {b}" },
	[SM_SHF] = { "SHF", "{lr}{w}{shf}{shfhi} {d} {a} {b} {c}" },
	[SM_BFE] = { "BFE", "{u32}{brev} {d} {a} {b}" },
	[SM_BFI] = { "BFI", " {d} {a} {b} {c}" },
	[SM_FLO] = { "FLO", "{u32}{sh} {d} {a}" },
	[SM_POPC] = { "POPC", " {d} {a} {b}" },

	[SM_FADD] = { "FADD", "{ftz}{round}{sat} {d} {a} {b}" },
	[SM_FADD32I] = { "FADD32I", "{ftz} {d} {a} {b}" },
	[SM_FMUL] = { "FMUL", "{ftz}{fmz}{fscale}{round}{sat} {d} {a} {b}" },
	[SM_FMUL32I] = { "FMUL32I", "{ftz}{fmz}{sat} {d} {a} {b}" },
	[SM_FFMA] = { "FFMA", "{ftz}{fmz}{round}{sat} {d} {a} {b} {c}" },
	[SM_FFMA32I] = { "FFMA32I", "{ftz}{fmz}{sat} {d} {a} {b} {c}" },
	[SM_FMNMX] = { "FMNMX", "{ftz} {d} {a} {b} {c}" },
	[SM_FSET] = { "FSET", "{bf}{cmp}{ftz}{bop} {d} {a} {b} {c}" },
	[SM_FSETP] = { "FSETP", "{cmp}{ftz}{bop} {d} {e} {a} {b} {c}" },
	[SM_FCMP] = { "FCMP", "{fcmp}{ftz} {d} {a} {b} {c}" },
	[SM_FCHK] = { "FCHK.DIVIDE", " {d} {a} {b}" },
	[SM_FCCO] = { "FCCO", "{fcco} {d} {ecco} {a} {b} {cnorz}" },
	[SM_FSWZ] = { "FSWZ", "{fswz}{ftz}{round}{ndv} {d} {a} {b} {signs}" },
	[SM_MUFU] = { "MUFU", "{mufu}{sat} {d} {a}" },
	[SM_RRO] = { "RRO", "{rro} {d} {a}" },

	[SM_DADD] = { "DADD", "{round} {d} {a} {b}" },
	[SM_DMUL] = { "DMUL", "{round} {d} {a} {b}" },
	[SM_DFMA] = { "DFMA", "{round} {d} {a} {b} {c}" },
	[SM_DMNMX] = { "DMNMX", " {d} {a} {b} {c}" },
	[SM_DSET] = { "DSET", "{bf}{cmp}{bop} {d} {a} {b} {c}" },
	[SM_DSETP] = { "DSETP", "{cmp}{bop} {d} {e} {a} {b} {c}" },
	[SM_DCHK] = { "DCHK.DIVIDE", " {d} {a} {b}" },

	[SM_F2F] = { "F2F", "{ftz}{type}{t0}{f2f}{sat} {d} {apart}" },
	[SM_F2I] = { "F2I", "{ftz}{type}{t0}{f2i} {d} {apart}" },
	[SM_I2F] = { "I2F", "{type}{t0}{round} {d} {apart}" },
	[SM_I2I] = { "I2I", "{type}{t0}{sat} {d} {apart}" },

	[SM_MOV] = { "MOV", " {d} {a} {lanes}" },
	[SM_MOV32I] = { "MOV32I", " {d} {a} {lanes}" },
	[SM_SEL] = { "SEL", " {d} {a} {b} {c}" },
	[SM_PRMT] = { "PRMT", "{prmt} {d} {a} {b} {c}" },
	[SM_P2R] = { "P2R", "{h1} {d} {a} {b} {c}" },
	[SM_R2P] = { "R2P", "{h1} {d} {a} {bunsigned}" },
	[SM_PSET] = { "PSET", "{bf}{bop2}{bop} {d} {a} {b} {c}" },
	[SM_PSETP] = { "PSETP", "{bop2}{bop} {d} {e} {a} {b} {c}" },
	[SM_CSET] = { "CSET", "{bf}{cctest}{bop} {d} {a} {b}" },
	[SM_CSETP] = { "CSETP", "{cctest}{bop} {d} {e} {a} {b}" },
	[SM_S2R] = { "S2R", " {d} {sreg}" },
	[SM_B2R] = { "B2R", "{b2r} {d} {enopt} {a}" },
	[SM_R2B] = { "R2B", "{b2r} {a} {b}" },
	[SM_LEPC] = { "LEPC", " {d}" },

	[SM_VOTE] = { "VOTE", "{vote} {dnorz} {e} {a}" },
	[SM_VOTE_VTG] = { "VOTE.VTG", "{vtg} {a}" },
	[SM_SHFL] = { "SHFL", "{shfl} {d} {e} {a} {b} {c}" },
	[SM_BAR] = { "BAR", "{bar} {a} {barcount} {c}" },
	[SM_MEMBAR] = { "MEMBAR", "{membar}" },

	[SM_VADD] = { "VADD", "{ud}{st}{po}{sat}{vfinal} {d} {apart} {bpart} {c}" },
	[SM_VMNMX] = { "VMNMX", "{ud}{st}{mx}{sat}{vfinal} {d} {apart} {bpart} {c}" },
	[SM_VSET] = { "VSET", "{cmp}{st}{vfinal} {d} {apart} {bpart} {c}" },
	[SM_VSETP] = { "VSETP", "{cmp}{st}{bop} {d} {e} {apart} {bpart} {c}" },
	[SM_VABSDIFF] = { "VABSDIFF", "{sd}{st}{sat}{vfinal} {d} {apart} {bpart} {c}" },
	[SM_VSHL] = { "VSHL", "{ud}{st}{w}{sat}{vfinal} {d} {apart} {bpart} {c}" },
	[SM_VSHR] = { "VSHR", "{ud}{st}{w}{sat}{vfinal} {d} {apart} {bpart} {c}" },
	[SM_VMAD] = { "VMAD", "{st}{po}{vscale}{sat} {d} {apart} {bpart} {c}" },
	[SM_VADD2] = { "VADD2", "{ud}{tt}{avrg}{sat}{acc}{xy} {d} {aswz} {bswz} {c}" },
	[SM_VMNMX2] = { "VMNMX2", "{ud}{tt}{mx}{sat}{acc}{xy} {d} {aswz} {bswz} {c}" },
	[SM_VSET2] = { "VSET2", "{cmp}{tt}{acc}{xy} {d} {aswz} {bswz} {c}" },
	[SM_VSEL2] = { "VSEL2", "{ud}{tt}{sat}{acc}{xy} {d} {aswz} {bswz} {c}" },
	[SM_VABSDIFF2] = { "VABSDIFF2", "{sd}{tt}{sat}{acc}{xy} {d} {aswz} {bswz} {c}" },
	[SM_VADD4] = { "VADD4", "{ud}{tt}{avrg}{sat}{acc}{xyzw} {d} {aswz} {bswz} {c}" },
	[SM_VMNMX4] = { "VMNMX4", "{ud}{tt}{mx}{sat}{acc}{xyzw} {d} {aswz} {bswz} {c}" },
	[SM_VSET4] = { "VSET4", "{cmp}{tt}{acc}{xyzw} {d} {aswz} {bswz} {c}" },
	[SM_VSEL4] = { "VSEL4", "{ud}{tt}{sat}{acc}{xyzw} {d} {aswz} {bswz} {c}" },
	[SM_VABSDIFF4] = { "VABSDIFF4", "{sd}{tt}{sat}{acc}{xyzw} {d} {aswz} {bswz} {c}" },

	[SM_LD] = { "LD", "{wide}{ldcache}{size} {d} {mem}" },
	[SM_LDG] = { "LDG", "{wide}{ldcache}{size}{phase} {d} {mem}" },
	[SM_ST] = { "ST", "{wide}{stcache}{size} {mem} {b}" },
	[SM_LDL] = { "LDL", "{llcache}{size} {d} {mem}" },
	[SM_STL] = { "STL", "{stcache}{size} {mem} {b}" },
	[SM_LDS] = { "LDS", "{size} {d} {mem}" },
	[SM_STS] = { "STS", "{size} {mem} {b}" },
	[SM_LDC] = { "LDC", "{size}{ldc} {d} {cmem}" },
	[SM_LDSLK] = { "LDSLK", "{size} {d} {e} {mem}" },
	[SM_STSCUL] = { "STSCUL", "{size} {d} {mem} {b}" },
	[SM_ATOM] = { "ATOM", "{wide}{atom}{atomtype} {d} {mem} {b}" },
	[SM_ATOM_CAS] = { "ATOM", "{wide}.CAS{size} {d} {mem} {b} {c}" },
	[SM_CCTL] = { "CCTL", "{wide}{cctlcache}{cctl} {mem}" },
	[SM_CCTLL] = { "CCTLL", "{cctllcache}{cctl} {mem}" },
	[SM_CCTLS] = { "CCTLS", "{cctl}" },

	[SM_TEX] = { "TEX", "{texb}{lod}{texmods} {d} {a} {bnorz} {texid} {dim} {mask}" },
	[SM_TLD] = { "TLD",
		     "{texb}{lod}{aoffi}{ms}{cl}{nodep}{phase} {d} {a} {bnorz} {texid} {dim} {mask}" },
	[SM_TLD4] = { "TLD4",
		      "{component}{texb}{aoffi}{ptp}{dc}{ndv}{nodep}{phase} {d} {a} {bnorz} {texid} {dim} {mask}" },
	[SM_TXD] = { "TXD", "{texb}{aoffi}{nodep}{phase} {d} {a} {b} {texid} {dim} {mask}" },
	[SM_TXQ] = { "TXQ", "{texb}{nodep}{phase} {d} {a} {query} {texid} {mask}" },
	[SM_TMML] = { "TMML",
		      "{texb}.LOD{ndv}{nodep}{phase} {d} {a} {bnorz} {texid} {dim} {mask}" },
	[SM_TXA] = { "TXA", "{ndv}{nodep}{phase} {d} {a} {texid} {mask}" },
	[SM_TEXDEPBAR] = { "TEXDEPBAR", " {a}" },
	[SM_STP] = { "STP", "{wait}{phase} {a}" },
	[SM_SULDGA] = { "SULDGA.B", "{suld}{susize}{zclamp}{suaddr} {d} {sumem} {b} {c}" },
	[SM_SUSTGA] = { "SUSTGA", "{sust} {sumem} {b} {c} {x3}" },
	[SM_SUCLAMP] = { "SUCLAMP", "{1d}{u32}{sumode} {d} {e} {a} {b} {c}" },
	[SM_SUBFM] = { "SUBFM", "{3d} {d} {e} {a} {b} {c}" },
	[SM_SUEAU] = { "SUEAU", " {d} {a} {b} {c}" },

	[SM_IPA] = { "IPA", "{ipa}{ipaloc}{sat} {d} {attr} {b} {cnorz}" },
	[SM_ALD] = { "ALD", "{out}{phys}{size} {d} {attr} {bnorz}" },
	[SM_AST] = { "AST", "{phys}{size} {attr} {b} {cnorz}" },
	[SM_AL2P] = { "AL2P", "{out}{size} {d} {anorz} {number}" },
	[SM_VILD] = { "VILD", " {d} {vmem}" },
	[SM_PIXLD] = { "PIXLD", "{pixld} {d} {enopt} {mem}" },
	[SM_OUT] = { "OUT", "{outtype} {d} {a} {b}" },

	[SM_BRA] = { "BRA", "{u}{lmt} {cc} {target}" },
	[SM_BRX] = { "BRX", "{lmt} {cc} {table}" },
	[SM_JMP] = { "JMP", "{u}{lmt} {cc} {target}" },
	[SM_JMX] = { "JMX", "{lmt} {cc} {table}" },
	[SM_CAL] = { "CAL", "{noinc} {target}" },
	[SM_JCAL] = { "JCAL", "{noinc} {target}" },
	[SM_PRET] = { "PRET", "{noinc} {target}" },
	[SM_PLONGJMP] = { "PLONGJMP", " {target}" },
	[SM_SSY] = { "SSY", " {target}" },
	[SM_PBK] = { "PBK", " {target}" },
	[SM_PCNT] = { "PCNT", " {target}" },
	[SM_EXIT] = { "EXIT", "{keep} {cc}" },
	[SM_LONGJMP] = { "LONGJMP", " {cc}" },
	[SM_RET] = { "RET", " {cc}" },
	[SM_KIL] = { "KIL", " {cc}" },
	[SM_BRK] = { "BRK", " {cc}" },
	[SM_CONT] = { "CONT", " {cc}" },
	[SM_RTT] = { "RTT", "{rtt}" },
	[SM_SAM] = { "SAM", "" },
	[SM_RAM] = { "RAM", "" },
	[SM_IDE] = { "IDE", "{en} {anonzero}" },
	[SM_BPT] = { "BPT", "{bpt} {anonzero}" },
	[SM_GETCRSPTR] = { "GETCRSPTR", " {d}" },
	[SM_GETLMEMBASE] = { "GETLMEMBASE", " {d}" },
	[SM_SETCRSPTR] = { "SETCRSPTR", " {a}" },
	[SM_SETLMEMBASE] = { "SETLMEMBASE", " {a}" },
	[SM_NOP] = { "NOP", "{trig} {cc} {anonzero}" },
};

/*
 * ISUB is an IADD that negates b, or a where b is no register; RED an ATOM whose result is dropped
 */
static const struct form isub = { "ISUB", "{sat}{x} {d} {a} {bplain}" };
static const struct form isub_swapped = { "ISUB", "{sat}{x} {d} {b} {aplain}" };
static const struct form red = { "RED", "{wide}{atom}{atomtype} {mem} {b}" };

static const struct form *find_form(const struct sm_insn *in)
{
	if (in->op == SM_IADD && in->src[1].neg)
		return &isub;
	if (in->op == SM_IADD && in->src[0].neg && in->src[1].kind != SM_REG)
		return &isub_swapped;
	if (in->op == SM_ATOM && in->dst[0].reg == SM_RZ)
		return &red;
	return &forms[in->op < SM_OP_COUNT ? in->op : SM_ILLEGAL];
}

const char *sm_op_name(enum sm_op op)
{
	if (op == SM_ATOM_CAS)
		return "ATOM.CAS";
	return forms[op < SM_OP_COUNT ? op : SM_ILLEGAL].name;
}

const char *sm_form(const struct sm_insn *in, const char **name)
{
	const struct form *f = find_form(in);

	*name = f->name;
	return f->text;
}
