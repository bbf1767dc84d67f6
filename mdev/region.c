// SPDX-License-Identifier: GPL-2.0-only
/*
 * Serves reads and writes of a vGPU's regions by the VMM (read() and write() on the device's file).
 * The VMM makes them for guest accesses that trap. BAR1, BAR3 and parts of BAR0 can be mapped
 * (mapping.c). A read or write may have any width and alignment. This file splits it into the
 * accesses for which the machine (mdev/machine/) has functions: registers of 32 bits, and runs of
 * bytes inside one page.
 *
 * This file copies from and to user memory only without vgpu->lock. A page fault on user memory may
 * take as long as user space likes, and vgpu->lock would be held meanwhile.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "gk110/bar.h"
#include "gk110/map.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"
#include "mdev/trace.h"

/* most bytes moved in one hold of vgpu->lock */
#define CHUNK 256

u64 vgpu_region_size(const struct kvgpu_vgpu *v, unsigned int index)
{
	switch (index) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		return GK110_BAR0_SIZE;
	case VFIO_PCI_BAR1_REGION_INDEX:
		return v->type->bar[KVGPU_BAR1];
	case VFIO_PCI_BAR3_REGION_INDEX:
		return v->type->bar[KVGPU_BAR3];
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

/* --------------------------------- describe a region to user space: VFIO_DEVICE_GET_REGION_INFO */

const struct vgpu_own *vgpu_own_at(const struct kvgpu_vgpu *v, u64 off, u64 len)
{
	const struct vgpu_own *o;

	for (o = v->own; o < v->own + VGPU_NR_OWN; o++)
		if (off >= o->at && off <= o->at + o->size && len <= o->at + o->size - off)
			return o;
	return NULL;
}

/* Reports the areas of BAR0 that user space can map. */
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
		sparse.area[i] = (struct vfio_region_sparse_mmap_area){ .offset = v->own[i].at,
									.size = v->own[i].size };
	return vfio_info_add_capability(caps, &sparse.cap.header, sizeof(sparse));
}

int vgpu_region_info(struct vfio_device *vdev, struct vfio_region_info *info,
		     struct vfio_info_cap *caps)
{
	const u32 rw = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;

	if (info->index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info->offset = REGION_AT(info->index);
	info->size = vgpu_region_size(to_vgpu(vdev), info->index);
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

/* --------------------------------------------- read and write the regions, reset the vGPU */

/* Serves VFIO_DEVICE_RESET and the guest's function level reset. */
void vgpu_reset(struct kvgpu_vgpu *v)
{
	lockdep_assert_held(&v->lock);
	trace_kvgpu_vgpu(v->id, KVGPU_VGPU_RESET);
	kvgpu_machine_vgpu_reset(v);
	vgpu_config_reset(v);
	kvgpu_mdev_irq_update(v);
}

/* Reads or writes the register at @off, or a part of it. Returns how many bytes of @buf it used. */
static size_t register_access(struct kvgpu_vgpu *v, u32 off, u8 *buf, size_t len, bool write)
{
	u32 shift = 8 * (off & 3);
	size_t i, n = min_t(size_t, 4 - (off & 3), len);
	u32 val = 0, be = 0;

	if (!write)
		val = kvgpu_machine_reg_read(v, off & ~3u) >> shift;
	for (i = 0; i < n; i++) {
		if (write) {
			val |= (u32)buf[i] << (shift + 8 * i);
			be |= 0xffu << (shift + 8 * i);
		} else {
			buf[i] = val >> 8 * i;
		}
	}
	if (write)
		kvgpu_machine_reg_write(v, off & ~3u, val, be);
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
		ret = kvgpu_machine_bar_access(v, VFIO_PCI_BAR0_REGION_INDEX, off, buf, n, write);
		if (ret)
			return ret;
	}
	return 0;
}

static int window_access(struct kvgpu_vgpu *v, unsigned int index, u64 off, u8 *buf, size_t len,
			 bool write)
{
	atomic64_inc(&v->count.bar_trapped);
	return kvgpu_machine_bar_access(v, index, off, buf, len, write);
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
		kvgpu_mdev_irq_update(v); /* INTx may have been disabled or enabled */
	return 0;
}

/* The caller makes sure that [off, off + len) is inside the region and inside one page. */
static int region_access(struct kvgpu_vgpu *v, unsigned int index, u64 off, u8 *buf, size_t len,
			 bool write)
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
		if (kvgpu_machine_irq_changed(v))
			kvgpu_mdev_irq_update(v);
		break;
	default:
		ret = window_access(v, index, off, buf, len, write);
	}
	mutex_unlock(&v->lock);
	atomic64_add(ktime_get_ns() - began, &v->count.handler_ns);
	return ret;
}

/*
 * Finds the region that offset @pos of the device's file belongs to: sets *@index to its index, and
 * *@off to the offset in it. Returns how many of the @count bytes from there are inside the region,
 * or -EINVAL if @pos is in no region.
 */
static ssize_t clamp_count(const struct kvgpu_vgpu *v, loff_t pos, size_t count,
			   unsigned int *index, u64 *off)
{
	u64 size;

	if (pos < 0 || (u64)pos >> OFFSET_SHIFT >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	*index = (u64)pos >> OFFSET_SHIFT;
	*off = pos & OFFSET_MASK;
	size = vgpu_region_size(v, *index);
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

	len = clamp_count(v, *ppos, count, &index, &off);
	for (done = 0; done < len;) {
		u8 buf[CHUNK] = {};
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

ssize_t vgpu_region_write(struct vfio_device *vdev, const char __user *ubuf, size_t count,
			  loff_t *ppos)
{
	struct kvgpu_vgpu *v = to_vgpu(vdev);
	unsigned int index;
	ssize_t len, done;
	u64 off;
	int ret = 0;

	kvgpu_machine_unmap_wait(v);
	len = clamp_count(v, *ppos, count, &index, &off);
	for (done = 0; done < len;) {
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
