/* SPDX-License-Identifier: MIT */
/*
 * Which clients sleep, which is that their device memory is in host memory, and which of them wake,
 * in which order. Pure: the caller brings the time, the memory and what it sees, calls
 * sleepers_look(), and carries out what that decided.
 *
 * To sleep goes who is told to by an admin; who had no frame for its .idle_ms; and, where
 * .for_memory, the one on a GPU that is idle for longest, when another client of that GPU has no
 * room for an allocation or to wake. Those that wish to wake do so in the order in which they came
 * on each GPU, when it has room. One that found none for long keeps its place, and others may pass
 * it. Until they are awake the other ones take no memory.
 */
#ifndef KVGPU_REMOTE_SLEEPERS_H
#define KVGPU_REMOTE_SLEEPERS_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/server/sleep_shared.h>

enum {
	/* none is put to sleep for another one so soon after it woke */
	SLEEPERS_HOLD_MS = 10000,
	/* nor if it had a frame so lately */
	SLEEPERS_WORK_MS = 1000,
	/* who was refused is tried again after that, but an admin's wish at once */
	SLEEPERS_REFUSED_MS = 60000,
	/* an order to sleep or to wake is given up after so long, and so long for each GiB */
	SLEEPERS_LATE_MS = 60000,
	SLEEPERS_LATE_GIB_MS = 10000,
	/* others go to sleep beside one that has not answered its order after that */
	SLEEPERS_SLOW_MS = 10000,
	SLEEPERS_SLOW_GIB_MS = 250,
	/* a client whose wake has failed is not woken before */
	SLEEPERS_FAILED_MS = 10000,
	/*
	 * nor in so many times as long as that took, and as long as one took that went well, an
	 * hour at most: others take no memory meanwhile
	 */
	SLEEPERS_APART_FAILED = 10,
	SLEEPERS_APART = 4,
	SLEEPERS_APART_MS = 3600000,
	/* one that is the first in line holds up the others behind it no longer than that */
	SLEEPERS_HEAD_MS = 60000,
	/* an allocation waits so long at most; and so long for others that have work now */
	SLEEPERS_LACK_MS = 55000,
	SLEEPERS_PATIENCE_MS = 3000,
	/*
	 * between two answers to a client; where room was made in vain no more is made for twice
	 * that, and twice as long each time it is in vain anew, so many times at most
	 */
	SLEEPERS_LACK_AGAIN_MS = 1000,
	SLEEPERS_VAIN = 9,
	/* what a reading has to be later than a change on its GPU, to have seen it */
	SLEEPERS_SETTLE_MS = 400,
	/* the same of what this process has decided itself */
	SLEEPERS_FRESH_MS = 100,
	/* a wake waits so long for calls that were under way when its GPUs were held */
	SLEEPERS_TAKES_MS = 20000,
	/* after an answer that there may be room: nobody wakes into it meanwhile */
	SLEEPERS_MADE_MS = 1500,
	/* an older reading counts for nothing */
	SLEEPERS_READING_MS = 1000,
	SLEEPERS_AGAIN_MS = 100,
	SLEEPERS_AGAIN_IDLE_MS = 1000
};
#define SLEEPERS_SPARE	 (256ull << 20)
#define SLEEPERS_CONTEXT (1ull << 30)
#define SLEEPERS_MOST	 (1ull << 48) /* bytes that a client may say it has */
#define SLEEPERS_UNKNOWN UINT64_MAX

enum sleeper_state {
	SLEEPER_CANNOT,
	SLEEPER_AWAKE,
	SLEEPER_GOING, /* was ordered to sleep */
	SLEEPER_ASLEEP,
	SLEEPER_WAITS, /* for its turn to wake */
	SLEEPER_WAKING
};

/* why a client was not put to sleep, or does not wake; first those of enum sleep_refusal */
enum sleeper_why {
	WHY_LATE = NR_SLEEP_REFUSALS, /* it has not answered */
	WHY_HOST, /* its process may not have that much host memory */
	WHY_MEMORY, /* what sleeps has its bound (suspend-memory) */
	WHY_METER, /* nobody knows how much memory the GPUs have */
	WHY_KIND, /* the GPU that it is to go to is another type, or not there */
	WHY_SPREAD, /* it has memory on several GPUs, or nobody knows on which */
	WHY_LINE, /* .ahead others wake before */
	WHY_ROOM, /* the GPU has no room */
	NR_WHYS
};

