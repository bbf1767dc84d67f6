/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types that several parts of the module share: ids and addresses, and the description of the card.
 * The ids and video memory addresses that a guest uses are not those of the chip. Code that takes
 * the two for each other has a security bug, so they have different types: g..._t is a value of the
 * guest, h..._t a value of the chip.
 */
#ifndef KVGPU_TYPES_H
#define KVGPU_TYPES_H

#include <linux/types.h>

/* clang-format off */
typedef struct { u16 v; } gchid_t;	/* a guest's id of a channel, 0..4095 */
typedef struct { u16 v; } hchid_t;	/* the chip's id of a channel, 0..4095 */
typedef struct { u64 v; } gvram_t;	/* offset in a vGPU's video memory */
typedef struct { u64 v; } hvram_t;	/* address in the card's video memory */
typedef struct { u64 v; } iova_t;	/* DMA address in a guest's memory */
/* clang-format on */

/*
 * The memory that an address is in. The values are the aperture codes of page table entries
 * (GMMU_PTE_APERTURE_... in gk110/mmu.h).
 */
enum kvgpu_target {
	KVGPU_VRAM = 0,
	KVGPU_PEER = 1,
	KVGPU_SYS_COH = 2,
	KVGPU_SYS_NCOH = 3,
};

static inline bool kvgpu_is_sys(enum kvgpu_target t)
{
	return t == KVGPU_SYS_COH || t == KVGPU_SYS_NCOH;
}

/* Tells whether a guest may use the target @code. It may not use another card's memory. */
static inline bool kvgpu_target_ok(u32 code)
{
	return code != KVGPU_PEER;
}

/*
 * An address as a guest's GPU uses it: offset in the vGPU's video memory (gvram_t), or DMA address
 * in the guest's memory (iova_t).
 */
struct kvgpu_gaddr {
	enum kvgpu_target target;
	u64 addr;
};

/* Index of the two BARs through which the CPU sees the GPU's memory. */
enum kvgpu_bar { KVGPU_BAR1, KVGPU_BAR3, KVGPU_NR_BARS };

/* Returns the number that PCI and VFIO give the BAR: 1 or 3. */
static inline unsigned int kvgpu_bar_number(enum kvgpu_bar bar)
{
	return 2 * bar + 1;
}

#define KVGPU_MAX_CHAN	 4096
#define KVGPU_MAX_RUNL	 8
#define KVGPU_MAX_ENGINE 8
#define KVGPU_MAX_PBDMA	 4
#define KVGPU_MAX_GPC	 8
#define KVGPU_MAX_PPC	 4
#define KVGPU_MAX_SEED	 128

struct kvgpu_reg_val {
	u32 reg, val;
};

/* One engine of the chip, as the chip's device table (gk110/ptop.h) describes it. */
struct kvgpu_engine {
	u8 type; /* 0: graphics (GR), 1 to 3: copy engines CE0 to CE2 */
	u8 inst; /* number among the engines of its kind, from 0 on */
	u8 id; /* index of its PFIFO_ENGINE_STATUS() */
	u8 runl; /* the chip's id of its runlist */
	u8 intr; /* number of its bit in PMC_INTR */
	u8 reset; /* number of its bit in PMC_ENABLE */
	u8 fault; /* number of its fault unit in the MMU */
	u32 base; /* offset of its registers in BAR0 */
};

/*
 * The units of the card's chip. Constant after bring-up. A GPC is a cluster of shader units: it has
 * TPCs, each with a shader processor, and PPCs, which serve TPCs.
 */
struct kvgpu_topo {
	u32 boot0; /* value of PMC_BOOT_0 */
	u8 nr_engines, nr_runl, nr_pbdma;
	struct kvgpu_engine engine[KVGPU_MAX_ENGINE];
	/* [p]: mask of the runlists that PBDMA p serves (PFIFO_PBDMA_RUNLISTS) */
	u32 pbdma_runl[KVGPU_MAX_PBDMA];
	/*
	 * Numbers of units. .rops: units that write pixels. .fbps: partitions of video memory, by
	 * PRIVRING_FBP_COUNT. .ltcs: parts of the L2 cache. .slices: slices of each part.
	 */
	u8 gpcs, rops, fbps, ltcs, slices;
	u8 tpcs[KVGPU_MAX_GPC]; /* number of TPCs of each GPC */
	u8 ppc_mask[KVGPU_MAX_GPC][KVGPU_MAX_PPC]; /* mask of the TPCs of each PPC */
	u32 strap; /* value of PSTRAPS_BOOT0 (gk110/pfuse.h) */
	/* Values of the L2 cache's registers GR_PATCH_LTC_0 and _1 (gk110/gr_patch.h). */
	u32 r17e91c, r17e920;
	/* registers, and their values on the card at bring-up; those of a vGPU start with these */
	struct kvgpu_reg_val seed[KVGPU_MAX_SEED];
	u8 nr_seed;
};

#endif
