// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shaders about numbers: integers and their bits, floats, 64 bits, loops that end at different
 * times.
 */
#include <math.h>
#include <string.h>

#include "vk_cases.h"

SHADER(saxpy);
SHADER(integers);
SHADER(floats);
SHADER(wide);
SHADER(halves);
SHADER(mandelbrot);

enum { ITEMS = 192 };

static void run_items(struct vk_job *j)
{
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	vk_dispatch(j, ITEMS / 64, 1, 1);
	vk_submit(j);
}

/* every sum and product is exact, contracted or not */
static void saxpy(struct vk_job *j)
{
	enum { N = 4000, GROUPS = 42, ALL = GROUPS * 96 };
	struct {
		float a;
		uint32_t n;
	} constants = { -3.5f, N };
	static float x[ALL], y[ALL];
	struct vk_resource *r;
	int i;

	for (i = 0; i < ALL; i++) {
		x[i] = (float)rng_range(&j->rng, 0, 2000) - 1000;
		y[i] = (float)rng_range(&j->rng, 0, 2000) - 1000;
	}
	vk_storage(j, sizeof(x), x);
	r = vk_storage(j, sizeof(y), y);
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	vk_push(j, &constants, sizeof(constants));
	vk_dispatch(j, GROUPS, 1, 1);
	vk_submit(j);
	/* what lies behind stays as it was */
	for (i = 0; i < N; i++)
		y[i] += constants.a * x[i];
	verdict_equal(j->verdict, "y", r->map, y, ALL, 4);
}

static uint32_t *some_words(struct vk_job *j)
{
	static const uint32_t corners[] = { 0,	1,  0xffffffff, 0x80000000, 0x7fffffff,
					    31, 32, 0xffff,	0x10000,    7 };
	enum { N = sizeof(corners) / sizeof(corners[0]) };
	uint32_t *w = vk_random(j, ITEMS);
	int i;

	for (i = 0; i < 3 * N; i++)
		w[i] = corners[rng_range(&j->rng, 0, N - 1)];
	for (; i < 6 * N; i++)
		w[i] >>= rng_range(&j->rng, 0, 31);
	return w;
}

static int highest(uint32_t w)
{
	return w ? 31 - __builtin_clz(w) : -1;
}

static uint32_t reversed(uint32_t w)
{
	uint32_t r = 0;
	int i;

	for (i = 0; i < 32; i++)
		r |= (w >> i & 1) << (31 - i);
	return r;
}

/* a half with an exponent of 0, as a float */
static uint32_t of_half(uint32_t h)
{
	return (h >> 15) << 31 | 127u << 23 | (h & 0x3ff) << 13;
}

static void integers_on_host(uint32_t a, uint32_t b, uint32_t *o)
{
	int32_t x = (int32_t)a, y = (int32_t)b;
	uint32_t n = b & 31, width = n / 2, field = width ? ~0u >> (32 - width) : 0;

	o[0] = (uint64_t)a * b >> 32;
	o[1] = a * b;
	o[2] = (uint64_t)((int64_t)x * y) >> 32;
	o[3] = __builtin_popcount(a);
	o[4] = reversed(a);
	o[5] = a ? (uint32_t)__builtin_ctz(a) : ~0u;
	o[6] = highest(a);
	o[7] = highest(x < 0 ? ~a : a);
	o[8] = a >> width & 0x1fff;
	o[9] = (int32_t)(a << (32 - 13 - width)) >> (32 - 13);
	o[10] = (a & ~(field << 7)) | (b & field) << 7;
	o[11] = a << n;
	o[12] = a >> n;
	o[13] = x >> n;
	o[14] = b ? a / b : 0;
	o[15] = b ? a % b : 0;
	o[16] = y && y != -1 ? x / y : 0;
	o[17] = a + b + 2u * (a + b < a);
	o[18] = a - b + 2u * (a < b);
	o[19] = (x < -1000 ? -1000 : x > 1000 ? 1000 : x) ^ (y < 0 ? -b : b);
	o[20] = (x > 0) - (x < 0);
	o[20] ^= ~a & b;
	o[21] = a;
	o[22] = of_half(a >> 16);
	o[23] = (int8_t)(a >> 16) + (b >> 16 & 255) * 3;
}

