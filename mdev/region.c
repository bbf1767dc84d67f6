// SPDX-License-Identifier: GPL-2.0-only
/*
 * The regions of a vGPU: BAR0 (trapped; its PRAMIN window and the VBIOS can be mapped), BAR1 and BAR3 (mapped),
 * configuration space.
 * Accesses of any width and alignment are taken apart here into what the machine knows: registers of 32 bits, and runs of
 * bytes inside one page.
 *
 * User memory is never touched under vgpu->lock: the fault that it can cause takes the mmap_lock (vgpu.h, locks).
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "gk110/bar.h"
#include "gk110/map.h"
#include "gk110/pci.h"
#include "gk110/vbios.h"
#include "mdev/compat.h"
#include "mdev/trace.h"
#include "mdev/vgpu.h"

/* as vfio-pci: the region's index is in the high bits of the file offset */
#define OFFSET_SHIFT	40
#define OFFSET_MASK	((1ull << OFFSET_SHIFT) - 1)
#define REGION_AT(i)	((u64)(i) << OFFSET_SHIFT)

#define CHUNK		256		/* bytes moved under one hold of the lock; VMMs move 1 to 8 */

static u64 region_size(const struct kvgpu_vgpu *v, unsigned int index)
{
	switch (index) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		return GK110_BAR0_SIZE;
	case VFIO_PCI_BAR1_REGION_INDEX:
		return v->type->bar1;
	case VFIO_PCI_BAR3_REGION_INDEX:
		return v->type->bar3;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return sizeof(v->config);
	default:
		return 0;
	}
}

static bool in_pramin(u64 off)
{
	return off >= PRAMIN_BASE && off < PRAMIN_BASE + PRAMIN_SIZE;
}

/* ------------------------------------------------------------------ info */

/* the vGPU's own memory that [off, off + len) of BAR0 lies in, or NULL */
static const struct vgpu_own *own_at(const struct kvgpu_vgpu *v, u64 off, u64 len)
{
	const struct vgpu_own *o;

	for (o = v->own; o < v->own + VGPU_NR_OWN; o++)
		if (off >= o->at && off <= o->at + o->size && len <= o->at + o->size - off)
			return o;
	return NULL;
}

/* the pages of BAR0 that hold no register with an effect */
static int add_bar0_areas(const struct kvgpu_vgpu *v, struct vfio_info_cap *caps)
{
	struct {
		struct vfio_region_info_cap_sparse_mmap cap;
		struct vfio_region_sparse_mmap_area area[VGPU_NR_OWN + 1];
	} sparse = {
		.cap.header.id = VFIO_REGION_INFO_CAP_SPARSE_MMAP,
		.cap.header.version = 1,
		.cap.nr_areas = ARRAY_SIZE(sparse.area),
		.area[VGPU_NR_OWN] = { .offset = PRAMIN_BASE, .size = PRAMIN_SIZE },
	};
	unsigned int i;

	for (i = 0; i < VGPU_NR_OWN; i++)
		sparse.area[i] = (struct vfio_region_sparse_mmap_area) { .offset = v->own[i].at, .size = v->own[i].size };
	return vfio_info_add_capability(caps, &sparse.cap.header, sizeof(sparse));
}

int vgpu_region_info(struct vfio_device *vdev, struct vfio_region_info *info, struct vfio_info_cap *caps)
{
	const u32 rw = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;

	if (info->index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info->offset = REGION_AT(info->index);
	info->size = region_size(to_vgpu(vdev), info->index);
	info->flags = info->size ? rw : 0;
	switch (info->index) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		info->flags |= VFIO_REGION_INFO_FLAG_MMAP;
		return add_bar0_areas(to_vgpu(vdev), caps);
	case VFIO_PCI_BAR1_REGION_INDEX:
	case VFIO_PCI_BAR3_REGION_INDEX:
		info->flags |= VFIO_REGION_INFO_FLAG_MMAP;
		return 0;
	default:
		return 0;
	}
}

/* ------------------------------------------------------------------ read and write */

/* one register or a part of it; returns the bytes taken */
static size_t register_access(struct kvgpu_vgpu *v, u32 off, u8 *buf, size_t len, bool write)
{
	u32 shift = 8 * (off & 3);
	size_t i, n = min_t(size_t, 4 - (off & 3), len);
	u32 val = 0, be = 0;

	if (!write)
		val = vgpu_machine_read(v, off & ~3u) >> shift;
	for (i = 0; i < n; i++) {
		if (write) {
			val |= (u32)buf[i] << (shift + 8 * i);
			be |= 0xffu << (shift + 8 * i);
		} else {
			buf[i] = val >> 8 * i;
		}
	}
	if (write)
		vgpu_machine_write(v, off & ~3u, val, be);
	return n;
}

static int bar0_access(struct kvgpu_vgpu *v, u32 off, u8 *buf, size_t len, bool write)
{
	size_t n;
	int ret;

	atomic64_inc(write ? &v->count.bar0_writes : &v->count.bar0_reads);
	for (; len; off += n, buf += n, len -= n) {
		if (!in_pramin(off)) {
			n = register_access(v, off, buf, len, write);
			continue;
		}
		n = min_t(size_t, len, PAGE_SIZE - offset_in_page(off));
		ret = vgpu_machine_bar_access(v, VFIO_PCI_BAR0_REGION_INDEX, off, buf, n, write);
		if (ret)
			return ret;
	}
	return 0;
}

