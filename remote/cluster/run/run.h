/* SPDX-License-Identifier: MIT */
/* Inside of kvgpu-run: one thread, which waits for signals and for the brokers' sockets. */
#ifndef KVGPU_CLUSTER_RUN_H
#define KVGPU_CLUSTER_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "command.h"

enum { JOBS_MAX = DEVICES_MAX, SECRET_TEXT = 65 };

/* exit codes of its own, as env's and timeout's */
enum { EXIT_OWN = 125, EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

struct running {
	pid_t pid;		/* of mpirun; 0: it has ended */
	int fd;			/* its broker; -1: not yet, or not any more */
	int status;
};

struct run {
	struct run_options o;
	const char *mpirun;
	char relay[PATH_MAX], client[PATH_MAX], folder[64], secret[SECRET_TEXT];
	struct host hosts[HOSTS_MAX];
	unsigned int nr_hosts;
	struct place places[DEVICES_MAX];
	unsigned int nr_places;
	struct running jobs[JOBS_MAX];
	unsigned int nr_jobs, ready;
	int listener, signals;	/* signals: a signalfd */
	pid_t program;
	int status;		/* of PROGRAM */
	bool program_ended, interrupted, silent;	/* silent: the jobs' ends are wanted */
};

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------ find.c: what is installed */

/* .mpirun, .o.mpi, .relay, .client; false: said what is missing */
bool find_all(struct run *r);
/* Runs it and calls @line for each line that it prints. Its exit code, or -1. */
int read_lines(const struct run *r, const struct command *c, void (*line)(void *ctx, char *text),
	       void *ctx);

/* ------------------------------------------------------------------ jobs.c */

/* The environment of mpirun, with the secret; in the child. */
void job_environment(const struct run *r);
/* All jobs, until their brokers say that they are ready. false: said why */
bool jobs_begin(struct run *r);
/* Orderly, then by force. All are gone afterwards. */
void jobs_end(struct run *r);

/* ------------------------------------------------------------------ wait.c */

/* blocks the signals that are read from .signals; false: said why */
bool wait_begin(struct run *r);
/* in a child that becomes something else */
void wait_undo(void);
/* Until something happened that is noted in @r, or @ms are over; -1: no limit */
void wait_once(struct run *r, int ms);

/* ------------------------------------------------------------------ program.c */

/* Starts it, waits for it; false: said why */
bool program_run(struct run *r);
/* Ends this process as PROGRAM ended. */
void program_pass_on(const struct run *r) __attribute__((noreturn));

#endif
