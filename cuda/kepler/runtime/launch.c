// SPDX-License-Identifier: MIT
/*
 * Launches: kernel<<<...>>>() pushes its configuration, and the kernel's stub pops it and calls
 * cudaLaunchKernel().
 */
#include "runtime.h"

/* computing a kernel's arguments, after the push, may launch others */
enum { CONFIGURATIONS = 16 };

struct configuration {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};

static __thread struct {
	struct configuration at[CONFIGURATIONS];
	unsigned int n;
} pushed;

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
					 struct CUstream_st *stream)
{
	if (pushed.n == CONFIGURATIONS)
		return set_last_error(cudaErrorMemoryAllocation);
	pushed.at[pushed.n++] = (struct configuration){ grid, block, shared, stream };
	return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	const struct configuration *c;

	if (!pushed.n)
		return set_last_error(cudaErrorMissingConfiguration);
	c = &pushed.at[--pushed.n];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*(cudaStream_t *)stream = c->stream;
	return cudaSuccess;
}

/* ------------------------------------------------------------------ launching */

/* device attributes; MAX_BLOCK and MAX_GRID are the first of three */
enum { MAX_THREADS = 1, MAX_BLOCK = 2, MAX_GRID = 5 };

static bool fits(dim3 d, int attribute, CUdevice dev)
{
	unsigned int v[3] = { d.x, d.y, d.z };
	int max, i;

	for (i = 0; i < 3; i++)
		if (cuDeviceGetAttribute(&max, attribute + i, dev) || !v[i] ||
		    v[i] > (unsigned int)max)
			return false;
	return true;
}

/* CUDA_ERROR_INVALID_VALUE is two errors of the runtime. */
static cudaError_t why_invalid(dim3 grid, dim3 block)
{
	CUdevice dev;
	int max;

	if (cuCtxGetDevice(&dev) || cuDeviceGetAttribute(&max, MAX_THREADS, dev))
		return cudaErrorInvalidValue;
	if (!fits(grid, MAX_GRID, dev) || !fits(block, MAX_BLOCK, dev) ||
	    (uint64_t)block.x * block.y * block.z > (uint64_t)max)
		return cudaErrorInvalidConfiguration;
	return cudaErrorInvalidValue;
}

static cudaError_t launch(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
			  bool together, cudaStream_t stream)
{
	CUfunction f;
	cudaError_t e = find_function(func, &f);

	if (e)
		return e;
	if (shared > UINT32_MAX)
		return cudaErrorInvalidValue;
	if (together)
		e = from_driver(cuLaunchCooperativeKernel(f, grid.x, grid.y, grid.z, block.x,
							  block.y, block.z, shared, stream, args));
	else
		e = from_driver(cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z,
					       shared, stream, args, NULL));
	return e == cudaErrorInvalidValue ? why_invalid(grid, block) : e;
}

#define PARAMS \
	(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)

cudaError_t cudaLaunchKernel PARAMS
{
	return set_last_error(launch(func, grid, block, args, shared, false, stream));
}

cudaError_t cudaLaunchKernel_ptsz PARAMS
{
	return set_last_error(launch(func, grid, block, args, shared, false, OWN_IF_0(stream)));
}

cudaError_t cudaLaunchCooperativeKernel PARAMS
{
	return set_last_error(launch(func, grid, block, args, shared, true, stream));
}

cudaError_t cudaLaunchCooperativeKernel_ptsz PARAMS
{
	return set_last_error(launch(func, grid, block, args, shared, true, OWN_IF_0(stream)));
}

cudaError_t cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *list, unsigned int n,
						   unsigned int flags)
{
	if (!list || !n || flags & ~3u)
		return set_last_error(cudaErrorInvalidValue);
	if (n > 1)
		return set_last_error(cudaErrorNotSupported);
	return set_last_error(launch(list->func, list->gridDim, list->blockDim, list->args,
				     list->sharedMem, true, list->stream));
}

/* ------------------------------------------------------------------ launches with attributes */

static cudaError_t read_attributes(const cudaLaunchConfig_t *c, bool *together)
{
	unsigned int i;

	*together = false;
	if (c->numAttrs && !c->attrs)
		return cudaErrorInvalidValue;
	for (i = 0; i < c->numAttrs; i++) {
		const cudaLaunchAttributeValue *v = &c->attrs[i].val;

		switch ((int)c->attrs[i].id) {
		case cudaLaunchAttributeIgnore:
		case cudaLaunchAttributeAccessPolicyWindow: /* hints */
		case cudaLaunchAttributeSynchronizationPolicy:
		case cudaLaunchAttributePriority:
			break;
		case cudaLaunchAttributeCooperative:
			*together = v->cooperative;
			break;
		case cudaLaunchAttributeClusterDimension:
			if (v->clusterDim.x > 1 || v->clusterDim.y > 1 || v->clusterDim.z > 1)
				return cudaErrorNotSupported;
			break;
		case cudaLaunchAttributeClusterSchedulingPolicyPreference:
		case cudaLaunchAttributeProgrammaticStreamSerialization:
		case cudaLaunchAttributeProgrammaticEvent:
			return cudaErrorNotSupported;
		default:
			return cudaErrorInvalidValue;
		}
	}
	return cudaSuccess;
}

static cudaError_t launch_with(const cudaLaunchConfig_t *c, const void *func, void **args,
			       cudaStream_t stream)
{
	bool together;
	cudaError_t e = read_attributes(c, &together);

	return e ? e :
		   launch(func, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, together,
			  stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
	return set_last_error(config ? launch_with(config, func, args, config->stream) :
				       cudaErrorInvalidValue);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func,
				     void **args)
{
	return set_last_error(config ? launch_with(config, func, args, OWN_IF_0(config->stream)) :
				       cudaErrorInvalidValue);
}
