// SPDX-License-Identifier: GPL-2.0-only
/*
 * gaps FILE: notes when the CPUs of this machine were away, until SIGINT or SIGTERM, and then
 * writes FILE. For each CPU it has a thread that sleeps for SLEEP_US, again and again, under
 * SCHED_FIFO. No thread of ordinary priority delays it, so it wakes late only when the CPU does not
 * run: because the host took it away, or because the kernel could not switch. make bench-shares
 * runs it beside the test bed; disturbed.py reads FILE:
 *
 *	from NS to NS cpus N limit NS priority fifo|nice|none
 *	CPU NS NS
 *
 * A line for each gap of at least the limit follows the first line. Times are of
 * CLOCK_MONOTONIC_RAW, which no time daemon slows down or speeds up. A gap begins when the thread
 * went to sleep, so it is up to SLEEP_US too long, and no gap of the limit is missed.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum {
	CPUS_MAX = 256,
	GAPS_MAX = 1 << 20, /* of a CPU */
	SLEEP_US = 500,
	LIMIT_US = 1000
};

enum priority { FIFO, NICE, NONE }; /* a lower one is higher */

struct gap {
	uint64_t from, to;
};

struct cpu {
	pthread_t thread;
	int nr;
	enum priority priority;
	const char *error;
	uint32_t gaps;
	struct gap *gap;
};

static const char *const priority_names[] = { "fifo", "nice", "none" };
static struct cpu cpu[CPUS_MAX];
static volatile int over;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Of the calling thread. */
static enum priority raise_priority(void)
{
	const struct sched_param lowest = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };

	if (!sched_setscheduler(0, SCHED_FIFO, &lowest))
		return FIFO;
	return setpriority(PRIO_PROCESS, 0, -20) ? NONE : NICE;
}

static void *watch(void *arg)
{
	const struct timespec sleep = { .tv_nsec = SLEEP_US * 1000 };
	struct cpu *c = arg;
	uint64_t last, now;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(c->nr, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set)) {
		c->error = "this CPU may not be used";
		return NULL;
	}
	c->priority = raise_priority();
	for (last = now_ns(); !over; last = now) {
		nanosleep(&sleep, NULL);
		now = now_ns();
		if (now - last < LIMIT_US * 1000)
			continue;
		if (c->gaps == GAPS_MAX) {
			c->error = "too many gaps";
			return NULL;
		}
		c->gap[c->gaps++] = (struct gap){ .from = last, .to = now };
	}
	return NULL;
}

static int start(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		cpu[i].gap = calloc(GAPS_MAX, sizeof(*cpu[i].gap));
		errno = cpu[i].gap ? pthread_create(&cpu[i].thread, NULL, watch, &cpu[i]) : ENOMEM;
		if (errno) {
			perror("gaps: pthread_create");
			return 1;
		}
	}
	return 0;
}

static int write_gaps(const char *path, unsigned int nr, uint64_t from, uint64_t to)
{
	enum priority priority = FIFO;
	FILE *f = fopen(path, "w");
	unsigned int i;
	uint32_t k;
	int bad;

	if (!f) {
		perror(path);
		return 1;
	}
	for (i = 0; i < nr; i++)
		priority = cpu[i].priority > priority ? cpu[i].priority : priority;
	fprintf(f, "from %llu to %llu cpus %u limit %u priority %s\n", (unsigned long long)from,
		(unsigned long long)to, nr, LIMIT_US * 1000, priority_names[priority]);
	for (i = 0; i < nr; i++)
		for (k = 0; k < cpu[i].gaps; k++)
			fprintf(f, "%d %llu %llu\n", cpu[i].nr,
				(unsigned long long)cpu[i].gap[k].from,
				(unsigned long long)cpu[i].gap[k].to);
	bad = ferror(f);
	if (fclose(f) || bad) {
		perror(path);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int nr = 0, i;
	cpu_set_t all;
	sigset_t end;
	uint64_t from;
	int sig;

	if (argc != 2) {
		fprintf(stderr, "usage: gaps FILE\n");
		return 2;
	}
	sigemptyset(&end);
	sigaddset(&end, SIGINT);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	if (sched_getaffinity(0, sizeof(all), &all)) {
		perror("gaps: sched_getaffinity");
		return 1;
	}
	for (i = 0; i < CPU_SETSIZE && nr < CPUS_MAX; i++)
		if (CPU_ISSET(i, &all))
			cpu[nr++].nr = i;
	mlockall(MCL_CURRENT);
	if (start(nr))
		return 1;
	from = now_ns();
	sigwait(&end, &sig);
	over = 1;
	for (i = 0; i < nr; i++) {
		pthread_join(cpu[i].thread, NULL);
		if (cpu[i].error) {
			fprintf(stderr, "gaps: CPU %d: %s\n", cpu[i].nr, cpu[i].error);
			return 1;
		}
	}
	return write_gaps(argv[1], nr, from, now_ns());
}
