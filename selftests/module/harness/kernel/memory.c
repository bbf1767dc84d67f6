// SPDX-License-Identifier: GPL-2.0-only
/* Memory of the kernel, DMA mappings, and the allocator of the card's pool. */
#include "gk110/mmu.h"
#include "selftests/module/harness/chip/chip.h"
#include "selftests/module/harness/inside.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/task.h"

static size_t allocated;
u64 harness_alloc_bytes, harness_pool_refusals;
static struct xarray iommu;
static u64 next_dma;
/* dma_map_page() maps a bounce buffer, one frame that is no memory of any VMM */
bool iommu_bounces;
enum iommu_kind iommu_kind;
#define BOUNCE_PFN 0x6000000ul

/* ------------------------------------------------------------------ kmalloc */

void *harness_alloc(size_t n, gfp_t gfp)
{
	void *p;

	if (!(gfp & __GFP_NOFAIL) && alloc_fails())
		return NULL;
	p = gfp & __GFP_ZERO ? calloc(1, n ?: 1) : malloc(n ?: 1);
	if (!p)
		abort();
	if (!(gfp & __GFP_ZERO))
		memset(p, 0xa5, n);
	allocated++;
	harness_alloc_bytes += n;
	return p;
}

void harness_free(const void *p)
{
	if (!p)
		return;
	allocated--;
	free((void *)p);
}

size_t harness_allocated(void)
{
	size_t n = allocated;

	allocated = 0;
	return n;
}

unsigned long vmalloc_to_pfn(const void *p)
{
	return OWN_PFN | (unsigned long)p;
}

/* ---------------------------------------- the IOMMU: an address is used again only after 1 TiB */

static struct dma_entry *iommu_add(u64 pages, u64 pfn, u8 *cpu)
{
	struct dma_entry *e = calloc(1, sizeof(*e));
	u64 i;

	*e = (struct dma_entry){ .at = (next_dma += (pages + 1) << PAGE_SHIFT),
				 .pfn = pfn,
				 .cpu = cpu,
				 .size = pages << PAGE_SHIFT };
	for (i = 0; i < pages; i++)
		xa_store(&iommu, (e->at >> PAGE_SHIFT) + i, e, __GFP_NOFAIL);
	next_dma += pages << PAGE_SHIFT;
	if (next_dma >> GMMU_VA_BITS)
		next_dma = 1 << 20;
	return e;
}

static void iommu_del(dma_addr_t at, size_t n)
{
	struct dma_entry *e = xa_load(&iommu, at >> PAGE_SHIFT);
	u64 i;

	FAIL_ON(!e || e->at != at || e->size != n,
		"S2: DMA address 0x%llx is unmapped that was not mapped", at);
	for (i = 0; i < n >> PAGE_SHIFT; i++)
		xa_erase(&iommu, (at >> PAGE_SHIFT) + i);
	free(e);
}

const struct dma_entry *iommu_find(dma_addr_t at)
{
	return xa_load(&iommu, at >> PAGE_SHIFT);
}

void iommu_in_l2(dma_addr_t at)
{
	struct dma_entry *e = xa_load(&iommu, at >> PAGE_SHIFT);

	if (e)
		e->l2 = flush_l2_next();
}

void iommu_end(void)
{
	FAIL_ON(iommu.nr, "S2: %u DMA mappings are left", iommu.nr);
	xa_destroy(&iommu);
	next_dma = 0;
	iommu_bounces = false;
	iommu_kind = IOMMU_TRANSLATES;
}

void *dma_alloc_coherent(struct device *d, size_t n, dma_addr_t *at, gfp_t gfp)
{
	u8 *cpu = kzalloc(PAGE_ALIGN(n), gfp);

	if (cpu)
		*at = iommu_add(PAGE_ALIGN(n) >> PAGE_SHIFT, 0, cpu)->at;
	return cpu;
}

void dma_free_coherent(struct device *d, size_t n, void *cpu, dma_addr_t at)
{
	iommu_del(at, PAGE_ALIGN(n));
	kfree(cpu);
}

struct iommu_domain *iommu_get_domain_for_dev(struct device *d)
{
	static struct iommu_domain domain;

	domain.type = iommu_kind == IOMMU_IDENTITY ? IOMMU_DOMAIN_IDENTITY : 1;
	return iommu_kind == IOMMU_NONE ? NULL : &domain;
}

/* In a domain without translation, too, this is the frame that the device reaches. */
phys_addr_t iommu_iova_to_phys(struct iommu_domain *domain, dma_addr_t at)
{
	return iommu_find(at)->pfn << PAGE_SHIFT;
}

dma_addr_t dma_map_page(struct device *d, struct page *page, size_t off, size_t n,
			enum dma_data_direction dir)
{
	u64 last = page_to_phys(page) + off + n - 1;

