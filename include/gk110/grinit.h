/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers that the host writes at bring-up of the graphics engine (GR): power gating, tables that
 * depend on the card's numbers of units, bundles (pieces of GR's state, gr.h), and enables of
 * exceptions. Also exceptions that gr.h does not name, sizes of GR's shared buffers, and two
 * registers of the L2 cache.
 *
 * Sources: nouveau
 * nvkm/engine/gr/{gf100,gk104,gk110,gf117,ctxgf100,ctxgf117,ctxgk104,ctxgk110}.c (sequence and
 * values), nvkm/subdev/pmu/gk110.c (power), fuc/macros.fuc. Names: rnndb
 * graph/gf100_pgraph/{pgraph,gpc,ppc,tpc,rop,ctxctl}.xml and nvgpu hw_gr_{gk20a,gm20b}.h. UNK in a
 * name stands for an unknown unit or an unknown purpose.
 */
#ifndef KVGPU_GK110_GRINIT_H
#define KVGPU_GK110_GRINIT_H

#include <linux/bits.h>

/* -------------------------------------------------------- power gating: nvkm/subdev/pmu/gk110.c */

#define PTHERM_UNK6B4			0x0206b4
/* Bits of PMU_PG_CTRL (gk110/pmu.h). After a change of CHANGE, STEP is set to 1 and then to 0. */
#define PMU_PG_CTRL_STEP		BIT(0)
#define PMU_PG_CTRL_CHANGE		BIT(1)

/* ------------------------------------- registers of the front end (FE) and of units in the hub */

#define GR_UNK054			0x400054
#define   GR_UNK054_INIT		0x34ce3464
#define GR_TRAP_ROP_MASK		0x40011c
#define GR_INTR_EN_NRHOST		0x400124
#define   GR_INTR_EN_NRHOST_NOTIFY	BIT(1)
#define GR_TRAP_GPC_EN			0x400130
#define GR_TRAP_ROP_EN			0x400134
#define GR_ICMD_CTRL			0x400208
#define   GR_ICMD_CTRL_ON		BIT(31)
/* Address of the bundle GO_IDLE, after which the host waits until GR is idle. */
#define   GR_ICMD_GO_IDLE		0xe100
#define   GR_STATUS_ICMD		BIT(2)		/* of GR_STATUS; 1: a bundle is run */
#define GR_FE_IDLE_TIMEOUT		0x404154
#define   GR_FE_PWR_MODE		GENMASK(1, 0)	/* bits of GR_FE_PWR */
#define     GR_FE_PWR_AUTO		0
#define     GR_FE_PWR_FORCE_ON		2
#define GR_DS_DEBUG			0x405800
#define   GR_DS_DEBUG_TIMESLICE		BIT(27)
#define GR_DS_ZBC_COLOR(i)		(0x405804 + 4 * (i))
#define GR_DS_ZBC_COLOR_FORMAT		0x405814
/* Values: nouveau cl9097.h FERMI_A_ZBC_COLOR_V0_FMT_... */
#define   GR_ZBC_COLOR_ZERO		1
#define   GR_ZBC_COLOR_UNORM_ONE	2
#define   GR_ZBC_COLOR_RGBA32F		4
#define GR_DS_ZBC_DEPTH			0x405818
#define GR_DS_ZBC_DEPTH_FORMAT		0x40581c
#define   GR_ZBC_DEPTH_FP32		1
#define GR_DS_ZBC_INDEX			0x405820
#define GR_DS_ZBC_LOAD			0x405824
#define   GR_DS_ZBC_LOAD_DEPTH		BIT(0)		/* 1: depth, 0: colour */
#define   GR_DS_ZBC_LOAD_TRIGGER	BIT(2)
#define GR_DS_ESR_EN			0x405844
#define   GR_DS_ESR_EN_ALL		0x00ffffff
/* Numbers of TPCs, four bits for each GPC. */
#define GR_DS_TPC_PER_GPC(i)		(0x405870 + 4 * (i))
#define GR_CWD_FS			0x405b00
#define   GR_CWD_FS_GPCS		GENMASK(7, 0)
#define   GR_CWD_FS_TPCS		GENMASK(15, 8)
#define GR_PD_TPC_PER_GPC(i)		(0x406028 + 4 * (i))
#define   GR_TPC_PER_GPC_NR		4
#define GR_PD_AB_DIST_CFG0		0x4064c0
#define   GR_PD_AB_DIST_TIMESLICE	BIT(31)
#define GR_PD_DIST_SKIP(i)		(0x4064d0 + 4 * (i))
#define   GR_PD_DIST_SKIP_NR		8
/*
 * Two tables of the unit PD: the TPCs that do alpha work and those that do beta work, two kinds of
 * work of GR. Line i has a mask of TPCs for each GPC, a byte each; word w is for GPCs 4 * w to 4 *
 * w + 3.
 */
