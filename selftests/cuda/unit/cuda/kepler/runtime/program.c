// SPDX-License-Identifier: MIT
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

#define SEGMENT_MAGIC 0x466243b1
#define CUBIN	      "selftests/cuda/driver/kernels.cubin"

char add_stub, store_stub, spin_stub, table_shadow, counter_shadow, factors_shadow, missing_stub;
static struct wrapper wrapper;
unsigned int loads;
static void *cubin, **handle;

struct wrapper wrap(const void *data)
{
	return (struct wrapper){ .magic = SEGMENT_MAGIC, .version = 1, .data = data };
}

/*
 * NVIDIA's driver refuses some of what this project's takes. So that the runtime works on both,
 * this is refused here, too: nvcc's segment as an image, and context flags that are not for primary
 * contexts (seen with driver 580 on an H200).
 */
const char *refusal;

CUresult __real_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n,
				   CUjit_option *options, void **values);
CUresult __wrap_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n,
				   CUjit_option *options, void **values)
{
	if (image && *(const uint32_t *)image == SEGMENT_MAGIC)
		return CUDA_ERROR_INVALID_IMAGE;
	if (refusal) { /* the runtime asks for the log first, and for its size */
		snprintf(values[0], (uintptr_t)values[1], "%s", refusal);
		return CUDA_ERROR_INVALID_IMAGE;
	}
	__atomic_fetch_add(&loads, 1, __ATOMIC_RELEASE);
	return __real_cuModuleLoadDataEx(module, image, n, options, values);
}

CUresult __real_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags);
CUresult __wrap_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	if (flags & ~(unsigned int)(CU_CTX_SCHED_MASK | CU_CTX_LMEM_RESIZE_TO_MAX))
		return CUDA_ERROR_INVALID_VALUE;
	return __real_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

int driver_version;

CUresult __real_cuDriverGetVersion(int *version);
CUresult __wrap_cuDriverGetVersion(int *version)
{
	CUresult r = __real_cuDriverGetVersion(version);

	if (!r && driver_version)
		*version = driver_version;
	return r;
}

void *file_bytes(const char *name)
{
	FILE *f = fopen(name, "rb");
	char *bytes;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0) {
		perror(name);
		exit(2);
	}
	rewind(f);
	bytes = calloc(1, n + 1);
	if (!bytes || fread(bytes, 1, n, f) != (size_t)n)
		exit(2);
	fclose(f);
	return bytes;
}

void **register_program(void)
{
	cubin = file_bytes(CUBIN);
	wrapper = wrap(cubin);
	handle = __cudaRegisterFatBinary(&wrapper);
	__cudaRegisterFunction(handle, &add_stub, NULL, "add", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, &store_stub, NULL, "store", -1, NULL, NULL, NULL, NULL,
			       NULL);
	__cudaRegisterFunction(handle, &spin_stub, NULL, "spin", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, &missing_stub, NULL, "not_there", -1, NULL, NULL, NULL, NULL,
			       NULL);
	__cudaRegisterVar(handle, &table_shadow, NULL, "table", 0, 16, 0, 0);
	__cudaRegisterVar(handle, &counter_shadow, NULL, "counter", 0, 4, 0, 0);
	__cudaRegisterVar(handle, &factors_shadow, NULL, "factors", 0, 16, 1, 0);
	__cudaRegisterFatBinaryEnd(handle);
	return handle;
}

void unregister_program(void)
{
	__cudaUnregisterFatBinary(handle);
	handle = NULL;
	free(cubin);
	cubin = NULL;
}
