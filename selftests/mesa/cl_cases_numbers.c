// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels about numbers: integers of all widths, conversions with each rounding, functions of
 * floats and doubles, vectors.
 */
#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "cl_cases.h"

KERNEL_TEXT(integers);
KERNEL_TEXT(longs);
KERNEL_TEXT(convert);
KERNEL_TEXT(floats);
KERNEL_TEXT(vectors);
KERNEL_TEXT(doubles);
KERNEL_TEXT(read_halves);
KERNEL_TEXT(write_halves);
KERNEL_TEXT(pairs);
KERNEL_TEXT(mul_high);

enum { ITEMS = 192 };

/* corners come first */
static uint32_t *some_words(struct job *j)
{
	static const uint32_t corners[] = { 0,	1,  0xffffffff, 0x80000000, 0x7fffffff, 0x80000001,
					    31, 32, 0xffff,	0x10000,    0xffffff,	7 };
	enum { N = sizeof(corners) / sizeof(corners[0]) };
	uint32_t *w = job_random(j, ITEMS);
	int i;

	for (i = 0; i < 2 * N; i++)
		w[i] = corners[rng_range(&j->rng, 0, N - 1)];
	/* so that quotients are of all sizes */
	for (; i < 5 * N; i++)
		w[i] >>= rng_range(&j->rng, 0, 31);
	return w;
}

static int64_t clip(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static void integers_on_host(uint32_t a, uint32_t b, uint32_t *o)
{
	int32_t x = (int32_t)a, y = (int32_t)b;
	int64_t lx = x, ly = y;

	o[0] = (uint64_t)a * b >> 32;
	o[1] = (uint64_t)(lx * ly) >> 32;
	o[2] = a << (b & 31) | (uint64_t)a >> (32 - (b & 31));
	o[3] = __builtin_popcount(a);
	o[4] = a ? __builtin_clz(a) : 32;
	o[5] = (uint32_t)((int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8)) + 77;
	o[6] = (a & 0xffffff) * (b & 0xffffff);
	o[7] = clip((int64_t)a + b, 0, UINT32_MAX);
	o[8] = clip(lx + ly, INT32_MIN, INT32_MAX);
	o[9] = clip((int64_t)a - b, 0, UINT32_MAX);
	o[10] = clip(lx - ly, INT32_MIN, INT32_MAX);
	o[11] = ((uint64_t)a + b) >> 1;
	o[12] = (lx + ly + 1) >> 1;
	o[13] = lx > ly ? lx - ly : ly - lx;
	o[14] = b ? a / b : 0;
	o[15] = b ? a % b : 0;
	o[16] = y && y != -1 ? x / y : 0;
	o[17] = y && y != -1 ? x % y : 0;
	o[18] = x >> (b & 31);
	o[19] = clip(x, -1000, 1000);
	o[20] = ((uint64_t)a * b >> 32) + 5;
	o[21] = clip(lx * ly + 9, INT32_MIN, INT32_MAX);
	o[22] = (x < 0 ? -a : a) ^ (uint32_t)((int8_t)a * (int16_t)b);
}

static void integers(struct job *j)
{
	enum { N = 23 };
	uint32_t *a = some_words(j), *b = some_words(j), *want = job_memory(j, ITEMS * N * 4);
	cl_mem ba = job_buffer(j, ITEMS * 4, a), bb = job_buffer(j, ITEMS * 4, b),
	       bo = job_buffer(j, ITEMS * N * 4, NULL);
	cl_kernel kernel = job_kernel(j, "integers");
	int i;

	for (i = 0; i < ITEMS; i++)
		integers_on_host(a[i], b[i], want + i * N);
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "item * 23 + operation", job_read(j, bo, ITEMS * N * 4), want, ITEMS * N, 4);
}

