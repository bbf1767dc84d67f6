// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pins of guest memory. "The core" here is VFIO's container in the kernel, vfio_iommu_type1.c. A
 * page is pinned by vfio_pin_pages() and mapped for DMA before an entry of a shadow page table or
 * of a window points to it. A page is released in this order: the entry is removed, the removal is
 * written to video memory, the TLB is invalidated (vmach_shadow_commit()), the GPU's L2 cache is
 * written back, the DMA mapping is removed, the page is unpinned. So the GPU can't reach a page
 * after it is unpinned (S2 of docs/invariants.md).
 *
 * The last three steps need not happen while the guest waits for its TLB's invalidate. A page for
 * which only these steps are left is called *due*: it is marked in m->pin.pages, and a work item
 * does the steps soon after. The VMM may have put another page at the address of a due page
 * meanwhile (a balloon does). So a new pin of that address releases the due page first. .dma_unmap,
 * close and reset release due pages, too.
 *
 * The work item may wait in VFIO for the container's lock, for as long as the VMM likes. So these
 * work items have a workqueue of their own (chip->wq.unpin).
 *
 * The core calls .dma_unmap again while pages in the range are pinned: unmap.c. docs/locking.md has
 * the order of its locks.
 */
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/ktime.h>

#include "mdev/compat.h"
#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* mark of a due page in m->pin.pages */
#define DUE XA_MARK_0
/*
 * ms until the work item runs: a program that ends unmaps one buffer after the other, and one run
 * can release several together
 */
#define DUE_MS 20
/* most pages that the work item unpins under one hold of vgpu->lock */
#define DUE_AT_ONCE 128
#define DUE_PIECES  8 /* pieces of DUE_AT_ONCE pages in one run of the work item */

/*
 * When the core has refused REFUSALS_MAX pins of a vGPU with -ENOMEM, the vGPU makes no pins for
 * REFUSED_NS, because the core may log a line for each. The count begins anew when none was refused
 * for that time.
 */
#define REFUSALS_MAX 10
#define REFUSED_NS   (5 * (u64)NSEC_PER_SEC)

/*
 * Tells whether the card has an address for @page. It has if an IOMMU translates the card's
 * addresses. Otherwise (no IOMMU, or iommu=pt) the addresses are those of RAM, and the card has 40
 * bits of them. dma_map_page() gives a page beyond these a bounce buffer, which would be refused
 * below, or warns if the kernel has no bounce buffers (dma_direct_map_page()).
 */
static bool page_in_reach(struct device *dev, struct page *page)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	if (domain && domain->type != IOMMU_DOMAIN_IDENTITY)
		return true;
	return page_to_phys(page) + PAGE_SIZE - 1 <=
	       min_not_zero(dma_get_mask(dev), dev->bus_dma_limit);
}

/*
 * Tells whether DMA address @at leads to @page itself, and not to a bounce buffer. With
 * swiotlb=force each page gets one if no IOMMU translates the card's addresses.
 */
static bool dma_leads_to(struct device *dev, dma_addr_t at, struct page *page)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return (domain ? iommu_iova_to_phys(domain, at) : at) == page_to_phys(page);
}

/*
 * Tells whether @page is memory. The core also pins pages of a device's BAR that the VMM has
 * mapped, if they have a struct page. Such a pin holds no reference, and the page may later show
 * memory of another tenant. Pages of a BAR are marked reserved. In some kernels so are pages of DAX
 * devices, which are memory.
 */
static bool page_is_memory(struct page *page)
{
	return !PageReserved(page) || is_zone_device_page(page);
}

/*
 * Maps @page, which is pinned at the guest's address @iova, for DMA by the card. Notes it in
 * m->pin.pages. *@dma: the DMA address.
 */
static int pin_dma_map(struct kvgpu_vgpu *v, u64 iova, struct page *page, u64 *dma)
{
	struct device *dev = &v->gpu->hw.pdev->dev;
	dma_addr_t at;
	int ret;

	if (!page_is_memory(page))
		return -EFAULT;
	if (!page_in_reach(dev, page))
		return -EIO;
	at = dma_map_page(dev, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(dev, at))
		return -EIO;
	ret = -EIO;
	if (dma_leads_to(dev, at, page))
		ret = xa_err(xa_store(&v->m->pin.pages, iova >> PAGE_SHIFT,
				      xa_mk_value(at >> PAGE_SHIFT), GFP_KERNEL));
	if (ret)
		dma_unmap_page(dev, at, PAGE_SIZE, DMA_BIDIRECTIONAL);
	*dma = at;
	return ret;
}

