/* SPDX-License-Identifier: MIT */
/*
 * Memory of this process, page by page: what is mapped where, and other memory put in its place
 * with the contents kept. Addresses and sizes are whole pages.
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
	/* private, of no file, to read and write, not the first thread's stack */
	bool plain;
	bool shared;			/* to read and write, shared with who else maps the file */
};

/*
 * @look is called for each in the order of their addresses until it says false; false: that can't
 * be read
 */
bool maps_each(bool (*look)(const struct mapping *m, void *arg), void *arg);
/*
 * whether all of it is plain, and none of it a thread's stack. Its own stack and those of running
 * threads count, too
 */
bool maps_plain(const uint8_t *at, size_t bytes);
bool maps_alone(void);			/* no other thread is in this process */

/* ------------------------------------------------------------------ pages.c */

/*
 * How nothing is lost that other threads write meanwhile. USER: they wait where they touch these
 * pages, but a system call of theirs that is to write there (or, when the pages come back, to read)
 * gets EFAULT in those microseconds. WHOLE: it waits, too
 */
enum pages_means { MEANS_NONE, MEANS_USER, MEANS_WHOLE, MEANS_ALONE };
enum pages_means pages_means(void);

/* memory that is in another's place */
struct pages {
	uint8_t *at;
	size_t bytes;
	/* the file's mapping as it was made: tells what there is still ours */
	struct mapping of;
	uint8_t *source;		/* the same bytes elsewhere */
	struct pages *next;
};

/*
 * @view, a mapping of as many bytes of one file, goes to .at, with the contents of what is there;
 * the caller has filled .at, .bytes and .source. @p and the file's memory are needed for as long as
 * .bytes is not 0: until pages_back(), or not any more when this could not be done. Nothing of
 * @view is left where it was. Whether it was done
 */
bool pages_put(struct pages *p, uint8_t *view, enum pages_means means);
bool pages_has(const void *at);		/* any context's */
/*
 * anonymous memory with the contents instead; what the application has mapped there since stays.
 * false: a part of it stays as it was
 */
bool pages_back(struct pages *p);

#endif
