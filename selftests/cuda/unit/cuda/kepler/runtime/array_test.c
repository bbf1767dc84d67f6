// SPDX-License-Identifier: MIT
/*
 * Arrays, texture and surface objects, and texture references of the runtime API on a fake device.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include "../driver/fake.h"
#include "program.h"

enum { W = 37, H = 9, D = 5 };

static const struct cudaChannelFormatDesc ints = { 32, 0, 0, 0, cudaChannelFormatKindSigned };
static uint32_t in[D][H][W], out[D][H][W];

static int set_up(void **state)
{
	unsigned int i;

	for (i = 0; i < W * H * D; i++)
		(&in[0][0][0])[i] = (i + 1) * 2654435761u;
	memset(out, 0, sizeof(out));
	return cudaGetLastError();
}

/* Nothing is left open or allocated, and no work began before what it has to wait for. */
static int tear_down(void **state)
{
	int r = cudaDeviceReset();

	return r || fake_open || fake_buffers || fake_early || cudaGetLastError();
}

TEST(channels)
{
	static const struct cudaChannelFormatDesc good[] = {
		{ 8, 0, 0, 0, cudaChannelFormatKindUnsigned }, { 16, 16, 0, 0,
			cudaChannelFormatKindSigned },
		{ 32, 32, 32, 32, cudaChannelFormatKindFloat }, { 16, 16, 16, 16,
			cudaChannelFormatKindFloat },
	}, bad[] = {
		{ 0, 0, 0, 0, cudaChannelFormatKindUnsigned }, { 8, 8, 8, 0,
			cudaChannelFormatKindUnsigned },
		{ 8, 16, 0, 0, cudaChannelFormatKindUnsigned }, { 8, 0, 8, 0,
			cudaChannelFormatKindUnsigned },
		{ 8, 0, 0, 0, cudaChannelFormatKindFloat }, { 24, 0, 0, 0,
			cudaChannelFormatKindSigned },
		{ 32, 0, 0, 0, cudaChannelFormatKindNone }, { 8, 0, 0, 0, 77 },
	};
	struct cudaChannelFormatDesc d;
	struct cudaExtent extent;
	unsigned int i, flags;
	cudaArray_t a;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		OK(cudaMallocArray(&a, &good[i], 16, 8, cudaArraySurfaceLoadStore));
		OK(cudaGetChannelDesc(&d, a));
		assert_memory_equal(&d, &good[i], sizeof(d));
		OK(cudaArrayGetInfo(&d, &extent, &flags, a));
		assert_true(extent.width == 16 && extent.height == 8 && extent.depth == 0 &&
			    flags == cudaArraySurfaceLoadStore);
		OK(cudaFreeArray(a));
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		FAILS(cudaMallocArray(&a, &bad[i], 16, 8, 0), cudaErrorInvalidChannelDescriptor);
	FAILS(cudaMallocArray(&a, NULL, 16, 8, 0), cudaErrorInvalidValue);
	FAILS(cudaMallocArray(&a, &ints, 0, 8, 0), cudaErrorInvalidValue);
	FAILS(cudaMallocArray(&a, &ints, 8, 8, cudaArrayLayered), cudaErrorInvalidValue);
	FAILS(cudaArrayGetInfo(NULL, NULL, NULL, NULL), cudaErrorInvalidResourceHandle);
	OK(cudaFreeArray(NULL));
	d = cudaCreateChannelDesc(1, 2, 3, 4, cudaChannelFormatKindFloat);
	assert_true(d.x == 1 && d.y == 2 && d.z == 3 && d.w == 4 &&
		    d.f == cudaChannelFormatKindFloat);
	cudaGetLastError();
}

