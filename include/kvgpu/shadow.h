/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gtt-shadow: the page tables that the GPU really walks. Pure: memory comes from the caller,
 * effects go through struct kvgpu_shadow_ops.
 *
 * One struct kvgpu_as is the shadow of one guest page directory. The GPU sees only tables that this
 * room wrote, and each entry in them points into the vGPU's partition, to a pinned page of the
 * guest, or to a page that the host substituted (graphics context images) - S1. kvgpu_as_sync()
 * brings it up to date with the guest's tables when the guest invalidates its TLB or binds
 * something; cost is in proportion to what changed when the caller knows which guest pages changed.
 *
 * Pages of guest memory are pinned before an entry that points to them is written, and unpinned
 * only after the entry is gone *and* the TLB was invalidated (S2): dropped pins, and tables that
 * are no longer linked, collect on lists that kvgpu_shadow_reap() empties after the flush.
 *
 * Locks: the caller serialises calls for one vGPU. Ops may sleep.
 */
#ifndef KVGPU_SHADOW_H
#define KVGPU_SHADOW_H

#include <linux/list.h>

#include "kvgpu/types.h"

/*
 * The last MiB of all spaces is the host's: no entry of a guest's is installed there, whatever its
 * tables and limits say. FECS is pointed at it by channels that have no graphics context.
 */
#define KVGPU_SPACE_END		((1ull << 40) - (1ull << 20))

struct kvgpu_as;
struct kvgpu_shadow;

/* a table of the GPU in host-owned memory, made by the caller */
struct kvgpu_table {
	u64 addr;		/* hvram address that goes into a PDE or an instance block */
	u32 nr;			/* entries of 8 bytes */
	u64 *mirror;		/* what was written, nr entries of host memory */
	/* kvgpu_table_aux() bytes of zeroed host memory for the room; may be NULL when that is 0 */
	void *aux;
	void *priv;		/* the caller's */
};

struct kvgpu_shadow_ops {
	/*
	 * reads guest tables: @len bytes (<= 4096, inside one page) of guest physical memory. 0 or
	 * -EFAULT
	 */
	int (*read)(void *ctx, struct kvgpu_gaddr a, void *buf, u32 len);
	/*
	 * Pins guest pages for the GPU; dma[i] is what goes into the PTE. At most 512, iova[i] =
	 * iova[0] + i * 4096; no page is pinned twice. All or nothing: -EFAULT, -ENOMEM, ...
	 */
	int (*pin)(void *ctx, const iova_t *iova, u32 nr, u64 *dma);
	/* @nr pages from @iova on, at most 512; not necessarily pinned by one call */
	void (*unpin)(void *ctx, iova_t iova, u32 nr);
	/*
	 * makes and frees tables (@t->addr, mirror, aux, priv; nr is set); entries start as 0 in
	 * both places
	 */
	int (*table_new)(void *ctx, u32 nr, struct kvgpu_table *t);
	void (*table_free)(void *ctx, struct kvgpu_table *t);
	/* writes entries [first, first + nr) from t->mirror to the GPU's table */
	void (*table_write)(void *ctx, struct kvgpu_table *t, u32 first, u32 nr);
};

struct kvgpu_shadow_cfg {
	hvram_t part_base;	/* aligned to 128 KiB, or big pages of the guest are refused */
	u64 part_size;
	bool big_64k;		/* page size of the guest's tables: false = 128 KiB big pages */
	/*
	 * page tables this vGPU may make the host keep; beyond it entries read as invalid (counted)
	 */
	u32 max_tables;
	u64 max_pinned;		/* pages */
	/* any random number: guests can't aim at one bucket of the pin cache */
	u64 seed;
};

struct kvgpu_shadow_stats {
	u64 syncs, tables_read, entries_compared, entries_written, bytes_read;
	u64 pinned, pins, unpins;	/* pinned is the current number */
	/* entries refused: outside the partition, peer, bad kind, not pinnable */
	u64 rejected;
};

/* all shadows of one vGPU */
struct kvgpu_shadow {
	const struct kvgpu_shadow_ops *ops;
	void *ctx;
	struct kvgpu_shadow_cfg cfg;
	struct list_head spaces;
	struct kvgpu_shadow_stats stats;
	/*
	 * the room's own: pin cache (iova -> dma, references from entries), see
	 * gtt-shadow/internal.h
	 */
	struct kvgpu_pool *pool;
	/* page directories included, and those that wait for kvgpu_shadow_reap() */
	u32 nr_tables;
};

