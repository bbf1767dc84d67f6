/* SPDX-License-Identifier: MIT */
/* What image_test.c looks for in the files made of this (README.md says how). */
__constant__ float coefficients[16];
__constant__ int steps[3] = { 1, 2, 3 };
__device__ int counter;
__device__ int table[4] = { 11, 22, 33, 44 };
__device__ int *pointer_to_table = table;
texture<float, 1> reference;

__device__ __noinline__ int helper(int x) { return x * steps[x & 1]; }

extern "C" __global__ void gather(float *a, const float *b, int n)
{
	extern __shared__ float dynamic[];
	__shared__ float fixed[32];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	dynamic[threadIdx.x] = b[i];
	fixed[threadIdx.x & 31] = b[i];
	__syncthreads();
	if (i < n) {
		a[i] = dynamic[threadIdx.x ^ 1] * coefficients[i & 15] + fixed[3] +
		       tex1Dfetch(reference, i);
		atomicAdd(&counter, table[i & 3]);
	}
}

extern "C" __global__ void __launch_bounds__(128, 2) bounded(int *p, char tag, double d, short s)
{
	volatile int local[64];

	for (int i = 0; i < 64; i++)
		local[(i * tag) & 63] = helper(p[i]);
	p[threadIdx.x] = local[threadIdx.x & 63] + (int)d + s + *pointer_to_table;
}