static int window_access(struct kvgpu_vgpu *v, unsigned int index, u64 off, u8 *buf, size_t len, bool write)
{
	u64 userd = v->userd_bar1;

	atomic64_inc(&v->count.bar_trapped);
	if (write && index == VFIO_PCI_BAR1_REGION_INDEX && userd != ~0ull && off + len > userd &&
	    off < userd + KVGPU_USERD_SIZE)
		atomic64_inc(&v->count.doorbells_trapped);
	return vgpu_machine_bar_access(v, index, off, buf, len, write);
}

static int config_access(struct kvgpu_vgpu *v, u32 off, u8 *buf, size_t len, bool write)
{
	atomic64_inc(&v->count.config);
	if (!write) {
		vgpu_config_read(v, off, buf, len);
		return 0;
	}
	if (vgpu_config_write(v, off, buf, len))
		vgpu_reset(v);
	else
		vgpu_irq_update(v);	/* INTx may have been disabled or enabled */
	return 0;
}

/* [off, off + len) lies inside the region and inside one page */
static int region_access(struct kvgpu_vgpu *v, unsigned int index, u64 off, u8 *buf, size_t len, bool write)
{
	u64 began = ktime_get_ns();
	int ret;

	mutex_lock(&v->lock);
	switch (index) {
	case VFIO_PCI_CONFIG_REGION_INDEX:
		ret = config_access(v, off, buf, len, write);
		break;
	case VFIO_PCI_BAR0_REGION_INDEX:
		ret = bar0_access(v, off, buf, len, write);
		break;
	default:
		ret = window_access(v, index, off, buf, len, write);
	}
	mutex_unlock(&v->lock);
	atomic64_add(ktime_get_ns() - began, &v->count.handler_ns);
	return ret;
}

/* what of @count bytes at *@ppos lies inside the region: 0 at most when @count is 0 */
static ssize_t clamp_count(const struct kvgpu_vgpu *v, loff_t pos, size_t count, unsigned int *index, u64 *off)
{
	u64 size;

	if (pos < 0 || (u64)pos >> OFFSET_SHIFT >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	*index = (u64)pos >> OFFSET_SHIFT;
	*off = pos & OFFSET_MASK;
	size = region_size(v, *index);
	if (*off >= size)
		return -EINVAL;
	return min_t(u64, count, size - *off);
}

static size_t chunk_at(u64 off, size_t left)
{
	return min3(left, (size_t)CHUNK, (size_t)(PAGE_SIZE - offset_in_page(off)));
}

ssize_t vgpu_region_read(struct vfio_device *vdev, char __user *ubuf, size_t count, loff_t *ppos)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);
	unsigned int index;
	ssize_t len, done;
	u64 off;
	int ret = 0;

	vgpu_machine_called();
	len = clamp_count(v, *ppos, count, &index, &off);
	for (done = 0; done < len; ) {
		u8 buf[CHUNK] = { };
		size_t n = chunk_at(off + done, len - done);

		ret = region_access(v, index, off + done, buf, n, false);
		if (!ret && copy_to_user(ubuf + done, buf, n))
			ret = -EFAULT;
		if (ret)
			break;
		done += n;
		if (done < len && fatal_signal_pending(current))
			break;
		cond_resched();
	}
	if (len < 0)
		return len;
	*ppos += done;
	return done ?: ret;
}

ssize_t vgpu_region_write(struct vfio_device *vdev, const char __user *ubuf, size_t count, loff_t *ppos)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);
	unsigned int index;
	ssize_t len, done;
	u64 off;
	int ret = 0;

	vgpu_machine_called();
	vgpu_machine_unmap_wait(v);
	len = clamp_count(v, *ppos, count, &index, &off);
	for (done = 0; done < len; ) {
		u8 buf[CHUNK];
		size_t n = chunk_at(off + done, len - done);

		ret = -EFAULT;
		if (!copy_from_user(buf, ubuf + done, n))
			ret = region_access(v, index, off + done, buf, n, true);
		if (ret)
			break;
		done += n;
		if (done < len && fatal_signal_pending(current))
			break;
		cond_resched();
	}
	if (len < 0)
		return len;
	*ppos += done;
	return done ?: ret;
}

/* ------------------------------------------------------------------ mappings */

static unsigned int vma_region(const struct vm_area_struct *vma)
{
	return vma->vm_pgoff >> (OFFSET_SHIFT - PAGE_SHIFT);
}

static u64 vma_offset(const struct vm_area_struct *vma, unsigned long address)
{
	return (((u64)vma->vm_pgoff << PAGE_SHIFT) & OFFSET_MASK) + (address - vma->vm_start);
}

