// SPDX-License-Identifier: MIT
/* Slots that need no more than the public API, or nothing. They keep nothing and take no lock. */
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "slots.h"

/* ------------------------------------------------------------------ modules */

/*
 * True for what is in the program's own file. Shared libraries have code for some chips alone
 * beside the rest: cuBLAS does, and runs.
 */
static bool of_program(const void *wrapper)
{
	struct link_map *file;
	Dl_info info;

	return dladdr1(wrapper, &info, (void **)&file, RTLD_DL_LINKMAP) && !file->l_prev;
}

/*
 * @wrapper: nvcc's, whose second word points at the fat binary. No runtime tells why one can't be
 * loaded, so this does, once.
 */
CUresult module_load(CUmodule *module, const void *const *wrapper)
{
	static bool told;
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	char log[512] = "";
	void *values[] = { log, (void *)sizeof(log) };
	CUresult r;

	if (!wrapper)
		return CUDA_ERROR_INVALID_VALUE;
	r = cuModuleLoadDataEx(module, wrapper[1], 2, options, values);
	log[strcspn(log, "\n")] = 0;
	text_clean(log, sizeof(log));
	if (r && *log && of_program(wrapper) && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr, "libcuda: code of this program can't be loaded: %s\n", log);
	return r;
}

CUresult module_forget(const void *wrapper)
{
	return CUDA_SUCCESS;
}

/* NVIDIA's driver gives 1 after success. */
CUresult module_functions(CUcontext ctx, CUmodule module,
			  void (*call)(void *arg, CUfunction function, void *zero), void *arg)
{
	enum { DONE = 1 };
	CUfunction *functions;
	unsigned int n, i;
	CUresult r = cuModuleGetFunctionCount(&n, module);

	if (r)
		return r;
	functions = calloc(n + 1ul, sizeof(*functions));
	if (!functions)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = cuModuleEnumerateFunctions(functions, n, module);
	for (i = 0; i < n && !r; i++)
		call(arg, functions[i], NULL);
	free(functions);
	return r ? r : DONE;
}

/* ------------------------------------------------------------------ contexts, streams */

CUresult current_get(CUcontext *ctx)
{
	return cuCtxGetCurrent(ctx);
}

CUresult context_flags(CUcontext ctx, unsigned int *flags, void **unused)
{
	*flags = 0;
	return CUDA_SUCCESS;
}

CUresult no_flags(void)
{
	return CUDA_SUCCESS;
}

CUresult context_number(CUcontext ctx, unsigned int *number)
{
	*number = 1;
	return CUDA_SUCCESS;
}

/* No library was seen to look into the object: it goes to stream_number() alone. */
CUresult stream_object(CUcontext ctx, CUstream stream, void **object)
{
	static const uint64_t zeros[64];

	*object = (void *)zeros;
	return CUDA_SUCCESS;
}

CUresult stream_number(CUcontext ctx, const void *object, unsigned int *number)
{
	*number = 0;
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ tools */

/*
 * A word for each call of the runtime: those of 13.0 are 523. The runtimes look without a look at
 * *bytes.
 */
void tool_calls(void **flags, size_t *bytes)
{
	static uint32_t none[1024];

	*flags = none;
	*bytes = sizeof(none);
}

void tool_events(void **flags, size_t *bytes)
{
	static uint8_t none[14];

	*flags = none;
	*bytes = sizeof(none);
}

/* ------------------------------------------------------------------ the GPU's parts */

/* Zeros: no public call tells the places, and products of matrices are right without. */
CUresult places_make(uint8_t **gpc, uint8_t **number)
{
	enum { MULTIPROCESSOR_COUNT = 16 };
	CUdevice dev;
	int n = 0;
	CUresult r = cuCtxGetDevice(&dev);

	if (!r)
		r = cuDeviceGetAttribute(&n, MULTIPROCESSOR_COUNT, dev);
	if (r)
		return r;
	/* a TPC has one multiprocessor or more */
	*gpc = calloc(n, 1);
	*number = calloc(n, 1);
	if (*gpc && *number)
		return CUDA_SUCCESS;
	places_free(*gpc, *number);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult places_free(uint8_t *gpc, uint8_t *number)
{
	free(gpc);
	free(number);
	return CUDA_SUCCESS;
}
