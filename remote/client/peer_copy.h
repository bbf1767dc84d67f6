/* SPDX-License-Identifier: MIT */
/* Internal header of the client: calls that involve two servers. */
#ifndef KVGPU_REMOTE_CLIENT_PEER_COPY_H
#define KVGPU_REMOTE_CLIENT_PEER_COPY_H

#include "box.h"

/* ------------------------------------------------------------------ peer_copy.c */

/*
 * Copy contiguous bytes whose ends, of which one may be host memory, and stream belong to
 * several servers. @waits: the program's call is a synchronous one.
 */
CUresult peer_copy_linear(CUdeviceptr dst, enum memory_kind to, CUdeviceptr src,
			  enum memory_kind from, size_t bytes, bool waits, CUstream stream);

/* ------------------------------------------------------------------ peer_via_host.c */

/* *to: the context that has the memory at @at, whose server a call goes to */
CUresult peer_copy_route(CUdeviceptr at, struct route *to);
/*
 * Copy contiguous bytes from one server's memory to another's, in these streams. It waits for the
 * last piece, so that all bytes are at @dst on return.
 */
CUresult peer_copy_in_streams(const struct route *to, uint64_t in_stream, CUdeviceptr dst,
			      const struct route *from, uint64_t out_stream, CUdeviceptr src,
			      uint64_t bytes);
/* The same in streams of the client's own: for cross_fence.c's threads. */
CUresult peer_copy_alone(CUdeviceptr dst, CUdeviceptr src, uint64_t bytes);

/* ------------------------------------- linear_copy.c: a piece of a copy, as a part of all of it */

/* the place of [host, host + bytes) in the arena if the GPU itself can copy there; else NOWHERE */
uint64_t gpu_reaches(struct peer *p, const void *host, uint64_t bytes);
/* @fine: the client knows that the frame is valid, and may queue it */
CUresult piece_send(const struct route *to, struct q_copy_in *q, const void *src, bool fine);
CUresult piece_fetch(const struct route *to, struct q_copy_out *q, void *dst);
/*
 * Copy all of it. @waits: on return the program may use its memory again. With COPY_WHOLE in
 * .flags and without @fine, linear_h2d() returns when the bytes are at .dst.
 */
CUresult linear_h2d(const struct route *to, struct q_copy_in *q, const void *src, bool waits,
		    bool fine);
CUresult linear_d2h(const struct route *to, struct q_copy_out *q, void *dst, bool waits, bool fine);

/* ------------------------------------------ cross_fence.c: streams that wait for another server */

/* in the id of a notification: it is for a cross-server fence */
#define CROSS_FENCE_BIT (1ull << 63)

/* Later work of @stream waits for @event, which is on another server's device. */
CUresult cross_fence_event(CUstream stream, CUevent event, unsigned int flags);
/* Copy after the work that @stream has now. Later work of @stream waits for the copy. */
CUresult cross_fence_copy(CUstream stream, CUdeviceptr dst, CUdeviceptr src, uint64_t bytes);
/* A stream has reached cross-server fence @id. Runs on the reader of @p's channel. */
void cross_fence_notified(struct peer *p, uint64_t id, uint64_t invocation);

/* ------------------------------------------------------------------ helper.c */

/* Take a stream of the client's own in context @ctx, until helper_put(). *stream: 0 on failure. */
CUresult helper_take(const struct route *to, const struct object *ctx, uint64_t *stream);
/* @stream is kept for a later helper_take(), and ends with its context. */
void helper_put(const struct object *ctx, uint64_t context, uint64_t stream);
/* End a stream that may wait for an event, and so must not serve another cross-server fence. */
void helper_drop(const struct route *to, uint64_t stream);

#endif
