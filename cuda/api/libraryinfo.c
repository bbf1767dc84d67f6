// SPDX-License-Identifier: MIT
/*
 * What is asked of libraries and kernels, and set for them. libraries.c makes their modules and
 * functions; `libraries` is its lock.
 */
#include <stdlib.h>

#include "libraries.h"

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	struct library_place at;
	bool kept;
	CUresult r = library_enter(library, module, true, &at, &kept);

	if (r)
		return r;
	r = library_module(library, &at, module);
	library_leave(&at, kept);
	return r;
}

/* call with `libraries` */
static CUresult find_variable(CUdeviceptr *ptr, size_t *bytes, CUlibrary l,
			      const struct library_place *at, const char *name)
{
	CUmodule module;
	CUresult r = library_module(l, at, &module);

	return r ? r : cuModuleGetGlobal_v2(ptr, bytes, module, name);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
	struct library_place at;
	bool kept;
	CUresult r = library_enter(library, (ptr || bytes) && name, true, &at, &kept);

	if (r)
		return r;
	r = find_variable(ptr, bytes, library, &at, name);
	library_leave(&at, kept);
	return r;
}

/* call with `libraries` */
static CUresult find_managed(CUdeviceptr *ptr, size_t *bytes, CUlibrary l,
			     const struct library_place *at, const char *name)
{
	unsigned int managed = 0;
	CUresult r = cuCtxPushCurrent_v2(at->ctx);

	if (r)
		return r;
	r = find_variable(ptr, bytes, l, at, name);
	if (!r &&
	    (cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, *ptr) || !managed))
		r = CUDA_ERROR_NOT_FOUND;
	cuCtxPopCurrent_v2(NULL);
	return r;
}

/*
 * NVIDIA's runtime of CUDA 13 asks this before it makes a context. The variable belongs to one all
 * the same: to the primary one, which then stays as long as the library does. No other context can
 * use the library meanwhile.
 */
CUresult cuLibraryGetManaged(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
	struct library_place at;
	CUdeviceptr address;
	size_t size;
	bool kept;
	CUresult r = library_enter(library, (ptr || bytes) && name, false, &at, &kept);

	if (r)
		return r;
	r = find_managed(&address, &size, library, &at, name);
	if (!r)
		r = library_tells_managed(library, &at, &kept);
	library_leave(&at, kept);
	if (!r && ptr)
		*ptr = address;
	if (!r && bytes)
		*bytes = size;
	return r;
}

/* The GPU calls no functions of the CPU. */
CUresult cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *symbol)
{
	CUresult r = library_ready();

	if (r)
		return r;
	if (!is_library(library))
		return CUDA_ERROR_INVALID_HANDLE;
	return function && symbol ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary library)
{
	struct library_place at;
	CUmodule module;
	bool kept;
	CUresult r = library_enter(library, count, false, &at, &kept);

	if (r)
		return r;
	r = library_module(library, &at, &module);
	if (!r)
		r = cuModuleGetFunctionCount(count, module);
	library_leave(&at, kept);
	return r;
}

/* call with `libraries` */
static CUresult enumerate(CUkernel *kernels, unsigned int n, CUlibrary l, CUmodule module)
{
	unsigned int there = 0, i;
	CUfunction *f;
	const char *name;
	bool made;
	CUresult r = cuModuleGetFunctionCount(&there, module);

	n = there < n ? there : n;
	f = r ? NULL : calloc(n + 1, sizeof(*f));
	if (!f)
		return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
	r = n ? cuModuleEnumerateFunctions(f, n, module) : CUDA_SUCCESS;
	for (i = 0; i < n && !r; i++) {
		r = cuFuncGetName(&name, f[i]);
		kernels[i] = r ? NULL : library_kernel(l, name, &made);
		if (!r && !kernels[i])
			r = CUDA_ERROR_OUT_OF_MEMORY;
	}
	free(f);
	return r;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int n, CUlibrary library)
{
	struct library_place at;
	CUmodule module;
	bool kept;
	CUresult r = library_enter(library, kernels && n, false, &at, &kept);

	if (r)
		return r;
	r = library_module(library, &at, &module);
	if (!r)
		r = enumerate(kernels, n, library, module);
	library_leave(&at, kept);
	return r;
}

