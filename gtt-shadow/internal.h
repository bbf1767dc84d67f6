/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types, constants and functions that the files of gtt-shadow share.
 *
 * A *gpte* is an entry of a guest's page table, a *hpte* one of the host's, which the chip uses. An
 * *extent* is a stretch of GPU address space. It holds a copy of the guest's tables for the
 * stretch, as last read, and the hptes. An extent is either the 128 MiB of one host directory entry
 * (struct kvgpu_slot) or a BAR window (struct kvgpu_win). A *gpde* is a directory entry of the
 * guest, which covers 128 MiB, with what the extent knows of its tables: a slot has one, and a
 * window as many as its length wants. A *big page* has 128 KiB, or 32 small pages. A *table page*
 * is a page of a small table: the entries of 512 small pages.
 *
 * A *pin* (struct kvgpu_pin) describes one pinned page of the guest. Each small hpte that points to
 * that page is on the list of the pin: its reverse map, which leads from an IOVA to the hptes. An
 * *rmap entry* names a hpte: the id of an extent (.id) and the number of a page in the extent. Big
 * hptes do not point to system memory, and are in no reverse map.
 *
 * The host can *substitute* pages of a guest's space: it puts pages of its own there, in place of
 * what the guest's tables map (subst.c). A page of a guest's table is *dirty* if ops->take_dirty()
 * tells that it may have been written. It tells that once, so the sync that hears it makes the page
 * *stale* for all tables that have it (vgtt_pages_due()): their next sync must read it.
 */
#ifndef KVGPU_GTT_SHADOW_INTERNAL_H
#define KVGPU_GTT_SHADOW_INTERNAL_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/types.h>

#include "gk110/mmu.h"
#include "gtt-shadow/shadow.h"

#define PAGE_BYTES	4096
#define PAGE_ENTRIES	512 /* entries of 8 bytes */
#define BIG_SHIFT	5
#define PAGES_PER_BIG	32
#define TPAGE_SHIFT	9
#define PAGES_PER_TPAGE 512
#define BIG_PER_TPAGE	16
#define SLOT_SHIFT	15
#define SLOT_PAGES	32768 /* small pages of a host directory entry, 128 MiB */
#define BIG_PER_SLOT	1024
#define DIR_SLOTS	8192 /* entries of a host directory */

#define INDEX_NONE (~(u32)0)
/* number of low bits of an rmap entry that are the page; the bits above are the extent's id */
#define RMAP_PAGE_BITS 20
#define EXT_ID_MAX     4094
#define WINDOWS_MAX    8
#define PIN_BATCH      512 /* most pages of one ops->pin() or ops->unpin() */
/*
 * after this many failed calls of ops->pin(), an operation (one call of shadow.h) tries no more
 * pins
 */
#define PIN_FAILURES_MAX 4096
/*
 * after this many failed calls of ops->table_new() for tables of one size, an operation makes no
 * more such tables
 */
#define TABLE_FAILURES_MAX 16
/*
 * after this many table pages for which no small table was made, because none of their pages would
 * get a translation, an operation looks at no more table pages of slots without a small table
 */
#define VAIN_TPAGES_MAX 128
/* largest gap, in entries, between changed entries that are written together, as a run */
#define WRITE_GAP 8

static_assert(PAGE_BYTES == 1 << GMMU_SMALL_SHIFT && PAGE_ENTRIES * GMMU_ENTRY_SIZE == PAGE_BYTES,
	      "a page of a table");
static_assert(PAGES_PER_BIG == 1 << BIG_SHIFT &&
		      BIG_SHIFT == GMMU_BIG_SHIFT_128K - GMMU_SMALL_SHIFT,
	      "a big page");
static_assert(PAGES_PER_TPAGE == 1 << TPAGE_SHIFT && PAGES_PER_TPAGE == PAGE_ENTRIES &&
		      BIG_PER_TPAGE * PAGES_PER_BIG == PAGES_PER_TPAGE,
	      "a table page");
