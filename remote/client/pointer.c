// SPDX-License-Identifier: MIT
/*
 * What memory an address is in. The client knows pinned and registered memory, and asks the
 * server's library about other memory.
 */
#include "client.h"

/* NVIDIA's library writes 4 bytes of a flag, too */
static bool is_flag(CUpointer_attribute attribute)
{
	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case CU_POINTER_ATTRIBUTE_MAPPED:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
	case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
		return true;
	}
	return false;
}

/* bytes of an attribute's value; 0: the attribute is refused */
static size_t size_of(CUpointer_attribute attribute)
{
	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		return 8;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		return 4;
	}
	return is_flag(attribute) ? 4 : 0;
}

/* An attribute of host memory at @ptr. */
static CUresult of_host(const struct host_range *h, CUpointer_attribute attribute, CUdeviceptr ptr,
			uint64_t *value)
{
	CUdeviceptr device;

	*value = 0;
	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*value = (uintptr_t)h->ctx;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*value = CU_MEMORYTYPE_HOST;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*value = ptr;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		if (!pinned_device(h->peer, (void *)(uintptr_t)ptr, &device))
			return CUDA_ERROR_INVALID_VALUE;
		*value = device;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*value = pinned_device(h->peer, (void *)(uintptr_t)ptr, &device);
		break;
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		if (pinned_device(h->peer, (void *)(uintptr_t)ptr, &device))
			*value = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		*value = (uintptr_t)h->base;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		*value = h->bytes;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*value = ((const struct object *)h->ctx)->dev;
		break;
	}
	return CUDA_SUCCESS;
}

/*
 * An attribute of memory that is not the host's, as its server says. False: it can't be so. The
 * program accesses managed memory and the host's by itself: of these the client knows.
 */
static bool answered(const struct call *c, CUpointer_attribute attribute, CUdeviceptr ptr,
		     uint64_t said, uint64_t *value)
{
	CUdevice dev;
	void *ctx, *pool;
	bool fine = true;

	*value = said;
	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		fine = answer_handle(&ctx, c, CLASS_CONTEXT, said, NULL, true);
		*value = (uintptr_t)ctx;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		fine = answer_device(c, said, &dev);
		*value = (uint32_t)dev;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		fine = said == CU_MEMORYTYPE_DEVICE;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*value = managed_has(ptr);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		fine = answer_address(c->to.peer, said);
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		fine = answer_handle(&pool, c, CLASS_POOL, said, NULL, true);
		*value = (uintptr_t)pool;
		break;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*value = 0; /* none crosses */
		break;
	default:
		*value = is_flag(attribute) ? !!said : said;
	}
	return fine;
}

/*
 * Ask the server. That the library has no value of this attribute for pageable memory it has to say
 * once. An error of the context's it says again.
 */
static CUresult ask(struct call *c, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct peer *p = route_peer(&c->to);
	const uint64_t bit = 1ull << attribute;
	const bool pageable = !several && !current_check() && !call_asks(p) && is_pageable(ptr);
	CUresult r;

	if (pageable && __atomic_load_n(&p->pageable_lacks, __ATOMIC_RELAXED) & bit)
		return CUDA_ERROR_INVALID_VALUE;
	r = call_sync(c, sizeof(struct a_pointer));
	if (pageable && r == CUDA_ERROR_INVALID_VALUE)
		__atomic_fetch_or(&p->pageable_lacks, bit, __ATOMIC_RELAXED);
	return r;
}

static CUresult value_of(CUpointer_attribute attribute, CUdeviceptr ptr, uint64_t *value)
{
	struct q_pointer q = { .ptr = ptr, .attribute = attribute };
	struct call c = { .op = OP_pointer, .fixed = &q, .bytes = sizeof(q) };
	struct host_range h;
	CUresult r;

	if (!size_of(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	if ((!range_has(ptr) || programs_own(ptr)) && host_find((void *)(uintptr_t)ptr, &h))
		return of_host(&h, attribute, ptr, value);
	/* with several servers none is asked about the program's memory */
	if (programs_own(ptr))
		return CUDA_ERROR_INVALID_VALUE;
	/* a host address of the server's process means nothing here */
	if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER) {
		*value = ptr;
		return managed_has(ptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	}
	route_address(&c.to, ptr);
	r = ask(&c, attribute, ptr);
	if (r)
		return r;
	if (!answered(&c, attribute, ptr, ((const struct a_pointer *)c.answer)->value, value))
		return CUDA_ERROR_UNKNOWN;
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	uint64_t v;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r)
		return r;
	r = value ? value_of(attribute, ptr, &v) : CUDA_ERROR_INVALID_VALUE;
	if (!r)
		memcpy(value, &v, size_of(attribute));
	return r;
}

/*
 * An attribute without a value is no error: for the older attributes NULL, 0 or (device ordinal) -2
 * is stored, for the newer ones nothing.
 */
CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **values,
				CUdeviceptr ptr)
{
	unsigned int i;
	uint64_t v;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r)
		return r;
	if (!attributes || !values || !n)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n; i++) {
		r = value_of(attributes[i], ptr, &v);
		if (r == CUDA_ERROR_SYSTEM_NOT_READY)
			return r;
		if (r)
			v = 0;
		if (r && (int)attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
			v = (uint32_t)-2;
		switch (r ? (int)attributes[i] : CU_POINTER_ATTRIBUTE_CONTEXT) {
		case CU_POINTER_ATTRIBUTE_CONTEXT:
		case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
			memcpy(values[i], &v, size_of(attributes[i]));
		}
	}
	return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct q_pointer_set q = { .ptr = ptr, .attribute = attribute };
	struct call c = { .op = OP_pointer_set, .fixed = &q, .bytes = sizeof(q) };
	struct host_range h;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r)
		return r;
	if (!value || (int)attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
		return CUDA_ERROR_INVALID_VALUE;
	if (host_find((void *)(uintptr_t)ptr, &h))
		return CUDA_SUCCESS;
	memcpy(&q.value, value, sizeof(q.value));
	route_address(&c.to, ptr);
	return call_sync(&c, 0);
}
