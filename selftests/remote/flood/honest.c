// SPDX-License-Identifier: GPL-2.0-only
/*
 * honest SEED ROUNDS: a program beside a client that attacks. It copies, fills and waits, and
 * compares each byte; ROUNDS times, or, where that is 0, until SIGTERM. Prints how many rounds
 * there were. Exit code 1: an error, or a wrong byte.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda/api/api.h>

enum { BYTES = 64 << 10, PITCH = 512, PAUSE_US = 8000 };

static volatile sig_atomic_t over;
static uint64_t state;
static unsigned long rounds_done;

static void stop(int signal)
{
	over = 1;
}

static void must(CUresult r, const char *what)
{
	if (!r)
		return;
	printf("round %lu: %s: %d\n", rounds_done, what, r);
	exit(1);
}
#define MUST(call) must(call, #call)

static void same(const void *got, const void *wanted, size_t n, const char *what)
{
	const uint8_t *g = got, *w = wanted;
	size_t i;

	for (i = 0; i < n; i++)
		if (g[i] != w[i]) {
			printf("round %lu: %s: byte %zu of %zu is %#x, not %#x\n", rounds_done,
			       what, i, n, g[i], w[i]);
			exit(1);
		}
}

static uint64_t word(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static size_t below(size_t n)
{
	return (word() >> 33) % n;
}

/* of any size, small ones more often */
static size_t some_bytes(void)
{
	return 1 + below(below(2) ? 64 : below(2) ? 4096 : BYTES);
}

static void make(uint8_t *to, size_t n)
{
	uint64_t w = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		w = i % 8 ? w >> 8 : word();
		to[i] = w;
	}
}

struct all {
	CUcontext ctx;
	CUstream a, b;
	CUevent event;
	CUdeviceptr one, two;
	uint8_t *pinned, *back; /* pinned */
	uint8_t bytes[BYTES], got[BYTES];
	unsigned int called;
};

static void begin(struct all *s)
{
	MUST(cuCtxCreate_v2(&s->ctx, 0, 0));
	MUST(cuStreamCreate(&s->a, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&s->b, CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&s->event, 0));
	MUST(cuMemAlloc_v2(&s->one, BYTES));
	MUST(cuMemAlloc_v2(&s->two, BYTES));
	MUST(cuMemHostAlloc((void **)&s->pinned, BYTES, 0));
	MUST(cuMemHostAlloc((void **)&s->back, BYTES, 0));
}

static void end(struct all *s)
{
	MUST(cuMemFreeHost(s->back));
	MUST(cuMemFreeHost(s->pinned));
	MUST(cuMemFree_v2(s->two));
	MUST(cuMemFree_v2(s->one));
	MUST(cuEventDestroy_v2(s->event));
	MUST(cuStreamDestroy_v2(s->b));
	MUST(cuStreamDestroy_v2(s->a));
	MUST(cuCtxDestroy_v2(s->ctx));
}

/* ------------------------------------------------------------------ what a round may do */

static void there_and_back(struct all *s)
{
	size_t n = some_bytes(), at = below(BYTES - n + 1);

	make(s->bytes, n);
	MUST(cuMemcpyHtoD_v2(s->one + at, s->bytes, n));
	MUST(cuMemcpyDtoH_v2(s->got, s->one + at, n));
	same(s->got, s->bytes, n, "a copy there and back");
}

static void in_a_stream(struct all *s)
{
	size_t n = some_bytes();

	make(s->pinned, n);
	memcpy(s->bytes, s->pinned, n);
	MUST(cuMemcpyHtoDAsync_v2(s->one, s->pinned, n, s->a));
	MUST(cuEventRecord(s->event, s->a));
	MUST(cuStreamWaitEvent(s->b, s->event, 0));
	MUST(cuMemcpyDtoDAsync_v2(s->two, s->one, n, s->b));
	MUST(cuMemcpyDtoHAsync_v2(s->back, s->two, n, s->b));
	MUST(cuStreamSynchronize(s->b));
	same(s->back, s->bytes, n, "copies in streams");
}

