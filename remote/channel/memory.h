/* SPDX-License-Identifier: MIT */
/*
 * Memory that processes of one machine share: a memfd, whose descriptor travels over a UNIX socket.
 * It can neither shrink, which would kill the other process, nor grow.
 */
#ifndef KVGPU_REMOTE_MEMORY_H
#define KVGPU_REMOTE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct conn;

/*
 * For a process of ours that makes memory: to Linux it is a file. Raise the limit of files' sizes
 * as far as this process may; what is beyond gives EFBIG, and no signal.
 */
void memory_unlimited(void);
/* What to tell a user whose memory could not be made; @error is positive. */
const char *memory_text(int error);
/* Return a descriptor of @bytes of zeros, sealed; or -errno. */
int memory_make(uint64_t bytes);
/* The same in two steps: memory_begin()'s has no bytes yet; memory_fix() returns 0 or -errno. */
int memory_begin(void);
int memory_fix(int memory, uint64_t bytes);
/* As memory_make(): a copy of @begun, fixed; if that is negative, new memory. */
int memory_of(int begun, uint64_t bytes);
/* Whether pages are in it, whoever touched them. */
bool memory_has_pages(int memory);
/*
 * Give back all pages that are in it. Waits for other callers of fallocate(), ftruncate() and
 * write(), also in other processes. 0 or -errno.
 */
int memory_give_back(int memory);
/*
 * Send @n bytes with the descriptor, which stays the caller's: 0; -ECONNRESET: not all have gone.
 */
int memory_send(int to, const void *bytes, size_t n, int memory);
/*
 * As recv(), but a negative result is -errno, and the peer's end -ECONNRESET. *memory: a descriptor
 * that came with these bytes, the caller's then; or -1: none, or several, which are closed.
 * -EMFILE: one came, and this process may have no more.
 */
ssize_t memory_some(int from, void *bytes, size_t n, int flags, int *memory);
/*
 * As conn_read(), but @from has no TLS. *memory: a descriptor that came, the caller's then, also
 * after an error; or -1. Over another socket than a UNIX one none comes. -EMFILE: one came, and
 * this process may have no more.
 */
int memory_read(struct conn *from, void *bytes, size_t n, int *memory);
/* how many bytes it has; 0: it is no memory */
uint64_t memory_bytes(int memory);
/* Check that the memory is sealed, has plain pages, and has @bytes: 0, or -EPROTO and *why. */
int memory_check(int memory, uint64_t bytes, const char **why);
/*
 * Map the memory, for reading and writing; NULL: errno says why. munmap() ends the mapping. @hint:
 * where it should be, or NULL.
 */
void *memory_map(int memory, uint64_t bytes, void *hint);

#endif
