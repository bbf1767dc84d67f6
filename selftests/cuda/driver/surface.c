// SPDX-License-Identifier: GPL-2.0-only
/* Surfaces of one to three dimensions and of layers, written by kernels, and copied out. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static CUsurfObject object(CUarray a)
{
	CUDA_RESOURCE_DESC d = { .resType = CU_RESOURCE_TYPE_ARRAY };
	CUsurfObject s = 0;

	d.res.array.hArray = a;
	MUST(cuSurfObjectCreate(&s, &d));
	return s;
}

static CUresult run(const char *name, unsigned int gx, unsigned int gy, unsigned int gz,
		    unsigned int block, void **params)
{
	CUresult r = cuLaunchKernel(kernel(name), gx, gy, gz, block, 1, 1, 0, NULL, params, NULL);

	return r ? r : cuCtxSynchronize();
}

static void plane(int w, int h)
{
	CUarray a = new_array(w, h, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
	int *in = fresh(w * h * 4), *out = fresh(w * h * 4), i, wrong = 0;
	CUsurfObject s = object(a);
	void *params[] = { &s, &w, &h };
	CUresult r;

	noise((uint8_t *)in, w * h * 4, w);
	MUST(array_copy(a, in, w * 4, h, 1, true));
	r = run("change_plane", (w + 63) / 64, h, 1, 64, params);
	r = r ? r : array_copy(a, out, w * 4, h, 1, false);
	for (i = 0; i < w * h; i++)
		wrong += out[i] != (int)(2u * in[i]) + i / w * 1000 + i % w;
	tap_result(!r && !wrong, "a plane read and written", "%d x %d: %s, %d wrong", w, h,
		   error_name(r), wrong);
	MUST(cuSurfObjectDestroy(s));
	MUST(cuArrayDestroy(a));
	free(in);
	free(out);
}

static void outside(void)
{
	enum { W = 20, H = 20 };
	static const int places[][2] = { { -1, 3 }, { 3, -1 }, { W, 3 }, { 3, H }, { 1000, 1000 } };
	CUarray a = new_array(W, H, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
	int zero[W * H] = { 0 }, out[W * H], x, y;
	CUsurfObject s = object(a);
	void *params[] = { &s, &x, &y };
	CUresult r = array_copy(a, zero, W * 4, H, 1, true);
	unsigned int i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]) && !r; i++) {
		x = places[i][0];
		y = places[i][1];
		r = run("write_outside", 1, 1, 1, 1, params);
	}
	r = r ? r : array_copy(a, out, W * 4, H, 1, false);
	tap_result(!r && !memcmp(zero, out, sizeof(out)), "what is outside is not written", "%s",
		   error_name(r));
	MUST(cuSurfObjectDestroy(s));
	MUST(cuArrayDestroy(a));
}

static void volume(void)
{
	enum { W = 33, H = 41, D = 11, N = W * H * D };
	CUarray a = new_array(W, H, D, CU_AD_FORMAT_UNSIGNED_INT16, 1, CUDA_ARRAY3D_SURFACE_LDST);
	static uint16_t out[N];
	CUsurfObject s = object(a);
	void *params[] = { &s };
	unsigned int i, wrong = 0;
	CUresult r = run("write_volume", 1, H, D, W, params);

	r = r ? r : array_copy(a, out, W * 2, H, D, false);
	for (i = 0; i < N; i++)
		wrong += out[i] != (uint16_t)(i / (W * H) * 4096 + i / W % H * 64 + i % W);
	tap_result(!r && !wrong, "a volume written", "%s, %u wrong", error_name(r), wrong);
	MUST(cuSurfObjectDestroy(s));
	MUST(cuArrayDestroy(a));
}

static void layers(void)
{
	enum { W = 30, H = 22, D = 9, N = W * H * D };
	CUarray a = new_array(W, H, D, CU_AD_FORMAT_FLOAT, 2,
			      CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED);
	CUarray b = new_array(W, 0, D, CU_AD_FORMAT_UNSIGNED_INT32, 4,
			      CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED);
	static float out[N][2];
	static uint32_t lines[W * D][4];
	CUsurfObject s = object(a);
	void *params[] = { &s };
	unsigned int i, wrong = 0;
	CUresult r = run("write_layers", 1, H, D, W, params);

	r = r ? r : array_copy(a, out, W * 8, H, D, false);
	for (i = 0; i < N; i++)
		wrong += out[i][0] != (float)(i % W + i / W % H) ||
			 out[i][1] != (float)(i / (W * H));
	tap_result(!r && !wrong, "layers written", "%s, %u wrong", error_name(r), wrong);
	MUST(cuSurfObjectDestroy(s));
	s = object(b);
	wrong = 0;
	r = run("write_lines", 1, D, 1, W, params);
	r = r ? r : array_copy(b, lines, W * 16, 1, D, false);
	for (i = 0; i < W * D; i++)
		wrong += lines[i][0] != i % W || lines[i][1] != i / W || lines[i][2] != 3 ||
			 lines[i][3] != 4;
	tap_result(!r && !wrong, "layers of one line written", "%s, %u wrong", error_name(r),
		   wrong);
	MUST(cuSurfObjectDestroy(s));
	MUST(cuArrayDestroy(a));
	MUST(cuArrayDestroy(b));
}

static void line(void)
{
	enum { W = 250 };
	CUarray a = new_array(W, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_SURFACE_LDST);
	CUsurfObject s = object(a);
	void *params[] = { &s };
	uint8_t out[W];
	unsigned int i, wrong = 0;
	CUresult r = run("write_line", 1, 1, 1, W, params);

	r = r ? r : cuMemcpyAtoH_v2(out, a, 0, W);
	for (i = 0; i < W; i++)
		wrong += out[i] != (uint8_t)(i * 3);
	tap_result(!r && !wrong, "a line written", "%s, %u wrong", error_name(r), wrong);
	MUST(cuSurfObjectDestroy(s));
	MUST(cuArrayDestroy(a));
}

static void reference(void)
{
	enum { W = 32, H = 8 };
	CUarray a = new_array(W, H, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
	CUarray plain = new_array(W, H, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0);
	int out[W * H], value = 1234;
	void *params[] = { &value };
	unsigned int i, wrong = 0;
	CUsurfref ref;
	CUresult r;

	MUST(cuModuleGetSurfRef(&ref, module, "flat_ref"));
	r = cuSurfRefSetArray(ref, plain, 0);
	tap_result(r == CUDA_ERROR_INVALID_VALUE, "an array that is not for surfaces is refused",
		   "%s", error_name(r));
	MUST(cuSurfRefSetArray(ref, a, 0));
	r = run("write_ref", 1, H, 1, W, params);
	r = r ? r : array_copy(a, out, W * 4, H, 1, false);
	for (i = 0; i < W * H; i++)
		wrong += out[i] != 1234 + (int)(i % W);
	tap_result(!r && !wrong, "a reference", "%s, %u wrong", error_name(r), wrong);
	MUST(cuArrayDestroy(a));
	MUST(cuArrayDestroy(plain));
}

void test_surface(void)
{
	plane(64, 16);
	plane(301, 203);
	plane(1, 1);
	outside();
	volume();
	layers();
	line();
	reference();
}
