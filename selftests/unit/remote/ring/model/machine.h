/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two threads of remote/ring on a machine whose stores become visible late, and every order in
 * which things can happen there.
 *
 * A thread runs calls of the room, one after the other, as the test's program for it says. At each
 * access that others can tell, it stops; the search then goes on with each thing that could happen
 * next. A store goes into the thread's own store buffer, which its later loads see and others do
 * not; that it leaves the buffer is a step of its own. In the order TSO it does so first in, first
 * out, as on x86; in the order WEAK any store to another place may overtake, but nothing that is
 * before a release store is overtaken by it. (Loads are done in the order of the program. Whether
 * they are declared as the order needs is for the thread sanitizer to say.)
 *
 * A thread's state is what it had when its current call began and what it has read since, so a step
 * repeats the call up to where it was. That makes a state plain data, and one that was there before
 * is not searched again.
 */
#ifndef KVGPU_RING_MACHINE_H
#define KVGPU_RING_MACHINE_H

#include <stdbool.h>

#include "remote/ring/box.h"
#include "remote/ring/ring.h"

enum order { TSO, WEAK };
enum carrier { FUTEX, SOCKET };

/* what happens to a sleeper whose peer has crashed */
enum after_crash { TOLD, TIME_OUT };

/* mutations: the machine, or the room on it, is wrong in one way; the search has to find it */
enum wrong {
	NOTHING_WRONG,
	NO_FENCE_ASLEEP,	/* the fence of who goes to sleep does nothing */
	NO_FENCE_RINGING,	/* the fence of who rings */
	NO_RELEASE,		/* release stores are like others */
	NO_CLEAR,		/* who rings leaves the word as it is */
	/* what was published before the fence is not looked for behind it */
	NO_RECHECK,
};

struct plan {
	const char *name;
	uint32_t slots;
	unsigned int nr_frames;
	uint32_t len[4];	/* of payload */
	bool asks;		/* each frame is answered before the next one */
	bool in_one_go;		/* notify once, behind the last frame */
	enum order order;
	enum carrier carrier;
	unsigned int crashes;	/* how many threads may crash, anywhere */
	enum after_crash after_crash;
	unsigned int early;	/* sleeps of each thread that may end for no reason */
	enum wrong wrong;
};

enum finding {
	FINE,
	STUCK,			/* nothing can happen any more, and a thread has not ended */
	/* a frame or an answer that was not sent, or another status than an honest peer gives */
	CORRUPT,
	LOST,			/* a crash took what was published before it, or made more of it */
	TOO_MUCH,		/* of what the machine has room for */
};

struct search {
	unsigned long states, steps, ends;
	enum finding finding;
	/*
	 * to the finding: P, C step; p, c a store of theirs gets visible; X, Y they crash; e a
	 * sleep ends early
	 */
	char path[512];
};

/* everything that can happen by @plan, or the first finding */
void search(const struct plan *plan, struct search *s);

#endif