static void integers(struct vk_job *j)
{
	enum { N = 24 };
	uint32_t *a = some_words(j), *b = some_words(j), *want = vk_memory(j, ITEMS * N * 4);
	struct vk_resource *out;
	int i;

	for (i = 0; i < ITEMS; i++)
		integers_on_host(a[i], b[i], want + i * N);
	vk_storage(j, ITEMS * 4, a);
	vk_storage(j, ITEMS * 4, b);
	out = vk_storage(j, ITEMS * N * 4, NULL);
	run_items(j);
	verdict_equal(j->verdict, "item * 24 + operation", out->map, want, ITEMS * N, 4);
}

/* units of the last place, or the absolute error; most are of Vulkan's table of precision */
static const struct {
	const char *name;
	double ulps, absolute;
} float_rows[] = {
	{ "sqrt", 3, 0 },	 { "inversesqrt", 2, 0 }, { "exp2", 35, 0 },
	{ "log2", 3, 0x1p-21 },	 { "sin", 0, 0x1p-11 },	  { "cos", 0, 0x1p-11 },
	{ "divide", 2.5, 0 },	 { "floor", 0, 0 },	  { "ceil", 0, 0 },
	{ "roundEven", 0, 0 },	 { "trunc", 0, 0 },	  { "fract", 0, 0 },
	{ "min, max", 0, 0 },	 { "mix", 0, 0 },	  { "clamp", 0, 0 },
	{ "conversions", 0, 0 },
};

static void floats_on_host(float a, float b, double *o)
{
	o[0] = sqrt(fabs((double)a));
	o[1] = 1 / sqrt(fabs((double)b));
	o[2] = exp2(a);
	o[3] = log2(fabs((double)b));
	o[4] = sin(a);
	o[5] = cos(a);
	o[6] = (double)a / b;
	o[7] = floorf(a);
	o[8] = ceilf(a);
	o[9] = rintf(a);
	o[10] = truncf(a);
	o[11] = a - floorf(a);
	o[12] = fminf(a, b) + 2 * fmaxf(a, b);
	o[13] = b > a ? b : a;
	o[14] = a < -1.5f ? -1.5f : a > 1.5f ? 1.5f : a;
	o[15] = (float)(int)a + (float)(uint32_t)fabsf(b);
}

/* multiples of 2^-12: sums are exact */
static void floats(struct vk_job *j)
{
	enum { N = 16 };
	float *a = vk_memory(j, ITEMS * 4), *b = vk_memory(j, ITEMS * 4);
	struct vk_resource *out;
	const float *got;
	double want[N];
	int i, k;

	for (i = 0; i < ITEMS; i++) {
		a[i] = ((float)rng_range(&j->rng, 0, 25000) - 12500) * 0x1p-12f;
		b[i] = ((float)rng_range(&j->rng, 0, 60000) - 29999.5f) * 0x1p-11f;
	}
	vk_storage(j, ITEMS * 4, a);
	vk_storage(j, ITEMS * 4, b);
	out = vk_storage(j, ITEMS * N * 4, NULL);
	run_items(j);
	got = out->map;
	for (i = 0; i < ITEMS; i++) {
		floats_on_host(a[i], b[i], want);
		for (k = 0; k < N; k++)
			verdict_near(j->verdict, float_rows[k].name, got[i * N + k], want[k],
				     float_rows[k].ulps, float_rows[k].absolute);
	}
}

static void wide_on_host(uint64_t a, uint64_t b, unsigned int n, uint64_t *o)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	o[0] = a + b;
	o[1] = a * b;
	o[2] = b ? a / b : 0;
	o[3] = b ? a % b : 0;
	o[4] = y && y != -1 ? x / y : 0;
	o[5] = a << n;
	o[6] = a >> n;
	o[7] = x >> n;
	o[8] = (x < y) + 2 * (a < b) + 4 * (x == y);
	o[9] = (a ^ b) & ~(a | 255);
}

static void wide_floats_on_host(double d, double e, double *f)
{
	float rounded = (float)d;
	int32_t bits;

	memcpy(&bits, &rounded, 4);
	f[0] = d + e;
	f[1] = d * e;
	f[2] = fma(d, e, 0.5);
	f[3] = floor(d);
	f[4] = (double)bits + (int)e;
	f[5] = d < e ? fmax(d, e) : fmin(-d, e);
}

/* fma() may be two operations, each rounded, in Vulkan */
static void check_wide_floats(struct vk_job *j, const double *got, const double *d, const double *e)
{
	double want[6];
	int i, k;

	for (i = 0; i < ITEMS; i++, got += 6) {
		wide_floats_on_host(d[i], e[i], want);
		for (k = 0; k < 6; k++)
			verdict_true(j->verdict,
				     got[k] == want[k] || (k == 2 && got[k] == d[i] * e[i] + 0.5),
				     "double %d[%d]: %a, not %a", k, i, got[k], want[k]);
	}
}

