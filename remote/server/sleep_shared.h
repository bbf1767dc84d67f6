/* SPDX-License-Identifier: MIT */
/*
 * What a client's process (sleep.c) and the first process (../supervisor/sleep.c) tell each other
 * about putting the client to sleep: its device memory goes to memory of its process, and the GPU
 * has room for others. Each word is atomic, and one side writes it. Numbers count up from 1.
 */
#ifndef KVGPU_REMOTE_SLEEP_SHARED_H
#define KVGPU_REMOTE_SLEEP_SHARED_H

#include <stdint.h>

enum sleep_state {
	SLEEP_CANNOT, /* the library can't put a process to sleep, or has not begun */
	SLEEP_AWAKE,
	SLEEP_ASLEEP,
	SLEEP_WAITS /* asleep, and wants to wake: waits for .granted */
};

/* why a process was not put to sleep */
enum sleep_refusal {
	SLEEP_FINE,
	SLEEP_BUSY, /* its work on the GPU does not end */
	SLEEP_CAPTURES, /* a stream captures */
	SLEEP_MANAGED, /* it has managed memory */
	SLEEP_SHARES, /* it shares memory or events with other programs */
	SLEEP_LIBRARY, /* the library has refused; .error says how */
	NR_SLEEP_REFUSALS
};

struct sleep_uuids {
	uint8_t from[16], to[16];
};

enum { SLEEP_GPUS = 16 };

struct sleep_shared {
	/* written by the first process */
	uint32_t order; /* number of the last order to go to sleep */
	uint32_t granted; /* the last .wish that was granted: wake now */
	uint32_t wakes; /* number of the last order to wake; the process makes a wish of it */
	/* how often .lacks was answered; .made: by the last answer there may be room now */
	uint32_t answers, made;
	uint32_t hold; /* another one wakes: begin to take no device memory until that is over */
	uint32_t makes_room; /* others may be put to sleep for an allocation: .lacks is looked at */
	/* with .granted: the GPUs change, all that the library has are named; 0: none */
	uint32_t nr_moves;
	struct sleep_uuids moves[SLEEP_GPUS];
	/* with .order: it goes to sleep only while its quota has less; 0: whatever that has */
	uint64_t less;

	/* written by the process */
	uint32_t state __attribute__((aligned(64))); /* enum sleep_state */
	uint32_t done; /* the .order that was carried out or refused, as .refusal says */
	uint32_t refusal, error; /* enum sleep_refusal; a CUresult */
	uint32_t wish; /* number of the last wish to wake */
	/* allocations for which the library had no room; higher than .answers: one waits */
	uint32_t lacks;
	uint32_t takes; /* a call is under way that may take device memory */
};

#endif
