// SPDX-License-Identifier: GPL-2.0-only
/* Kernels whose items work together: local memory, barriers, atomics. */
#include <math.h>
#include <string.h>

#include "cl_cases.h"

KERNEL_TEXT(reduce);
KERNEL_TEXT(scan);
KERNEL_TEXT(matmul);
KERNEL_TEXT(transpose);
KERNEL_TEXT(histogram);
KERNEL_TEXT(atomics);
KERNEL_TEXT(bitonic);
KERNEL_TEXT(nbody);
KERNEL_TEXT(bfs);

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

static void scan(struct job *j)
{
	enum { GROUP = 128, GROUPS = GROUP, N = GROUP * GROUPS };
	uint32_t *in = job_random(j, N), *want = job_memory(j, N * 4), sum = 0;
	cl_mem bi = job_buffer(j, N * 4, in), bo = job_buffer(j, N * 4, NULL);
	cl_mem totals = job_buffer(j, GROUPS * 4, NULL), before = job_buffer(j, GROUPS * 4, NULL),
	       all = job_buffer(j, 4, NULL);
	cl_kernel groups = job_kernel(j, "scan_groups"), add = job_kernel(j, "add_totals");
	int i;

	for (i = 0; i < N; i++) {
		want[i] = sum;
		sum += in[i];
	}
	ARGUMENTS(j, groups, VARIABLE(bi), VARIABLE(bo), VARIABLE(totals));
	job_run(j, groups, N, GROUP);
	ARGUMENTS(j, groups, VARIABLE(totals), VARIABLE(before), VARIABLE(all));
	job_run(j, groups, GROUPS, GROUP);
	ARGUMENTS(j, add, VARIABLE(bo), VARIABLE(before));
	job_run(j, add, N, GROUP);
	job_equal(j, "sum before", job_read(j, bo, N * 4), want, N, 4);
	job_equal(j, "sum of all", job_read(j, all, 4), &sum, 1, 4);
}

static void matmul(struct job *j)
{
	enum { N = 50, ITEMS = 64, BYTES = N * N * 4 };
	float *a = job_memory(j, BYTES), *b = job_memory(j, BYTES), *c = job_memory(j, BYTES);
	cl_mem ba, bb, bc = job_buffer(j, BYTES, NULL);
	cl_kernel kernel = job_kernel(j, "matmul");
	int x, y, k;

	/* whole numbers: every sum is exact in any order */
	for (k = 0; k < N * N; k++) {
		a[k] = (float)rng_range(&j->rng, 0, 200) - 100;
		b[k] = (float)rng_range(&j->rng, 0, 200) - 100;
	}
	for (y = 0; y < N; y++)
		for (x = 0; x < N; x++)
			for (k = 0; k < N; k++)
				c[y * N + x] += a[y * N + k] * b[k * N + x];
	ba = job_buffer(j, BYTES, a);
	bb = job_buffer(j, BYTES, b);
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bc), VALUE(cl_int, N));
	job_run2(j, kernel, ITEMS, ITEMS, 16, 16);
	job_equal(j, "c", job_read(j, bc, BYTES), c, N * N, 4);
}

static void transpose(struct job *j)
{
	enum { WIDTH = 70, HEIGHT = 45, N = WIDTH * HEIGHT };
	uint64_t *in = (uint64_t *)job_random(j, N * 2), *want = job_memory(j, N * 8);
	cl_mem bi = job_buffer(j, N * 8, in), bo = job_buffer(j, N * 8, NULL);
	cl_kernel kernel = job_kernel(j, "transpose");
	int x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			want[x * HEIGHT + y] = in[y * WIDTH + x];
	ARGUMENTS(j, kernel, VARIABLE(bi), VARIABLE(bo), VALUE(cl_int, WIDTH),
		  VALUE(cl_int, HEIGHT));
	job_run2(j, kernel, 80, 12, 16, 4);
	job_equal(j, "element", job_read(j, bo, N * 8), want, N, 8);
}

static void histogram(struct job *j)
{
	enum { N = 20000, BINS = 64 };
	uint8_t *in = (uint8_t *)job_random(j, N / 4);
	uint32_t bins[BINS] = { 0 };
	cl_mem bi, bb = job_buffer(j, sizeof(bins), bins);
	cl_kernel kernel = job_kernel(j, "histogram");
	int i;

	for (i = 0; i < N; i += 3)
		in[i] = 17;
	for (i = 0; i < N; i++)
		bins[in[i] / (256 / BINS)]++;
	bi = job_buffer(j, N, in);
	ARGUMENTS(j, kernel, VARIABLE(bi), VARIABLE(bb), VALUE(cl_uint, N));
	job_run(j, kernel, 1024, 128);
	job_equal(j, "bin", job_read(j, bb, sizeof(bins)), bins, BINS, 4);
}

