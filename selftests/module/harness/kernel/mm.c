// SPDX-License-Identifier: GPL-2.0-only
/*
 * A VMM's address space, as far as mappings of a device go.
 * mremap does as move_vma(): a new mapping is made and opened while it is empty, the page table's
 * entries are moved to it, then .mremap tells the driver, then the old mapping is closed.
 * fork: the child's mapping is opened after its page table entries were copied, or before that, as
 * later stable kernels do. A mapping with VM_DONTCOPY is not copied.
 * munmap of a part splits the mapping: the new half is opened, and its entries stay where they are.
 * munmap does as do_mas_align_munmap() of 6.1: the mappings leave the tree with mmap_lock held for
 * writing. Then the lock is downgraded to a reader's lock. With that, unmap_region() clears the
 * entries and frees the page tables, and the mappings are closed.
 */
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/task.h"

struct mm_struct {
	struct list_head node, vmas;
	/* mmap_lock: a writer keeps the gate; a reader only passes it, and is counted */
	struct mutex gate;
	u32 readers;
	int users;
	struct pid *process;
	struct xarray frames; /* the page table, by number of the page */
	unsigned long next;
	u64 slow_ns; /* how long munmap() takes before it frees anything */
};

static LIST_HEAD(all);

struct mm_struct *mm_new(void)
{
	struct mm_struct *mm = calloc(1, sizeof(*mm));

	INIT_LIST_HEAD(&mm->vmas);
	list_add_tail(&mm->node, &all);
	mutex_init(&mm->gate);
	mm->users = 1;
	mm->process = calloc(1, sizeof(*mm->process));
	mm->process->refs = 1;
	mm->next = 0x10000000;
	return mm;
}

/* ------------------------------------------------------------------ locks */

void mmap_write_lock(struct mm_struct *mm)
{
	mutex_lock(&mm->gate);
	while (mm->readers)
		harness_wait(&mm->readers, NEVER);
}

void mmap_write_unlock(struct mm_struct *mm)
{
	mutex_unlock(&mm->gate);
}

void mmap_read_lock(struct mm_struct *mm)
{
	mutex_lock(&mm->gate);
	mm->readers++;
	mutex_unlock(&mm->gate);
}

void mmap_read_unlock(struct mm_struct *mm)
{
	FAIL_ON(!mm->readers--, "mmap_lock is not held");
	harness_wake(&mm->readers);
	harness_point("mmap_read_unlock");
}

bool mmget_not_zero(struct mm_struct *mm)
{
	return mm->users && mm->users++;
}

void mmput(struct mm_struct *mm)
{
	FAIL_ON(--mm->users < 0, "an mm is put once too often");
}

/* ------------------------------------------------------------------ the page table */

static void set_pte(struct mm_struct *mm, unsigned long at, unsigned long pfn)
{
	xa_store(&mm->frames, at >> PAGE_SHIFT, xa_mk_value(pfn), __GFP_NOFAIL);
}

/* Return the frame of the first page from @at to @to, and its address in @at; 0: there is none. */
static unsigned long next_pte(struct mm_struct *mm, unsigned long *at, unsigned long to)
{
	unsigned long page = *at >> PAGE_SHIFT;
	void *frame = xa_find(&mm->frames, &page, (to - 1) >> PAGE_SHIFT, XA_PRESENT);

	*at = page << PAGE_SHIFT;
	return xa_to_value(frame);
}

static void clear_range(struct mm_struct *mm, unsigned long at, unsigned long to)
{
	while (next_pte(mm, &at, to))
		xa_erase(&mm->frames, at >> PAGE_SHIFT);
}

vm_fault_t vmf_insert_pfn(struct vm_area_struct *vma, unsigned long address, unsigned long pfn)
{
	FAIL_ON(address < vma->vm_start || address >= vma->vm_end,
		"a page is inserted outside of its mapping");
	set_pte(vma->vm_mm, address, pfn);
	return VM_FAULT_NOPAGE;
}

vm_fault_t vmf_insert_pfn_pmd(struct vm_fault *vmf, unsigned long pfn, bool write)
{
	unsigned long at = vmf->address & ~(PMD_SIZE - 1), i;

	for (i = 0; i < PMD_SIZE / PAGE_SIZE; i++)
		vmf_insert_pfn(vmf->vma, at + i * PAGE_SIZE, pfn + i);
	return VM_FAULT_NOPAGE;
}

int zap_vma_ptes(struct vm_area_struct *vma, unsigned long address, unsigned long size)
{
	u64 at;

	if (address < vma->vm_start || address + size > vma->vm_end)
		return -ENXIO;
	/* zap_pmd_range() has a pointer into a page table in cond_resched(), each 2 MiB */
	vma->walkers++;
	for (at = address; at < address + size; at += SZ_2M)
		harness_point("zap_pmd_range: cond_resched()");
	vma->walkers--;
	clear_range(vma->vm_mm, address, address + size);
	return 0;
}

