/* SPDX-License-Identifier: MIT */
/* Inside of the gate: what work.c, held.c and gate.c have in common. */
#ifndef KVGPU_REMOTE_GATE_H
#define KVGPU_REMOTE_GATE_H

#include <time.h>

#include "server.h"

#define US		1000ull
#define MS		1000000ull
#define BATCH_NS	(500 * US)
#define LINGER_NS	(200 * US)	/* a turn is kept so long for more work to come */
/* without a frame for so long: is the GPU idle? And longer and longer, up to */
#define QUIET_NS	(2 * MS)
#define QUIET_MAX_NS	(20 * MS)
#define SPIN_NS		(50 * US)
#define LOOK_NS		(20 * US)
/* for a turn, between looks for frames; and longer and longer, up to */
#define SLEEP_NS	(200 * US)
#define SLEEP_MAX_NS	(2 * MS)

enum {
	BATCHES = 2,
	STREAMS = 16,
	WORK_MOST = 256,
	ORPHANS = 64,
	HELD_MAX = 256,
	HELD_BYTES = 1 << 20
};

struct batch {
	CUevent events[STREAMS];
	unsigned int nr, work;
};

struct held {
	struct held *next;
	struct kvgpu_remote_head head;
	uint64_t payload[];
};

struct gate {
	struct door *door;
	int bell;
	/* the turn that we have, or 0; the last one that was given back */
	uint32_t turn, gave;
	uint64_t turn_used;		/* GPU time in it */
	/*
	 * what was submitted in it, since it was all through: in one context, timed from an event
	 * before it
	 */
	uint64_t context;
	CUevent begin;
	bool begun;
	uint64_t begun_ns, measured;
	/* up to when this turn's time is accounted, if nothing is begun; 0: nothing was */
	uint64_t ended_ns;
	struct batch batches[BATCHES];
	unsigned int first, nr;
	/* what has no events behind it yet */
	uint64_t streams[STREAMS];
	unsigned int nr_streams, work, most;
	uint64_t through_ns;		/* since when nothing is under way; 0: something is */
	/* streams that were destroyed with work in them */
	struct orphan {
		uint64_t context;
		CUevent event;
	} orphans[ORPHANS];
	unsigned int nr_orphans, captures;	/* how many captures were begun and not ended */
	/* frames that wait */
	struct held *held, **last;
	unsigned int nr_held;
	uint64_t held_bytes, reads_in;	/* the context of what is read now */
	bool pieces;			/* one of them may lie in the arena */
	bool came;			/* one just now: there may be more */
	uint64_t sleep_ns, quiet_ns, look_ns;
	uint64_t spin_ns;		/* since when a batch is waited for */
};

static inline uint64_t gate_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline uint32_t see(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void tell(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------ gate.c: turns */

void gate_ring(struct gate *g);
/* whether work may be submitted now; if not, a turn is asked for, or the one under way goes on */
bool gate_opens(struct server *s);
void gate_give_back(struct server *s);

/* ------------------------------------------------------------------ work.c: what is under way */

/* what is submitted from now on is timed */
void work_begin(struct server *s);
/* its events are needed no more: all is through, or nobody waits for it any more */
void work_end(struct server *s);
/* a piece of work was submitted in a turn, by this frame */
void work_submitted(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
/* events behind all that was submitted last */
void work_close(struct server *s);
/* what is through is accounted */
void work_look(struct server *s);
/* work that no turn accounts for: now and then, and more and more seldom while it is there */
void work_look_whether_idle(struct server *s);
/* the stream is about to be destroyed, and its work may go on without it */
void work_stream_ends(struct server *s, uint64_t id);
/*
 * The stream is about to capture: it can't be asked any more whether what it has is through. 0: the
 * null stream.
 */
void work_stream_hides(struct server *s, uint64_t id);

#endif
