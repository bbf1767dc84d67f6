// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of boxes between host, GPU and arrays of one, two and three dimensions, also bytes that go
 * over the ends of lines.
 */
#include "../programs/check.h"

enum { W = 37, H = 9, D = 5 };

static float in[D][H][W], out[D][H][W];
static int wrong;

static void compare(const char *what)
{
	for (int i = 0; i < W * H * D; i++) {
		if ((&out[0][0][0])[i] != (&in[0][0][0])[i]) {
			printf("%s: element %d is %g, not %g\n", what, i, (&out[0][0][0])[i],
			       (&in[0][0][0])[i]);
			wrong++;
			break;
		}
	}
	memset(out, 0, sizeof(out));
}

static void through_volume(void)
{
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>(), got;
	cudaMemcpy3DParms p = {};
	cudaExtent extent = make_cudaExtent(W, H, D), e;
	cudaPitchedPtr box;
	cudaArray_t array;
	unsigned int flags;

	CHECK(cudaMalloc3D(&box, make_cudaExtent(W * 4, H, D)));
	CHECK(cudaMalloc3DArray(&array, &desc, extent));
	CHECK(cudaArrayGetInfo(&got, &e, &flags, array));
	wrong += got.x != 32 || got.y || got.f != cudaChannelFormatKindFloat || e.width != W ||
		 e.height != H || e.depth != D || flags;
	p.srcPtr = make_cudaPitchedPtr(in, W * 4, W, H);
	p.dstArray = array;
	p.extent = extent;
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&p));
	p = {};
	p.srcArray = array;
	p.dstPtr = box;
	p.extent = extent;
	p.kind = cudaMemcpyDeviceToDevice;
	CHECK(cudaMemcpy3DAsync(&p, 0));
	p = {};
	p.srcPtr = box;
	p.dstPtr = make_cudaPitchedPtr(out, W * 4, W, H);
	p.extent = make_cudaExtent(W * 4, H, D);
	p.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&p));
	compare("volume");
	CHECK(cudaFreeArray(array));
	CHECK(cudaFree(box.ptr));
}

static void through_plane(void)
{
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
	cudaArray_t a, b;

	CHECK(cudaMallocArray(&a, &desc, W, H * D));
	CHECK(cudaMallocArray(&b, &desc, W, H * D));
	CHECK(cudaMemcpy2DToArray(a, 0, 0, in, W * 4, W * 4, H * D, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, W * 4, H * D));
	CHECK(cudaMemcpy2DFromArray(out, W * 4, b, 0, 0, W * 4, H * D, cudaMemcpyDeviceToHost));
	compare("plane");
	/* 3 elements; the others but the last 5; the last 5 */
	CHECK(cudaMemcpyToArray(a, 0, 0, in, 3 * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyToArray(a, 3 * 4, 0, (char *)in + 3 * 4, sizeof(in) - 3 * 4 - 20,
				cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyToArray(a, W * 4 - 20, H * D - 1, (char *)in + sizeof(in) - 20, 20,
				cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, sizeof(in)));
	CHECK(cudaMemcpyFromArray(out, b, 0, 0, 52, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyFromArray((char *)out + 52, b, 52, 0, sizeof(out) - 52,
				  cudaMemcpyDeviceToHost));
	compare("bytes");
	wrong += cudaMemcpyToArray(a, 4, 0, in, sizeof(in), cudaMemcpyHostToDevice) !=
		 cudaErrorInvalidValue;
	cudaGetLastError();
	CHECK(cudaFreeArray(a));
	CHECK(cudaFreeArray(b));
}

int main(void)
{
	for (int i = 0; i < W * H * D; i++)
		(&in[0][0][0])[i] = i * 0.75f - 100;
	through_volume();
	through_plane();
	return verdict(!wrong, "%d wrong", wrong);
}
