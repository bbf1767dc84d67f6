// SPDX-License-Identifier: GPL-2.0-only
/*
 * away [SECONDS]: how long the CPUs of this machine do not run a thread that is always ready. On a
 * virtual machine with nothing else at work that is what its host takes away; the guest's kernel
 * may know nothing of it. A benchmark on a paced GPU calls it, because a paced GPU goes on
 * meanwhile. Prints a line. Run it with a high priority.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	CPUS_MAX = 256,
	SECONDS = 3,
	GAP_US = 100, /* between two readings of the clock: shorter gaps are not counted */
	LONG_US = 1000
};

struct cpu {
	pthread_t thread;
	int nr;
	double lost_us, longest_us;
	unsigned int nr_long;
};

static struct cpu cpu[CPUS_MAX];
static double seconds = SECONDS;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void *watch(void *arg)
{
	struct cpu *c = arg;
	double began, last, now;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(c->nr, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		return "this CPU may not be used";
	for (last = began = now_us(); last - began < seconds * 1e6; last = now) {
		now = now_us();
		if (now - last < GAP_US)
			continue;
		c->lost_us += now - last;
		c->nr_long += now - last >= LONG_US;
		if (now - last > c->longest_us)
			c->longest_us = now - last;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int nr = 0, i, nr_long = 0;
	double lost = 0, longest = 0;
	void *error;
	cpu_set_t all;

	if (argc > 2 || (argc == 2 && (seconds = atof(argv[1])) <= 0)) {
		fprintf(stderr, "usage: away [SECONDS]\n");
		return 2;
	}
	if (sched_getaffinity(0, sizeof(all), &all)) {
		perror("away: sched_getaffinity");
		return 1;
	}
	for (i = 0; i < CPU_SETSIZE && nr < CPUS_MAX; i++)
		if (CPU_ISSET(i, &all))
			cpu[nr++].nr = i;
	for (i = 0; i < nr; i++)
		if ((errno = pthread_create(&cpu[i].thread, NULL, watch, &cpu[i]))) {
			perror("away: pthread_create");
			return 1;
		}
	for (i = 0; i < nr; i++) {
		pthread_join(cpu[i].thread, &error);
		if (error) {
			fprintf(stderr, "away: CPU %d: %s\n", cpu[i].nr, (char *)error);
			return 1;
		}
		lost += cpu[i].lost_us;
		nr_long += cpu[i].nr_long;
		if (cpu[i].longest_us > longest)
			longest = cpu[i].longest_us;
	}
	printf("%u CPUs of this machine, %g s: away for %.2f %% of the time, %.1f ms at the longest, "
	       "%.1f times a second for more than 1 ms each\n",
	       nr, seconds, lost / nr / seconds / 1e4, longest / 1e3, nr_long / nr / seconds);
	return 0;
}