static void longs_on_host(uint64_t a, uint64_t b, uint64_t n, uint64_t *o)
{
	int64_t x = (int64_t)a, y = (int64_t)b, r;

	o[0] = a + b;
	o[1] = a * b;
	o[2] = b ? a / b : 0;
	o[3] = b ? a % b : 0;
	o[4] = y && y != -1 ? x / y : 0;
	o[5] = y && y != -1 ? x % y : 0;
	o[6] = a << n;
	o[7] = a >> n;
	o[8] = x >> n;
	o[9] = __builtin_popcount((uint32_t)a) * 1000 + __builtin_popcount((uint32_t)(a >> 32));
	o[10] = n ? a << n | a >> (64 - n) : a;
	o[11] = (x < y) + 2 * (a < b) + 4 * (x == y) + 8 * (x >= 0);
	o[12] = a + b < a ? UINT64_MAX : a + b;
	o[13] = __builtin_sub_overflow(x, y, &r) ? (x < 0 ? INT64_MIN : INT64_MAX) : r;
}

static uint64_t *some_longs(struct job *j)
{
	uint32_t *high = some_words(j), *low = some_words(j);
	uint64_t *l = job_memory(j, ITEMS * 8);
	int i;

	for (i = 0; i < ITEMS; i++)
		l[i] = i % 4 == 3 ? low[i] : (uint64_t)high[i] << 32 | low[i];
	return l;
}

static void longs(struct job *j)
{
	enum { N = 14 };
	uint64_t *a = some_longs(j), *b = some_longs(j), *n = job_memory(j, ITEMS * 8);
	uint64_t *want = job_memory(j, ITEMS * N * 8);
	cl_mem ba = job_buffer(j, ITEMS * 8, a), bb = job_buffer(j, ITEMS * 8, b), bn,
	       bo = job_buffer(j, ITEMS * N * 8, NULL);
	cl_kernel kernel = job_kernel(j, "longs");
	int i;

	for (i = 0; i < ITEMS; i++) {
		n[i] = i < 64 ? (uint64_t)i : rng_range(&j->rng, 0, 63);
		longs_on_host(a[i], b[i], n[i], want + i * N);
	}
	bn = job_buffer(j, ITEMS * 8, n);
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bn), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "item * 14 + operation", job_read(j, bo, ITEMS * N * 8), want, ITEMS * N, 8);
}

/* is a wrong product the low half of the true one? */
static void mul_high(struct job *j)
{
	uint64_t *a = some_longs(j), *b = some_longs(j), *want = job_memory(j, ITEMS * 8);
	cl_mem ba = job_buffer(j, ITEMS * 8, a), bb = job_buffer(j, ITEMS * 8, b),
	       bo = job_buffer(j, ITEMS * 8, NULL);
	cl_kernel kernel = job_kernel(j, "mul_high");
	const uint64_t *got;
	bool low = true;
	int i;

	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	got = job_read(j, bo, ITEMS * 8);
	for (i = 0; i < ITEMS; i++) {
		want[i] = (unsigned __int128)a[i] * b[i] >> 64;
		low &= got[i] == a[i] * b[i];
	}
	job_equal(j, low ? "low half in place of the high one" : "high half", got, want, ITEMS, 8);
}

static void pairs(struct job *j)
{
	uint32_t *a = some_words(j), *b = some_words(j), *want = job_memory(j, ITEMS * 4);
	cl_mem ba = job_buffer(j, ITEMS * 4, a), bb = job_buffer(j, ITEMS * 4, b),
	       bo = job_buffer(j, ITEMS * 4, NULL);
	cl_kernel kernel = job_kernel(j, "pairs");
	int i;

	for (i = 0; i < ITEMS; i++)
		want[i] = a[i] << 16 | (uint16_t)b[i];
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "word", job_read(j, bo, ITEMS * 4), want, ITEMS, 4);
}

/* ------------------------------------------------------------------ conversions */

static uint32_t bits(float f)
{
	uint32_t w;

	memcpy(&w, &f, 4);
	return w;
}

/* a double holds every int */
static uint32_t rounded(double v, int mode)
{
	volatile double from = v;
	volatile float to;

	fesetround(mode);
	to = (float)from;
	fesetround(FE_TONEAREST);
	return bits(to);
}

