// SPDX-License-Identifier: GPL-2.0-only
/* What surrounds kernels: queues, events, parts of buffers, mappings, times, an item's place. */
#include <string.h>

#include "cl_cases.h"

KERNEL_TEXT(chain);
KERNEL_TEXT(ids);

enum { N = 256, BYTES = N * 4 };

static cl_command_queue new_queue(struct job *j, cl_command_queue_properties properties)
{
	cl_int error;
	cl_command_queue queue = clCreateCommandQueue(j->context, j->device, properties, &error);

	job_must(j, error, "clCreateCommandQueue");
	return queue;
}

/* one step after an event; its own in @done */
static void step(struct job *j, cl_command_queue queue, cl_kernel kernel, cl_mem mem, cl_uint value,
		 cl_event after, cl_event *done)
{
	size_t items = N, group = 64;

	ARGUMENTS(j, kernel, VARIABLE(mem), VARIABLE(value));
	job_must(j,
		 clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, after ? 1 : 0,
					after ? &after : NULL, done),
		 "clEnqueueNDRangeKernel");
}

/*
 * Steps that do not commute, on an unordered queue, or on two in turn: only the events order them.
 */
static void steps_in_order(struct job *j, cl_command_queue first, cl_command_queue second,
			   cl_event begin)
{
	enum { STEPS = 8 };
	cl_kernel times = job_kernel(j, "times"), plus = job_kernel(j, "plus");
	cl_event done[STEPS] = { NULL };
	uint32_t *want = job_random(j, N);
	cl_mem mem = job_buffer(j, BYTES, want);
	int i, s;

	for (s = 0; s < STEPS; s++) {
		step(j, s & 1 ? second : first, s & 1 ? plus : times, mem, s * 2 + 3,
		     s ? done[s - 1] : begin, &done[s]);
		/* needed before another queue waits for an event */
		clFlush(s & 1 ? second : first);
		for (i = 0; i < N; i++)
			want[i] = s & 1 ? want[i] + s * 2 + 3 + i : want[i] * (s * 2 + 3);
	}
	if (begin)
		job_must(j, clSetUserEventStatus(begin, CL_COMPLETE), "clSetUserEventStatus");
	job_must(j, clWaitForEvents(1, &done[STEPS - 1]), "clWaitForEvents");
	job_equal(j, "word", job_read(j, mem, BYTES), want, N, 4);
	for (s = 0; s < STEPS; s++)
		clReleaseEvent(done[s]);
}

static void out_of_order(struct job *j)
{
	cl_command_queue_properties has = 0;
	cl_command_queue queue;

	job_must(j, clGetDeviceInfo(j->device, CL_DEVICE_QUEUE_PROPERTIES, sizeof(has), &has, NULL),
		 "clGetDeviceInfo");
	has &= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	queue = new_queue(j, has);
	steps_in_order(j, queue, queue, NULL);
	clFinish(queue);
	clReleaseCommandQueue(queue);
}

static void two_queues(struct job *j)
{
	cl_command_queue first = new_queue(j, 0), second = new_queue(j, 0);
	cl_int error;
	cl_event begin = clCreateUserEvent(j->context, &error);

	job_must(j, error, "clCreateUserEvent");
	steps_in_order(j, first, second, begin);
	clFinish(first);
	clFinish(second);
	clReleaseEvent(begin);
	clReleaseCommandQueue(first);
	clReleaseCommandQueue(second);
}

static cl_mem part_of(struct job *j, cl_mem mem, size_t from)
{
	cl_buffer_region region = { from, BYTES };
	cl_int error;
	cl_mem part = clCreateSubBuffer(mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
					&region, &error);

	job_must(j, error, "clCreateSubBuffer");
	return job_keep(j, part);
}

/* at offsets that the device allows */
static void parts(struct job *j)
{
	cl_uint align_bits = 0;
	size_t gap, all;
	uint8_t *want;
	uint32_t *a, *b, *out;
	cl_mem mem, pa, pb, po;
	cl_kernel both = job_kernel(j, "both");
	int i;

	job_must(j,
		 clGetDeviceInfo(j->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(align_bits),
				 &align_bits, NULL),
		 "clGetDeviceInfo");
	gap = BYTES + align_bits / 8;
	gap -= gap % (align_bits / 8);
	all = 4 * gap;
	want = (uint8_t *)job_random(j, all / 4);
	mem = job_buffer(j, all, want);
	po = part_of(j, mem, gap);
	pa = part_of(j, mem, 2 * gap);
	pb = part_of(j, mem, 3 * gap - gap % 4);
	out = (uint32_t *)(want + gap);
	a = (uint32_t *)(want + 2 * gap);
	b = (uint32_t *)(want + 3 * gap - gap % 4);
	for (i = 0; i < N; i++)
		out[i] = a[i] * 7 - b[i];
	ARGUMENTS(j, both, VARIABLE(pa), VARIABLE(pb), VARIABLE(po));
	job_run(j, both, N, 64);
	job_equal(j, "byte", job_read(j, mem, all), want, all, 1);
}

