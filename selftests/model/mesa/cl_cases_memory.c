// SPDX-License-Identifier: GPL-2.0-only
/* Kernels on each kind of memory: global, private, constant, local with barriers. */
#include "cl_cases.h"

KERNEL_TEXT(saxpy);
KERNEL_TEXT(private);
KERNEL_TEXT(tables);
KERNEL_TEXT(reduce);

/* every sum and product is exact, contracted or not */
static float *whole_floats(struct job *j, size_t n, int most)
{
	float *f = job_memory(j, n * sizeof(*f));
	size_t i;

	for (i = 0; i < n; i++)
		f[i] = (float)(int)rng_range(&j->rng, 0, 2 * most) - most;
	return f;
}

static void saxpy(struct job *j)
{
	enum { N = 4000, ITEMS = 4096 };
	float *x = whole_floats(j, ITEMS, 1000), *y = whole_floats(j, ITEMS, 1000);
	cl_mem bx = job_buffer(j, ITEMS * 4, x), by = job_buffer(j, ITEMS * 4, y);
	cl_kernel k = job_kernel(j, "saxpy");
	int i;

	ARGUMENTS(j, k, VALUE(cl_float, -3.5f), VARIABLE(bx), VARIABLE(by), VALUE(cl_uint, N));
	job_run(j, k, ITEMS, 128);
	/* what lies behind stays as it was */
	for (i = 0; i < N; i++)
		y[i] -= 3.5f * x[i];
	job_equal(j, "y", job_read(j, by, ITEMS * 4), y, ITEMS, 4);
}

static void private_sort(struct job *j)
{
	enum { ITEMS = 128, N = 24 };
	uint32_t *in = job_random(j, ITEMS * N), *want = job_memory(j, ITEMS * N * 4);
	cl_mem bi, bo = job_buffer(j, ITEMS * N * 4, NULL);
	cl_kernel kernel = job_kernel(j, "private_sort");
	int i, k, m;

	for (i = 0; i < ITEMS * N; i++)
		in[i] >>= 8;
	for (i = 0; i < ITEMS; i++) {
		uint32_t a[N], count[16] = { 0 };

		for (k = 0; k < N; k++) {
			uint32_t v = in[i * N + k];

			count[v % 16]++;
			for (m = k - 1; m >= 0 && a[m] > v; m--)
				a[m + 1] = a[m];
			a[m + 1] = v;
		}
		for (k = 0; k < N; k++)
			want[i * N + k] = a[k * 7 % N] + (count[a[k] % 16] << 28);
	}
	bi = job_buffer(j, ITEMS * N * 4, in);
	ARGUMENTS(j, kernel, VARIABLE(bi), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 32);
	job_equal(j, "word", job_read(j, bo, ITEMS * N * 4), want, ITEMS * N, 4);
}

static void crc(struct job *j)
{
	enum { ITEMS = 192, LENGTH = 37, MIXED = 32 };
	uint8_t *in = (uint8_t *)job_random(j, (ITEMS * LENGTH + 3) / 4);
	uint32_t *mix = job_random(j, MIXED), *want = job_memory(j, ITEMS * 4), crc;
	cl_mem bi = job_buffer(j, ITEMS * LENGTH, in), bm = job_buffer(j, MIXED * 4, mix),
	       bo = job_buffer(j, ITEMS * 4, NULL);
	cl_kernel kernel = job_kernel(j, "crc");
	int i, k, bit;

	for (i = 0; i < ITEMS; i++) {
		crc = ~0u;
		for (k = 0; k < LENGTH; k++) {
			crc ^= in[i * LENGTH + k];
			for (bit = 0; bit < 8; bit++)
				crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		}
		want[i] = ~crc ^ mix[i % MIXED] ^ mix[crc % MIXED] * 3;
	}
	ARGUMENTS(j, kernel, VARIABLE(bi), VALUE(cl_int, LENGTH), VARIABLE(bm), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "crc", job_read(j, bo, ITEMS * 4), want, ITEMS, 4);
}

static void reduce(struct job *j)
{
	enum { N = 10000, GROUPS = 8, GROUP = 128 };
	uint32_t *in = job_random(j, N), sums[GROUPS] = { 0 };
	int32_t maxima[GROUPS], m;
	cl_mem bi = job_buffer(j, N * 4, in), bs = job_buffer(j, sizeof(sums), NULL),
	       bm = job_buffer(j, sizeof(maxima), NULL);
	cl_kernel kernel = job_kernel(j, "reduce");
	int i, g;

	for (g = 0; g < GROUPS; g++)
		maxima[g] = INT32_MIN;
	for (i = 0; i < N; i++) {
		g = i / GROUP % GROUPS;
		sums[g] += in[i];
		m = (int32_t)in[i];
		maxima[g] = m > maxima[g] ? m : maxima[g];
	}
	ARGUMENTS(j, kernel, VARIABLE(bi), VARIABLE(bs), VARIABLE(bm), LOCAL(GROUP * 4),
		  LOCAL(GROUP * 4), VALUE(cl_uint, N));
	job_run(j, kernel, GROUPS * GROUP, GROUP);
	job_equal(j, "sum", job_read(j, bs, sizeof(sums)), sums, GROUPS, 4);
	job_equal(j, "maximum", job_read(j, bm, sizeof(maxima)), maxima, GROUPS, 4);
}

const struct job_case cases_memory[] = {
	{ "saxpy", saxpy, text_saxpy },
	{ "private-array", private_sort, text_private },
	{ "constant-tables", crc, text_tables },
	{ "reduction", reduce, text_reduce },
	{ NULL, NULL, NULL },
};
