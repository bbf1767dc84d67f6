/* SPDX-License-Identifier: MIT */
/* The command lines of srun, inside of a Slurm allocation. Pure, but for the memory of texts. */
#ifndef KVGPU_CLUSTER_STEP_H
#define KVGPU_CLUSTER_STEP_H

#include "command.h"

/*
 * A job as a step of Slurm: the broker on .node, then a proxy for each place. @programs: name of a
 * file for srun, with the contents of step_programs(). SLURM_HOSTFILE names one with those of
 * step_hosts(). With a job for each GPU it is called while earlier jobs run.
 */
bool step_job(const struct job *j, const char *programs, struct command *c);
/* the node of each rank, a line each; NULL: no memory. The caller frees it. */
char *step_hosts(const struct job *j);
/*
 * The command of each rank, a line each; NULL: no memory, or a word can't be in such a file. The
 * caller frees it.
 */
char *step_programs(const struct job *j);
/* the command that counts the GPUs of all hosts, each on its node */
bool step_count(const struct job *j, unsigned int nr_hosts, struct command *c);
/*
 * Whether srun and scontrol must not have a variable: an option of srun, or of another step. Called
 * in the child that becomes such a program.
 */
bool step_is_foreign(const char *variable);

#endif
