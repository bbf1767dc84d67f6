// SPDX-License-Identifier: MIT
/*
 * What an address is. Pinned and registered memory is found by its CPU address and by its GPU
 * address.
 */
#include <string.h>

#include "driver.h"

/* @ptr: an address of the CPU or of the GPU */
static uint64_t offset_in(const struct range *r, CUdeviceptr ptr)
{
	bool by_host = r->host && (uint8_t *)(uintptr_t)ptr >= r->host &&
		       (uint8_t *)(uintptr_t)ptr < r->host + r->size;

	return by_host ? ptr - (uintptr_t)r->host : ptr - r->va;
}

/* Return the value's size. 0: this memory has no such attribute. */
static size_t answer(CUcontext ctx, const struct range *r, CUpointer_attribute attribute,
		     CUdeviceptr ptr, void *out)
{
	uint64_t offset = offset_in(r, ptr);
	union {
		unsigned int u;
		int i;
		bool b;
		uint64_t w;
		void *p;
	} v = { .w = 0 };
	size_t n = sizeof(v.w);

	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		v.p = ctx;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		v.u = r->host && !(r->flags & RANGE_MANAGED) ? CU_MEMORYTYPE_HOST :
							       CU_MEMORYTYPE_DEVICE;
		n = sizeof(v.u);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		if (!r->memory)
			return 0;
		v.w = r->va + offset;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!r->host)
			return 0;
		v.p = r->host + offset;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED: /* NVIDIA's runtime reads 4 bytes */
		v.u = !!(r->flags & RANGE_MANAGED);
		n = sizeof(v.u);
		break;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		n = sizeof(v.b);
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		v.w = r->va;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		v.i = ctx->dev;
		n = sizeof(v.i);
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		v.w = r->size;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		v.b = r->memory;
		n = sizeof(v.b);
		break;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		break;
	default:
		return 0;
	}
	memcpy(out, &v, n);
	return n;
}

/* @of_host: filled in for registered memory that is no range. */
static const struct range *find(CUcontext ctx, CUdeviceptr ptr, struct range *of_host)
{
	const struct range *r = range_find(ctx, ptr);
	const struct registered *mine;

	if (!r)
		r = range_find_host(ctx, (void *)(uintptr_t)ptr);
	mine = r ? NULL : registered_at(ctx, (void *)(uintptr_t)ptr);
	if (!mine)
		return r;
	*of_host = (struct range){ .va = (uintptr_t)mine->host,
				   .size = mine->size,
				   .host = mine->host,
				   .flags = mine->flags };
	return of_host;
}

static bool has_address(CUcontext ctx, const void *what)
{
	struct range of_host;

	return find(ctx, *(const CUdeviceptr *)what, &of_host);
}

/*
 * Lock the context that has @ptr; if none has, the current one, with *range NULL. @show: the GPU's
 * address is asked for, so show registered memory to it; but without @asked of registered_show():
 * libraries ask so about any pointer (the runtime's cudaPointerGetAttributes() does), and most only
 * want to know what it is.
 */
static CUresult ctx_enter_address(CUcontext *ctx, CUdeviceptr ptr, bool show, struct range *of_host,
				  const struct range **range)
{
	CUresult r = ctx_enter_owner(ctx, has_address, &ptr, CUDA_ERROR_NOT_FOUND);

	if (r == CUDA_ERROR_NOT_FOUND)
		r = ctx_enter(ctx);
	if (r)
		return r == CUDA_ERROR_INVALID_CONTEXT ? CUDA_ERROR_INVALID_VALUE : r;
	if (show)
		registered_show(*ctx, (void *)(uintptr_t)ptr, false);
	*range = find(*ctx, ptr, of_host);
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct range of_host;
	const struct range *range;
	CUcontext ctx;
	CUresult r = ctx_enter_address(
		&ctx, ptr, (int)attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER, &of_host, &range);

	if (r)
		return r;
	if (!value || !range || !answer(ctx, range, attribute, ptr, value))
		r = CUDA_ERROR_INVALID_VALUE;
	ctx_leave(ctx);
	return r;
}

/*
 * A missing value is no error: the attributes of the switch below give NULL, 0 or false (the
 * device: -2), and the values of others stay as they were.
 */
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **values,
				CUdeviceptr ptr)
{
	struct range of_host;
	const struct range *range;
	unsigned int i;
	CUcontext ctx;
	bool show = false;
	CUresult r;

	for (i = 0; attributes && values && i < n; i++)
		show |= (int)attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_POINTER;
	r = ctx_enter_address(&ctx, ptr, show, &of_host, &range);
	if (r)
		return r;
	for (i = 0; attributes && values && i < n; i++) {
		if (range && answer(ctx, range, attributes[i], ptr, values[i]))
			continue;
		switch ((int)attributes[i]) {
		case CU_POINTER_ATTRIBUTE_CONTEXT:
		case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		case CU_POINTER_ATTRIBUTE_HOST_POINTER:
			*(void **)values[i] = NULL;
			break;
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
			*(unsigned int *)values[i] = 0;
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)values[i] = -2;
			break;
		}
	}
	ctx_leave(ctx);
	return attributes && values && n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* SYNC_MEMOPS changes nothing here. */
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct range of_host;
	const struct range *range;
	CUcontext ctx;
	CUresult r = ctx_enter_address(&ctx, ptr, false, &of_host, &range);

	if (r)
		return r;
	ctx_leave(ctx);
	return value && range && (int)attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_INVALID_VALUE;
}
