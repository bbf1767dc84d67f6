/* SPDX-License-Identifier: MIT */
/*
 * How much device memory each program of one client has, which process there it is, and what its
 * programs share with each other. It is in memory that the processes serving these programs share;
 * ../supervisor/tenants.c makes it, in a proxy ../cluster/relay/forker.c. Each process writes its
 * own row, on its serving thread, so what pool_others() returns may be old at once. Only
 * pool_take() takes the lock.
 */
#ifndef KVGPU_REMOTE_POOL_H
#define KVGPU_REMOTE_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct pool;

enum { POOL_SHARES = 2048, SHARE_KEY = 64, SHARE_RAW = 64 };
enum share_kind { SHARE_MEMORY = 1, SHARE_EVENT };

/*
 * Memory or an event of a program, for other programs of its client (shares.c). Numbers of programs
 * are rows plus 1 here; 0: none. The owner writes key and raw, then .state.
 */
struct share {
	uint64_t state; /* atomic: SHARE_STATE(); 0: free */
	uint8_t key[SHARE_KEY]; /* what programs call it; begins with 0: nobody had it ever */
	uint8_t raw[SHARE_RAW]; /* what the library calls memory */
	/* of an event, atomic: how many records were made, how many of them have happened */
	uint64_t recorded, happened;
	uint32_t recorder; /* atomic: the program that made the last record */
};
#define SHARE_STATE(kind, program) ((uint64_t)(kind) << 32 | (program))
#define SHARE_PROGRAM(state)	   ((uint32_t)(state))

/* Make memory of fixed size for @programs rows. Return its descriptor, or -errno. */
int pool_make(unsigned int programs);
/* Map the memory of @fd, or return NULL. @fd stays the caller's. */
struct pool *pool_map(int fd, unsigned int programs);
void pool_unmap(struct pool *p, unsigned int programs);
/* Children of a later fork() don't inherit the mapping. */
void pool_keep(struct pool *p, unsigned int programs);
/*
 * For the process that made the memory: the process with @row has ended, and with it what it
 * shared. Events that it recorded have happened.
 */
void pool_clear(struct pool *p, unsigned int row);
/*
 * Set @row to @bytes if the sum of all rows is then at most @limit. A process that is killed in
 * here does not block others. Not for the process that made the memory: a client's process that was
 * taken over can keep the lock.
 */
bool pool_take(struct pool *p, unsigned int programs, unsigned int row, uint64_t bytes,
	       uint64_t limit);
/* Set @row to @bytes, whatever the other rows have: after memory was freed, or without a limit. */
void pool_give(struct pool *p, unsigned int row, uint64_t bytes);
/*
 * The same of host memory that programs have beyond their arenas. pool_unpin() instead of
 * pool_clear(), for it may last longer than its process.
 */
bool pool_pin(struct pool *p, unsigned int programs, unsigned int row, uint64_t bytes,
	      uint64_t limit);
void pool_unpin(struct pool *p, unsigned int row);
/* POOL_SHARES of them */
struct share *pool_shares(struct pool *p);
/* What the program with @row has; the number that it gave its process, 0: none. */
uint64_t pool_bytes(const struct pool *p, unsigned int row);
uint32_t pool_pid(const struct pool *p, unsigned int row);
void pool_set_pid(struct pool *p, unsigned int row, uint32_t pid);
uint64_t pool_others(const struct pool *p, unsigned int programs, unsigned int row);

#endif