static void atomics(struct job *j)
{
	enum { ITEMS = 256, CELLS = 9 };
	uint32_t u[16] = { 5, 6, 7, 8, 0xffffffff, 0, 0xffffffff, 0, 9, 0 }, want[CELLS + 2];
	int32_t s[2] = { 0, 0 };
	uint32_t *tickets = job_memory(j, ITEMS * 8), *ones = job_memory(j, ITEMS * 8);
	cl_mem bu = job_buffer(j, sizeof(u), u), bs = job_buffer(j, sizeof(s), s),
	       bl = job_buffer(j, sizeof(want), NULL);
	cl_mem bt = job_buffer(j, ITEMS * 8, tickets);
	cl_kernel kernel = job_kernel(j, "atomics");
	uint32_t i, v;

	for (i = 0; i < ITEMS; i++) {
		v = i * 77u ^ 0x80000000u;
		u[0] += i;
		u[1] -= i;
		u[2]++;
		u[3]--;
		u[4] = v < u[4] ? v : u[4];
		u[5] = v > u[5] ? v : u[5];
		u[6] &= ~(1u << i % 32);
		u[7] |= 1u << i % 29;
		u[8] ^= i * 0x9e3779b9u;
		s[0] = (int)i * 3 - 500 < s[0] ? (int)i * 3 - 500 : s[0];
		s[1] = (int)i * 3 - 500 > s[1] ? (int)i * 3 - 500 : s[1];
		ones[i] = ones[ITEMS + i] = 1;
	}
	memcpy(want, u, CELLS * 4);
	memcpy(want + CELLS, s, 8);
	ARGUMENTS(j, kernel, VARIABLE(bu), VARIABLE(bs), VARIABLE(bl), VARIABLE(bt));
	job_run(j, kernel, ITEMS, ITEMS);
	job_equal(j, "global", job_read(j, bu, sizeof(u)), want, CELLS, 4);
	job_equal(j, "global signed", job_read(j, bs, sizeof(s)), want + CELLS, 2, 4);
	job_equal(j, "local", job_read(j, bl, sizeof(want)), want, CELLS + 2, 4);
	job_equal(j, "ticket", job_read(j, bt, ITEMS * 8), ones, ITEMS * 2, 4);
}

static void swaps(struct job *j)
{
	enum { ITEMS = 192 };
	uint32_t zero = 0, first = ITEMS, seen[ITEMS + 1] = { 0 }, i;
	float want = ITEMS * (ITEMS - 1) / 2;
	cl_mem sum = job_buffer(j, 4, &zero), cell = job_buffer(j, 4, &first),
	       bs = job_buffer(j, ITEMS * 4, NULL);
	cl_kernel kernel = job_kernel(j, "swaps");
	const uint32_t *got, *last;

	ARGUMENTS(j, kernel, VARIABLE(sum), VARIABLE(cell), VARIABLE(bs));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "sum", job_read(j, sum, 4), &want, 1, 4);
	got = job_read(j, bs, ITEMS * 4);
	last = job_read(j, cell, 4);
	/* all values that were put in, once each */
	for (i = 0; i <= ITEMS; i++) {
		uint32_t v = i < ITEMS ? got[i] : *last;

		job_true(j, v <= ITEMS && !seen[v]++, "exchange %u gave %u", i, v);
	}
}

static void bitonic(struct job *j)
{
	enum { N = 512 };
	uint32_t *keys = job_random(j, N), block, distance;
	uint16_t *values = job_memory(j, N * 2);
	const uint32_t *sorted;
	const uint16_t *carried;
	cl_kernel kernel = job_kernel(j, "bitonic");
	cl_mem bk, bv;
	int i;

	for (i = 0; i < N; i++)
		values[i] = i;
	bk = job_buffer(j, N * 4, keys);
	bv = job_buffer(j, N * 2, values);
	for (block = 2; block <= N; block *= 2)
		for (distance = block / 2; distance > 0; distance /= 2) {
			ARGUMENTS(j, kernel, VARIABLE(bk), VARIABLE(bv), VARIABLE(block),
				  VARIABLE(distance));
			job_run(j, kernel, N, 64);
		}
	sorted = job_read(j, bk, N * 4);
	carried = job_read(j, bv, N * 2);
	for (i = 0; i < N; i++) {
		job_true(j, !i || sorted[i - 1] <= sorted[i],
			 "key %d is smaller than the one before", i);
		job_true(j, carried[i] < N && keys[carried[i] % N] == sorted[i],
			 "key %d has the value %u of another", i, carried[i]);
	}
}

