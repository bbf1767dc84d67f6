// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines and volumes with a pitch: cudaMallocPitch, cudaMalloc3D, copies of rectangles and boxes,
 * fills of them.
 */
#include "check.h"

enum { W = 77, H = 41, D = 5 };

__global__ void twice(char *base, size_t pitch, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

	if (x < w && y < h)
		((short *)(base + y * pitch))[x] *= 2;
}

__global__ void boxes(cudaPitchedPtr p, int d)
{
	char *slice = (char *)p.ptr + blockIdx.x * p.pitch * p.ysize;

	for (int y = 0; y < H; y++)
		((float *)(slice + y * p.pitch))[threadIdx.x] += blockIdx.x * 1000 + y;
}

static int wrong;

static void rectangles(void)
{
	static short in[H][W + 3], out[H][W + 5];
	short *d, *e;
	size_t pitch, pitch2;

	for (int i = 0; i < H * (W + 3); i++)
		in[i / (W + 3)][i % (W + 3)] = i * 5;
	CHECK(cudaMallocPitch(&d, &pitch, W * 2, H));
	CHECK(cudaMallocPitch(&e, &pitch2, (W + 20) * 2, H + 4));
	wrong += pitch < W * 2 || pitch % 32;
	CHECK(cudaMemset2D(d, pitch, 0xff, W * 2, H));
	CHECK(cudaMemcpy2D(d, pitch, in, sizeof(in[0]), W * 2, H - 1, cudaMemcpyHostToDevice));
	twice<<<dim3(CEIL_DIV(W, 32), H), 32>>>((char *)d, pitch, W, H);
	CHECK_LAUNCH();
	CHECK(cudaMemset2D(e, pitch2, 0x11, (W + 20) * 2, H + 4));
	CHECK(cudaMemcpy2D((char *)e + 2 * pitch2 + 14, pitch2, d, pitch, W * 2, H,
			   cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpy2D(out, sizeof(out[0]), (char *)e + pitch2 + 12, pitch2, (W + 2) * 2, H,
			   cudaMemcpyDeviceToHost));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W + 2; x++) {
			short want = 0x1111;

			if (y >= 1 && x >= 1 && x <= W)
				want = y - 1 < H - 1 ? (short)(in[y - 1][x - 1] * 2) : -2;
			wrong += out[y][x] != want;
		}
	CHECK(cudaFree(d));
	CHECK(cudaFree(e));
}

static void volumes(void)
{
	static float in[D][H][W], out[D][H][W];
	cudaExtent extent = make_cudaExtent(W * sizeof(float), H, D);
	cudaMemcpy3DParms to = { 0 }, back = { 0 };
	cudaPitchedPtr p;

	for (int i = 0; i < D * H * W; i++)
		in[i / (H * W)][i / W % H][i % W] = i % 8191;
	CHECK(cudaMalloc3D(&p, extent));
	CHECK(cudaMemset3D(p, 0, extent));
	to.srcPtr = make_cudaPitchedPtr(in, W * sizeof(float), W, H);
	to.dstPtr = p;
	to.extent = make_cudaExtent(W * sizeof(float), H, D - 1);
	to.dstPos = make_cudaPos(0, 0, 1);
	to.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&to));
	boxes<<<D, W>>>(p, D);
	CHECK_LAUNCH();
	back.srcPtr = p;
	back.dstPtr = make_cudaPitchedPtr(out, W * sizeof(float), W, H);
	back.extent = make_cudaExtent((W - 2) * sizeof(float), H - 3, D);
	back.srcPos = make_cudaPos(2 * sizeof(float), 3, 0);
	back.dstPos = make_cudaPos(sizeof(float), 1, 0);
	back.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&back));
	for (int z = 0; z < D; z++)
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				float want = 0;

				if (x >= 1 && x < W - 1 && y >= 1 && y < H - 2)
					want = (z ? in[z - 1][y + 2][x + 1] : 0) + z * 1000 + y + 2;
				wrong += out[z][y][x] != want;
			}
	CHECK(cudaFree(p.ptr));
}

int main(void)
{
	rectangles();
	volumes();
	return verdict(!wrong, "rectangles of %d x %d, boxes of %d x %d x %d, %d wrong", W, H, W, H, D, wrong);
}
