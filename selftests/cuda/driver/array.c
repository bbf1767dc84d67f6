// SPDX-License-Identifier: GPL-2.0-only
/* Arrays of every shape, filled and read back by copies. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

CUarray new_array(size_t width, size_t height, size_t depth, CUarray_format format,
		  unsigned int channels, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR d = { .Width = width,
				      .Height = height,
				      .Depth = depth,
				      .Format = format,
				      .NumChannels = channels,
				      .Flags = flags };
	CUarray a;

	MUST(cuArray3DCreate_v2(&a, &d));
	return a;
}

/* all texels of an array or a level, to or from host memory without gaps */
CUresult array_copy(CUarray a, void *host, size_t row, size_t height, size_t depth, bool to_array)
{
	CUDA_MEMCPY3D c = { .WidthInBytes = row, .Height = height, .Depth = depth };

	if (to_array) {
		c.srcMemoryType = CU_MEMORYTYPE_HOST;
		c.srcHost = host;
		c.srcPitch = row;
		c.srcHeight = height;
		c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
		c.dstArray = a;
	} else {
		c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
		c.srcArray = a;
		c.dstMemoryType = CU_MEMORYTYPE_HOST;
		c.dstHost = host;
		c.dstPitch = row;
		c.dstHeight = height;
	}
	return cuMemcpy3D_v2(&c);
}

static const struct shape {
	const char *name;
	size_t width, height, depth;
	CUarray_format format;
	unsigned int channels, flags;
} shapes[] = {
	{ "1D", 1000, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0 },
	{ "1D, wide", 65536, 0, 0, CU_AD_FORMAT_FLOAT, 4, 0 },
	{ "2D", 333, 77, 0, CU_AD_FORMAT_FLOAT, 1, 0 },
	{ "2D, one line", 40, 1, 0, CU_AD_FORMAT_HALF, 2, 0 },
	{ "2D, wide", 9000, 300, 0, CU_AD_FORMAT_UNSIGNED_INT32, 4, 0 },
	{ "3D", 50, 21, 19, CU_AD_FORMAT_SIGNED_INT16, 1, 0 },
	{ "3D, flat", 70, 100, 2, CU_AD_FORMAT_SIGNED_INT8, 4, 0 },
	{ "1D layered", 129, 0, 7, CU_AD_FORMAT_UNSIGNED_INT8, 2, CUDA_ARRAY3D_LAYERED },
	{ "2D layered", 61, 35, 5, CU_AD_FORMAT_FLOAT, 2, CUDA_ARRAY3D_LAYERED },
	{ "cube map", 24, 24, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP },
	{ "layered cube map", 10, 10, 18, CU_AD_FORMAT_UNSIGNED_INT16, 4,
	  CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED },
};

static unsigned int bytes_of(CUarray_format f)
{
	return f == CU_AD_FORMAT_UNSIGNED_INT8 || f == CU_AD_FORMAT_SIGNED_INT8 ? 1 :
	       f == CU_AD_FORMAT_UNSIGNED_INT32 || f == CU_AD_FORMAT_SIGNED_INT32 ||
			       f == CU_AD_FORMAT_FLOAT ?
										  4 :
										  2;
}

/* all in, a box from the middle of another array copied in by way of linear memory, all out */
static void round_trip(const struct shape *s)
{
	size_t texel = bytes_of(s->format) * s->channels, row = s->width * texel,
	       h = s->height ? s->height : 1;
	size_t d = s->depth ? s->depth : 1, n = row * h * d, x = s->width / 3, y = h / 3, z = d / 3,
	       i, j;
	size_t w = s->width / 2, bh = (h + 1) / 2, bd = (d + 1) / 2;
	CUarray a = new_array(s->width, s->height, s->depth, s->format, s->channels, s->flags);
	CUarray b = new_array(s->width, s->height, s->depth, s->format, s->channels, s->flags);
	uint8_t *in = fresh(n), *other = fresh(n), *out = fresh(n);
	CUdeviceptr linear = device_buffer(n);
	CUDA_MEMCPY3D c = { .WidthInBytes = w * texel, .Height = bh, .Depth = bd };
	CUresult r;

	noise(in, n, n);
	noise(other, n, n + 1);
	r = array_copy(a, in, row, h, d, true);
	r = r ? r : array_copy(b, other, row, h, d, true);
	c.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	c.srcArray = b;
	c.srcXInBytes = x * texel;
	c.srcY = y;
	c.srcZ = z;
	c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	c.dstDevice = linear;
	c.dstPitch = row;
	c.dstHeight = h;
	r = r ? r : cuMemcpy3D_v2(&c);
	c.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	c.srcDevice = linear;
	c.srcPitch = row;
	c.srcHeight = h;
	c.srcXInBytes = c.srcY = c.srcZ = 0;
	c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	c.dstArray = a;
	c.dstXInBytes = (x ? x - 1 : 0) * texel;
	c.dstY = y;
	c.dstZ = z;
	r = r ? r : cuMemcpy3D_v2(&c);
	r = r ? r : array_copy(a, out, row, h, d, false);
	for (j = 0; j < bd; j++)
		for (i = 0; i < bh; i++)
			memcpy(in + ((z + j) * h + y + i) * row + c.dstXInBytes,
			       other + ((z + j) * h + y + i) * row + x * texel, w * texel);
	tap_result(!r && !memcmp(in, out, n), "an array in, a box from another, and out", "%s: %s",
		   s->name, error_name(r));
	MUST(cuArrayDestroy(a));
	MUST(cuArrayDestroy(b));
	MUST(cuMemFree_v2(linear));
	free(in);
	free(other);
	free(out);
}

