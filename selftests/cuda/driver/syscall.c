// SPDX-License-Identifier: GPL-2.0-only
/* What kernels call of the driver: printf, malloc, free, assert. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* stdout (or stderr) to a file; returns what was written */
struct capture {
	FILE *file, *of;
	int saved;
};

static void begin(struct capture *c, FILE *of)
{
	fflush(of);
	c->of = of;
	c->file = tmpfile();
	c->saved = dup(fileno(of));
	dup2(fileno(c->file), fileno(of));
}

static char *end(struct capture *c)
{
	long n;
	char *text;

	fflush(c->of);
	dup2(c->saved, fileno(c->of));
	close(c->saved);
	fseek(c->file, 0, SEEK_END);
	n = ftell(c->file);
	rewind(c->file);
	text = fresh(n + 1);
	text[fread(text, 1, n, c->file)] = 0;
	fclose(c->file);
	return text;
}

static void prints(void)
{
	static const char word[] = "from the host";
	CUdeviceptr text = device_buffer(sizeof(word));
	int n = 3, i, wrong = 0;
	double d = -2.345;
	void *params[] = { &n, &d, &text };
	struct capture c;
	char line[200], *got, *at;
	CUresult r;

	MUST(cuMemcpyHtoD_v2(text, word, sizeof(word)));
	begin(&c, stdout);
	r = cuLaunchKernel(kernel("say"), 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuCtxSynchronize();
	at = got = end(&c);
	for (i = 0; i < n; i++) {
		snprintf(line, sizeof(line), "%d of %3d|%-6.2f|%s|%s|%lld|%c%%|%08x|%hhd|%*d|%p\n",
			 i, n, d, "constant", word, 0x123456789abcLL + i, 'x', 0xbeef, (char)0xff,
			 6, -7, (void *)0x1000);
		wrong += strncmp(at, line, strlen(line)) != 0;
		at += strlen(line) < strlen(at) ? strlen(line) : strlen(at);
	}
	tap_result(!r && !wrong && !*at, "a kernel's printf", "%s, %d wrong, of %zu bytes",
		   error_name(r), wrong, strlen(got));
	free(got);
	MUST(cuMemFree_v2(text));
}

static void prints_by_other_formats(void)
{
	static const char want[] = "constant 3 literal\nglobal 3 word\nodd 3\n";
	int n = 3;
	void *params[] = { &n };
	struct capture c;
	char *got;
	CUresult r;

	begin(&c, stdout);
	r = cuLaunchKernel(kernel("say_by_other_formats"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuCtxSynchronize();
	got = end(&c);
	tap_result(!r && !strcmp(got, want), "formats in constant and in global memory",
		   "%s, %zu bytes", error_name(r), strlen(got));
	free(got);
}

/* All lines come while the program waits, those of a thread in order. */
static void prints_much(void)
{
	enum { BLOCKS = 16, THREADS = 64, ROUNDS = 8, N = BLOCKS * THREADS };
	int rounds = ROUNDS, next[N] = { 0 }, lines = 0, wrong = 0, round;
	void *params[] = { &rounds };
	unsigned int thread;
	struct capture c;
	char *got, *line, *rest;
	CUresult r;

	begin(&c, stdout);
	r = cuLaunchKernel(kernel("say_much"), BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuCtxSynchronize();
	got = end(&c);
	for (line = strtok_r(got, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "%u %d", &thread, &round) != 2 || thread >= N ||
		    next[thread] != round)
			wrong++;
		else
			next[thread]++;
		lines++;
	}
	tap_result(!r && !wrong && lines == N * ROUNDS, "many lines", "%s, %d of %d, %d wrong",
		   error_name(r), lines, N * ROUNDS, wrong);
	free(got);
}

/* The CUDA programming guide promises multiples of 16: a kernel may store a float4 there. */
static void heap_align(void)
{
	enum { SIZES = 256 };
	CUdeviceptr wrong = device_buffer(4);
	void *params[] = { &wrong };
	int bad = -1;
	CUresult r;

	MUST(cuMemsetD32_v2(wrong, 0, 1));
	r = cuLaunchKernel(kernel("align"), 1, 1, 1, SIZES, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuMemcpyDtoH_v2(&bad, wrong, 4);
	tap_result(!r && !bad, "malloc's blocks of 1 to 256 bytes begin at multiples of 16",
		   "%s, %d wrong", error_name(r), bad);
	MUST(cuMemFree_v2(wrong));
}

static void heap_bounds(void)
{
	CUdeviceptr given = device_buffer(4);
	void *params[] = { &given };
	int count = -1;
	CUresult r;

	MUST(cuMemsetD32_v2(given, 0, 1));
	r = cuLaunchKernel(kernel("ask_too_much"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuMemcpyDtoH_v2(&count, given, 4);
	tap_result(!r && !count, "malloc gives NULL for 2^30 bytes to 2^64", "%s, %d blocks",
		   error_name(r), count);
	MUST(cuMemFree_v2(given));
}

static void heap(void)
{
	enum { BLOCKS = 4, THREADS = 64, N = BLOCKS * THREADS };
	CUdeviceptr keep = device_buffer(N * 8), wrong = device_buffer(4);
	int rounds = 10, bad = -1, count = 0;
	void *params[] = { &keep, &wrong, &rounds }, *one[] = { &wrong };
	CUresult r;

	MUST(cuMemsetD32_v2(wrong, 0, 1));
	r = cuLaunchKernel(kernel("allocate"), BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL);
	r = r ? r :
		cuLaunchKernel(kernel("release"), BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params,
			       NULL);
	r = r ? r : cuMemcpyDtoH_v2(&bad, wrong, 4);
	tap_result(!r && !bad, "a kernel's malloc, and free in another", "%s, %d wrong",
		   error_name(r), bad);
	MUST(cuMemsetD32_v2(wrong, 0, 1));
	r = cuLaunchKernel(kernel("exhaust"), 1, 1, 1, 1, 1, 1, 0, NULL, one, NULL);
	r = r ? r : cuMemcpyDtoH_v2(&count, wrong, 4);
	tap_result(!r && count > 40 && count < 84, "malloc gives NULL when there is no more",
		   "%s, %d of 84 blocks of 100000 bytes", error_name(r), count);
	MUST(cuMemFree_v2(keep));
	MUST(cuMemFree_v2(wrong));
}

void test_syscall(void)
{
	prints();
	prints_by_other_formats();
	prints_much();
	heap_align();
	heap_bounds();
	heap();
}

/* in a context of its own, which ends by it */
static void fail(const char *cubin, const char *name, unsigned int blocks, unsigned int threads,
		 const int *in, const char *about, const char *where, unsigned int lines)
{
	int out[4], zero = 0;
	CUdeviceptr ok;
	void *params[] = { &ok, &zero };
	CUmodule m;
	CUfunction f;
	CUcontext ctx;
	struct capture c;
	char *got, *at;
	unsigned int n = 0;
	CUresult r, later;

	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuModuleLoad(&m, cubin));
	MUST(cuModuleGetFunction(&f, m, name));
	ok = device_buffer(sizeof(out));
	MUST(cuMemcpyHtoD_v2(ok, in, sizeof(out)));
	begin(&c, stderr);
	r = cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
	r = r ? r : cuCtxSynchronize();
	got = end(&c);
	later = cuMemcpyDtoH_v2(out, ok, sizeof(out));
	for (at = got; (at = strstr(at, " failed.\n")); at++)
		n++;
	tap_result(r == CUDA_ERROR_ASSERT && later == CUDA_ERROR_ASSERT && strstr(got, where) &&
			   n == lines,
		   about, "%s, %s, %u lines: %.*s", error_name(r), error_name(later), n,
		   (int)strcspn(got, "\n"), got);
	free(got);
	MUST(cuCtxDestroy_v2(ctx));
}

void test_assert(const char *cubin)
{
	fail(cubin, "claim", 1, 4, (int[]){ 1, 1, 0, 1 }, "a kernel's assert",
	     "block: [0,0,0], thread: [2,0,0] Assertion `ok[threadIdx.x] == 1' failed.", 1);
	fail(cubin, "claim_and_wait", 2, 32, (int[]){ 0, 0, 0, 0 },
	     "an assert ends the grid, also blocks that wait for the one that failed",
	     "block: [0,0,0], thread: [31,0,0] Assertion `zero == 1' failed.", 32);
}