	/* as dma_direct_map_page() of Linux, without bounce buffers */
	FAIL_ON(iommu_kind != IOMMU_TRANSLATES &&
			last > min_not_zero(dma_get_mask(d), d->bus_dma_limit),
		"S6: dev_WARN_ONCE(\"DMA addr overflow\") for RAM at 0x%llx", last);
	if (alloc_fails())
		return ~0ull;
	return iommu_add(1, iommu_bounces ? BOUNCE_PFN : page->pfn, NULL)->at;
}

/* The card must not reach the page any more: by a table, by a TLB, by what L2 has of it. */
void dma_unmap_page(struct device *d, dma_addr_t at, size_t n, enum dma_data_direction dir)
{
	const struct dma_entry *e = iommu_find(at);

	FAIL_ON(e && !flush_l2_ended(e->l2) && !inside_lost(),
		"S2: a page is unmapped, and L2 may still write to it: DMA address 0x%llx", at);
	iommu_del(at, n);
	chip_look("a page was unmapped");
}

/* ------------------------------------------------------------------ the pool */

struct gen_pool {
	struct gen_pool *next; /* an older one: a pool in a piece of another is found first */
	u64 at, size;
	struct xarray used; /* struct pool_piece, by the last byte */
};

static struct gen_pool *pools;
bool pool_watched;

struct gen_pool *gen_pool_create(int order, int node)
{
	struct gen_pool *p = kzalloc(sizeof(*p), GFP_KERNEL | (pool_watched ? 0 : __GFP_NOFAIL));

	if (p) {
		p->next = pools;
		pools = p;
	}
	return p;
}

int gen_pool_add(struct gen_pool *p, unsigned long at, size_t n, int node)
{
	if (pool_watched && alloc_fails())
		return -ENOMEM;
	p->at = at;
	p->size = n;
	return 0;
}

static struct pool_piece *piece_at(struct gen_pool *p, u64 at)
{
	unsigned long last = at;
	struct pool_piece *piece = p ? xa_find(&p->used, &last, ULONG_MAX, XA_PRESENT) : NULL;

	return piece && piece->at <= at ? piece : NULL;
}

void gen_pool_destroy(struct gen_pool *p)
{
	const struct pool_piece *piece;
	struct gen_pool **at;
	unsigned long last;

	xa_for_each(&p->used, last, piece)
		harness_fail("a piece of the pool was not given back: 0x%llx, vGPU %u's", piece->at,
			     piece->owner);
	for (at = &pools; *at != p; at = &(*at)->next)
		;
	*at = p->next;
	kfree(p);
}

size_t gen_pool_avail(struct gen_pool *p)
{
	const struct pool_piece *piece;
	size_t left = p->size;
	unsigned long last;

	xa_for_each(&p->used, last, piece)
		left -= piece->size;
	return left;
}

unsigned long gen_pool_alloc_algo(struct gen_pool *p, size_t n, void *algo, void *data)
{
	u64 align = ((struct genpool_data_align *)data)->align, at = ALIGN(p->at, align);
	struct pool_piece *piece;
	unsigned long last;

	if (pool_watched && alloc_fails())
		return 0;
	xa_for_each(&p->used, last, piece) {
		if (at + n <= piece->at)
			break;
		at = ALIGN(piece->at + piece->size, align);
	}
	if (at + n > p->at + p->size) {
		/* the kernel does not search a chunk that has too few free bytes in all */
		harness_pool_refusals += n <= gen_pool_avail(p);
		return 0;
	}
	piece = malloc(sizeof(*piece));
	*piece = (struct pool_piece){ at, n, oracle_vgpu_of_task() };
	xa_store(&p->used, at + n - 1, piece, __GFP_NOFAIL);
	return at;
}

const struct pool_piece *pool_find(u64 at)
{
	struct gen_pool *p = pools;

	while (p && (at < p->at || at >= p->at + p->size))
		p = p->next;
	return piece_at(p, at);
}

/* What is given back must be zeros (S4) that have arrived (S1), out of the chip's reach. */
void gen_pool_free(struct gen_pool *p, unsigned long at, size_t n)
{
	struct pool_piece *piece = piece_at(p, at);

	FAIL_ON(!piece || piece->at != at || piece->size != n,
		"a piece of the pool is given back that was not taken: 0x%lx, %zu bytes", at, n);
	xa_erase(&p->used, at + n - 1);
	free(piece);
	if (!pool_watched)
		return;
	FAIL_ON(!chip_is_zero(at, n),
		"S4: what goes back to the pool is not empty: 0x%lx, %zu bytes", at, n);
	FAIL_ON(!inside_lost() && !flush_brought(at, n),
		"S1: stores in a piece of the pool may arrive after it was given back: 0x%lx, %zu bytes",
		at, n);
	chip_look("a piece of the pool was given back");
}