static void nbody(struct job *j)
{
	enum { N = 128, GROUP = 64 };
	float *body = job_memory(j, N * 16), soft = 0.01f;
	const float *got;
	cl_mem bb, bf = job_buffer(j, N * 16, NULL);
	cl_kernel kernel = job_kernel(j, "nbody");
	int i, k, c;

	for (i = 0; i < N * 4; i++)
		body[i] = (float)rng_range(&j->rng, 1, 1 << 20) / (1 << 20);
	bb = job_buffer(j, N * 16, body);
	ARGUMENTS(j, kernel, VARIABLE(bb), VARIABLE(bf), LOCAL(GROUP * 16), VALUE(cl_uint, N),
		  VARIABLE(soft));
	job_run(j, kernel, N, GROUP);
	got = job_read(j, bf, N * 16);
	for (i = 0; i < N; i++) {
		double sum[4] = { 0 }, size[4] = { 0 };

		for (k = 0; k < N; k++) {
			double d[3], r = soft;

			for (c = 0; c < 3; c++) {
				d[c] = (double)body[k * 4 + c] - body[i * 4 + c];
				r += d[c] * d[c];
			}
			for (c = 0; c < 3; c++) {
				sum[c] += d[c] * body[k * 4 + 3] / (r * sqrt(r));
				size[c] += fabs(d[c] * body[k * 4 + 3] / (r * sqrt(r)));
			}
		}
		/* an error is measured against the sizes of all terms */
		for (c = 0; c < 4; c++)
			job_near(j, "force", got[i * 4 + c], sum[c], 0, size[c] * 0x1p-17);
	}
}

static void levels_on_host(const uint32_t *first, const uint32_t *to, int32_t *level,
			   uint32_t *queue, uint32_t n)
{
	uint32_t head = 0, tail = 1, e, i;

	memset(level, 0xff, n * 4);
	level[0] = 0;
	queue[0] = 0;
	while (head < tail) {
		i = queue[head++];
		for (e = first[i]; e < first[i + 1]; e++)
			if (level[to[e]] < 0) {
				level[to[e]] = level[i] + 1;
				queue[tail++] = to[e];
			}
	}
}

static void bfs(struct job *j)
{
	enum { N = 600, EDGES = 2 * N };
	uint32_t *first = job_memory(j, (N + 1) * 4), *to = job_memory(j, EDGES * 4), i;
	int32_t *want = job_memory(j, N * 4), *level = job_memory(j, N * 4), zero = 0, now = 0;
	cl_mem bf, bt, bl, bc = job_buffer(j, 4, &zero);
	cl_kernel kernel = job_kernel(j, "bfs");

	for (i = 0; i < EDGES; i++)
		to[i] = rng_range(&j->rng, 0, N - 1);
	for (i = 1; i <= N; i++)
		first[i] = i == N ? EDGES :
				    first[i - 1] +
					    rng_range(&j->rng, 0, first[i - 1] + 4 < EDGES ? 4 : 0);
	levels_on_host(first, to, want, job_memory(j, N * 4), N);
	memset(level, 0xff, N * 4);
	level[0] = 0;
	bf = job_buffer(j, (N + 1) * 4, first);
	bt = job_buffer(j, EDGES * 4, to);
	bl = job_buffer(j, N * 4, level);
	do {
		job_must(j, clEnqueueWriteBuffer(j->queue, bc, CL_TRUE, 0, 4, &zero, 0, NULL, NULL),
			 "clEnqueueWriteBuffer");
		ARGUMENTS(j, kernel, VARIABLE(bf), VARIABLE(bt), VARIABLE(bl), VARIABLE(bc),
			  VARIABLE(now), VALUE(cl_uint, N));
		job_run(j, kernel, 640, 64);
		now++;
	} while (*(int32_t *)job_read(j, bc, 4) && now < N);
	job_equal(j, "level", job_read(j, bl, N * 4), want, N, 4);
}

const struct job_case cases_groups[] = {
	{ "reduction", reduce, text_reduce, NULL, NULL },
	{ "scan", scan, text_scan, NULL, NULL },
	{ "matrix-multiply", matmul, text_matmul, NULL, NULL },
	{ "transpose", transpose, text_transpose, NULL, NULL },
	{ "histogram", histogram, text_histogram, NULL, NULL },
	{ "atomics", atomics, text_atomics, NULL, NULL },
	{ "compare-and-swap", swaps, text_atomics, NULL, NULL },
	{ "bitonic-sort", bitonic, text_bitonic, NULL, NULL },
	{ "n-body", nbody, text_nbody, NULL, NULL },
	{ "graph-search", bfs, text_bfs, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};
