/* SPDX-License-Identifier: MIT */
#ifndef KVGPU_CUDA_INFO_H
#define KVGPU_CUDA_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { MAX_GPUS = 16, MAX_PROCESSES = 64, NAME_BYTES = 64 };

struct gpu {
	char name[NAME_BYTES], bus[16];
	int smx, clock_khz, memory_khz, major, minor;
	size_t memory, used; /* bytes */
	bool memory_known; /* .used is valid */
	const char *error; /* why no context could be made; else NULL */
	size_t card_memory; /* of a whole card of this name; 0: unknown */
	/* less memory than a whole card, in a virtual machine */
	bool is_virtual;
};

struct process {
	pid_t pid;
	char name[NAME_BYTES];
	char bus[16];
};

/* gpu.c: how many, or -CUresult: none can be used, *error says why */
int gpus_read(struct gpu *gpus, const char **error);
bool machine_is_virtual(void);

/*
 * process.c: other processes that have a GPU open, as far as this user may see; one GPU each, at
 * most MAX_PROCESSES
 */
unsigned int processes_read(struct process *processes);

#endif