static void convert_on_host(float f, int32_t n, uint32_t *o)
{
	double even = nearbyint(f);

	o[0] = (int64_t)fmin(fmax(even, INT32_MIN), INT32_MAX);
	o[1] = (int64_t)fmin(fmax(trunc(f), INT32_MIN), INT32_MAX);
	o[2] = (int64_t)fmin(fmax(ceil(f), INT32_MIN), INT32_MAX);
	o[3] = (int64_t)fmin(fmax(floor(f), INT32_MIN), INT32_MAX);
	o[4] = (int64_t)fmin(fmax(even, 0), UINT32_MAX);
	o[5] = (int32_t)fmin(fmax(even, SHRT_MIN), SHRT_MAX);
	o[6] = (int32_t)fmin(fmax(floor(f), 0), UCHAR_MAX);
	o[7] = (int32_t)fmin(fmax(trunc(f), SCHAR_MIN), SCHAR_MAX);
	o[8] = rounded(n, FE_TONEAREST);
	o[9] = rounded(n, FE_TOWARDZERO);
	o[10] = rounded(n, FE_UPWARD);
	o[11] = rounded(n, FE_DOWNWARD);
	o[12] = rounded((uint32_t)n, FE_TONEAREST);
	o[13] = (int32_t)clip(n, SCHAR_MIN, SCHAR_MAX);
	o[14] = clip(n, 0, USHRT_MAX);
	o[15] = clip(n, 0, INT32_MAX);
	o[16] = (int32_t)(int16_t)n;
	o[17] = bits((uint8_t)n);
	o[18] = (uint32_t)((int64_t)fmin(fmax(even, -0x1p62), 0x1p62) >> 4);
	o[19] = bits((float)((int64_t)n * 0x10001));
}

static void convert(struct job *j)
{
	enum { N = 20 };
	static const float corners[] = { 0.5f,	1.5f, 2.5f,   -0.5f,   -1.5f,	-0.0f,	 3e9f,
					 -3e9f, 5e9f, 127.5f, -128.5f, 255.49f, 32767.5f };
	enum { CORNERS = sizeof(corners) / sizeof(corners[0]) };
	float *f = job_memory(j, ITEMS * 4);
	int32_t *n = (int32_t *)some_words(j);
	uint32_t *want = job_memory(j, ITEMS * N * 4);
	cl_mem bf, bn = job_buffer(j, ITEMS * 4, n), bo = job_buffer(j, ITEMS * N * 4, NULL);
	cl_kernel kernel = job_kernel(j, "convert");
	int i;

	for (i = 0; i < ITEMS; i++) {
		f[i] = i < CORNERS ? corners[i] :
				     ldexpf((float)rng_range(&j->rng, 0, 1 << 24) - (1 << 23),
					    (int)rng_range(&j->rng, 0, 32) - 23);
		convert_on_host(f[i], n[i], want + i * N);
	}
	bf = job_buffer(j, ITEMS * 4, f);
	ARGUMENTS(j, kernel, VARIABLE(bf), VARIABLE(bn), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "item * 20 + operation", job_read(j, bo, ITEMS * N * 4), want, ITEMS * N, 4);
}

/* ------------------------------------------------------------------ floats */

/* units of the last place: OpenCL 1.2, 7.4 */
static const struct {
	const char *name;
	double ulps;
} float_rows[] = {
	{ "sqrt", 3 },		{ "rsqrt", 2 },	   { "exp2", 3 },  { "log2", 3 },
	{ "sin", 4 },		{ "cos", 4 },	   { "fma", 0.5 }, { "divide", 2.5 },
	{ "exp", 3 },		{ "log", 3 },	   { "pow", 16 },  { "atan2", 6 },
	{ "floor", 0 },		{ "ceil", 0 },	   { "rint", 0 },  { "trunc", 0 },
	{ "fmod", 0 },		{ "frexp", 0.5 },  { "ldexp", 0 }, { "modf", 0.5 },
	{ "fmax - fmin", 0.5 }, { "copysign", 0 },
};