#define GR_PD_ALPHA_RATIO(i, w)		(0x406800 + 0x20 * (i) + 4 * (w))
#define GR_PD_BETA_RATIO(i, w)		(0x406c00 + 0x20 * (i) + 4 * (w))
#define   GR_PD_RATIO_NR		32
#define GR_RSTR2D_TILE_MAP(i)		(0x40780c + 4 * (i))
#define GR_RSTR2D_TILE_CFG		0x4078bc
/*
 * The tile maps of RSTR2D, GPC_CRSTR and PPC_WWDX. An entry is the number of the GPC that draws a
 * tile. GR_TILE_CFG_: fields of the TILE_CFG registers.
 */
#define   GR_TILE_MAP_NR		6
#define   GR_TILE_MAP_PER_WORD		6
#define   GR_TILE_MAP_BITS		5
#define   GR_TILE_CFG_ROW_OFFSET	GENMASK(7, 0)
#define   GR_TILE_CFG_ENTRIES		GENMASK(15, 8)
/* ENTRIES << SHIFT, with a SHIFT by which bit 4 becomes the highest bit that is set */
#define   GR_TILE_CFG_NORMALIZED	GENMASK(20, 16)
#define   GR_TILE_CFG_SHIFT		GENMASK(23, 21)
/* 2^5 modulo NORMALIZED. Only PPC_WWDX_TILE_CFG gets NORMALIZED, SHIFT and MOD5. */
#define   GR_TILE_CFG_MOD5		GENMASK(28, 24)
#define GR_SCC_INIT			0x40802c
#define   GR_SCC_INIT_RAM		BIT(0)
#define GR_ROPS_ZROP_CFG		0x408850
#define GR_ROPS_CROP_CFG		0x408958
#define   GR_ROPS_ACTIVE_FBPS		GENMASK(3, 0)

/* ------------------------------------------------ registers of FECS, as offsets from GR_FECS */

#define FECS_RED_SWITCH			0x614		/* name by fuc/macros.fuc */
#define   FECS_RED_SWITCH_POWER		GENMASK(6, 4)	/* bits 4, 5, 6: main, GPC, ROP */
#define   FECS_RED_SWITCH_ENABLE	GENMASK(10, 8)
/* most registers of one entry of a falcon's register list, as in nouveau */
#define CTX_LIST_RUN_MAX		32
/* Value of FECS_INTR_UP_EN. */
#define   FECS_INTR_UP_EN_INIT		0x000e0001

/* ----------------------------------------- registers of GPCs, PPCs, TPCs and ROPs, as offsets */

/* A write to GR_GPCS(r) goes to register r of all GPCs. */
#define GR_GPCS(r)			(0x418000 + (r))
#define   GPC_BCAST_END			0x8000
#define GPC_MMU_CTRL			0x0880		/* fields as in FB_MMU_CTRL */
#define GPC_MMU_UNK08(i)		(0x0888 + 4 * (i))
#define   GPC_MMU_UNK08_NR		4
#define GPC_MMU_UNK24			0x08a4
#define   GPC_MMU_UNK24_INIT		0x03000000
#define GPC_ACTIVE_LTCS			0x08ac
/* address >> 8 of the page to which writes (WR), reads (RD) go in the MMU's debug mode */
#define GPC_MMU_DEBUG_WR		0x08b4
#define GPC_MMU_DEBUG_RD		0x08b8
#define GPC_ZCULL_FS			0x0910
#define   GPC_ZCULL_FS_TPCS		GENMASK(15, 0)
#define   GPC_ZCULL_FS_BANKS		GENMASK(31, 16)
#define     GPC_ZCULL_FS_BANKS_INIT	4
#define GPC_ZCULL_RAM			0x0914
#define   GPC_ZCULL_RAM_TPCS		GENMASK(7, 0)
#define   GPC_ZCULL_RAM_ROW_OFFSET	GENMASK(15, 8)
/* GPC_RCP_ONE / number of TPCs of the card, rounded up */
#define GPC_ZCULL_RCP			0x0918
#define   GPC_RCP_ONE			0x00800000
/* Four bits for each entry of the tile map: how many earlier entries have the same GPC. */
#define GPC_ZCULL_BANK(i)		(0x0980 + 4 * (i))
#define   GPC_ZCULL_BANK_NR		4
#define GPC_CRSTR_TILE_MAP(i)		(0x0b08 + 4 * (i))
#define GPC_CRSTR_TILE_CFG		0x0bb8
#define GPC_TPCONF_TPCS			0x0c08
#define GPC_TPCONF_SM_ID(t)		(0x0c10 + 4 * (t))
#define GPC_TPCONF_UNK6C		0x0c6c
#define   GPC_TPCONF_UNK6C_ON		BIT(0)
#define GPC_UNKC80_TPCS			0x0c8c
#define GPCCS_TRAP_EN			0xc94

