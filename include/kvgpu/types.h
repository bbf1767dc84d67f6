/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ids and addresses of the module. A guest's value that is taken for a value of the chip, or the
 * reverse, is a security bug. The types below therefore keep the two apart: g..._t is a value of
 * the guest, h..._t a value of the chip.
 */
#ifndef KVGPU_TYPES_H
#define KVGPU_TYPES_H

#include <linux/types.h>

typedef struct { u16 v; } gchid_t;	/* the guest's id of a channel, 0..4095 */
typedef struct { u16 v; } hchid_t;	/* the chip's id of a channel */
typedef struct { u16 v; } gtsg_t;
typedef struct { u16 v; } htsg_t;
typedef struct { u64 v; } gvram_t;	/* offset in the vGPU's video memory */
typedef struct { u64 v; } hvram_t;	/* address in the card's video memory */
typedef struct { u64 v; } iova_t;	/* DMA address that the guest gives its GPU */

/*
 * The memory that an address is in. The values are the aperture codes of the chip's PTEs
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
 * Returns whether a guest may use this code of enum kvgpu_target. The code of a peer, which is
 * another card, is not allowed.
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

/* Index of a BAR through which the CPU sees video memory. */
enum kvgpu_bar {
	KVGPU_BAR1,
	KVGPU_BAR3,
	KVGPU_NR_BARS
};

/* Returns the number of the BAR in PCI and in VFIO: 1 or 3. */
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
	u8 type;		/* 0 GR, 1 CE0, 2 CE1, 3 CE2 (include/gk110/ptop.h) */
	u8 inst;
	u8 id;			/* number e of its PFIFO_ENGINE_STATUS(e) */
	u8 runl;
	u8 intr;		/* number of its bit in PMC_INTR */
	u8 reset;		/* number of its bit in PMC_ENABLE */
	u8 fault;		/* MMU fault unit */
	u32 base;		/* offset of its registers in BAR0 */
};

/*
 * The parts of the chip. Bring-up reads them once, then they are constant. Guests see some of them.
 */
struct kvgpu_topo {
	u32 boot0;
	u8 nr_engines, nr_runl, nr_pbdma;
	struct kvgpu_engine engine[KVGPU_MAX_ENGINE];
	/* Element p is the mask of the runlists that PBDMA p serves (PFIFO_PBDMA_RUNLISTS). */
	u32 pbdma_runl[KVGPU_MAX_PBDMA];
	u8 gpcs, rops, fbps, ltcs, slices;
	u8 tpcs[KVGPU_MAX_GPC];
	u8 ppc_mask[KVGPU_MAX_GPC][KVGPU_MAX_PPC];
	u32 strap;				/* value of PSTRAPS_BOOT0 */
	u32 r17e91c, r17e920;
	/*
	 * Registers of voltage and clocks, with the values that the host found in them. The
	 * register files of guests start with these values, because drivers compute with them.
	 */
	struct kvgpu_reg_val seed[KVGPU_MAX_SEED];
	u8 nr_seed;
};

#endif
