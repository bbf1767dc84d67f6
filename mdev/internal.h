/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations for the files of the VFIO face: the files directly in mdev/, which serve VFIO's
 * calls and sysfs. A comment that is the name of a file tells where the declarations below it are
 * defined.
 */
#ifndef KVGPU_MDEV_INTERNAL_H
#define KVGPU_MDEV_INTERNAL_H

#include "mdev/vgpu.h"

/*
 * type.c; these functions take types_lock, except vgpu_types_init(), which runs in the driver's
 * probe, vgpu_types_room_get() and vgpu_type_max()
 */
/*
 * Finds the types of which the card can hold a vGPU. Marks as taken the units (type.c) of video
 * memory and BARs that no vGPU can have. Returns 0, or -ENOSPC if the card can hold no vGPU.
 */
int vgpu_types_init(struct kvgpu_gpu *gpu);
/* what vGPUs of an empty card can have of its video memory and BARs together: bytes */
struct vgpu_types_room {
	u64 vram, bar[KVGPU_NR_BARS];
};
void vgpu_types_room_get(const struct kvgpu_gpu *gpu, struct vgpu_types_room *room);
unsigned int vgpu_type_available(struct kvgpu_gpu *gpu, const struct kvgpu_type *t);
/* how many vGPUs of type @t the card can hold if it has no other vGPU */
unsigned int vgpu_type_max(const struct kvgpu_gpu *gpu, const struct kvgpu_type *t);
/* takes the parts of the card that @v needs, notes them in @v and gives @v its id; 0 or -ENOSPC */
int vgpu_type_reserve(struct kvgpu_gpu *gpu, struct kvgpu_vgpu *v);
/* when this returns, the PCI driver may free @gpu */
void vgpu_type_unreserve(struct kvgpu_gpu *gpu, struct kvgpu_vgpu *v);
extern struct mdev_driver kvgpu_mdev_driver; /* defined in vgpu.c */

/* config.c; call these functions with vgpu->lock held */
void vgpu_config_reset(struct kvgpu_vgpu *v);
void vgpu_config_set_word(struct kvgpu_vgpu *v, u32 off, u32 val);
void vgpu_config_read(struct kvgpu_vgpu *v, u32 off, void *buf, size_t len);
/* Returns true if the guest asks for a function level reset; the caller then resets the vGPU. */
bool vgpu_config_write(struct kvgpu_vgpu *v, u32 off, const void *buf, size_t len);

/*
 * An offset in the device's file has the index of a VFIO region (VFIO_PCI_..._REGION_INDEX) in its
 * high bits, and the offset in that region in its low OFFSET_SHIFT bits, as in vfio-pci.
 */
#define OFFSET_SHIFT 40
#define OFFSET_MASK  ((1ull << OFFSET_SHIFT) - 1)
#define REGION_AT(i) ((u64)(i) << OFFSET_SHIFT)

/* region.c */
u64 vgpu_region_size(const struct kvgpu_vgpu *v, unsigned int index);
/* Returns the struct vgpu_own that has all of [off, off + len) of BAR0, or NULL if none has. */
const struct vgpu_own *vgpu_own_at(const struct kvgpu_vgpu *v, u64 off, u64 len);
void vgpu_reset(struct kvgpu_vgpu *v); /* call it with vgpu->lock held */
/* VFIO calls these three without a lock of the module. */
ssize_t vgpu_region_read(struct vfio_device *vdev, char __user *buf, size_t count, loff_t *ppos);
ssize_t vgpu_region_write(struct vfio_device *vdev, const char __user *buf, size_t count,
			  loff_t *ppos);
int vgpu_region_info(struct vfio_device *vdev, struct vfio_region_info *info,
		     struct vfio_info_cap *caps);

/* mapping.c; the kernel holds mmap_lock when it calls this, so do not wait for vgpu->lock in it */
int vgpu_region_mmap(struct vfio_device *vdev, struct vm_area_struct *vma);

/* signal.c */
/*
 * Signals @ctx unless it is NULL, and counts and traces that as MSI or INTx. Call it inside
 * rcu_read_lock() or with vgpu->lock held, and with irq_lock not held.
 */
void vgpu_eventfd_signal(struct kvgpu_vgpu *v, struct eventfd_ctx *ctx, bool msi);
/*
 * Signals INTx and masks it, if the guest's interrupt line is up, INTx is neither disabled nor
 * masked and has an eventfd, and MSI has no eventfd. Call it with irq_lock not held, and not from
 * inside the wake-up of an eventfd.
 */
void vgpu_intx_signal(struct kvgpu_vgpu *v);

/* irq.c */
int vgpu_irq_info(struct vfio_irq_info *info);
/* call it with vgpu->lock held */
int vgpu_irq_set(struct kvgpu_vgpu *v, const struct vfio_irq_set *hdr, const void *data);
void vgpu_irq_request(struct kvgpu_vgpu *v, unsigned int count); /* needs no lock */
void vgpu_irq_close(struct kvgpu_vgpu *v); /* call it with vgpu->lock held */

/* sysfs.c, debugfs.c */
extern const struct attribute_group *kvgpu_vgpu_groups[], *kvgpu_gpu_groups[];
/*
 * No lock of the module is held in these functions: a removal waits for readers of the files, and
 * a reader takes gpu->lock or vgpu->lock, or waits for the slicer.
 */
void vgpu_debugfs_init(void);
void vgpu_debugfs_exit(void);
void vgpu_debugfs_gpu_add(struct kvgpu_gpu *gpu);
void vgpu_debugfs_gpu_remove(struct kvgpu_gpu *gpu);
void vgpu_debugfs_vgpu_add(struct kvgpu_vgpu *v);
void vgpu_debugfs_vgpu_remove(struct kvgpu_vgpu *v);

static inline u32 vgpu_config_word(const struct kvgpu_vgpu *v, u32 off)
{
	return le32_to_cpup((const __le32 *)(v->config + off));
}

static inline struct kvgpu_vgpu *to_vgpu(struct vfio_device *vdev)
{
	return container_of(vdev, struct kvgpu_vgpu, vdev);
}

#endif
