// SPDX-License-Identifier: GPL-2.0-only
/*
 * matmul_tiled [n [check-rows]]: C = A B in single precision, by tiles. Prints the kernel's time.
 * Elements are small integers, so the result is exact.
 */
#include "check.h"
#include "matmul_kernel.h"

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 256), rows = argument(argc, argv, 2, n < 512 ? n : 16),
	    wrong = 0;
	size_t bytes = (size_t)n * n * sizeof(float);
	float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes),
	      *da, *db, *dc, ms;
	cudaEvent_t start, stop;
	uint32_t seed = 7;

	if (n <= 0 || n % TILE)
		return verdict(false, "n is no multiple of %d", TILE);
	for (int i = 0; i < n * n; i++) {
		a[i] = (int)(random_bits(&seed) % 17) - 8;
		b[i] = (int)(random_bits(&seed) % 17) - 8;
	}
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&stop));
	CHECK(cudaMalloc(&da, bytes));
	CHECK(cudaMalloc(&db, bytes));
	CHECK(cudaMalloc(&dc, bytes));
	CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
	CHECK(cudaEventRecord(start));
	multiply<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE / PER_THREAD)>>>(da, db, dc, n);
	CHECK_LAUNCH();
	CHECK(cudaEventRecord(stop));
	CHECK(cudaEventSynchronize(stop));
	CHECK(cudaEventElapsedTime(&ms, start, stop));
	CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
	for (int r = 0; r < rows; r++) {
		int y = (int)((long long)r * n / rows);

		for (int x = 0; x < n; x++) {
			int sum = 0;

			for (int k = 0; k < n; k++)
				sum += (int)a[y * n + k] * (int)b[k * n + x];
			wrong += c[y * n + x] != sum;
		}
	}
	return verdict(!wrong, "%d x %d single, %d rows exact, %d elements wrong, kernel %.2f ms", n, n, rows, wrong, ms);
}