/* on a queue that keeps the order */
static void times(struct job *j)
{
	static const cl_profiling_info what[] = { CL_PROFILING_COMMAND_QUEUED,
						  CL_PROFILING_COMMAND_SUBMIT,
						  CL_PROFILING_COMMAND_START,
						  CL_PROFILING_COMMAND_END };
	enum { RUNS = 4 };
	cl_command_queue queue = new_queue(j, CL_QUEUE_PROFILING_ENABLE);
	cl_kernel plus = job_kernel(j, "plus");
	uint32_t *want = job_random(j, N);
	cl_mem mem = job_buffer(j, BYTES, want);
	cl_ulong t[RUNS][4];
	cl_event done[RUNS];
	int r, i;

	for (r = 0; r < RUNS; r++)
		step(j, queue, plus, mem, r, NULL, &done[r]);
	job_must(j, clFinish(queue), "clFinish");
	for (r = 0; r < RUNS; r++)
		for (i = 0; i < 4; i++)
			job_must(j, clGetEventProfilingInfo(done[r], what[i], 8, &t[r][i], NULL),
				 "clGetEventProfilingInfo");
	for (r = 0; r < RUNS; r++) {
		/* only times of one clock */
		job_true(j, t[r][0] <= t[r][1], "run %d was submitted before it was queued", r);
		job_true(j, t[r][2] < t[r][3], "run %d ended (%llu ns) before it began (%llu ns)",
			 r, (unsigned long long)t[r][3], (unsigned long long)t[r][2]);
		job_true(j, !r || t[r][2] >= t[r - 1][3],
			 "run %d began before the one before had ended", r);
		clReleaseEvent(done[r]);
	}
	for (i = 0; i < N; i++)
		want[i] += 0 + 1 + 2 + 3 + RUNS * i;
	job_equal(j, "word", job_read(j, mem, BYTES), want, N, 4);
	clReleaseCommandQueue(queue);
}

/*
 * Filled, mapped, changed by the host, by a kernel, and read as a rectangle. Filled pieces begin at
 * no multiple of 256 bytes: those Mesa fills by the 3D class (nvc0_clear_buffer()), which draws
 * nothing in the model.
 */
static void mapped(struct job *j)
{
	enum { ROW = 16, WIDTH = 5, HEIGHT = 9 };
	const uint32_t pattern[2] = { 0x01234567, 0x89abcdef };
	size_t from[3] = { 3 * 4, 2, 0 }, to[3] = { 0 }, region[3] = { WIDTH * 4, HEIGHT, 1 };
	uint32_t want[N], *map, got[WIDTH * HEIGHT], rectangle[WIDTH * HEIGHT];
	cl_mem mem;
	cl_int error;
	int i;

	for (i = 0; i < N; i++)
		want[i] = i % 64 < 2 ? (uint32_t)i : 0;
	mem = job_buffer(j, BYTES, want);
	for (i = 0; i < N; i++)
		want[i] = i % 64 < 2 ? (uint32_t)i : pattern[i & 1];
	for (i = 0; i < BYTES; i += 256)
		job_must(j,
			 clEnqueueFillBuffer(j->queue, mem, pattern, 8, i + 8, 248, 0, NULL, NULL),
			 "clEnqueueFillBuffer");
	map = clEnqueueMapBuffer(j->queue, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, BYTES, 0,
				 NULL, NULL, &error);
	job_must(j, error, "clEnqueueMapBuffer");
	job_equal(j, "filled", map, want, N, 4);
	for (i = 0; i < N; i += 3) {
		map[i] = i * 12345;
		want[i] = i * 12345;
	}
	job_must(j, clEnqueueUnmapMemObject(j->queue, mem, map, 0, NULL, NULL),
		 "clEnqueueUnmapMemObject");
	step(j, j->queue, job_kernel(j, "times"), mem, 9, NULL, NULL);
	for (i = 0; i < N; i++)
		want[i] *= 9;
	for (i = 0; i < WIDTH * HEIGHT; i++)
		rectangle[i] = want[(2 + i / WIDTH) * ROW + 3 + i % WIDTH];
	job_must(j,
		 clEnqueueReadBufferRect(j->queue, mem, CL_TRUE, from, to, region, ROW * 4, 0, 0, 0,
					 got, 0, NULL, NULL),
		 "clEnqueueReadBufferRect");
	job_equal(j, "rectangle", got, rectangle, WIDTH * HEIGHT, 4);
	job_equal(j, "word", job_read(j, mem, BYTES), want, N, 4);
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

/* whole, then a piece at odd places */
static void copies(struct job *j)
{
	enum { BYTES = 4 << 20, FROM = 4096 + 12, TO = 65536 + 20, PIECE = 33333 };
	uint8_t *in = job_memory(j, BYTES);
	cl_mem a, b = job_buffer(j, BYTES, NULL);

	pattern_fill(in, BYTES, 3);
	a = job_buffer(j, BYTES, in);
	job_must(j, clEnqueueCopyBuffer(j->queue, a, b, 0, 0, BYTES, 0, NULL, NULL),
		 "clEnqueueCopyBuffer");
	job_must(j, clEnqueueCopyBuffer(j->queue, a, b, FROM, TO, PIECE, 0, NULL, NULL),
		 "clEnqueueCopyBuffer");
	memmove(in + TO, in + FROM, PIECE);
	job_equal(j, "byte", job_read(j, b, BYTES), in, BYTES, 1);
}

const struct job_case cases_queues[] = {
	{ "events-out-of-order", out_of_order, text_chain },
	{ "two-queues", two_queues, text_chain },
	{ "sub-buffers", parts, text_chain },
	{ "profiling", times, text_chain },
	{ "fill-map-rectangle", mapped, text_chain },
	{ "work-item-functions", ids, text_ids },
	{ "copies", copies, NULL },
	{ NULL, NULL, NULL },
};
