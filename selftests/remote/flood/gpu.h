/* SPDX-License-Identifier: GPL-2.0-only */
/* The libcuda.so.1 of the flood, inside: what exports.c gives to whoever loads it. */
#ifndef KVGPU_SELFTESTS_REMOTE_FLOOD_GPU_H
#define KVGPU_SELFTESTS_REMOTE_FLOOD_GPU_H

#include "fake.h"

/* set when the library is loaded */
extern struct library gpu_library;

/* queue.c: work that a thread of the library carries out, one after the other */
struct work {
	CUhostFn fn; /* or NULL */
	CUstreamCallback back; /* or NULL */
	CUstream stream;
	void *data;
	/* a copy of .n bytes if .from is set; else .n bytes become .value, in words of .width */
	void *to;
	const void *from;
	size_t n;
	unsigned int value, width;
	void *own; /* freed afterwards */
};

/* Queues the work. Waits where the queue is full. */
void queue_put(const struct work *w);
/* How much work was queued so far. Work is done in its order. */
uint64_t queue_all(void);
bool queue_is_done(uint64_t all);
void queue_drain(uint64_t all);
/* In the calling thread, at once. */
void queue_do(const struct work *w);

/* memory.c: device memory that is there, pinned memory, copies between them */
void memory_fill(struct library *l);
/* Where the library counts what stream @s has queued; NULL: the null stream. */
uint64_t *memory_position(CUstream s);

/* gpu.c: 1 of @n times */
bool gpu_chance(unsigned int n);
/* A copy to host memory is made: KVGPU_FLOOD_FAULT=byte makes one of them wrong. */
void gpu_spoil(uint8_t *to, size_t n);

#endif