struct sleeper {
	/* filled in by the caller before each look */
	bool present;
	struct {
		enum sleep_state state;
		bool done; /* the last order to sleep was answered. Read it before .state */
		enum sleep_refusal refusal;
		bool wishes; /* a wish to wake that was not granted */
		bool lacks; /* an allocation waits for an answer */
		bool takes; /* a call is under way that may take device memory */
		bool works; /* it has work on the GPU, or work waits for a turn */
		uint64_t calls, charged; /* frames so far; device memory of its quota */
	} seen;
	uint64_t idle_ms; /* 0: it does not go to sleep by itself */
	uint64_t limit; /* the most that its quota lets it have; 0: there is none */
	/*
	 * device memory of its process by the last readings; SLEEPERS_UNKNOWN: some; none at all:
	 * no reading knows the process
	 */
	uint64_t uses[SLEEP_GPUS];
	/* by the admin: sleep; wake, on GPU .target - 1 if .target */
	bool asked, called;
	uint32_t target;

	/* decided: the caller carries it out. Instead of SLEEPER_SUSPEND: sleepers_refuse() */
	enum { SLEEPER_NOTHING, SLEEPER_SUSPEND, SLEEPER_CALL, SLEEPER_WAKE } does;
	uint64_t charged; /* with SLEEPER_SUSPEND: it sleeps only with no more than this */
	enum { SLEEPER_NO_ANSWER, SLEEPER_MADE, SLEEPER_NOT_MADE } answer;
	bool hold; /* it takes no device memory now: another one wakes */
	/* for people to read */
	enum sleeper_state state;
	uint32_t why; /* enum sleep_refusal or enum sleeper_why */
	uint32_t ahead;
	uint64_t sleeps;
	uint64_t wished_ms; /* since when it waits */
	/* host memory that it needs, from the order until it is awake or has refused */
	uint64_t bytes;
	/* with SLEEPER_WAKE: GPUs .from and .to change places, if .moves */
	bool moves;
	uint32_t from, to;

	/* sleepers.c's own */
	bool owes; /* an order was given up, and is not answered yet */
	bool slow; /* its last order took long */
	bool listed; /* when it was ordered a reading knew it */
	uint64_t needs[SLEEP_GPUS]; /* free memory that its waking wants */
	uint64_t calls, place;
	/* since when it is to sleep: a reading from later says what it has; 0: it is not */
	uint64_t chosen_ms;
	uint64_t frame_ms, awake_ms, ordered_ms, refused_ms, lacked_ms, answered_ms;
	uint64_t made_for; /* .calls + 1 by the last answer, if that was SLEEPER_MADE */
	uint64_t first_ms; /* since when that call lacks memory */
	uint32_t vain; /* how often room was made in vain since it was not */
	uint64_t vain_ms; /* until when none is made for it */
	uint64_t apart_ms; /* it is not woken before */
	uint64_t headed_ms; /* since when, in this sleep, it was the first in line; 0: never */
};

struct sleepers_gpu {
	/* filled in by the caller */
	uint64_t total, free, read_ms; /* of the last reading; 0: there was none */
	uint32_t kind; /* the same for GPUs of one type */
	/* sleepers.c's own */
	uint64_t changed_ms, slept_ms, made_ms;
	/* what those need that wake, or woke later than any reading has seen */
	uint64_t granted;
	/* since when others take no memory, as one is about to wake, or wakes; 0: they may */
	uint64_t held_ms, held_before;
};

struct sleepers {
	struct sleeper **rows;
	uint32_t nr_rows, nr_gpus; /* 0: there was no reading */
	struct sleepers_gpu gpus[SLEEP_GPUS];
	bool for_memory; /* others are put to sleep for who lacks memory */
	bool blind; /* nobody can read the GPUs */
	uint64_t memory; /* most .bytes of all rows */
	/* decided */
	bool wants_reading;
	/* sleepers.c's own */
	uint64_t places, took_ms;
};

/*
 * Note what has happened, and decide. Return in how many ms to look again; UINT64_MAX: when
 * something changes.
 */
uint64_t sleepers_look(struct sleepers *t, uint64_t now);
/* The client was not put to sleep. */
void sleepers_refuse(struct sleeper *r, uint32_t why, uint64_t now);
/* The client has gone: the row is as new. */
void sleepers_leave(struct sleepers *t, struct sleeper *r, uint64_t now);
/* .bytes of all rows */
uint64_t sleepers_bytes(const struct sleepers *t);

#endif
