// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removal of user mappings, which the machine asks for. When user space accesses a removed page
 * again, a page fault maps the frame that the machine has for that page by then.
 *
 * vgpu->lock is held, and map_lock is not: a zap may wait for mmap_lock (vmas.c).
 */
#include <linux/fs.h>

#include "mdev/compat.h"
#include "mdev/internal.h"
#include "mdev/trace.h"

void kvgpu_mdev_bar_zap(struct kvgpu_vgpu *v, unsigned int region, u64 off, u64 len)
{
	lockdep_assert_held(&v->lock);
	if (!len)
		return;
	trace_kvgpu_zap(v->id, region, off, len);
	atomic64_inc(&v->count.zaps);
	vgpu_compat_zap(v, REGION_AT(region) + off, len);
}
