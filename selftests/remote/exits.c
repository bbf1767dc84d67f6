// SPDX-License-Identifier: GPL-2.0-only
/*
 * exits CALLS SECONDS: makes so many calls that are asked, in batches, or fewer if SECONDS are
 * over, then spins for as long without a call. Between batches and phases it executes CPUID with a
 * leaf of its own, at which the host's trace of exits is cut. Prints how many calls it made, and
 * how long a call took.
 */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cuda/api/api.h>

/* of no CPU's and no hypervisor's range; vms/exits.sh looks for it in the trace */
#define LEAF 0x4b560000u
enum { WARM = 1000, BATCH = 1000 };
enum { MARK_BATCH = 1, MARK_SPINS, MARK_END };

static void must(CUresult r, const char *what)
{
	const char *name = "?";

	if (!r)
		return;
	cuGetErrorName(r, &name);
	fprintf(stderr, "%s: %s\n", what, name);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void mark(unsigned int phase)
{
	unsigned int a, b, c, d;

	__cpuid(LEAF + phase, a, b, c, d);
	(void)a, (void)b, (void)c, (void)d;
}

static void calls(unsigned int n)
{
	size_t value;

	while (n--)
		must(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), "cuCtxGetLimit");
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 2 ? strtoul(argv[1], NULL, 0) / BATCH * BATCH : 0, done;
	uint64_t most = argc > 2 ? strtoul(argv[2], NULL, 0) * 1000000000ull : 0;
	uint64_t start, took;
	CUcontext context;
	CUdevice device;

	if (!n) {
		fprintf(stderr, "usage: exits CALLS SECONDS; CALLS: a multiple of 1000\n");
		return 2;
	}
	must(cuInit(0), "cuInit");
	must(cuDeviceGet(&device, 0), "cuDeviceGet");
	must(cuCtxCreate_v2(&context, 0, device), "cuCtxCreate");
	calls(WARM);
	start = now();
	for (done = 0; done < n && now() - start < most; done += BATCH) {
		mark(MARK_BATCH);
		calls(BATCH);
	}
	took = now() - start;
	mark(MARK_SPINS);
	for (start = now(); now() - start < took;)
		__builtin_ia32_pause();
	mark(MARK_END);
	printf("%u calls in %.3f s, %.2f us each\n", done, took / 1e9, took / 1e3 / done);
	return 0;
}
