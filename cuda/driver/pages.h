/* SPDX-License-Identifier: MIT */
/*
 * Memory of this process, page by page: what is mapped where, and how to replace pages by other
 * memory with the same contents. Addresses and sizes are whole pages.
 *
 * pages.c has a lock of its own for the list of all struct pages. It is taken inside of a context's
 * lock, and held across fork(): no page is replaced then. The caller works on one struct pages with
 * one thread at a time (register.c: with the context's lock). All else here needs no lock.
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
	/* private, without a file, readable and writable, not the first thread's stack */
	bool plain;
	/* readable and writable, shared with other mappings of the file */
	bool shared;
};

/*
 * Call @look for each mapping in the order of addresses, until @look returns false. False: the
 * mappings can't be read.
 */
bool maps_each(bool (*look)(const struct mapping *m, void *arg), void *arg);
/*
 * Whether all of it is plain, and no thread's stack is in it. The calling thread's own stack
 * counts, too.
 */
bool maps_plain(const uint8_t *at, size_t bytes);
bool maps_alone(void);			/* no other thread is in this process */

/* ------------------------------------------------------------------ pages.c */

/*
 * What other threads' writes do while pages_put() or pages_back() replaces a page. NONE:
 * userfaultfd can't be had, replace nothing. USER: a thread that touches the page waits; a system
 * call that writes there fails with EFAULT (during pages_back() also one that reads). WHOLE: the
 * system call waits, too. ALONE: the process has no other thread.
 */
enum pages_means { MEANS_NONE, MEANS_USER, MEANS_WHOLE, MEANS_ALONE };
enum pages_means pages_means(void);

/* pages of this process that other memory replaces */
struct pages {
	uint8_t *at;
	size_t bytes;
	/* the new mapping when it was put there; pages_back() looks which parts are still it */
	struct mapping of;
	uint8_t *source;		/* a second mapping of the new memory */
	struct pages *next;
};

/*
 * Replace the pages at p->at by @view, a mapping of p->bytes of one file, and keep the contents.
 * The caller has filled in .at, .bytes and .source. Keep @p and the file's memory while p->bytes is
 * not 0. pages_back() sets it to 0 when all pages are back. A failure of pages_put() does, too,
 * unless pages that were replaced could not be put back. @view is moved or unmapped in any case.
 * Return whether the pages were replaced.
 */
bool pages_put(struct pages *p, uint8_t *view, enum pages_means means);
/* whether pages_put() replaced the page of @at, for any context */
bool pages_has(const void *at);
/*
 * Replace the pages of @p by anonymous memory with the same contents. Leave what the application
 * has mapped there since. False: some pages of @p could not be replaced, or what is mapped there
 * can't be read, and @p stays in use.
 */
bool pages_back(struct pages *p);

#endif