static void runs_of_bytes(void)
{
	enum { W = 40, H = 9, N = W * H };
	CUarray a = new_array(W, H, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0),
		line = new_array(N, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
	CUdeviceptr d = device_buffer(N);
	uint8_t in[N], out[N];
	CUresult r;

	noise(in, N, 3);
	memset(out, 0, N);
	r = cuMemcpyHtoA_v2(line, 0, in, 13);
	r = r ? r : cuMemcpyHtoA_v2(line, 13, in + 13, N - 13);
	r = r ? r : cuMemcpyAtoD_v2(d, line, 0, N);
	r = r ? r : cuMemsetD8_v2(d, 0xee, W);
	r = r ? r : cuMemcpyHtoA_v2(a, 0, in, W);
	r = r ? r : cuMemcpyAtoD_v2(d, a, 0, W);
	r = r ? r : cuMemcpyDtoA_v2(line, 0, d, N);
	r = r ? r : cuMemcpyAtoA_v2(line, 5, line, 100, 50);
	memmove(in + 5, in + 100, 50);
	r = r ? r : cuMemcpyAtoH_v2(out, line, 0, N);
	tap_result(!r && !memcmp(in, out, N), "bytes into an array's first line and out", "%s",
		   error_name(r));
	r = cuMemcpyHtoA_v2(line, N - 10, in, 11);
	tap_result(r == CUDA_ERROR_INVALID_VALUE, "more bytes than a line has are refused", "%s",
		   error_name(r));
	MUST(cuArrayDestroy(a));
	MUST(cuArrayDestroy(line));
	MUST(cuMemFree_v2(d));
}

static void levels(void)
{
	CUDA_ARRAY3D_DESCRIPTOR d = { .Width = 100,
				      .Height = 60,
				      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
				      .NumChannels = 4 },
				got;
	uint8_t in[7][100 * 60 * 4], out[100 * 60 * 4];
	unsigned int i, wrong = 0;
	CUmipmappedArray m;
	CUresult r = CUDA_SUCCESS;
	CUarray a;

	MUST(cuMipmappedArrayCreate(&m, &d, 20));
	for (i = 0; i < 7 && !r; i++) {
		MUST(cuMipmappedArrayGetLevel(&a, m, i));
		MUST(cuArray3DGetDescriptor_v2(&got, a));
		wrong += got.Width != d.Width >> i || got.Height != (60u >> i ? 60u >> i : 1u);
		noise(in[i], sizeof(in[i]), i);
		r = array_copy(a, in[i], got.Width * 4, got.Height, 1, true);
	}
	for (i = 0; i < 7 && !r; i++) {
		MUST(cuMipmappedArrayGetLevel(&a, m, i));
		MUST(cuArray3DGetDescriptor_v2(&got, a));
		r = array_copy(a, out, got.Width * 4, got.Height, 1, false);
		wrong += memcmp(in[i], out, got.Width * 4 * got.Height) != 0;
	}
	tap_result(!r && !wrong, "the levels of a mipmapped array", "%s, %u wrong", error_name(r),
		   wrong);
	r = cuMipmappedArrayGetLevel(&a, m, 7);
	tap_result(r == CUDA_ERROR_INVALID_VALUE, "there are no more of them than sizes", "%s",
		   error_name(r));
	MUST(cuMipmappedArrayDestroy(m));
}

static void refused(void)
{
	static const struct shape bad[] = {
		{ "no width", 0, 5, 0, CU_AD_FORMAT_FLOAT, 1, 0 },
		{ "three channels", 5, 5, 0, CU_AD_FORMAT_FLOAT, 3, 0 },
		{ "depth without height", 5, 0, 5, CU_AD_FORMAT_FLOAT, 1, 0 },
		{ "a cube of five faces", 5, 5, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP },
		{ "too wide", 65537, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0 },
		{ "a format that is none", 5, 5, 0, 7, 1, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CUDA_ARRAY3D_DESCRIPTOR d = { .Width = bad[i].width,
					      .Height = bad[i].height,
					      .Depth = bad[i].depth,
					      .Format = bad[i].format,
					      .NumChannels = bad[i].channels,
					      .Flags = bad[i].flags };
		CUarray a;
		CUresult r = cuArray3DCreate_v2(&a, &d);

		tap_result(r == CUDA_ERROR_INVALID_VALUE, "no array", "%s: %s", bad[i].name,
			   error_name(r));
	}
}

void test_array(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		round_trip(&shapes[i]);
	runs_of_bytes();
	levels();
	refused();
}
