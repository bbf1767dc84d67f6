// SPDX-License-Identifier: GPL-2.0-only
/*
 * User mappings of a vGPU's regions. A mapping is empty at first, and a page fault maps a page, and
 * those around it that show no page of a guest's table: the handler gets the page frames from the
 * machine (mdev/machine/), which keeps the state of the vGPU. A mapped page of a table counts as
 * written, so that the next sync of the shadow page tables would read it. The machine can have
 * mapped pages removed again (a *zap*: zap.c).
 * Pages of the vGPU's own memory (struct vgpu_own) are mapped without the machine, except the page
 * of the MMU's registers. The handler takes map_lock. A page fault comes with the process's
 * mmap_lock held, for which a holder of vgpu->lock may wait: before the handler takes vgpu->lock,
 * it gives mmap_lock back.
 */
#include <linux/file.h>
#include <linux/ktime.h>
#include <linux/vmalloc.h>

#include "gk110/bar.h"
#include "mdev/compat.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"
#include "mdev/trace.h"

static unsigned int vma_region(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff >> (OFFSET_SHIFT - PAGE_SHIFT);
}

static u64 vma_offset(const struct vm_area_struct *vma, unsigned long address)
{
	return (((u64)vma->vm_pgoff << PAGE_SHIFT) & OFFSET_MASK) + (address - vma->vm_start);
}

/*
 * Tells whether the fault has FAULT_FLAG_REMOTE. VFIO's container causes such faults to map a BAR's
 * page frame into the IOMMU of a physical device. Callers refuse such a fault, because they could
 * not remove the frame from the IOMMU when the page later shows data of another vGPU. VFIO maps a
 * page that is in the VMM's page table already without a fault: docs/threat-model.md (F8) tells
 * admins how to avoid that.
 */
static bool fault_for_device(const struct vm_fault *vmf)
{
	return vmf->flags & FAULT_FLAG_REMOTE;
}

/*
 * Has the machine serve the fault, with vgpu->lock, for which it gives mmap_lock back. Then the
 * kernel handles the fault anew. A VMM's own accesses and KVM's have nothing against that. In a
 * copy from or to user memory (which alone may be interrupted, but is not the user's) the thread
 * may hold any lock, vgpu->lock, too: that fault fails. Without .map_pages the kernel calls .fault
 * with mmap_lock, never with the own lock of the VMA alone (vmf_can_call_fault() of the kernel).
 */
static vm_fault_t fault_serve(struct vm_fault *vmf, unsigned int index, u64 off)
{
	const unsigned int copy = FAULT_FLAG_INTERRUPTIBLE;
	struct kvgpu_vgpu *v = vmf->vma->vm_private_data;
	struct file *file;

	if (!(vmf->flags & FAULT_FLAG_ALLOW_RETRY) || (vmf->flags & FAULT_FLAG_RETRY_NOWAIT) ||
	    (vmf->flags & (copy | FAULT_FLAG_USER)) == copy)
		return VM_FAULT_SIGBUS;
	file = get_file(vmf->vma->vm_file); /* the mapping may go, and the vGPU with it */
	mmap_read_unlock(vmf->vma->vm_mm);
	kvgpu_machine_unmap_wait(v);
	if (!mutex_lock_killable(&v->lock)) {
		kvgpu_machine_fault_serve(v, index, off);
		mutex_unlock(&v->lock);
	}
	fput(file);
	return VM_FAULT_RETRY;
}

/* most pages that a page fault maps: a naturally aligned run */
#define RUN 64

/* Maps the pages of the run around offset @off, which is mapped. Returns how many more it maps. */
static u32 run_map(struct kvgpu_vgpu *v, struct vm_fault *vmf, unsigned int index, u64 off)
{
	struct vm_area_struct *vma = vmf->vma;
	u64 first = off & ~(RUN * PAGE_SIZE - 1), at;
	unsigned long address, pfn;
	u32 nr = 0;

	for (at = first; at < first + RUN * PAGE_SIZE; at += PAGE_SIZE) {
		address = (vmf->address & PAGE_MASK) + (at - off);
		if (at == off || address < vma->vm_start || address >= vma->vm_end ||
		    !kvgpu_machine_pfn_find_plain(v, index, at, &pfn))
			continue;
		if (vmf_insert_pfn(vma, address, pfn) != VM_FAULT_NOPAGE)
			break;
		nr++;
	}
	return nr;
}

