// SPDX-License-Identifier: GPL-2.0-only
/* Dynamic shared memory beside static, up to 48 KiB, with each setting of L1; more is refused. */
#include "check.h"

enum { FIXED = 256 };

__global__ void turn(const int *in, int *out, int n)
{
	extern __shared__ int dynamic[];
	__shared__ int fixed[FIXED];
	int *base = in ? (int *)in + blockIdx.x * n : NULL;

	for (int i = threadIdx.x; i < FIXED; i += blockDim.x)
		fixed[i] = i + blockIdx.x;
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		dynamic[i] = base[i];
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[blockIdx.x * n + i] = dynamic[n - 1 - i] + fixed[i % FIXED];
}

int main(void)
{
	const cudaFuncCache prefer[] = { cudaFuncCachePreferNone, cudaFuncCachePreferShared,
					 cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
	const int sizes[] = { 0, 1, 33, 1024, 4000, 8000, (48 << 10) / 4 - FIXED }, blocks = 30,
		  most = (48 << 10) / 4;
	static int in[30 * (48 << 10) / 4], out[30 * (48 << 10) / 4];
	cudaFuncAttributes attr;
	int *d_in, *d_out, wrong = 0, refused = 0, major, limit;

	CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
	CHECK(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
	for (int i = 0; i < blocks * most; i++)
		in[i] = i * 3;
	CHECK(cudaFuncGetAttributes(&attr, turn));
	wrong += attr.sharedSizeBytes != FIXED * 4 || attr.maxThreadsPerBlock < 256 ||
		 attr.numRegs < 4 || attr.binaryVersion / 10 != major;
	CHECK(cudaMalloc(&d_in, sizeof(in)));
	CHECK(cudaMalloc(&d_out, sizeof(out)));
	CHECK(cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice));
	for (int p = 0; p < 4; p++) {
		CHECK(cudaFuncSetCacheConfig(turn, prefer[p]));
		for (unsigned int s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			int n = sizes[s];

			CHECK(cudaMemset(d_out, 0xff, sizeof(out)));
			turn<<<blocks, 200, n * 4>>>(d_in, d_out, n);
			CHECK_LAUNCH();
			CHECK(cudaMemcpy(out, d_out, blocks * n * 4, cudaMemcpyDeviceToHost));
			for (int i = 0; i < blocks * n; i++)
				wrong += out[i] !=
					 in[i / n * n + n - 1 - i % n] + i % n % FIXED + i / n;
		}
	}
	turn<<<1, 32, most * 4>>>(d_in, d_out, 1);
	refused += cudaGetLastError() == cudaErrorInvalidValue;
	refused += cudaGetLastError() == cudaSuccess;
	refused += cudaFuncSetAttribute(turn, cudaFuncAttributeMaxDynamicSharedMemorySize,
					limit + 1024) == cudaErrorInvalidValue;
	cudaGetLastError();
	return verdict(!wrong && refused == 3, "%zu sizes with 4 settings, %d wrong; %d of 3 refused",
		sizeof(sizes) / sizeof(sizes[0]), wrong, refused);
}
