/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gtt-shadow: the page tables that the GPU really walks. Pure: memory comes from the caller, and
 * effects go through struct kvgpu_shadow_ops.
 *
 * One struct kvgpu_as is the shadow of one guest page directory. The guest's channels use tables
 * that gtt-shadow wrote. A valid page entry in them points into the vGPU's partition, to a pinned
 * page of the guest, or to a page that the host has put there (kvgpu_shadow_as_subst()
 * *substitutes* pages of graphics contexts): S1 of docs/invariants.md. kvgpu_shadow_as_sync()
 * brings the shadow up to date, when the guest's changes must take effect. It reads those pages of
 * the guest's tables that may have been written (ops->take_dirty()), or were not read yet. Spaces
 * can be synced one by one, in any order: each learns of writes to a page that others have, too.
 *
 * A page of guest memory is pinned before an entry that points to it is written. The page is
 * unpinned only when no entry points to it any more and, after that, the TLB was invalidated or the
 * card was cut off from system memory (S2). Pins without an entry, and tables that no directory
 * names, wait on lists until the caller calls kvgpu_shadow_reap().
 *
 * gtt-shadow takes no lock: the caller serialises all calls for one vGPU (vgpu->lock). The
 * functions of struct kvgpu_shadow_ops may sleep, and call none of gtt-shadow.
 */
#ifndef KVGPU_SHADOW_H
#define KVGPU_SHADOW_H

#include <linux/list.h>

#include "kvgpu/types.h"

/*
 * Start of the last MiB of an address space of a channel. No gpte is installed in this MiB.
 * A channel without a graphics context gets this address as that of the context: an access to it is
 * a fault.
 */
#define KVGPU_SPACE_END ((1ull << 40) - (1ull << 20))

struct kvgpu_as;
struct kvgpu_shadow;

/* A table that the GPU reads, in video memory of the host. */
struct kvgpu_table {
	u64 addr;
	u32 nr; /* number of entries of 8 bytes */
	u64 *mirror; /* host memory with a copy of all entries */
	/* zeroed host memory of kvgpu_shadow_aux_size() bytes; may be NULL if that is 0 */
	void *aux;
	void *priv; /* the caller's; gtt-shadow does not use it */
};

struct kvgpu_shadow_ops {
	/*
	 * Reads @len bytes, inside of one page, of a guest's table at @a, in video memory or in
	 * guest memory. Returns 0 or -EFAULT.
	 */
	int (*read)(void *ctx, struct kvgpu_gaddr a, void *buf, u32 len);
	/*
	 * Tells which of @nr pages from @a on, at most 64, the CPU or the host may have written
	 * since the last call for that page, whichever space or window that call was for: returns a
	 * bit for each. A write that comes later than this call is told by a later call. Pages of
	 * which the caller can't know count as written in each call. In the vGPU's partition it
	 * must know.
	 */
	u64 (*take_dirty)(void *ctx, struct kvgpu_gaddr a, u32 nr);
	/* Tells whether .take_dirty() would tell of a page. */
	bool (*is_dirty)(void *ctx, struct kvgpu_gaddr a, u32 nr);
	/*
	 * A space or a window has no table there any more. If another one has a page of it, that
	 * page counts as written.
	 */
	void (*forget)(void *ctx, struct kvgpu_gaddr a, u32 nr);
	/*
	 * Pins @nr consecutive guest pages for the GPU, at most 512, which are not pinned yet. Sets
	 * dma[i] to the DMA address of page i. Pins all pages and returns 0, or pins none and
	 * returns an error.
	 */
	int (*pin)(void *ctx, const iova_t *iova, u32 nr, u64 *dma);
	/*
	 * Unpins @nr pages from @iova on, at most 512. Different calls of .pin() may have pinned
	 * them.
	 */
	void (*unpin)(void *ctx, iova_t iova, u32 nr);
	/*
	 * Make and free a table. @t->nr is set, table_new() sets the other members. Entries must be
	 * 0 at first, in the GPU's table and in the mirror. table_new() returns 0 or an error.
	 */
	int (*table_new)(void *ctx, u32 nr, struct kvgpu_table *t);
	void (*table_free)(void *ctx, struct kvgpu_table *t);
	/* Writes entries [first, first + nr) from t->mirror to the GPU's table. */
	void (*table_write)(void *ctx, struct kvgpu_table *t, u32 first, u32 nr);
};

