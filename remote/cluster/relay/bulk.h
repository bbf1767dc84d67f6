/* SPDX-License-Identifier: MIT */
/*
 * Pieces of a tunnel's arena, one direction, as messages of their own: MPI sends from the arena and
 * receives into it. Requests are persistent, one for each place and length, and kept until others
 * need the room.
 */
#ifndef KVGPU_CLUSTER_BULK_H
#define KVGPU_CLUSTER_BULK_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "message.h"
#include "tags.h"

enum { BULK_LOG_SETS = 10, BULK_SETS = 1 << BULK_LOG_SETS, BULK_WAYS = 4, BULK_JOBS = 64 };

struct chunk {
	uint64_t at;
	uint32_t bytes; /* 0: there is no request */
	int rank, tag;
	bool busy;
	MPI_Request made;
};

struct bulk {
	bool out;
	int rank, tag;
	unsigned int window; /* messages under way at most */
	uint8_t *arena;
	struct chunk *table; /* BULK_SETS sets of BULK_WAYS each */
	struct chunk *active[SLOTS_MAX];
	uint64_t queued, started, done; /* counts of chunks */
	struct {
		uint64_t at, left;
		uint32_t chunk;
	} job[BULK_JOBS];
	unsigned int first_job, nr_jobs;
	unsigned int victim;
	uint64_t made; /* requests made */
};

/* make the bulk of one direction; false: out of memory */
bool bulk_begin(struct bulk *b, bool out, int rank, int tag, unsigned int window, uint8_t *arena);
bool bulk_has_room(const struct bulk *b);
/*
 * Queue [@at, @at + @bytes) of the arena, which the caller has checked, in messages of @chunk
 * bytes. Call only if bulk_has_room(). The piece is done when b->done has come to the returned
 * number.
 */
uint64_t bulk_add(struct bulk *b, uint64_t at, uint64_t bytes, uint32_t chunk);
/*
 * The request for that place, length, rank and tag, made if it is new: not started, and not busy.
 * NULL and *r MPI_SUCCESS: no request can be made until another one is over.
 */
struct chunk *bulk_find(struct bulk *b, int rank, int tag, uint64_t at, uint32_t bytes, int *r);
/*
 * Move what can be moved. MPI_SUCCESS, or MPI's error; MPI_ERR_COUNT: a message of another length
 * came.
 */
int bulk_go(struct bulk *b, bool *moved);
static inline bool bulk_is_idle(const struct bulk *b)
{
	return b->done == b->queued;
}
/* Free the requests, when none is under way. */
void bulk_end(struct bulk *b);

#endif
