/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Product of two n x n matrices in single precision: tiles in shared memory, PER_THREAD elements a
 * thread; n is a multiple of TILE.
 */
#ifndef KVGPU_SELFTESTS_CUDA_MATMUL_KERNEL_H
#define KVGPU_SELFTESTS_CUDA_MATMUL_KERNEL_H

enum { TILE = 32, PER_THREAD = 4 };

__global__ void multiply(const float *a, const float *b, float *c, int n)
{
	__shared__ float as[TILE][TILE], bs[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y * PER_THREAD;
	int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
	float sum[PER_THREAD] = { 0 };

	for (int t = 0; t < n; t += TILE) {
		for (int i = 0; i < PER_THREAD; i++) {
			as[y + i][x] = a[(row + i) * n + t + x];
			bs[y + i][x] = b[(t + y + i) * n + column];
		}
		__syncthreads();
#pragma unroll
		for (int k = 0; k < TILE; k++)
			for (int i = 0; i < PER_THREAD; i++)
				sum[i] += as[y + i][k] * bs[k][x];
		__syncthreads();
	}
	for (int i = 0; i < PER_THREAD; i++)
		c[(row + i) * n + column] = sum[i];
}

#endif