struct kvgpu_shadow_cfg {
	/*
	 * Start of the vGPU's partition of video memory. If it is not aligned to the size of the
	 * guest's big pages, big pages in video memory are refused.
	 */
	hvram_t part_base;
	u64 part_size;
	/* most tables at the same time, page directories included */
	u32 max_tables;
	u64 max_pinned; /* most pages pinned at the same time */
	/* random number for the hash of pins */
	u64 seed;
};

struct kvgpu_shadow_stats {
	u64 syncs, tables_read, entries_compared, entries_written, bytes_read;
	/* numbers of pages: .pinned is the current number, .pins and .unpins are totals */
	u64 pinned, pins, unpins;
	/*
	 * number of gptes that were refused, or not installed for want of a pin or a table;
	 * an entry may count again at each sync
	 */
	u64 rejected;
};

/* All shadows of one vGPU. The caller may read .cfg, .stats and .nr_tables. */
struct kvgpu_shadow {
	const struct kvgpu_shadow_ops *ops;
	void *ctx;
	struct kvgpu_shadow_cfg cfg;
	struct list_head spaces;
	struct kvgpu_shadow_stats stats;
	/* pins, slots, tables and scratch memory: gtt-shadow/internal.h */
	struct kvgpu_pool *pool;
	/*
	 * number of tables, including page directories and the tables that wait for
	 * kvgpu_shadow_reap()
	 */
	u32 nr_tables;
};

/*
 * Sets up @s, the shadows of one vGPU. @mem: zeroed memory of kvgpu_shadow_size() bytes, which
 * holds the pool.
 */
size_t kvgpu_shadow_size(const struct kvgpu_shadow_cfg *cfg);
void kvgpu_shadow_init(struct kvgpu_shadow *s, const struct kvgpu_shadow_cfg *cfg,
		       const struct kvgpu_shadow_ops *ops, void *ctx, void *mem);
/* Returns the bytes of .aux for a table of @nr entries. */
size_t kvgpu_shadow_aux_size(u32 nr);

/* ---------------------------------- make, sync, walk and unmap the address spaces of channels */

/*
 * Makes a shadow of the guest page directory @pd. Returns 0 or -ENOMEM. @mem: zeroed memory of
 * kvgpu_shadow_as_size() bytes, owned by the space until kvgpu_shadow_as_destroy() returns it.
 */
size_t kvgpu_shadow_as_size(void);
int kvgpu_shadow_as_create(struct kvgpu_shadow *s, struct kvgpu_gaddr pd, void *mem,
			   struct kvgpu_as **as);
/*
 * Ends a shadow and frees its page directory. Call it only when the GPU does not use the space any
 * more, and the TLB was invalidated for it or the card was cut off from system memory. The shadow's
 * page tables and pins stay until kvgpu_shadow_reap(). Returns @mem of kvgpu_shadow_as_create().
 */
void *kvgpu_shadow_as_destroy(struct kvgpu_as *as);

/* Returns the address, in the card's video memory, of the shadow's page directory. */
u64 kvgpu_shadow_as_pd_get(const struct kvgpu_as *as);

/**
 * kvgpu_shadow_as_sync() - bring a shadow up to date with the guest's tables
 * @as: the shadow
 * @changed: set to true if the caller must invalidate the GPU's TLB for the directory at
 * kvgpu_shadow_as_pd_get(), because entries have changed; else to false
 *
 * Also tries again to install entries that could not be installed, or that an unmap removed. After
 * a number of failures it leaves the rest for the next call.
 *
 * Return: 0, or -ENOMEM if tables could not be made, or were left for the next call: addresses that
 * need them have no translation.
 */
int kvgpu_shadow_as_sync(struct kvgpu_as *as, bool *changed);
/*
 * Tells whether the space has to be synced when the guest invalidates its TLB for directory @pd, or
 * for all (NULL): it is that directory's, or something is to be tried again. Directories count as
 * one if they are at one address, whatever the memory: a sync too many does no harm.
 */
bool kvgpu_shadow_as_is_due(const struct kvgpu_as *as, const struct kvgpu_gaddr *pd);
/* Tells whether a sync of the space would read a table, or try something again. */
bool kvgpu_shadow_as_is_behind(const struct kvgpu_as *as);

/**
 * kvgpu_shadow_as_subst() - put host pages into a space
 * @as: the shadow
 * @va: address, page aligned
 * @nr: number of pages
 * @base: address of the first page in the card's video memory; the pages are contiguous
 *
 * The entries have PRIV, for privileged accesses. They replace the translations of the guest's
 * tables until kvgpu_shadow_as_unsubst(), which does nothing if @va or @nr is not valid. The caller
 * must invalidate the TLB after each of these two functions.
 *
 * Return: 0, or an error, and then no page was substituted: -EINVAL if @va or @base is not page
 *   aligned, @nr is 0 or a page of the range is not below 2^40; -ENOMEM if a table could not be
 *   made; -EBUSY if a page of the range is substituted already.
 */
