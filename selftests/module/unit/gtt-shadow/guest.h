/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small guest and a chip for the tests of gtt-shadow: guest memory with page tables in it, pins
 * that are counted, tables as the GPU has them, and TLBs at their worst, which use any translation
 * that was written since the last flush. The entries that gtt-shadow writes are compared with a
 * naive walk of the guest's tables as they were at the last sync.
 *
 * All of gtt-shadow/ is real. One thread, no locks. shadow_fuzz uses this, too.
 *
 * A broken promise aborts, with the promise's text on stderr.
 */
#ifndef KVGPU_TEST_GTT_GUEST_H
#define KVGPU_TEST_GTT_GUEST_H

#include <linux/types.h>

#include "gtt-shadow/shadow.h"

#define VRAM_SIZE     (1u << 20)
#define SYS_PAGES     128u
#define SYS_SIZE      (SYS_PAGES * 4096)
#define SYS_BASE      0x7ff00000ull /* first IOVA */
#define PART_BASE     0x40020000ull
#define SUBST_BASE    0x1000000000ull
#define NR_SPACES     8
#define NR_WINS	      2
#define MAX_WIN_PAGES (16384 + 64)

#define PROMISE(c, text)                                  \
	do {                                              \
		if (!(c))                                 \
			broken(text, __FILE__, __LINE__); \
	} while (0)
_Noreturn void broken(const char *text, const char *file, int line);

struct guest;

struct image { /* contents of guest memory at one time */
	u8 vram[VRAM_SIZE] __attribute__((aligned(8))), sys[SYS_SIZE];
	bool bad_vram[VRAM_SIZE / 4096], bad_sys[SYS_PAGES]; /* pages that can't be read */
};

struct space {
	struct guest *g;
	struct kvgpu_as *as; /* NULL: not in use */
	void *mem;
	struct kvgpu_gaddr pd;
	struct image seen; /* guest memory at the last sync */
	bool ok[SYS_PAGES]; /* by page: pinned at the end of the last sync */
	bool gone[SYS_PAGES]; /* by page: unmapped since the last sync */
	/* the last sync met a limit or an injected failure, so entries may be missing */
	bool lenient;
	bool reworked; /* substitutions changed since the last sync */
	bool pending; /* a TLB flush is due */
	/*
	 * for each small page of the first SUBST_SLOTS slots: host address that replaces it, or 0
	 */
	u64 *subst;
};

struct window {
	struct guest *g;
	struct kvgpu_win *win;
	u64 *pte, *hw;
	u32 pages;
	struct kvgpu_gaddr pd;
	u64 limit;
	bool linear, lenient, pending;
	struct image seen;
	bool ok[SYS_PAGES], gone[SYS_PAGES], tlb[SYS_PAGES];
};

struct hw_table {
	struct kvgpu_table *t;
	u64 addr;
	u32 nr;
	u64 *hw;
	struct space *owner; /* the space in whose directory it was linked last */
	struct hw_table *pair; /* the other table of the same directory entry */
	bool reach, linked;
	bool tlb[SYS_PAGES];
	struct hw_table *next;
};

struct guest {
	struct kvgpu_shadow s;
	struct kvgpu_shadow_cfg cfg;
	void *mem;
	struct image now;
	/* pages of video memory written since .take_dirty told so */
	bool written[VRAM_SIZE / 4096];
	/* if set, .take_dirty answers for pages of video memory that are .written; else for all */
	bool track;
	bool pinned[SYS_PAGES], unpinnable[SYS_PAGES];
	u32 nr_pinned, pin_calls, max_batch, unpin_calls;
	/* how many of the next pin calls, and of the next new tables, fail */
	u32 fail_pins, fail_tables;
	bool failed; /* a pin call was made to fail since a sync began */
	struct hw_table *tables;
	u32 nr_tables, writes;
	u64 next_addr;
	u32 reads;
	struct space space[NR_SPACES];
	struct window win[NR_WINS];
	struct guest *next;
};

#define SUBST_SLOTS 4 /* pages of slots 0..3 can be substituted */

struct guest *guest_new(u32 max_tables, u64 max_pinned);
void guest_free(struct guest *g);
/* frees those that a test has not */
int guests_end(void **state);

/* guest memory */
u64 *guest_word(struct image *im, struct kvgpu_gaddr a); /* NULL: no such memory */
bool guest_write(struct guest *g, struct kvgpu_gaddr a, u64 value);
/*
 * Sets *at to where the guest's tables, as they are now, have the entry of @va. False: there is no
 * table for it.
 */
bool guest_entry(struct guest *g, struct kvgpu_gaddr pd, u64 va, bool big, struct kvgpu_gaddr *at);
/* a table whose target is KVGPU_PEER is absent */
u64 pde_make(struct kvgpu_gaddr big, struct kvgpu_gaddr small, u32 size);
u64 pte_make(enum kvgpu_target t, u64 addr, u64 flags);

/* The guest invalidates the TLB for @pd, or for all directories (NULL). */
void guest_invalidate(struct guest *g, const struct kvgpu_gaddr *pd, bool track);
int space_open(struct guest *g, u32 i, struct kvgpu_gaddr pd);
void space_close(struct space *sp);
int space_sync(struct space *sp, bool track);
int space_subst(struct space *sp, u64 va, u32 nr, u64 base);
void space_unsubst(struct space *sp, u64 va, u32 nr);
int space_walk(struct space *sp, u64 va, struct kvgpu_gaddr *out, u32 *len);
int window_sync(struct window *w, struct kvgpu_gaddr pd, u64 limit, u32 pages, bool track);
void window_linear(struct window *w, u32 pages);
void window_close(struct window *w);
void guest_unmap(struct guest *g, u64 iova, u64 len);
void guest_unmap_all(struct guest *g);
void guest_reap(struct guest *g);

/* Checks what must hold between operations. */
void guest_check(struct guest *g);

/* Returns what the GPU sees at @va now, as a small entry; 0: a fault. */
u64 gpu_sees(struct space *sp, u64 va);

#endif
