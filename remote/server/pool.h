/* SPDX-License-Identifier: MIT */
/*
 * How much device memory each program of one client has. It is in memory that the processes serving
 * these programs share; ../starter/tenants.c makes it, in a proxy ../cluster/relay/forker.c. Each
 * process writes its own row, on its serving thread, so what pool_others() returns may be old at
 * once. Only pool_take() takes the lock.
 */
#ifndef KVGPU_REMOTE_POOL_H
#define KVGPU_REMOTE_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct pool;

/* Make memory of fixed size for @programs rows. Return its descriptor, or -errno. */
int pool_make(unsigned int programs);
/* Map the memory of @fd, or return NULL. @fd stays the caller's. */
struct pool *pool_map(int fd, unsigned int programs);
void pool_unmap(struct pool *p, unsigned int programs);
/* Children of a later fork() don't inherit the mapping. */
void pool_keep(struct pool *p, unsigned int programs);
/* For the process that made the memory: the process with @row has ended. */
void pool_clear(struct pool *p, unsigned int row);
/*
 * Set @row to @bytes if the sum of all rows is then at most @limit. A process that is killed in
 * here does not block others. Not for the process that made the memory: a client's process that was
 * taken over can keep the lock.
 */
bool pool_take(struct pool *p, unsigned int programs, unsigned int row, uint64_t bytes,
	       uint64_t limit);
/* Set @row to @bytes, whatever the other rows have: after memory was freed. */
void pool_give(struct pool *p, unsigned int row, uint64_t bytes);
uint64_t pool_others(const struct pool *p, unsigned int programs, unsigned int row);

#endif
