// SPDX-License-Identifier: GPL-2.0-only
/*
 * One vGPU as a VFIO device and as a mediated device: its life from create to remove, and the
 * ioctls.
 *
 * Create: probe, then .init, which reserves resources and makes the machine, then registration with
 * VFIO. After that the VMM opens and closes the device any number of times. Remove: unregistration,
 * which waits until the user closes the device; then .release, which gives all resources back.
 *
 * VFIO holds no lock of the module when it calls the functions here. They take vgpu->lock to change
 * the state of the vGPU, and gpu->lock to change the list of vGPUs, which debugfs reads. type.c
 * takes types_lock itself.
 *
 * .get_available and .show_description run in any process that reads their files in sysfs. The last
 * reference to the VFIO device may be put by a thread of the VMM: then .release runs in it.
 */
#include <linux/delay.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "mdev/compat.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"
#include "mdev/trace.h"

static int vgpu_init(struct vfio_device *vdev)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);
	int ret;

	v->mdev = to_mdev_device(vdev->dev);
	v->gpu = container_of(v->mdev->type->parent, struct kvgpu_gpu, parent);
	v->type = container_of(v->mdev->type, struct kvgpu_type, base);
	INIT_LIST_HEAD(&v->vmas);
	mutex_init(&v->lock);
	mutex_init(&v->map_lock);
	mutex_init(&v->vma_lock);
	spin_lock_init(&v->irq_lock);
	spin_lock_init(&v->fault_lock);

	ret = vgpu_type_reserve(v->gpu, v);
	if (ret) {
		dev_notice(vdev->dev, "no room on the card for another %s\n",
			   v->type->base.sysfs_name);
		return ret;
	}
	ret = kvgpu_machine_vgpu_init(v);
	if (ret) {
		dev_err(vdev->dev, "the vGPU can't be made: error %d\n", ret);
		vgpu_type_unreserve(v->gpu, v);
		return ret;
	}
	mutex_lock(&v->lock);
	vgpu_config_reset(v);
	mutex_unlock(&v->lock);

	/*
	 * VFIO holds no reference to the mdev device. A thread that opens or closes the VFIO device
	 * can keep the vGPU after an admin has removed the mdev device, and debugfs and the log
	 * print the mdev device's name. So hold a reference until .release.
	 */
	get_device(vdev->dev);
	mutex_lock(&v->gpu->lock);
	list_add_tail(&v->node, &v->gpu->vgpus);
	mutex_unlock(&v->gpu->lock);
	trace_kvgpu_vgpu(v->id, KVGPU_VGPU_CREATE);
	return 0;
}

static void vgpu_release(struct vfio_device *vdev)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);

	mutex_lock(&v->gpu->lock);
	list_del(&v->node);
	mutex_unlock(&v->gpu->lock);
	kvgpu_machine_vgpu_fini(v);
	trace_kvgpu_vgpu(v->id, KVGPU_VGPU_REMOVE);
	/*
	 * Put the mdev device before v->gpu is let go. At the last reference the mdev core uses the
	 * device's type and parent, which are members of *v->gpu.
	 */
	put_device(vdev->dev);
	vgpu_type_unreserve(v->gpu, v);
	/* v->gpu may be freed from here on */
	mutex_destroy(&v->vma_lock);
	mutex_destroy(&v->map_lock);
	mutex_destroy(&v->lock);
	vgpu_compat_vfio_free_device(vdev);
}

static int vgpu_open(struct vfio_device *vdev)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);
	int ret;

	mutex_lock(&v->lock);
	ret = kvgpu_machine_vgpu_open(v);
	if (!ret) {
		WRITE_ONCE(v->open, true);
		vgpu_config_reset(v);
		kvgpu_mdev_irq_update(v);
		trace_kvgpu_vgpu(v->id, KVGPU_VGPU_OPEN);
	}
	mutex_unlock(&v->lock);
	return ret;
}