void mm_check(const char *when)
{
	struct vm_area_struct *vma;
	struct mm_struct *mm;
	unsigned long at, pfn;

	list_for_each_entry(mm, &all, node)
		list_for_each_entry(vma, &mm->vmas, node)
			for (at = vma->vm_start; (pfn = next_pte(mm, &at, vma->vm_end));
			     at += PAGE_SIZE)
				oracle_mapping(vma->vm_private_data, pfn, when);
}

/* ------------------------------------------------------------------ system calls */

static struct vm_area_struct *vma_at(struct mm_struct *mm, unsigned long at)
{
	struct vm_area_struct *vma;

	list_for_each_entry(vma, &mm->vmas, node)
		if (at >= vma->vm_start && at < vma->vm_end)
			return vma;
	return NULL;
}

static struct vm_area_struct *vma_new(struct mm_struct *mm, const struct vm_area_struct *like,
				      unsigned long at, unsigned long len)
{
	struct vm_area_struct *vma = calloc(1, sizeof(*vma));

	if (like)
		*vma = *like;
	vma->vm_mm = mm;
	vma->vm_start = at;
	vma->vm_end = at + len;
	list_add_tail(&vma->node, &mm->vmas);
	return vma;
}

static void vma_drop(struct vm_area_struct *vma)
{
	clear_range(vma->vm_mm, vma->vm_start, vma->vm_end);
	vma->vm_ops->close(vma);
	list_del(&vma->node);
	free(vma);
}

unsigned long mm_map(struct mm_struct *mm, struct vfio_device *v, u64 offset, u64 len)
{
	struct vm_area_struct *vma;
	unsigned long at;
	int ret;

	mmap_write_lock(mm);
	at = mm->next;
	mm->next += len + PAGE_SIZE;
	vma = vma_new(mm, NULL, at, len);
	vma->vm_pgoff = offset >> PAGE_SHIFT;
	vma->vm_flags = VM_SHARED;
	ret = v->ops->mmap(v, vma);
	if (ret) {
		list_del(&vma->node);
		free(vma);
		at = 0;
	}
	mutex_unlock(&mm->gate);
	return at;
}

/* Cut the mapping at @at in two. The upper half has its pages already when it is opened. */
static void split(struct mm_struct *mm, unsigned long at)
{
	struct vm_area_struct *vma = vma_at(mm, at), *high;

	if (!vma || at == vma->vm_start)
		return;
	high = vma_new(mm, vma, at, vma->vm_end - at);
	high->vm_pgoff += (at - vma->vm_start) >> PAGE_SHIFT;
	vma->vm_end = at;
	high->vm_ops->open(high);
}

/* Call with mmap_lock held for reading. It is released. */
static void unmap_region(struct mm_struct *mm, struct list_head *gone)
{
	struct vm_area_struct *vma, *n;

	if (mm->slow_ns)
		harness_sleep(mm->slow_ns);
	list_for_each_entry(vma, gone, node) {
		harness_point("unmap_vmas()");
		clear_range(mm, vma->vm_start, vma->vm_end);
	}
	list_for_each_entry(vma, gone, node) {
		harness_point("free_pgtables()");
		FAIL_ON(vma->walkers, "S6: munmap() frees page tables that a thread walks");
	}
	list_for_each_entry_safe(vma, n, gone, node)
		vma_drop(vma);
	mmap_read_unlock(mm);
}

static void unmap(struct mm_struct *mm, unsigned long at, u64 len, bool downgrade)
{
	struct vm_area_struct *vma, *n;
	LIST_HEAD(gone);

	mmap_write_lock(mm);
	split(mm, at);
	split(mm, at + len);
	list_for_each_entry_safe(vma, n, &mm->vmas, node)
		if (vma->vm_start >= at && vma->vm_end <= at + len) {
			if (downgrade)
				list_move_tail(&vma->node, &gone);
			else
				vma_drop(vma);
		}
	if (downgrade)
		mm->readers++; /* mmap_write_downgrade() */
	mutex_unlock(&mm->gate);
	if (downgrade)
		unmap_region(mm, &gone);
}

void mm_slow(struct mm_struct *mm, u64 ns)
{
	mm->slow_ns = ns;
}

void mm_unmap(struct mm_struct *mm, unsigned long at, u64 len)
{
	unmap(mm, at, len, true);
}

