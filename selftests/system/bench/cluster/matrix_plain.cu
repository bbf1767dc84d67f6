// SPDX-License-Identifier: GPL-2.0-only
/*
 * matrix_plain N POWER [MICROSECONDS]: A times B^POWER, matrices of N x N, the rows divided over
 * all devices of this process.
 */
#include "parts.cuh"

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024), power = argument(argc, argv, 2, 1),
	    pace = argument(argc, argv, 3, 0), gpus, rows;
	double begin = 0;

	CHECK(cudaGetDeviceCount(&gpus));
	rows = n / gpus;
	std::vector<float> a = input((size_t)n * n, 1), b = input((size_t)n * n, 2),
			   c((size_t)n * n);
	std::vector<float *> ga(gpus), gb(gpus), gc(gpus);
	size_t band = (size_t)rows * n, all = (size_t)n * n;

	for (int d = 0; d < gpus; d++) {
		CHECK(cudaSetDevice(d));
		CHECK(cudaMalloc(&ga[d], band * sizeof(float)));
		CHECK(cudaMalloc(&gb[d], all * sizeof(float)));
		CHECK(cudaMalloc(&gc[d], band * sizeof(float)));
	}
	/* the first one touches all memory, and does not count */
	for (int run = 0; run < 2; run++) {
		begin = now_ms();
		for (int d = 0; d < gpus; d++) {
			CHECK(cudaSetDevice(d));
			CHECK(cudaMemcpy(ga[d], &a[d * band], band * sizeof(float),
					 cudaMemcpyDefault));
			CHECK(cudaMemcpy(gb[d], &b[0], all * sizeof(float), cudaMemcpyDefault));
			for (int i = 0; i < power; i++) {
				multiply_rows(ga[d], gb[d], gc[d], n, rows, pace);
				std::swap(ga[d], gc[d]);
			}
		}
		for (int d = 0; d < gpus; d++) {
			CHECK(cudaSetDevice(d));
			CHECK(cudaMemcpy(&c[d * band], ga[d], band * sizeof(float),
					 cudaMemcpyDefault));
		}
	}
	tell("matrix_plain", gpus, n, now_ms() - begin, c);
	return 0;
}
