/* SPDX-License-Identifier: MIT */
/* quota.c, tiles.c: device memory of the client */
#ifndef KVGPU_REMOTE_SERVER_QUOTA_H
#define KVGPU_REMOTE_SERVER_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;
struct entry;

struct quota {
	struct charge *charges;
	unsigned int nr_charges, max_charges;
	uint64_t charged;
	bool refused; /* in the frame that is served */
	/* shared with other programs of the same client; NULL: there are none */
	struct pool *pool;
	unsigned int program, nr_programs; /* this program's row in the pool; number of rows */
};

/* the quota is charged in multiples of so many bytes */
enum { QUOTA_UNIT = 512 };

/* How much the client may have, all its programs together; 0: there is no limit, then or ever. */
uint64_t quota_limit(const struct server *s);
/* How much more the client may have; UINT64_MAX: there is no limit. */
uint64_t quota_left(const struct server *s);
/*
 * Take @bytes from the quota before an allocation; then call quota_charge(), add them to .charged
 * of the object's entry, or call quota_give(). False: there is not so much left.
 */
bool quota_take(struct server *s, uint64_t bytes);
void quota_give(struct server *s, uint64_t bytes);
/* Charge @bytes that the library has already and keeps, whatever is left. */
void quota_exceed(struct server *s, uint64_t bytes);
/*
 * The allocation for which @bytes were taken lies at @ptr. False: out of memory, and the bytes were
 * given back.
 */
bool quota_charge(struct server *s, uint64_t ptr, uint64_t bytes);
void quota_return(struct server *s, uint64_t ptr);
/*
 * Note that an allocation lies at @ptr which belongs to no context, and whose bytes are charged
 * elsewhere, until quota_return(). False: out of memory.
 */
bool quota_note(struct server *s, uint64_t ptr);
/* Whether an allocation that was charged or noted begins at @ptr; *bytes: charged for it. */
bool quota_find(const struct server *s, uint64_t ptr, uint64_t *bytes);
void quota_return_context(struct server *s, uint64_t context);

/*
 * Around each operation that may take device memory (`takes` in cuda/api/api.def), and around a
 * launch whose function's or executable graph's entry is not .launched. take_begin() waits while
 * another client wakes, for which the first process has counted what is free; that bounds the wait.
 */
void take_begin(struct server *s);
void take_end(struct server *s);
/*
 * take_end() behind such a launch: now the library has what it needs for it. Not so if the launch
 * has failed, or was captured, or graphs may allocate, which they do anew with each launch.
 */
void take_ends_launch(struct server *s, struct entry *e, CUresult r);

/*
 * How much device memory an array takes, with its @levels (1: it is no mipmapped array).
 * UINT64_MAX: more than any array can have.
 */
uint64_t array_takes(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels);

#endif