static void vgpu_close(struct vfio_device *vdev)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);

	mutex_lock(&v->lock);
	vgpu_irq_close(v);
	kvgpu_machine_vgpu_close(v);
	WRITE_ONCE(v->open, false);
	trace_kvgpu_vgpu(v->id, KVGPU_VGPU_CLOSE);
	mutex_unlock(&v->lock);
}

static void vgpu_request(struct vfio_device *vdev, unsigned int count)
{
	vgpu_irq_request(to_vgpu(vdev), count);
}

static void vgpu_dma_unmap(struct vfio_device *vdev, u64 iova, u64 length)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);

	atomic_inc(&v->unmaps);
	/* pairs with vgpu_iommufd_unbind(): it waits for this call, or this call sees .open */
	smp_mb__after_atomic();
	/* the close of a vGPU has unpinned all; only iommufd asks afterwards */
	if (READ_ONCE(v->open) || !compat_pins_alone(vdev))
		kvgpu_machine_dma_unmap(v, iova, length);
	atomic_dec(&v->unmaps);
}

/*
 * The device is closed. iommufd waits for calls of .dma_unmap that are under way, but for 60 s at
 * most (10 s in older kernels). Then it gives up, with a WARN, and the calls go on beside the next
 * user of the vGPU, or when it is freed. The VMM decides when the thread of such a call runs. So
 * wait here, for as long as it takes: mostly it is the VMM's own thread that closes the vGPU. Calls
 * that begin after the close do not wait for any lock.
 */
static void __maybe_unused vgpu_iommufd_unbind(struct vfio_device *vdev)
{
	/* pairs with vgpu_dma_unmap() */
	smp_mb();
	while (atomic_read(&to_vgpu(vdev)->unmaps))
		usleep_range(1000, 2000);
	compat_iommufd_unbind(vdev);
}

/* ------------------------------------------------------------------ serve the VMM's ioctls */

static long ioctl_get_info(void __user *arg)
{
	unsigned long minsz = offsetofend(struct vfio_device_info, num_irqs);
	struct vfio_device_info info;

	if (copy_from_user(&info, arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz)
		return -EINVAL;
	info.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
	info.num_regions = VFIO_PCI_NUM_REGIONS;
	info.num_irqs = VFIO_PCI_NUM_IRQS;
	return copy_to_user(arg, &info, minsz) ? -EFAULT : 0;
}

static long ioctl_irq_info(void __user *arg)
{
	unsigned long minsz = offsetofend(struct vfio_irq_info, count);
	struct vfio_irq_info info;
	int ret;

	if (copy_from_user(&info, arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz)
		return -EINVAL;
	ret = vgpu_irq_info(&info);
	if (ret)
		return ret;
	return copy_to_user(arg, &info, minsz) ? -EFAULT : 0;
}

static long ioctl_set_irqs(struct kvgpu_vgpu *v, void __user *arg)
{
	unsigned long minsz = offsetofend(struct vfio_irq_set, count);
	struct vfio_irq_info info = {};
	struct vfio_irq_set hdr;
	void *data = NULL;
	size_t size = 0;
	int ret;

	if (copy_from_user(&hdr, arg, minsz))
		return -EFAULT;
	info.index = hdr.index;
	ret = vgpu_irq_info(&info);
	if (ret)
		return ret;
	ret = vfio_set_irqs_validate_and_prepare(&hdr, info.count, VFIO_PCI_NUM_IRQS, &size);
	if (ret)
		return ret;
	if (size) {
		data = memdup_user(arg + minsz, size);
		if (IS_ERR(data))
			return PTR_ERR(data);
	}
	mutex_lock(&v->lock);
	ret = vgpu_irq_set(v, &hdr, data);
	mutex_unlock(&v->lock);
	kfree(data);
	return ret;
}

static long vgpu_ioctl(struct vfio_device *vdev, unsigned int cmd, unsigned long arg)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case VFIO_DEVICE_GET_INFO:
		return ioctl_get_info(user);
	case VFIO_DEVICE_GET_REGION_INFO:
		return vgpu_compat_region_info_ioctl(vdev, user);
	case VFIO_DEVICE_GET_IRQ_INFO:
		return ioctl_irq_info(user);
	case VFIO_DEVICE_SET_IRQS:
		return ioctl_set_irqs(v, user);
	case VFIO_DEVICE_RESET:
		mutex_lock(&v->lock);
		vgpu_reset(v);
		mutex_unlock(&v->lock);
		return 0;
	default:
		return -ENOTTY;
	}
}

