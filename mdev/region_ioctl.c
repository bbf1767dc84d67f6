// SPDX-License-Identifier: GPL-2.0-only
/*
 * VFIO_DEVICE_GET_REGION_INFO for kernels whose vfio core leaves the ioctl to the driver
 * (compat.h).
 *
 * Takes no lock.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "mdev/compat.h"
#include "mdev/internal.h"

/*
 * Copies @caps to user space, behind the struct at @arg. The room at @arg has info->argsz bytes. If
 * that is too little, copies nothing and sets info->argsz to the number of bytes that are needed.
 */
static long put_caps(void __user *arg, struct vfio_region_info *info, struct vfio_info_cap *caps)
{
	info->flags |= VFIO_REGION_INFO_FLAG_CAPS;
	if (info->argsz < sizeof(*info) + caps->size) {
		info->argsz = sizeof(*info) + caps->size;
		info->cap_offset = 0;
		return 0;
	}
	vfio_info_cap_shift(caps, sizeof(*info));
	if (copy_to_user(arg + sizeof(*info), caps->buf, caps->size))
		return -EFAULT;
	info->cap_offset = sizeof(*info);
	return 0;
}

long vgpu_compat_region_info_ioctl(struct vfio_device *vdev, void __user *arg)
{
	unsigned long minsz = offsetofend(struct vfio_region_info, offset);
	struct vfio_info_cap caps = {};
	struct vfio_region_info info;
	long ret;

	if (copy_from_user(&info, arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz)
		return -EINVAL;
	info.cap_offset = 0;
	ret = vgpu_region_info(vdev, &info, &caps);
	if (!ret && caps.size)
		ret = put_caps(arg, &info, &caps);
	kfree(caps.buf);
	if (ret)
		return ret;
	return copy_to_user(arg, &info, minsz) ? -EFAULT : 0;
}
