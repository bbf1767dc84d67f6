/* SPDX-License-Identifier: MIT */
/* Internal header of the client: copies whose bytes go from one proxy to another. */
#ifndef KVGPU_REMOTE_CLIENT_PEER_DIRECT_H
#define KVGPU_REMOTE_CLIENT_PEER_DIRECT_H

#include "peer_copy.h"

/* whether pieces can go directly from the arena of @from to that of @to */
bool peer_direct_possible(const struct peer *to, const struct peer *from);
/*
 * The result @r of a copy of which pieces were to go directly to @to, from @from. True: they
 * couldn't, though both servers are there: this process has to make the copy anew, and later ones
 * from @from to @to.
 */
bool peer_direct_failed(struct peer *to, const struct peer *from, CUresult r);
/* The size of the pieces of a copy of @bytes from @from to @to. */
uint64_t peer_direct_piece(const struct peer *to, const struct peer *from, uint64_t bytes);
/* what a frame's .fetch names for the piece at @at of @from's arena */
struct kvgpu_remote_source peer_direct_source(const struct peer *from, uint64_t at);
/*
 * Take room for @n pieces in the arena of @p, and up to @n completion slots. Return how many slots;
 * 0 also if there is no room. peer_direct_room_end() gives all back, whatever was returned. @room
 * NOWHERE: keep the room taken, as MPI may still write there after CUDA_ERROR_SYSTEM_NOT_READY.
 */
unsigned int peer_direct_room(struct peer *p, uint64_t piece, unsigned int n,
			      unsigned int *completion, uint64_t *room);
void peer_direct_room_end(struct peer *p, unsigned int n, const unsigned int *completion,
			  uint64_t room);
/*
 * Copy contiguous bytes in these streams, and wait for the end. False: the bytes can't go directly,
 * or are too few: the copy is still to be made. *r: the copy's result.
 */
bool peer_direct_copy(const struct route *to, uint64_t in_stream, CUdeviceptr dst,
		      const struct route *from, uint64_t out_stream, CUdeviceptr src,
		      uint64_t bytes, CUresult *r);

#endif
