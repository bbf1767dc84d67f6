// SPDX-License-Identifier: GPL-2.0-only
/*
 * Matrices: what GPUvm was measured with (sums and naive products, in integers and floats), copies,
 * and products with tiles in shared memory. Elements are small whole numbers, so that floats are
 * exact, too. Products are checked as a whole by Freivalds' method: C r = A (B r) for vectors r by
 * chance, in 64-bit integers.
 */
#include "chain.h"

#include "../programs/driver/kernels.cu"
#include "../programs/matmul_kernel.h"

enum { BLOCK = 16, VECTORS = 3 };

static uint32_t seed = 4711;

static void whole_numbers(const struct job *j, struct buffer *b, bool floats)
{
	for (size_t i = 0; i < (size_t)j->n * j->n; i++) {
		int v = (int)(random_bits(&seed) % 17) - 8;

		if (floats)
			((float *)b->in)[i] = v;
		else
			((int *)b->in)[i] = v;
	}
}

static long long at(const void *m, size_t i, bool floats)
{
	return floats ? (long long)((const float *)m)[i] : ((const int *)m)[i];
}

static void multiply_vector(const void *m, bool floats, int n, const long long *v, long long *out)
{
	for (int y = 0; y < n; y++) {
		long long sum = 0;

		for (int x = 0; x < n; x++)
			sum += at(m, (size_t)y * n + x, floats) * v[x];
		out[y] = sum;
	}
}

static bool product_right(const struct job *j, bool floats)
{
	int n = j->n;
	long long *r = new long long[n], *br = new long long[n], *abr = new long long[n],
		  *cr = new long long[n];
	bool right = true;

	for (size_t i = 0; floats && i < (size_t)n * n; i++) {
		float c = ((const float *)j->buffer[2].out)[i];

		/* no fractions, which at() would hide */
		right &= c == truncf(c) && fabsf(c) <= 64.0f * n;
	}
	for (int v = 0; v < VECTORS && right; v++) {
		for (int i = 0; i < n; i++)
			r[i] = random_bits(&seed) % 1021;
		multiply_vector(j->buffer[1].in, floats, n, r, br);
		multiply_vector(j->buffer[0].in, floats, n, br, abr);
		multiply_vector(j->buffer[2].out, floats, n, r, cr);
		right = !memcmp(abr, cr, n * sizeof(*cr));
	}
	delete[] r;
	delete[] br;
	delete[] abr;
	delete[] cr;
	return right;
}

static bool integer_product_right(const struct job *j) { return product_right(j, false); }
static bool float_product_right(const struct job *j) { return product_right(j, true); }

static bool sum_right(const struct job *j, bool floats)
{
	for (size_t i = 0; i < (size_t)j->n * j->n; i++) {
		long long want = at(j->buffer[0].in, i, floats) + at(j->buffer[1].in, i, floats);

		if (floats ? ((const float *)j->buffer[2].out)[i] != (float)want :
			     at(j->buffer[2].out, i, false) != want)
			return false;
	}
	return true;
}

static bool integer_sum_right(const struct job *j) { return sum_right(j, false); }
static bool float_sum_right(const struct job *j) { return sum_right(j, true); }

#define NAIVE(name, type)                                                            \
	static void launch_##name(const struct job *j, void **d)                     \
	{                                                                            \
		int blocks = CEIL_DIV(j->n, BLOCK);                                  \
\
		name<<<dim3(blocks, blocks), dim3(BLOCK, BLOCK)>>>(                  \
			(const type *)d[0], (const type *)d[1], (type *)d[2], j->n); \
	}
NAIVE(madd, unsigned int)
NAIVE(mmul, unsigned int)
NAIVE(fmadd, float)
NAIVE(fmmul, float)

static void launch_tiled(const struct job *j, void **d)
{
	multiply<<<dim3(j->n / TILE, j->n / TILE), dim3(TILE, TILE / PER_THREAD)>>>(
		(const float *)d[0], (const float *)d[1], (float *)d[2], j->n);
}

static void operands(struct job *j, bool floats)
{
	size_t bytes = (size_t)j->n * j->n * 4;

	whole_numbers(j, add_buffer(j, bytes, true, false), floats);
	whole_numbers(j, add_buffer(j, bytes, true, false), floats);
	add_buffer(j, bytes, false, true);
}

#define MAKE(name, kernel_, launch_, right_, floats) \
	static void make_##name(struct job *j)       \
	{                                            \
		operands(j, floats);                 \
		j->kernel = (const void *)kernel_;   \
		j->launch = launch_;                 \
		j->right = right_;                   \
	}
MAKE(madd, madd, launch_madd, integer_sum_right, false)
MAKE(mmul, mmul, launch_mmul, integer_product_right, false)
MAKE(fmadd, fmadd, launch_fmadd, float_sum_right, true)
MAKE(fmmul, fmmul, launch_fmmul, float_product_right, true)
MAKE(tiled, multiply, launch_tiled, float_product_right, true)

const struct chain matrix_chains[] = {
	{ "cuda-madd", 1024, 256, 3, make_madd }, { "cuda-mmul", 1024, 256, 1, make_mmul },
		{ "cuda-fmadd", 1024, 256, 3, make_fmadd },
	{ "cuda-fmmul", 1024, 256, 1, make_fmmul },
	{ "matrix-1024", 1024, 1024, 3, make_tiled }, { "matrix-2048", 2048, 2048, 1, make_tiled },
		{ NULL },
};

/* -------------------------------------------------------------- copies of n MiB, there and back */

static bool copy_right(const struct job *j)
{
	return !memcmp(j->buffer[0].in, j->buffer[0].out, j->buffer[0].bytes);
}

static void make_copy(struct job *j)
{
	struct buffer *b = add_buffer(j, (size_t)j->n << 20, true, true);

	for (size_t i = 0; i < b->bytes / 4; i++)
		((uint32_t *)b->in)[i] = random_bits(&seed);
	j->right = copy_right;
}

static void make_pinned_copy(struct job *j)
{
	make_copy(j);
	j->pinned = true;
}

const struct chain copy_chains[] = {
	{ "cuda-cpy", 64, 16, 3, make_copy }, { "cuda-pincpy", 64, 16, 3, make_pinned_copy },
		{ NULL },
};
