// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of a GPU's BAR inside QEMU. The BAR is a window: the GPU's page tables decide at run time
 * which piece of video memory or guest memory is behind each 4 KiB page. So QEMU's single mapping
 * of the region is cut up here, and its pages replaced.
 *
 * QEMU maps the region's file, which always stays empty, shared. The mapping is registered with
 * userfaultfd for missing pages: an access to a page that was not filled makes the vCPU wait, and
 * the model is told. A page has three states:
 *   missing   the region's empty file, registered
 *   mapped    a piece of another file, by mmap(MAP_FIXED)
 *   poison    a private copy of a page of ones
 *
 * Emptying a page must not open a gap in which an access hits the plain empty file: such an access
 * would succeed and its data be lost. mmap() and UFFDIO_REGISTER are two steps, so a new piece is
 * mapped and registered elsewhere and then moved over the old piece by a single mremap(). The new
 * piece keeps its registration only with UFFD_FEATURE_EVENT_REMAP. mremap() then returns only after
 * the reader thread has read the event, so the reader must never wait for the worker.
 *
 * A vCPU that waits is woken after the page is there. The vCPU can't miss the wake-up: it queues
 * itself while it holds the mapping's lock, which mmap() and mremap() need for writing. So either
 * it faulted before the change and is queued, or it comes after the change and sees the new page.
 * PROT_NONE or read-only pages are never left behind: QEMU would die of SIGSEGV.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "uffd_window.h"

#define UW_ONES	    (2u << 20)
#define UW_FEATURES (UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_MISSING_SHMEM)
#define PAGES(n)    ((size_t)(n) << BARMAP_PAGE_SHIFT)

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/*
 * Faults inside the kernel (a read() into the window) need a privilege. Without it,
 * UFFD_USER_MODE_ONLY serves the accesses of vCPUs.
 */
static int uffd_open(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UW_FEATURES };
	int fd, ret;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

static int ones_open(void)
{
	int fd = memfd_create("gk110-ones", MFD_CLOEXEC);
	void *p;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, UW_ONES)) {
		p = mmap(NULL, UW_ONES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED) {
			memset(p, 0xff, UW_ONES);
			munmap(p, UW_ONES);
			return fd;
		}
	}
	close(fd);
	return -ENOMEM;
}

/* Fill the reserve. Neighbours differ in protection, so that the kernel does not merge them. */
static void reserve_fill(struct uw *w)
{
	unsigned int i;
	void *p;

	for (i = 0; i < UW_RESERVE; i++) {
		if (w->reserve[i])
			continue;
		p = mmap(NULL, PAGES(1), i & 1 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
		w->reserve[i] = p == MAP_FAILED ? NULL : p;
	}
}

static void reserve_drop(struct uw *w)
{
	unsigned int i;

	for (i = 0; i < UW_RESERVE; i++) {
		if (w->reserve[i])
			munmap(w->reserve[i], PAGES(1));
		w->reserve[i] = NULL;
	}
}

int uw_init(struct uw *w)
{
	unsigned int i;

	memset(w, 0, sizeof(*w));
	pthread_mutex_init(&w->lock, NULL);
	for (i = 0; i < BARMAP_MAX_FILES; i++)
		w->file[i] = -1;
	for (i = 0; i < BARMAP_NR_WIN; i++)
		w->win[i].fd = -1;
	w->ones_fd = ones_open();
	if (w->ones_fd < 0)
		return w->ones_fd;
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (access("/proc/self/maps", R_OK))
		w->uffd = -errno;
	else
		w->uffd = w->stop_fd < 0 ? -EMFILE : uffd_open();
	if (w->uffd < 0) {
		close(w->ones_fd);
		if (w->stop_fd >= 0)
			close(w->stop_fd);
		return w->uffd;
	}
	reserve_fill(w);
	return 0;
}

void uw_set_windows(struct uw *w, const struct barmap_welcome *msg, const int *fds)
{
	unsigned int i;

	for (i = 0; i < BARMAP_NR_WIN; i++) {
		w->win[i].fd = fds[i];
		w->win[i].dev = msg->win[i].dev;
		w->win[i].ino = msg->win[i].ino;
		w->win[i].base = msg->win[i].base;
		w->win[i].size = msg->win[i].size;
	}
}

int uw_set_file(struct uw *w, uint32_t id, int fd)
{
	if (id >= BARMAP_MAX_FILES || w->file[id] >= 0) {
		close(fd);
		return -EINVAL;
	}
	w->file[id] = fd;
	return 0;
}

void uw_forget_file(struct uw *w, uint32_t id)
{
	if (id >= BARMAP_MAX_FILES || w->file[id] < 0)
		return;
	close(w->file[id]);
	w->file[id] = -1;
}

/* ------------------------------------------------------------------ finding the windows */

static int area_register(struct uw *w, void *va, size_t len)
{
	struct uffdio_register r = {
		.range = { .start = (uintptr_t)va, .len = len },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return ioctl(w->uffd, UFFDIO_REGISTER, &r) ? -errno : 0;
}

static bool area_extend(struct uw_area *a, const uint8_t *va, uint32_t win, uint32_t page,
			uint32_t nr_pages)
{
	if (a->win != win || a->page + a->nr_pages != page || a->va + PAGES(a->nr_pages) != va)
		return false;
	a->nr_pages += nr_pages;
	return true;
}

static int area_add(struct uw *w, struct uw_area *area, unsigned int *nr, uint64_t start,
		    uint64_t end, uint64_t off, uint64_t dev, uint64_t ino)
{
	uint64_t last = off + (end - start);
	uint32_t page, nr_pages;
	unsigned int i;
	uint8_t *va;

	for (i = 0; i < BARMAP_NR_WIN; i++) {
		const struct uw_window *win = &w->win[i];
		uint64_t lo = off > win->base ? off : win->base;
		uint64_t hi = last < win->base + win->size ? last : win->base + win->size;

		if (win->dev != dev || win->ino != ino || lo >= hi)
			continue;
		va = (uint8_t *)(uintptr_t)(start + (lo - off));
		page = (lo - win->base) >> BARMAP_PAGE_SHIFT;
		nr_pages = (hi - lo) >> BARMAP_PAGE_SHIFT;
		if (*nr && area_extend(&area[*nr - 1], va, i, page, nr_pages))
			continue;
		if (*nr == UW_MAX_AREAS)
			return -E2BIG;
		area[(*nr)++] =
			(struct uw_area){ .va = va, .win = i, .page = page, .nr_pages = nr_pages };
	}
	return 0;
}

static int areas_scan(struct uw *w, struct uw_area *area, unsigned int *nr)
{
	uint64_t start, end, off, ino;
	char *line = NULL, prot[5];
	unsigned int maj, min;
	size_t cap = 0;
	int ret = 0;
	FILE *f;

	f = fopen("/proc/self/maps", "re");
	if (!f)
		return -errno;
	while (!ret && getline(&line, &cap, f) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &start,
			   &end, prot, &off, &maj, &min, &ino) != 7 ||
		    prot[1] != 'w' || prot[3] != 's')
			continue;
		ret = area_add(w, area, nr, start, end, off, makedev(maj, min), ino);
	}
	free(line);
	fclose(f);
	return ret;
}

