/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the peer: look for a while, then sleep. A doorbell is a word in shared memory, on
 * which one thread sleeps, and a carrier that wakes that thread. Each side has a struct
 * kvgpu_doorbell of its own.
 *
 * The peer may write anything to the word, so the word is only a hint. A sleeper looks again after
 * a time of its own, also if the peer does not ring.
 */
#ifndef KVGPU_REMOTE_RING_DOORBELL_H
#define KVGPU_REMOTE_RING_DOORBELL_H

#include <stdbool.h>
#include <stdint.h>

#define KVGPU_FOREVER UINT64_MAX

enum kvgpu_sleep {
	KVGPU_SLEEP_LOOK, /* woken, or the time is over, or for no reason at all: look again */
	KVGPU_SLEEP_GONE, /* the peer has ended */
};

/*
 * A carrier. @ctx: kvgpu_doorbell.ctx. @word: kvgpu_doorbell.word.
 *
 * sleep() blocks for at most @ns, and returns early when it was woken. It must not miss a wake()
 * that came after the word was set, also if that came before sleep() was called. The carrier either
 * remembers a wake (a socket), or refuses to sleep when the word is no longer 1 (a futex): the
 * ringer clears it first. wake() never blocks; its failure is not reported.
 */
struct kvgpu_doorbell_ops {
	enum kvgpu_sleep (*sleep)(void *ctx, uint32_t *word, uint64_t ns);
	void (*wake)(void *ctx, uint32_t *word);
};

/* settings */
struct kvgpu_wait_times {
	/*
	 * about how long to look before the first sleep; after a short sleep up to
	 * KVGPU_SPIN_GROWS times as long; 0: not at all; from KVGPU_SPIN_ALWAYS on also while
	 * other threads want the CPU
	 */
	uint64_t spin_ns;
	uint64_t sleep_ns; /* the longest sleep before the next look; not 0 */
};

enum { KVGPU_SPIN_GROWS = 8, KVGPU_SPIN_ALWAYS = 1000 * 1000 * 1000 };
/* .spin_ns of a shmem region by default; .sleep_ns in tests and the benchmark */
enum { KVGPU_SPIN_NS = 50 * 1000, KVGPU_SLEEP_NS = 100 * 1000 * 1000 };

/* The ringer uses .word, .ops, .ctx and .wakes of its struct alone; the sleeper all but .wakes. */
struct kvgpu_doorbell {
	uint32_t *word; /* in shared memory */
	const struct kvgpu_doorbell_ops *ops;
	void *ctx; /* for the ops */
	struct kvgpu_wait_times times; /* settings of the sleeper */
	uint64_t window_ns; /* how long the sleeper looks at present, if above spin_ns */
	unsigned int crowded; /* so many next waits don't look: other threads want this CPU */
	/* time spent with looking, with the CPU and without it, since the two were compared last */
	uint64_t looked_ns, lost_ns;
	uint64_t spins; /* waits that looked */
	/* waits that set the word in order to sleep */
	uint64_t waits;
	uint64_t sleeps; /* calls of .sleep() */
	uint64_t wakes; /* calls of .wake() */
};

enum kvgpu_wait {
	KVGPU_WAIT_READY,
	KVGPU_WAIT_TIMEOUT,
	KVGPU_WAIT_GONE, /* the peer has ended, and left nothing to be ready for */
};

/*
 * Wait until @ready(@arg), which looks at what the peer publishes, returns true; for at most
 * @timeout_ns, or KVGPU_FOREVER. One thread at a time waits on a doorbell; it may wait for several
 * things, if the publisher of each rings. With KVGPU_FOREVER a wait in vain ends only when the
 * carrier notices the peer's end.
 */
enum kvgpu_wait kvgpu_doorbell_wait(struct kvgpu_doorbell *b, bool (*ready)(void *arg), void *arg,
				    uint64_t timeout_ns);

/*
 * Call after something was published; one thread at a time for @b. Wake the sleeper if there is
 * one, else don't call into the kernel.
 */
void kvgpu_doorbell_ring(struct kvgpu_doorbell *b);

#endif
