// SPDX-License-Identifier: GPL-2.0-only
/* Convolution of an image: separable with the mask in constant memory, and a full 5 x 5 one. */
#include "check.h"

enum { W = 200, H = 120, RADIUS = 4, TAPS = 2 * RADIUS + 1 };

__constant__ int mask_1d[TAPS];
__constant__ int mask_2d[5][5];

__global__ void rows(const int *in, int *out)
{
	__shared__ int line[128 + 2 * RADIUS];
	int x0 = blockIdx.x * 128, y = blockIdx.y, x = x0 + threadIdx.x, sum = 0;

	for (int i = threadIdx.x; i < 128 + 2 * RADIUS; i += 128) {
		int at = x0 + i - RADIUS;

		line[i] = at >= 0 && at < W ? in[y * W + at] : 0;
	}
	__syncthreads();
#pragma unroll
	for (int i = 0; i < TAPS; i++)
		sum += mask_1d[i] * line[threadIdx.x + i];
	if (x < W)
		out[y * W + x] = sum;
}

__global__ void columns(const int *in, int *out)
{
	__shared__ int t[16 + 2 * RADIUS][16];
	int x = blockIdx.x * 16 + threadIdx.x, y0 = blockIdx.y * 16, y = y0 + threadIdx.y, sum = 0;

	for (int i = threadIdx.y; i < 16 + 2 * RADIUS; i += 16) {
		int at = y0 + i - RADIUS;

		t[i][threadIdx.x] = at >= 0 && at < H && x < W ? in[at * W + x] : 0;
	}
	__syncthreads();
	for (int i = 0; i < TAPS; i++)
		sum += mask_1d[i] * t[threadIdx.y + i][threadIdx.x];
	if (x < W && y < H)
		out[y * W + x] = sum;
}

template <int SIZE> __global__ void full(const int *in, int *out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
	    sum = 0;

	if (x >= W || y >= H)
		return;
#pragma unroll
	for (int j = 0; j < SIZE; j++)
#pragma unroll
		for (int i = 0; i < SIZE; i++) {
			int cx = min(max(x + i - SIZE / 2, 0), W - 1),
			    cy = min(max(y + j - SIZE / 2, 0), H - 1);

			sum += mask_2d[j][i] * in[cy * W + cx];
		}
	out[y * W + x] = sum;
}

int main(void)
{
	static int image[W * H], got[W * H], half[W * H];
	const int m1[TAPS] = { 1, 8, -28, 56, 70, 56, -28, 8, 1 };
	int m2[5][5], *d[3], wrong = 0;
	uint32_t seed = 8;

	for (int i = 0; i < W * H; i++)
		image[i] = random_bits(&seed) % 256;
	for (int i = 0; i < 25; i++)
		m2[i / 5][i % 5] = i * i % 13 - 6;
	for (int i = 0; i < 3; i++)
		CHECK(cudaMalloc(&d[i], sizeof(image)));
	CHECK(cudaMemcpyToSymbol(mask_1d, m1, sizeof(m1)));
	CHECK(cudaMemcpyToSymbol(mask_2d, m2, sizeof(m2)));
	CHECK(cudaMemcpy(d[0], image, sizeof(image), cudaMemcpyHostToDevice));
	rows<<<dim3(CEIL_DIV(W, 128), H), 128>>>(d[0], d[1]);
	columns<<<dim3(CEIL_DIV(W, 16), CEIL_DIV(H, 16)), dim3(16, 16)>>>(d[1], d[2]);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d[2], sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++)
		for (int k = 0; k < TAPS; k++) {
			int x = i % W + k - RADIUS;

			half[i] += x >= 0 && x < W ? m1[k] * image[i / W * W + x] : 0;
		}
	for (int i = 0; i < W * H; i++) {
		int sum = 0;

		for (int k = 0; k < TAPS; k++) {
			int y = i / W + k - RADIUS;

			sum += y >= 0 && y < H ? m1[k] * half[y * W + i % W] : 0;
		}
		wrong += got[i] != sum;
	}
	full<5><<<dim3(CEIL_DIV(W, 32), CEIL_DIV(H, 4)), dim3(32, 4)>>>(d[0], d[1]);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d[1], sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++) {
		int sum = 0;

		for (int k = 0; k < 25; k++) {
			int x = i % W + k % 5 - 2, y = i / W + k / 5 - 2;

			x = x < 0 ? 0 : x >= W ? W - 1 : x;
			y = y < 0 ? 0 : y >= H ? H - 1 : y;
			sum += m2[k / 5][k % 5] * image[y * W + x];
		}
		wrong += got[i] != sum;
	}
	return verdict(!wrong, "%d x %d pixels, separable and 5 x 5, %d wrong", W, H, wrong);
}