int uw_attach(struct uw *w)
{
	struct uw_area area[UW_MAX_AREAS];
	unsigned int nr = 0, i;
	int ret;

	ret = areas_scan(w, area, &nr);
	for (i = 0; i < nr && !ret; i++)
		ret = area_register(w, area[i].va, PAGES(area[i].nr_pages));
	if (ret)
		return ret;
	pthread_mutex_lock(&w->lock);
	memcpy(w->area, area, sizeof(area));
	w->nr_areas = nr;
	pthread_mutex_unlock(&w->lock);
	return nr;
}

void uw_detach(struct uw *w)
{
	struct uffdio_range r;
	unsigned int i;

	for (i = 0; i < w->nr_areas; i++) {
		r.start = (uintptr_t)w->area[i].va;
		r.len = PAGES(w->area[i].nr_pages);
		/* fails when QEMU has unmapped the area: nothing is left to do then */
		ioctl(w->uffd, UFFDIO_UNREGISTER, &r);
	}
	pthread_mutex_lock(&w->lock);
	w->nr_areas = 0;
	pthread_mutex_unlock(&w->lock);
}

/* ------------------------------------------------------------------ changing pages */

static void pages_wake(struct uw *w, void *va, size_t len)
{
	struct uffdio_range r = { .start = (uintptr_t)va, .len = len };

	ioctl(w->uffd, UFFDIO_WAKE, &r);
}

static int pages_map(struct uw *w, const struct barmap_op *op, void *va, uint32_t skip, size_t len)
{
	int share = op->flags & BARMAP_F_PRIVATE ? MAP_PRIVATE : MAP_SHARED;
	int fd = op->file < BARMAP_MAX_FILES ? w->file[op->file] : -1;

	if (fd < 0)
		return -EBADF;
	if (mmap(va, len, PROT_READ | PROT_WRITE, share | MAP_FIXED | MAP_NORESERVE, fd,
		 (op->file_page + skip) << BARMAP_PAGE_SHIFT) == MAP_FAILED)
		return -errno;
	return 0;
}

static int pages_poison(struct uw *w, uint8_t *va, size_t len)
{
	size_t n;

	for (; len; va += n, len -= n) {
		n = len < UW_ONES ? len : UW_ONES;
		if (mmap(va, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE,
			 w->ones_fd, 0) == MAP_FAILED)
			return -errno;
	}
	return 0;
}