static_assert(SLOT_PAGES == 1 << SLOT_SHIFT &&
		      SLOT_SHIFT == GMMU_BIG_SHIFT_128K + GMMU_BIG_PTES_SHIFT - GMMU_SMALL_SHIFT &&
		      BIG_PER_SLOT * PAGES_PER_BIG == SLOT_PAGES,
	      "what a directory entry covers");
static_assert(1ull * DIR_SLOTS * SLOT_PAGES * PAGE_BYTES == 1ull << GMMU_VA_BITS,
	      "a directory covers all addresses");
/* an rmap entry is never INDEX_NONE; .stale_small has a bit for each page of a small table */
static_assert(SLOT_PAGES <= 1 << RMAP_PAGE_BITS && EXT_ID_MAX < INDEX_NONE >> RMAP_PAGE_BITS,
	      "rmap entries");
static_assert(SLOT_PAGES / PAGE_ENTRIES <= 8 * sizeof(u64), "pages of a small table");

/* A small hpte's links in the list of its pin. */
struct kvgpu_rmap {
	u32 pin; /* index of the pin + 1; 0: the entry has no pin */
	/* rmap entries of the neighbours; INDEX_NONE at the ends of the list */
	u32 next, prev;
};

struct kvgpu_pin {
	u64 dma; /* DMA address of the page, bytes */
	u32 pfn; /* IOVA >> 12; gptes have 28 bits for it */
	u32 refs; /* number of entries that point to the page */
	u32 rmap_head; /* rmap entry of the first entry; INDEX_NONE: none */
	u32 hash_next; /* index of the next pin in the bucket or the free list */
	u32 drop_next; /* index of the next pin on the drop list */
	/*
	 * .used: the pin describes a page. .dropped: on the drop list: since the last
	 * kvgpu_shadow_reap() there was a time when no entry pointed to the page.
	 */
	u16 used, dropped;
};

struct kvgpu_gpde {
	struct kvgpu_gaddr big, small; /* addresses of the guest's tables */
	u32 nr_big, nr_small; /* numbers of entries of these tables; 0: no table */
	/*
	 * a bit for each page of the small table that the next sync must read even if it is not
	 * dirty
	 */
	u64 stale_small;
	u64 stale_big; /* as .stale_small, for the big table */
	/* a bit for each table page that the next sync has to compute again */
	u64 retry;
};

struct kvgpu_slot;
struct kvgpu_win;

struct kvgpu_ext {
	struct kvgpu_shadow *s;
	/* the slot or the window; the other pointer is NULL */
	struct kvgpu_slot *slot;
	struct kvgpu_win *win;
	u32 id; /* number of the extent in rmap entries */
	u32 pages; /* length of the extent in small pages */
	/* number of pages, from the first on, that may have a translation */
	u32 limit;
	u32 nr_gpdes; /* directory entries of the guest, SLOT_PAGES each */
	struct kvgpu_gpde *gpde;
	bool *again; /* .again of the space or window */
	/* copies of the gptes; NULL: all are 0 */
	u64 *gpte_small, *gpte_big;
	/* the hptes; NULL: no such table */
	u64 *hpte_small, *hpte_big;
	struct kvgpu_rmap *rmap;
	/* a word per big page, with a bit for each page that the host substitutes; NULL: none */
	u32 *subst;
	u64 blank; /* value of a small hpte without a translation */
	u32 nr_live; /* small hptes that differ from .blank */
	u32 nr_rmaps; /* small hptes that have a pin */
	u32 nr_subst; /* pages that the host substitutes */
};

struct kvgpu_tbl {
	struct kvgpu_table t;
	/* in .free_tbls or .dead_tbls, if no slot has the table */
	struct list_head node;
};

