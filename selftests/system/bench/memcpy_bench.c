// SPDX-License-Identifier: GPL-2.0-only
/*
 * The yardstick of copy bandwidth, run beside the model on the same machine: memcpy between shared
 * memory files. GB/s.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BULK = 64 << 20, COPIES = 8, ROUNDS = 3 };

static char *map_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	char *p;

	if (fd < 0 || ftruncate(fd, BULK))
		return NULL;
	p = mmap(NULL, BULK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

int main(void)
{
	char *a = map_file("source"), *b = map_file("destination");
	double best = 0;
	int r, i;

	if (!a || !b) {
		fprintf(stderr, "memcpy_bench: no memory\n");
		return 1;
	}
	memset(a, 0x5c, BULK);
	memset(b, 0, BULK);
	for (r = 0; r < ROUNDS; r++) {
		struct timespec t0, t1;
		double s;

		clock_gettime(CLOCK_MONOTONIC, &t0);
		for (i = 0; i < COPIES; i++) {
			memcpy(b, a, BULK);
			a[i] = b[i + 1];
		}
		clock_gettime(CLOCK_MONOTONIC, &t1);
		s = (t1.tv_sec - t0.tv_sec) + (t1.tv_nsec - t0.tv_nsec) / 1e9;
		if ((double)BULK * COPIES / s / 1e9 > best)
			best = (double)BULK * COPIES / s / 1e9;
	}
	printf("%.3f\n", best);
	return 0;
}
