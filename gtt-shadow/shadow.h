/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gtt-shadow: the page tables that the GPU really walks. Pure: memory comes from the caller, and
 * effects go through struct kvgpu_shadow_ops.
 *
 * One struct kvgpu_as is the shadow of one guest page directory. The guest's channels use only
 * tables that gtt-shadow wrote. Each valid page entry in them points into the vGPU's partition, to
 * a pinned page of the guest, or to a page that the host has put into the space in place of the
 * guest's translation (kvgpu_shadow_as_subst() *substitutes* pages of graphics contexts). That is
 * S1 of docs/invariants.md. kvgpu_shadow_as_sync() brings the shadow up to date. The caller calls
 * it when the guest's changes must take effect: at a TLB invalidate, bind or enable of a channel,
 * submit or unblock of a runlist, bind of a BAR, and save of a golden context. A sync reads only
 * those pages of the guest's tables that may have been written (ops->take_dirty()), that were never
 * read, or that could not be read.
 *
 * A page of guest memory is pinned before an entry that points to it is written. The page is
 * unpinned only when no entry points to it any more and, after that, the TLB was invalidated or the
 * card was cut off from system memory (S2). Pins without an entry wait for that on a list, and so
 * do tables that the host's directory does not name any more. kvgpu_shadow_reap() empties these
 * lists.
 *
 * gtt-shadow takes no lock: the caller serialises all calls for one vGPU (vgpu->lock). The
 * functions of struct kvgpu_shadow_ops may sleep. They call no function of gtt-shadow.
 */
#ifndef KVGPU_SHADOW_H
#define KVGPU_SHADOW_H

#include <linux/list.h>

#include "kvgpu/types.h"

/*
 * Start of the last MiB of an address space of a channel. No guest entry is installed in this MiB,
 * whatever the guest's tables and limits are. If a channel has no graphics context, the host gives
 * FECS, the microcontroller that switches graphics contexts, this address as that of the context:
 * an access to it is a fault.
 */
#define KVGPU_SPACE_END		((1ull << 40) - (1ull << 20))

struct kvgpu_as;
struct kvgpu_shadow;

/* A table that the GPU reads, in video memory of the host. ops->table_new() makes it. */
struct kvgpu_table {
	/* address in the card's video memory, for a PDE or an instance block */
	u64 addr;
	u32 nr;			/* number of entries of 8 bytes */
	u64 *mirror;		/* host memory with a copy of all entries */
	/*
	 * zeroed host memory for gtt-shadow, of kvgpu_shadow_aux_size() bytes; may be NULL if that
	 * size is 0
	 */
	void *aux;
	void *priv;		/* the caller's; gtt-shadow does not use it */
};

struct kvgpu_shadow_ops {
	/*
	 * Reads @len bytes of a guest's table at @a, in video memory or in guest memory. @len is
	 * 4096 at most, and all bytes are in one page. Returns 0 or -EFAULT.
	 */
	int (*read)(void *ctx, struct kvgpu_gaddr a, void *buf, u32 len);
	/*
	 * Tells whether the CPU or the host may have written to [a, a + len) since the same space
	 * or window was last brought up to date. True if the caller does not know. gtt-shadow calls
	 * it for a whole table before it reads the table, and may then call it for single pages of
	 * the table. If several spaces or windows share a page, each of them must learn of a write
	 * to it. So the caller forgets a write only when all spaces and windows of the vGPU have
	 * been brought up to date. A write by the CPU after this call must make the call in a later
	 * sync return true.
	 */
	bool (*take_dirty)(void *ctx, struct kvgpu_gaddr a, u64 len);
	/*
	 * Pins @nr guest pages for the GPU, at most 512. Their addresses are consecutive: iova[i] =
	 * iova[0] + i * 4096. Sets dma[i] to the DMA address of page i, in bytes. gtt-shadow never
	 * asks for a page that it has pinned already. Pins all pages and returns 0, or pins none
	 * and returns -EFAULT, -ENOMEM, ...
	 */
	int (*pin)(void *ctx, const iova_t *iova, u32 nr, u64 *dma);
	/*
	 * Unpins @nr pages from @iova on, at most 512. Different calls of .pin() may have pinned
	 * them.
	 */
	void (*unpin)(void *ctx, iova_t iova, u32 nr);
	/*
	 * Make and free a table. table_new() sets @t->addr, mirror, aux and priv; @t->nr is set
	 * already. All entries must be 0 at first, in the GPU's table and in the mirror.
	 */
	int (*table_new)(void *ctx, u32 nr, struct kvgpu_table *t);
	void (*table_free)(void *ctx, struct kvgpu_table *t);
	/* Writes entries [first, first + nr) from t->mirror to the GPU's table. */
	void (*table_write)(void *ctx, struct kvgpu_table *t, u32 first, u32 nr);
};

