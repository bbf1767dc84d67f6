// SPDX-License-Identifier: GPL-2.0-only
/*
 * The user mappings of a vGPU, for kernels that give a VFIO device no inode of its own, by which
 * its mappings could be removed. A mapping is on the list from its first fault on. A mapping that
 * gets pages without a fault is emptied, so that no page is mapped outside of the list: open()
 * empties a new mapping, mremap() a moved one. For a move the core makes a new mapping, opens it
 * while it is empty, and fills it afterwards. A child of fork() gets no mapping (COMPAT_VM_FLAGS):
 * stable kernels of one series open the child's mapping before its pages are copied, or after that.
 *
 * Order of locks: mmap_lock, vma_lock. A zap has to take the mmap_lock of each process that has a
 * mapping. So it looks for a mapping that it has not emptied yet, drops vma_lock, takes both locks
 * in order and empties all mappings of that process.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "mdev/compat.h"
#include "mdev/internal.h"

struct mapping {
	struct list_head node;		/* in v->vmas; vma_lock */
	struct vm_area_struct *vma;
	struct mm_struct *mm;
	bool done;			/* emptied by the current zap; vgpu->lock serialises zaps */
};

static struct mapping *mapping_find(struct kvgpu_vgpu *v, struct vm_area_struct *vma)
{
	struct mapping *m;

	list_for_each_entry(m, &v->vmas, node)
		if (m->vma == vma)
			return m;
	return NULL;
}

bool vgpu_compat_vma_note(struct kvgpu_vgpu *v, struct vm_area_struct *vma)
{
	struct mapping *m;

	mutex_lock(&v->vma_lock);
	m = mapping_find(v, vma);
	if (!m) {
		m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
		if (m) {
			m->vma = vma;
			m->mm = vma->vm_mm;
			list_add(&m->node, &v->vmas);
		}
	}
	mutex_unlock(&v->vma_lock);
	return m;
}

/* Called when a mapping is split, and not for a fork: a child gets no mapping (COMPAT_VM_FLAGS). */
void vgpu_compat_vma_open(struct vm_area_struct *vma)
{
	zap_vma_ptes(vma, vma->vm_start, vma->vm_end - vma->vm_start);
}

/*
 * Called after mremap() has moved the pages of a mapping to @vma, which is not on the list. The
 * caller has held mmap_lock for writing since before the move. A zap waits for mmap_lock, so it
 * goes on only after the moved pages are removed.
 */
int vgpu_compat_vma_moved(struct vm_area_struct *vma)
{
	zap_vma_ptes(vma, vma->vm_start, vma->vm_end - vma->vm_start);
	return 0;
}

void vgpu_compat_vma_close(struct vm_area_struct *vma)
{
	struct kvgpu_vgpu *v = vma->vm_private_data;
	struct mapping *m;

	mutex_lock(&v->vma_lock);
	m = mapping_find(v, vma);
	if (m)
		list_del(&m->node);
	mutex_unlock(&v->vma_lock);
	kfree(m);
}

static void zap_overlap(struct vm_area_struct *vma, u64 at, u64 len)
{
	u64 first = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 end = first + (vma->vm_end - vma->vm_start);
	u64 from = max(first, at), to = min(end, at + len);

	if (from < to)
		zap_vma_ptes(vma, vma->vm_start + (from - first), to - from);
}

/*
 * Returns the mm of a process with a mapping that is not .done, with a reference to it, or NULL.
 * Mappings of a dying process count as done.
 */
static struct mm_struct *next_mm(struct kvgpu_vgpu *v)
{
	struct mapping *m;

	list_for_each_entry(m, &v->vmas, node) {
		if (m->done)
			continue;
		if (mmget_not_zero(m->mm))
			return m->mm;
		m->done = true;
	}
	return NULL;
}

void vgpu_compat_zap(struct kvgpu_vgpu *v, u64 at, u64 len)
{
	struct mm_struct *mm;
	struct mapping *m;

	lockdep_assert_held(&v->lock);
	mutex_lock(&v->vma_lock);
	list_for_each_entry(m, &v->vmas, node)
		m->done = false;
	while ((mm = next_mm(v))) {
		mutex_unlock(&v->vma_lock);
		mmap_read_lock(mm);
		mutex_lock(&v->vma_lock);
		list_for_each_entry(m, &v->vmas, node) {
			if (m->mm != mm)
				continue;
			zap_overlap(m->vma, at, len);
			m->done = true;
		}
		mutex_unlock(&v->vma_lock);
		mmap_read_unlock(mm);
		mmput(mm);
		mutex_lock(&v->vma_lock);
	}
	mutex_unlock(&v->vma_lock);
}
