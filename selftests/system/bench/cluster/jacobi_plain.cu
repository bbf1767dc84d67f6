// SPDX-License-Identifier: GPL-2.0-only
/*
 * jacobi_plain N ITERATIONS: a Jacobi relaxation of an N x N grid, its rows divided over all
 * devices of this process.
 */
#include "parts.cuh"

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024), iterations = argument(argc, argv, 2, 100), gpus,
	    rows;
	double begin = 0;

	CHECK(cudaGetDeviceCount(&gpus));
	rows = n / gpus;
	std::vector<float> grid = input((size_t)(n + 2) * n, 3), result((size_t)n * n);
	std::vector<float *> from(gpus), to(gpus);
	size_t row = n * sizeof(float), band = (size_t)rows * n;

	for (int d = 0; d < gpus; d++) {
		CHECK(cudaSetDevice(d));
		CHECK(cudaMalloc(&from[d], (rows + 2) * row));
		CHECK(cudaMalloc(&to[d], (rows + 2) * row));
	}
	/* the first one touches all memory, and does not count */
	for (int run = 0; run < 2; run++) {
		begin = now_ms();
		for (int d = 0; d < gpus; d++) {
			CHECK(cudaSetDevice(d));
			CHECK(cudaMemcpy(from[d], &grid[d * band], (rows + 2) * row,
					 cudaMemcpyDefault));
			CHECK(cudaMemcpyAsync(to[d], from[d], row, cudaMemcpyDefault));
			CHECK(cudaMemcpyAsync(to[d] + band + n, from[d] + band + n, row,
					      cudaMemcpyDefault));
		}
		for (int i = 0; i < iterations; i++) {
			for (int d = 0; d < gpus; d++) {
				CHECK(cudaSetDevice(d));
				relax_rows(from[d], to[d], n, rows);
			}
			for (int d = 0; d + 1 < gpus; d++) {
				CHECK(cudaMemcpyPeer(to[d] + band + n, d, to[d + 1] + n, d + 1,
						     row));
				CHECK(cudaMemcpyPeer(to[d + 1], d + 1, to[d] + band, d, row));
			}
			from.swap(to);
		}
		for (int d = 0; d < gpus; d++) {
			CHECK(cudaSetDevice(d));
			CHECK(cudaMemcpy(&result[d * band], from[d] + n, rows * row,
					 cudaMemcpyDefault));
		}
	}
	tell("jacobi_plain", gpus, n, now_ms() - begin, result);
	return 0;
}
