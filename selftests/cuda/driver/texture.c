// SPDX-License-Identifier: GPL-2.0-only
/*
 * Textures by objects and by references; each value computed here from what CUDA's manual says of
 * fetching.
 */
#include "driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 48, H = 20, D = 6 };

static float texels[D][H][W];

static void fill_texels(void)
{
	unsigned int i;

	for (i = 0; i < D * H * W; i++)
		(&texels[0][0][0])[i] = i * 7919 % 1021 / 4.0f;
}

static CUDA_RESOURCE_DESC of_array(CUarray a)
{
	CUDA_RESOURCE_DESC d = { .resType = CU_RESOURCE_TYPE_ARRAY };

	d.res.array.hArray = a;
	return d;
}

static CUDA_TEXTURE_DESC sampled(CUaddress_mode mode, CUfilter_mode filter, unsigned int flags)
{
	return (CUDA_TEXTURE_DESC){ .addressMode = { mode, mode, mode },
				    .filterMode = filter,
				    .flags = flags };
}

static CUtexObject object(const CUDA_RESOURCE_DESC *d, CUDA_TEXTURE_DESC t)
{
	CUtexObject o = 0;

	MUST(cuTexObjectCreate(&o, d, &t, NULL));
	return o;
}

static CUresult run(const char *name, unsigned int gx, unsigned int gy, unsigned int gz,
		    unsigned int block, void **params, void *out, CUdeviceptr from, size_t bytes)
{
	CUresult r = cuLaunchKernel(kernel(name), gx, gy, gz, block, 1, 1, 0, NULL, params, NULL);

	return r ? r : cuMemcpyDtoH_v2(out, from, bytes);
}

/* ------------------------------------------------------------------ two dimensions */

static int wrapped(CUaddress_mode mode, int i, int n, bool *inside)
{
	*inside = true;
	switch (mode) {
	case CU_TR_ADDRESS_MODE_WRAP:
		return (i % n + n) % n;
	case CU_TR_ADDRESS_MODE_MIRROR:
		i = (i % (2 * n) + 2 * n) % (2 * n);
		return i < n ? i : 2 * n - 1 - i;
	case CU_TR_ADDRESS_MODE_BORDER:
		*inside = i >= 0 && i < n;
		return *inside ? i : 0;
	default:
		return i < 0 ? 0 : i < n ? i : n - 1;
	}
}

static float texel(CUaddress_mode mode, int x, int y)
{
	bool in_x, in_y;

	x = wrapped(mode, x, W, &in_x);
	y = wrapped(mode, y, H, &in_y);
	return in_x && in_y ? texels[0][y][x] : -5;
}

/* manual, "texture fetching": filtering's weights have 8 bits of fraction */
static float expected(CUaddress_mode mode, bool linear, float x, float y)
{
	float a, b;
	int i, j;

	if (!linear)
		return texel(mode, floorf(x), floorf(y));
	x -= 0.5f;
	y -= 0.5f;
	i = floorf(x);
	j = floorf(y);
	a = roundf((x - i) * 256) / 256;
	b = roundf((y - j) * 256) / 256;
	return (1 - a) * (1 - b) * texel(mode, i, j) + a * (1 - b) * texel(mode, i + 1, j) +
	       (1 - a) * b * texel(mode, i, j + 1) + a * b * texel(mode, i + 1, j + 1);
}

