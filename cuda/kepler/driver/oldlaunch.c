// SPDX-License-Identifier: MIT
/*
 * Launches as they were before cuLaunchKernel(): calls set shape, shared memory and parameters in
 * the function first. No lock: the application makes no two of them for one function at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { PARAM_BYTES = 4096 };

struct old_launch {
	int block[3];
	unsigned int shared, size;
	uint8_t params[PARAM_BYTES];
};

static CUresult old_of(CUfunction f, struct old_launch **out)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!f->old)
		f->old = calloc(1, sizeof(*f->old));
	*out = f->old;
	return f->old ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z)
{
	struct old_launch *o;
	CUresult r = old_of(f, &o);

	if (r)
		return r;
	if (x <= 0 || y <= 0 || z <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(o->block, (int[]){ x, y, z }, sizeof(o->block));
	return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction f, unsigned int bytes)
{
	struct old_launch *o;
	CUresult r = old_of(f, &o);

	if (!r)
		o->shared = bytes;
	return r;
}

CUresult cuParamSetSize(CUfunction f, unsigned int bytes)
{
	struct old_launch *o;
	CUresult r = old_of(f, &o);

	if (r)
		return r;
	if (bytes > PARAM_BYTES)
		return CUDA_ERROR_INVALID_VALUE;
	o->size = bytes;
	return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction f, int offset, void *bytes, unsigned int n)
{
	struct old_launch *o;
	CUresult r = old_of(f, &o);

	if (r)
		return r;
	if (offset < 0 || offset > PARAM_BYTES || n > PARAM_BYTES - (unsigned int)offset ||
	    (n && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(o->params + offset, bytes, n);
	return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction f, int offset, unsigned int value)
{
	return cuParamSetv(f, offset, &value, sizeof(value));
}

CUresult cuParamSetf(CUfunction f, int offset, float value)
{
	return cuParamSetv(f, offset, &value, sizeof(value));
}

/* A module's references apply to all of its kernels. */
CUresult cuParamSetTexRef(CUfunction f, int unit, CUtexref ref)
{
	struct old_launch *o;
	CUresult r = old_of(f, &o);

	return r ? r : ref && unit == -1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream)
{
	struct old_launch *o;
	void *extra[5] = { CU_LAUNCH_PARAM_BUFFER_POINTER, NULL, CU_LAUNCH_PARAM_BUFFER_SIZE, NULL,
			   CU_LAUNCH_PARAM_END };
	size_t size;
	CUresult r = old_of(f, &o);

	if (r)
		return r;
	size = o->size;
	extra[1] = o->params;
	extra[3] = &size;
	return cuLaunchKernel(f, width, height, 1, o->block[0], o->block[1], o->block[2], o->shared,
			      stream, NULL, extra);
}

CUresult cuLaunchGrid(CUfunction f, int width, int height)
{
	return cuLaunchGridAsync(f, width, height, NULL);
}

CUresult cuLaunch(CUfunction f)
{
	return cuLaunchGridAsync(f, 1, 1, NULL);
}
