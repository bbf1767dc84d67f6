/* SPDX-License-Identifier: MIT */
/*
 * Calls about two servers, inside of the client: copies between their GPUs, and streams that wait
 * for the other's events.
 */
#ifndef KVGPU_REMOTE_CLIENT_ACROSS_H
#define KVGPU_REMOTE_CLIENT_ACROSS_H

#include "box.h"

/* ------------------------------------------------------------------ across.c */

/* A copy of one line, whose ends and stream are not all of one server. @waits: its call does. */
CUresult across_line(CUdeviceptr dst, enum side_of to, CUdeviceptr src, enum side_of from,
		     size_t bytes, bool waits, CUstream stream);
/* In streams of the client's own, which wait for no other stream; waits for the end. */
CUresult across_carry(CUdeviceptr dst, CUdeviceptr src, uint64_t bytes);

/* ----------------------------------------------- copy.c: a piece of a line, as part of its copy */

/* @fine: nothing can be wrong with it, so that it is queued */
CUresult piece_send(const struct route *to, struct q_copy_in *q, const void *src, bool fine);
CUresult piece_fetch(const struct route *to, struct q_copy_out *q, void *dst);
/* all of it, with what @q has of address, stream and bytes; @waits: it is over then */
CUresult line_in(const struct route *to, struct q_copy_in *q, const void *src, bool waits,
		 bool fine);
CUresult line_out(const struct route *to, struct q_copy_out *q, void *dst, bool waits, bool fine);

/* ------------------------------------------ gate.c: a stream that waits for something elsewhere */

/* Ids of events that are a gate's, not a function's of the program. */
#define GATE_BIT	(1ull << 63)

/* What the stream does from now on comes after the event, of another server's device. */
CUresult gate_event(CUstream stream, CUevent event, unsigned int flags);
/* ... after that copy, which comes after what it has done until now. */
CUresult gate_copy(CUstream stream, CUdeviceptr dst, CUdeviceptr src, uint64_t bytes);
/* on a thread of the channel's */
void gate_happened(struct peer *p, uint64_t id, uint64_t invocation);

/*
 * A stream of the client's own in that context, nobody else's until it is given back; 0: there is
 * none.
 */
uint64_t helper_take(const struct route *to, const struct object *ctx);
void helper_put(const struct object *ctx, uint64_t context, uint64_t stream);

#endif
