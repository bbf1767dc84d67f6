// SPDX-License-Identifier: MIT
/*
 * Memory of the application's own that it registers. nouveau has no way to show its pages to the GPU, so that it is only known: as
 * registered, and of which context. It is copied as all other memory of the application's is. What wants an address for the GPU
 * (CU_MEMHOSTREGISTER_DEVICEMAP, cuMemHostGetDevicePointer()) gets an error.
 */
#include <stdlib.h>

#include "driver.h"

enum { PORTABLE = 1, DEVICE_MAP = 2, IO_MEMORY = 4, READ_ONLY = 8, KNOWN = PORTABLE | DEVICE_MAP | IO_MEMORY | READ_ONLY };

struct registered *registered_at(CUcontext ctx, const void *host)
{
	struct registered *r;

	for (r = ctx->registered; r; r = r->next)
		if ((const uint8_t *)host >= r->host && (const uint8_t *)host < r->host + r->size)
			return r;
	return NULL;
}

static bool has_registered(CUcontext ctx, const void *host)
{
	return registered_at(ctx, host);
}

static bool has_pinned_or_managed(CUcontext ctx, const void *host)
{
	return range_find_host(ctx, host);
}

/* any byte of it in what is so already; what is pinned or managed is CUDA's own, and nobody's to register */
static CUresult check(CUcontext ctx, const uint8_t *host, size_t size)
{
	struct registered *r;
	unsigned int i;

	for (r = ctx->registered; r; r = r->next)
		if (host < r->host + r->size && r->host < host + size)
			return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	for (i = 0; i < ctx->nr_ranges; i++) {
		struct range *range = &ctx->ranges[i];

		if (range->host && host < range->host + range->size && range->host < host + size)
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static CUresult add(CUcontext ctx, uint8_t *host, size_t size, unsigned int flags)
{
	struct registered *r;
	CUresult e = check(ctx, host, size);

	if (e)
		return e;
	r = malloc(sizeof(*r));
	if (!r)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*r = (struct registered){ .host = host, .size = size, .flags = flags, .next = ctx->registered };
	ctx->registered = r;
	return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned int flags)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if (!ptr || !bytes || flags & ~KNOWN || (uintptr_t)ptr + bytes < bytes ||
	    where_is(ctx, ptr) != ON_HOST || where_is(ctx, (uint8_t *)ptr + bytes - 1) != ON_HOST)
		r = CUDA_ERROR_INVALID_VALUE;
	else if (flags & (DEVICE_MAP | IO_MEMORY | READ_ONLY))
		r = CUDA_ERROR_NOT_SUPPORTED;
	else
		r = add(ctx, ptr, bytes, flags);
	leave(ctx);
	return r;
}

/* after all that was submitted, which may use it */
CUresult cuMemHostUnregister(void *ptr)
{
	struct registered **at, *old;
	CUcontext ctx;
	CUresult r = enter_owner(&ctx, has_registered, ptr, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);

	if (r == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED && !enter_owner(&ctx, has_pinned_or_managed, ptr, r)) {
		leave(ctx);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (r)
		return r;
	for (at = &ctx->registered; *at && (*at)->host != ptr; at = &(*at)->next)
		;
	old = *at;
	r = old ? moment_wait(ctx, &ctx->submitted) : CUDA_ERROR_INVALID_VALUE;
	if (!r) {
		*at = old->next;
		free(old);
	}
	leave(ctx);
	return r;
}

void registered_free(CUcontext ctx)
{
	while (ctx->registered) {
		struct registered *old = ctx->registered;

		ctx->registered = old->next;
		free(old);
	}
}
