// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pointers that may lead into any memory: to constants, shared, local and global variables, and to
 * functions. Compiled twice, as usual and for a debugger (-G).
 */
#include "../programs/check.h"

__constant__ int constants[64];
__device__ int globals[64];

__device__ __noinline__ int sum(const int *p, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += p[i];
	return s;
}

__device__ __noinline__ int depth(int n)
{
	volatile int v[4] = { n, n + 1, n + 2, n + 3 };

	return n ? depth(n - 1) + v[n & 3] : v[0];
}

__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }

__global__ void all(int *out, int which)
{
	__shared__ int shared[64];
	int local[64], i = threadIdx.x;
	const int *from[] = { constants, globals, shared, local };
	int (*apply[])(int, int) = { plus, minus };

	shared[i] = i * 3;
	for (int k = 0; k < 64; k++)
		local[k] = k + i + which;
	__syncthreads();
	out[i] = apply[i & 1](sum(from[(which + i) & 3], 64), depth(i & 7));
}

static int want(int i, int which, const int *h)
{
	int s = 0, d = 0;

	for (int k = 0; k < 64; k++) {
		int from = (which + i) & 3;

		s += from == 0 ? h[k] : from == 1 ? h[k] * 2 : from == 2 ? k * 3 : k + i + which;
	}
	for (int n = i & 7; n; n--)
		d += n + (n & 3);
	return i & 1 ? s - d : s + d;
}

int main(void)
{
	int h[64], twice[64], got[64], *d, wrong = 0;

	for (int i = 0; i < 64; i++) {
		h[i] = i * i - 7;
		twice[i] = h[i] * 2;
	}
	CHECK(cudaMemcpyToSymbol(constants, h, sizeof(h)));
	CHECK(cudaMemcpyToSymbol(globals, twice, sizeof(twice)));
	CHECK(cudaMalloc(&d, sizeof(got)));
	for (int which = 0; which < 4; which++) {
		all<<<1, 64>>>(d, which);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
		for (int i = 0; i < 64; i++)
			wrong += got[i] != want(i, which, h);
	}
	return verdict(!wrong, "%d of 256 wrong", wrong);
}
