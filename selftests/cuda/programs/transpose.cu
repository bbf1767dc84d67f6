// SPDX-License-Identifier: GPL-2.0-only
/* Transposes of matrices, plain and through shared memory, of elements of several sizes. */
#include "check.h"

enum { TILE = 32, ROWS = 8 };

template <typename T> __global__ void plain(const T *in, T *out, int w, int h)
{
	int x = blockIdx.x * TILE + threadIdx.x;

	for (int y = blockIdx.y * TILE + threadIdx.y; y < (blockIdx.y + 1) * TILE && y < h;
	     y += ROWS)
		if (x < w)
			out[x * h + y] = in[y * w + x];
}

template <typename T> __global__ void tiled(const T *in, T *out, int w, int h)
{
	__shared__ T tile[TILE][TILE + 1];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	for (int i = 0; i < TILE; i += ROWS)
		if (x < w && y + i < h)
			tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * w + x];
	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	for (int i = 0; i < TILE; i += ROWS)
		if (x < h && y + i < w)
			out[(y + i) * h + x] = tile[threadIdx.x][threadIdx.y + i];
}

template <typename T> static int run(int w, int h, bool through_shared)
{
	size_t bytes = sizeof(T) * w * h;
	T *in = (T *)malloc(bytes), *out = (T *)malloc(bytes), *din, *dout;
	dim3 grid(CEIL_DIV(w, TILE), CEIL_DIV(h, TILE)), block(TILE, ROWS);
	uint32_t seed = w * h;
	int wrong = 0;

	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)in)[i] = random_bits(&seed);
	CHECK(cudaMalloc(&din, bytes));
	CHECK(cudaMalloc(&dout, bytes));
	CHECK(cudaMemcpy(din, in, bytes, cudaMemcpyHostToDevice));
	if (through_shared)
		tiled<T><<<grid, block>>>(din, dout, w, h);
	else
		plain<T><<<grid, block>>>(din, dout, w, h);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(out, dout, bytes, cudaMemcpyDeviceToHost));
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			wrong += memcmp(&in[y * w + x], &out[x * h + y], sizeof(T)) != 0;
	CHECK(cudaFree(din));
	CHECK(cudaFree(dout));
	free(in);
	free(out);
	return wrong;
}

int main(void)
{
	int wrong = 0;

	for (int i = 0; i < 2; i++) {
		wrong += run<uint8_t>(257, 130, i);
		wrong += run<float>(320, 192, i);
		wrong += run<double>(100, 301, i);
		wrong += run<float4>(65, 63, i);
	}
	CHECK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
	wrong += run<double>(99, 77, true);
	return verdict(!wrong, "9 transposes, %d elements wrong", wrong);
}
