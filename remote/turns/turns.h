/* SPDX-License-Identifier: MIT */
/*
 * Which program may have work on a server's GPU (has the turn), and what each program is charged.
 * Pure: the caller brings the time, the memory and the lock, fills in what it sees of each program,
 * and calls turns_look().
 *
 * Weighted virtual time. Each client has a clock that advances by the GPU time that its programs
 * are charged, divided by its weight. Of the clients that want the GPU, the one whose clock is
 * furthest behind gets the next turn. What a turn took is charged afterwards. A turn lasts until
 * its program gives it back or leaves, it is lost (TURNS_LOST), or turns are not needed any more
 * (TURNS_CALM).
 *
 * The GPU has a clock, too: that of the client furthest behind, of those that want or have the GPU.
 * turns_look() puts a client that wants nothing at most TURNS_LEAD behind the GPU's clock, so that
 * it can't save time up, and a client at most TURNS_DEBT ahead of it.
 */
#ifndef KVGPU_REMOTE_TURNS_H
#define KVGPU_REMOTE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* all but TURNS_OVER in ns; of GPU time: lead, debt, round, shortest, longest */
#define TURNS_LEAD 16000000ull /* the head start of a client that wakes */
#define TURNS_DEBT 1000000000ull /* a larger debt is forgiven */
/*
 * about a round: one turn of each client that had work lately, without what clients have to catch
 * up
 */
#define TURNS_ROUND    16000000ull
#define TURNS_SHORTEST 1000000ull
#define TURNS_LONGEST  32000000ull /* for a client that has to catch up */
/* clients that had work so lately count when the length of a turn is computed */
#define TURNS_RECENT 20000000ull
/* while others wait, a turn is lost this long after its last progress */
#define TURNS_LOST 100000000ull
/*
 * A turn that makes progress is lost TURNS_LOST, and this many times its length, after others began
 * to wait.
 */
#define TURNS_OVER 2u
/* turns are not needed any more when no two clients had work for so long */
#define TURNS_CALM  500000000ull
#define TURNS_AGAIN 20000000ull /* look at least so often while there are turns */
/* look at least so often without turns, while there is work */
#define TURNS_AGAIN_OPEN 1000000000ull

enum { TURNS_NONE = UINT32_MAX };

/* A client; zeroed before its first program comes. */
struct turns_client {
	uint32_t weight; /* 1 and up */
	/* turns.c's own */
	uint32_t rest; /* remainder of the division by the weight */
	/* .clock: ns * TURNS_UNIT / weight; .floor: its programs' .spent is compared with it, ns */
	uint64_t clock, floor;
	uint64_t worked;
	bool wants, works, competed;
};

/*
 * A program; zeroed before it comes. When it has left, call turns_look() before the entry gets
 * another program: else the new one may have the old one's turn, and the old one's last work is
 * not charged.
 */
struct turns_program {
	/* filled in by the caller, for the last time when .present becomes false */
	bool present;
	bool busy; /* the program may have work on the GPU */
	bool wants; /* the program waits for a turn */
	/*
	 * the program's turn is over, and no work of it is on the GPU; turns_look() clears it when
	 * it gives the program a turn
	 */
	bool gave_back;
	uint32_t client; /* index in turns.clients */
	uint64_t used; /* GPU time that it measured in its turns: only grows */
	/* decided by turns_look(): the caller passes it on */
	uint64_t turn_ns;
	/* turns.c's own */
	uint64_t seen, spent;
	bool competed, was_present;
	/* for people to read: only grow */
	uint64_t charged, alone, waited, turns, lost;
};

struct turns {
	struct turns_client *clients;
	struct turns_program *programs;
	uint32_t nr_clients, nr_programs;
	/* decided by turns_look() */
	bool closed; /* work needs a turn */
	/* the program that has the turn; TURNS_NONE: none, which the caller sets at first */
	uint32_t holder;
	uint32_t turn; /* the number of the last turn; 0: there was none */
	bool wanted; /* other programs wait for the turn */
	uint64_t weights; /* sum of the weights of all clients that had work lately */
	/* turns.c's own */
	uint64_t at, clock, progress, contended;
	/*
	 * since when others wait for the holder, 0: none do; and what the holder measured since
	 * then
	 */
	uint64_t waited_for, measured;
};

/*
 * Account what has happened until @now, and decide. Return the latest time for the next look;
 * UINT64_MAX: look when something changes.
 */
uint64_t turns_look(struct turns *t, uint64_t now);

#endif
