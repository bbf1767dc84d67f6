// SPDX-License-Identifier: GPL-2.0-only
/*
 * rooms_bench [--count] [NAME...]: what the pure rooms of the module cost, without a kernel. One
 * line for each case:
 *
 *	CASE OPERATIONS MEDIAN MIN MAX OP
 *
 * OPERATIONS of a batch, then ns of CPU time of one operation, of SAMPLES samples. With --count
 * there is one batch of each case, after one that warms up, and no times: it is for callgrind,
 * which is told to look at rooms_counted() only (rooms.sh). NAMEs (beginnings of case names) choose
 * some.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rooms.h"

enum { SAMPLES = 15 };
#define SAMPLE_NS 10000000ull

static bool counting;
static char **wanted;

/* CPU time of this thread */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static bool is_wanted(const char *name)
{
	char **w;

	for (w = wanted; *w; w++)
		if (!strncmp(name, *w, strlen(*w)))
			return true;
	return !*wanted;
}

/* rooms.sh has callgrind collect in this function */
__attribute__((noinline)) uint64_t rooms_counted(const struct room_case *c);
uint64_t rooms_counted(const struct room_case *c)
{
	return c->run(c);
}

static uint64_t batch(const struct room_case *c, uint64_t *ns)
{
	uint64_t start, ops;

	if (c->prepare)
		c->prepare(c);
	start = cpu_ns();
	ops = rooms_counted(c);
	*ns += cpu_ns() - start;
	return ops;
}

/* what measure() takes off each batch: the time between two readings of the clock */
static uint64_t clock_cost(void)
{
	uint64_t best = ~0ull, t;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		t = cpu_ns();
		t = cpu_ns() - t;
		best = t < best ? t : best;
	}
	return best;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const struct room_case *c)
{
	double sample[SAMPLES];
	uint64_t ns, ops = 0, batches, cost = clock_cost();
	unsigned int i;

	if (c->prepare)
		c->prepare(c);
	c->run(c);
	if (counting) {
		if (c->prepare)
			c->prepare(c);
		printf("%s %llu - - - %s\n", c->name, (unsigned long long)rooms_counted(c), c->op);
		return;
	}
	for (i = 0; i < SAMPLES; i++) {
		ns = batches = 0;
		do {
			ops = batch(c, &ns);
			batches++;
		} while (ns < SAMPLE_NS && batches < 100000);
		ns -= ns > batches * cost ? batches * cost : ns;
		sample[i] = (double)ns / ops / batches;
	}
	qsort(sample, SAMPLES, sizeof(*sample), by_size);
	printf("%s %llu %.3f %.3f %.3f %s\n", c->name, (unsigned long long)ops, sample[SAMPLES / 2],
	       sample[0], sample[SAMPLES - 1], c->op);
	fflush(stdout);
}

void rooms_measure(const struct room_case *cases, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (is_wanted(cases[i].name))
			measure(&cases[i]);
}

int main(int argc, char **argv)
{
	wanted = argv + 1;
	if (argc > 1 && !strcmp(argv[1], "--count")) {
		counting = true;
		wanted++;
	}
	if (*wanted && (*wanted)[0] == '-') {
		fprintf(stderr, "usage: rooms_bench [--count] [NAME...]\n");
		return 2;
	}
	bench_trap();
	bench_shadow();
	bench_sched();
	return 0;
}