/*
 * May anything in [a, a + len) of guest memory have changed since the same space (or window) was
 * last brought up to date? Whole tables are asked about first, then single pages. It must answer
 * true where the caller can't know.
 */
typedef bool (*kvgpu_dirty_fn)(void *ctx, struct kvgpu_gaddr a, u64 len);

/* @mem: zeroed memory of kvgpu_shadow_size() bytes for the pin cache and its index */
size_t kvgpu_shadow_size(const struct kvgpu_shadow_cfg *cfg);
void kvgpu_shadow_init(struct kvgpu_shadow *s, const struct kvgpu_shadow_cfg *cfg,
		       const struct kvgpu_shadow_ops *ops, void *ctx, void *mem);
/* what ops->table_new() has to give as aux for a table of @nr entries */
size_t kvgpu_table_aux(const struct kvgpu_shadow_cfg *cfg, u32 nr);

/* ------------------------------------------------------------------ channels' address spaces */

/*
 * The shadow of the guest page directory @pd, made at its first use; counts users. NULL when memory
 * for it is lacking.
 * @mem: zeroed memory of kvgpu_as_size() bytes, owned by the space until kvgpu_as_put() returns it.
 */
size_t kvgpu_as_size(const struct kvgpu_shadow *s);
struct kvgpu_as *kvgpu_as_find(struct kvgpu_shadow *s, struct kvgpu_gaddr pd);
int kvgpu_as_create(struct kvgpu_shadow *s, struct kvgpu_gaddr pd, void *mem, struct kvgpu_as **as);
void kvgpu_as_get(struct kvgpu_as *as);
/*
 * Drops a use; at the last one all tables are freed and pins dropped (kvgpu_shadow_reap() unpins).
 * The GPU must not use the space any more and its TLB must have been invalidated. Returns the
 * memory to free, or NULL while others use it.
 */
void *kvgpu_as_put(struct kvgpu_as *as);

u64 kvgpu_as_pd(const struct kvgpu_as *as);	/* hvram address for a shadow instance block */

/*
 * Brings the shadow up to date. @dirty may be NULL: look at everything. What could not be installed
 * before (a page that was not pinned, a table that was not made, what kvgpu_shadow_unmap() took
 * out) is tried again. *@changed tells whether the GPU's TLB must be invalidated for kvgpu_as_pd(),
 * because of this call or of earlier ones on this space. -ENOMEM: some tables could not be made;
 * their range reads as invalid.
 */
int kvgpu_as_sync(struct kvgpu_as *as, kvgpu_dirty_fn dirty, bool *changed);

/*
 * Pages that the host puts at a VA whatever the guest's tables say: @nr pages from hvram @base,
 * privileged. Guest entries of the range are remembered but not installed until kvgpu_as_unsubst().
 * The TLB must be invalidated after both. -EINVAL, -EBUSY (part of the range is substituted
 * already), -ENOMEM: nothing was done.
 */
int kvgpu_as_subst(struct kvgpu_as *as, u64 va, u32 nr, hvram_t base);
void kvgpu_as_unsubst(struct kvgpu_as *as, u64 va, u32 nr);

/*
 * Translates a VA by the *guest's* tables (as last read): for the host's own reads of guest
 * structures. @contiguous: bytes from there to the end of the page. Video memory that comes out
 * lies inside the partition. -EFAULT: no translation.
 */
int kvgpu_as_walk(struct kvgpu_as *as, u64 va, struct kvgpu_gaddr *out, u32 *contiguous);

/*
 * Removes every entry that points to guest memory in [iova, iova + len). When *@changed: write out
 * what kvgpu_win_take() gives, invalidate the TLB of all spaces, then kvgpu_shadow_reap().
 */
void kvgpu_shadow_unmap(struct kvgpu_shadow *s, iova_t iova, u64 len, bool *changed);
/* removes all entries of all spaces that point to guest memory (close, reset) */
void kvgpu_shadow_unmap_all(struct kvgpu_shadow *s, bool *changed);
/*
 * after the TLB was invalidated for all that any call reported as changed: unpins and frees what no
 * entry uses any more
 */
