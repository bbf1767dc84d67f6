// SPDX-License-Identifier: GPL-2.0-only
/* c = a + b, also with a grid that strides. No block size divides the default n. */
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

__global__ void add_strided(const float *a, const float *b, float *c, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		c[i] += a[i] + b[i];
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 300007), wrong = 0;
	size_t bytes = n * sizeof(float);
	float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes),
	      *da, *db, *dc;
	uint32_t seed = 1;

	for (int i = 0; i < n; i++) {
		a[i] = random_float(&seed);
		b[i] = random_float(&seed) - 0.5f;
	}
	CHECK(cudaMalloc(&da, bytes));
	CHECK(cudaMalloc(&db, bytes));
	CHECK(cudaMalloc(&dc, bytes));
	CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
	add<<<CEIL_DIV(n, 256), 256>>>(da, db, dc, n);
	CHECK_LAUNCH();
	add_strided<<<7, 192>>>(da, db, dc, n);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) {
		float once = a[i] + b[i];

		wrong += c[i] != once + once;
	}
	CHECK(cudaFree(da));
	CHECK(cudaFree(db));
	CHECK(cudaFree(dc));
	return verdict(!wrong, "%d sums bit by bit, %d wrong", n, wrong);
}
