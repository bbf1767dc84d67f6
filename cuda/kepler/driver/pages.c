// SPDX-License-Identifier: MIT
/*
 * Replace pages of this process by other memory with the same contents, while other threads go on
 * and may write to these pages. It is done in pieces. A thread that writes to the piece meanwhile
 * (pages_back(): or reads it) waits in its page fault (userfaultfd):
 *
 * - pages_put(): write protect the piece, copy it, move the new mapping over it, wake the waiting
 *   threads. The kernel queues a fault with the old mapping locked, and the move waits for that
 *   lock: no thread begins to wait after the wake. Linux before 6.4 can't protect a page that was
 *   never touched, so each page is read first.
 * - pages_back(): the device's mapping can't be protected. Instead an empty anonymous piece, which
 *   is registered for missing pages, moves over it. A thread that touches the piece then waits,
 *   until the contents are filled in. Linux keeps the registration across the move only if the
 *   event of the move is asked for, and then holds the moving thread until another thread has read
 *   the event: thus the second thread.
 *
 * While a piece is replaced the calling thread touches no memory but its stack, its control block
 * and its errno, which maps_plain() accepts in no piece. Other memory might be in it, and the
 * thread would wait for itself. So signals are blocked.
 *
 * A child of fork() would share these pages with its parent, unlike anonymous memory. So the child
 * replaces them by anonymous memory at once, where it can.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../api/process.h"
#include "pages.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { PIECE = 2 << 20 };
#define TO_PUT	      UFFD_FEATURE_PAGEFAULT_FLAG_WP
#define TO_BRING_BACK UFFD_FEATURE_EVENT_REMAP

/* guards the list; held across fork() */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pages *all;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ------------------------------------------------------------------ means */

static int prepare(int fd, uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };

	fd = own_descriptor(fd);
	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* -1: there is none, and *means is MEANS_NONE. */
static int open_faults(uint64_t features, enum pages_means *means)
{
	int node, fd = prepare(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK), features);

	*means = MEANS_WHOLE;
#ifdef USERFAULTFD_IOC_NEW
	if (fd < 0) {
		node = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
		if (node >= 0) {
			fd = prepare(ioctl(node, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK),
				     features);
			close(node);
		}
	}
#else
	(void)node;
#endif
	if (fd >= 0)
		return fd;
	*means = MEANS_USER;
	fd = prepare(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY),
		     features);
	if (fd < 0)
		*means = MEANS_NONE;
	return fd;
}

enum pages_means pages_means(void)
{
	enum pages_means means;
	int fd;

	if (maps_alone())
		return MEANS_ALONE;
	fd = open_faults(TO_PUT | TO_BRING_BACK, &means);
	if (fd >= 0)
		close(fd);
	return means;
}

/* ------------------------------------------------------------------ pieces */

/* Sanitizers may have forbidden to touch some of these bytes. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
	volatile uint64_t *d = (volatile uint64_t *)to;
	const volatile uint64_t *s = (const volatile uint64_t *)from;
	size_t i;

	for (i = 0; i < bytes / sizeof(*d); i++)
		d[i] = s[i];
}

__attribute__((no_sanitize("address", "thread", "undefined"))) static void touch(const uint8_t *at,
										 size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += PAGE_BYTES)
		(void)*(const volatile uint8_t *)(at + i);
}

/*
 * Bytes of the next piece. The first and the last page are single pieces: other threads' data in
 * them shall wait as briefly as can be.
 */
static size_t piece(const struct pages *p, size_t done)
{
	size_t left = p->bytes - done;

	if (!done || left == PAGE_BYTES)
		return PAGE_BYTES;
	left -= PAGE_BYTES;
	return left < PIECE ? left : PIECE;
}

static bool move(uint8_t *from, uint8_t *to, size_t bytes)
{
	return mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}