static vm_fault_t vgpu_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct kvgpu_vgpu *v = vma->vm_private_data;
	unsigned int index = vma_region(vma);
	u64 off = vma_offset(vma, vmf->address & PAGE_MASK);
	u64 began = ktime_get_ns();
	const struct vgpu_own *own;
	unsigned long pfn;
	vm_fault_t ret;
	int err = 0;

	if (fault_for_device(vmf))
		return VM_FAULT_SIGBUS;
	/*
	 * the vGPU's own memory keeps its frames while the device's file is open, so no zap is
	 * needed, except for the MMU's page
	 */
	own = index == VFIO_PCI_BAR0_REGION_INDEX ? vgpu_own_at(v, off, PAGE_SIZE) : NULL;
	if (own && own != &v->own[VGPU_OWN_MMU]) {
		pfn = vmalloc_to_pfn(own->memory + (off - own->at));
		trace_kvgpu_map(v->id, index, off, pfn, 1);
		atomic64_inc(&v->count.mmaps);
		return vmf_insert_pfn(vma, vmf->address & PAGE_MASK, pfn);
	}
	mutex_lock(&v->map_lock);
	ret = vgpu_compat_vma_note(v, vma);
	if (!ret)
		err = kvgpu_machine_pfn_find(v, index, off, &pfn);
	if (err) {
		ret = VM_FAULT_SIGBUS;
	} else if (!ret) {
		ret = vmf_insert_pfn(vma, vmf->address & PAGE_MASK, pfn);
		trace_kvgpu_map(v->id, index, off, pfn, 1 + run_map(v, vmf, index, off));
	}
	mutex_unlock(&v->map_lock);
	if (err == -EAGAIN)
		ret = fault_serve(vmf, index, off);
	else
		atomic64_inc(&v->count.mmaps);
	atomic64_add(ktime_get_ns() - began, &v->count.handler_ns);
	return ret;
}

/*
 * Maps an aligned 2 MiB of BAR1 by one fault if the mapping covers all of it, and the frames are
 * contiguous and show no page of a guest's table, because BAR1 shows buffers of thousands of pages.
 */
static vm_fault_t __maybe_unused vgpu_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	struct vm_area_struct *vma = vmf->vma;
	struct kvgpu_vgpu *v = vma->vm_private_data;
	unsigned long start = vmf->address & ~(PMD_SIZE - 1);
	u64 off = vma_offset(vma, start);
	vm_fault_t ret = VM_FAULT_FALLBACK;
	unsigned long i, first = 0, pfn;
	u64 began = ktime_get_ns();

	if (!order || fault_for_device(vmf))
		return vgpu_fault(vmf);
	if (order != COMPAT_HUGE_ORDER || vma_region(vma) != VFIO_PCI_BAR1_REGION_INDEX ||
	    start < vma->vm_start || start + PMD_SIZE > vma->vm_end)
		return VM_FAULT_FALLBACK;

	mutex_lock(&v->map_lock);
	for (i = 0; i < PMD_SIZE / PAGE_SIZE; i++) {
		if (!kvgpu_machine_pfn_find_plain(v, VFIO_PCI_BAR1_REGION_INDEX,
						  off + i * PAGE_SIZE, &pfn))
			break;
		if (!i)
			first = pfn;
		if (pfn != first + i || !IS_ALIGNED(first, PMD_SIZE / PAGE_SIZE))
			break;
	}
	if (i == PMD_SIZE / PAGE_SIZE && !vgpu_compat_vma_note(v, vma)) {
		ret = compat_insert_pmd(vmf, first);
		trace_kvgpu_map(v->id, VFIO_PCI_BAR1_REGION_INDEX, off, first, i);
	}
	mutex_unlock(&v->map_lock);
	if (ret != VM_FAULT_FALLBACK)
		atomic64_inc(&v->count.mmaps);
	atomic64_add(ktime_get_ns() - began, &v->count.handler_ns);
	return ret;
}

static const struct vm_operations_struct vgpu_vm_ops = { COMPAT_VM_OPS.fault = vgpu_fault,
							 COMPAT_HUGE_FAULT(vgpu_huge_fault) };

static bool region_may_map(const struct kvgpu_vgpu *v, unsigned int index, u64 off, u64 len)
{
	u64 first = 0, end;

	switch (index) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		if (vgpu_own_at(v, off, len))
			return true;
		first = PRAMIN_BASE;
		end = PRAMIN_BASE + PRAMIN_SIZE;
		break;
	case VFIO_PCI_BAR1_REGION_INDEX:
	case VFIO_PCI_BAR3_REGION_INDEX:
		end = vgpu_region_size(v, index);
		break;
	default:
		return false;
	}
	return off >= first && off <= end && len <= end - off;
}

int vgpu_region_mmap(struct vfio_device *vdev, struct vm_area_struct *vma)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_pgoff >> (OFFSET_SHIFT - PAGE_SHIFT) >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	if (!region_may_map(v, vma_region(vma), vma_offset(vma, vma->vm_start),
			    vma->vm_end - vma->vm_start))
		return -EINVAL;
	vgpu_compat_vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP |
					      VM_ALLOW_ANY_UNCACHED | COMPAT_VM_FLAGS);
	/* pages of the card's BARs: map them write-combined */
	if (vma_region(vma) != VFIO_PCI_BAR0_REGION_INDEX ||
	    !vgpu_own_at(v, vma_offset(vma, vma->vm_start), PAGE_SIZE))
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	vma->vm_private_data = v;
	vma->vm_ops = &vgpu_vm_ops;
	return 0;
}
