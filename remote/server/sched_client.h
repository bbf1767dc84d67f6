/* SPDX-License-Identifier: MIT */
/* Internal header of the scheduler's client, for sched_batches.c, deferred.c and sched_client.c. */
#ifndef KVGPU_REMOTE_SCHED_CLIENT_H
#define KVGPU_REMOTE_SCHED_CLIENT_H

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

#define US	  1000ull
#define MS	  1000000ull
#define BATCH_NS  (500 * US)
#define LINGER_NS (200 * US) /* a turn is kept so long for more work to come */
/* the pause before asking whether the GPU is idle; it doubles, up to QUIET_MAX_NS */
#define QUIET_NS     (2 * MS)
#define QUIET_MAX_NS (20 * MS)
/*
 * how often to look at work under way: without a pause for SPIN_NS after a batch was closed or has
 * ended, then after pauses of LOOK_NS
 */
#define SPIN_NS (50 * US)
#define LOOK_NS (20 * US)
/* a sleep while waiting for a turn; it doubles, up to SLEEP_MAX_NS */
#define SLEEP_NS     (200 * US)
#define SLEEP_MAX_NS (2 * MS)

enum {
	BATCHES = 2, /* under way at most */
	STREAMS = 16, /* with work in one batch */
	WORK_MOST = 256, /* pieces of work in one batch */
	ORPHANS = 64,
	/* with so many frames deferred, or so many bytes of them, no further frame is read */
	DEFERRED_MAX = 256,
	DEFERRED_BYTES = 1 << 20
};

/* .work pieces of work of a turn, and events behind them in their streams */
struct batch {
	CUevent events[STREAMS];
	unsigned int nr, work;
};

/* a frame that waits */
struct deferred_frame {
	struct deferred_frame *next;
	struct kvgpu_remote_head head;
	uint64_t payload[];
};

/* the serving thread's; the words of .shared are shared with the arbiter */
struct sched_client {
	struct sched_shared *shared;
	int doorbell; /* descriptor: a write rings the arbiter */
	/* the turn that this process has, or 0; the last turn that it gave back */
	uint32_t turn, gave;
	uint64_t turn_used; /* GPU time in this turn, ns */
	bool untracked; /* there may be work on the GPU that no turn accounts for */
	/* the segment: what was submitted in this turn in one context, behind the event .begin */
	uint64_t context;
	CUevent begin;
	bool begun;
	/* when the segment began; how much of the time since then is accounted */
	uint64_t begun_ns, measured;
	/* .measured has time by the clock, so the next batch seems shorter than it was */
	bool clocked;
	/*
	 * if no segment has begun: up to when this turn's time is accounted; 0: no segment was
	 * there
	 */
	uint64_t ended_ns;
	/* batches under way: .nr from index .first on */
	struct batch batches[BATCHES];
	unsigned int first, nr;
	/*
	 * work that has no events behind it yet: its streams, and its pieces; .most of them fill a
	 * batch
	 */
	uint64_t streams[STREAMS];
	unsigned int nr_streams, work, most;
	uint64_t through_ns; /* since when no work is under way; or 0 */
	bool beside; /* sched_beside_ends() is still to come, and charges */
	/*
	 * events behind the work of streams that can't be asked any more: destroyed, or in a
	 * capture
	 */
	struct orphan {
		uint64_t context;
		CUevent event;
	} orphans[ORPHANS];
	unsigned int nr_orphans, captures; /* captures: begun and not ended */
	/* frames that wait for a turn, or behind such a frame */
	struct deferred_frame *deferred, **last;
	unsigned int nr_deferred;
	/* reads_in: the context of the last deferred frame; frames that pass by are served in it */
	uint64_t deferred_bytes, reads_in;
	bool pieces; /* a deferred frame may use a piece of the arena */
	bool came; /* the last look for a frame found one */
	/*
	 * the next sleep while waiting for a turn; the pause between questions whether the GPU is
	 * idle; when the next question is due, 0: not fixed yet
	 */
	uint64_t sleep_ns, quiet_ns, look_ns;
	uint64_t spin_ns; /* when a batch was closed or has ended last */
};

static inline uint64_t sched_now(void)
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

/* a full pipe wakes the arbiter, too */
static inline void sched_ring(struct sched_client *g)
{
	ssize_t n;

	do {
		n = write(g->doorbell, "", 1);
	} while (n < 0 && errno == EINTR);
}

/* ------------------------------------------------------------------ sched_client.c: turns */

/* Whether work may be submitted now. Asks for a turn where one is needed. */
bool sched_may_submit(struct server *s);
void sched_give_back(struct server *s);

/* -------------------------------------------------------------- sched_batches.c: work under way */

void work_begin(struct server *s);
/* end the segment, and free its events */
void work_end(struct server *s);
/* frame @h has submitted a piece of work in a turn */
void work_submitted(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
/* close a batch: record events behind the work that has none */
void work_close(struct server *s);
void work_poll(struct server *s);
/* Look whether work that no turn accounts for is done, now and then. */
void work_poll_idle(struct server *s);
/* stream @id is about to be destroyed, and its work may go on without it */
void work_stream_ends(struct server *s, uint64_t id);
/*
 * Stream @id, or the null stream (0), is about to capture: afterwards it can't be asked whether its
 * work is done.
 */
void work_stream_hides(struct server *s, uint64_t id);

#endif