/*
 * A fault on behalf of another device: VFIO's container asks for the frame to put it into an IOMMU, as QEMU does with every
 * mapped BAR when it has a physical device, too. Nobody could take it out of there when the page comes to show something of
 * another vGPU's. A page that the CPU has touched before is given without a question: docs/threat-model.md.
 */
static bool for_a_device(const struct vm_fault *vmf)
{
	return vmf->flags & FAULT_FLAG_REMOTE;
}

static vm_fault_t vgpu_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct kvgpu_vgpu *v = vma->vm_private_data;
	unsigned int index = vma_region(vma);
	u64 off = vma_offset(vma, vmf->address & PAGE_MASK);
	vm_fault_t ret = VM_FAULT_SIGBUS;
	u64 began = ktime_get_ns();
	const struct vgpu_own *own;
	unsigned long pfn;

	if (for_a_device(vmf))
		return VM_FAULT_SIGBUS;
	/* memory of the vGPU's own: the same frame as long as there is a file, nothing to take away */
	own = index == VFIO_PCI_BAR0_REGION_INDEX ? own_at(v, off, PAGE_SIZE) : NULL;
	if (own) {
		pfn = vmalloc_to_pfn(own->memory + (off - own->at));
		trace_kvgpu_map(v->id, index, off, pfn, 1);
		atomic64_inc(&v->count.mmaps);
		return vmf_insert_pfn(vma, vmf->address & PAGE_MASK, pfn);
	}
	mutex_lock(&v->map_lock);
	if (!compat_vma_note(v, vma)) {
		ret = VM_FAULT_OOM;
	} else if (!vgpu_machine_fault(v, index, off, &pfn)) {
		ret = vmf_insert_pfn(vma, vmf->address & PAGE_MASK, pfn);
		trace_kvgpu_map(v->id, index, off, pfn, 1);
	}
	mutex_unlock(&v->map_lock);
	atomic64_inc(&v->count.mmaps);
	atomic64_add(ktime_get_ns() - began, &v->count.handler_ns);
	return ret;
}

/*
 * BAR1 shows buffers, thousands of pages of them: 2 MiB at once when their frames are contiguous, which they are but for
 * the doorbells. Not BAR3 and PRAMIN: they show page tables, and what is mapped counts as written.
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

	if (!order || for_a_device(vmf))
		return vgpu_fault(vmf);
	if (order != COMPAT_HUGE_ORDER || vma_region(vma) != VFIO_PCI_BAR1_REGION_INDEX || start < vma->vm_start ||
	    start + PMD_SIZE > vma->vm_end)
		return VM_FAULT_FALLBACK;

	mutex_lock(&v->map_lock);
	for (i = 0; i < PMD_SIZE / PAGE_SIZE; i++) {
		if (vgpu_machine_fault(v, VFIO_PCI_BAR1_REGION_INDEX, off + i * PAGE_SIZE, &pfn))
			break;
		if (!i)
			first = pfn;
		if (pfn != first + i || !IS_ALIGNED(first, PMD_SIZE / PAGE_SIZE))
			break;
	}
	if (i == PMD_SIZE / PAGE_SIZE && compat_vma_note(v, vma)) {
		ret = compat_insert_pmd(vmf, first);
		trace_kvgpu_map(v->id, VFIO_PCI_BAR1_REGION_INDEX, off, first, i);
	}
	mutex_unlock(&v->map_lock);
	if (ret != VM_FAULT_FALLBACK)
		atomic64_inc(&v->count.mmaps);
	atomic64_add(ktime_get_ns() - began, &v->count.handler_ns);
	return ret;
}

static const struct vm_operations_struct vgpu_vm_ops = {
	COMPAT_VM_OPS
	.fault = vgpu_fault,
	COMPAT_HUGE_FAULT(vgpu_huge_fault)
};

static bool may_map(const struct kvgpu_vgpu *v, unsigned int index, u64 off, u64 len)
{
	u64 first = 0, end;

	switch (index) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		if (own_at(v, off, len))
			return true;
		first = PRAMIN_BASE;
		end = PRAMIN_BASE + PRAMIN_SIZE;
		break;
	case VFIO_PCI_BAR1_REGION_INDEX:
	case VFIO_PCI_BAR3_REGION_INDEX:
		end = region_size(v, index);
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
	if (!may_map(v, vma_region(vma), vma_offset(vma, vma->vm_start), vma->vm_end - vma->vm_start))
		return -EINVAL;
	compat_vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_ALLOW_ANY_UNCACHED | COMPAT_VM_FLAGS);
	/* but for the vGPU's own memory it is all of the card's */
	if (vma_region(vma) != VFIO_PCI_BAR0_REGION_INDEX || !own_at(v, vma_offset(vma, vma->vm_start), PAGE_SIZE))
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	vma->vm_private_data = v;
	vma->vm_ops = &vgpu_vm_ops;
	return 0;
}

void vgpu_zap_bar(struct kvgpu_vgpu *v, unsigned int region, u64 off, u64 len)
{
	lockdep_assert_held(&v->lock);
	if (!len)
		return;
	trace_kvgpu_zap(v->id, region, off, len);
	atomic64_inc(&v->count.zaps);
	compat_zap(v, REGION_AT(region) + off, len);
}