static const struct vfio_device_ops vgpu_ops = {
	.name = "kvgpu",
	.init = vgpu_init,
	.release = vgpu_release,
	COMPAT_VFIO_IOMMUFD_OPS(vgpu_iommufd_unbind) COMPAT_VFIO_REGION_INFO_OPS(vgpu_region_info)
		.open_device = vgpu_open,
	.close_device = vgpu_close,
	.read = vgpu_region_read,
	.write = vgpu_region_write,
	.ioctl = vgpu_ioctl,
	.mmap = vgpu_region_mmap,
	.request = vgpu_request,
	.dma_unmap = vgpu_dma_unmap,
};

/* ----------------------------------------------------- create and remove the mediated device */

/* Tells user space that available_instances of the card's types may have changed. */
static void types_tell_change(struct mdev_device *mdev)
{
	kobject_uevent(&mdev->type->parent->dev->kobj, KOBJ_CHANGE);
}

static int kvgpu_mdev_probe(struct mdev_device *mdev)
{
	struct kvgpu_vgpu *v;
	int ret;

	v = vfio_alloc_device(kvgpu_vgpu, vdev, &mdev->dev, &vgpu_ops);
	if (IS_ERR(v))
		return PTR_ERR(v);
	dev_set_drvdata(&mdev->dev, v);
	ret = vfio_register_emulated_iommu_dev(&v->vdev);
	if (ret) {
		dev_set_drvdata(&mdev->dev, NULL);
		vfio_put_device(&v->vdev);
		return ret;
	}
	vgpu_debugfs_vgpu_add(v);
	types_tell_change(mdev);
	return 0;
}

static void kvgpu_mdev_remove(struct mdev_device *mdev)
{
	struct kvgpu_vgpu *v = dev_get_drvdata(&mdev->dev);

	vfio_unregister_group_dev(&v->vdev);
	vgpu_debugfs_vgpu_remove(v);
	dev_set_drvdata(&mdev->dev, NULL);
	vfio_put_device(&v->vdev);
	types_tell_change(mdev);
}

static unsigned int get_available(struct mdev_type *mtype)
{
	return vgpu_type_available(container_of(mtype->parent, struct kvgpu_gpu, parent),
				   container_of(mtype, struct kvgpu_type, base));
}

/* Prints one line of key=value pairs. */
static ssize_t show_description(struct mdev_type *mtype, char *buf)
{
	const struct kvgpu_gpu *gpu = container_of(mtype->parent, struct kvgpu_gpu, parent);
	const struct kvgpu_type *t = container_of(mtype, struct kvgpu_type, base);

	return sysfs_emit(
		buf, "num_heads=0, framebuffer=%lluM, bar1=%lluM, bar3=%lluM, max_instance=%u\n",
		t->vram / SZ_1M, t->bar[KVGPU_BAR1] / SZ_1M, t->bar[KVGPU_BAR3] / SZ_1M,
		vgpu_type_max(gpu, t));
}

struct mdev_driver kvgpu_mdev_driver = {
	.device_api = VFIO_DEVICE_API_PCI_STRING,
	.probe = kvgpu_mdev_probe,
	.remove = kvgpu_mdev_remove,
	.get_available = get_available,
	.show_description = show_description,
	.driver = {
		.name = "kvgpu",
		.owner = THIS_MODULE,
		.mod_name = KBUILD_MODNAME,
		.dev_groups = kvgpu_vgpu_groups,
	},
};
