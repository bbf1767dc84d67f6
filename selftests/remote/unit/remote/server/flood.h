/* SPDX-License-Identifier: MIT */
/*
 * Frames without an end, for flood_test and for selftests/remote/flood. A frame is made new, or is
 * one that reached the library before, with some words replaced. Chance makes hardly any copy with
 * bytes of host memory, so these are made on purpose. One thread.
 */
#ifndef KVGPU_SELFTESTS_REMOTE_FLOOD_H
#define KVGPU_SELFTESTS_REMOTE_FLOOD_H

#include "fake.h"

struct flood_frame {
	unsigned int op, words;
	uint64_t word[FAKE_WORDS];
};

/* Forgets all; the same seed gives the same frames, if the same is learnt. */
void flood_begin(uint64_t seed);
/* A session begins, with an arena of so many bytes: forgets all handles. */
void flood_session(uint64_t arena_bytes);
/* Takes handles from an answer. */
void flood_learn(const uint64_t *payload, size_t bytes);
void flood_make(struct flood_frame *f);
/* one of operation @op */
void flood_make_of(struct flood_frame *f, unsigned int op);
/* The frame reached the library. */
void flood_reached(const struct flood_frame *f);
/* How many operations reached the library, and how many frames did. */
unsigned int flood_operations(uint64_t *frames);

/* A handle of the class, or 0 if there was none. */
uint64_t flood_handle(unsigned int class);
/* A word that may be a handle, a small number, a size, or anything. */
uint64_t flood_word(void);
uint64_t flood_random(void);
unsigned int flood_below(unsigned int n);

#endif
