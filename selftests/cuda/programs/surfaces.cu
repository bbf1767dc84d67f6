// SPDX-License-Identifier: GPL-2.0-only
/*
 * Surfaces: read and written by kernels in two dimensions, through objects and a reference, and
 * written in three and in layers. Outside, a read is clamped or gives zero, and a write does
 * nothing.
 */
#include "check.h"

enum { W = 40, H = 24, D = 6 };

surface<void, cudaSurfaceType2D> reference;

__global__ void rotate(cudaSurfaceObject_t in, cudaSurfaceObject_t out)
{
	int x = threadIdx.x, y = blockIdx.x;
	short4 v = surf2Dread<short4>(in, x * sizeof(short4), y);

	v.x += 1;
	surf2Dwrite(v, out, (W - 1 - x) * sizeof(short4), H - 1 - y);
}

__global__ void outside(cudaSurfaceObject_t s, int *out)
{
	int i = threadIdx.x;

	out[i] = surf2Dread<int>(s, (i - 8) * 4, 2, cudaBoundaryModeZero);
	out[64 + i] = surf2Dread<int>(s, (i - 8) * 4, 2, cudaBoundaryModeClamp);
	surf2Dwrite(-1, s, (i + W) * 4, 1, cudaBoundaryModeZero);
}

__global__ void by_reference(int add)
{
	int v = surf2Dread<int>(reference, threadIdx.x * 4, blockIdx.x);

	surf2Dwrite(v + add, reference, threadIdx.x * 4, blockIdx.x);
}

__global__ void fill_3d(cudaSurfaceObject_t s)
{
	surf3Dwrite((float)(blockIdx.y * 10000 + blockIdx.x * 100 + threadIdx.x), s,
		    threadIdx.x * 4, blockIdx.x, blockIdx.y);
}

__global__ void fill_layers(cudaSurfaceObject_t s)
{
	surf2DLayeredwrite((unsigned char)(blockIdx.y * 40 + blockIdx.x + threadIdx.x), s,
			   threadIdx.x, blockIdx.x, blockIdx.y);
}

__global__ void look(cudaTextureObject_t t, float *out)
{
	out[(blockIdx.y * H + blockIdx.x) * W + threadIdx.x] =
		tex3D<float>(t, threadIdx.x + 0.5f, blockIdx.x + 0.5f, blockIdx.y + 0.5f);
}

static cudaResourceDesc of(cudaArray_t a)
{
	cudaResourceDesc r;

	memset(&r, 0, sizeof(r));
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	return r;
}

static cudaSurfaceObject_t surface_of(cudaArray_t a)
{
	cudaResourceDesc r = of(a);
	cudaSurfaceObject_t s;

	CHECK(cudaCreateSurfaceObject(&s, &r));
	return s;
}

static int wrong;

static void planes(void)
{
	static short4 in[H][W], out[H][W];
	static int numbers[H][W], got[128];
	cudaChannelFormatDesc f = cudaCreateChannelDesc<short4>(),
			      fi = cudaCreateChannelDesc<int>();
	cudaArray_t a, b, c;
	cudaSurfaceObject_t sa, sb, sc;
	int *d;

	for (int i = 0; i < W * H; i++) {
		in[i / W][i % W] = make_short4(i, -i, i * 2, 3);
		numbers[i / W][i % W] = i * 5;
	}
	CHECK(cudaMallocArray(&a, &f, W, H, cudaArraySurfaceLoadStore));
	CHECK(cudaMallocArray(&b, &f, W, H, cudaArraySurfaceLoadStore));
	CHECK(cudaMemcpy2DToArray(a, 0, 0, in, sizeof(in[0]), sizeof(in[0]), H,
				  cudaMemcpyHostToDevice));
	sa = surface_of(a);
	sb = surface_of(b);
	rotate<<<H, W>>>(sa, sb);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy2DFromArray(out, sizeof(out[0]), b, 0, 0, sizeof(out[0]), H,
				    cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++) {
		short4 v = in[i / W][i % W], w = out[H - 1 - i / W][W - 1 - i % W];

		wrong += w.x != (short)(v.x + 1) || w.y != v.y || w.z != v.z || w.w != v.w;
	}
	CHECK(cudaDestroySurfaceObject(sa));
	CHECK(cudaDestroySurfaceObject(sb));

	CHECK(cudaMallocArray(&c, &fi, W, H, cudaArraySurfaceLoadStore));
	CHECK(cudaMemcpy2DToArray(c, 0, 0, numbers, sizeof(numbers[0]), sizeof(numbers[0]), H,
				  cudaMemcpyHostToDevice));
	CHECK(cudaMalloc(&d, sizeof(got)));
	sc = surface_of(c);
	outside<<<1, 64>>>(sc, d);
	CHECK(cudaBindSurfaceToArray(reference, c));
	by_reference<<<H, W>>>(1000);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 64; i++) {
		int x = i - 8;

		wrong += got[i] != (x >= 0 && x < W ? numbers[2][x] : 0);
		wrong += got[64 + i] != numbers[2][x < 0 ? 0 : x >= W ? W - 1 : x];
	}
	int after[H][W];
	CHECK(cudaMemcpy2DFromArray(after, sizeof(after[0]), c, 0, 0, sizeof(after[0]), H,
				    cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++)
		wrong += after[i / W][i % W] != i * 5 + 1000;
	CHECK(cudaFreeArray(a));
	CHECK(cudaFreeArray(b));
	CHECK(cudaFreeArray(c));
}

static void volumes(void)
{
	static float got[D][H][W];
	static unsigned char bytes[D][H][W];
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(),
			      f8 = cudaCreateChannelDesc<unsigned char>();
	cudaMemcpy3DParms p = { 0 };
	cudaTextureObject_t t;
	cudaTextureDesc td;
	cudaResourceDesc r;
	cudaArray_t a, b;
	float *d;

	CHECK(cudaMalloc3DArray(&a, &f, make_cudaExtent(W, H, D), cudaArraySurfaceLoadStore));
	fill_3d<<<dim3(H, D), W>>>(surface_of(a));
	CHECK_LAUNCH();
	r = of(a);
	memset(&td, 0, sizeof(td));
	CHECK(cudaCreateTextureObject(&t, &r, &td, NULL));
	CHECK(cudaMalloc(&d, sizeof(got)));
	look<<<dim3(H, D), W>>>(t, d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H * D; i++)
		wrong += (&got[0][0][0])[i] != i / W / H * 10000 + i / W % H * 100 + i % W;
	CHECK(cudaMalloc3DArray(&b, &f8, make_cudaExtent(W, H, D),
				cudaArraySurfaceLoadStore | cudaArrayLayered));
	fill_layers<<<dim3(H, D), W>>>(surface_of(b));
	CHECK_LAUNCH();
	p.srcArray = b;
	p.dstPtr = make_cudaPitchedPtr(bytes, W, W, H);
	p.extent = make_cudaExtent(W, H, D);
	p.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&p));
	for (int i = 0; i < W * H * D; i++)
		wrong += (&bytes[0][0][0])[i] !=
			 (unsigned char)(i / W / H * 40 + i / W % H + i % W);
}

int main(void)
{
	planes();
	volumes();
	return verdict(!wrong, "surfaces of 2 and 3 dimensions, layers, outside of them, by reference, as textures, %d wrong", wrong);
}