struct kvgpu_shadow_cfg {
	/*
	 * Start of the vGPU's partition of video memory. If it is not aligned to the size of the
	 * guest's big pages, big pages of video memory are refused.
	 */
	hvram_t part_base;
	u64 part_size;
	bool big_64k;		/* true: the guest's big pages have 64 KiB; false: 128 KiB */
	/*
	 * Most tables that this vGPU may have at the same time, page directories included. Guest
	 * entries that would need more tables have no translation.
	 */
	u32 max_tables;
	u64 max_pinned;		/* most pages that may be pinned at the same time */
	/* random number for the hash of pins: no guest can choose pages that share one bucket */
	u64 seed;
};

struct kvgpu_shadow_stats {
	u64 syncs, tables_read, entries_compared, entries_written, bytes_read;
	/* numbers of pages: .pinned is the current number, .pins and .unpins are totals */
	u64 pinned, pins, unpins;
	/*
	 * Number of guest entries that were refused: the entry points outside of the partition or
	 * to a peer (another card's memory), has a bad kind (a storage kind that does not exist),
	 * or needs a page that was not pinned or a table that could not be made. An entry counts
	 * each time that a sync computes the host's entry for it, so again when a sync tries again
	 * to pin or to make a table. If it can't make the tables that a directory entry needs, that
	 * counts as one entry.
	 *
	 * A big page of system memory counts by its small pages: each page that was not pinned
	 * counts, and none if the kind is bad. Other refused big pages count only if they have 128
	 * KiB, are in a space of channels and not in a BAR window, have no valid small entry beside
	 * them, and have no substituted page in them.
	 */
	u64 rejected;
};

/*
 * All shadows of one vGPU. The caller may read .cfg, .stats and .nr_tables; gtt-shadow writes all
 * members.
 */
struct kvgpu_shadow {
	const struct kvgpu_shadow_ops *ops;
	void *ctx;
	struct kvgpu_shadow_cfg cfg;
	struct list_head spaces;
	struct kvgpu_shadow_stats stats;
	/* pins, slots, tables and scratch memory: gtt-shadow/internal.h */
	struct kvgpu_pool *pool;
	/*
	 * Number of tables. Page directories count, and so do tables that are not in use any more,
	 * until kvgpu_shadow_reap() frees them.
	 */
	u32 nr_tables;
};

/*
 * Sets up @s, the shadows of one vGPU. @mem: zeroed memory of kvgpu_shadow_size() bytes. It holds
 * the pool: scratch memory, slots, descriptors of tables, the pins and their hash.
 */
size_t kvgpu_shadow_size(const struct kvgpu_shadow_cfg *cfg);
void kvgpu_shadow_init(struct kvgpu_shadow *s, const struct kvgpu_shadow_cfg *cfg,
		       const struct kvgpu_shadow_ops *ops, void *ctx, void *mem);
/* Returns how many bytes ops->table_new() has to give as .aux to a table of @nr entries. */
size_t kvgpu_shadow_aux_size(const struct kvgpu_shadow_cfg *cfg, u32 nr);

