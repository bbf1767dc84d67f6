/* SPDX-License-Identifier: MIT */
/* Managed variables beside others (README.md says how it is compiled). */
__managed__ int counter = 5;
__managed__ int table[4];
__device__ int plain = 7;

extern "C" __global__ void use(int n)
{
	if (threadIdx.x < 4)
		table[threadIdx.x] = plain + n;
	atomicAdd(&counter, 1);
}
