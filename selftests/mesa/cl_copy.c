// SPDX-License-Identifier: GPL-2.0-only
/*
 * OpenCL through the card: write, copy and read of buffers, every byte checked. No other device
 * will do.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl_device.h"
#include "pattern.h"
#include "tap.h"

enum { BYTES = 4 << 20, PIECE_FROM = 4096 + 12, PIECE_TO = 65536 + 20, PIECE = 33333 };

static void must(cl_int r, const char *what)
{
	if (r == CL_SUCCESS)
		return;
	printf("Bail out! %s: error %d\n", what, r);
	exit(1);
}

int main(void)
{
	uint8_t *in = malloc(BYTES), *out = calloc(1, BYTES);
	cl_device_id dev = find_device(NULL);
	cl_command_queue queue;
	cl_context ctx;
	cl_mem a, b;
	cl_int err;
	int64_t bad;

	if (!dev || !in || !out)
		return tap_finish();
	ctx = clCreateContext(NULL, 1, &dev, NULL, NULL, &err);
	must(err, "clCreateContext");
	queue = clCreateCommandQueue(ctx, dev, 0, &err);
	must(err, "clCreateCommandQueue");
	a = clCreateBuffer(ctx, CL_MEM_READ_WRITE, BYTES, NULL, &err);
	must(err, "clCreateBuffer");
	b = clCreateBuffer(ctx, CL_MEM_READ_WRITE, BYTES, NULL, &err);
	must(err, "clCreateBuffer");
	pattern_fill(in, BYTES, 3);
	must(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, BYTES, in, 0, NULL, NULL),
	     "clEnqueueWriteBuffer");
	must(clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 0, NULL, NULL), "clEnqueueCopyBuffer");
	must(clEnqueueCopyBuffer(queue, a, b, PIECE_FROM, PIECE_TO, PIECE, 0, NULL, NULL),
	     "clEnqueueCopyBuffer");
	must(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, BYTES, out, 0, NULL, NULL),
	     "clEnqueueReadBuffer");
	must(clFinish(queue), "clFinish");
	memmove(in + PIECE_TO, in + PIECE_FROM, PIECE);
	bad = first_difference(in, out, BYTES);
	tap_result(bad < 0, "OpenCL write, copy and read", "%d bytes, wrong byte %lld", BYTES,
		   (long long)bad);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseCommandQueue(queue);
	clReleaseContext(ctx);
	return tap_finish();
}
