// SPDX-License-Identifier: MIT
/*
 * Advice about managed memory (cuMemAdvise()), kept page by page and told when asked; it changes
 * nothing. Only a GPU with concurrent managed access, which Kepler GPUs do not have, may be named
 * as a location or as what accesses the memory.
 */
#include <stdlib.h>

#include "driver.h"
#include "pages.h"

enum { DEVICE_CPU = -1, DEVICE_INVALID = -2 };
enum {
	SET_READ_MOSTLY = 1,
	UNSET_READ_MOSTLY,
	SET_LOCATION,
	UNSET_LOCATION,
	SET_ACCESSED_BY,
	UNSET_ACCESSED_BY
};
enum { READ_MOSTLY = 1, PREFERRED_LOCATION, ACCESSED_BY, LAST_PREFETCH };

/* bits of a page's advice; the CPU is the only device that can be named */
enum { MOSTLY_READ = 1, AT_CPU = 2, BY_CPU = 4 };

static size_t first_page(const struct range *r, CUdeviceptr ptr)
{
	return (ptr - r->va) / PAGE_BYTES;
}

static size_t end_page(const struct range *r, CUdeviceptr ptr, size_t bytes)
{
	return (ptr - r->va + bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

static CUresult note(struct range *r, CUdeviceptr ptr, size_t bytes, CUmem_advise advice)
{
	static const struct {
		uint8_t set, clear;
	} changes[] = {
		[SET_READ_MOSTLY] = { MOSTLY_READ, 0 }, [UNSET_READ_MOSTLY] = { 0, MOSTLY_READ },
		[SET_LOCATION] = { AT_CPU, 0 },		[UNSET_LOCATION] = { 0, AT_CPU },
		[SET_ACCESSED_BY] = { BY_CPU, 0 },	[UNSET_ACCESSED_BY] = { 0, BY_CPU },
	};
	size_t i;

	if (!r->advice)
		r->advice = calloc(end_page(r, r->va, r->size), 1);
	if (!r->advice)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (i = first_page(r, ptr); i < end_page(r, ptr, bytes); i++)
		r->advice[i] = (r->advice[i] | changes[advice].set) & ~changes[advice].clear;
	return CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr ptr, size_t bytes, CUmem_advise advice, CUdevice dev)
{
	struct range *range;
	CUcontext ctx;
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!bytes || advice < SET_READ_MOSTLY || advice > UNSET_ACCESSED_BY)
		return CUDA_ERROR_INVALID_VALUE;
	r = current_check();
	if (!r)
		r = ctx_enter_managed(&ctx, ptr, bytes, &range);
	if (r)
		return r;
	if (dev != DEVICE_CPU &&
	    (advice == SET_LOCATION || advice == SET_ACCESSED_BY || advice == UNSET_ACCESSED_BY))
		r = CUDA_ERROR_INVALID_DEVICE;
	else
		r = note(range, ptr, bytes, advice);
	ctx_leave(ctx);
	return r;
}

static uint8_t noted(const struct range *r, CUdeviceptr ptr, size_t bytes)
{
	uint8_t all = r->advice ? 0xff : 0;
	size_t i;

	for (i = first_page(r, ptr); r->advice && i < end_page(r, ptr, bytes); i++)
		all &= r->advice[i];
	return all;
}

static CUresult answer(const struct range *r, CUmem_range_attribute attribute, CUdeviceptr ptr,
		       size_t bytes, int *out, size_t size)
{
	uint8_t said = noted(r, ptr, bytes);
	size_t i;

	if (!out || !size || size % sizeof(*out) ||
	    (attribute != ACCESSED_BY && size != sizeof(*out)))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case READ_MOSTLY:
		*out = said & MOSTLY_READ ? 1 : 0;
		return CUDA_SUCCESS;
	case PREFERRED_LOCATION:
		*out = said & AT_CPU ? DEVICE_CPU : DEVICE_INVALID;
		return CUDA_SUCCESS;
	case ACCESSED_BY:
		for (i = 0; i < size / sizeof(*out); i++)
			out[i] = !i && said & BY_CPU ? DEVICE_CPU : DEVICE_INVALID;
		return CUDA_SUCCESS;
	case LAST_PREFETCH:
		*out = DEVICE_INVALID; /* no prefetch succeeds */
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes,
				 size_t n, CUdeviceptr ptr, size_t bytes)
{
	struct range *range;
	CUcontext ctx;
	CUresult r = driver_ready();
	size_t i;

	if (r)
		return r;
	if (!data || !sizes || !attributes || !n || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	r = current_check();
	if (!r)
		r = ctx_enter_managed(&ctx, ptr, bytes, &range);
	if (r)
		return r;
	for (i = 0; i < n && !r; i++)
		r = answer(range, attributes[i], ptr, bytes, data[i], sizes[i]);
	ctx_leave(ctx);
	return r;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute,
				CUdeviceptr ptr, size_t bytes)
{
	return cuMemRangeGetAttributes(&data, &size, &attribute, 1, ptr, bytes);
}
