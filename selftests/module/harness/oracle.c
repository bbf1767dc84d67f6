// SPDX-License-Identifier: GPL-2.0-only
/*
 * oracle.h has the contracts. Reads the module's state, by inside.h, without its locks. The only
 * call of the module is oracle_closed()'s, by sysfs.
 */
#include "gk110/gr.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "selftests/module/harness/admin.h"
#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/inside.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/task.h"
#include "selftests/module/harness/world.h"

static const struct world_vgpu *vgpu_by_id(u32 id)
{
	struct world_vgpu *w;

	for (w = world.vgpu; w < world.vgpu + WORLD_VGPUS; w++)
		if (w->made && inside_id(w->v) == id)
			return w;
	return NULL;
}

/* ------------------------------------------------------------------ whose */

static bool is_vgpu_lock(const struct mutex *m)
{
	return inside_id_of_lock(m);
}

u32 oracle_vgpu_of_task(void)
{
	struct mutex *m = task_holds(is_vgpu_lock);

	return m ? inside_id_of_lock(m) : 0;
}

/* The channel id's block tells: an id block belongs to one vGPU at a time. */
u32 oracle_vgpu_of_chan(u16 chid)
{
	struct world_vgpu *w;

	for (w = world.vgpu; w < world.vgpu + WORLD_VGPUS; w++)
		if (w->made && inside_may_have(w->v, chid))
			return inside_id(w->v);
	return 0;
}

/* ------------------------------------------------------------------ what the GPU reaches */

void oracle_table(u32 vgpu, u64 at, u64 size, const char *when)
{
	const struct pool_piece *p = pool_find(at);

	if (p && p->owner == vgpu)
		return;
	/* A lost card may go on using what it had: that must be zeros, and belong to no vGPU. */
	FAIL_ON(p || !inside_lost() || !chip_is_zero(at, size),
		"S1: %s: a channel of vGPU %u uses a table or block at 0x%llx that is %s", when,
		vgpu, at, p ? "another one's" : "in memory that was given back, or not the host's");
}

static bool in_partition(const struct kvgpu_vgpu *v, u64 at, u64 len)
{
	struct inside_part part = inside_part(v);

	return at >= part.at && at + len <= part.at + part.size;
}

/* Return true when no vGPU has a byte of this video memory. */
static bool is_nobodys(u64 at, u64 len)
{
	struct inside_part part;
	struct world_vgpu *w;

	for (w = world.vgpu; w < world.vgpu + WORLD_VGPUS; w++) {
		if (!w->made)
			continue;
		part = inside_part(w->v);
		if (at + len > part.at && at < part.at + part.size)
			return false;
	}
	return !pool_find(at);
}

u64 oracle_contexts;

/*
 * The pages behind the first one of the context at @va: the rest of the image, the patch list, the
 * page pool and the bundle buffer. They follow the first page, at @at, in the host's memory.
 */
static void see_tail(u32 vgpu, u64 pd, u64 va, u64 at, const char *when)
{
	u64 size = inside_context_size(), off, pte;

	for (off = PAGE_SIZE; off < size; off += PAGE_SIZE) {
		pte = mmu_translate(pd, va + off);
		FAIL_ON(FIELD_GET(GMMU_PTE_ADDR, pte) << 12 != at + off || !(pte & GMMU_PTE_PRIV) ||
				FIELD_GET(GMMU_PTE_APERTURE, pte) != GMMU_PTE_APERTURE_VRAM,
			"S3: %s: page 0x%llx of the context of vGPU %u at 0x%llx is not the host's",
			when, off, vgpu, va);
	}
}

void oracle_context(u32 vgpu, u64 inst, u64 pd, const char *when)
{
	const u32 *block = (const u32 *)chip_vram(inst + RAMIN_GR_CTX), *header;
	u64 va = (block[0] & RAMIN_CTX_ADDR_LO) | (u64)(block[1] & 0xff) << 32;
	u64 pte = mmu_translate(pd, va), at = FIELD_GET(GMMU_PTE_ADDR, pte) << 12;
	const struct pool_piece *p = pool_find(at);

	if (!pte || inside_lost())
		return;
	FAIL_ON(FIELD_GET(GMMU_PTE_APERTURE, pte) != GMMU_PTE_APERTURE_VRAM || !p ||
			p->owner != vgpu || !(pte & GMMU_PTE_PRIV),
		"S3: %s: FECS would load a context of vGPU %u at 0x%llx that is the guest's", when,
		vgpu, va);
	/* The header of an image that is not written yet is 0: FECS takes no patches from it. */
	header = (const u32 *)chip_vram(at + GR_CTX_OS_PATCH_COUNT);
	FAIL_ON(header[0] && (u64)header[1] << 8 != va + inside_image_size(),
		"S3: %s: the context of vGPU %u at 0x%llx has its patches at 0x%llx", when, vgpu,
		va, (u64)header[1] << 8);
	FAIL_ON(at + inside_context_size() > p->at + p->size,
		"S3: %s: the context of vGPU %u at 0x%llx is longer than the host's memory for it",
		when, vgpu, va);
	see_tail(vgpu, pd, va, at, when);
	oracle_contexts++;
}