struct kvgpu_slot {
	struct kvgpu_ext ext;
	struct kvgpu_as *as;
	struct list_head node; /* in as->slots, or in the pool's free list */
	u32 index; /* index in the host's directory */
	struct kvgpu_tbl *small, *big;
	struct kvgpu_gpde gpde;
};

struct kvgpu_as {
	struct list_head node; /* in s->spaces */
	struct list_head slots;
	struct kvgpu_shadow *s;
	struct kvgpu_gaddr pd; /* address of the guest's page directory */
	struct kvgpu_table dir; /* the host's page directory */
	/* a bit for each page of the directory that must be read even if it is not dirty */
	u64 stale;
	/* the last sync left something for the next one, or an unmap has removed entries */
	bool again;
	/* hptes have changed since the caller was last told to invalidate the TLB */
	bool changed;
	bool starved; /* a directory entry's slot or table could not be made */
	/* directory index at which the next sync begins to look for slots without a table */
	u32 starved_at;
	struct kvgpu_slot *slot[DIR_SLOTS];
	u64 gdir[DIR_SLOTS]; /* copy of the guest's directory */
};

struct kvgpu_win {
	struct kvgpu_ext ext;
	struct kvgpu_gaddr pd; /* address of the guest's page directory */
	/* the caller's entries of the host's BAR; NULL: the next sync clears the window */
	u64 *hpte;
	u64 scrap; /* entry for pages without a translation */
	/* entries changed since the caller last took the range; .first > .last: none */
	u32 first, last;
	u64 stale; /* as of a space; a window's entries are in one page of the directory */
	bool again; /* as of a space */
	struct kvgpu_gpde *gpde;
	u64 *gdir;
};

/*
 * A small hpte to compute and write. .gpte: the small gpte from which it is made; 0:
 * no translation.
 */
struct kvgpu_pending_pte {
	u32 page;
	u64 gpte;
};

struct kvgpu_pool {
	struct kvgpu_pin *pin;
	u32 nr_pins, pins_used; /* elements of .pin; those that were ever in use */
	/* first pins of the free list and of the drop list; INDEX_NONE: empty */
	u32 free_pin, drop;
	u32 *bucket; /* hash by .pfn: indices of first pins; INDEX_NONE: none */
	u32 bucket_bits;
	u32 failures; /* failed calls of ops->pin() in this operation */
	/*
	 * failed calls of ops->table_new() in this operation, for small and for big tables; at
	 * cfg.max_tables: TABLE_FAILURES_MAX
	 */
	u32 small_failures, big_failures;
	/*
	 * table pages in this operation of which no page got a translation, so that no table was
	 * made
	 */
	u32 vain_tpages;

	struct kvgpu_slot *slot;
	struct kvgpu_tbl *tbl;
	u32 nr_slots;
	/* .dead_tbls: tables for kvgpu_shadow_reap() to free */
	struct list_head free_slots, free_tbls, dead_tbls;
	struct kvgpu_ext *win[WINDOWS_MAX];

	/*
	 * The run: entries of a table of extent .run (.run_big: of its big table) to write; .run
	 * NULL: none.
	 */
	struct kvgpu_ext *run;
	bool run_big;
	u32 run_first, run_last;

	/* Scratch memory, in use during one call of a function of shadow.h. */
	u64 page[PAGE_ENTRIES];
	/*
	 * for each big page of the current gpde, a bit for each page whose hpte the sync has to
	 * compute again
	 */
	u32 todo[BIG_PER_SLOT];
	struct kvgpu_pending_pte pending[PAGES_PER_TPAGE];
	u32 nr_pending;
	iova_t iova[PIN_BATCH];
	u64 dma[PIN_BATCH];
};

/* A guest directory entry, decoded. */
struct kvgpu_pde {
	struct kvgpu_gaddr big, small;
	u32 nr_big, nr_small;
};

/* ------------------------------------------------------- pte.c: check and translate one entry */
/*
 * Returns @pte, an entry of a window, without the bits that restrict accesses. A forbidden access
 * would be a fault of the card's BAR, and a guest could cause such faults at will (S5 of
 * docs/invariants.md).
 */
