/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two threads of remote/ring on a machine whose stores become visible late, and a search through
 * every order in which things can happen there. A thread runs calls of remote/ring, one after the
 * other, as the test's program for the thread says. It stops at each load, at each call into the
 * kernel, and at a fence behind stores that are not visible yet. The search then continues with
 * each thing that could happen next. A store goes into the thread's own store buffer: the thread's
 * later loads see it, the other thread does not. In the order TSO stores leave the buffer first in,
 * first out, as on x86. In the order WEAK a store may overtake stores to other places, but no store
 * that is before a release store is overtaken by it. (Loads are done in the order of the program.
 * Whether they are declared as that order needs is the thread sanitizer's task.) A thread's state
 * is its state at the begin of the current call, and what it has read since. So a step repeats the
 * call up to where it stopped. A state that was there before is not searched again.
 */
#ifndef KVGPU_RING_MACHINE_H
#define KVGPU_RING_MACHINE_H

#include <stdbool.h>

#include "remote/ring/completion.h"
#include "remote/ring/ring.h"

enum order { TSO, WEAK };
enum carrier { FUTEX, SOCKET };

/* the sleeper whose peer has crashed is told so, or sleeps until its time is over */
enum after_crash { TOLD, TIME_OUT };

/* mutations: the machine or remote/ring is wrong in one way, which the search has to find */
enum wrong {
	NOTHING_WRONG,
	NO_FENCE_ASLEEP, /* the fence of the side that goes to sleep does nothing */
	NO_FENCE_RINGING, /* the fence of the side that rings does nothing */
	NO_RELEASE, /* release stores are like other stores */
	NO_CLEAR, /* the side that rings does not clear the word */
	/* the sleeper does not look behind its fence for what was published before */
	NO_RECHECK,
};

struct plan {
	const char *name;
	uint32_t slots;
	unsigned int nr_frames;
	uint32_t len[4]; /* of payload */
	bool asks; /* each frame is answered before the next one */
	bool in_one_go; /* no notify before the last frame, except in waits for room */
	enum order order;
	enum carrier carrier;
	unsigned int crashes; /* number of threads that may crash, at any step */
	enum after_crash after_crash;
	unsigned int early; /* number of sleeps of each thread that may end without a reason */
	enum wrong wrong;
};

enum finding {
	FINE,
	STUCK, /* nothing can happen any more, and a thread has not ended */
	/* a frame or an answer that was not sent, or another status than an honest peer gives */
	CORRUPT,
	LOST, /* a side gave up without what was published for it */
	TOO_MUCH, /* the machine has no room for what happened */
};

struct search {
	unsigned long states, steps, ends;
	enum finding finding;
	/*
	 * The steps up to the finding. P, C: a step of the producer, of the consumer. p, c: a store
	 * of that side becomes visible. X, Y: that side crashes. e: a sleep ends early.
	 */
	char path[512];
};

/* Searches all that can happen by @plan, up to the first finding. */
void search(const struct plan *plan, struct search *s);

#endif
