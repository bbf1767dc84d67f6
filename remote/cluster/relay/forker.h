/* SPDX-License-Identifier: MIT */
/* The server processes of a proxy. Free of MPI. */
#ifndef KVGPU_CLUSTER_FORKER_H
#define KVGPU_CLUSTER_FORKER_H

#include <stdbool.h>
#include <stdint.h>

/* A proxy's GPU, and what programs may have of it. */
struct forker_gpu {
	const char *library;
	uint64_t arena;
	unsigned int device; /* which of the GPUs that this process sees */
	/* bytes of device memory for all programs together; 0: all there is */
	uint64_t memory;
	/* for the machine's registry: the GPU's UUID, or "-"; JOB:PROGRAM */
	const char *uuid, *label;
};

/*
 * Start the forker, a process that makes a server process for each connection that it is given.
 * Call before MPI is there. Returns a socket to the forker, or -1. The forker ends with it.
 */
int forker_begin(const struct forker_gpu *gpu);
/* Return a connection to a new server process, or -errno. It ends if that process can't be made. */
int forker_connect(int forker);
/* close the socket to the forker, and wait until the forker has ended */
void forker_end(int forker);

/*
 * Choose the device by CUDA_VISIBLE_DEVICES, of the list there, if there is one. Call before the
 * library is loaded.
 */
void forker_choose(unsigned int device);

/*
 * Print a line "gpu HOST INDEX TOTAL FREE UUID NAME" for each GPU of this machine; with @users
 * behind them a line "user HOST INDEX PID USER JOB PROGRAM" for each proxy that has one of them; in
 * a step of Slurm's also "shards HOST N". Return the exit code.
 */
int count_run(const char *library, bool users);
/*
 * count.c: whether this machine has the @device-th GPU, from 0 on, which --hosts says and nobody
 * has asked for. Before MPI: a process of its own loads the library. False: it was printed why.
 */
bool count_has(const char *library, unsigned int device);

#endif
