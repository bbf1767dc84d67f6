// SPDX-License-Identifier: MIT
/*
 * A libcuda.so.1 for kvgpu-remoted, on the one with the GPU in the process, that says to be of
 * another CUDA.
 */
#include <dlfcn.h>

#include <cuda/api/api.h>

enum { LAST_OF_11 = 124, LAST_OF_13 = 147 };

CUresult cuDriverGetVersion(int *version)
{
	*version = VERSION;
	return CUDA_SUCCESS;
}

/* The runtime of 12.4 asks for attributes that the library with the GPU lacks: no to each. */
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev)
{
	CUresult (*real)(int *, CUdevice_attribute, CUdevice) =
		dlsym(RTLD_NEXT, "cuDeviceGetAttribute");

	if (VERSION < 12000 || attribute <= LAST_OF_11 || attribute > LAST_OF_13)
		return real(value, attribute, dev);
	*value = 0;
	return CUDA_SUCCESS;
}