static void pin_dma_unmap(struct kvgpu_vgpu *v, u64 iova)
{
	void *entry = xa_erase(&v->m->pin.pages, iova >> PAGE_SHIFT);

	if (!WARN_ON_ONCE(!entry))
		dma_unmap_page(&v->gpu->hw.pdev->dev, (dma_addr_t)xa_to_value(entry) << PAGE_SHIFT,
			       PAGE_SIZE, DMA_BIDIRECTIONAL);
}

/* Returns the count of refused pins (REFUSALS_MAX). */
static u32 refused_pins(const struct kvgpu_machine *m)
{
	return ktime_get_ns() - m->pin.refused.at < REFUSED_NS ? m->pin.refused.nr : 0;
}

static void refused_pin_count(struct kvgpu_machine *m)
{
	m->pin.refused.nr = refused_pins(m) + 1;
	m->pin.refused.at = ktime_get_ns();
}

/*
 * Pins @nr pages from @iova on, into m->pin.batch. Returns how many were pinned, from the first on,
 * or an error if none was. iommufd (compat_pins_alone()) unpins pages only in the same pieces as
 * they were pinned, so each of its pages is pinned by a call of its own.
 */
static int pin_pages(struct kvgpu_vgpu *v, u64 iova, u32 nr)
{
	int step = compat_pins_alone(&v->vdev) ? 1 : nr, done, got;

	for (done = 0; done < nr; done += got) {
		got = vfio_pin_pages(&v->vdev, iova + (u64)done * PAGE_SIZE,
				     min_t(int, step, nr - done), IOMMU_READ | IOMMU_WRITE,
				     v->m->pin.batch + done);
		if (got == -ENOMEM)
			refused_pin_count(v->m);
		if (got <= 0)
			return done ?: got ?: -EFAULT;
	}
	return done;
}

static void unpin_pages(struct kvgpu_vgpu *v, u64 iova, u32 nr)
{
	u32 step = compat_pins_alone(&v->vdev) ? 1 : nr, i;

	for (i = 0; i < nr; i += step)
		vfio_unpin_pages(&v->vdev, iova + (u64)i * PAGE_SIZE, step);
}

/* Unmaps and unpins @nr due pages from guest page @pfn on. */
static void unpin_page_run(struct kvgpu_vgpu *v, unsigned long pfn, u32 nr)
{
	struct kvgpu_machine *m = v->m;
	u32 i;

	/*
	 * L2's lines of these pages first, and before them what CPUs have written through windows:
	 * a write that was translated before the BAR's TLB was invalidated may be on its way to L2
	 */
	if (!m->mem.l2_clean)
		vmach_writes_flush(v, true);
	m->mem.l2_clean = true;
	for (i = 0; i < nr; i++)
		pin_dma_unmap(v, (u64)(pfn + i) << PAGE_SHIFT);
	unpin_pages(v, (u64)pfn << PAGE_SHIFT, nr);
}

/* Releases the due pages among pages @first to @last, but @max pages at most. */
static void unpin_due_pages(struct kvgpu_vgpu *v, unsigned long first, unsigned long last, u64 max)
{
	struct kvgpu_machine *m = v->m;
	u32 nr;

	lockdep_assert_held(&v->lock);
	while (m->pin.nr_due && max && xa_find(&m->pin.pages, &first, last, DUE)) {
		for (nr = 1; nr < min_t(u64, max, DUE_AT_ONCE) && first + nr <= last; nr++)
			if (!xa_get_mark(&m->pin.pages, first + nr, DUE))
				break;
		WRITE_ONCE(m->pin.nr_due, m->pin.nr_due - nr);
		unpin_page_run(v, first, nr);
		max -= nr;
	}
}

void vmach_due_pages_unpin(struct kvgpu_vgpu *v, u64 iova, u64 last)
{
	unpin_due_pages(v, iova >> PAGE_SHIFT, last >> PAGE_SHIFT, U64_MAX);
}

/*
 * The work item: releases due pages, in pieces. After a pin that failed, hides the MMU's page: the
 * guest's next invalidate faults, and a sync tries the pin again (dirty.c).
 */
