// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removes pages from user mappings when the machine asks for it (a zap). A page fault may map such
 * a page again at once, so the machine makes its changes before it asks.
 *
 * The caller holds vgpu->lock, and none of the locks that are taken inside it (vgpu.h). Where
 * vmas.c is built (older kernels), a zap takes mmap_lock and vma_lock. A holder of mmap_lock may
 * wait for map_lock in a page fault, so a zap with map_lock held could wait for ever.
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
