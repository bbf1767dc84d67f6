// SPDX-License-Identifier: GPL-2.0-only
/* Errors as CUDA has them: those of arguments pass, those of kernels stay until a reset. */
#include "../programs/check.h"

__global__ void store(int *p)
{
	*p = 1;
}

__global__ void many_registers(double *p)
{
	double v[64];

	for (int i = 0; i < 64; i++)
		v[i] = p[i + threadIdx.x];
	for (int j = 0; j < 8; j++)
		for (int i = 0; i < 64; i++)
			v[i] += v[(i * 7 + 3) & 63] * v[j];
	for (int i = 0; i < 64; i++)
		p[i + threadIdx.x] = v[i];
}

static int wrong;

static void expect(const char *what, cudaError_t got, cudaError_t want)
{
	if (got == want)
		return;
	printf("%s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(want));
	wrong++;
}

int main(void)
{
	cudaFuncAttributes a;
	int *p, v = 0;

	CHECK(cudaMalloc(&p, 4));
	store<<<1, 1025>>>(p);
	expect("1025 threads", cudaGetLastError(), cudaErrorInvalidConfiguration);
	expect("once read", cudaGetLastError(), cudaSuccess);
	store<<<0, 1>>>(p);
	expect("no blocks", cudaGetLastError(), cudaErrorInvalidConfiguration);
	store<<<1, 1, 49153>>>(p);
	expect("too much shared memory", cudaGetLastError(), cudaErrorInvalidValue);
	CHECK(cudaFuncGetAttributes(&a, many_registers));
	if (a.maxThreadsPerBlock < 1024) {
		many_registers<<<1, 1024>>>((double *)p);
		expect("too many registers", cudaGetLastError(), cudaErrorLaunchOutOfResources);
	}
	expect("a kernel that is none", cudaFuncGetAttributes(&a, (const void *)main),
	       cudaErrorInvalidDeviceFunction);
	expect("not a variable", cudaMemcpyToSymbol((const void *)&v, &v, 4),
	       cudaErrorInvalidSymbol);
	expect("beyond", cudaMemcpy(p + 1024 * 1024, &v, 4, cudaMemcpyHostToDevice),
	       cudaErrorInvalidValue);
	expect("still the last", cudaPeekAtLastError(), cudaErrorInvalidValue);
	cudaGetLastError();
	store<<<1, 1>>>(p);
	expect("a good one", cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost), cudaSuccess);
	store<<<1, 1>>>((int *)0x7f0000000000);
	expect("the launch itself", cudaGetLastError(), cudaSuccess);
	expect("wild address", cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	expect("told once", cudaGetLastError(), cudaErrorIllegalAddress);
	expect("and not twice", cudaGetLastError(), cudaSuccess);
	expect("stays for calls", cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost),
	       cudaErrorIllegalAddress);
	expect("and is the last again", cudaGetLastError(), cudaErrorIllegalAddress);
	CHECK(cudaDeviceReset());
	expect("after the reset", cudaGetLastError(), cudaSuccess);
	CHECK(cudaMalloc(&p, 4));
	store<<<1, 1>>>(p);
	v = 0;
	expect("and on", cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost), cudaSuccess);
	return verdict(!wrong && v == 1, "%d errors not as CUDA has them", wrong);
}
