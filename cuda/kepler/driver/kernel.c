// SPDX-License-Identifier: MIT
/*
 * Kernels, apart from a context: who keeps their module's image, and whether the GPU takes a launch
 * of them, with which parameters. Graphs ask this long before they launch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { MAX_THREADS = 1024, MAX_XY = 1024, MAX_Z = 64, MAX_GRID_YZ = 65535 };
#define MAX_GRID_X 2147483647u

void module_drop(CUmodule m)
{
	if (__atomic_sub_fetch(&m->keepers, 1, __ATOMIC_ACQ_REL))
		return;
	free(m->functions);
	image_free(&m->image);
	free(m);
}

void function_keep(CUfunction f)
{
	__atomic_add_fetch(&f->module->keepers, 1, __ATOMIC_RELAXED);
}

void function_drop(CUfunction f)
{
	module_drop(f->module);
}

/* Says why, once for each kernel. */
static CUresult refuse(CUfunction f)
{
	if (!__atomic_exchange_n(&f->refused, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"libcuda: kernel %s is not launched: it calls %s, which kernels do not have here\n",
			f->kernel->name, f->kernel->missing);
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult kernel_check(const struct kernel_request *q)
{
	const struct image_kernel *k = q->f->kernel;
	uint64_t threads = (uint64_t)q->block[0] * q->block[1] * q->block[2];
	unsigned int i;

	if (k->missing)
		return refuse(q->f);
	for (i = 0; i < 3; i++)
		if (!q->grid[i] || !q->block[i])
			return CUDA_ERROR_INVALID_VALUE;
	if (q->grid[0] > MAX_GRID_X || q->grid[1] > MAX_GRID_YZ || q->grid[2] > MAX_GRID_YZ ||
	    q->block[0] > MAX_XY || q->block[1] > MAX_XY || q->block[2] > MAX_Z ||
	    threads > MAX_THREADS)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < 3; i++)
		if (k->required[i] && k->required[i] != q->block[i])
			return CUDA_ERROR_INVALID_VALUE;
	if ((uint64_t)k->shared + q->dynamic > SM_SHARED)
		return CUDA_ERROR_INVALID_VALUE;
	return threads > (uint64_t)kernel_max_threads(k) ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES :
							   CUDA_SUCCESS;
}

/* @q->extra has the kernel's layout already. */
static CUresult packed(const struct kernel_request *q, uint8_t *to)
{
	const struct image_kernel *k = q->f->kernel;
	const void *buffer = NULL;
	size_t size = 0;
	unsigned int i;

	for (i = 0; q->extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
		if (q->extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = q->extra[i + 1];
		else if (q->extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && q->extra[i + 1])
			size = *(const size_t *)q->extra[i + 1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	if (size > k->param_size)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (size && !buffer)
		return CUDA_ERROR_INVALID_VALUE;
	if (size)
		memcpy(to, buffer, size);
	return CUDA_SUCCESS;
}

CUresult kernel_arguments(const struct kernel_request *q, uint8_t *to)
{
	const struct image_kernel *k = q->f->kernel;
	uint32_t i;

	if (q->extra && q->params)
		return CUDA_ERROR_INVALID_VALUE;
	if (q->extra)
		return packed(q, to);
	if (k->nr_params && !q->params)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < k->nr_params; i++) {
		const struct image_param *p = &k->params[i];

		if (!q->params[i] || (uint32_t)p->offset + p->size > k->param_size)
			return CUDA_ERROR_INVALID_VALUE;
		memcpy(to + p->offset, q->params[i], p->size);
	}
	return CUDA_SUCCESS;
}