/* ---------------------------------- make, sync, walk and unmap the address spaces of channels */

/*
 * Makes a shadow of the guest page directory @pd. The caller remembers which directories have a
 * shadow, and counts the users of each. Returns 0, or -ENOMEM if the shadow's directory can't be
 * made. @mem: zeroed memory of kvgpu_shadow_as_size() bytes, owned by the space until
 * kvgpu_shadow_as_destroy() returns it.
 */
size_t kvgpu_shadow_as_size(const struct kvgpu_shadow *s);
int kvgpu_shadow_as_create(struct kvgpu_shadow *s, struct kvgpu_gaddr pd, void *mem,
			   struct kvgpu_as **as);
/*
 * Ends a shadow. Call it only when the GPU does not use the space any more and the TLB was
 * invalidated for it, because the shadow's directory is freed at once. The next kvgpu_shadow_reap()
 * frees the shadow's other tables, and unpins the pages that only its entries used. Returns the
 * memory of the space (@mem of kvgpu_shadow_as_create()), which the caller frees.
 */
void *kvgpu_shadow_as_destroy(struct kvgpu_as *as);

/* Returns the address, in the card's video memory, of the shadow's page directory. */
u64 kvgpu_shadow_as_pd_get(const struct kvgpu_as *as);

/**
 * kvgpu_shadow_as_sync() - bring a shadow up to date with the guest's tables
 * @as: the shadow
 * @changed: set to true if the caller must invalidate the GPU's TLB for the directory at
 *   kvgpu_shadow_as_pd_get(), because this call or an earlier call changed entries of the space
 *
 * Also tries again to install entries for which a page was not pinned or a table was not made, and
 * entries that kvgpu_shadow_unmap() or kvgpu_shadow_unmap_all() removed. A call stops trying
 * after a number of failures, and leaves the rest of these entries for the next call.
 *
 * Return: 0, or -ENOMEM if tables could not be made: addresses that need them have no translation.
 */
int kvgpu_shadow_as_sync(struct kvgpu_as *as, bool *changed);

/**
 * kvgpu_shadow_as_subst() - put host pages into a space
 * @as: the shadow
 * @va: address, page aligned
 * @nr: number of pages
 * @base: address of the first page in the card's video memory; the pages are contiguous
 *
 * The entries of the pages have PRIV, by which only privileged accesses may use the pages. They
 * replace the translations of the guest's tables. Copies of the guest's entries for the range stay,
 * and kvgpu_shadow_as_unsubst() makes host entries from them again. That function does nothing if
 * @va or @nr is not valid. The caller must invalidate the TLB after kvgpu_shadow_as_subst() and
 * after kvgpu_shadow_as_unsubst().
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
 * Uses the copies of the *guest's* tables that the last kvgpu_shadow_as_sync() made, and ignores
 * the pages that the host has substituted. The host calls it to read structures of the guest, and
 * to write a context image into the guest's memory.
 *
 * Return: 0, or -EFAULT if there is no translation.
 */
int kvgpu_shadow_as_walk(struct kvgpu_as *as, u64 va, struct kvgpu_gaddr *out, u32 *contiguous);

/**
 * kvgpu_shadow_unmap() - remove all entries that point to a range of guest memory
 * @s: all shadows of a vGPU
 * @iova: first byte of the range
 * @len: bytes
 * @changed: set to true if the caller must write out the entries that kvgpu_shadow_win_take()
 *   gives, invalidate the TLBs of the BARs and of all spaces, and then call
 *   kvgpu_shadow_reap()
 */
void kvgpu_shadow_unmap(struct kvgpu_shadow *s, iova_t iova, u64 len, bool *changed);
/*
 * Removes the entries of all spaces and windows that point to any guest memory. @changed: as for
 * kvgpu_shadow_unmap().
 */