/* Registers of a PPC. A write to GR_PPCS(r) goes to all PPCs. */
#define GR_PPCS(r)			GR_GPCS(GPC_PPC_BCAST + (r))
#define GR_PPC(g, p, r)			GR_GPC(g, GPC_PPC + GPC_PPC_STRIDE * (p) + (r))
#define PPC_PES_UNK08			0x008
#define   PPC_PES_UNK08_TIMESLICE	BIT(2)
#define PPC_PES_VSC			0x018
#define   PPC_PES_VSC_MASTER		BIT(0)
#define PPC_ESR				0x038
#define PPC_WWDX_TILE_MAP(i)		(0x100 + 4 * (i))
#define PPC_WWDX_TILE_CFG		0x1d0
#define PPC_WWDX_RCP			0x1d4
/* 2^6 to 2^11 modulo GR_TILE_CFG_NORMALIZED, five bits each, 2^6 in bits 4:0 */
#define PPC_WWDX_TILE_CFG2		0x1e4

/* Registers of a TPC. A write to GR_TPCS(r) goes to all TPCs. */
#define GR_TPCS(r)			GR_GPCS(GPC_TPC_BCAST + (r))
#define GR_TPC(g, t, r)			GR_GPC(g, GPC_TPC + GPC_TPC_STRIDE * (t) + (r))
#define TPC_PE_UNK0C			0x00c
#define   TPC_PE_UNK0C_TIMESLICE	BIT(4)
#define TPC_POLY_SM_ID			0x088
#define TPC_MPC_UNK00			0x400
#define   TPC_MPC_UNK00_TIMESLICE	BIT(3)
#define TPC_L1C_UNKC0			0x4c0
#define   TPC_L1C_UNKC0_INIT		BIT(3)
#define TPC_L1C_SM_ID			0x4e8
#define TPC_TRAP_EN			0x50c
#define TPC_MP_WARP_ESR_EN		0x644
#define   MP_WARP_ESR_EN_INIT		0x001ffffe
#define TPC_MP_GLOBAL_ESR_EN		0x64c
#define   MP_GLOBAL_ESR_EN_INIT		0x0000000f
#define TPC_MP_SM_ID			0x698
#define TPC_MP_UNKB0			0x6b0
#define   TPC_MP_UNKB0_INIT		BIT(12)
#define TPC_MP_UNKB4			0x6b4
/* set in ascending order, one per write, then cleared in this order */
#define   TPC_MP_UNKB4_PULSE(i)		BIT(12 + (i))
#define   TPC_MP_UNKB4_PULSE_NR		4
#define TPC_MP_UNK778			0x778
/*
 * Bit of TPC_MP_UNK778. 1: loads in helper invocations of pixel programs are off. Programs need
 * these loads (nouveau gk110_grctx_generate_r419f78()).
 */
#define   TPC_MP_NO_HELPER_LOADS	BIT(3)

/* Registers of a ROP, as offsets for GR_ROP(). */
#define ROP_ZROP_ESR			0x070
#define ROP_CROP_ESR			0x144
#define ROP_UNK204			0x204
#define ROP_UNK208			0x208

/* ----------------------------------------------------------- exceptions that gr.h does not name */

#define   GR_TRAP_DS			BIT(4)		/* bits of GR_TRAP */
#define   GR_TRAP_UNK6			BIT(6)
#define   GR_TRAP_ROP			BIT(25)
#define   GPCCS_TRAP_PROP		BIT(0)		/* bits of GPCCS_TRAP */
#define   GPCCS_TRAP_ZCULL		BIT(1)
#define   GPCCS_TRAP_CCACHE		BIT(2)
#define   GPCCS_TRAP_ESETUP		BIT(3)
/*
 * Place of the error in GPC_PROP_ESR: x in bits 15:0, y in bits 31:16 (nouveau
 * gf100_gr_trap_gpc_rop()).
 */
#define GPC_PROP_ESR_COORDS		0x0434
#define GPC_PROP_ESR_FORMAT		0x0438
#define GPC_PROP_ESR_STORAGE		0x043c

/* ----------------------------- sizes in bytes of GR's shared buffers (nouveau's gk110_grctx) */

#define GR_PAGEPOOL_SIZE		0x8000
#define GR_BUNDLE_SIZE			0x3000
/*
 * bytes of a unit, in which gk110/gr_patch.h gives the sizes of the attribute buffer's parts
 * (GR_PATCH_GK110_BETA_MAX, _ALPHA_MAX)
 */
#define GR_ATTRIB_UNIT			0x20

/* ------------------------------------------------------- of GPC_MMU and of the L2 cache */

/* bytes of each of the pages of GPC_MMU_DEBUG_WR and _RD: one big page (nvkm/subdev/fb/gf100.c) */
#define GR_MMU_DEBUG_SIZE		0x20000

/* Registers of the L2 cache (gk110/ltc.h): nvkm/subdev/ltc/gk104.c, nvgpu hw_ltc_gm20b.h. */
#define LTC_ACTIVE_LTCS			0x17e000
#define LTC_CBC_CFG			0x0c0		/* offset in a slice's registers */
#define   LTC_CBC_CFG_BIG_128K		BIT(1)

#endif
