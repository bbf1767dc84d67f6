/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job is one test of kernels, with its own program, buffers and queue. A refused call of OpenCL
 * ends the process, so the functions return success.
 */
#ifndef KVGPU_SELFTESTS_CL_JOB_H
#define KVGPU_SELFTESTS_CL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl_device.h"
#include "pattern.h"
#include "verdict.h"

struct job;

struct job_case {
	const char *name;
	void (*run)(struct job *j);
	const char *source;
};

struct job {
	const struct job_case *what;
	struct verdict *verdict;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	struct rng rng;
	struct job_object *objects;
};

struct job_argument {
	size_t size;
	const void *value;
};

/* OpenCL C of kernels/NAME.cl as text_NAME */
#define KERNEL_TEXT(name)                                                         \
	extern const char text_##name[];                                          \
	__asm__(".pushsection .rodata\ntext_" #name ":\n.incbin \"kernels/" #name \
		".cl\"\n.byte 0\n.popsection\n")

/* a variable, a value, or bytes of local memory as a kernel's argument */
#define VARIABLE(x)             \
	{                       \
		sizeof(x), &(x) \
	}
#define VALUE(type, x)                \
	{                             \
		sizeof(type), &(type) \
		{                     \
			x             \
		}                     \
	}
#define LOCAL(bytes)        \
	{                   \
		bytes, NULL \
	}
#define ARGUMENTS(j, kernel, ...)                                              \
	job_arguments(j, kernel, (const struct job_argument[]){ __VA_ARGS__ }, \
		      sizeof((const struct job_argument[]){ __VA_ARGS__ }) /   \
			      sizeof(struct job_argument))

void job_begin(struct job *j);
void job_end(struct job *j);
void job_must(struct job *j, cl_int error, const char *call);

cl_kernel job_kernel(struct job *j, const char *name);
/* filled from @from unless that is NULL */
cl_mem job_buffer(struct job *j, size_t bytes, const void *from);
/* job_end() releases it */
cl_mem job_keep(struct job *j, cl_mem mem);
void job_arguments(struct job *j, cl_kernel kernel, const struct job_argument *arguments,
		   unsigned int n);
void job_run(struct job *j, cl_kernel kernel, size_t items, size_t group);
void job_run2(struct job *j, cl_kernel kernel, size_t width, size_t height, size_t group_width,
	      size_t group_height);
/* zeros, which job_end() frees */
void *job_memory(struct job *j, size_t bytes);
/* the buffer when all work is done, in memory that job_end() frees */
void *job_read(struct job *j, cl_mem mem, size_t bytes);
uint32_t *job_random(struct job *j, size_t words);

/* what verdict.h says, about the job's verdict */
#define job_die(j, ...)	  verdict_die((j)->verdict, __VA_ARGS__)
#define job_skip(j, why)  verdict_skip((j)->verdict, why)
#define job_equal(j, ...) verdict_equal((j)->verdict, __VA_ARGS__)
#define job_near(j, ...)  verdict_near((j)->verdict, __VA_ARGS__)
#define job_true(j, ...)  verdict_true((j)->verdict, __VA_ARGS__)

#endif