TEST(volume)
{
	struct cudaMemcpy3DParms p = { .srcPtr = { in, W * 4, W, H },
				       .extent = { W, H, D },
				       .kind = cudaMemcpyHostToDevice };
	cudaArray_t a, narrow;
	unsigned int y, z;

	OK(cudaMalloc3DArray(&a, &ints, p.extent, 0));
	p.dstArray = a;
	OK(cudaMemcpy3D(&p));
	p = (struct cudaMemcpy3DParms){ .srcArray = a,
					.dstPtr = { out, W * 4, W, H },
					.extent = { W, H, D },
					.kind = cudaMemcpyDeviceToHost };
	OK(cudaMemcpy3D_ptds(&p));
	assert_memory_equal(in, out, sizeof(in));
	/* in an array elements count, in memory bytes */
	memset(out, 0, sizeof(out));
	p.srcPos = (struct cudaPos){ 30, 2, 3 };
	p.dstPos = (struct cudaPos){ 8, 1, 0 };
	p.extent = (struct cudaExtent){ 7, 3, 2 };
	OK(cudaMemcpy3DAsync(&p, NULL));
	OK(cudaStreamSynchronize(NULL));
	for (z = 0; z < 2; z++)
		for (y = 0; y < 3; y++)
			assert_memory_equal(&out[z][y + 1][2], &in[z + 3][y + 2][30], 28);
	assert_int_equal(out[0][0][0] | out[0][1][1] | out[0][1][9], 0);
	p.kind = cudaMemcpyHostToDevice;
	FAILS(cudaMemcpy3D(&p), cudaErrorInvalidMemcpyDirection);
	p.kind = cudaMemcpyDeviceToHost;
	p.srcPos.x = 31;
	FAILS(cudaMemcpy3D(&p), cudaErrorInvalidValue);
	p.srcPtr.ptr = in;
	FAILS(cudaMemcpy3D(&p), cudaErrorInvalidValue);
	OK(cudaMallocArray(&narrow,
			   &(struct cudaChannelFormatDesc){ 8, 0, 0, 0,
							    cudaChannelFormatKindUnsigned },
			   W, H, 0));
	p = (struct cudaMemcpy3DParms){ .srcArray = a,
					.dstArray = narrow,
					.extent = { 1, 1, 1 },
					.kind = cudaMemcpyDeviceToDevice };
	FAILS(cudaMemcpy3D(&p), cudaErrorInvalidValue);
	cudaGetLastError();
}

