/* SPDX-License-Identifier: MIT */
/* Internal header of kvgpu-run. It has one thread. */
#ifndef KVGPU_CLUSTER_RUN_H
#define KVGPU_CLUSTER_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "command.h"
#include "slurm.h"

enum { JOBS_MAX = DEVICES_MAX, SECRET_TEXT = 65 };

/* kvgpu-run's own exit codes, as those of env and timeout */
enum { EXIT_OWN = 125, EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

struct running {
	pid_t pid; /* of mpirun, srun or kvgpu-relay-local; 0: it has ended */
	int fd; /* connection to its broker; -1: not yet, or not any more */
	int status;
};

struct run {
	struct run_options o;
	const char *mpirun;
	unsigned int mpi_major; /* the first number of Open MPI's version */
	char relay[PATH_MAX], client[PATH_MAX], folder[64];
	char secret[SECRET_TEXT]; /* of the jobs, under srun; else a number that others see */
	struct host hosts[HOSTS_MAX];
	unsigned int nr_hosts;
	char here[HOST_TEXT]; /* this machine's name for other machines; "": not known */
	/* if srun starts the proxies: this node's name in Slurm's allocation; else NULL */
	const char *node;
	bool binds; /* Slurm's TaskPlugin binds processes to CPUs */
	char hostfile[128]; /* for srun, which takes its name from a variable */
	char label[64]; /* "SLURM_JOB:PROGRAM", shown by --list of other runs */
	struct gpu gpus[GPUS_MAX];
	unsigned int nr_gpus;
	struct place places[DEVICES_MAX];
	unsigned int nr_places;
	struct running jobs[JOBS_MAX];
	unsigned int nr_jobs, ready;
	int listener, signals; /* signals: a signalfd */
	pid_t program;
	int status; /* of PROGRAM; before it begins, the first signal to end the run */
	/* silent: the jobs are to end, so don't complain */
	bool program_ended, interrupted, silent;
};

void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------ find.c: what is installed */

/*
 * Set .node if srun is to start the proxies: inside of an allocation, if nothing else was asked
 * for. False: srun can't, and it was printed why.
 */
bool find_launcher(struct run *r);
/*
 * With the hosts: find .mpirun, .o.mpi, .relay and .client; false: it was printed what is missing,
 * or that mpirun wants --trust-network
 */
bool find_all(struct run *r);
/*
 * Run @c, and call @line for each line that it prints. Return its exit code; or -1: it was printed
 * why.
 */
int read_lines(const struct run *r, const struct command *c, void (*line)(void *ctx, char *text),
	       void *ctx);

/* ----------------------------------------------------------------- gpus.c: which GPUs there are */

/* find the hosts; false: the reason was printed */
bool gpus_find_hosts(struct run *r);
/* find the GPUs of the hosts, and choose; with --list print them; false: the reason was printed */
bool gpus_find(struct run *r);

/* ------------------------------------------------------------------ jobs.c */

/* In the child: set the environment of a job, or of a command that counts GPUs. */
void job_environment(const struct run *r);
/* Start all jobs, and wait until their brokers are ready. False: the reason was printed. */
bool jobs_begin(struct run *r);
/* end all jobs, orderly, then by force */
void jobs_end(struct run *r);

/* ------------------------------------------------------------------ wait.c */

/*
 * At first: note what kvgpu-run was started with, and set what it needs itself: descriptors 0 to 2,
 * signals, umask, how many it may have. False: the reason was printed.
 */
bool wait_inherit(void);
/* block the signals that are read from .signals; false: the reason was printed */
bool wait_begin(struct run *r);
/* In PROGRAM's process before exec: what kvgpu-run was started with. */
void wait_give_back(void);
/*
 * In another child before exec: no input, output to @out, no other descriptors, no signal blocked.
 */
void wait_clear(int out);
/* Wait until something has happened that is noted in @r, or @ms are over; -1: no limit. */
void wait_once(struct run *r, int ms);

/* ------------------------------------------------------------------ program.c */

/* Look for PROGRAM as execvp() does. 0; else kvgpu-run's exit code, the reason was printed. */
int program_look(const struct run *r);
/* start PROGRAM, and wait for its end; false: the reason was printed */
bool program_run(struct run *r);
/* End this process as PROGRAM has ended. */
void program_pass_on(const struct run *r) __attribute__((noreturn));

#endif
