// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preloaded into a program that sizes its work by the device, so that it ends in bounded time on a
 * model: the device has KVGPU_CL_UNITS compute units and buffers of at most KVGPU_CL_LARGEST bytes.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>

static cl_ulong limit(const char *name, cl_ulong has)
{
	const char *text = getenv(name);
	cl_ulong most = text ? strtoull(text, NULL, 0) : 0;

	return most && most < has ? most : has;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
		       size_t *ret)
{
	static __typeof__(clGetDeviceInfo) *next;
	cl_int error;

	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "clGetDeviceInfo");
	if (!next)
		return CL_OUT_OF_HOST_MEMORY;
	error = next(device, what, size, value, ret);
	if (error != CL_SUCCESS || !value)
		return error;
	if (what == CL_DEVICE_MAX_COMPUTE_UNITS)
		*(cl_uint *)value = limit("KVGPU_CL_UNITS", *(cl_uint *)value);
	else if (what == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
		*(cl_ulong *)value = limit("KVGPU_CL_LARGEST", *(cl_ulong *)value);
	return CL_SUCCESS;
}
