/* SPDX-License-Identifier: MIT */
/* The command line of kvgpu-run. Pure but for getopt(). Texts are of argv, or constants. */
#ifndef KVGPU_CLUSTER_OPTIONS_H
#define KVGPU_CLUSTER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MPI_KIND_LOCAL: none, for GPUs of this machine alone */
enum mpi_kind { MPI_KIND_AUTO, MPI_KIND_LOCAL, MPI_KIND_OPENMPI, MPI_KIND_MPICH };
enum launcher { LAUNCHER_AUTO, LAUNCHER_MPIRUN, LAUNCHER_SRUN };
enum { DEVICES_MAX = 64 };
enum { START_S = 60 }; /* --start, where it is not given */

struct run_options {
	unsigned int gpus; /* 0: all */
	const char *hosts; /* "a,b:8"; NULL: this machine, with srun all of the allocation */
	enum mpi_kind mpi;
	enum launcher launcher;
	/* each: --jobs each; spread: --place spread */
	bool list, share, each, allow_root, spread;
	bool trust_network; /* mpirun may run */
	uint64_t memory; /* of each device for PROGRAM; 0: all that there is */
	uint64_t load; /* other runs that a GPU may have; UINT32_MAX: any */
	uint64_t wait_s; /* wait so long for GPUs that fit */
	const char *library;
	/* the folder with the program's libcuda.so.1; NULL: where it was installed, "": none */
	const char *client;
	const char *mpirun; /* NULL: mpirun of .mpi, found in PATH */
	bool counts;
	bool whole; /* copies are not pipelined */
	/* 0: the relay's default; for eager and spin_us that is UINT64_MAX */
	uint64_t staging, slots, eager, spin_us, patience_s, arena;
	uint64_t start_s; /* how long a job may take to start */
	char **program; /* with its arguments; NULL with .list */
};

extern const char run_usage[];

enum options_end { OPTIONS_FINE, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_WRONG };
enum { OPTIONS_TEXT = 256 };

/* what was asked for; OPTIONS_WRONG: @why names the word that is wrong, and what is right */
enum options_end options_read(int argc, char **argv, struct run_options *o, char why[OPTIONS_TEXT]);

#endif
