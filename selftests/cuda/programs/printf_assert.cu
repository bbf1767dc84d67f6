// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel with an assert that holds, in a module with a kernel that prints: it must run. What is
 * printed is compared; a library without device-side printf gives an error.
 */
#include <assert.h>
#include <unistd.h>

#include "check.h"

__global__ void quiet(int *p)
{
	assert(p);
	p[threadIdx.x] = threadIdx.x * 3;
}

__global__ void loud(int n)
{
	if (threadIdx.x < 2)
		printf("thread %d of %d: %s %.2f %lld\n", threadIdx.x, n, "text", threadIdx.x * 1.5,
		       123456789012ll);
}

/* words and a format in each kind of memory; one has changed since the module was loaded */
__constant__ char constant_format[] = "constant %d %s\n", constant_word[] = "word";
__device__ char global_format[] = "global %d %s\n", global_word[] = "word";

__global__ void from_memory(char letter)
{
	char local[8] = { letter, 'o', 'c', 'a', 'l' };
	__shared__ char shared[8];

	global_word[0] = letter;
	shared[0] = 's';
	shared[1] = letter;
	shared[2] = 0;
	printf(constant_format, 3, local);
	printf(global_format, 4, constant_word);
	printf("%s %s\n", global_word, shared);
}

int main(void)
{
	static const char want[] = "thread 0 of 7: text 0.00 123456789012\nthread 1 of 7: text 1.50 123456789012\n"
				   "constant 3 local\nglobal 4 word\nlord sl\n";
	char got[256] = "";
	int *d, h[32], wrong = 0, ends[2], saved, n;
	cudaError_t e;

	CHECK(cudaMalloc(&d, sizeof(h)));
	quiet<<<1, 32>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		wrong += h[i] != i * 3;
	fflush(stdout);
	saved = dup(1);
	if (pipe(ends))
		return verdict(false, "no pipe");
	dup2(ends[1], 1);
	loud<<<1, 32>>>(7);
	from_memory<<<1, 1>>>('l');
	e = cudaGetLastError();
	e = e ? e : cudaDeviceSynchronize();
	fflush(stdout);
	dup2(saved, 1);
	close(ends[1]);
	n = read(ends[0], got, sizeof(got) - 1);
	if (e)
		return verdict(!wrong && n <= 0, "a kernel in a module that asserts and prints, %d wrong; printing: %s", wrong, cudaGetErrorName(e));
	return verdict(!wrong && !strcmp(got, want), "a kernel in a module that asserts and prints, %d wrong; %d bytes printed", wrong, n);
}
