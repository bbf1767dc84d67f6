// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grids and blocks of many shapes: every thread must run once, with its indices; bad shapes are
 * refused.
 */
#include <vector>

#include "check.h"

__global__ void mark(unsigned int *seen, unsigned int threads)
{
	unsigned int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	unsigned long long b =
		((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;

	atomicAdd(&seen[b * threads + t], 1 + (blockDim.x * blockDim.y * blockDim.z != threads));
}

__global__ void corners(unsigned int *seen)
{
	if (blockIdx.x == 0)
		seen[0] = gridDim.x;
	if (blockIdx.x == gridDim.x - 1)
		seen[1] = blockIdx.x;
	if (blockIdx.x == 65536)
		seen[2] = 1;
}

__global__ void __launch_bounds__(64) bounded(unsigned int *seen)
{
	seen[threadIdx.x] = 7;
}

int main(void)
{
	const dim3 shape[][2] = { { dim3(1), dim3(1) },
				  { dim3(3, 4, 5), dim3(7, 3, 2) },
				  { dim3(1, 1, 64), dim3(1, 1, 64) },
				  { dim3(100, 3), dim3(1024) },
				  { dim3(5, 5, 5), dim3(33) },
				  { dim3(1, 300), dim3(2, 512) },
				  { dim3(13), dim3(16, 16, 4) },
				  { dim3(2000), dim3(31) } };
	const dim3 refused[][2] = { { dim3(1), dim3(1025) },	 { dim3(1), dim3(32, 33) },
				    { dim3(1), dim3(1, 1, 65) }, { dim3(0), dim3(1) },
				    { dim3(1, 65536), dim3(1) }, { dim3(1), dim3(0) } };
	unsigned int *d, corner[3], wrong = 0, not_refused = 0;

	CHECK(cudaMalloc(&d, 1 << 21));
	for (unsigned int s = 0; s < sizeof(shape) / sizeof(shape[0]); s++) {
		dim3 g = shape[s][0], b = shape[s][1];
		unsigned int threads = b.x * b.y * b.z, n = g.x * g.y * g.z * threads;
		std::vector<unsigned int> seen(n + 1);

		CHECK(cudaMemset(d, 0, (n + 1) * 4));
		mark<<<g, b>>>(d, threads);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(seen.data(), d, (n + 1) * 4, cudaMemcpyDeviceToHost));
		for (unsigned int i = 0; i < n; i++)
			wrong += seen[i] != 1;
		wrong += seen[n] != 0;
	}
	CHECK(cudaMemset(d, 0, 12));
	corners<<<100000, 1>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(corner, d, 12, cudaMemcpyDeviceToHost));
	wrong += corner[0] != 100000 || corner[1] != 99999 || corner[2] != 1;
	for (unsigned int s = 0; s < sizeof(refused) / sizeof(refused[0]); s++) {
		mark<<<refused[s][0], refused[s][1]>>>(d, 1);
		not_refused += cudaGetLastError() != cudaErrorInvalidConfiguration;
	}
	bounded<<<1, 64>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaDeviceSynchronize());
	return verdict(!wrong && !not_refused, "%zu shapes, %u wrong; %u bad ones not refused",
		sizeof(shape) / sizeof(shape[0]), wrong, not_refused);
}
