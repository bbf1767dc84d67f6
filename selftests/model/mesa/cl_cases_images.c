// SPDX-License-Identifier: GPL-2.0-only
/* Kernels that read and write images: whole words, normalized bytes, filtered. */
#include <string.h>

#include "cl_cases.h"

KERNEL_TEXT(images);

enum { IMAGE_WIDTH = 37, IMAGE_HEIGHT = 22, TEXELS = IMAGE_WIDTH * IMAGE_HEIGHT };

static cl_mem image(struct job *j, cl_channel_type type, const void *from)
{
	cl_image_format format = { CL_RGBA, type };
	cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D,
			       .image_width = IMAGE_WIDTH,
			       .image_height = IMAGE_HEIGHT };
	cl_mem_flags flags = CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0);
	cl_int error;
	cl_mem mem = clCreateImage(j->context, flags, &format, &desc, (void *)from, &error);

	job_must(j, error, "clCreateImage");
	return job_keep(j, mem);
}

static void *image_read(struct job *j, cl_mem mem)
{
	size_t zero[3] = { 0 }, all[3] = { IMAGE_WIDTH, IMAGE_HEIGHT, 1 };
	void *to = job_memory(j, TEXELS * 16);

	job_must(j, clEnqueueReadImage(j->queue, mem, CL_TRUE, zero, all, 0, 0, to, 0, NULL, NULL),
		 "clEnqueueReadImage");
	return to;
}

/* the texel outside: the edge's, none (colour 0) or the other side's */
enum outside { EDGE, BORDER, AGAIN };

static int within(int x, int end, enum outside outside)
{
	if (x >= 0 && x < end)
		return x;
	return outside == EDGE ? (x < 0 ? 0 : end - 1) : outside == AGAIN ? (x + end) % end : -1;
}

static bool has_images(struct job *j)
{
	cl_bool images = CL_FALSE;

	clGetDeviceInfo(j->device, CL_DEVICE_IMAGE_SUPPORT, sizeof(images), &images, NULL);
	if (!images)
		job_skip(j, "CL_DEVICE_IMAGE_SUPPORT is false");
	return images;
}

static void image_words(struct job *j)
{
	uint32_t *in, *want;
	cl_kernel kernel;
	cl_mem a, b, o;
	int x, y, c;

	if (!has_images(j))
		return;
	in = job_random(j, TEXELS * 4);
	want = job_random(j, TEXELS * 4);
	kernel = job_kernel(j, "flip");
	a = image(j, CL_UNSIGNED_INT32, in);
	b = image(j, CL_UNSIGNED_INT32, want);
	o = image(j, CL_UNSIGNED_INT32, NULL);
	for (y = 0; y < IMAGE_HEIGHT; y++)
		for (x = 0; x < IMAGE_WIDTH - 1; x++)
			for (c = 0; c < 4; c++)
				want[(y * IMAGE_WIDTH + x) * 4 + c] ^=
					in[((IMAGE_HEIGHT - 1 - y) * IMAGE_WIDTH + x + 1) * 4 + c];
	ARGUMENTS(j, kernel, VARIABLE(a), VARIABLE(b), VARIABLE(o));
	job_run2(j, kernel, IMAGE_WIDTH, IMAGE_HEIGHT, 1, 11);
	job_equal(j, "word", image_read(j, o), want, TEXELS * 4, 4);
}

/* channel @c of the texel at, or nearest to, (@x, @y) */
static double nearest(const uint8_t *in, int x, int y, int c, enum outside outside)
{
	x = within(x, IMAGE_WIDTH, outside);
	y = within(y, IMAGE_HEIGHT, outside);
	return x < 0 || y < 0 ? 0 : in[(y * IMAGE_WIDTH + x) * 4 + c] / 255.0;
}

static void image_bytes(struct job *j)
{
	const uint8_t *in, *other;
	const float *got;
	cl_kernel kernel;
	cl_mem a, b, o;
	int x, y, c;

	if (!has_images(j))
		return;
	in = (uint8_t *)job_random(j, TEXELS);
	other = (uint8_t *)job_random(j, TEXELS);
	kernel = job_kernel(j, "bytes");
	a = image(j, CL_UNORM_INT8, in);
	b = image(j, CL_UNORM_INT8, other);
	o = image(j, CL_FLOAT, NULL);
	ARGUMENTS(j, kernel, VARIABLE(a), VARIABLE(b), VARIABLE(o));
	job_run2(j, kernel, IMAGE_WIDTH, IMAGE_HEIGHT, 37, 2);
	got = image_read(j, o);
	for (y = 0; y < IMAGE_HEIGHT; y++)
		for (x = 0; x < IMAGE_WIDTH; x++, got += 4)
			for (c = 0; c < 4; c++)
				job_near(j, "nearest", got[c],
					 nearest(in, x - 2, y - 3, c, EDGE) / 2 +
						 nearest(other, x + 3, y + 2, c, BORDER) / 4,
					 4, 0);
}

/* three quarters of the way from texel x - 1 to x lies 0.25 of the one and 0.75 of the other */
static double filtered(const uint8_t *in, int x, int y, int c, enum outside outside)
{
	double sum = 0;
	int dx, dy;

	for (dy = -1; dy <= 0; dy++)
		for (dx = -1; dx <= 0; dx++)
			sum += (dx ? 0.25 : 0.75) * (dy ? 0.25 : 0.75) *
			       nearest(in, x + dx, y + dy, c, outside);
	return sum;
}

/* the weights are fractions of 8 bits */
static void image_filter(struct job *j)
{
	const uint8_t *in, *other;
	const float *got;
	cl_kernel kernel;
	cl_sampler edge, again;
	cl_mem a, b, o;
	cl_int error;
	int x, y, c;

	if (!has_images(j))
		return;
	in = (uint8_t *)job_random(j, TEXELS);
	other = (uint8_t *)job_random(j, TEXELS);
	kernel = job_kernel(j, "between");
	a = image(j, CL_UNORM_INT8, in);
	b = image(j, CL_UNORM_INT8, other);
	o = image(j, CL_FLOAT, NULL);
	edge = clCreateSampler(j->context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR,
			       &error);
	job_must(j, error, "clCreateSampler");
	again = clCreateSampler(j->context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &error);
	job_must(j, error, "clCreateSampler");
	ARGUMENTS(j, kernel, VARIABLE(a), VARIABLE(b), VARIABLE(o), VARIABLE(edge),
		  VARIABLE(again));
	job_run2(j, kernel, IMAGE_WIDTH, IMAGE_HEIGHT, 37, 1);
	got = image_read(j, o);
	for (y = 0; y < IMAGE_HEIGHT; y++)
		for (x = 0; x < IMAGE_WIDTH; x++, got += 4)
			for (c = 0; c < 4; c++)
				job_near(j, "linear", got[c],
					 filtered(in, x, y, c, EDGE) / 2 +
						 filtered(other, x, y, c, AGAIN) / 4,
					 0, 0.01);
	clReleaseSampler(edge);
	clReleaseSampler(again);
}

const struct job_case cases_images[] = {
	{ "image-words", image_words, text_images },
	{ "image-bytes", image_bytes, text_images },
	{ "image-filter", image_filter, text_images },
	{ NULL, NULL, NULL },
};