void kvgpu_shadow_reap(struct kvgpu_shadow *s);

/* ------------------------------------------------------------------ BAR windows */

/*
 * The guest's BAR1 or BAR3 through its own tables: fills @pte[] (host BAR entries, one per 4 KiB
 * page of the slice). Pages without a valid entry get @scrap, an entry. *@first, *@last: what
 * changed, also by kvgpu_shadow_unmap() before (last <
 * first: nothing). @win is the window's state in memory of kvgpu_win_size() bytes, zeroed at first;
 * @pte stays in use until kvgpu_win_fini(). @pages: a multiple of 32, below 2^20, the same in all
 * calls. @limit: last VA that is translated. -EINVAL, or -ENOSPC when the vGPU has too many windows
 * (8).
 */
struct kvgpu_win;
size_t kvgpu_win_size(u32 pages);
int kvgpu_win_sync(struct kvgpu_shadow *s, struct kvgpu_win *win, struct kvgpu_gaddr pd, u64 limit,
		   u32 pages, kvgpu_dirty_fn dirty, u64 scrap, u64 *pte, u32 *first, u32 *last);
/* the window in physical mode: the partition from its start */
int kvgpu_win_linear(struct kvgpu_shadow *s, struct kvgpu_win *win, u32 pages, u64 scrap, u64 *pte,
		     u32 *first, u32 *last);
/* what changed since the last call of these three; false: nothing */
bool kvgpu_win_take(struct kvgpu_win *win, u32 *first, u32 *last);
/*
 * all pages become scrap; write them out and invalidate before kvgpu_shadow_reap() and before @win
 * is freed
 */
void kvgpu_win_fini(struct kvgpu_shadow *s, struct kvgpu_win *win);

/* ----------------------------------------------------- other guest structures (pure transforms) */

/*
 * One guest PTE to the entry that may be installed; 0 when it must not. @sys_dma: address of a
 * pinned page for a sysmem entry. A big page of system memory is never installed as such: its
 * frames need not be contiguous.
 */
u64 kvgpu_pte_transform(const struct kvgpu_shadow_cfg *cfg, u64 guest, bool big, u64 sys_dma,
			bool *rejected);

/*
 * Shadow instance block (4 KiB) field by field from the guest's. Host-chosen values come in @h.
 * -EINVAL with a reason when the guest's block can't be used.
 */
struct kvgpu_inst_host {
	hchid_t chid;
	u64 userd;		/* hvram address of the channel's USERD */
	u64 pd;			/* kvgpu_as_pd() */
	u32 runl_slice, pb_slice;	/* RAMFC 0xf8, 0xfc */
	u32 acquire;		/* RAMFC 0x30 */
};
struct kvgpu_inst_guest {	/* what the guest's block says, decoded once */
	struct kvgpu_gaddr pd;
	u64 limit;
	u64 gp_base;
	u8 gp_log2;
	struct kvgpu_gaddr userd;
	u64 gr_ctx;		/* VA, 0 = none */
	bool gr_ctx_virtual;
	bool priv;
};
int kvgpu_inst_decode(const u32 *block, struct kvgpu_inst_guest *out, const char **why);
void kvgpu_inst_build(const u32 *guest_block, const struct kvgpu_inst_guest *g,
		      const struct kvgpu_inst_host *h, u32 *out);

/*
 * Runlist: guest entries in, chip entries out (at most @max). @map gives the chip's id of a channel
 * or group that the guest has bound to this runlist, or -1: such entries are left out. Returns the
 * number of entries.
 */
int kvgpu_runlist_build(const u64 *guest, u32 nr, int (*map)(void *ctx, bool tsg, u16 id),
			void *ctx, u32 slice_us, u64 *out, u32 max);

/*
 * Patch list of a graphics context: keeps the registers that may be there and recomputes what the
 * host knows better.
 */
struct kvgpu_patch { u32 reg, val; };
int kvgpu_patch_filter(const struct kvgpu_topo *topo, const struct kvgpu_patch *guest, u32 nr,
		       struct kvgpu_patch *out, u32 max, u32 *rejected);

#endif
