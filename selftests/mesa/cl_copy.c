// SPDX-License-Identifier: GPL-2.0-only
/* OpenCL through the card: write, copy and read of buffers, every byte checked. No other device will do. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "tap.h"

enum { BYTES = 4 << 20, MAX_IDS = 8, PIECE_FROM = 4096 + 12, PIECE_TO = 65536 + 20, PIECE = 33333 };

static void must(cl_int r, const char *what)
{
	if (r == CL_SUCCESS)
		return;
	printf("Bail out! %s: error %d\n", what, r);
	exit(1);
}

static cl_device_id find_device(void)
{
	cl_platform_id platforms[MAX_IDS];
	cl_uint np = 0, nd, p, d;

	must(clGetPlatformIDs(MAX_IDS, platforms, &np), "clGetPlatformIDs");
	for (p = 0; p < np; p++) {
		cl_device_id devices[MAX_IDS];

		if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_IDS, devices, &nd))
			continue;
		for (d = 0; d < nd; d++) {
			char name[256] = "", platform[256] = "";

			clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof(name), name, NULL);
			clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof(platform), platform, NULL);
			tap_diag("device: %s (platform %s)", name, platform);
			/* nvc0 calls the chip by its code name, NVF0 */
			if (strstr(name, "K20m") || strstr(name, "NVF0") || strstr(name, "GK110")) {
				tap_result(strstr(platform, "rusticl"), "OpenCL names the card, by rusticl", "%s", name);
				return devices[d];
			}
		}
	}
	tap_result(false, "OpenCL names the card, by rusticl", "%u platforms, none has it", np);
	return NULL;
}

int main(void)
{
	uint8_t *in = malloc(BYTES), *out = calloc(1, BYTES);
	cl_device_id dev = find_device();
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
	must(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, BYTES, in, 0, NULL, NULL), "clEnqueueWriteBuffer");
	must(clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 0, NULL, NULL), "clEnqueueCopyBuffer");
	must(clEnqueueCopyBuffer(queue, a, b, PIECE_FROM, PIECE_TO, PIECE, 0, NULL, NULL), "clEnqueueCopyBuffer");
	must(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, BYTES, out, 0, NULL, NULL), "clEnqueueReadBuffer");
	must(clFinish(queue), "clFinish");
	/* the reference needs the untouched source of the piece: it lies before the piece's place */
	memmove(in + PIECE_TO, in + PIECE_FROM, PIECE);
	bad = first_difference(in, out, BYTES);
	tap_result(bad < 0, "OpenCL write, copy and read", "%d bytes, wrong byte %lld", BYTES, (long long)bad);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseCommandQueue(queue);
	clReleaseContext(ctx);
	return tap_finish();
}