/* a plane that reaches over all edges */
static void plane(const char *what, const CUDA_RESOURCE_DESC *d, CUaddress_mode mode,
		  CUfilter_mode filter, bool normalized)
{
	enum { BW = 96, BH = 40, N = BW * BH };
	CUDA_TEXTURE_DESC t =
		sampled(mode, filter, normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0);
	float x0 = -20.25f, dx = 1.0f, y0 = -10.75f, dy = 1.0f, kx0 = x0, kdx = dx, ky0 = y0,
	      kdy = dy, *got = fresh(N * 4);
	CUdeviceptr out = device_buffer(N * 4);
	unsigned int i, wrong = 0;
	CUtexObject o;
	void *params[] = { &o, &out, &kx0, &kdx, &ky0, &kdy };
	CUresult r;

	if (normalized) {
		kx0 /= W;
		kdx /= W;
		ky0 /= H;
		kdy /= H;
	}
	for (i = 0; i < 4; i++)
		t.borderColor[i] = -5;
	o = object(d, t);
	r = run("sample_plane", BW / 32, BH, 1, 32, params, got, out, N * 4);
	for (i = 0; i < N; i++)
		wrong += !(fabsf(got[i] - expected(mode, filter == CU_TR_FILTER_MODE_LINEAR,
						   x0 + i % BW * dx, y0 + i / BW * dy)) <=
			   (filter == CU_TR_FILTER_MODE_LINEAR ? 1.1f : 0));
	tap_result(!r && !wrong, "a texture's plane and what lies around it",
		   "%s, mode %d, filter %d, %s: %s, %u of %u wrong", what, mode, filter,
		   normalized ? "normalized" : "texels", error_name(r), wrong, N);
	MUST(cuTexObjectDestroy(o));
	MUST(cuMemFree_v2(out));
	free(got);
}

static void planes(void)
{
	CUarray a = new_array(W, H, 0, CU_AD_FORMAT_FLOAT, 1, 0);
	CUDA_RESOURCE_DESC d = of_array(a), pitched = { .resType = CU_RESOURCE_TYPE_PITCH2D };
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcHost = texels,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .dstPitch = 512,
			    .WidthInBytes = W * 4,
			    .Height = H };
	unsigned int mode, filter;

	c.dstDevice = device_buffer(512 * H);
	MUST(array_copy(a, texels, W * 4, H, 1, true));
	MUST(cuMemcpy2D_v2(&c));
	pitched.res.pitch2D.devPtr = c.dstDevice;
	pitched.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
	pitched.res.pitch2D.numChannels = 1;
	pitched.res.pitch2D.width = W;
	pitched.res.pitch2D.height = H;
	pitched.res.pitch2D.pitchInBytes = 512;
	for (filter = 0; filter < 2; filter++) {
		for (mode = 0; mode < 4; mode++)
			plane("array", &d, mode, filter, true);
		plane("array", &d, CU_TR_ADDRESS_MODE_CLAMP, filter, false);
		plane("array", &d, CU_TR_ADDRESS_MODE_BORDER, filter, false);
		plane("pitched memory", &pitched, CU_TR_ADDRESS_MODE_CLAMP, filter, false);
		plane("pitched memory", &pitched, CU_TR_ADDRESS_MODE_BORDER, filter, true);
	}
	MUST(cuArrayDestroy(a));
	MUST(cuMemFree_v2(c.dstDevice));
}

static void gather(void)
{
	enum { N = 32 * 16 };
	CUarray a = new_array(W, H, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER);
	CUDA_RESOURCE_DESC d = of_array(a);
	CUtexObject o = object(&d, sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0));
	CUdeviceptr out = device_buffer(N * 16);
	float got[N][4];
	void *params[] = { &o, &out };
	unsigned int i, wrong = 0;
	CUresult r;

	MUST(array_copy(a, texels, W * 4, H, 1, true));
	r = run("gather_plane", 1, 16, 1, 32, params, got, out, sizeof(got));
	for (i = 0; i < N; i++) {
		unsigned int x = i % 32, y = i / 32;

		wrong += got[i][0] != texels[0][y + 1][x] || got[i][1] != texels[0][y + 1][x + 1] ||
			 got[i][2] != texels[0][y][x + 1] || got[i][3] != texels[0][y][x];
	}
	tap_result(!r && !wrong, "four texels gathered", "%s, %u wrong", error_name(r), wrong);
	MUST(cuTexObjectDestroy(o));
	MUST(cuArrayDestroy(a));
	MUST(cuMemFree_v2(out));
}

/* ------------------------------------------------------------------ other shapes and types */

static void shorts(void)
{
	enum { N = 32 * 5 };
	CUarray a = new_array(32, 5, 0, CU_AD_FORMAT_SIGNED_INT16, 4, 0);
	CUDA_RESOURCE_DESC d = of_array(a);
	CUtexObject o = object(&d, sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
					   CU_TRSF_READ_AS_INTEGER));
	CUdeviceptr out = device_buffer(N * 8);
	uint8_t in[N * 8], got[N * 8];
	void *params[] = { &o, &out };
	CUresult r;

	noise(in, sizeof(in), 4);
	MUST(array_copy(a, in, 32 * 8, 5, 1, true));
	r = run("sample_short4", 1, 5, 1, 32, params, got, out, sizeof(got));
	tap_result(!r && !memcmp(in, got, sizeof(in)), "texels of four shorts", "%s",
		   error_name(r));
	MUST(cuTexObjectDestroy(o));
	MUST(cuArrayDestroy(a));
	MUST(cuMemFree_v2(out));
}