int kvgpu_shadow_as_subst(struct kvgpu_as *as, u64 va, u32 nr, hvram_t base);
void kvgpu_shadow_as_unsubst(struct kvgpu_as *as, u64 va, u32 nr);

/**
 * kvgpu_shadow_as_walk() - translate an address by the guest's tables
 * @as: the shadow
 * @va: address
 * @out: the guest's physical address for @va; if in video memory, it is inside of the partition
 * @contiguous: number of bytes from @va on, inside of one page, that are contiguous at @out
 *
 * Uses the copies of the *guest's* tables of the last sync, and ignores substituted pages.
 *
 * Return: 0, or -EFAULT if there is no translation.
 */
int kvgpu_shadow_as_walk(struct kvgpu_as *as, u64 va, struct kvgpu_gaddr *out, u32 *contiguous);

/**
 * kvgpu_shadow_unmap() - remove all entries that point to a range of guest memory
 * @s: all shadows of a vGPU
 * @iova: first byte of the range
 * @len: bytes
 * @changed: set to true if the caller must write out the windows' entries
 * (kvgpu_shadow_win_take()), invalidate the TLBs of the BARs and of all spaces, and then call
 * kvgpu_shadow_reap(); else to false
 */
void kvgpu_shadow_unmap(struct kvgpu_shadow *s, iova_t iova, u64 len, bool *changed);
/*
 * Unpins pages and frees tables that are not in use any more. Call it after the TLB was invalidated
 * for all changes that earlier calls reported, or after the card was cut off from system memory.
 */
void kvgpu_shadow_reap(struct kvgpu_shadow *s);

/* ------------------------------------------------------------------ fill and empty BAR windows */

struct kvgpu_win;
size_t kvgpu_shadow_win_size(u32 pages);
/**
 * kvgpu_shadow_win_sync() - bring a BAR window up to date with the guest's tables
 * @s: all shadows of a vGPU
 * @win: state of the window, kvgpu_shadow_win_size() bytes, zeroed at first
 * @pd: the guest's page directory
 * @limit: last VA that is translated
 * @pages: 4 KiB pages of the window: not 0, a multiple of 32, below 2^20, the same in all calls
 * @scrap: entry for pages without a translation
 * @hpte: entries of the host's BAR, one per 4 KiB page; in use until kvgpu_shadow_win_fini()
 *
 * The window then shows what the guest's tables map. kvgpu_shadow_win_take() tells what changed.
 *
 * Return: 0; -EINVAL if @pages is not as required above, or if @pages or @s is not that of the
 * earlier calls for @win; -ENOSPC if the vGPU has 8 other windows.
 */
int kvgpu_shadow_win_sync(struct kvgpu_shadow *s, struct kvgpu_win *win, struct kvgpu_gaddr pd,
			  u64 limit, u32 pages, u64 scrap, u64 *hpte);
/* as kvgpu_shadow_as_is_due(), for a window that kvgpu_shadow_win_sync() has filled */
bool kvgpu_shadow_win_is_due(const struct kvgpu_win *win, const struct kvgpu_gaddr *pd);
bool kvgpu_shadow_win_is_behind(const struct kvgpu_win *win); /* as kvgpu_shadow_as_is_behind() */
/*
 * Makes the window show the partition from its start on, like a BAR in physical mode. Parameters
 * and result as for kvgpu_shadow_win_sync().
 */
int kvgpu_shadow_win_set_linear(struct kvgpu_shadow *s, struct kvgpu_win *win, u32 pages, u64 scrap,
				u64 *hpte);
/*
 * Takes the range of entries that syncs and unmaps have changed since it was last taken. Returns
 * false, and sets *@last < *@first, if there is none.
 */
bool kvgpu_shadow_win_take(struct kvgpu_win *win, u32 *first, u32 *last);
/*
 * Ends a window: sets all its entries, @hpte of kvgpu_shadow_win_sync(), to @scrap of that call,
 * and clears *@win. The caller writes the entries out and invalidates the BAR's TLB before
 * kvgpu_shadow_reap().
 */
void kvgpu_shadow_win_fini(struct kvgpu_shadow *s, struct kvgpu_win *win);

/* ------------------- translate entries, instance blocks, runlists and patch lists of the guest */

