// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compiled in two files with -rdc=true: kernels call functions and use variables of the other file.
 */
#include "../check.h"
#include "other.h"

__global__ void use(int *out)
{
	out[threadIdx.x] = polynomial(threadIdx.x) + offsets[threadIdx.x % 4] + chosen(threadIdx.x);
	if (!threadIdx.x)
		atomicAdd(&shared_counter, 5);
}

int main(void)
{
	int *d, h[64], o[4] = { 100, 200, 300, 400 }, counter, wrong = 0;

	CHECK(cudaMalloc(&d, sizeof(h)));
	CHECK(cudaMemcpyToSymbol(offsets, o, sizeof(o)));
	use<<<1, 64>>>(d);
	CHECK_LAUNCH();
	bump(3);
	CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyFromSymbol(&counter, shared_counter, sizeof(counter)));
	for (int i = 0; i < 64; i++)
		wrong += h[i] != i * i * 3 + i + 7 + o[i % 4] + (i % 2 ? -i : 2 * i);
	return verdict(!wrong && counter == 1 + 5 + 3 * 32,
		       "functions, variables and constants of another file, %d wrong, counter %d", wrong, counter);
}
