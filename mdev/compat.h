/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hides the differences between the kernels that this module builds on. No condition here tests the
 * version of a kernel, because stable and vendor kernels have some interfaces earlier or later than
 * the plain kernel of that version. Instead, the build searches the kernel's headers for the
 * declarations in probes.list, and defines KVGPU_HAVE_<probe> for those that the kernel has.
 */
#ifndef KVGPU_MDEV_COMPAT_H
#define KVGPU_MDEV_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/vfio.h>

/* Signals an eventfd once. In older kernels eventfd_signal() takes a count, which is 1 here. */
static inline void vgpu_compat_eventfd_signal(struct eventfd_ctx *ctx)
{
#ifdef KVGPU_HAVE_EVENTFD_COUNT
	eventfd_signal(ctx, 1);
#else
	eventfd_signal(ctx);
#endif
}

/* Sets flags of a user mapping. In newer kernels accessor functions change vm_flags. */
static inline void vgpu_compat_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef KVGPU_HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/*
 * Flag of a user mapping of device memory. On arm64 it allows KVM to map that memory into the guest
 * as write-combined.
 */
#ifndef VM_ALLOW_ANY_UNCACHED
#define VM_ALLOW_ANY_UNCACHED 0
#endif

/* In older kernels the driver's .release has to free the device. */
static inline void vgpu_compat_vfio_free_device(struct vfio_device *vdev)
{
#ifdef KVGPU_HAVE_VFIO_FREE_DEVICE
	vfio_free_device(vdev);
#endif
}

/*
 * The functions for iommufd, as part of an initialiser of struct vfio_device_ops. @unbind calls
 * compat_iommufd_unbind().
 */
#ifdef KVGPU_HAVE_VFIO_IOMMUFD
#define compat_iommufd_unbind(vdev) vfio_iommufd_emulated_unbind(vdev)
#define COMPAT_VFIO_IOMMUFD_OPS(unbind)                                       \
	.bind_iommufd = vfio_iommufd_emulated_bind, .unbind_iommufd = unbind, \
	.attach_ioas = vfio_iommufd_emulated_attach_ioas,                     \
	.detach_ioas = vfio_iommufd_emulated_detach_ioas,
/*
 * True if each page of guest memory needs a pin call of its own, because @vdev uses iommufd:
 * iommufd unpins only a whole range that was pinned by one call (iommufd_access_unpin_pages()).
 * VFIO's own container can unpin any part of such a range.
 */
#define compat_pins_alone(vdev) ((vdev)->iommufd_access != NULL)
#else
#define COMPAT_VFIO_IOMMUFD_OPS(unbind)
#define compat_iommufd_unbind(vdev) \
	do {                        \
	} while (0)
#define compat_pins_alone(vdev) false
#endif

/*
 * In newer kernels the vfio core handles the ioctl VFIO_DEVICE_GET_REGION_INFO, and calls @fn of
 * the driver to fill in the answer. In older kernels the driver handles the whole ioctl.
 */
#ifdef KVGPU_HAVE_REGION_INFO_CAPS
#define COMPAT_VFIO_REGION_INFO_OPS(fn) .get_region_info_caps = fn,
static inline long vgpu_compat_region_info_ioctl(struct vfio_device *vdev, void __user *arg)
{
	return -ENOTTY;
}
#else
#define COMPAT_VFIO_REGION_INFO_OPS(fn)
/* in region_ioctl.c */
long vgpu_compat_region_info_ioctl(struct vfio_device *vdev, void __user *arg);
#endif

/*
 * vgpu_compat_zap() removes the pages of [@at, @at + @len) of the device's file, in bytes, from all
 * user mappings. If the kernel gives each VFIO device an inode of its own, vgpu_compat_zap() finds
 * the mappings by that inode. In older kernels the device's file shares its inode with other files;
 * there vgpu_compat_zap() uses a list of the vGPU's mappings (vmas.c), and takes mmap_lock and
 * vma_lock. Call it with vgpu->lock held, and none of the locks inside it (vgpu.h).
 */
struct kvgpu_vgpu;
#ifdef KVGPU_HAVE_VDEV_INODE
#define COMPAT_VM_OPS
#define COMPAT_VM_FLAGS 0
static inline vm_fault_t vgpu_compat_vma_note(struct kvgpu_vgpu *v, struct vm_area_struct *vma)
{
	return 0;
}
#define vgpu_compat_zap(v, at, len) unmap_mapping_range((v)->vdev.inode->i_mapping, at, len, 1)
#else
/*
 * vmas.c: the kernel calls these, with mmap_lock held, when it splits, moves or removes a user
 * mapping
 */
void vgpu_compat_vma_open(struct vm_area_struct *vma);
int vgpu_compat_vma_moved(struct vm_area_struct *vma);
void vgpu_compat_vma_close(struct vm_area_struct *vma);
/*
 * Puts @vma on the list of the vGPU's mappings if it is not there. The page fault handler calls it,
 * with map_lock held, before it maps a page of the card. Returns 0, or an error code that the
 * handler returns.
 */
vm_fault_t vgpu_compat_vma_note(struct kvgpu_vgpu *v, struct vm_area_struct *vma);
void vgpu_compat_zap(struct kvgpu_vgpu *v, u64 at, u64 len);
/*
 * With VM_DONTCOPY, fork() gives the child process no copy of the mapping. A copy could have pages
 * of the card and not be on the list: some of these kernels copy the pages after they call .open,
 * so that .open can't remove them.
 */
#define COMPAT_VM_FLAGS VM_DONTCOPY
#define COMPAT_VM_OPS                                                  \
	.open = vgpu_compat_vma_open, .mremap = vgpu_compat_vma_moved, \
	.close = vgpu_compat_vma_close,
#endif

/*
 * COMPAT_HUGE_FAULT(@fn) makes @fn the handler of page faults that map 2 MiB of device memory at
 * once. On a kernel that can't do so it is empty.
 */
#if defined(CONFIG_ARCH_SUPPORTS_PMD_PFNMAP) && defined(KVGPU_HAVE_HUGE_FAULT_ORDER)
#define COMPAT_HUGE_FAULT(fn) .huge_fault = fn,
#define COMPAT_HUGE_ORDER     PMD_ORDER
#ifdef KVGPU_HAVE_PFN_T
#include <linux/pfn_t.h>
#define compat_insert_pmd(vmf, pfn) vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), false)
#else
#define compat_insert_pmd(vmf, pfn) vmf_insert_pfn_pmd(vmf, pfn, false)
#endif
#else
#define COMPAT_HUGE_FAULT(fn)
#define COMPAT_HUGE_ORDER	    9
#define compat_insert_pmd(vmf, pfn) VM_FAULT_FALLBACK
#endif

#endif
