// SPDX-License-Identifier: GPL-2.0-only
/* cl_job.h has the contracts. */
#include "cl_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job_object {
	struct job_object *next;
	cl_mem mem;
	cl_kernel kernel;
	void *memory;
};

void job_must(struct job *j, cl_int error, const char *call)
{
	if (error != CL_SUCCESS)
		job_die(j, "%s: error %d", call, error);
}

static struct job_object *new_object(struct job *j)
{
	struct job_object *o = calloc(1, sizeof(*o));

	if (!o)
		job_die(j, "no memory");
	o->next = j->objects;
	j->objects = o;
	return o;
}

/* the compiler's log goes to the standard error */
static void build(struct job *j)
{
	cl_int error;
	char log[4096] = "";

	j->program = clCreateProgramWithSource(j->context, 1, (const char **)&j->what->source, NULL,
					       &error);
	job_must(j, error, "clCreateProgramWithSource");
	error = clBuildProgram(j->program, 1, &j->device, "-cl-std=CL1.2", NULL, NULL);
	if (error != CL_SUCCESS) {
		clGetProgramBuildInfo(j->program, j->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log,
				      NULL);
		fprintf(stderr, "%s\n", log);
		job_die(j, "clBuildProgram: error %d", error);
	}
}

void job_begin(struct job *j)
{
	cl_int error;

	j->context = clCreateContext(NULL, 1, &j->device, NULL, NULL, &error);
	job_must(j, error, "clCreateContext");
	j->queue = clCreateCommandQueue(j->context, j->device, 0, &error);
	job_must(j, error, "clCreateCommandQueue");
	rng_init(&j->rng, 5);
}

void job_end(struct job *j)
{
	struct job_object *o;

	clFinish(j->queue);
	while ((o = j->objects)) {
		j->objects = o->next;
		if (o->mem)
			clReleaseMemObject(o->mem);
		if (o->kernel)
			clReleaseKernel(o->kernel);
		free(o->memory);
		free(o);
	}
	if (j->program)
		clReleaseProgram(j->program);
	j->program = NULL;
	clReleaseCommandQueue(j->queue);
	clReleaseContext(j->context);
}

cl_kernel job_kernel(struct job *j, const char *name)
{
	struct job_object *o = new_object(j);
	cl_int error;

	if (!j->program)
		build(j);
	o->kernel = clCreateKernel(j->program, name, &error);
	job_must(j, error, "clCreateKernel");
	return o->kernel;
}

cl_mem job_keep(struct job *j, cl_mem mem)
{
	new_object(j)->mem = mem;
	return mem;
}

cl_mem job_buffer(struct job *j, size_t bytes, const void *from)
{
	cl_mem_flags flags = CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0);
	cl_int error;
	cl_mem mem = clCreateBuffer(j->context, flags, bytes, (void *)from, &error);

	job_must(j, error, "clCreateBuffer");
	return job_keep(j, mem);
}

void job_arguments(struct job *j, cl_kernel kernel, const struct job_argument *arguments,
		   unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		job_must(j, clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value),
			 "clSetKernelArg");
}

void job_run(struct job *j, cl_kernel kernel, size_t items, size_t group)
{
	job_must(j,
		 clEnqueueNDRangeKernel(j->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL),
		 "clEnqueueNDRangeKernel");
}

void job_run2(struct job *j, cl_kernel kernel, size_t width, size_t height, size_t group_width,
	      size_t group_height)
{
	size_t items[] = { width, height }, group[] = { group_width, group_height };

	job_must(j, clEnqueueNDRangeKernel(j->queue, kernel, 2, NULL, items, group, 0, NULL, NULL),
		 "clEnqueueNDRangeKernel");
}

void *job_memory(struct job *j, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		job_die(j, "no memory");
	return new_object(j)->memory = memory;
}

void *job_read(struct job *j, cl_mem mem, size_t bytes)
{
	void *to = job_memory(j, bytes);

	job_must(j, clEnqueueReadBuffer(j->queue, mem, CL_TRUE, 0, bytes, to, 0, NULL, NULL),
		 "clEnqueueReadBuffer");
	return to;
}

uint32_t *job_random(struct job *j, size_t words)
{
	uint32_t *w = job_memory(j, words * sizeof(*w));
	size_t i;

	for (i = 0; i < words; i++)
		w[i] = rng_next(&j->rng);
	return w;
}
