/* SPDX-License-Identifier: MIT */
/* trace.c: what the client has the GPU do, with times, for as long as the first process says */
#ifndef KVGPU_REMOTE_SERVER_TRACE_H
#define KVGPU_REMOTE_SERVER_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace_shared.h"

struct server;

struct tracing {
	struct trace_shared *shared; /* NULL: this process is never traced */
	char *text; /* TRACE_ROOM bytes for lines */
	struct trace *run; /* the trace under way, or NULL */
};

/* @shared, @text: as the first process made them */
void trace_begin(struct server *s, struct trace_shared *shared, char *text);
/*
 * Between two frames, if an order may have come or a trace is under way: begin one, go on with it,
 * end it. Returns whether one is under way.
 */
bool trace_look(struct server *s);
/* whether @order, of struct sleep_shared, is none to sleep */
bool trace_rings(const struct server *s, uint32_t order);
/* End the trace, if there is one: what is not done yet is told so. */
void trace_end(struct server *s, enum trace_state why);

#endif
