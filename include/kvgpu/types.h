/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ids and addresses of the module. A mix-up of a guest's value with the chip's is a security bug,
 * so that the two never share a type: g... is the guest's, h... is the chip's.
 */
#ifndef KVGPU_TYPES_H
#define KVGPU_TYPES_H

#include <linux/types.h>

typedef struct { u16 v; } gchid_t;	/* channel id by the guest, 0..4095 */
typedef struct { u16 v; } hchid_t;	/* channel id by the chip */
typedef struct { u16 v; } gtsg_t;
typedef struct { u16 v; } htsg_t;
typedef struct { u64 v; } gvram_t;	/* offset in the vGPU's video memory */
typedef struct { u64 v; } hvram_t;	/* address in the card's video memory */
typedef struct { u64 v; } iova_t;	/* DMA address that the guest gives its GPU */

/*
 * Memory that an address is in. Values are the PTE aperture codes of the chip
 * (include/gk110/mmu.h).
 */
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
 * Tells whether a guest may use this code of a target or an aperture. It may not name a peer, which
 * is another card.
 */
static inline bool kvgpu_target_ok(u32 code)
{
	return code != KVGPU_PEER;
}

/* An address as the guest's GPU would use it: video memory of the vGPU, or guest memory. */
struct kvgpu_gaddr {
	enum kvgpu_target target;
	u64 addr;
};

/* Index of a window of the CPU into video memory. */
enum kvgpu_bar {
	KVGPU_BAR1,
	KVGPU_BAR3,
	KVGPU_NR_BARS
};

/* Number of the window by PCI, and by VFIO. */
static inline unsigned int kvgpu_bar_number(enum kvgpu_bar bar)
{
	return 2 * bar + 1;
}

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

/* One engine of the chip, from its device table (PTOP). */
struct kvgpu_engine {
	u8 type;		/* 0 GR, 1-3 CE0-CE2 (include/gk110/ptop.h) */
	u8 inst;
	u8 id;			/* index of its PFIFO_ENGINE_STATUS */
	u8 runl;
	u8 intr;		/* bit in PMC_INTR */
	u8 reset;		/* bit in PMC_ENABLE */
	u8 fault;		/* MMU fault unit */
	u32 base;		/* BAR0 offset of its registers */
};

/* The parts of the chip. Read once at bring-up, constant afterwards. Guests see some of them. */
struct kvgpu_topo {
	u32 boot0;
	u8 nr_engines, nr_runl, nr_pbdma;
	struct kvgpu_engine engine[KVGPU_MAX_ENGINE];
	/* mask of runlists that PBDMA p serves (PFIFO_PBDMA_RUNLISTS) */
	u32 pbdma_runl[KVGPU_MAX_PBDMA];
	u8 gpcs, rops, fbps, ltcs, slices;
	u8 tpcs[KVGPU_MAX_GPC];
	u8 ppc_mask[KVGPU_MAX_GPC][KVGPU_MAX_PPC];
	u32 strap;				/* PSTRAPS_BOOT0 */
	u32 r17e91c, r17e920;
	/*
	 * registers of voltage and clocks with the values that the host found: guests' register
	 * files start with them, because drivers divide by them
	 */
	struct kvgpu_reg_val seed[KVGPU_MAX_SEED];
	u8 nr_seed;
};

#endif
