/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of gtt-shadow share.
 *
 * An *extent* is a stretch of GPU address space with what was last read of the guest's tables for
 * it and with the host's entries: the 128 MiB of one host directory entry (struct kvgpu_slot), or a
 * BAR window (struct kvgpu_win). The host has big pages of 128 KiB, always. A guest directory entry
 * is a *half* of a slot when the guest has big pages of 64 KiB, else all of it; a window has as
 * many as it needs. Work is done by *groups* (the 32 small pages of a host big page) and *chunks*
 * (512 small pages: one page of a guest's small table).
 *
 * Each small host entry that points to a pinned page is on that pin's list, by handles (holder of
 * the extent, page), so that an IOVA leads to its entries without a search. Big host entries never
 * point to system memory.
 */
#ifndef KVGPU_GTT_SHADOW_INTERNAL_H
#define KVGPU_GTT_SHADOW_INTERNAL_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/types.h>

#include "gk110/mmu.h"
#include "kvgpu/shadow.h"

#define PAGE_BYTES		4096
#define PAGE_ENTRIES		512		/* of 8 bytes */
#define GROUP_SHIFT		5
#define GROUP_PAGES		32
#define CHUNK_SHIFT		9
#define CHUNK_PAGES		512
#define CHUNK_GROUPS		16
#define SLOT_SHIFT		15
#define SLOT_PAGES		32768		/* small pages of a host directory entry: 128 MiB */
#define SLOT_GROUPS		1024
#define DIR_SLOTS		8192
#define HALVES_64K		2

#define NOTHING			(~(u32)0)
#define HANDLE_PAGE_BITS	20		/* the rest is the holder */
#define HOLDER_MAX		4094
#define WINDOWS_MAX		8
#define PIN_BATCH		512
/* failing calls of ops->pin() in one operation, then no more are tried */
#define PIN_FAILURES_MAX	4096
/* runs that are closer than this are written as one */
#define WRITE_GAP		8

/* the numbers above are the geometry of the chip's tables, with big pages of 128 KiB */
static_assert(PAGE_BYTES == 1 << GMMU_SMALL_SHIFT && PAGE_ENTRIES * GMMU_ENTRY_SIZE == PAGE_BYTES,
	      "a page of a table");
static_assert(GROUP_PAGES == 1 << GROUP_SHIFT &&
		      GROUP_SHIFT == GMMU_BIG_SHIFT_128K - GMMU_SMALL_SHIFT,
	      "a big page");
static_assert(CHUNK_PAGES == 1 << CHUNK_SHIFT && CHUNK_PAGES == PAGE_ENTRIES &&
		      CHUNK_GROUPS * GROUP_PAGES == CHUNK_PAGES,
	      "a chunk");
static_assert(SLOT_PAGES == 1 << SLOT_SHIFT &&
		      SLOT_SHIFT == GMMU_BIG_SHIFT_128K + GMMU_BIG_PTES_SHIFT - GMMU_SMALL_SHIFT &&
		      SLOT_GROUPS * GROUP_PAGES == SLOT_PAGES,
	      "what a directory entry covers");
static_assert((u64)DIR_SLOTS * SLOT_PAGES * PAGE_BYTES == 1ull << GMMU_VA_BITS,
	      "a directory covers all addresses");
static_assert(HALVES_64K == 1 << (GMMU_BIG_SHIFT_128K - GMMU_BIG_SHIFT_64K), "guest's directory entries for one of the host's");
/*
 * a handle is a holder and a page of it, and never NOTHING; a half has a bit for each page of its
 * small table
 */
static_assert(SLOT_PAGES <= 1 << HANDLE_PAGE_BITS && HOLDER_MAX < NOTHING >> HANDLE_PAGE_BITS,
	      "handles");
static_assert(SLOT_PAGES / PAGE_ENTRIES <= 8 * sizeof(u64), "pages of a small table");

