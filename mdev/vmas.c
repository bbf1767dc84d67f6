// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of a vGPU's user mappings: a zap removes pages from the mappings on the list. Built only
 * for kernels that give a VFIO device no inode of its own (compat.h).
 *
 * A page fault puts its mapping on the list, except a fault on host memory of the vGPU (struct
 * vgpu_own), which no zap removes. A new mapping can also get pages by a split of a mapping or by
 * mremap(). Such a new mapping is emptied at once, so that no mapping outside of the list has pages
 * of the card. .open empties the new mapping of a split. For a move by mremap(), the core (the
 * kernel's mm/) makes a new mapping, calls .open while the new mapping is empty, moves the pages
 * into the new mapping, and calls .mremap, which empties it. A child of fork() gets no mapping
 * (COMPAT_VM_FLAGS).
 *
 * vma_lock is taken inside mmap_lock. So vgpu_compat_zap() finds a process under vma_lock, drops
 * vma_lock, takes mmap_lock and then vma_lock, and zaps the mappings of that process. It takes
 * mmap_lock for writing, because munmap() frees the page tables of a mapping with mmap_lock held
 * for reading, and calls .close only after that.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "mdev/compat.h"
#include "mdev/internal.h"

/*
 * Limit of the number of a vGPU's mappings on the list, in all processes together. The limit bounds
 * the time of a search of the list.
 */
#define MAPPINGS_MAX 1024

struct mapping {
	struct list_head node; /* in v->vmas, which vma_lock protects */
	struct vm_area_struct *vma;
	struct mm_struct *mm;
	/* the current zap has finished this mapping */
	bool done;
};

static struct mapping *mapping_find(struct kvgpu_vgpu *v, struct vm_area_struct *vma)
{
	struct mapping *m;

	list_for_each_entry(m, &v->vmas, node)
		if (m->vma == vma)
			return m;
	return NULL;
}

/* Call with vma_lock held. */
static vm_fault_t mapping_add(struct kvgpu_vgpu *v, struct vm_area_struct *vma)
{
	struct mapping *m;

	if (v->nr_vmas >= MAPPINGS_MAX)
		return VM_FAULT_SIGBUS;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return VM_FAULT_OOM;
	m->vma = vma;
	m->mm = vma->vm_mm;
	list_add(&m->node, &v->vmas);
	v->nr_vmas++;
	return 0;
}

vm_fault_t vgpu_compat_vma_note(struct kvgpu_vgpu *v, struct vm_area_struct *vma)
{
	vm_fault_t ret = 0;

	mutex_lock(&v->vma_lock);
	if (!mapping_find(v, vma))
		ret = mapping_add(v, vma);
	mutex_unlock(&v->vma_lock);
	return ret;
}

/*
 * The core calls this for the new mapping when a mapping is split, and before a mapping is moved.
 */
void vgpu_compat_vma_open(struct vm_area_struct *vma)
{
	zap_vma_ptes(vma, vma->vm_start, vma->vm_end - vma->vm_start);
}

/*
 * The core calls this after mremap() has moved the pages of a mapping to @vma, which is not on the
 * list: removes these pages. The core has held mmap_lock for writing since before the move, so that
 * no zap comes in between.
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
	if (m) {
		list_del(&m->node);
		v->nr_vmas--;
	}
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
 * Returns, with a reference, the mm of a process that has a mapping that is not .done, or NULL if
 * there is none. Marks mappings of a dying process as .done. Call with vma_lock held.
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
		mmap_write_lock(mm);
		mutex_lock(&v->vma_lock);
		list_for_each_entry(m, &v->vmas, node) {
			if (m->mm != mm)
				continue;
			zap_overlap(m->vma, at, len);
			m->done = true;
		}
		mutex_unlock(&v->vma_lock);
		mmap_write_unlock(mm);
		mmput(mm);
		mutex_lock(&v->vma_lock);
	}
	mutex_unlock(&v->vma_lock);
}
