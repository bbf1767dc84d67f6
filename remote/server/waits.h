/* SPDX-License-Identifier: MIT */
/* waits.c: frames that wait for the GPU, without holding up others */
#ifndef KVGPU_REMOTE_SERVER_WAITS_H
#define KVGPU_REMOTE_SERVER_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/wire/frame.h>

#include "library.h"

struct server;

enum { SHOWN_MAX = 16 };

struct waits {
	struct wait *list;
	/*
	 * .served of the last frame with kernels that may have printed what the library still has;
	 * 0: none. .printing_in: the number of the stream that has all of them; 0: there are
	 * several, or it is the null stream
	 */
	uint64_t printing, printing_in;
	bool may_print; /* a module may have kernels that print */
	/*
	 * the event behind a stream's last copy whose marked words came, while it was not seen to
	 * have happened; .served: how many frames were served when they came
	 */
	struct shown {
		uint64_t context, stream, served;
		CUevent event;
	} shown[SHOWN_MAX];
	unsigned int nr_shown;
};

/*
 * Between two frames: look at all waits but those that give bytes of the arena, or end one of
 * these: a piece takes its time on a network, and the next frame is to come before another one.
 * Return whether a wait ended.
 */
bool waits_look(struct server *s);
bool waits_give(struct server *s);
/*
 * The event, or the context, ends: end the waits for that event, or those that began in that
 * context, with an error. Waits for copies go on.
 */
void waits_forget_event(struct server *s, const void *event);
void waits_forget_context(struct server *s, uint64_t context);
/*
 * Whether a frame was put aside by held_by_stream(): its work is still to come, so that
 * sched_client.c keeps the client's turn.
 */
bool waits_aside(const struct server *s);
void waits_free(struct server *s);
/*
 * True: the stream is busy, and the frame is put aside until the stream has done what it has to do
 * now.
 */
bool held_by_stream(struct server *s, CUstream stream);
/* The payload of the frame that was just served, if it was put aside; it stays where it is. */
const void *waits_put_aside(const struct server *s);
/* Whether a frame with that completion slot is still to be answered. */
bool waits_answer_later(const struct server *s, uint16_t completion);
/*
 * True: another program has recorded the event last, and the frame is put aside until that record
 * has happened.
 */
bool held_by_event(struct server *s, CUevent event);
/* The event was recorded in @stream: if it is shared, tell other programs when that happens. */
void event_recorded(struct server *s, CUevent event, CUstream stream);
/* Wait, in the library, until the stream has done all its work. */
CUresult wait_for_stream(struct server *s, CUstream stream);
/*
 * An error if the stream captures: a graph would name the copy's host memory. CUDA_SUCCESS if
 * captures of other streams forbid a copy in the null stream: the copy's call has to return that
 * error.
 */
CUresult may_copy(struct server *s, CUstream stream);
/*
 * True: the frame is answered when the stream has done what it has to do now; the payload is @n
 * bytes at @bytes, which came from readback_take(). @pattern: readback_mark() of them, which was
 * called before their copy was queued; that copy must be the last that the stream has to do. 0: no
 * mark. False: nothing was begun.
 */
bool answer_behind(struct server *s, CUstream stream, void *bytes, uint64_t n, uint32_t pattern);
/*
 * The same without a payload: ahead of the answer the client is given @n bytes at @at of the arena.
 */
bool give_behind(struct server *s, CUstream stream, uint64_t at, uint64_t n);
/* Answer the frame when all copies that copy_begun() noted for frames up to @upto are done. */
CUresult wait_for_copies(struct server *s, uint64_t upto);
/* Frame @h is about to be served: note whether its kernels may print. */
void prints_begin(struct server *s, const struct kvgpu_remote_head *h, const void *payload);

#endif
