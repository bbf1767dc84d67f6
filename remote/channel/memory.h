/* SPDX-License-Identifier: MIT */
/*
 * Memory that processes of one machine share: a memfd, whose descriptor travels over a UNIX socket.
 * It can neither shrink, which would kill the other process, nor grow.
 */
#ifndef KVGPU_REMOTE_MEMORY_H
#define KVGPU_REMOTE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct line;

/* Return a descriptor of @bytes of zeros, sealed; or -errno. */
int memory_make(uint64_t bytes);
/*
 * Send @n bytes with the descriptor, which stays the caller's: 0; -ECONNRESET: not all have gone.
 */
int memory_send(int to, const void *bytes, size_t n, int memory);
/*
 * As line_read(), but @from has no TLS. *memory: a descriptor that came, the caller's then, also
 * after an error; or -1. Over another socket than a UNIX one none comes.
 */
int memory_read(struct line *from, void *bytes, size_t n, int *memory);
/* Check that the memory is sealed, has plain pages, and has @bytes: 0, or -EPROTO and *why. */
int memory_check(int memory, uint64_t bytes, const char **why);
/* Map the memory, for reading and writing; NULL: errno says why. munmap() ends the mapping. */
void *memory_map(int memory, uint64_t bytes);

#endif
