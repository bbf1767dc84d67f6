// SPDX-License-Identifier: GPL-2.0-only
/* Kernels about control flow: items that part, and what an item knows of its place. */
#include <string.h>

#include "cl_cases.h"

KERNEL_TEXT(mandelbrot);
KERNEL_TEXT(machine);
KERNEL_TEXT(ids);
KERNEL_TEXT(work_dim);

static void mandelbrot(struct job *j)
{
	enum { WIDTH = 48, HEIGHT = 32, LIMIT = 100, ONE = 1 << 12 };
	uint16_t *want = job_memory(j, WIDTH * HEIGHT * 2);
	cl_mem bo = job_buffer(j, WIDTH * HEIGHT * 2, NULL);
	cl_kernel kernel = job_kernel(j, "mandelbrot");
	int px, py;

	for (py = 0; py < HEIGHT; py++)
		for (px = 0; px < WIDTH; px++) {
			int cx = px * 3 * ONE / WIDTH - 2 * ONE, cy = py * 2 * ONE / HEIGHT - ONE,
			    x = 0, y = 0, n, xx, yy;

			for (n = 0; n < LIMIT; n++) {
				xx = x * x / ONE;
				yy = y * y / ONE;
				if (xx + yy > 4 * ONE)
					break;
				y = 2 * x * y / ONE + cy;
				x = xx - yy + cx;
			}
			want[py * WIDTH + px] = n;
		}
	ARGUMENTS(j, kernel, VARIABLE(bo), VALUE(cl_int, WIDTH), VALUE(cl_int, HEIGHT),
		  VALUE(cl_int, LIMIT));
	job_run2(j, kernel, WIDTH, HEIGHT, 16, 8);
	job_equal(j, "count", job_read(j, bo, WIDTH * HEIGHT * 2), want, WIDTH * HEIGHT, 2);
}

static int32_t run_on_host(const uint8_t *code, int steps, int seed)
{
	int32_t stack[8], a;
	int top = 1, at = 0;

	stack[0] = seed;
	for (; steps > 0; steps--) {
		a = stack[top - 1];
		switch (code[at++]) {
		case 0:
			stack[top - 1] = a + code[at++];
			break;
		case 1:
			stack[top - 1] = (int32_t)((uint32_t)a * 3);
			break;
		case 2:
			if (top < 8)
				stack[top++] = a ^ 0x55;
			break;
		case 3:
			if (top > 1) {
				top--;
				stack[top - 1] = (int32_t)((uint32_t)stack[top - 1] - (uint32_t)a);
			}
			break;
		case 4:
			at = a & 1 ? code[at] : at + 1;
			break;
		case 5:
			stack[top - 1] = a >> 1;
			break;
		case 6:
			at = 0;
			break;
		case 7:
			return a + top * 1000;
		default:
			return -1;
		}
	}
	return stack[top - 1] ^ at;
}

/* random instructions; some programs have one that does not exist */
static void machine(struct job *j)
{
	enum { ITEMS = 128, SIZE = 24, STEPS = 90 };
	uint8_t *code = job_memory(j, ITEMS * SIZE);
	int32_t *want = job_memory(j, ITEMS * 4);
	cl_mem bc, bo = job_buffer(j, ITEMS * 4, NULL);
	cl_kernel kernel = job_kernel(j, "machine");
	int i, k;

	for (i = 0; i < ITEMS; i++) {
		uint8_t *c = code + i * SIZE;

		/* operands may be run as instructions, too: the last three lead back */
		for (k = 0; k < SIZE - 3; k++)
			c[k] = rng_range(&j->rng, 0, 39) ? rng_range(&j->rng, 0, 5) :
							   rng_range(&j->rng, 7, 9);
		memset(c + SIZE - 3, 6, 3);
		want[i] = run_on_host(c, STEPS, i);
	}
	bc = job_buffer(j, ITEMS * SIZE, code);
	ARGUMENTS(j, kernel, VARIABLE(bc), VALUE(cl_int, SIZE), VALUE(cl_int, STEPS), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	job_equal(j, "result", job_read(j, bo, ITEMS * 4), want, ITEMS, 4);
}

static uint32_t packed(const size_t v[3])
{
	return v[0] | v[1] << 8 | v[2] << 16;
}

static void ids(struct job *j)
{
	enum { WORDS = 12, ITEMS = 24 * 6 * 8 };
	const size_t offset[3] = { 5, 11, 2 }, size[3] = { 24, 6, 8 }, group[3] = { 8, 3, 2 },
		     groups[3] = { 3, 2, 4 };
	const cl_uint4 four = { .s = { size[0], size[1], size[2], 99 } };
	uint32_t *want = job_memory(j, ITEMS * WORDS * 4);
	cl_mem bo = job_buffer(j, ITEMS * WORDS * 4, NULL);
	cl_kernel kernel = job_kernel(j, "ids");
	size_t i;
	int d;

	for (i = 0; i < ITEMS; i++) {
		const size_t at[3] = { i % size[0], i / size[0] % size[1], i / size[0] / size[1] };
		size_t in[3], of[3];
		uint32_t *w = want + i * WORDS;

		for (d = 0; d < 3; d++) {
			w[d] = at[d] + offset[d];
			in[d] = at[d] % group[d];
			of[d] = at[d] / group[d];
		}
		w[3] = packed(in);
		w[4] = packed(of);
		w[5] = packed(group);
		w[6] = packed(groups);
		w[7] = packed(size);
		w[8] = packed(offset);
		w[9] = size[2] * 3;
		/* the size of a missing dimension */
		w[10] = 1;
		w[11] = 99;
	}
	ARGUMENTS(j, kernel, VARIABLE(bo), VARIABLE(four));
	job_must(j, clEnqueueNDRangeKernel(j->queue, kernel, 3, offset, size, group, 0, NULL, NULL),
		 "clEnqueueNDRangeKernel");
	job_equal(j, "word", job_read(j, bo, ITEMS * WORDS * 4), want, ITEMS * WORDS, 4);
}

/* a byte of input: see image-alone */
static void work_dim(struct job *j)
{
	enum { ITEMS = 64 };
	uint32_t *want = job_memory(j, ITEMS * 4);
	cl_mem bo = job_buffer(j, ITEMS * 4, want);
	cl_kernel kernel = job_kernel(j, "work_dim");
	int i;

	for (i = 0; i < ITEMS; i++)
		want[i] = 1;
	ARGUMENTS(j, kernel, VARIABLE(bo));
	job_run(j, kernel, ITEMS, 32);
	job_equal(j, "word", job_read(j, bo, ITEMS * 4), want, ITEMS, 4);
}

#define CUT_SHORT \
	"Mesa's nve4_compute_validate_constbufs() (nve4_compute.c) announces size bytes and sends size / 4 words: here they are fewer"

const struct job_case cases_control[] = {
	{ "mandelbrot", mandelbrot, text_mandelbrot, NULL, NULL },
	{ "switch", machine, text_machine, NULL, NULL },
	{ "work-item-functions", ids, text_ids, NULL, NULL },
	{ "work-dimension", work_dim, text_work_dim, CUT_SHORT, "PUSH_NOT_ENOUGH_DATA" },
	{ NULL, NULL, NULL, NULL, NULL },
};
