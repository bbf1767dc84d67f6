// SPDX-License-Identifier: MIT
/* What can be asked of kernels and set for them, and how many blocks of one an SM holds. */
#include "driver.h"

/* compute capability 3.5, CUDA C programming guide */
enum { SM_THREADS = 2048, SM_BLOCKS = 16, SM_REGS = 65536, SM_SHARED = 49152, REG_UNIT = 256, SHARED_UNIT = 256, WARP = 32,
       MAX_THREADS = 1024, WARP_UNIT = 4 };

static bool is_function(CUfunction f)
{
	return f && f->magic == MAGIC_FUNCTION;
}

static int regs_of_warp(const struct image_kernel *k)
{
	return (k->regs * WARP + REG_UNIT - 1) / REG_UNIT * REG_UNIT;
}

static int max_threads(const struct image_kernel *k)
{
	int warps = k->regs ? SM_REGS / regs_of_warp(k) / WARP_UNIT * WARP_UNIT : MAX_THREADS / WARP;
	int threads = warps * WARP < MAX_THREADS ? warps * WARP : MAX_THREADS;

	return k->max_threads && (int)k->max_threads < threads ? (int)k->max_threads : threads;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction f)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	switch ((int)attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = max_threads(f->kernel);
		break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value = f->kernel->shared;
		break;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		*value = f->module->image.const3_size;
		break;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*value = f->kernel->stack > f->kernel->local ? f->kernel->stack : f->kernel->local;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = f->kernel->regs;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = f->module->image.arch;
		break;
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
		*value = 0;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = f->max_dynamic >= 0 ? f->max_dynamic : SM_SHARED - (int)f->kernel->shared;
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*value = -1;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	switch ((int)attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if (value < 0 || value + (int)f->kernel->shared > SM_SHARED)
			return CUDA_ERROR_INVALID_VALUE;
		f->max_dynamic = value;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return value < -1 || value > 100 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;	/* a hint */
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	if ((unsigned int)config > CU_FUNC_CACHE_PREFER_EQUAL)
		return CUDA_ERROR_INVALID_VALUE;
	f->cache = config;
	f->cache_set = config != CU_FUNC_CACHE_PREFER_NONE;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedMemConfig(CUfunction f, CUsharedconfig config)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	if ((unsigned int)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
		return CUDA_ERROR_INVALID_VALUE;
	f->banks = config;
	f->banks_set = config != CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction f)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	*module = f->module;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f, int threads, size_t dynamic,
							      unsigned int flags)
{
	int warps = (threads + WARP - 1) / WARP, n = SM_BLOCKS, limit;
	CUresult r = driver_ready();
	size_t shared;

	if (r)
		return r;
	if (!blocks || threads <= 0 || flags & ~1u)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	limit = SM_THREADS / WARP / warps;
	n = limit < n ? limit : n;
	if (f->kernel->regs) {
		limit = SM_REGS / regs_of_warp(f->kernel) / WARP_UNIT * WARP_UNIT / warps;
		n = limit < n ? limit : n;
	}
	shared = dynamic > SM_SHARED ? SM_SHARED + 1 : (f->kernel->shared + dynamic + SHARED_UNIT - 1) & ~(size_t)(SHARED_UNIT - 1);
	if (shared) {
		limit = SM_SHARED / shared;
		n = limit < n ? limit : n;
	}
	*blocks = threads > max_threads(f->kernel) ? 0 : n;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t dynamic)
{
	return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, dynamic, 0);
}