static int pages_zap(struct uw *w, const struct uw_window *win, void *va, uint32_t page, size_t len)
{
	void *fresh;
	int ret;

	fresh = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, win->fd,
		     win->base + PAGES(page));
	if (fresh == MAP_FAILED)
		return -errno;
	ret = area_register(w, fresh, len);
	if (!ret && mremap(fresh, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, va) == MAP_FAILED)
		ret = -errno;
	if (ret)
		munmap(fresh, len);
	return ret;
}

static int op_apply(struct uw *w, const struct barmap_op *op, const struct uw_area *a)
{
	uint32_t lo = op->page > a->page ? op->page : a->page;
	uint64_t op_end = (uint64_t)op->page + op->nr_pages,
		 a_end = (uint64_t)a->page + a->nr_pages;
	uint64_t hi = op_end < a_end ? op_end : a_end;
	uint8_t *va;
	size_t len;
	int ret = 0;

	if (op->win != a->win || lo >= hi)
		return 0;
	va = a->va + PAGES(lo - a->page);
	len = PAGES(hi - lo);
	switch (op->code) {
	case BARMAP_MAP:
		ret = pages_map(w, op, va, lo - op->page, len);
		break;
	case BARMAP_POISON:
		ret = pages_poison(w, va, len);
		break;
	case BARMAP_ZAP:
		return pages_zap(w, &w->win[a->win], va, lo, len);
	case BARMAP_WAKE:
		break;
	default:
		return -EINVAL;
	}
	if (!ret)
		pages_wake(w, va, len);
	return ret;
}

/*
 * Emptying pages helps when the process has as many mappings as it may have, so it must not fail
 * for lack of a mapping: the reserve is unmapped for it, and filled again when pages have been
 * merged.
 */
static int op_apply_all(struct uw *w, const struct barmap_op *op)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < w->nr_areas && !ret; i++) {
		ret = op_apply(w, op, &w->area[i]);
		if (ret == -ENOMEM && op->code == BARMAP_ZAP) {
			reserve_drop(w);
			ret = op_apply(w, op, &w->area[i]);
			reserve_fill(w);
		}
	}
	return ret;
}

int uw_apply(struct uw *w, const struct barmap_op *ops, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = op_apply_all(w, &ops[i]);
	return ret;
}

/* ------------------------------------------------------------------ faults */

static bool fault_locate(struct uw *w, uint64_t addr, struct barmap_fault *f)
{
	const struct uw_area *a;
	unsigned int i;
	bool found = false;

	pthread_mutex_lock(&w->lock);
	for (i = 0; i < w->nr_areas && !found; i++) {
		a = &w->area[i];
		if (addr < (uintptr_t)a->va || addr >= (uintptr_t)a->va + PAGES(a->nr_pages))
			continue;
		f->win = a->win;
		f->page = a->page + ((addr - (uintptr_t)a->va) >> BARMAP_PAGE_SHIFT);
		found = true;
	}
	pthread_mutex_unlock(&w->lock);
	return found;
}

int uw_read_fault(struct uw *w, struct barmap_fault *f)
{
	struct pollfd p[2] = { { .fd = w->uffd, .events = POLLIN },
			       { .fd = w->stop_fd, .events = POLLIN } };
	struct uffd_msg m;
	ssize_t n;

	if (poll(p, 2, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (p[1].revents)
		return -ECANCELED;
	n = read(w->uffd, &m, sizeof(m));
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	if (n != sizeof(m))
		return -EIO;
	if (m.event != UFFD_EVENT_PAGEFAULT)
		return 0;
	memset(f, 0, sizeof(*f));
	f->hdr.type = BARMAP_FAULT;
	f->write = !!(m.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE);
	if (!fault_locate(w, m.arg.pagefault.address, f)) {
		/* detached in the meantime: unregistering woke the threads that waited */
		pages_wake(w, (void *)(uintptr_t)(m.arg.pagefault.address & ~(PAGES(1) - 1)),
			   PAGES(1));
		return 0;
	}
	return 1;
}

void uw_stop_reading(struct uw *w)
{
	uint64_t one = 1;

	if (write(w->stop_fd, &one, sizeof(one)) != sizeof(one))
		perror("gk110-barmap: eventfd");
}

void uw_blind(struct uw *w)
{
	unsigned int i;
	size_t len;

	reserve_drop(w);
	for (i = 0; i < w->nr_areas; i++) {
		len = PAGES(w->area[i].nr_pages);
		pages_poison(w, w->area[i].va, len);
		pages_wake(w, w->area[i].va, len);
	}
	pthread_mutex_lock(&w->lock);
	w->nr_areas = 0;
	pthread_mutex_unlock(&w->lock);
}

void uw_fini(struct uw *w)
{
	unsigned int i;

	close(w->uffd);
	close(w->stop_fd);
	close(w->ones_fd);
	for (i = 0; i < BARMAP_MAX_FILES; i++)
		uw_forget_file(w, i);
	for (i = 0; i < BARMAP_NR_WIN; i++)
		if (w->win[i].fd >= 0)
			close(w->win[i].fd);
	reserve_drop(w);
	pthread_mutex_destroy(&w->lock);
}