static void volume(void)
{
	CUarray a = new_array(W, H, D, CU_AD_FORMAT_FLOAT, 1, 0);
	CUDA_RESOURCE_DESC d = of_array(a);
	CUtexObject point =
		object(&d, sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0));
	CUtexObject linear = object(&d,
				    sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0)),
		    o = point;
	static float got[D][H][W];
	CUdeviceptr out = device_buffer(sizeof(got));
	float part = 0.5f;
	void *params[] = { &o, &out, &part };
	unsigned int x, y, z, wrong = 0;
	CUresult r;

	MUST(array_copy(a, texels, W * 4, H, D, true));
	r = run("sample_volume", 1, H, D, W, params, got, out, sizeof(got));
	tap_result(!r && !memcmp(got, texels, sizeof(got)), "a volume's texels", "%s",
		   error_name(r));
	o = linear;
	part = 1;
	r = run("sample_volume", 1, H, D, W, params, got, out, sizeof(got));
	for (z = 0; z < D - 1; z++)
		for (y = 0; y < H - 1; y++)
			for (x = 0; x < W - 1; x++) {
				float sum = 0;
				unsigned int i;

				for (i = 0; i < 8; i++)
					sum += texels[z + i / 4][y + i / 2 % 2][x + i % 2];
				wrong += fabsf(got[z][y][x] - sum / 8) > 0.01f;
			}
	tap_result(!r && !wrong, "between eight texels of a volume", "%s, %u wrong", error_name(r),
		   wrong);
	MUST(cuTexObjectDestroy(point));
	MUST(cuTexObjectDestroy(linear));
	MUST(cuArrayDestroy(a));
	MUST(cuMemFree_v2(out));
}

static void layers(void)
{
	CUarray a = new_array(W, H, D, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
	CUarray lines = new_array(W, 0, D, CU_AD_FORMAT_UNSIGNED_INT8, 2, CUDA_ARRAY3D_LAYERED);
	CUDA_RESOURCE_DESC d = of_array(a), e = of_array(lines);
	CUtexObject o = object(&d, sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0));
	static float got[D][H][W];
	uint8_t in[D][W][2], bytes[D][W][2];
	CUdeviceptr out = device_buffer(sizeof(got));
	void *params[] = { &o, &out };
	CUresult r;

	MUST(array_copy(a, texels, W * 4, H, D, true));
	r = run("sample_layers", 1, H, D, W, params, got, out, sizeof(got));
	tap_result(!r && !memcmp(got, texels, sizeof(got)), "layers", "%s", error_name(r));
	MUST(cuTexObjectDestroy(o));
	noise(&in[0][0][0], sizeof(in), 8);
	MUST(array_copy(lines, in, W * 2, 1, D, true));
	o = object(&e, sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
			       CU_TRSF_READ_AS_INTEGER));
	r = run("sample_lines", 1, D, 1, W, params, bytes, out, sizeof(bytes));
	tap_result(!r && !memcmp(bytes, in, sizeof(in)), "layers of one line", "%s", error_name(r));
	MUST(cuTexObjectDestroy(o));
	MUST(cuArrayDestroy(a));
	MUST(cuArrayDestroy(lines));
	MUST(cuMemFree_v2(out));
}

