// SPDX-License-Identifier: MIT
/* Attributes of addresses. */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime.h"

enum { NO_DEVICE = -2 }; /* as CUDA's cudaInvalidDeviceId */

bool is_on_device(const void *ptr)
{
	return !cuMemGetAddressRange_v2(NULL, NULL, (CUdeviceptr)(uintptr_t)ptr);
}

bool is_device_only(const void *ptr)
{
	char byte;
	struct iovec to = { &byte, 1 }, from = { (void *)(uintptr_t)ptr, 1 };

	/*
	 * EFAULT: the CPU can't read the byte, or the kernel can't, as it does not read nouveau's
	 * mappings. These are of pinned memory, which copies reach by the GPU's address, too.
	 */
	return is_on_device(ptr) && process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0 &&
	       errno == EFAULT;
}

CUdeviceptr device_address(const void *ptr)
{
	CUdeviceptr at = (CUdeviceptr)(uintptr_t)ptr, pinned;

	if (!is_on_device(ptr) && !cuMemHostGetDevicePointer_v2(&pinned, (void *)(uintptr_t)ptr, 0))
		at = pinned;
	return at;
}

static CUresult ask_attributes(const void *ptr, struct cudaPointerAttributes *a)
{
	CUdeviceptr at = (CUdeviceptr)(uintptr_t)ptr, device = 0;
	unsigned int type = 0;
	int managed = 0;
	CUresult r = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);

	if (r)
		return r;
	r = cuPointerGetAttribute(&a->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
	if (r)
		return r;
	if (!cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at))
		a->devicePointer = (void *)(uintptr_t)device;
	if (cuPointerGetAttribute(&a->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, at))
		a->hostPointer = NULL;
	if (cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at))
		managed = 0;
	a->type = managed		     ? cudaMemoryTypeManaged :
		  type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost :
					       cudaMemoryTypeDevice;
	return CUDA_SUCCESS;
}

/* Memory that CUDA does not know is host memory, and no error. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
	struct cudaPointerAttributes a = { .device = NO_DEVICE };
	cudaError_t e = attributes ? use_context() : cudaErrorInvalidValue;

	if (!e)
		e = from_driver(ask_attributes(ptr, &a));
	if (e == cudaErrorInvalidValue && attributes) {
		a = (struct cudaPointerAttributes){ .type = cudaMemoryTypeUnregistered,
						    .device = NO_DEVICE,
						    .hostPointer = (void *)(uintptr_t)ptr };
		e = cudaSuccess;
	}
	if (!e)
		*attributes = a;
	return set_last_error(e);
}
