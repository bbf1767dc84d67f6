/* SPDX-License-Identifier: MIT */
/*
 * Memory of this process, page by page: what is mapped where, and how to replace pages by other
 * memory with the same contents. Addresses and sizes are whole pages.
 *
 * pages.c's lock, of the list of all struct pages, is taken inside of a context's lock or with
 * none, and held across fork(). One thread at a time works on a struct pages. pages_put() and
 * pages_back() block the calling thread's signals, and may run a thread of their own, which takes
 * no lock.
 */
#ifndef KVGPU_CUDA_PAGES_H
#define KVGPU_CUDA_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAGE_BYTES = 4096 };

/* ------------------------------------------------------------------ maps.c */

/* a line of /proc/self/maps */
struct mapping {
	uintptr_t start, end;
	uint64_t offset, inode;
	uint32_t major, minor;
	/* private, without a file, readable and writable, not the program's first stack */
	bool plain;
	/* readable and writable, shared with other mappings of the file */
	bool shared;
};

/*
 * In the order of addresses, until @look returns false. False: the mappings can't be read. Takes no
 * lock of the driver's; but fopen() and fgets() allocate, and take libc's locks. A child of fork()
 * calls it, too, in pages.c's handler: glibc has made these locks usable by then.
 */
bool maps_each(bool (*look)(const struct mapping *m, void *arg), void *arg);
/*
 * All of it is plain, and it has nothing of any thread's stack, control block or errno, also not of
 * the calling thread's.
 */
bool maps_plain(const uint8_t *at, size_t bytes);
/* This process has one thread. */
bool maps_alone(void);

/* ------------------------------------------------------------------ pages.c */

/*
 * What happens to other threads that write to a page while it is replaced; during pages_back() also
 * to those that read it. NONE: replace nothing. USER: the thread waits, but a system call fails
 * with EFAULT. WHOLE: the system call waits, too. ALONE: there is no other thread. From worse to
 * better: register.c compares them.
 */
enum pages_means { MEANS_NONE, MEANS_USER, MEANS_WHOLE, MEANS_ALONE };
enum pages_means pages_means(void);

struct pages {
	uint8_t *at;
	size_t bytes;
	/* the new mapping; pages_back() looks which parts are still it */
	struct mapping of;
	uint8_t *source; /* a second mapping of the new memory */
	struct pages *next;
};

/*
 * Replace the pages at p->at by @view, a mapping of p->bytes of one file, and keep the contents.
 * The caller has set .at, .bytes and .source, and keeps @p and the file's memory while p->bytes is
 * not 0: until all pages are back, also after a failure here. @view is moved or unmapped in any
 * case. Return whether the pages were replaced.
 */
bool pages_put(struct pages *p, uint8_t *view, enum pages_means means);
/* whether pages_put() replaced the page, for any context */
bool pages_has(const void *at);
/*
 * Replace the pages by anonymous memory with the same contents, but for what the application has
 * mapped there since. False: @p stays in use, some pages could not be replaced, or what is mapped
 * can't be read.
 */
bool pages_back(struct pages *p);

#endif