static void cubes(unsigned int n)
{
	enum { SIDE = 5, MOST = 4 };
	CUarray a = new_array(SIDE, SIDE, 6 * n, CU_AD_FORMAT_FLOAT, 1,
			      CUDA_ARRAY3D_CUBEMAP | (n > 1 ? CUDA_ARRAY3D_LAYERED : 0));
	CUDA_RESOURCE_DESC d = of_array(a);
	CUtexObject o = object(&d, sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
					   CU_TRSF_NORMALIZED_COORDINATES));
	float in[6 * MOST][SIDE][SIDE], got[6 * MOST];
	CUdeviceptr out = device_buffer(sizeof(got));
	int layered = n > 1;
	void *params[] = { &o, &out, &layered };
	unsigned int i, wrong = 0;
	CUresult r;

	for (i = 0; i < 6 * n * SIDE * SIDE; i++)
		(&in[0][0][0])[i] = i;
	MUST(array_copy(a, in, SIDE * 4, SIDE, 6 * n, true));
	r = run("sample_cubes", n, 1, 1, 6, params, got, out, 6 * n * 4);
	for (i = 0; i < 6 * n; i++)
		wrong += got[i] != in[i][SIDE / 2][SIDE / 2];
	tap_result(!r && !wrong, "the faces of cubes", "%u cubes: %s, %u wrong", n, error_name(r),
		   wrong);
	MUST(cuTexObjectDestroy(o));
	MUST(cuArrayDestroy(a));
	MUST(cuMemFree_v2(out));
}

static void levels(void)
{
	enum { SIDE = 32, LEVELS = 6 };
	CUDA_ARRAY3D_DESCRIPTOR desc = {
		.Width = SIDE, .Height = SIDE, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1
	};
	CUDA_RESOURCE_DESC d = { .resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY };
	CUDA_TEXTURE_DESC t = sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
				      CU_TRSF_NORMALIZED_COORDINATES);
	float in[SIDE][SIDE], got[SIDE][SIDE], level;
	CUdeviceptr out = device_buffer(sizeof(got));
	unsigned int i, j, wrong = 0;
	CUmipmappedArray m;
	CUtexObject o;
	void *params[] = { &o, &out, &level };
	CUresult r = CUDA_SUCCESS;
	CUarray a;

	MUST(cuMipmappedArrayCreate(&m, &desc, LEVELS));
	for (i = 0; i < LEVELS; i++) {
		for (j = 0; j < SIDE * SIDE; j++)
			(&in[0][0])[j] = i * 1000 + j;
		MUST(cuMipmappedArrayGetLevel(&a, m, i));
		MUST(array_copy(a, in, (SIDE >> i) * 4, SIDE >> i, 1, true));
	}
	d.res.mipmap.hMipmappedArray = m;
	t.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
	t.maxMipmapLevelClamp = LEVELS - 1;
	o = object(&d, t);
	for (i = 0; i < LEVELS && !r; i++) {
		unsigned int side = SIDE >> i;

		level = i;
		r = run("sample_level", 1, side, 1, side, params, got, out, side * side * 4);
		for (j = 0; j < side * side; j++)
			wrong += (&got[0][0])[j] != i * 1000 + j;
	}
	level = 4.5f; /* two sides of 2 and 1 */
	r = r ? r : run("sample_level", 1, 1, 1, 1, params, got, out, 4);
	tap_result(!r && !wrong && got[0][0] == (4003 + 5000) / 2.0f, "levels, and between two",
		   "%s, %u wrong, %g", error_name(r), wrong, got[0][0]);
	MUST(cuTexObjectDestroy(o));
	MUST(cuMipmappedArrayDestroy(m));
	MUST(cuMemFree_v2(out));
}

static void linear(void)
{
	enum { N = 256 };
	CUDA_RESOURCE_DESC d = { .resType = CU_RESOURCE_TYPE_LINEAR };
	CUdeviceptr in = device_buffer(N * 16), out = device_buffer(N * 16);
	uint8_t bytes[N * 16], got[N * 16];
	CUDA_TEXTURE_DESC t =
		sampled(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER);
	CUtexObject o;
	void *params[] = { &o, &out };
	CUresult r;

	noise(bytes, sizeof(bytes), 6);
	MUST(cuMemcpyHtoD_v2(in, bytes, sizeof(bytes)));
	d.res.linear.devPtr = in;
	d.res.linear.format = CU_AD_FORMAT_SIGNED_INT32;
	d.res.linear.numChannels = 4;
	d.res.linear.sizeInBytes = (N - 56) * 16;
	o = object(&d, t);
	r = run("sample_line", 1, 1, 1, N, params, got, out, sizeof(got));
	memset(bytes + (N - 56) * 16, 0, 56 * 16);
	tap_result(!r && !memcmp(bytes, got, sizeof(bytes)),
		   "linear memory, and zeros behind its end", "%s", error_name(r));
	MUST(cuTexObjectDestroy(o));
	d.res.linear.sizeInBytes = N * 16 + (1 << 20);
	o = object(&d, t);
	r = run("sample_line", 1, 1, 1, N, params, got, out, sizeof(got));
	noise(bytes, sizeof(bytes), 6);
	tap_result(!r && !memcmp(bytes, got, sizeof(bytes)),
		   "a texture longer than its memory, read where there is memory", "%s",
		   error_name(r));
	MUST(cuTexObjectDestroy(o));
	MUST(cuMemFree_v2(in));
	MUST(cuMemFree_v2(out));
}

