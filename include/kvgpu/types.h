/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ids and addresses of the module. A mix-up of a guest's value with the chip's is a security bug,
 * so the two never share a type: g... is what a guest says, h... is what the chip is told.
 */
#ifndef KVGPU_TYPES_H
#define KVGPU_TYPES_H

#include <linux/types.h>

typedef struct { u16 v; } gchid_t;	/* channel id as the guest numbers it, 0..4095 */
typedef struct { u16 v; } hchid_t;	/* channel id of the chip */
typedef struct { u16 v; } gtsg_t;
typedef struct { u16 v; } htsg_t;
typedef struct { u64 v; } gvram_t;	/* offset in the vGPU's video memory */
typedef struct { u64 v; } hvram_t;	/* address in the card's video memory */
typedef struct { u64 v; } iova_t;	/* DMA address as the guest programs it into its GPU */

/* where an address points; values are the PTE aperture codes of the chip (include/gk110/mmu.h) */
enum kvgpu_target {
	KVGPU_VRAM	= 0,
	KVGPU_PEER	= 1,
	KVGPU_SYS_COH	= 2,
	KVGPU_SYS_NCOH	= 3,
};

static inline bool kvgpu_is_sys(enum kvgpu_target t)
{
	return t == KVGPU_SYS_COH || t == KVGPU_SYS_NCOH;
}

/*
 * a guest physical address as the guest's GPU would use it: video memory of the vGPU or guest
 * memory
 */
struct kvgpu_gaddr {
	enum kvgpu_target target;
	u64 addr;
};

#define KVGPU_MAX_CHAN		4096
#define KVGPU_MAX_RUNL		8
#define KVGPU_MAX_ENGINE	8
#define KVGPU_MAX_PBDMA		4
#define KVGPU_MAX_GPC		8
#define KVGPU_MAX_PPC		4
#define KVGPU_MAX_SEED		128

struct kvgpu_reg_val {
	u32 reg, val;
};

/* one engine of the chip, from its device table (PTOP) */
struct kvgpu_engine {
	u8 type;		/* 0 GR, 1-3 CE0-CE2 (include/gk110/ptop.h) */
	u8 inst;
	u8 id;			/* index of its status register 0x2640 + 8 * id */
	u8 runl;
	u8 intr;		/* bit in PMC_INTR */
	u8 reset;		/* bit in PMC_ENABLE */
	u8 fault;		/* MMU fault unit */
	u32 base;		/* BAR0 offset of its registers */
};

/* What the chip is made of; read once at bring-up, constant afterwards. Guests see a part of it. */
struct kvgpu_topo {
	u32 boot0;
	u8 nr_engines, nr_runl, nr_pbdma;
	struct kvgpu_engine engine[KVGPU_MAX_ENGINE];
	u32 pbdma_runl[KVGPU_MAX_PBDMA];	/* runlists that PBDMA p serves (0x2390 + 4p) */
	u8 gpcs, rops, fbps, ltcs, slices;
	u8 tpcs[KVGPU_MAX_GPC];
	u8 ppc_mask[KVGPU_MAX_GPC][KVGPU_MAX_PPC];
	u32 strap;				/* 0x101000 */
	u32 r17e91c, r17e920;
	/*
	 * registers that guests' files start with as the host found them: voltage and clocks, which
	 * drivers divide by
	 */
	struct kvgpu_reg_val seed[KVGPU_MAX_SEED];
	u8 nr_seed;
};

#endif