/* @fd: of userfaultfd; negative: this process has one thread */
static bool put_piece(int fd, uint8_t *at, uint8_t *view, size_t bytes)
{
	struct uffdio_register reg = { .range = { (uintptr_t)at, bytes },
				       .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect protect = { .range = reg.range,
					       .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	bool ok;

	if (fd >= 0 && ioctl(fd, UFFDIO_REGISTER, &reg))
		return false;
	if (fd >= 0)
		touch(at, bytes);
	ok = fd < 0 || !ioctl(fd, UFFDIO_WRITEPROTECT, &protect);
	if (ok) {
		copy(view, at, bytes);
		ok = move(view, at, bytes);
	}
	if (fd >= 0 && !ok)
		/* UNREGISTER wakes the waiting threads, too */
		ioctl(fd, UFFDIO_UNREGISTER, &reg.range);
	if (fd >= 0)
		ioctl(fd, UFFDIO_WAKE, &reg.range);
	return ok;
}

/* the second thread, which moves pieces */
enum order { NOTHING, MOVE, QUIT };
struct mover {
	atomic_int order, moved; /* 1: done, -1: failed */
	uint8_t *from, *to;
	size_t bytes;
};

static void *mover_main(void *arg)
{
	struct mover *m = arg;
	int order;

	while ((order = atomic_load(&m->order)) != QUIT) {
		if (order == MOVE) {
			atomic_store(&m->order, NOTHING);
			atomic_store(&m->moved, move(m->from, m->to, m->bytes) ? 1 : -1);
		} else {
			sched_yield();
		}
	}
	return NULL;
}

/* Returns when the piece has moved, and faults in it wait. */
static bool moved(int fd, struct mover *m)
{
	struct uffd_msg msg;

	atomic_store(&m->moved, 0);
	atomic_store(&m->order, MOVE);
	for (;;) {
		/* read all messages first; a thread whose fault is read goes on waiting */
		if (syscall(SYS_read, fd, &msg, sizeof(msg)) == sizeof(msg)) {
			if (msg.event == UFFD_EVENT_REMAP)
				return true;
		} else if (atomic_load(&m->moved) == -1) {
			return false;
		} else {
			sched_yield();
		}
	}
}

/* Give the moved piece its contents. End early if the application has unmapped it meanwhile. */
static void fill(int fd, uint8_t *at, const uint8_t *from, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		struct uffdio_copy c = { .dst = (uintptr_t)at + done,
					 .src = (uintptr_t)from + done,
					 .len = bytes - done };

		/* A part may be copied. EAGAIN, ENOMEM: try again, as the move can't be undone. */
		if (ioctl(fd, UFFDIO_COPY, &c) && c.copy <= 0 && errno != EAGAIN && errno != ENOMEM)
			return;
		if (c.copy > 0)
			done += c.copy;
		else
			sched_yield();
	}
}

static bool back_piece(int fd, struct mover *m, uint8_t *at, const uint8_t *from, size_t bytes)
{
	uint8_t *fresh =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register reg = { .range = { (uintptr_t)fresh, bytes },
				       .mode = UFFDIO_REGISTER_MODE_MISSING };
	bool ok;

	if (fresh == MAP_FAILED)
		return false;
	if (fd < 0) {
		ok = move(fresh, at, bytes);
		if (ok)
			copy(at, from, bytes);
	} else {
		m->from = fresh;
		m->to = at;
		m->bytes = bytes;
		ok = !ioctl(fd, UFFDIO_REGISTER, &reg) && moved(fd, m);
		if (ok) {
			fill(fd, at, from, bytes);
			reg.range.start = (uintptr_t)at;
			ioctl(fd, UFFDIO_UNREGISTER, &reg.range);
			while (atomic_load(&m->moved) != 1)
				sched_yield();
		}
	}
	if (!ok)
		munmap(fresh, bytes);
	return ok;
}

/* ------------------------------------------------------------------ what is still mapped */

struct part {
	size_t at, bytes;
};

struct parts {
	const struct pages *p;
	size_t from;
	bool unknown;
	struct part part;
};

static bool same_file(const struct mapping *a, const struct mapping *b)
{
	return b->shared && a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

/* The next mapping from .from on that is still the file's, at the same offset. */
static bool look_part(const struct mapping *m, void *arg)
{
	struct parts *s = arg;
	uintptr_t at = (uintptr_t)s->p->at, start = at + s->from, end = at + s->p->bytes;

	if (m->end <= start)
		return true;
	if (m->start >= end)
		return false;
	if (!same_file(&s->p->of, m) || m->offset - m->start != s->p->of.offset - at)
		return true;
	start = m->start > start ? m->start : start;
	s->part = (struct part){ start - at, (m->end < end ? m->end : end) - start };
	return false;
}

/* False: there is no further part, or s->unknown is set. */
static bool next_part(struct parts *s)
{
	s->part = (struct part){ 0 };
	s->unknown = !maps_each(look_part, s);
	if (s->unknown || !s->part.bytes)
		return false;
	s->from = s->part.at + s->part.bytes;
	return true;
}

struct found {
	uintptr_t at;
	struct mapping m;
};

static bool look_at(const struct mapping *m, void *arg)
{
	struct found *f = arg;

	if (f->at < m->start || f->at >= m->end)
		return true;
	f->m = *m;
	f->m.offset += f->at - m->start;
	return false;
}

/* ------------------------------------------------------------------ fork() */

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* The parent and the GPU may write to the pages meanwhile. */
static void in_child(void)
{
	struct pages *p;

	for (p = all; p; p = p->next) {
		struct parts s = { .p = p };

		while (next_part(&s)) {
			uint8_t *fresh = mmap(NULL, s.part.bytes, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

			if (fresh == MAP_FAILED)
				continue;
			copy(fresh, p->at + s.part.at, s.part.bytes);
			if (!move(fresh, p->at + s.part.at, s.part.bytes))
				munmap(fresh, s.part.bytes);
		}
	}
	all = NULL;
	pthread_mutex_unlock(&lock);
}

static void begin_pages(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/* ------------------------------------------------------------------ whole pages */

/* *before: the thread's signals, for be_as_before() */
static void be_quiet(sigset_t *before)
{
	sigset_t every;

	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, before);
}

static void be_as_before(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void drop(struct pages *p)
{
	struct pages **at;

	for (at = &all; *at && *at != p; at = &(*at)->next)
		;
	if (*at)
		*at = p->next;
	p->bytes = 0;
}

/* Call with the lock, after be_quiet(). */
static bool back(struct pages *p, int fd, struct mover *m)
{
	struct parts s = { .p = p };
	bool ok = true;

	while (next_part(&s)) {
		size_t done, n, end = s.part.at + s.part.bytes;

		for (done = s.part.at; done < end; done += n) {
			n = piece(p, done);
			n = n < end - done ? n : end - done;
			ok &= back_piece(fd, m, p->at + done, p->source + done, n);
		}
	}
	ok &= !s.unknown;
	if (ok)
		drop(p);
	return ok;
}

/* Call as back(). */
static bool all_back(struct pages *p)
{
	struct mover m = { .order = NOTHING };
	enum pages_means means;
	pthread_t thread;
	bool ok = false, alone = maps_alone();
	int fd = alone ? -1 : open_faults(TO_BRING_BACK, &means);

	if (alone)
		return back(p, -1, NULL);
	if (fd >= 0 && !pthread_create(&thread, NULL, mover_main, &m)) {
		ok = back(p, fd, &m);
		atomic_store(&m.order, QUIT);
		pthread_join(thread, NULL);
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

bool pages_put(struct pages *p, uint8_t *view, enum pages_means means)
{
	struct found view_is = { .at = (uintptr_t)view };
	enum pages_means got;
	sigset_t before;
	size_t done, n = 0;
	bool ok = true;
	int fd;

	pthread_once(&once, begin_pages);
	pthread_mutex_lock(&lock);
	be_quiet(&before);
	fd = means == MEANS_ALONE ? -1 : open_faults(TO_PUT, &got);
	if (!maps_each(look_at, &view_is) || !view_is.m.shared || (means != MEANS_ALONE && fd < 0))
		ok = false;
	p->of = view_is.m;
	p->next = all;
	all = p;
	for (done = 0; done < p->bytes && ok; done += ok ? n : 0) {
		n = piece(p, done);
		ok = put_piece(fd, p->at + done, view + done, n);
	}
	if (fd >= 0)
		close(fd);
	if (!ok) {
		munmap(view + done, p->bytes - done);
		if (done)
			all_back(p);
		else
			drop(p);
	}
	be_as_before(&before);
	pthread_mutex_unlock(&lock);
	return ok;
}

bool pages_has(const void *at)
{
	struct pages *p;

	pthread_mutex_lock(&lock);
	for (p = all; p && ((const uint8_t *)at < p->at || (const uint8_t *)at >= p->at + p->bytes);
	     p = p->next)
		;
	pthread_mutex_unlock(&lock);
	return p;
}

bool pages_back(struct pages *p)
{
	sigset_t before;
	bool ok;

	pthread_mutex_lock(&lock);
	be_quiet(&before);
	ok = all_back(p);
	be_as_before(&before);
	pthread_mutex_unlock(&lock);
	return ok;
}
