/* SPDX-License-Identifier: MIT */
/* sleep.c: the client's device memory goes to memory of this process, and comes back */
#ifndef KVGPU_REMOTE_SERVER_SLEEP_H
#define KVGPU_REMOTE_SERVER_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/wire/frame.h>

#include "sleep_shared.h"

struct server;

struct sleeping {
	/* NULL: nobody orders; .heard: .words->order that needs no look */
	struct sleep_shared *words;
	uint32_t heard;
	struct sleep_shared *shared; /* .words; NULL: this process is never put to sleep */
	uint32_t wakes; /* .shared->wakes as it was seen last */
	uint64_t until_ns; /* an order is tried until then; 0: there is none */
};

/*
 * how long a process without work waits before it looks for an order, us; and how often it looks
 * whether it may wake
 */
enum { SLEEP_LOOK_US = 500000, SLEEP_WAKE_LOOK_US = 20000 };

/* After the library was loaded. @shared: as the first process made it. */
void sleep_begin(struct server *s, struct sleep_shared *shared);
/*
 * Between two frames. Carry out an order to sleep, if it can be now; try again at the next call if
 * not. Go on with a trace (trace.c). While the process is asleep, wait for a frame or for an order
 * to wake, wake, and return as kvgpu_remote_next() does, with the frame. -EAGAIN: it is not asleep,
 * and there is no frame yet.
 */
int sleep_look(struct server *s, struct kvgpu_remote_head *h, const void **payload);
/*
 * The library had no room for a call. Ask the first process to put others to sleep, and wait for
 * its answer. True: there may be room now.
 */
bool sleep_make_room(struct server *s);

#endif