static void floats_on_host(double a, double b, double *o)
{
	double whole;
	int e;

	o[0] = sqrt(fabs(a));
	o[1] = 1 / sqrt(fabs(b));
	o[2] = exp2(a);
	o[3] = log2(fabs(b));
	o[4] = sin(a);
	o[5] = cos(a);
	o[6] = (double)fmaf(a, b, 0.7f);
	o[7] = a / b;
	o[8] = exp(a * 0.25);
	o[9] = log(fabs(b));
	o[10] = pow(fabs(b), (double)1.7f);
	o[11] = atan2(a, b);
	o[12] = floor(a);
	o[13] = ceil(a);
	o[14] = rint(a);
	o[15] = trunc(a);
	o[16] = fmod(a, b);
	o[17] = (float)frexp(b, &e) + (float)e;
	o[18] = ldexp(b, 5);
	o[19] = modf(a, &whole);
	o[19] += 2 * whole;
	o[20] = fmax(a, b) - fmin(a, b);
	o[21] = copysign(b, a);
}

static void floats(struct job *j)
{
	enum { N = 22 };
	float *a = job_memory(j, ITEMS * 4), *b = job_memory(j, ITEMS * 4);
	const float *got;
	double want[N];
	cl_mem ba, bb, bo = job_buffer(j, ITEMS * N * 4, NULL);
	cl_kernel kernel = job_kernel(j, "floats");
	int i, k;

	for (i = 0; i < ITEMS; i++) {
		a[i] = ((float)rng_range(&j->rng, 0, 1 << 24) - (1 << 23)) *
		       (i % 2 ? 0x1p-18f : 0x1p-21f);
		b[i] = ((float)rng_range(&j->rng, 1, 1 << 24) - 8388608.5f) * 0x1p-20f;
	}
	ba = job_buffer(j, ITEMS * 4, a);
	bb = job_buffer(j, ITEMS * 4, b);
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	got = job_read(j, bo, ITEMS * N * 4);
	for (i = 0; i < ITEMS; i++) {
		floats_on_host(a[i], b[i], want);
		for (k = 0; k < N; k++)
			job_near(j, float_rows[k].name, got[i * N + k], want[k], float_rows[k].ulps,
				 0);
	}
}

/* ------------------------------------------------------------------ doubles */

static double *some_doubles(struct job *j)
{
	double *d = job_memory(j, ITEMS * 8);
	int i;

	for (i = 0; i < ITEMS; i++)
		d[i] = ldexp((double)(rng_next(&j->rng) >> 11) - 0x1p52,
			     (int)rng_range(&j->rng, 0, 24) - 50);
	return d;
}

static void doubles(struct job *j)
{
	enum { N = 10 };
	double *a = some_doubles(j), *b = some_doubles(j), *want = job_memory(j, ITEMS * N * 8),
	       *o = want;
	cl_mem ba = job_buffer(j, ITEMS * 8, a), bb = job_buffer(j, ITEMS * 8, b),
	       bo = job_buffer(j, ITEMS * N * 8, NULL);
	cl_kernel kernel;
	uint64_t w;
	int i;

	if (!job_has(j, "cl_khr_fp64")) {
		job_skip(j, "no cl_khr_fp64");
		return;
	}
	kernel = job_kernel(j, "doubles");
	for (i = 0; i < ITEMS; i++, o += N) {
		o[0] = a[i] + b[i];
		o[1] = a[i] * b[i];
		o[2] = fma(a[i], b[i], 0.1);
		o[3] = floor(a[i]) + rint(b[i]);
		o[4] = fmax(a[i], b[i]) - fmin(a[i], 3.0);
		o[5] = trunc(a[i]) + trunc(b[i]);
		o[6] = (double)(float)a[i];
		o[7] = fabs(a[i]) > fabs(b[i]) ? a[i] : -b[i];
		memcpy(&w, &a[i], 8);
		w ^= 1;
		memcpy(&o[8], &w, 8);
		o[9] = (int)a[i] * 0.5;
	}
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "item * 10 + operation", job_read(j, bo, ITEMS * N * 8), want, ITEMS * N, 8);
}

