/* SPDX-License-Identifier: MIT */
/*
 * What a client's process (trace.c) and the first process (../supervisor/trace.c) tell each other
 * about a trace of the client. Each word is atomic, and one side writes it. The lines of the trace
 * lie behind the page that has these words.
 */
#ifndef KVGPU_REMOTE_TRACE_SHARED_H
#define KVGPU_REMOTE_TRACE_SHARED_H

#include <stdint.h>

enum { TRACE_ROOM = 4 << 20, TRACE_MS_MAX = 60000 };

enum trace_state {
	TRACE_NONE,
	TRACE_RUNS,
	TRACE_OVER, /* its time is over */
	TRACE_SLEEPS, /* the client is put to sleep, which ends a trace */
	TRACE_GONE, /* the client has ended its connection */
	NR_TRACE_STATES
};

struct trace_shared {
	/* written by the first process */
	uint32_t order; /* number of the last order to trace */
	uint32_t rung; /* this sleep_shared.order is none to sleep: it has .order looked at */
	uint32_t ms; /* how long */

	/* written by the process */
	uint32_t can __attribute__((aligned(64))); /* it looks at .order */
	uint32_t begun; /* the .order that is, or was, carried out */
	uint32_t state; /* enum trace_state, of that order */
	uint32_t used; /* bytes of lines */
	uint32_t dropped; /* lines for which there was no room */
};

#endif