unsigned long mm_move(struct mm_struct *mm, unsigned long at, u64 len)
{
	struct vm_area_struct *old, *new;
	unsigned long to, from = at, pfn;

	mmap_write_lock(mm);
	old = vma_at(mm, at);
	if (!old || at + len > old->vm_end) {
		mutex_unlock(&mm->gate);
		return 0;
	}
	to = mm->next;
	mm->next += len + PAGE_SIZE;
	new = vma_new(mm, old, to, len);
	new->vm_pgoff += (at - old->vm_start) >> PAGE_SHIFT;
	new->vm_ops->open(new);
	while ((pfn = next_pte(mm, &from, at + len))) {
		xa_erase(&mm->frames, from >> PAGE_SHIFT);
		set_pte(mm, to + (from - at), pfn);
	}
	new->vm_ops->mremap(new);
	mutex_unlock(&mm->gate);
	unmap(mm, at, len, false);
	return to;
}

struct mm_struct *mm_fork(struct mm_struct *mm, bool open_first)
{
	struct mm_struct *child = mm_new();
	struct vm_area_struct *vma, *copy;
	unsigned long at, pfn;

	child->next = mm->next;
	mmap_write_lock(mm);
	list_for_each_entry(vma, &mm->vmas, node) {
		if (vma->vm_flags & VM_DONTCOPY)
			continue;
		copy = vma_new(child, vma, vma->vm_start, vma->vm_end - vma->vm_start);
		if (open_first)
			copy->vm_ops->open(copy);
		for (at = vma->vm_start; (pfn = next_pte(mm, &at, vma->vm_end)); at += PAGE_SIZE)
			set_pte(child, at, pfn);
		if (!open_first)
			copy->vm_ops->open(copy);
	}
	mutex_unlock(&mm->gate);
	return child;
}

unsigned long mm_look(struct mm_struct *mm, unsigned long at)
{
	return xa_to_value(xa_load(&mm->frames, at >> PAGE_SHIFT));
}

/* Return the frame at @at, which the driver's fault handler puts there if none is; 0: none. */
static unsigned long frame_at(struct mm_struct *mm, unsigned long at, unsigned int flags)
{
	struct vm_fault vmf = { .address = at, .flags = flags };
	vm_fault_t ret = VM_FAULT_RETRY;
	unsigned long pfn = 0;

	while (ret == VM_FAULT_RETRY) {
		mmap_read_lock(mm);
		vmf.vma = vma_at(mm, at);
		pfn = vmf.vma ? mm_look(mm, at) : 0;
		ret = vmf.vma && !pfn ? vmf.vma->vm_ops->fault(&vmf) : VM_FAULT_NOPAGE;
		if (ret == VM_FAULT_RETRY)
			continue; /* the handler gave mmap_lock back */
		if (ret == VM_FAULT_NOPAGE)
			pfn = mm_look(mm, at);
		mmap_read_unlock(mm);
	}
	return pfn;
}

unsigned long mm_touch(struct mm_struct *mm, unsigned long at)
{
	while (frame_at(mm, at, FAULT_FLAG_ALLOW_RETRY) && !mm_look(mm, at))
		;
	return mm_look(mm, at);
}

unsigned long mm_for_device(struct mm_struct *mm, unsigned long at)
{
	return frame_at(mm, at, FAULT_FLAG_REMOTE);
}

vm_fault_t mm_touch_huge(struct mm_struct *mm, unsigned long at, unsigned int flags)
{
	struct vm_fault vmf = { .vma = vma_at(mm, at), .address = at, .flags = flags };

	return vmf.vma->vm_ops->huge_fault(&vmf, PMD_ORDER);
}

void mm_free(struct mm_struct *mm)
{
	struct vm_area_struct *vma, *n;

	mmput(mm);
	while (mm->users)
		harness_wait(NULL, harness_now + 1000);
	list_for_each_entry_safe(vma, n, &mm->vmas, node)
		vma_drop(vma);
	list_del(&mm->node);
	xa_destroy(&mm->frames);
	put_pid(mm->process);
	free(mm);
}

struct pid *mm_process(struct mm_struct *mm)
{
	return mm->process;
}

/* ------------------------------------------------------------------ copies */

unsigned long copy_from_user(void *to, const void *from, unsigned long n)
{
	struct mm_struct *mm = task_mm();

	harness_point("copy of user memory");
	if (mm && !harness_below(8)) {
		mmap_read_lock(mm);
		mmap_read_unlock(mm);
	}
	memcpy(to, from, n);
	return 0;
}

void *memdup_user(const void *from, size_t n)
{
	void *p = kmalloc(n, GFP_KERNEL);

	if (!p)
		return ERR_PTR(-ENOMEM);
	copy_from_user(p, from, n);
	return p;
}