/**
 * vgtt_pte_transform() - make the entry for the GPU from a guest's entry; for sync.c and unit tests
 * @cfg: limits of the vGPU
 * @gpte: the guest's entry
 * @big: @gpte is an entry of a big page
 * @sys_dma: DMA address of the pinned page, bytes, for an entry of system memory
 * @rejected: set to true if @gpte is valid but the entry made is not, and to false otherwise
 *
 * A valid big entry of system memory is rejected, because its frames need not be contiguous:
 * callers make small entries of it.
 *
 * Return: the entry; without VALID if there is no translation.
 */
u64 vgtt_pte_transform(const struct kvgpu_shadow_cfg *cfg, u64 gpte, bool big, u64 sys_dma,
		       bool *rejected);

/* Values of the host for a shadow instance block. */
struct kvgpu_inst_host {
	hchid_t chid;
	u64 userd; /* address of the channel's USERD in the card's video memory */
	u64 pd; /* the shadow's page directory: kvgpu_shadow_as_pd_get() */
};
struct kvgpu_inst_guest { /* fields of a guest's instance block, decoded */
	struct kvgpu_gaddr pd; /* page directory */
	u64 limit; /* last VA that the channel may use */
	u64 gp_base; /* VA of the GPFIFO ring */
	u8 gp_log2; /* log2 of the ring's number of entries */
	struct kvgpu_gaddr userd;
	/* address of the graphics context, a VA if .gr_ctx_virtual; 0: none */
	u64 gr_ctx;
	bool gr_ctx_virtual;
	bool priv; /* the guest has set RAMFC_HCE_PRIV_MODE */
};
/**
 * kvgpu_shadow_inst_decode() - decode and check a guest's instance block
 * @block: copy of the guest's block, of which the first RAMIN_GR_CTX + 8 bytes are read
 * @out: the decoded fields
 * @why: set to a text about the error, or to NULL
 *
 * Return: 0; -EINVAL with the reason in *@why
 */
int kvgpu_shadow_inst_decode(const u32 *block, struct kvgpu_inst_guest *out, const char **why);
/**
 * kvgpu_shadow_inst_build() - build a shadow instance block
 * @guest_block: the copy of the guest's block
 * @g: the decoded fields of that block
 * @h: values of the host
 * @out: the shadow block, 4 KiB: constants, values of @h, and harmless values of the guest
 */
void kvgpu_shadow_inst_build(const u32 *guest_block, const struct kvgpu_inst_guest *g,
			     const struct kvgpu_inst_host *h, u32 *out);

/**
 * kvgpu_shadow_runlist_build() - translate a guest's runlist
 * @guest: entries of the guest
 * @nr: number of entries in @guest
 * @map: returns the chip's id for the guest's id of a channel, or, if @tsg, of a channel group
 * (TSG); -1: leave the entry out. May sleep
 * @ctx: first argument of @map
 * @slice_us: timeslice of each channel group, us
 * @out: entries for the chip
 * @max: most entries in @out
 *
 * Return: number of entries in @out.
 */
int kvgpu_shadow_runlist_build(const u64 *guest, u32 nr, int (*map)(void *ctx, bool tsg, u16 id),
			       void *ctx, u32 slice_us, u64 *out, u32 max);

struct kvgpu_patch {
	u32 reg, val;
};

struct kvgpu_patch_host {
	const struct kvgpu_topo *topo;
	/* addresses in the guest's space, multiples of 256: the page pool, the bundle buffer */
	u64 pagepool, bundle;
};

/*
 * A graphics context has a patch list: pairs of a register and a value. FECS, the microcontroller
 * that switches graphics contexts, writes each value to its register. Each list that FECS gets
 * begins with this many pairs of the host.
 */
#define KVGPU_PATCH_OWN 6

/**
 * kvgpu_shadow_patch_filter() - build the patch list of a graphics context
 * @h: values of the host
 * @guest: pairs of the guest
 * @nr: number of pairs in @guest
 * @out: pairs for FECS: KVGPU_PATCH_OWN pairs that place the host's buffers, then allowed pairs of
 * @guest
 * @max: most pairs in @out, KVGPU_PATCH_OWN at least
 * @rejected: number of pairs of @guest that were refused or found no room. Pairs for registers of
 * the host's own pairs are left out, but do not count
 *
 * Return: number of pairs in @out.
 */
int kvgpu_shadow_patch_filter(const struct kvgpu_patch_host *h, const struct kvgpu_patch *guest,
			      u32 nr, struct kvgpu_patch *out, u32 max, u32 *rejected);

#endif