/* entry of a pin's list, one per small host entry */
struct kvgpu_link {
	u32 pin;			/* index + 1, 0: none */
	u32 next, prev;			/* handles, NOTHING at the ends */
};

struct kvgpu_pin {
	u64 dma;
	u32 pfn;			/* IOVA >> 12: guest entries have 28 bits of it */
	u32 refs;			/* entries */
	u32 entries;			/* first handle */
	/* index of the next pin in the bucket, or in the free list */
	u32 hash_next;
	u32 drop_next;
	/* @dropped: on the list that waits for kvgpu_shadow_reap() */
	u16 used, dropped;
};

struct kvgpu_half {
	struct kvgpu_gaddr big, small;	/* the guest's tables */
	u32 nr_big, nr_small;		/* their entries, 0: no table */
	/* bit per page of the small table that has to be read in any case */
	u64 stale_small;
	/* bit per chunk in which a wanted entry could not be installed */
	u64 retry;
	u32 stale_big;
};

struct kvgpu_slot;
struct kvgpu_win;

struct kvgpu_ext {
	struct kvgpu_shadow *s;
	struct kvgpu_slot *slot;	/* one of these two */
	struct kvgpu_win *win;
	u32 holder;
	u32 pages;			/* small host entries */
	u32 limit;			/* pages from here on have no translation */
	u32 half_pages, nr_halves;
	struct kvgpu_half *half;
	/* as last read from the guest, by page and by big page of the guest; NULL reads as 0 */
	u64 *gsmall, *gbig;
	/*
	 * host entries; hsmall and link come and go together; hbig is NULL where the host uses
	 * small pages only
	 */
	u64 *hsmall, *hbig;
	struct kvgpu_link *link;
	u32 *subst;			/* per group: pages that the host substituted; NULL: none */
	u64 blank;			/* what an entry without translation holds */
	u32 nr_live;			/* small entries other than blank */
	u32 nr_linked;
	u32 nr_subst;
};

/* a table of the GPU while the shadow has it */
struct kvgpu_tbl {
	struct kvgpu_table t;
	struct list_head node;		/* in free or dead */
};

struct kvgpu_slot {
	struct kvgpu_ext ext;
	struct kvgpu_as *as;
	struct list_head node;		/* in as->slots or the pool's free list */
	u32 index;			/* in the host's directory */
	struct kvgpu_tbl *small, *big;
	struct kvgpu_half half[HALVES_64K];
};

struct kvgpu_as {
	struct list_head node;
	struct list_head slots;
	struct kvgpu_shadow *s;
	struct kvgpu_gaddr pd;
	struct kvgpu_table dir;
	u32 users;
	u32 stale;			/* bit per page of the guest's directory */
	bool changed;			/* the TLB may be behind */
	bool starved;			/* a slot lacks a table */
	u32 starved_at;			/* where they are looked for next */
	struct kvgpu_slot *slot[DIR_SLOTS];
	u64 gdir[];			/* the guest's directory as last read */
};

struct kvgpu_win {
	struct kvgpu_ext ext;
	struct kvgpu_gaddr pd;
	u64 *pte;
	u64 scrap;
	u32 first, last;		/* changed since it was last asked for */
	bool stale;			/* the directory has to be read in any case */
	struct kvgpu_half *half;
	u64 *gdir;
};

/* a small entry to be made: @guest is 0 or a valid small guest entry */
struct kvgpu_item {
	u32 page;
	u64 guest;
};

struct kvgpu_pool {
	struct kvgpu_pin *pin;
	u32 nr_pins, pins_used;		/* capacity; high-water mark */
	u32 free_pin, drop;		/* indices */
	u32 nr_dropped;
	u32 *bucket;
	u32 bucket_bits;
	u32 failures;			/* of ops->pin() in this operation */

	struct kvgpu_slot *slot;
	struct kvgpu_tbl *tbl;
	u32 nr_slots;
	struct list_head free_slots, free_tbls, dead_tbls;
	struct kvgpu_ext *win[WINDOWS_MAX];

