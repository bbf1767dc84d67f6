// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guest memory as the device reaches it. The client announces ranges of bus addresses, most with
 * the file that has their memory. Behind a vIOMMU there are thousands of one-page ranges of one
 * file, so files are mapped once and whole, and ranges are found by binary search.
 *
 * The table belongs to the socket thread; others read it with dma_lock held for reading. Each
 * change is made with dma_lock held for writing, so after the change no thread uses an old pointer.
 * A client that truncates a file that it has shared can kill this process (SIGBUS).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define DMA_FLAGS (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)

void dma_init(struct dma_table *t)
{
	unsigned int i;

	memset(t, 0, sizeof(*t));
	for (i = 0; i < DMA_MAX_FILES; i++)
		t->file[i].fd = -1;
}

static unsigned int find(const struct dma_table *t, uint64_t iova)
{
	unsigned int lo = 0, hi = t->nr;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (t->entry[mid].iova + (t->entry[mid].size - 1) < iova)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* ------------------------------------------------------------------ files */

static int file_slot(struct dma_table *t, const struct stat *st, bool writable)
{
	int i, unused = -1;

	for (i = 0; i < DMA_MAX_FILES; i++) {
		const struct dma_file *f = &t->file[i];

		if (f->fd < 0) {
			if (unused < 0)
				unused = i;
		} else if (f->dev == st->st_dev && f->ino == st->st_ino &&
			   f->writable == writable) {
			return i;
		}
	}
	return unused < 0 ? -ENOSPC : unused;
}

/*
 * Map all of the file; a file that grew loses its old mapping. Call with dma_lock held for writing.
 */
static int file_map(struct dma_file *f, uint64_t size)
{
	int prot = PROT_READ | (f->writable ? PROT_WRITE : 0);
	void *p;

	p = mmap(NULL, size, prot, MAP_SHARED | MAP_NORESERVE, f->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	if (f->base)
		munmap(f->base, f->size);
	f->base = p;
	f->size = size;
	return 0;
}

/* Return the slot of the file of @fd or -errno. Takes over @fd. */
static int file_get(struct vfio_server *s, int fd, uint64_t need)
{
	struct dma_file *f;
	int slot, ret = 0, mode;
	struct stat st;
	bool fresh;

	mode = fcntl(fd, F_GETFL);
	if (mode < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || need > (uint64_t)st.st_size ||
	    (mode & O_ACCMODE) == O_WRONLY) {
		close(fd);
		return -EINVAL;
	}
	slot = file_slot(&s->dma, &st, (mode & O_ACCMODE) == O_RDWR);
	if (slot < 0) {
		close(fd);
		return slot;
	}
	f = &s->dma.file[slot];
	fresh = f->fd < 0;
	dma_write_lock(s->g);
	if (fresh)
		*f = (struct dma_file){ .fd = fd,
					.dev = st.st_dev,
					.ino = st.st_ino,
					.writable = (mode & O_ACCMODE) == O_RDWR };
	if (need > f->size)
		ret = file_map(f, st.st_size);
	if (ret && fresh)
		f->fd = -1;
	dma_write_unlock(s->g);
	if (!fresh || ret)
		close(fd);
	else if (s->barmap)
		barmap_add_file(s->barmap, slot, fd);
	return ret ? ret : slot;
}

/* Drop files that no entry needs. Before that, no window may show their pages. */
static void files_reap(struct vfio_server *s)
{
	struct dma_file dead;
	int i;

	for (i = 0; i < DMA_MAX_FILES; i++) {
		if (s->dma.file[i].fd < 0 || s->dma.file[i].refs)
			continue;
		dma_write_lock(s->g);
		dead = s->dma.file[i];
		s->dma.file[i] = (struct dma_file){ .fd = -1 };
		dma_write_unlock(s->g);
		if (s->barmap)
			barmap_del_file(s->barmap, i);
		munmap(dead.base, dead.size);
		close(dead.fd);
	}
}

/* ------------------------------------------------------------------ map, unmap */

static int map_check(const struct dma_table *t, const struct vu_dma_map *m, bool has_fd)
{
	unsigned int i;

	if (m->argsz < sizeof(*m) || m->flags & ~DMA_FLAGS || !(m->flags & DMA_FLAGS))
		return -EINVAL;
	if (!m->size || (m->address | m->size) % VU_PAGE || m->address + (m->size - 1) < m->address)
		return -EINVAL;
	if (has_fd && (m->offset % VU_PAGE || m->offset + m->size < m->offset))
		return -EINVAL;
	i = find(t, m->address);
	if (i < t->nr && t->entry[i].iova <= m->address + (m->size - 1))
		return -EEXIST;
	return t->nr < VU_MAX_DMA_MAPS ? 0 : -ENOSPC;
}

static int table_room(struct vfio_server *s)
{
	struct dma_table *t = &s->dma;
	unsigned int cap = t->cap ? 2 * t->cap : 64;
	struct dma_entry *e;

	if (t->nr < t->cap)
		return 0;
	dma_write_lock(s->g);
	e = realloc(t->entry, cap * sizeof(*e));
	if (e) {
		t->entry = e;
		t->cap = cap;
	}
	dma_write_unlock(s->g);
	return e ? 0 : -ENOMEM;
}

int dma_map(struct vfio_server *s, const struct vu_dma_map *m, int fd)
{
	struct dma_entry e = { .iova = m->address,
			       .size = m->size,
			       .offset = m->offset,
			       .file = -1,
			       .readable = m->flags & VFIO_DMA_MAP_FLAG_READ,
			       .writable = m->flags & VFIO_DMA_MAP_FLAG_WRITE };
	struct dma_table *t = &s->dma;
	unsigned int i;
	int ret;

	ret = map_check(t, m, fd >= 0);
	if (!ret)
		ret = table_room(s);
	if (ret) {
		if (fd >= 0)
			close(fd);
		return ret;
	}
	if (fd >= 0) {
		e.file = file_get(s, fd, m->offset + m->size);
		if (e.file < 0) {
			ret = e.file;
			files_reap(s);
			return ret;
		}
		e.writable &= t->file[e.file].writable;
	}
	i = find(t, m->address);
	dma_write_lock(s->g);
	memmove(&t->entry[i + 1], &t->entry[i], (t->nr - i) * sizeof(e));
	t->entry[i] = e;
	t->nr++;
	if (e.file >= 0)
		t->file[e.file].refs++;
	dma_write_unlock(s->g);
	return 0;
}

static void entries_remove(struct vfio_server *s, unsigned int first, unsigned int n)
{
	struct dma_table *t = &s->dma;
	unsigned int i;

	dma_write_lock(s->g);
	for (i = first; i < first + n; i++)
		if (t->entry[i].file >= 0)
			t->file[t->entry[i].file].refs--;
	memmove(&t->entry[first], &t->entry[first + n], (t->nr - first - n) * sizeof(*t->entry));
	t->nr -= n;
	dma_write_unlock(s->g);
	if (s->barmap)
		barmap_recheck_sysmem(s->barmap);
	files_reap(s);
}

int dma_unmap(struct vfio_server *s, uint64_t iova, uint64_t size)
{
	struct dma_table *t = &s->dma;
	unsigned int first, n;
	uint64_t last;

	if (!size || iova + (size - 1) < iova)
		return -EINVAL;
	last = iova + (size - 1);
	first = find(t, iova);
	for (n = 0; first + n < t->nr && t->entry[first + n].iova <= last; n++) {
		const struct dma_entry *e = &t->entry[first + n];

		if (e->iova < iova || e->iova + (e->size - 1) > last)
			return -EINVAL;
	}
	if (n)
		entries_remove(s, first, n);
	return 0;
}

void dma_unmap_all(struct vfio_server *s)
{
	if (s->dma.nr)
		entries_remove(s, 0, s->dma.nr);
}

/* --------------------------------------------------------------- use; dma_lock held for reading */

static const struct dma_entry *entry_at(const struct vfio_server *s, uint64_t iova)
{
	const struct dma_table *t = &s->dma;
	unsigned int i = find(t, iova);

	if (!s->g || !pci_bus_master(s->g) || i == t->nr || t->entry[i].iova > iova ||
	    t->entry[i].file < 0)
		return NULL;
	return &t->entry[i];
}

void *dma_ptr(void *bus, uint64_t iova, size_t *len, bool write)
{
	const struct vfio_server *s = bus;
	const struct dma_entry *e = entry_at(s, iova);
	uint64_t left;

	if (!e || (write ? !e->writable : !e->readable))
		return NULL;
	left = e->size - (iova - e->iova);
	if (*len > left)
		*len = left;
	return s->dma.file[e->file].base + e->offset + (iova - e->iova);
}

bool dma_locate(struct vfio_server *s, uint64_t iova, int *file, uint64_t *offset, uint64_t *len,
		bool *writable)
{
	const struct dma_entry *e = entry_at(s, iova);

	if (!e || !e->readable)
		return false;
	*file = e->file;
	*offset = e->offset + (iova - e->iova);
	if (*len > e->size - (iova - e->iova))
		*len = e->size - (iova - e->iova);
	*writable = e->writable;
	return true;
}