u64 vgtt_pte_rights_drop(u64 pte);
bool vgtt_pte_big_usable(const struct kvgpu_shadow_cfg *cfg, u64 big);
u64 vgtt_pte_piece_get(u64 big, u32 page);
bool vgtt_pte_is_sys(u64 pte);
bool vgtt_pte_kind_ok(u64 pte);

/* ------------------------------------------------- walk.c: name and read the guest's tables */
void vgtt_pde_decode(u64 pde, struct kvgpu_pde *out);
bool vgtt_gpde_set(struct kvgpu_shadow *s, struct kvgpu_gpde *g, const struct kvgpu_pde *d);
void vgtt_table_forget(struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr);
bool vgtt_table_fetch(struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr, u32 page);
u64 vgtt_ext_gpte_find(const struct kvgpu_ext *e, u32 page);

/* ------------------------------------------------------- write.c: set hptes and write them out */
void vgtt_ext_small_set(struct kvgpu_ext *e, u32 page, u64 value);
void vgtt_ext_big_set(struct kvgpu_ext *e, u32 big_page, u64 value);
void vgtt_run_write(struct kvgpu_shadow *s);
void vgtt_win_range_note(struct kvgpu_win *win, u32 first, u32 last);

/* --------------------------------------------- space.c: make and drop slots and their tables */
/*
 * Begins an operation that may pin pages and make tables. Call it before the first of them, or the
 * failures of earlier operations count.
 */
static inline void vgtt_failures_forget(struct kvgpu_shadow *s)
{
	s->pool->failures = 0;
	s->pool->small_failures = 0;
	s->pool->big_failures = 0;
	s->pool->vain_tpages = 0;
}

/*
 * Tells whether @e is a slot without a small table, and this operation does not try any more to
 * make one.
 */
static inline bool vgtt_small_given_up(const struct kvgpu_ext *e)
{
	return !e->hpte_small && (e->s->pool->small_failures >= TABLE_FAILURES_MAX ||
				  e->s->pool->vain_tpages >= VAIN_TPAGES_MAX);
}

struct kvgpu_slot *vgtt_slot_get(struct kvgpu_as *as, u32 index);
int vgtt_slot_small_make(struct kvgpu_slot *slot);
int vgtt_slot_big_make(struct kvgpu_slot *slot);
void vgtt_slot_trim(struct kvgpu_slot *slot);
void vgtt_slot_drop(struct kvgpu_slot *slot);

/* -------------------------------------------- sync.c: bring hptes up to date with the guest's */
void vgtt_ext_tpage_eval(struct kvgpu_ext *e, u32 tpage, const u32 *todo, int *err);
void vgtt_ext_gpde_sync(struct kvgpu_ext *e, u32 index, int *err);
bool vgtt_table_is_behind(const struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr,
			  u64 stale);
bool vgtt_ext_gpde_is_behind(const struct kvgpu_ext *e, u32 index);
u64 vgtt_pages_due(struct kvgpu_shadow *s, struct kvgpu_gaddr table, u32 nr, u64 *stale);

/* ---------------------------------------------- pin.c: pins, and the hptes that point to them */
size_t vgtt_pins_size(const struct kvgpu_shadow_cfg *cfg);
void vgtt_pins_init(struct kvgpu_shadow *s, void *mem);
void vgtt_pins_get(struct kvgpu_shadow *s);
u32 vgtt_pin_get(struct kvgpu_shadow *s, u32 pfn);
u32 vgtt_pin_find(struct kvgpu_shadow *s, u32 pfn);
void vgtt_rmap_add(struct kvgpu_ext *e, u32 page, u32 pin);
void vgtt_rmap_remove(struct kvgpu_ext *e, u32 page);
void vgtt_ext_rmaps_remove(struct kvgpu_ext *e);

#endif