/* @a and @b have the same sign */
static uint64_t steps(double a, double b)
{
	uint64_t x, y;

	memcpy(&x, &a, 8);
	memcpy(&y, &b, 8);
	return x > y ? x - y : y - x;
}

/* @most: how many steps off */
static void quotients_within(struct job *j, uint64_t most)
{
	double *a = some_doubles(j), *b = some_doubles(j), want;
	cl_mem ba = job_buffer(j, ITEMS * 8, a), bb = job_buffer(j, ITEMS * 8, b),
	       bo = job_buffer(j, ITEMS * 16, NULL);
	cl_kernel kernel;
	const double *got;
	uint64_t off, worst = 0;
	int i;

	if (!job_has(j, "cl_khr_fp64")) {
		job_skip(j, "no cl_khr_fp64");
		return;
	}
	kernel = job_kernel(j, "quotients");
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	got = job_read(j, bo, ITEMS * 16);
	for (i = 0; i < 2 * ITEMS; i++) {
		want = i & 1 ? sqrt(fma(a[i / 2], a[i / 2], 0.5)) : a[i / 2] / b[i / 2];
		off = steps(got[i], want);
		worst = off > worst ? off : worst;
	}
	for (i = 0; i < 2 * ITEMS; i++) {
		want = i & 1 ? sqrt(fma(a[i / 2], a[i / 2], 0.5)) : a[i / 2] / b[i / 2];
		job_true(j, steps(got[i], want) <= most, "%s %d: %a, not %a; %s",
			 i & 1 ? "root" : "quotient", i / 2, got[i], want,
			 worst <= 2 ? "none is off by more than two last places" :
				      "the worst is off by more than two last places");
	}
}

static void quotients(struct job *j)
{
	quotients_within(j, 2);
}

/* OpenCL wants both rounded correctly */
static void quotients_rounded(struct job *j)
{
	quotients_within(j, 0);
}

/* ------------------------------------------------------------------ vectors */

static void vectors_on_host(const float *v, const uint8_t *b, float *out, uint32_t *words)
{
	int k, less = 0;

	out[0] = v[3] + v[4] * 2;
	out[1] = v[0];
	out[2] = v[1] + v[6] * 2;
	out[3] = v[2];
	out[4] = v[1];
	out[5] = v[3];
	out[6] = v[4];
	out[7] = v[6];
	out[8] = v[1] * v[6] - v[2] * v[5];
	out[9] = v[2] * v[4] - v[0] * v[6];
	out[10] = v[0] * v[5] - v[1] * v[4];
	out[11] = v[0] * v[4] + v[1] * v[5] + v[2] * v[6] + v[3] * v[7];
	for (k = 0; k < 4; k++) {
		less += v[k] < v[k + 4];
		out[12 + k] = v[k] < v[k + 4] ? v[k + 4] : v[k];
	}
	words[0] = b[15];
	words[1] = b[3] * 2 + b[7];
	words[2] = b[12] - b[5];
	words[3] = b[0] > b[1] ? b[0] : b[1];
	words[4] = (less > 0) * 3 + (less == 4) * 5;
}

