/* SPDX-License-Identifier: MIT */
/* Internal header of the client: copies whose bytes go from one proxy to another. */
#ifndef KVGPU_REMOTE_CLIENT_STRAIGHT_H
#define KVGPU_REMOTE_CLIENT_STRAIGHT_H

#include "across.h"

/* whether pieces can go straight from the arena of @from to that of @to */
bool straight_between(const struct peer *to, const struct peer *from);
/*
 * The result @r of a copy of which pieces were to go straight to @to, from @from. True: they
 * couldn't, though both servers are there: this process has to make the copy anew, and later ones
 * from @from to @to.
 */
bool straight_failed(struct peer *to, const struct peer *from, CUresult r);
/* The size of the pieces of a copy of @bytes from @from to @to. */
uint64_t straight_piece(const struct peer *to, const struct peer *from, uint64_t bytes);
/* what a frame's .fetch names for the piece at @at of @from's arena */
struct kvgpu_remote_source straight_source(const struct peer *from, uint64_t at);
/*
 * Take room for @n pieces in the arena of @p, and up to @n completion slots. Return how many slots;
 * 0 also if there is no room. straight_room_end() gives all back, whatever was returned. @room
 * NOWHERE: keep the room taken, as MPI may still write there after CUDA_ERROR_SYSTEM_NOT_READY.
 */
unsigned int straight_room(struct peer *p, uint64_t piece, unsigned int n, unsigned int *completion,
			   uint64_t *room);
void straight_room_end(struct peer *p, unsigned int n, const unsigned int *completion,
		       uint64_t room);
/*
 * Copy a line in these streams, and wait for the end. False: the bytes can't go straight, or are
 * too few: the copy is still to be made. *r: the copy's result.
 */
bool straight_carry(const struct route *to, uint64_t in_stream, CUdeviceptr dst,
		    const struct route *from, uint64_t out_stream, CUdeviceptr src, uint64_t bytes,
		    CUresult *r);

#endif