void oracle_leaf(u32 vgpu, u64 va, u64 pte, bool big, const char *when)
{
	u64 at = FIELD_GET(GMMU_PTE_ADDR, pte) << 12, len = big ? 128 << 10 : PAGE_SIZE;
	const struct world_vgpu *w = vgpu_by_id(vgpu);
	const struct pool_piece *p;
	const struct dma_entry *e;

	if (!w && inside_lost() && is_nobodys(at, len))
		return;
	FAIL_ON(!w, "S1: %s: a channel runs whose vGPU %u has gone", when, vgpu);
	switch (FIELD_GET(GMMU_PTE_APERTURE, pte)) {
	case GMMU_PTE_APERTURE_VRAM:
		if (in_partition(w->v, at, len))
			return;
		p = pool_find(at);
		if (p && p->owner == vgpu && pte & GMMU_PTE_PRIV && !big)
			return; /* a context image */
		/* a card that was lost may keep an image that went back to the pool */
		if (inside_lost() && pte & GMMU_PTE_PRIV && is_nobodys(at, len))
			return;
		harness_fail("S1: %s: vGPU %u reaches video memory 0x%llx at 0x%llx", when, vgpu,
			     at, va);
	case GMMU_PTE_APERTURE_SYS_COH:
	case GMMU_PTE_APERTURE_SYS_NCOH:
		FAIL_ON(FIELD_GET(GMMU_PTE_APERTURE, pte) == GMMU_PTE_APERTURE_SYS_NCOH,
			"S4: %s: vGPU %u reads system memory at 0x%llx beside the CPU's caches, in which the zeros of a new page are",
			when, vgpu, va);
		e = iommu_find(at);
		FAIL_ON(!e || !e->pfn,
			"S2: %s: vGPU %u reaches DMA address 0x%llx at 0x%llx, which is not mapped",
			when, vgpu, at, va);
		FAIL_ON(!container_pinned(e->pfn, w->dev->container),
			"S2: %s: vGPU %u reaches frame 0x%llx at 0x%llx, which is not pinned for it",
			when, vgpu, e->pfn, va);
		return;
	default:
		harness_fail("S1: %s: vGPU %u has an entry for a peer at 0x%llx", when, vgpu, va);
	}
}

/* ------------------------------------------------------------------ what CPUs reach */

u8 *oracle_host_page(u64 dma, const char *when)
{
	const struct dma_entry *e = iommu_find(dma);
	u8 *page = e && e->pfn ? container_page(e->pfn) : NULL;

	FAIL_ON(!page, "S2: %s: a BAR shows DMA address 0x%llx, which is not %s", when, dma,
		e && e->pfn ? "pinned" : "mapped for a guest");
	return page;
}

static void see_copy(const struct kvgpu_vgpu *v, u64 at, const u64 *copy, u32 nr, const char *when)
{
	FAIL_ON(memcmp(chip_vram(inside_part(v).at + at), copy, nr * 8),
		"S2: %s: vGPU %u can invalidate by its page, and a table at 0x%llx is stale", when,
		inside_id(v), at);
}

void oracle_mapping(const struct vfio_device *vdev, unsigned long pfn, const char *when)
{
	const struct kvgpu_vgpu *v = inside_of(vdev);
	u64 off = (u64)pfn << PAGE_SHIFT, at;
	unsigned int bar = off >= BAR3_PHYS ? 3 : 1;

	/* A guest that has the page of the MMU's registers need not be served for an invalidate. */
	if (pfn == vmalloc_to_pfn(inside_word(v, FB_MMU_INVALIDATE & PAGE_MASK)) &&
	    !inside_is_locked(v))
		inside_copies(v, see_copy, when);
	if (pfn & OWN_PFN)
		return;
	off -= bar == 3 ? BAR3_PHYS : BAR1_PHYS;
	switch (chip_show(bar, off, &at)) {
	case SHOWS_HOST:
		if (chip.no_master)
			break;
		oracle_host_page(at, when);
		FAIL_ON(!container_pinned(iommu_find(at)->pfn, vdev->container),
			"S1: %s: a VMM of vGPU %u has a mapping of BAR%u that shows memory pinned for another",
			when, inside_id(v), bar);
		break;
	case SHOWS_VRAM:
		FAIL_ON(!in_partition(v, at, PAGE_SIZE) && !inside_is_filler(v, at),
			"S1: %s: a VMM of vGPU %u has a mapping of BAR%u 0x%llx, which shows video memory 0x%llx",
			when, inside_id(v), bar, off, at);
		break;
	case SHOWS_NOTHING:
		break;
	}
}

void oracle_closed(u32 i)
{
	const struct kvgpu_vgpu *v = world.vgpu[i].v;
	u32 id;

	for (id = 0; id < KVGPU_MAX_CHAN; id++)
		FAIL_ON(inside_has(v, id), "S2: vGPU %u is closed and has channel %u", inside_id(v),
			id);
	FAIL_ON(admin_read(i, "spaces_kept") && !chip.manners.error_ppm,
		"S2: an address space of vGPU %u was to be let go under a channel", inside_id(v));
}