/* ------------------------------------------------------------------ references */

static void references(void)
{
	CUarray a = new_array(W, H, 0, CU_AD_FORMAT_FLOAT, 1, 0);
	CUdeviceptr bytes = device_buffer(1024), out = device_buffer(2 * W * 4);
	uint8_t in[W + 16];
	float got[2][W];
	CUtexref plane_ref, line_ref;
	int n = W;
	void *params[] = { &out, &n };
	unsigned int i, wrong = 0;
	size_t offset = 1;
	CUresult r;

	MUST(cuModuleGetTexRef(&plane_ref, module, "plain_ref"));
	MUST(cuModuleGetTexRef(&line_ref, module, "linear_ref"));
	MUST(array_copy(a, texels, W * 4, H, 1, true));
	noise(in, sizeof(in), 5);
	MUST(cuMemcpyHtoD_v2(bytes + 512, in, sizeof(in)));
	MUST(cuTexRefSetArray(plane_ref, a, CU_TRSA_OVERRIDE_FORMAT));
	MUST(cuTexRefSetFormat(line_ref, CU_AD_FORMAT_UNSIGNED_INT8, 1));
	MUST(cuTexRefSetAddress_v2(&offset, line_ref, bytes + 512, sizeof(in)));
	r = run("sample_refs", 1, 1, 1, W, params, got, out, sizeof(got));
	for (i = 0; i < W; i++)
		wrong += got[0][i] != texels[0][2][i] || fabsf(got[1][i] - in[i] / 255.0f) > 1e-6f;
	tap_result(!r && !wrong && !offset, "two references", "%s, %u wrong, offset %zu",
		   error_name(r), wrong, offset);
	MUST(cuTexRefSetAddress_v2(&offset, line_ref, bytes + 528, sizeof(in) - 16));
	tap_result(offset == 16, "an offset for what is not aligned", "%zu", offset);
	/* a launch may be under way */
	MUST(cuTexRefSetAddress_v2(&offset, line_ref, bytes + 512, sizeof(in)));
	wrong = 0;
	r = cuLaunchKernel(kernel("sample_refs"), 1, 1, 1, W, 1, 1, 0, NULL, params, NULL);
	MUST(cuTexRefSetFilterMode(plane_ref, CU_TR_FILTER_MODE_LINEAR));
	MUST(cuTexRefSetFlags(line_ref, CU_TRSF_READ_AS_INTEGER));
	r = r ? r : cuMemcpyDtoH_v2(got, out, sizeof(got));
	for (i = 0; i < W; i++)
		wrong += got[0][i] != texels[0][2][i] || fabsf(got[1][i] - in[i] / 255.0f) > 1e-6f;
	tap_result(!r && !wrong, "a launch keeps the references that it had", "%s, %u wrong",
		   error_name(r), wrong);
	MUST(cuTexRefSetArray(plane_ref, NULL, CU_TRSA_OVERRIDE_FORMAT));
	r = cuModuleGetTexRef(&plane_ref, module, "flat_ref");
	tap_result(r == CUDA_ERROR_NOT_FOUND, "a surface's name is no texture's", "%s",
		   error_name(r));
	MUST(cuArrayDestroy(a));
	MUST(cuMemFree_v2(bytes));
	MUST(cuMemFree_v2(out));
}

void test_texture(void)
{
	fill_texels();
	planes();
	gather();
	shorts();
	volume();
	layers();
	cubes(1);
	cubes(4);
	levels();
	linear();
	references();
}
