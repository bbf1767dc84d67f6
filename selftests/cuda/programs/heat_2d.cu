// SPDX-License-Identifier: GPL-2.0-only
/* Heat on a plate: five-point stencil with a halo in shared memory, two buffers in turn. */
#include "check.h"

enum { W = 150, H = 130, TILE = 16, STEPS = 40 };

__global__ void step(const float *in, float *out, float k)
{
	__shared__ float t[TILE + 2][TILE + 2];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y,
	    lx = threadIdx.x + 1, ly = threadIdx.y + 1;
	bool inside = x < W && y < H;
	float around;

	if (inside) {
		t[ly][lx] = in[y * W + x];
		if (lx == 1)
			t[ly][0] = x ? in[y * W + x - 1] : 0;
		if (lx == TILE || x == W - 1)
			t[ly][lx + 1] = x < W - 1 ? in[y * W + x + 1] : 0;
		if (ly == 1)
			t[0][lx] = y ? in[(y - 1) * W + x] : 1;
		if (ly == TILE || y == H - 1)
			t[ly + 1][lx] = y < H - 1 ? in[(y + 1) * W + x] : 0;
	}
	__syncthreads();
	if (!inside)
		return;
	around = (t[ly][lx - 1] + t[ly][lx + 1]) + (t[ly - 1][lx] + t[ly + 1][lx]);
	out[y * W + x] = fmaf(k, fmaf(-4.0f, t[ly][lx], around), t[ly][lx]);
}

static float at(const float *p, int x, int y)
{
	if (y < 0)
		return 1;
	return x < 0 || x >= W || y >= H ? 0 : p[y * W + x];
}

int main(void)
{
	static float plate[2][W * H], got[W * H];
	float *d[2];
	int wrong = 0;

	for (int i = 0; i < 2; i++) {
		CHECK(cudaMalloc(&d[i], sizeof(got)));
		CHECK(cudaMemset(d[i], 0, sizeof(got)));
	}
	for (int s = 0; s < STEPS; s++) {
		float *in = plate[s % 2], *out = plate[1 - s % 2];

		step<<<dim3(CEIL_DIV(W, TILE), CEIL_DIV(H, TILE)), dim3(TILE, TILE)>>>(
			d[s % 2], d[1 - s % 2], 0.2f);
		CHECK_LAUNCH();
		for (int y = 0; y < H; y++) {
			for (int x = 0; x < W; x++) {
				float around = (at(in, x - 1, y) + at(in, x + 1, y)) +
					       (at(in, x, y - 1) + at(in, x, y + 1));

				out[y * W + x] = fmaf(0.2f, fmaf(-4.0f, in[y * W + x], around),
						      in[y * W + x]);
			}
		}
	}
	CHECK(cudaMemcpy(got, d[STEPS % 2], sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++)
		wrong += got[i] != plate[STEPS % 2][i];
	return verdict(!wrong, "%d x %d cells after %d steps bit by bit, %d wrong", W, H, STEPS, wrong);
}