void kvgpu_shadow_unmap_all(struct kvgpu_shadow *s, bool *changed);
/*
 * Unpins the pages to which no entry points any more, and frees the tables that no directory names
 * any more. Call it only after the TLB was invalidated for all changes that earlier calls reported,
 * or after the card was cut off from system memory.
 */
void kvgpu_shadow_reap(struct kvgpu_shadow *s);

/* ------------------------------------------------------------------ fill and empty BAR windows */

struct kvgpu_win;
/* Returns the size in bytes of the state of a window of @pages pages. */
size_t kvgpu_shadow_win_size(u32 pages);
/**
 * kvgpu_shadow_win_sync() - bring a BAR window up to date with the guest's tables
 * @s: all shadows of a vGPU
 * @win: state of the window, kvgpu_shadow_win_size() bytes, zeroed at first
 * @pd: the guest's page directory
 * @limit: last VA that is translated
 * @pages: 4 KiB pages of the window: not 0, a multiple of 32, below 2^20, the same in all calls
 * @scrap: entry for pages without a translation
 * @pte: entries of the host's BAR, one per 4 KiB page; in use until kvgpu_shadow_win_fini()
 * @first: set to the first entry that this call, or an earlier removal of entries, changed
 * @last: set to the last such entry; if *@last < *@first, there is none
 *
 * The window then shows what the guest's BAR1 or BAR3 maps by the guest's own tables.
 *
 * Return: 0; -EINVAL if @pages is 0, not a multiple of 32, not below 2^20, or not as in the call
 *   that set up @win, or if that call had another @s; -ENOSPC if the vGPU has 8 other windows.
 */
int kvgpu_shadow_win_sync(struct kvgpu_shadow *s, struct kvgpu_win *win, struct kvgpu_gaddr pd,
			  u64 limit, u32 pages, u64 scrap, u64 *pte, u32 *first, u32 *last);
/*
 * Makes the window show the partition from its start on, like a BAR in physical mode. Parameters
 * and result as for kvgpu_shadow_win_sync().
 */
int kvgpu_shadow_win_set_linear(struct kvgpu_shadow *s, struct kvgpu_win *win, u32 pages, u64 scrap,
				u64 *pte, u32 *first, u32 *last);
/*
 * Sets *@first and *@last to the range of entries that kvgpu_shadow_unmap() or
 * kvgpu_shadow_unmap_all() has changed since the range was last taken. kvgpu_shadow_win_sync(),
 * kvgpu_shadow_win_set_linear() and this function take the range. Returns false if no entry has
 * changed.
 */
bool kvgpu_shadow_win_take(struct kvgpu_win *win, u32 *first, u32 *last);
/*
 * Ends a window: sets the entries in the caller's array (@pte), if there is one, to @scrap, and
 * clears *@win. The caller writes the entries out and invalidates the BAR's TLB before it calls
 * kvgpu_shadow_reap().
 */
void kvgpu_shadow_win_fini(struct kvgpu_shadow *s, struct kvgpu_win *win);

/* ------------------- translate entries, instance blocks, runlists and patch lists of the guest */

/**
 * vgtt_pte_transform() - make the entry for the GPU from a guest's entry
 * @cfg: limits of the vGPU
 * @guest: the guest's entry
 * @big: @guest is an entry of a big page
 * @sys_dma: DMA address of the pinned page, bytes, for an entry of system memory
 * @rejected: set to true if @guest is valid but the entry made is not, and to false otherwise
 *
 * A valid big entry of system memory always sets @rejected to true, because the frames of such a
 * page need not be contiguous: callers make small entries of it.
 *
 * Return: the entry; without VALID if there is no translation.
 */
u64 vgtt_pte_transform(const struct kvgpu_shadow_cfg *cfg, u64 guest, bool big, u64 sys_dma,
		       bool *rejected);

