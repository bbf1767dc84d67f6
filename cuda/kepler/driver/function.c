// SPDX-License-Identifier: MIT
/* Questions about kernels, and settings of them. */
#include "driver.h"

enum {
	FIRST_OF_CLUSTERS = CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
	LAST_OF_CLUSTERS = CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
};

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
		*value = kernel_max_threads(f->kernel);
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
	case FIRST_OF_CLUSTERS ... LAST_OF_CLUSTERS:
		*value = 0; /* of clusters, which later GPUs have */
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
		if (value < 0 || value > SM_SHARED - (int)f->kernel->shared)
			return CUDA_ERROR_INVALID_VALUE;
		f->max_dynamic = value;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return value < -1 || value > 100 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
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

/* From CUDA 12.4. INVALID_VALUE: also for an @index behind the last parameter. */
CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *size)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!offset || index >= f->kernel->nr_params)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = f->kernel->params[index].offset;
	if (size)
		*size = f->kernel->params[index].size;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction f)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!name || !f)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	*name = f->kernel->name;
	return CUDA_SUCCESS;
}

/* All functions of a module are loaded with it. */
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction f)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!state)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(f))
		return CUDA_ERROR_INVALID_HANDLE;
	*state = CU_FUNCTION_LOADING_STATE_LOADED;
	return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction f)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	return is_function(f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
