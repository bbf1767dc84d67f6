/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared memory that somebody else may rewrite between any two accesses of remote/ring. Each access
 * is checked: inside of the memory, aligned, and no word loaded twice in one call. model/room.c
 * runs on it.
 */
#ifndef KVGPU_RING_MEMORY_H
#define KVGPU_RING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/ring/bell.h"

enum { MEMORY_WORDS_MAX = 1024 };

struct memory {
	uint64_t *word;
	size_t words;
	void (*before)(unsigned int access);	/* called before each */
	unsigned int accesses;
	bool once;		/* no word is loaded twice; ends with the next memory_call() */
	bool loaded[MEMORY_WORDS_MAX];
	uint64_t clock;
	uint64_t away_ns;	/* how long the CPU is another's when it is given away */
	uint64_t tick_ns, in_tick_ns;	/* a time at which it is taken for so long; 0: it is not */
	unsigned int wakes;
};

extern struct memory memory;

/* a call of the room begins. @once: it decides by what it loads, so it may load nothing twice */
void memory_call(bool once);

/* a carrier whose sleeps last as long as they may */
extern const struct kvgpu_bell_ops memory_bell_ops;

/* what a malicious peer might write where @old is: kind is taken modulo their number */
enum { MEMORY_VALUES = 14 };
uint64_t memory_value(unsigned int kind, uint64_t old, uint32_t slots, uint32_t max_len);

#endif