	/* entries that wait to be written out together */
	struct kvgpu_ext *run;
	bool run_big;
	u32 run_first, run_last;

	/* scratch of one operation */
	u64 page[PAGE_ENTRIES];
	u32 todo[SLOT_GROUPS];		/* pages to look at, by group of the half in work */
	struct kvgpu_item item[CHUNK_PAGES];
	u32 nr_items;
	iova_t iova[PIN_BATCH];
	u64 dma[PIN_BATCH];
};

/* a guest directory entry, decoded */
struct kvgpu_pde {
	struct kvgpu_gaddr big, small;
	u32 nr_big, nr_small;
};

/* ------------------------------------------------------------------ pte.c */
/*
 * an entry of a window: an access that rights forbid is a fault of the card's BAR, which a guest
 * could cause at will (S5)
 */
u64 kvgpu_pte_for_cpu(u64 pte);
bool kvgpu_pte_big_usable(const struct kvgpu_shadow_cfg *cfg, u64 big);
u64 kvgpu_pte_piece(const struct kvgpu_shadow_cfg *cfg, u64 big, u32 page);
bool kvgpu_pte_is_sys(u64 pte);
bool kvgpu_pte_kind_ok(u64 pte);

/* ------------------------------------------------------------------ walk.c */
static inline u32 kvgpu_big_shift(const struct kvgpu_shadow_cfg *cfg)
{
	return cfg->big_64k ? 4 : 5;	/* small pages of a guest's big page, log2 */
}

static inline u32 kvgpu_half_pages(const struct kvgpu_shadow_cfg *cfg)
{
	return 1024u << kvgpu_big_shift(cfg);
}

void kvgpu_pde_decode(const struct kvgpu_shadow_cfg *cfg, u64 pde, struct kvgpu_pde *out);
bool kvgpu_fetch(struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr, u32 page);
u64 kvgpu_ext_want(const struct kvgpu_ext *e, u32 page);

/* ------------------------------------------------------------------ write.c */
void kvgpu_ext_put(struct kvgpu_ext *e, u32 page, u64 value);
void kvgpu_ext_put_big(struct kvgpu_ext *e, u32 group, u64 value);
void kvgpu_write_out(struct kvgpu_shadow *s);
void kvgpu_win_touched(struct kvgpu_win *win, u32 first, u32 last);

/* ------------------------------------------------------------------ space.c */
struct kvgpu_slot *kvgpu_slot_get(struct kvgpu_as *as, u32 index);
int kvgpu_slot_need_small(struct kvgpu_slot *slot);
int kvgpu_slot_need_big(struct kvgpu_slot *slot);
void kvgpu_slot_trim(struct kvgpu_slot *slot);
void kvgpu_slot_drop(struct kvgpu_slot *slot);

/* ------------------------------------------------------------------ sync.c */
void kvgpu_ext_eval(struct kvgpu_ext *e, u32 chunk, const u32 *todo, int *err);
void kvgpu_ext_sync_half(struct kvgpu_ext *e, u32 half, kvgpu_dirty_fn dirty, int *err);
bool kvgpu_half_set(struct kvgpu_half *h, const struct kvgpu_pde *d);

/* ------------------------------------------------------------------ pin.c */
size_t kvgpu_pins_size(const struct kvgpu_shadow_cfg *cfg);
void kvgpu_pins_init(struct kvgpu_shadow *s, void *mem);
void kvgpu_pins_get(struct kvgpu_shadow *s);
u32 kvgpu_pin_find(struct kvgpu_shadow *s, u32 pfn);
void kvgpu_pin_link(struct kvgpu_ext *e, u32 page, u32 pin);
void kvgpu_pin_unlink(struct kvgpu_ext *e, u32 page);
void kvgpu_ext_unlink_all(struct kvgpu_ext *e);

#endif