static void vectors(struct job *j)
{
	enum { N = 96 };
	float *in = job_memory(j, N * 32), *want = job_memory(j, N * 64);
	uint8_t *bytes = (uint8_t *)job_random(j, N * 4);
	uint32_t *words = job_memory(j, N * 20);
	cl_mem bi, bb = job_buffer(j, N * 16, bytes), bo = job_buffer(j, N * 64, NULL),
		   bw = job_buffer(j, N * 20, NULL);
	cl_kernel kernel = job_kernel(j, "vectors");
	int i;

	for (i = 0; i < N * 8; i++)
		in[i] = (float)rng_range(&j->rng, 0, 400) - 200;
	for (i = 0; i < N; i++)
		vectors_on_host(in + i * 8, bytes + i * 16, want + i * 16, words + i * 5);
	bi = job_buffer(j, N * 32, in);
	ARGUMENTS(j, kernel, VARIABLE(bi), VARIABLE(bo), VARIABLE(bb), VARIABLE(bw));
	job_run(j, kernel, N, 32);
	job_equal(j, "float", job_read(j, bo, N * 64), want, N * 16, 4);
	job_equal(j, "word", job_read(j, bw, N * 20), words, N * 5, 4);
}

/* halves of 8 significant bits at most: three times one is a half, too */
static void some_halves(struct job *j, int n, uint16_t *halves, float *threefold, uint16_t *back)
{
	int i;

	for (i = 0; i < n; i++) {
		_Float16 h = (_Float16)((float)((int)rng_range(&j->rng, 0, 510) - 255) * 0.125f);
		_Float16 three = (_Float16)(3 * (float)h);

		memcpy(&halves[i], &h, 2);
		memcpy(&back[i], &three, 2);
		threefold[i] = 3 * (float)h;
	}
}

static void halves(struct job *j, bool write)
{
	enum { N = 128 };
	uint16_t *in = job_memory(j, N * 2), *back = job_memory(j, N * 2);
	float *threefold = job_memory(j, N * 4);
	cl_kernel kernel = job_kernel(j, write ? "write_halves" : "read_halves");
	cl_mem from, to;

	some_halves(j, N, in, threefold, back);
	from = write ? job_buffer(j, N * 4, threefold) : job_buffer(j, N * 2, in);
	to = job_buffer(j, N * 4, NULL);
	ARGUMENTS(j, kernel, VARIABLE(from), VARIABLE(to));
	job_run(j, kernel, N / 2, 32);
	job_equal(j, write ? "half" : "float", job_read(j, to, N * 4),
		  write ? (void *)back : threefold, N, write ? 2 : 4);
}

static void read_halves(struct job *j)
{
	halves(j, false);
}

static void write_halves(struct job *j)
{
	halves(j, true);
}

#define NO_OPERATION(name)                                                             \
	"Mesa's nv50_ir_from_nir.cpp, Converter::visit(nir_alu_instr *), has no " name \
	": the compiler gives up"
#define LOW_HALF \
	"Mesa's Split64BitOpPreRA::split64MulMad() (nv50_ir_peephole.cpp) forgets that the high half is wanted; lowered only since Volta"
#define NOT_ROUNDED \
	"Mesa's nv50_ir makes them of products with the reciprocal and the reciprocal root of lib/gk110.asm, without a last correction"

const struct job_case cases_numbers[] = {
	{ "integers", integers, text_integers, NULL, NULL },
	{ "64-bit-integers", longs, text_longs, NULL, NULL },
	{ "conversions", convert, text_convert, NULL, NULL },
	{ "float-functions", floats, text_floats, NULL, NULL },
	{ "doubles", doubles, text_doubles, NULL, NULL },
	{ "double-quotients", quotients, text_doubles, NULL, NULL },
	{ "double-quotients-rounded", quotients_rounded, text_doubles, NOT_ROUNDED,
	  "none is off by more than two last places" },
	{ "vectors", vectors, text_vectors, NULL, NULL },
	{ "halves-read", read_halves, text_read_halves, NULL, NULL },
	{ "halves-written", write_halves, text_write_halves, NO_OPERATION("f2f16"),
	  "unknown nir_op f2f16" },
	{ "pairs-of-shorts", pairs, text_pairs, NO_OPERATION("pack_32_2x16_split"),
	  "unknown nir_op pack_32_2x16_split" },
	{ "64-bit-high-product", mul_high, text_mul_high, LOW_HALF,
	  "low half in place of the high one" },
	{ NULL, NULL, NULL, NULL, NULL },
};
