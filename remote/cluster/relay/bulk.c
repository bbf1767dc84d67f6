// SPDX-License-Identifier: MIT
#include "bulk.h"

#include <stdlib.h>

bool bulk_begin(struct bulk *b, bool out, int rank, int tag, unsigned int window, uint8_t *arena)
{
	*b = (struct bulk){
		.out = out,
		.rank = rank,
		.tag = tag,
		.window = window,
		.arena = arena,
	};
	b->table = calloc(BULK_SETS * BULK_WAYS, sizeof(*b->table));
	return b->table;
}

bool bulk_has_room(const struct bulk *b)
{
	return b->nr_jobs < BULK_JOBS;
}

uint64_t bulk_add(struct bulk *b, uint64_t at, uint64_t bytes, uint32_t chunk)
{
	unsigned int i = (b->first_job + b->nr_jobs++) % BULK_JOBS;

	b->job[i].at = at;
	b->job[i].left = bytes;
	b->job[i].chunk = chunk;
	b->queued += (bytes + chunk - 1) / chunk;
	return b->queued;
}

/* many places are multiples of large powers of two: the golden ratio spreads them over all sets */
static size_t set_of(int rank, int tag, uint64_t at, uint32_t bytes)
{
	uint64_t all = at / CHUNK_MIN + ((uint64_t)bytes << 32) + ((uint64_t)rank << 52) + tag;

	return (all * 0x9e3779b97f4a7c15) >> (64 - BULK_LOG_SETS);
}

struct chunk *bulk_find(struct bulk *b, int rank, int tag, uint64_t at, uint32_t bytes, int *r)
{
	struct chunk *set = b->table + set_of(rank, tag, at, bytes) * BULK_WAYS, *c = NULL;
	unsigned int i;

	*r = MPI_SUCCESS;
	for (i = 0; i < BULK_WAYS; i++)
		if (!set[i].busy && set[i].at == at && set[i].bytes == bytes &&
		    set[i].rank == rank && set[i].tag == tag)
			return &set[i];
	for (i = 0; i < BULK_WAYS && (!c || c->bytes); i++)
		if (!set[(i + b->victim) % BULK_WAYS].busy)
			c = &set[(i + b->victim) % BULK_WAYS];
	if (!c)
		return NULL;
	b->victim++;
	b->made++;
	if (c->bytes)
		MPI_Request_free(&c->made);
	*c = (struct chunk){ .at = at, .rank = rank, .tag = tag };
	*r = b->out ? MPI_Ssend_init(b->arena + at, bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
				     &c->made) :
		      MPI_Recv_init(b->arena + at, bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
				    &c->made);
	c->bytes = *r == MPI_SUCCESS ? bytes : 0;
	return *r == MPI_SUCCESS ? c : NULL;
}

static int start_some(struct bulk *b, bool *moved)
{
	uint32_t bytes;
	struct chunk *c;
	int r;

	while (b->nr_jobs && b->started - b->done < b->window) {
		bytes = b->job[b->first_job].chunk;
		if (bytes > b->job[b->first_job].left)
			bytes = b->job[b->first_job].left;
		c = bulk_find(b, b->rank, b->tag, b->job[b->first_job].at, bytes, &r);
		if (!c)
			return r;
		r = MPI_Start(&c->made);
		if (r != MPI_SUCCESS)
			return r;
		c->busy = true;
		b->active[b->started++ % SLOTS_MAX] = c;
		b->job[b->first_job].at += bytes;
		b->job[b->first_job].left -= bytes;
		if (!b->job[b->first_job].left) {
			b->first_job = (b->first_job + 1) % BULK_JOBS;
			b->nr_jobs--;
		}
		*moved = true;
	}
	return MPI_SUCCESS;
}

int bulk_go(struct bulk *b, bool *moved)
{
	int r = MPI_SUCCESS, done, got;
	MPI_Status status;
	struct chunk *c;

	while (b->done < b->started) {
		c = b->active[b->done % SLOTS_MAX];
		r = MPI_Test(&c->made, &done, &status);
		if (r != MPI_SUCCESS || !done)
			break;
		if (!b->out && (MPI_Get_count(&status, MPI_BYTE, &got) != MPI_SUCCESS ||
				(uint32_t)got != c->bytes))
			return MPI_ERR_COUNT;
		c->busy = false;
		b->done++;
		*moved = true;
	}
	return r == MPI_SUCCESS ? start_some(b, moved) : r;
}

void bulk_end(struct bulk *b)
{
	unsigned int i;

	for (i = 0; b->table && i < BULK_SETS * BULK_WAYS; i++)
		if (b->table[i].bytes)
			MPI_Request_free(&b->table[i].made);
	free(b->table);
	*b = (struct bulk){ 0 };
}
