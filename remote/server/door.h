/* SPDX-License-Identifier: MIT */
/*
 * What a client's process (gate.c) and the arbiter of turns in the first process
 * (../starter/arbiter.c) say to each other, in memory that the two share and no other client's
 * process sees. Each word is atomic and has one side that writes it. A process that was taken over
 * can say wrong things about itself; it loses its own turns by that, or is charged less than it
 * had.
 */
#ifndef KVGPU_REMOTE_DOOR_H
#define KVGPU_REMOTE_DOOR_H

#include <stdint.h>

struct door {
	/* the arbiter's */
	uint32_t closed;	/* work for the GPU waits for a turn */
	uint32_t turn;		/* the number of the turn that this process has; 0: none */
	uint32_t wanted;	/* others wait for it */
	uint32_t watched;	/* there are other clients: ring when work begins */
	uint32_t knock;		/* futex: counts what was changed here */
	uint32_t share;		/* of the GPU's time now, in thousandths */
	uint64_t turn_ns;	/* how much GPU time it may take while others wait */
	/*
	 * for people, ns: GPU time charged in turns, time with work while no turns were needed,
	 * time waited for turns
	 */
	uint64_t charged, alone, waited;
	uint64_t turns, lost;	/* how many; of them without progress while others waited */

	/* the process's */
	uint32_t done __attribute__((aligned(64)));	/* the last turn that it has given back */
	uint32_t busy;		/* it may have work on the GPU */
	uint32_t want;		/* frames wait for a turn */
	uint64_t used;		/* ns of GPU time in its turns: counts on */
};

#endif
