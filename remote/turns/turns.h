/* SPDX-License-Identifier: MIT */
/*
 * Whose turn it is to have work on a server's GPU, and what it is charged. Pure: the caller brings
 * the time, the memory and the lock, fills in what it sees of each program, and calls turns_look(),
 * which decides.
 *
 * Weighted virtual time, as start-time fair queueing has it. Each client has a clock that advances
 * by the GPU time that its programs are charged, divided by its weight. Of those that want the GPU
 * the one whose clock is furthest behind is next, for a turn. A turn is not cut short, since work
 * can't be taken back from the GPU: what it took is charged afterwards.
 *
 * All clocks are compared with the GPU's, which is where the last of those that want or have the
 * GPU is, and never goes back. A client that wants nothing is at most TURNS_LEAD behind it, so
 * nothing is saved up; and none is more than TURNS_DEBT ahead.
 */
#ifndef KVGPU_REMOTE_TURNS_H
#define KVGPU_REMOTE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* all in ns; of GPU time: lead, debt, round, shortest, longest */
#define TURNS_LEAD	16000000ull	/* a start for a client that wakes */
#define TURNS_DEBT	1000000000ull	/* what is beyond is forgiven */
/* turns of all that compete, but for those that are too short */
#define TURNS_ROUND	16000000ull
#define TURNS_SHORTEST	1000000ull
#define TURNS_LONGEST	32000000ull	/* for one that has to catch up */
/* who had work so lately is counted when turns are measured out */
#define TURNS_RECENT	20000000ull
/* a turn without progress that others wait for is lost after so long */
#define TURNS_LOST	100000000ull
/* and a turn without an end is, this many times its length later */
#define TURNS_OVER	2u
#define TURNS_CALM	500000000ull	/* turns end when no two clients had work for so long */
#define TURNS_AGAIN	20000000ull	/* while there are turns it is looked so often at least */
#define TURNS_AGAIN_OPEN 1000000000ull	/* and so often while there is work */

enum { TURNS_NONE = UINT32_MAX };

/* A client; zeroed before its first program comes. */
struct turns_client {
	uint32_t weight;	/* 1 and up */
	/* turns.c's */
	uint32_t rest;		/* of the division by the weight */
	uint64_t clock, floor;	/* in ns * TURNS_UNIT / weight; of its programs: ns */
	uint64_t worked;	/* when it last had work; 0: never */
	bool wants, works, competed;
};

/* A program; zeroed before it comes. */
struct turns_program {
	/* what the caller sees */
	bool present;
	bool busy;		/* it may have work on the GPU */
	bool wants;		/* it waits for a turn */
	bool gave_back;		/* the turn that it has is over, and nothing of it is on the GPU */
	uint32_t client;
	uint64_t used;		/* GPU time that it measured in its turns: counts on */
	/* what was decided: the caller hands it on */
	uint64_t turn_ns;	/* how long its turn may be */
	/* turns.c's */
	uint64_t seen, spent;
	bool competed;
	/* for people; count on */
	uint64_t charged, alone, waited, turns, lost;
};

struct turns {
	struct turns_client *clients;
	struct turns_program *programs;
	uint32_t nr_clients, nr_programs;
	/* what was decided */
	bool closed;		/* work waits for turns */
	uint32_t holder;	/* a program, or TURNS_NONE, as the caller begins */
	uint32_t turn;		/* the number of its turn, never 0 */
	bool wanted;		/* others wait for it */
	uint64_t weights;	/* of all clients that have work, together */
	/* turns.c's */
	uint64_t at, clock, progress, contended;
	/* since when others wait for the holder, 0: none do; and what it measured since then */
	uint64_t waited_for, measured;
};

/*
 * Decides, as things are @now. Returns when to look again at the latest; UINT64_MAX: when something
 * changes.
 */
uint64_t turns_look(struct turns *t, uint64_t now);

#endif
