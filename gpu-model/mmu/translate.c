// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation for a client: TLB, then walk, then rights, then the host pointer. Each access checks
 * the rights in the cached bits, so a line that a read filled does not let a write through.
 */
#include <errno.h>
#include <stdlib.h>

#include <gk110/mmu.h>

#include "state.h"

#define COPY_CHUNK  (1u << 20)
#define MMU_VA_MASK GENMASK_ULL(GMMU_VA_BITS - 1, 0)

int mmu_client_init(struct gk110 *g, struct mmu_client *c, const char *name, uint8_t unit,
		    uint8_t client, int gpc)
{
	struct tlb *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*c = (struct mmu_client){
		.name = name, .unit = unit, .client = client, .gpc = gpc, .tlb = t
	};
	t->g = g;
	t->hub = gpc < 0;
	pthread_mutex_lock(&g->mmu->tlbs_lock);
	t->next = g->mmu->tlbs;
	g->mmu->tlbs = t;
	pthread_mutex_unlock(&g->mmu->tlbs_lock);
	return 0;
}

void mmu_client_fini(struct gk110 *g, struct mmu_client *c)
{
	struct tlb **p;

	if (!c->tlb)
		return;
	pthread_mutex_lock(&g->mmu->tlbs_lock);
	for (p = &g->mmu->tlbs; *p; p = &(*p)->next) {
		if (*p == c->tlb) {
			*p = c->tlb->next;
			break;
		}
	}
	pthread_mutex_unlock(&g->mmu->tlbs_lock);
	free(c->tlb);
	c->tlb = NULL;
}

static bool read_entry(void *ctx, enum mem_target t, uint64_t addr, uint64_t *entry)
{
	return mem_fetch(ctx, t, addr, entry, sizeof(*entry));
}

static bool bypass_leaf(const struct mmu *m, uint64_t va, struct walk_result *r)
{
	if (m->bypass_target == MEM_PEER) {
		r->reason = MMU_APERTURE;
		return false;
	}
	r->leaf = (struct walk_leaf){ .phys = va & MMU_VA_MASK & ~(uint64_t)(GK110_PAGE - 1),
				      .shift = GMMU_SMALL_SHIFT,
				      .target = m->bypass_target };
	return true;
}

static bool miss(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
		 bool peek, struct walk_result *r)
{
	const struct walk_reader rd = { .read64 = read_entry, .ctx = g };
	const struct mmu *m = g->mmu;
	uint64_t index = va >> (m->big_shift + GMMU_BIG_PTES_SHIFT);

	if (!peek)
		stat_inc(g, tlb_misses);
	if (m->bypass)
		return bypass_leaf(m, va, r);
	if (!tlb_dir_lookup(c->tlb, s, index, &r->pde)) {
		if (!walk_dir(&rd, s->pdb, s->pdb_target, va, m->big_shift, &r->pde)) {
			r->reason = MMU_PDE;
			return false;
		}
		if (!peek && (r->pde & (GMMU_PDE_BIG_APERTURE | GMMU_PDE_SMALL_APERTURE)))
			tlb_dir_fill(c->tlb, s, index, r->pde);
	}
	return walk_tables(&rd, va, m->big_shift, r);
}

static bool find_leaf(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
		      bool peek, struct walk_leaf *leaf, enum mmu_reason *why)
{
	struct walk_result r;

	if (!s->valid) {
		*why = MMU_UNBOUND_INST;
		return false;
	}
	if ((va > s->limit || va >> GMMU_VA_BITS) && !g->mmu->bypass) {
		*why = MMU_LIMIT;
		return false;
	}
	if (tlb_lookup(c->tlb, s, va & MMU_VA_MASK, g->mmu->big_shift, leaf))
		return true;
	if (!miss(g, c, s, va & MMU_VA_MASK, peek, &r)) {
		*why = r.reason;
		return false;
	}
	if (!peek)
		tlb_fill(c->tlb, s, va & MMU_VA_MASK, &r.leaf);
	*leaf = r.leaf;
	return true;
}

int mmu_translate(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
		  size_t want, enum mmu_access acc, unsigned int flags, struct mmu_seg *seg)
{
	struct walk_leaf leaf;
	enum mmu_reason why;
	uint64_t off, left;

	if (!find_leaf(g, c, s, va, flags & MMU_PEEK, &leaf, &why) ||
	    !walk_access(&leaf, acc, flags & MMU_PRIV_ACCESS, &why))
		goto fault;
	off = va & ((1ull << leaf.shift) - 1);
	left = (1ull << leaf.shift) - off;
	/* the space's limit may be inside of a big page */
	if (left - 1 > s->limit - va && va <= s->limit)
		left = s->limit - va + 1;
	seg->len = want > left ? left : want ? want : 1;
	seg->phys = leaf.phys + off;
	seg->target = leaf.target;
	seg->kind = leaf.kind;
	seg->vol = leaf.flags & LEAF_VOL;
	seg->read_only = leaf.flags & LEAF_NO_WRITE;
	seg->ptr = mem_ptr(g, leaf.target, seg->phys, &seg->len, acc != ACC_READ);
	if (seg->ptr)
		return 0;
	why = MMU_REGION; /* open: the chip's reason for a page without memory */
fault:
	if (!(flags & MMU_PEEK))
		mmu_fault(g, c, s, va, why, acc, flags);
	return -EFAULT;
}

static void count_bytes(struct gk110 *g, const struct mmu_seg *seg, size_t n, bool write)
{
	if (seg->target == MEM_VRAM && write)
		stat_add(g, vram_wr_bytes, n);
	else if (seg->target == MEM_VRAM)
		stat_add(g, vram_rd_bytes, n);
	else if (write)
		stat_add(g, dma_wr_bytes, n);
	else
		stat_add(g, dma_rd_bytes, n);
}

/* Return how many bytes were copied, or -EFAULT. */
static ssize_t copy_chunk(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s,
			  uint64_t va, void *buf, size_t len, enum mmu_access acc,
			  unsigned int flags)
{
	size_t done = 0;
	struct mmu_seg seg;

	pthread_rwlock_rdlock(&g->dma_lock);
	while (done < len && done < COPY_CHUNK) {
		if (mmu_translate(g, c, s, va + done, len - done, acc, flags, &seg)) {
			pthread_rwlock_unlock(&g->dma_lock);
			return -EFAULT;
		}
		if (acc == ACC_READ)
			mem_copy_from((uint8_t *)buf + done, seg.ptr, seg.len);
		else
			mem_copy_to(seg.ptr, (uint8_t *)buf + done, seg.len);
		count_bytes(g, &seg, seg.len, acc != ACC_READ);
		done += seg.len;
	}
	pthread_rwlock_unlock(&g->dma_lock);
	return done;
}

int mmu_read(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	     void *buf, size_t len, unsigned int flags)
{
	while (len) {
		ssize_t n = copy_chunk(g, c, s, va, buf, len, ACC_READ, flags);

		if (n < 0)
			return n;
		buf = (uint8_t *)buf + n;
		va += n;
		len -= n;
	}
	return 0;
}

int mmu_write(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	      const void *buf, size_t len, unsigned int flags)
{
	while (len) {
		ssize_t n = copy_chunk(g, c, s, va, (void *)buf, len, ACC_WRITE, flags);

		if (n < 0)
			return n;
		buf = (const uint8_t *)buf + n;
		va += n;
		len -= n;
	}
	return 0;
}
