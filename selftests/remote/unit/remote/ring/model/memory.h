/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared memory that an attacker may rewrite between any two accesses of remote/ring. Each access
 * is checked: it is inside of the memory, loads and stores are aligned, and after memory_call(true)
 * no word of 64 bits is loaded twice.
 */
#ifndef KVGPU_RING_MEMORY_H
#define KVGPU_RING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote/ring/doorbell.h"

enum { MEMORY_WORDS_MAX = 1024 };

struct memory {
	uint64_t *word;
	size_t words;
	void (*before)(unsigned int access); /* called before each access */
	unsigned int accesses;
	bool once; /* no word may be loaded twice until the next memory_call() */
	bool loaded[MEMORY_WORDS_MAX];
	uint64_t clock;
	uint64_t away_ns; /* how long the CPU is away when it is yielded */
	/* each .tick_ns the CPU is taken away for .in_tick_ns; 0: never */
	uint64_t tick_ns, in_tick_ns;
	unsigned int wakes;
};

extern struct memory memory;

/*
 * Begins a call of remote/ring. @once: the call decides by what it loads, so it may load no word
 * twice.
 */
void memory_call(bool once);

/* a carrier whose sleeps always last as long as they may */
extern const struct kvgpu_doorbell_ops memory_doorbell_ops;

/*
 * Returns a value that a malicious peer might write where @old is. @kind is taken modulo
 * MEMORY_VALUES.
 */
enum { MEMORY_VALUES = 14 };
uint64_t memory_value(unsigned int kind, uint64_t old, uint32_t slots, uint32_t max_len);

#endif
