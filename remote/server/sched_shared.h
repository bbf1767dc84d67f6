/* SPDX-License-Identifier: MIT */
/*
 * What a client's process (sched_client.c) and the arbiter of turns in the first process
 * (../supervisor/arbiter.c) tell each other, in memory that these two processes share. Each word is
 * atomic, and one side writes it.
 */
#ifndef KVGPU_REMOTE_SCHED_SHARED_H
#define KVGPU_REMOTE_SCHED_SHARED_H

#include <stdint.h>

struct sched_shared {
	/* written by the arbiter */
	uint32_t closed; /* work for the GPU needs a turn */
	uint32_t turn; /* the number of the turn that this process has; 0: none */
	uint32_t wanted; /* to the program that has the turn: others wait; 0 to all others */
	uint32_t watched; /* there are other clients: ring the arbiter when work begins */
	uint32_t wake; /* futex: counts turns given, and ends of .closed */
	/* the client's weight, in thousandths of the weights of the clients that had work lately */
	uint32_t share;
	uint64_t turn_ns; /* GPU time that this turn may take while others wait */
	/*
	 * for people to read, ns: GPU time charged while turns were needed, time with work while
	 * none were, time waited for turns
	 */
	uint64_t charged, alone, waited;
	uint64_t turns, lost; /* turns so far; turns lost, as others waited too long */

	/* written by the process */
	/* number of the last turn that was given back */
	uint32_t done __attribute__((aligned(64)));
	uint32_t busy; /* the process may have work on the GPU */
	uint32_t want; /* frames of the process wait for a turn */
	uint64_t used; /* GPU time that the process measured, ns: only grows */
};

#endif
