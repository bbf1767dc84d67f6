/* SPDX-License-Identifier: MIT */
/* What starts a job, but for srun, and its environment. Pure, but for the memory of texts. */
#ifndef KVGPU_CLUSTER_COMMAND_H
#define KVGPU_CLUSTER_COMMAND_H

#include "options.h"
#include "plan.h"

enum { COMMAND_MAX = 4096 };

struct command {
	char *word[COMMAND_MAX + 1]; /* ends with NULL */
	unsigned int n;
};

/* The input of the functions here and in step.h. */
struct job {
	const struct run_options *o; /* .mpi is not MPI_KIND_AUTO */
	const char *mpirun, *relay, *folder;
	unsigned int mpi_major; /* the first number of Open MPI's version */
	const struct host *hosts;
	const struct place *places; /* the places of this job */
	unsigned int nr_places, first; /* first: the number in the address of the first place */
	/* of this machine in Slurm's allocation, for srun; else NULL */
	const char *node;
	/* Slurm binds processes to CPUs, if srun does not refuse it */
	bool binds;
	const char *label; /* "JOB:PROGRAM" for --list of others; NULL: none */
	/* this machine's name, as other machines find it; NULL: not known */
	const char *here;
	const char *number; /* random, tells jobs apart; NULL: a secret does */
};

/* the broker here, then a proxy for each place; false: it is too long, or there is no memory */
bool command_job(const struct job *j, struct command *c);
/* add what counts the GPUs of the machine where it runs */
bool command_counts(const struct job *j, struct command *c);
/* the command that counts the GPUs of one host */
bool command_count(const struct job *j, const struct host *host, struct command *c);
void command_free(struct command *c);
/* add what the relay's program of one rank is started with */
bool command_broker(const struct job *j, struct command *c);
bool command_proxy(const struct job *j, const struct place *p, struct command *c);
/* add a word, as printf() does; false: as above */
bool command_add(struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Whether jobs of kvgpu-run must not have a variable: KVGPU_REMOTE, or one of another MPI job, of
 * which kvgpu-run is a rank. @inside: that is a job of Open MPI; else variables of Open MPI are the
 * user's settings.
 */
bool command_is_foreign(const char *variable, bool inside);
/*
 * Whether mpirun and srun get a variable, of those that are not foreign: where files are, how to
 * get to other machines, settings of MPI and of the GPU's library. Nothing else of the user's
 * environment goes there.
 */
bool command_is_named(const char *variable);

#endif
