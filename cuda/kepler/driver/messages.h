/* SPDX-License-Identifier: MIT */
/*
 * What kernels print and assert, and their heap: the driver's side of ../syscalls. messages.c makes
 * the memory that kernels write to, output.c reads and prints it. Inside of messages.lock no other
 * lock of the driver is taken; it is taken with and without the context's.
 */
#ifndef KVGPU_CUDA_DRIVER_MESSAGES_H
#define KVGPU_CUDA_DRIVER_MESSAGES_H

#include "../syscalls/block.h"
#include "../syscalls/syscalls.h"
#include "driver.h"

enum { RING_AT = 4096 }; /* the ring of records in messages.block */
#define HEAP_SYSCALLS (1u << SYSCALL_MALLOC | 1u << SYSCALL_FREE)

/* a module's .nv.global.init or .nv.constant3, with printf's formats */
struct text {
	struct text *next;
	const struct CUmod_st *module;
	uint64_t va;
	uint32_t size;
	char bytes[];
};

struct messages {
	/*
	 * Guards .texts, .taken and .asserted while kernels may run. .block and .ring_bytes change
	 * with it and the context's lock held, so that either is enough to read them.
	 */
	pthread_mutex_t lock;
	struct device_memory *block, *head, *heap;
	struct text *texts;
	uint32_t ring_bytes;
	uint64_t taken;
	bool asserted;
	uint32_t launched; /* image_kernel.syscalls of all kernels that were launched */
};

static inline struct syscall_block *block_of(const struct messages *m)
{
	return m->block->map;
}

#endif
