/* SPDX-License-Identifier: MIT */
/*
 * How much device memory each program of one client has: memory that the processes serving them
 * share, so that one quota holds for all of them. The first process makes it and strikes out what a
 * process had that has ended; it never takes the lock, and believes nothing that stands there.
 */
#ifndef KVGPU_REMOTE_POOL_H
#define KVGPU_REMOTE_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct pool;

/* Room for @programs rows, in memory whose size is fixed from then on: a descriptor, or -errno. */
int pool_make(unsigned int programs);
/* What @fd refers to, or NULL. @fd stays the caller's. */
struct pool *pool_map(int fd, unsigned int programs);
void pool_unmap(struct pool *p, unsigned int programs);
/* No later fork() of this process's has it; who gets @fd does. */
void pool_keep(struct pool *p, unsigned int programs);
/* The process of @row has ended. */
void pool_clear(struct pool *p, unsigned int row);
/*
 * Sets @row to @bytes if all rows together are no more than @limit then. A waiting process that was
 * killed stops nobody.
 */
bool pool_take(struct pool *p, unsigned int programs, unsigned int row, uint64_t bytes,
	       uint64_t limit);
/* @row has @bytes now, which is less than before. */
void pool_give(struct pool *p, unsigned int row, uint64_t bytes);
/* What all rows but @row have. */
uint64_t pool_others(const struct pool *p, unsigned int programs, unsigned int row);

#endif
