/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that this module builds on. No condition is on a version:
 * KVGPU_HAVE_... come from the probes of probes.list, which look into the kernel's headers, because
 * stable and vendor kernels have some interfaces in other versions. A kernel that is newer than all
 * tested ones can therefore be tried.
 */
#ifndef KVGPU_MDEV_COMPAT_H
#define KVGPU_MDEV_COMPAT_H

#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/vfio.h>

/* Newer eventfd_signal() has no count. It is always 1 here. */
static inline void vgpu_compat_eventfd_signal(struct eventfd_ctx *ctx)
{
#ifdef KVGPU_HAVE_EVENTFD_COUNT
	eventfd_signal(ctx, 1);
#else
	eventfd_signal(ctx);
#endif
}

/* Newer kernels let vm_flags be changed by accessors only. */
static inline void vgpu_compat_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef KVGPU_HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/*
 * Flag of a user mapping of device memory: lets KVM give the guest write-combining there (arm64). A
 * kernel without the flag needs nothing.
 */
#ifndef VM_ALLOW_ANY_UNCACHED
#define VM_ALLOW_ANY_UNCACHED	0
#endif

/* In older kernels .release frees the device. */
static inline void vgpu_compat_vfio_free_device(struct vfio_device *vdev)
{
#ifdef KVGPU_HAVE_VFIO_FREE_DEVICE
	vfio_free_device(vdev);
#endif
}

/* For an initialiser of struct vfio_device_ops. Empty on a kernel without iommufd. */
#ifdef KVGPU_HAVE_VFIO_IOMMUFD
#define COMPAT_VFIO_IOMMUFD_OPS					\
	.bind_iommufd = vfio_iommufd_emulated_bind,		\
	.unbind_iommufd = vfio_iommufd_emulated_unbind,		\
	.attach_ioas = vfio_iommufd_emulated_attach_ioas,	\
	.detach_ioas = vfio_iommufd_emulated_detach_ioas,
/*
 * iommufd unpins a range as a whole, as it was pinned (iommufd_access_unpin_pages()). VFIO's own
 * container unpins any part.
 */
#define compat_pins_alone(vdev)		((vdev)->iommufd_access != NULL)
#else
#define COMPAT_VFIO_IOMMUFD_OPS
#define compat_pins_alone(vdev)		false
#endif

/*
 * VFIO_DEVICE_GET_REGION_INFO: in newer kernels the core handles the ioctl and calls the driver for
 * its contents.
 */
#ifdef KVGPU_HAVE_REGION_INFO_CAPS
#define COMPAT_VFIO_REGION_INFO_OPS(fn)	.get_region_info_caps = fn,
static inline long vgpu_compat_region_info_ioctl(struct vfio_device *vdev, void __user *arg)
{
	return -ENOTTY;
}
#else
#define COMPAT_VFIO_REGION_INFO_OPS(fn)
long vgpu_compat_region_info_ioctl(struct vfio_device *vdev, void __user *arg);	/* region_ioctl.c */
#endif

/*
 * Removal of user mappings: by the device's own inode, or by a list of the mappings if the device
 * has none. The inode that all anonymous files share must not be used: it would remove other
 * devices' mappings.
 */
struct kvgpu_vgpu;
#ifdef KVGPU_HAVE_VDEV_INODE
#define COMPAT_VM_OPS
#define COMPAT_VM_FLAGS	0
static inline bool vgpu_compat_vma_note(struct kvgpu_vgpu *v, struct vm_area_struct *vma)
{
	return true;
}
#define vgpu_compat_zap(v, at, len) unmap_mapping_range((v)->vdev.inode->i_mapping, at, len, 1)
#else
void vgpu_compat_vma_open(struct vm_area_struct *vma);	/* vmas.c */
int vgpu_compat_vma_moved(struct vm_area_struct *vma);
void vgpu_compat_vma_close(struct vm_area_struct *vma);
bool vgpu_compat_vma_note(struct kvgpu_vgpu *v, struct vm_area_struct *vma);
void vgpu_compat_zap(struct kvgpu_vgpu *v, u64 at, u64 len);
/*
 * A child gets no mapping: these kernels disagree on whether its pages are copied before or after
 * .open.
 */
#define COMPAT_VM_FLAGS	VM_DONTCOPY
#define COMPAT_VM_OPS \
	.open = vgpu_compat_vma_open, .mremap = vgpu_compat_vma_moved, \
		.close = vgpu_compat_vma_close,
#endif

/* 2 MiB page frame mappings. */
#if defined(CONFIG_ARCH_SUPPORTS_PMD_PFNMAP) && defined(KVGPU_HAVE_HUGE_FAULT_ORDER)
#define COMPAT_HUGE_FAULT(fn)	.huge_fault = fn,
#define COMPAT_HUGE_ORDER	PMD_ORDER
#ifdef KVGPU_HAVE_PFN_T
#include <linux/pfn_t.h>
#define compat_insert_pmd(vmf, pfn)	vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV), false)
#else
#define compat_insert_pmd(vmf, pfn)	vmf_insert_pfn_pmd(vmf, pfn, false)
#endif
#else
#define COMPAT_HUGE_FAULT(fn)
#define COMPAT_HUGE_ORDER	9
#define compat_insert_pmd(vmf, pfn)	VM_FAULT_FALLBACK
#endif

#endif
