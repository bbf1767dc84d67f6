/* SPDX-License-Identifier: MIT */
/* pinned.c: the arena as the library's pinned memory */
#ifndef KVGPU_REMOTE_SERVER_PINNED_H
#define KVGPU_REMOTE_SERVER_PINNED_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

enum { SPARE_EVENTS = 64 };

struct pinned {
	uint64_t in; /* context in which the shared arena is registered; or 0 */
	bool never; /* registering the arena failed: no copy tries it again */
	bool reads_late; /* the library registers memory, but has no address for it */
	/*
	 * if the arena is not shared: the context in which it is registered for copies of graphs
	 * and mapped memory, or 0
	 */
	uint64_t graphs_in;
	uint64_t graphs_from; /* it is registered from there on: before lies what .ring_in has */
	/*
	 * if the arena is not shared: how many of its first bytes the client wants registered for
	 * its copies, or 0; the context in which they are, or 0
	 */
	uint64_t ring_bytes, ring_in;
	/* where the parts begin that the arena has grown by, each a registration of its own */
	uint64_t *more;
	unsigned int nr_more, max_more;
	bool mapped; /* the client was told that the GPU sees the arena */
	CUdeviceptr device;
	struct noted *noted; /* copies that may go on */
	unsigned int nr_noted, max_noted;
	struct spare { /* unused events */
		uint64_t context;
		CUevent event;
	} spare[SPARE_EVENTS];
	unsigned int nr_spare;
};

/*
 * Register the arena as the library's pinned memory. True: it is: copies from or to it may go on
 * after the library has returned.
 */
bool arena_pinned(struct server *s);
/*
 * The arena has grown from @from on, which is registered if the rest is. False: that fails, or
 * there is no memory: the arena has to be as before.
 */
bool pinned_more(struct server *s, uint64_t from);
/* The last part by which it has grown ends, if it begins at @from; false: it does not. */
bool pinned_less(struct server *s, uint64_t from);
/*
 * Whether a graph's copy reads the arena when the copy runs; registers the arena for that. A
 * library may read other memory when the graph is launched: NVIDIA's does.
 */
bool arena_for_graphs(struct server *s);
/*
 * Whether a piece of an arena that is not shared is registered, as the client has asked. Registers
 * it again if the context has ended in which it was.
 */
bool ring_holds(struct server *s, uint64_t at, uint64_t bytes);
/*
 * The frame that is served began a copy from or to the arena in @stream. Returns the stream's
 * error, or CUDA_SUCCESS. copy_late(): the copy goes on for certain: ring_holds() its piece.
 */
CUresult copy_begun(struct server *s, CUstream stream);
CUresult copy_late(struct server *s, CUstream stream);
/* CUDA_SUCCESS: all noted copies of frames up to @upto are done; else CUDA_ERROR_NOT_READY */
CUresult copies_look(struct server *s, uint64_t upto);
/*
 * Stream number @stream of the current context has done all that it had when @served frames were
 * served, its noted copies, too. 0: no stream.
 */
void copies_ended(struct server *s, uint64_t stream, uint64_t served);
void copies_forget(struct server *s, uint64_t context);
/* Take an event of the current context, without timing. */
CUresult event_take(struct server *s, CUevent *event);
/* Give an event back. @context: the event's, which must be the current one. */
void event_put(struct server *s, uint64_t context, CUevent event);

#endif