static void wide(struct vk_job *j)
{
	enum { N = 10 };
	uint64_t *a = (uint64_t *)vk_random(j, 2 * ITEMS), *b = (uint64_t *)vk_random(j, 2 * ITEMS),
		 *want = vk_memory(j, ITEMS * N * 8);
	double *d = vk_memory(j, ITEMS * 8), *e = vk_memory(j, ITEMS * 8);
	struct vk_resource *out, *floats_out;
	int i;

	if (!j->features.shaderInt64 || !j->features.shaderFloat64) {
		verdict_skip(j->verdict, "no shaderInt64 and shaderFloat64");
		return;
	}
	for (i = 0; i < ITEMS; i++) {
		b[i] >>= rng_range(&j->rng, 0, 63);
		b[i] = i % 7 ? b[i] : a[i];
		wide_on_host(a[i], b[i], i % 67 > 63 ? 63 : i % 67, want + i * N);
		d[i] = ldexp((double)(rng_next(&j->rng) >> 11) - 0x1p52,
			     (int)rng_range(&j->rng, 0, 24) - 50);
		e[i] = ldexp((double)(rng_next(&j->rng) >> 11) - 0x1p52,
			     (int)rng_range(&j->rng, 0, 24) - 50);
	}
	vk_storage(j, ITEMS * 8, a);
	vk_storage(j, ITEMS * 8, b);
	out = vk_storage(j, ITEMS * N * 8, NULL);
	vk_storage(j, ITEMS * 8, d);
	vk_storage(j, ITEMS * 8, e);
	floats_out = vk_storage(j, ITEMS * 6 * 8, NULL);
	run_items(j);
	verdict_equal(j->verdict, "item * 10 + operation", out->map, want, ITEMS * N, 8);
	check_wide_floats(j, floats_out->map, d, e);
}

/* floats that are halves, too */
static void halves(struct vk_job *j)
{
	float *in = vk_memory(j, ITEMS * 8);
	uint16_t *want = vk_memory(j, ITEMS * 4);
	struct vk_resource *out;
	int i;

	for (i = 0; i < 2 * ITEMS; i++) {
		_Float16 h;

		in[i] = ((float)rng_range(&j->rng, 0, 510) - 255) * 0.125f;
		h = (_Float16)in[i];
		memcpy(&want[i], &h, 2);
	}
	vk_storage(j, ITEMS * 8, in);
	out = vk_storage(j, ITEMS * 4, NULL);
	run_items(j);
	verdict_equal(j->verdict, "half", out->map, want, 2 * ITEMS, 2);
}

static uint32_t count_on_host(int px, int py, int width, int height, int limit)
{
	enum { ONE = 1 << 12 };
	int cx = px * 3 * ONE / width - 2 * ONE, cy = py * 2 * ONE / height - ONE, x = 0, y = 0, n;

	for (n = 0; n < limit && x * x / ONE + y * y / ONE <= 4 * ONE; n++) {
		int xx = x * x / ONE, yy = y * y / ONE;

		y = 2 * x * y / ONE + cy;
		x = xx - yy + cx;
	}
	return n;
}

static void mandelbrot(struct vk_job *j)
{
	enum { WIDTH = 45, HEIGHT = 30, LIMIT = 60 };
	int32_t constants[] = { WIDTH, HEIGHT, LIMIT };
	uint32_t want[WIDTH * HEIGHT];
	struct vk_resource *out = vk_storage(j, sizeof(want), NULL);
	int i;

	for (i = 0; i < WIDTH * HEIGHT; i++)
		want[i] = count_on_host(i % WIDTH, i / WIDTH, WIDTH, HEIGHT, LIMIT);
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	vk_push(j, constants, sizeof(constants));
	vk_dispatch(j, (WIDTH + 7) / 8, (HEIGHT + 7) / 8, 1);
	vk_submit(j);
	verdict_equal(j->verdict, "count", out->map, want, WIDTH * HEIGHT, 4);
}

const struct vk_case vk_cases_numbers[] = {
	{ "saxpy", saxpy, CODE(saxpy), NULL, NULL },
	{ "integers", integers, CODE(integers), NULL, NULL },
	{ "floats", floats, CODE(floats), NULL, NULL },
	{ "64-bit-numbers", wide, CODE(wide), NULL, NULL },
	{ "halves-written", halves, CODE(halves), NULL, NULL },
	{ "mandelbrot", mandelbrot, CODE(mandelbrot), NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};