/* Values of the host for a shadow instance block. */
struct kvgpu_inst_host {
	hchid_t chid;
	u64 userd;	/* address of the channel's USERD in the card's video memory */
	u64 pd;		/* the shadow's page directory: kvgpu_shadow_as_pd_get() */
};
struct kvgpu_inst_guest {	/* fields of a guest's instance block, decoded */
	struct kvgpu_gaddr pd;		/* page directory */
	u64 limit;			/* last VA that the channel may use */
	u64 gp_base;			/* VA of the GPFIFO ring */
	u8 gp_log2;			/* log2 of the ring's number of entries */
	struct kvgpu_gaddr userd;
	/* address of the graphics context, a VA if .gr_ctx_virtual; 0: none */
	u64 gr_ctx;
	bool gr_ctx_virtual;
	bool priv;	/* the guest has set RAMFC_HCE_PRIV_MODE, which no shadow block has */
};
/**
 * kvgpu_shadow_inst_decode() - decode and check a guest's instance block
 * @block: copy of the guest's block: its first RAMIN_GR_CTX + 8 bytes, which end with the address
 *   of the graphics context; later bytes are not read
 * @out: the decoded fields
 * @why: set to a text about the error, or to NULL
 *
 * Return: 0; -EINVAL if the page directory, USERD or a graphics context with a physical address is
 *   in another card's memory, or if the GPFIFO ring does not fit below 2^40.
 */
int kvgpu_shadow_inst_decode(const u32 *block, struct kvgpu_inst_guest *out, const char **why);
/**
 * kvgpu_shadow_inst_build() - build a shadow instance block
 * @guest_block: the copy of the guest's block
 * @g: the decoded fields of that block
 * @h: values of the host
 * @out: the shadow block, 4 KiB: constants, values from @h, and values of the guest that can do no
 *   harm
 */
void kvgpu_shadow_inst_build(const u32 *guest_block, const struct kvgpu_inst_guest *g,
			     const struct kvgpu_inst_host *h, u32 *out);

/**
 * kvgpu_shadow_runlist_build() - translate a guest's runlist
 * @guest: entries of the guest
 * @nr: number of entries in @guest
 * @map: returns the chip's id for the guest's @id, which is the id of a group if @tsg is true, else
 *   of a channel; or returns -1 to leave the entry out
 * @ctx: first argument of @map
 * @slice_us: timeslice of each group, us
 * @out: entries for the chip
 * @max: most entries in @out
 *
 * Return: number of entries in @out.
 */
int kvgpu_shadow_runlist_build(const u64 *guest, u32 nr, int (*map)(void *ctx, bool tsg, u16 id),
			       void *ctx, u32 slice_us, u64 *out, u32 max);

struct kvgpu_patch { u32 reg, val; };

/* Values of the host for a patch list: the units of the chip, and where the host's buffers are. */
struct kvgpu_patch_host {
	const struct kvgpu_topo *topo;
	/* addresses in the guest's space, multiples of 256: the page pool, the bundle buffer */
	u64 pagepool, bundle;
};

/* Each list that FECS gets begins with this many pairs of the host. */
#define KVGPU_PATCH_OWN	6

/**
 * kvgpu_shadow_patch_filter() - build the patch list of a graphics context
 * @h: values of the host
 * @guest: pairs of the guest
 * @nr: number of pairs in @guest
 * @out: pairs for FECS: those of the host that place its buffers, then those of @guest that may be
 *   in such a list. Only the address of the attribute buffer keeps the guest's value. Pairs of
 *   @guest that would place the host's buffers are ignored.
 * @max: most pairs in @out, KVGPU_PATCH_OWN at least
 * @rejected: number of pairs of @guest that were left out because they may not be in a list, or
 *   because @out was full
 *
 * Return: number of pairs in @out.
 */
int kvgpu_shadow_patch_filter(const struct kvgpu_patch_host *h, const struct kvgpu_patch *guest,
			      u32 nr, struct kvgpu_patch *out, u32 max, u32 *rejected);

#endif
