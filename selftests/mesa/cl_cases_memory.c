// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels about memory: reads and writes of all widths, tables, structures, private arrays.
 */
#include <math.h>
#include <string.h>

#include "cl_cases.h"

KERNEL_TEXT(saxpy);
KERNEL_TEXT(stencil);
KERNEL_TEXT(chase);
KERNEL_TEXT(search);
KERNEL_TEXT(private);
KERNEL_TEXT(tables);

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

static void stencil_on_host(const float *in, float *out, int width, int height)
{
	int x, y, i;

	memcpy(out, in, width * height * 4);
	for (y = 1; y < height - 1; y++)
		for (x = 1; x < width - 1; x++) {
			i = y * width + x;
			out[i] = 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]) +
				 0.5f * in[i];
		}
}

static void stencil(struct job *j)
{
	enum { WIDTH = 75, HEIGHT = 50, BYTES = WIDTH * HEIGHT * 4 };
	float *in = whole_floats(j, WIDTH * HEIGHT, 100), *once = job_memory(j, BYTES),
	      *twice = job_memory(j, BYTES);
	cl_mem a = job_buffer(j, BYTES, in), b = job_buffer(j, BYTES, NULL);
	cl_kernel k = job_kernel(j, "stencil");

	ARGUMENTS(j, k, VARIABLE(a), VARIABLE(b), VALUE(cl_int, WIDTH), VALUE(cl_int, HEIGHT));
	job_run2(j, k, 80, 56, 16, 8);
	ARGUMENTS(j, k, VARIABLE(b), VARIABLE(a));
	job_run2(j, k, 80, 56, 16, 8);
	stencil_on_host(in, once, WIDTH, HEIGHT);
	stencil_on_host(once, twice, WIDTH, HEIGHT);
	job_equal(j, "first", job_read(j, b, BYTES), once, WIDTH * HEIGHT, 4);
	job_equal(j, "second", job_read(j, a, BYTES), twice, WIDTH * HEIGHT, 4);
}

struct node {
	uint64_t weight;
	int32_t next;
	int32_t tag;
	uint32_t flags[2];
};

static void chase(struct job *j)
{
	enum { NODES = 500, ITEMS = 256, LIMIT = 60 };
	struct node *nodes = job_memory(j, NODES * sizeof(*nodes));
	int32_t *heads = job_memory(j, ITEMS * 4), *lengths = job_memory(j, ITEMS * 4);
	uint64_t *sums = job_memory(j, ITEMS * 8);
	cl_mem bn, bh, bs = job_buffer(j, ITEMS * 8, NULL), bl = job_buffer(j, ITEMS * 4, NULL);
	cl_kernel k = job_kernel(j, "chase");
	int i, at;

	for (i = 0; i < NODES; i++) {
		pattern_fill(&nodes[i], sizeof(nodes[i]), i);
		nodes[i].next = (int)rng_range(&j->rng, 0, NODES + 20) - 21;
	}
	for (i = 0; i < ITEMS; i++) {
		heads[i] = (int)rng_range(&j->rng, 0, NODES) - 1;
		for (at = heads[i]; at >= 0 && lengths[i] < LIMIT;
		     at = nodes[at].next, lengths[i]++)
			sums[i] = sums[i] * 31 + nodes[at].weight +
				  (int64_t)(int32_t)(nodes[at].tag *
						     (nodes[at].flags[0] & 1 ? 3u : -5u)) +
				  nodes[at].flags[1];
	}
	bn = job_buffer(j, NODES * sizeof(*nodes), nodes);
	bh = job_buffer(j, ITEMS * 4, heads);
	ARGUMENTS(j, k, VARIABLE(bn), VARIABLE(bh), VARIABLE(bs), VARIABLE(bl),
		  VALUE(cl_int, LIMIT));
	job_run(j, k, ITEMS, 64);
	job_equal(j, "length", job_read(j, bl, ITEMS * 4), lengths, ITEMS, 4);
	job_equal(j, "sum", job_read(j, bs, ITEMS * 8), sums, ITEMS, 8);
}

static void search(struct job *j)
{
	enum { N = 3000, ITEMS = 3072, LENGTH = 3 };
	const char word[LENGTH + 1] = "aba";
	char *text = job_memory(j, N);
	uint8_t *marks = job_memory(j, N);
	int16_t *pairs = job_memory(j, N * 2);
	int32_t count = 0, zero = 0, i, k;
	cl_mem bt, bw = job_buffer(j, sizeof(word), word), bm = job_buffer(j, N, NULL),
		   bp = job_buffer(j, N * 2, NULL);
	cl_mem bc = job_buffer(j, 4, &zero);
	cl_kernel kernel = job_kernel(j, "search");

	for (i = 0; i < N; i++)
		text[i] = rng_range(&j->rng, 0, 9) ? 'a' + (char)rng_range(&j->rng, 0, 1) :
						     (char)rng_next(&j->rng);
	for (i = 0; i < N; i++) {
		for (k = 0; k < LENGTH && i + k < N && text[i + k] == word[k]; k++)
			;
		marks[i] = k == LENGTH ? 'x' : k;
		count += k == LENGTH;
		pairs[i] = (signed char)text[i] * 3 - (signed char)text[N - 1 - i] * 5;
	}
	bt = job_buffer(j, N, text);
	ARGUMENTS(j, kernel, VARIABLE(bt), VARIABLE(bw), VALUE(cl_int, LENGTH), VALUE(cl_int, N),
		  VARIABLE(bm), VARIABLE(bp), VARIABLE(bc));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "mark", job_read(j, bm, N), marks, N, 1);
	job_equal(j, "pair", job_read(j, bp, N * 2), pairs, N, 2);
	job_equal(j, "count", job_read(j, bc, 4), &count, 1, 4);
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

const struct job_case cases_memory[] = {
	{ "saxpy", saxpy, text_saxpy, NULL, NULL },
	{ "stencil", stencil, text_stencil, NULL, NULL },
	{ "pointer-chasing", chase, text_chase, NULL, NULL },
	{ "search", search, text_search, NULL, NULL },
	{ "private-array", private_sort, text_private, NULL, NULL },
	{ "constant-tables", crc, text_tables, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};