TEST(plane)
{
	cudaArray_t a, b;

	OK(cudaMallocArray(&a, &ints, W, H * D, 0));
	OK(cudaMallocArray(&b, &ints, W, H * D, 0));
	OK(cudaMemcpy2DToArray(a, 0, 0, in, W * 4, W * 4, H * D, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, W * 4, H * D, cudaMemcpyDeviceToDevice));
	OK(cudaMemcpy2DFromArrayAsync(out, W * 4, b, 0, 0, W * 4, H * D, cudaMemcpyDefault, NULL));
	OK(cudaDeviceSynchronize());
	assert_memory_equal(in, out, sizeof(in));
	memset(out, 0, sizeof(out));
	OK(cudaMemcpy2DFromArray(out, 100, b, 20, 3, 40, 2, cudaMemcpyDeviceToHost));
	assert_memory_equal(out, &in[0][3][5], 40);
	assert_memory_equal((char *)out + 100, &in[0][4][5], 40);
	assert_int_equal(out[0][0][10], 0);
	FAILS(cudaMemcpy2DToArray(a, 0, 0, in, 10, 12, 2, cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	FAILS(cudaMemcpy2DToArray(a, 4, 0, in, W * 4, W * 4, 2, cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	FAILS(cudaMemcpy2DToArray(a, 0, 0, in, W * 4, W * 4, 2, cudaMemcpyDeviceToHost),
	      cudaErrorInvalidMemcpyDirection);
	FAILS(cudaMemcpy2DFromArray(out, W * 4, a, 0, 0, W * 4, 2, cudaMemcpyHostToDevice),
	      cudaErrorInvalidMemcpyDirection);
	FAILS(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 4, 1, cudaMemcpyHostToHost),
	      cudaErrorInvalidMemcpyDirection);
	cudaGetLastError();
}

/* Copies of bytes go on in the next line, and begin and end anywhere. */
TEST(bytes)
{
	size_t cuts[] = { 0, 12, 12 + 136, 500, 500 + 148 * 3, sizeof(in) - 20, sizeof(in) };
	cudaArray_t a, b;
	unsigned int i;

	OK(cudaMallocArray(&a, &ints, W, H * D, 0));
	OK(cudaMallocArray(&b, &ints, W * 2, H * D, 0));
	for (i = 0; i + 1 < sizeof(cuts) / sizeof(cuts[0]); i++)
		OK(cudaMemcpyToArray(a, cuts[i] % (W * 4), cuts[i] / (W * 4), (char *)in + cuts[i],
				     cuts[i + 1] - cuts[i], cudaMemcpyHostToDevice));
	OK(cudaMemcpyFromArray(out, a, 0, 0, sizeof(out), cudaMemcpyDeviceToHost));
	assert_memory_equal(in, out, sizeof(in));
	/* lines of another length */
	OK(cudaMemcpyArrayToArray(b, 8, 1, a, 4, 0, sizeof(in) - 4, cudaMemcpyDeviceToDevice));
	memset(out, 0, sizeof(out));
	for (i = 0; i + 1 < sizeof(cuts) / sizeof(cuts[0]); i++) {
		size_t from = cuts[i] + 8 + W * 8, n = cuts[i + 1] - cuts[i];

		n = cuts[i + 1] == sizeof(in) ? n - 4 : n;
		OK(cudaMemcpyFromArrayAsync((char *)out + cuts[i], b, from % (W * 8),
					    from / (W * 8), n, cudaMemcpyDeviceToHost, NULL));
	}
	OK(cudaDeviceSynchronize());
	assert_memory_equal((char *)in + 4, out, sizeof(in) - 4);
	FAILS(cudaMemcpyToArray(a, 4, 0, in, sizeof(in), cudaMemcpyHostToDevice),
	      cudaErrorInvalidValue);
	FAILS(cudaMemcpyToArray(a, W * 4, 0, in, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	FAILS(cudaMemcpyFromArray(out, a, 0, H * D, 4, cudaMemcpyDeviceToHost),
	      cudaErrorInvalidValue);
	FAILS(cudaMemcpyToArray(NULL, 0, 0, in, 4, cudaMemcpyHostToDevice),
	      cudaErrorInvalidResourceHandle);
	cudaGetLastError();
}

TEST(mipmaps)
{
	struct cudaExtent extent;
	cudaMipmappedArray_t m;
	cudaArray_t level;
	unsigned int i;

	OK(cudaMallocMipmappedArray(&m, &ints, (struct cudaExtent){ 16, 8, 0 }, 5, 0));
	for (i = 0; i < 5; i++) {
		OK(cudaGetMipmappedArrayLevel(&level, m, i));
		OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
		assert_int_equal(extent.width, 16 >> i);
		assert_int_equal(extent.height, i < 4 ? 8 >> i : 1);
	}
	FAILS(cudaGetMipmappedArrayLevel(&level, m, 5), cudaErrorInvalidValue);
	OK(cudaFreeMipmappedArray(m));
	OK(cudaFreeMipmappedArray(NULL));
	cudaGetLastError();
}

TEST(texture_objects)
{
	struct cudaResourceDesc r = { .resType = cudaResourceTypeArray }, got;
	struct cudaTextureDesc t = { .addressMode = { cudaAddressModeMirror, cudaAddressModeBorder,
						      cudaAddressModeClamp },
				     .readMode = cudaReadModeElementType,
				     .normalizedCoords = 1,
				     .maxAnisotropy = 4,
				     .borderColor = { 1, 2, 3, 4 },
				     .mipmapLevelBias = 0.5f,
				     .maxMipmapLevelClamp = 3 },
			       said;
	struct cudaTextureDesc_v2 t2 = { .seamlessCubemap = 1 }, said2;
	cudaTextureObject_t object;
	cudaSurfaceObject_t surface;
	cudaArray_t a;
	void *p;

	OK(cudaMallocArray(&a, &ints, 16, 16, cudaArraySurfaceLoadStore));
	r.res.array.array = a;
	OK(cudaCreateTextureObject(&object, &r, &t, NULL));
	OK(cudaGetTextureObjectTextureDesc(&said, object));
	assert_memory_equal(&said, &t, sizeof(t));
	OK(cudaGetTextureObjectResourceDesc(&got, object));
	assert_int_equal(got.resType, cudaResourceTypeArray);
	assert_ptr_equal(got.res.array.array, a);
	OK(cudaDestroyTextureObject(object));
	FAILS(cudaGetTextureObjectTextureDesc(&said, object), cudaErrorInvalidValue);
	OK(cudaCreateTextureObject_v2(&object, &r, &t2, NULL));
	OK(cudaGetTextureObjectTextureDesc_v2(&said2, object));
	assert_int_equal(said2.seamlessCubemap, 1);
	t.filterMode = cudaFilterModeLinear;
	FAILS(cudaCreateTextureObject(&object, &r, &t, NULL), cudaErrorInvalidFilterSetting);
	t.readMode = cudaReadModeNormalizedFloat;
	FAILS(cudaCreateTextureObject(&object, &r, &t, NULL), cudaErrorInvalidNormSetting);
	FAILS(cudaCreateTextureObject(&object, &r, NULL, NULL), cudaErrorInvalidResourceHandle);
	OK(cudaCreateSurfaceObject(&surface, &r));
	OK(cudaGetSurfaceObjectResourceDesc(&got, surface));
	assert_ptr_equal(got.res.array.array, a);
	OK(cudaDestroySurfaceObject(surface));
	OK(cudaMalloc(&p, 4096));
	r = (struct cudaResourceDesc){ .resType = cudaResourceTypeLinear };
	r.res.linear.devPtr = p;
	r.res.linear.desc = ints;
	r.res.linear.sizeInBytes = 4096;
	t = (struct cudaTextureDesc){ .readMode = cudaReadModeElementType };
	OK(cudaCreateTextureObject(&object, &r, &t, NULL));
	OK(cudaGetTextureObjectResourceDesc(&got, object));
	assert_true(got.res.linear.devPtr == p && got.res.linear.sizeInBytes == 4096);
	assert_memory_equal(&got.res.linear.desc, &ints, sizeof(ints));
	FAILS(cudaCreateSurfaceObject(&surface, &r), cudaErrorInvalidValue);
	r.resType = 9;
	FAILS(cudaCreateTextureObject(&object, &r, &t, NULL), cudaErrorInvalidValue);
	cudaGetLastError();
}

/* The view's format counts, not the array's. */
TEST(texture_views)
{
	enum { UINT_1X8 = 1, INT_1X32 = 16, HALF_1X16 = 19, FLOAT_1X32 = 22 };
	static const struct {
		unsigned int array_bits, view;
		bool as_numbers, linear;
		cudaError_t error;
	} reads[] = {
		{ 32, FLOAT_1X32, false, true, cudaSuccess },
		{ 32, INT_1X32, false, true, cudaErrorInvalidFilterSetting },
		{ 32, INT_1X32, false, false, cudaSuccess },
		{ 32, INT_1X32, true, true, cudaErrorInvalidNormSetting },
		{ 16, HALF_1X16, false, true, cudaSuccess },
		{ 8, UINT_1X8, false, true, cudaErrorInvalidFilterSetting },
		{ 8, UINT_1X8, true, true, cudaSuccess },
		{ 32, 0, false, true, cudaErrorInvalidFilterSetting },
	};
	struct cudaResourceDesc r = { .resType = cudaResourceTypeArray };
	cudaTextureObject_t object;
	cudaArray_t a;
	unsigned int i;

	for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		struct cudaChannelFormatDesc d = { reads[i].array_bits, 0, 0, 0,
						   cudaChannelFormatKindUnsigned };
		struct cudaResourceViewDesc v = {
			.format = (enum cudaResourceViewFormat)reads[i].view,
			.width = 16,
			.height = 16
		};
		struct cudaTextureDesc t = {
			.filterMode = reads[i].linear ? cudaFilterModeLinear : cudaFilterModePoint,
			.readMode = reads[i].as_numbers ? cudaReadModeNormalizedFloat :
							  cudaReadModeElementType,
		};

		OK(cudaMallocArray(&a, &d, 16, 16, 0));
		r.res.array.array = a;
		FAILS(cudaCreateTextureObject(&object, &r, &t, &v), reads[i].error);
		if (!reads[i].error)
			OK(cudaDestroyTextureObject(object));
		OK(cudaFreeArray(a));
	}
	cudaGetLastError();
}

/* selftests/cuda/driver/kernels.cu has plain_ref (float, 2D) and linear_ref (unsigned char, 1D). */
TEST(references)
{
	static struct textureReference plain = { .channelDesc = { 32, 0, 0, 0,
								  cudaChannelFormatKindFloat } },
				       linear, unknown;
	static const struct cudaChannelFormatDesc bytes = { 8, 0, 0, 0,
							    cudaChannelFormatKindUnsigned };
	const struct textureReference *ref;
	void **handle = register_program(), *p;
	size_t offset = 99, pitch;
	cudaArray_t a;

	__cudaRegisterTexture(handle, &plain, (const void **)"plain_ref", "::plain_ref", 2, 0, 0);
	__cudaRegisterTexture(handle, &linear, (const void **)"linear_ref", "::linear_ref", 1, 1,
			      0);
	OK(cudaGetTextureReference(&ref, &plain));
	assert_ptr_equal(ref, &plain);
	FAILS(cudaGetTextureReference(&ref, &unknown), cudaErrorInvalidTexture);
	FAILS(cudaGetTextureAlignmentOffset(&offset, &linear), cudaErrorInvalidTextureBinding);
	OK(cudaMalloc(&p, 4096));
	OK(cudaBindTexture(&offset, &linear, p, &bytes, UINT32_MAX));
	assert_int_equal(offset, 0);
	OK(cudaBindTexture(&offset, &linear, (char *)p + 37, &bytes, 100));
	assert_int_equal(offset, 37);
	OK(cudaGetTextureAlignmentOffset(&offset, &linear));
	assert_int_equal(offset, 37);
	FAILS(cudaBindTexture(NULL, &linear, (char *)p + 37, &bytes, 100), cudaErrorInvalidValue);
	OK(cudaBindTexture(NULL, &linear, p, &bytes, 100));
	FAILS(cudaBindTexture(NULL, &unknown, p, &bytes, 100), cudaErrorInvalidTexture);
	FAILS(cudaBindTexture(NULL, &linear, p, &ints, 100), cudaErrorInvalidNormSetting);
	OK(cudaUnbindTexture(&linear));
	OK(cudaMallocPitch(&p, &pitch, 64, 8));
	OK(cudaBindTexture2D(&offset, &plain, p, &plain.channelDesc, 16, 8, pitch));
	assert_int_equal(offset, 0);
	OK(cudaMallocArray(&a, &plain.channelDesc, 16, 8, 0));
	OK(cudaBindTextureToArray(&plain, a, &plain.channelDesc));
	FAILS(cudaBindTextureToArray(&plain, a, &ints), cudaErrorInvalidValue);
	FAILS(cudaBindTextureToArray(&plain, NULL, &plain.channelDesc),
	      cudaErrorInvalidResourceHandle);
	FAILS(cudaBindSurfaceToArray((struct surfaceReference *)&plain, a, &plain.channelDesc),
	      cudaErrorInvalidSurface);
	cudaGetLastError();
	unregister_program();
}

TEST_MAIN(set_up, tear_down)
