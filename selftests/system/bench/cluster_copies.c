// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster_copies COUNT: copies of pageable and of pinned memory to device 0 and back, of 4 KiB to
 * 64 MiB; prints "gpu NAME", then "copy MEMORY WAY BYTES MB/S", the best of COUNT.
 */
#include <cuda/api/api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64 << 20, ROOM = 2 * MOST };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void must(CUresult r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "%s: error %d\n", what, r);
	exit(2);
}
#define MUST(call) must(call, #call)

static double one(int out, CUdeviceptr p, uint8_t *host, size_t n)
{
	double start = now();

	if (out)
		MUST(cuMemcpyDtoH_v2(host, p, n));
	else
		MUST(cuMemcpyHtoD_v2(p, host, n));
	MUST(cuCtxSynchronize());
	return n / (now() - start) / 1e6;
}

static void all(const char *memory, CUdeviceptr p, uint8_t *room, int count)
{
	double best, rate;
	size_t n, at = 0;
	int i, out;

	memset(room, 1, ROOM);
	for (at = 0; at < ROOM; at += MOST) {
		one(0, p, room + at, MOST);
		one(1, p, room + at, MOST);
	}
	at = 0;
	for (out = 0; out < 2; out++)
		for (n = 4096; n <= MOST; n *= 4) {
			for (i = 0, best = 0; i < count; i++, at = (at + n) % ROOM) {
				if (at + n > ROOM)
					at = 0;
				rate = one(out, p, room + at, n);
				best = rate > best ? rate : best;
			}
			printf("copy %s %s %zu %.1f\n", memory, out ? "from" : "to", n, best);
		}
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 5;
	void *pageable = malloc(ROOM), *pinned;
	char name[256];
	CUdeviceptr p;
	CUcontext ctx;

	if (!pageable)
		return 2;
	MUST(cuInit(0));
	MUST(cuDeviceGetName(name, sizeof(name), 0));
	printf("gpu %s\n", name);
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuMemAlloc_v2(&p, MOST));
	MUST(cuMemHostAlloc(&pinned, ROOM, 0));
	all("pageable", p, pageable, count);
	all("pinned", p, pinned, count);
	return 0;
}
