// SPDX-License-Identifier: MIT
/*
 * Ranges: the memory of a context, by the addresses of GPU and CPU, and what an address is. The
 * files that make such memory add ranges, the files that use it find them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "driver.h"
#include "pages.h"

enum {
	HOST_PAGE = 4096,
	VA_BITS = 40 /* of the GPU's addresses */
};

unsigned int range_above(CUcontext ctx, uint64_t va)
{
	unsigned int low = 0, high = ctx->nr_ranges;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (ctx->ranges[mid].va <= va)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct range *range_find(CUcontext ctx, uint64_t va)
{
	unsigned int i = range_above(ctx, va);

	if (!i || va - ctx->ranges[i - 1].va >= ctx->ranges[i - 1].size)
		return NULL;
	return &ctx->ranges[i - 1];
}

struct range *range_find_host(CUcontext ctx, const void *host)
{
	unsigned int i;

	for (i = 0; i < ctx->nr_ranges; i++) {
		struct range *r = &ctx->ranges[i];

		if (r->host && (const uint8_t *)host >= r->host &&
		    (const uint8_t *)host < r->host + r->size)
			return r;
	}
	return NULL;
}

struct registered *registered_at(CUcontext ctx, const void *host)
{
	struct registered *r;

	for (r = ctx->registered; r; r = r->next)
		if ((const uint8_t *)host >= r->host && (const uint8_t *)host < r->host + r->size)
			return r;
	return NULL;
}

bool on_device(CUcontext ctx, const struct plane *p, size_t width, size_t lines)
{
	struct range *r = range_find(ctx, p->va);
	size_t span;

	if (__builtin_mul_overflow(lines - 1, p->pitch, &span) ||
	    __builtin_add_overflow(span, width, &span))
		return false;
	return r && span <= r->va + r->size - p->va;
}

/* ------------------------------------------------------------------ what an address is */

/*
 * process_vm_readv() gives EFAULT where the CPU can't read, and also for nouveau's buffers, which
 * are found by their GPU addresses. Where the process may not call it, mincore() tells whether
 * anything is mapped there.
 */
static bool cpu_can_read(const void *at)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)(HOST_PAGE - 1);
	char byte;
	unsigned char in_core;
	struct iovec to = { &byte, 1 }, from = { (void *)(uintptr_t)at, 1 };

	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1)
		return true;
	return errno != EFAULT && !mincore((void *)page, HOST_PAGE, &in_core);
}

bool on_cpu(const void *host)
{
	return (uintptr_t)host >> VA_BITS || pages_has(host) || cpu_can_read(host);
}

enum where where_is(CUcontext ctx, const void *host)
{
	if (on_cpu(host))
		return ON_HOST;
	return range_find(ctx, (uintptr_t)host) ? ON_DEVICE : NOWHERE;
}

/* ------------------------------------------------------------------ entering */

static bool has_memory(CUcontext ctx, const void *what)
{
	return range_find(ctx, *(const CUdeviceptr *)what);
}

static bool has_pinned(CUcontext ctx, const void *host)
{
	return range_find_host(ctx, host);
}

CUresult ctx_enter_memory(CUcontext *ctx, CUdeviceptr va, CUresult none)
{
	return ctx_enter_owner(ctx, has_memory, &va, none);
}

CUresult ctx_enter_pinned(CUcontext *ctx, const void *host)
{
	return ctx_enter_owner(ctx, has_pinned, host, CUDA_ERROR_INVALID_VALUE);
}

static bool has_pinned_or_registered(CUcontext ctx, const void *host)
{
	return range_find_host(ctx, host) || registered_at(ctx, host);
}

bool pinned_elsewhere(CUcontext ctx, const void *host)
{
	CUcontext owner;
	bool mine;

	if (!several_contexts() || ctx_enter_of(ctx))
		return false;
	mine = has_pinned_or_registered(ctx, host);
	ctx_leave(ctx);
	if (mine || ctx_enter_owner(&owner, has_pinned_or_registered, host, CUDA_ERROR_NOT_FOUND))
		return false;
	ctx_leave(owner);
	return true;
}

/* ------------------------------------------------------------------ changing */

CUresult range_add(CUcontext ctx, struct range r)
{
	unsigned int at;

	if (ctx->nr_ranges == ctx->max_ranges) {
		unsigned int max = ctx->max_ranges ? 2 * ctx->max_ranges : 64;
		struct range *grown = realloc(ctx->ranges, max * sizeof(*grown));

		if (!grown)
			return CUDA_ERROR_OUT_OF_MEMORY;
		ctx->ranges = grown;
		ctx->max_ranges = max;
	}
	at = range_above(ctx, r.va);
	memmove(&ctx->ranges[at + 1], &ctx->ranges[at], (ctx->nr_ranges - at) * sizeof(r));
	ctx->ranges[at] = r;
	ctx->nr_ranges++;
	return CUDA_SUCCESS;
}

CUresult range_add_host(CUcontext ctx, struct range *r)
{
	CUresult e;

	r->va = r->memory->va;
	r->host = r->memory->map;
	e = range_add(ctx, *r);
	if (e)
		ctx->device->ops->release(ctx->device, r->memory);
	return e;
}

void range_remove(CUcontext ctx, struct range *r)
{
	unsigned int at = r - ctx->ranges;

	free(r->advice);
	ctx->nr_ranges--;
	memmove(r, r + 1, (ctx->nr_ranges - at) * sizeof(*r));
}
