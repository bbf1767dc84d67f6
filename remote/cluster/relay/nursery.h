/* SPDX-License-Identifier: MIT */
/* The server processes of a proxy. Free of MPI. */
#ifndef KVGPU_CLUSTER_NURSERY_H
#define KVGPU_CLUSTER_NURSERY_H

#include <stdint.h>

/* A proxy's GPU, and what programs may have of it. */
struct nursery_gpu {
	const char *library;
	uint64_t arena;
	unsigned int device;	/* which of the GPUs that this process sees */
	/* bytes of device memory for all programs together; 0: all there is */
	uint64_t memory;
	/* for the machine's registry: the GPU's UUID, or "-"; JOB:PROGRAM */
	const char *uuid, *label;
};

/*
 * Start the nursery, a process that makes a server process for each connection that it is given.
 * Call before MPI is there. Returns a socket to the nursery, or -1. The nursery ends with it.
 */
int nursery_begin(const struct nursery_gpu *gpu);
/* Return a connection to a new server process, or -errno. It ends if that process can't be made. */
int nursery_connect(int nursery);
/* close the socket to the nursery, and wait until the nursery has ended */
void nursery_end(int nursery);

/*
 * Choose the device by CUDA_VISIBLE_DEVICES, of the list there, if there is one. Call before the
 * library is loaded.
 */
void nursery_choose(unsigned int device);

/*
 * Print a line "gpu HOST INDEX TOTAL FREE UUID NAME" for each GPU of this machine, and behind it a
 * line "user HOST INDEX PID USER JOB PROGRAM" for each proxy that has it; in a step of Slurm's also
 * "shards HOST N". Return the exit code.
 */
int count_run(const char *library);

#endif