static void function(void *data)
{
	__atomic_add_fetch((unsigned int *)data, 1, __ATOMIC_SEQ_CST);
}

static void with_functions(struct all *s)
{
	size_t n = some_bytes();
	unsigned int before = s->called, want = 1 + below(3), i;

	make(s->pinned, n);
	memcpy(s->bytes, s->pinned, n);
	MUST(cuMemcpyHtoDAsync_v2(s->two, s->pinned, n, s->a));
	for (i = 0; i < want; i++)
		MUST(cuLaunchHostFunc(s->a, function, &s->called));
	MUST(cuMemcpyDtoHAsync_v2(s->back, s->two, n, s->a));
	MUST(cuStreamSynchronize(s->a));
	same(s->back, s->bytes, n, "copies around functions");
	want += before;
	same(&s->called, &want, sizeof(want), "functions that were called");
}

static void filled(struct all *s)
{
	size_t n = (some_bytes() + 3) / 4, i;
	uint32_t value = word(), words[BYTES / 4];

	if (below(2)) {
		value = (value & 0xff) * 0x01010101u;
		MUST(cuMemsetD8Async(s->two, value, 4 * n, s->b));
	} else {
		MUST(cuMemsetD32Async(s->two, value, n, s->b));
	}
	MUST(cuStreamSynchronize(s->b));
	MUST(cuMemcpyDtoH_v2(s->got, s->two, 4 * n));
	for (i = 0; i < n; i++)
		words[i] = value;
	same(s->got, words, 4 * n, "a fill");
}

static void lines(struct all *s)
{
	size_t width = 1 + below(PITCH), height = 1 + below(BYTES / PITCH), y;
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcHost = s->bytes,
			    .srcPitch = PITCH,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .dstDevice = s->one,
			    .dstPitch = PITCH,
			    .WidthInBytes = width,
			    .Height = height };

	make(s->bytes, PITCH * height);
	MUST(cuMemcpy2D_v2(&c));
	c = (CUDA_MEMCPY2D){ .srcMemoryType = CU_MEMORYTYPE_DEVICE,
			     .srcDevice = s->one,
			     .srcPitch = PITCH,
			     .dstMemoryType = CU_MEMORYTYPE_HOST,
			     .dstHost = s->got,
			     .dstPitch = PITCH,
			     .WidthInBytes = width,
			     .Height = height };
	MUST(cuMemcpy2D_v2(&c));
	for (y = 0; y < height; y++)
		same(s->got + y * PITCH, s->bytes + y * PITCH, width, "lines");
}

static void other_memory(struct all *s)
{
	MUST(cuCtxSynchronize());
	MUST(cuMemFree_v2(s->two));
	MUST(cuMemAlloc_v2(&s->two, BYTES));
	MUST(cuEventDestroy_v2(s->event));
	MUST(cuEventCreate(&s->event, 0));
	MUST(cuStreamDestroy_v2(s->b));
	MUST(cuStreamCreate(&s->b, CU_STREAM_NON_BLOCKING));
}

static void (*const what[])(struct all *s) = { there_and_back, in_a_stream, with_functions,
					       filled,	       lines,	    other_memory };

int main(int argc, char **argv)
{
	static struct all all;
	unsigned long rounds;
	unsigned int i;

	if (argc != 3)
		return 2;
	state = strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15ull | 1;
	rounds = strtoul(argv[2], NULL, 0);
	signal(SIGTERM, stop);
	MUST(cuInit(0));
	begin(&all);
	for (; !over && (!rounds || rounds_done < rounds); rounds_done++) {
		for (i = 0; i < sizeof(what) / sizeof(*what); i++)
			what[(i + rounds_done) % (sizeof(what) / sizeof(*what))](&all);
		if (!rounds_done) {
			puts("ready");
			fflush(stdout);
		}
		if (below(64) == 0) {
			end(&all);
			begin(&all);
		}
		usleep(below(PAUSE_US));
	}
	end(&all);
	printf("rounds=%lu\n", rounds_done);
	return 0;
}