static void unpin_some_pages(struct work_struct *work)
{
	struct kvgpu_machine *m =
		container_of(to_delayed_work(work), struct kvgpu_machine, pin.work);
	struct kvgpu_vgpu *v = m->v;
	u32 i;

	/* do not wait for vgpu->lock: its holder may wait for the VMM's memory */
	for (i = 0; i < DUE_PIECES && mutex_trylock(&v->lock); i++) {
		unpin_due_pages(v, 0, ULONG_MAX, DUE_AT_ONCE);
		if (m->pin.retry)
			vmach_mmu_hide(v);
		WRITE_ONCE(m->pin.retry, false);
		mutex_unlock(&v->lock);
		cond_resched();
	}
	if (READ_ONCE(m->pin.nr_due) || READ_ONCE(m->pin.retry))
		queue_delayed_work(v->gpu->chip->wq.unpin, &m->pin.work, 1);
}

static void work_queue(struct kvgpu_vgpu *v)
{
	queue_delayed_work(v->gpu->chip->wq.unpin, &v->m->pin.work, msecs_to_jiffies(DUE_MS));
}

static int pages_pin(struct kvgpu_vgpu *v, const iova_t *iova, u32 nr, u64 *dma)
{
	struct kvgpu_machine *m = v->m;
	int got, i, ret = 0;

	if (!m->pin.allowed || nr > ARRAY_SIZE(m->pin.batch))
		return -EFAULT;
	/* a thread unmaps guest memory (unmap.c), or VFIO has refused too many pins */
	if (atomic_read(&m->pin.forbidden_by) || refused_pins(m) >= REFUSALS_MAX)
		return -EBUSY;
	/* if a limit may be near, all due pages: they count for it, as for max_pinned */
	if (refused_pins(m) ||
	    m->mem.shadow.stats.pinned + m->pin.nr_due + nr > m->mem.shadow.cfg.max_pinned)
		vmach_due_pages_unpin(v, 0, U64_MAX);
	else
		vmach_due_pages_unpin(v, iova[0].v, iova[nr - 1].v);
	got = pin_pages(v, iova[0].v, nr);
	/* the VMM may have reached its limit of locked memory, in which due pages count */
	if (got != nr && m->pin.nr_due) {
		if (got > 0)
			unpin_pages(v, iova[0].v, got);
		vmach_due_pages_unpin(v, 0, U64_MAX);
		got = pin_pages(v, iova[0].v, nr);
	}
	trace_kvgpu_pin(v->id, iova[0].v, nr, got);
	if (got < 0)
		return got;
	for (i = 0; i < got && !ret; i++)
		ret = pin_dma_map(v, iova[i].v, m->pin.batch[i], &dma[i]);
	if (!ret && got == nr)
		return 0;
	if (ret)
		i--; /* the page that failed is not mapped */
	while (i--)
		pin_dma_unmap(v, iova[i].v);
	unpin_pages(v, iova[0].v, got);
	return ret ?: -EFAULT;
}

int vmach_pages_pin(void *ctx, const iova_t *iova, u32 nr, u64 *dma)
{
	struct kvgpu_vgpu *v = ctx;
	int ret = pages_pin(v, iova, nr, dma);

	if (ret) {
		WRITE_ONCE(v->m->pin.retry, true);
		work_queue(v);
	}
	return ret;
}

/* Marks @nr pages from @iova on as due. Call it after the TLB was invalidated. */
void vmach_pages_unpin(void *ctx, iova_t iova, u32 nr)
{
	struct kvgpu_vgpu *v = ctx;
	struct kvgpu_machine *m = v->m;
	u32 i;

	for (i = 0; i < nr; i++)
		xa_set_mark(&m->pin.pages, (iova.v >> PAGE_SHIFT) + i, DUE);
	WRITE_ONCE(m->pin.nr_due, m->pin.nr_due + nr);
	work_queue(v);
}

void vmach_pins_init(struct kvgpu_vgpu *v)
{
	xa_init_flags(&v->m->pin.pages, XA_FLAGS_ACCOUNT);
	INIT_DELAYED_WORK(&v->m->pin.work, unpin_some_pages);
}

void vmach_pins_fini(struct kvgpu_vgpu *v)
{
	cancel_delayed_work_sync(&v->m->pin.work);
	xa_destroy(&v->m->pin.pages);
}