/* ------------------------------------------------------------------ kernels */

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
	CUresult r = library_ready();

	if (r)
		return r;
	if (!is_kernel(kernel))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!library)
		return CUDA_ERROR_INVALID_VALUE;
	*library = kernel->library;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
	CUresult r = library_ready();

	if (r)
		return r;
	if (!name || !kernel)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_kernel(kernel))
		return CUDA_ERROR_INVALID_HANDLE;
	*name = kernel->name;
	return CUDA_SUCCESS;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
	struct library_place at;
	CUfunction f;
	bool kept;
	CUresult r = library_ready();

	if (r)
		return r;
	if (!is_kernel(kernel))
		return CUDA_ERROR_INVALID_HANDLE;
	r = kernel_enter(kernel, -1, &f, &at, &kept);
	if (r)
		return r;
	r = cuFuncGetParamInfo(f, index, offset, size);
	library_leave(&at, kept);
	return r;
}

/* call with `libraries`; NULL: no memory */
static struct kernel_on *on_device(CUkernel k, CUdevice dev)
{
	struct kernel_on *on = kernel_on(k, dev);

	if (on)
		return on;
	on = calloc(1, sizeof(*on));
	if (on) {
		on->dev = dev;
		on->next = k->on;
		__atomic_store_n(&k->on, on, __ATOMIC_RELEASE);
	}
	return on;
}

/* call with `libraries` */
static void remember(CUkernel k, CUdevice dev, int attribute, int value, bool set)
{
	struct kernel_on *on = on_device(k, dev);
	uint32_t bit = 1u << attribute;

	if (!on)
		return;
	__atomic_store_n(&on->attribute[attribute], value, __ATOMIC_RELAXED);
	__atomic_store_n(&on->known, on->known | bit, __ATOMIC_RELEASE);
	on->set |= set ? bit : 0;
}

static CUresult check_kernel(CUkernel kernel, CUdevice dev)
{
	CUresult r = library_ready();

	if (r)
		return r;
	if (!is_kernel(kernel))
		return CUDA_ERROR_INVALID_HANDLE;
	return dev < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/* Programs ask this often. */
CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
			      CUdevice dev)
{
	struct library_place at;
	const struct kernel_on *on;
	CUfunction f;
	bool kept;
	CUresult r = check_kernel(kernel, dev);

	if (r)
		return r;
	if (!value || (unsigned int)attribute >= KERNEL_ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	on = kernel_on(kernel, dev);
	if (on && __atomic_load_n(&on->known, __ATOMIC_ACQUIRE) & 1u << attribute) {
		*value = __atomic_load_n(&on->attribute[attribute], __ATOMIC_RELAXED);
		return CUDA_SUCCESS;
	}
	r = kernel_enter(kernel, dev, &f, &at, &kept);
	if (r)
		return r;
	r = cuFuncGetAttribute(value, attribute, f);
	if (!r)
		remember(kernel, dev, attribute, *value, false);
	library_leave(&at, kept);
	return r;
}

/* in all contexts of the device, and in later ones */
static CUresult set_on(CUkernel k, CUdevice dev, int attribute, int value)
{
	struct library_place at;
	struct kernel_on *on;
	struct kernel_in *in;
	CUfunction f;
	bool kept;
	CUresult r = kernel_enter(k, dev, &f, &at, &kept);

	if (r)
		return r;
	r = kernel_set(f, attribute, value);
	on = r ? NULL : on_device(k, dev);
	if (!r && !on)
		r = CUDA_ERROR_OUT_OF_MEMORY;
	for (in = k->in; in && !r; in = in->next)
		if (in->at.dev == dev && in->function != f && library_lives(&in->at))
			kernel_set(in->function, attribute, value);
	if (!r && attribute == CACHE_CONFIG) {
		on->cache = value;
		on->cache_set = true;
	} else if (!r) {
		remember(k, dev, attribute, value, true);
	}
	library_leave(&at, kept);
	return r;
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
			      CUdevice dev)
{
	CUresult r = check_kernel(kernel, dev);

	if (r)
		return r;
	if ((unsigned int)attribute >= KERNEL_ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	return set_on(kernel, dev, attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
	CUresult r = check_kernel(kernel, dev);

	return r ? r : set_on(kernel, dev, CACHE_CONFIG, config);
}
