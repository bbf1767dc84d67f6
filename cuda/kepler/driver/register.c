// SPDX-License-Identifier: MIT
/*
 * Memory that the application registers. nouveau can't show such pages to the GPU. So a kernel
 * buffer replaces whole pages, with the same contents (pages.h), when the application first asks
 * for the GPU's address, or copies. Registrations that share pages are shown together, since a page
 * can be in one buffer only. Where pages can't be replaced the memory counts as registered, but is
 * copied as any other.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "driver.h"
#include "pages.h"

enum {
	PORTABLE = 1,
	DEVICE_MAP = 2,
	IO_MEMORY = 4,
	READ_ONLY = 8,
	KNOWN = PORTABLE | DEVICE_MAP | IO_MEMORY | READ_ONLY
};

/* whole pages that a buffer of the GPU replaces */
struct shown {
	/* first: where pages stay, pages.c's list keeps the only pointer to the struct */
	struct pages pages;
	struct device_memory *memory;
	unsigned int users; /* how many registrations */
};

/* from the first page to behind the last */
struct span {
	uintptr_t at, end;
};

static bool has_registered(CUcontext ctx, const void *host)
{
	return registered_at(ctx, host);
}

static bool has_pinned_or_managed(CUcontext ctx, const void *host)
{
	return range_find_host(ctx, host);
}

/* Refuse even one byte that is registered, pinned or managed. */
static CUresult check_range(CUcontext ctx, const uint8_t *host, size_t size)
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

/* ------------------------------------------------------------------ showing */

static struct span span_of(const struct registered *r)
{
	const uintptr_t in_page = PAGE_BYTES - 1;

	return (struct span){ (uintptr_t)r->host & ~in_page,
			      ((uintptr_t)r->host + r->size + in_page) & ~in_page };
}

static bool meet(struct span a, struct span b)
{
	return a.at < b.end && b.at < a.end;
}

/*
 * The pages of @r, and of all registrations connected by shared pages. False: some are shown
 * already, in another buffer.
 */
static bool connected(CUcontext ctx, const struct registered *r, struct span *out)
{
	const struct registered *other;
	bool grown = true;

	*out = span_of(r);
	while (grown) {
		grown = false;
		for (other = ctx->registered; other; other = other->next) {
			struct span s = span_of(other);

			if (!meet(*out, s))
				continue;
			if (other->shown)
				return false;
			grown |= s.at < out->at || s.end > out->end;
			out->at = s.at < out->at ? s.at : out->at;
			out->end = s.end > out->end ? s.end : out->end;
		}
	}
	return true;
}

static bool may_show(CUcontext ctx, const struct registered *r, bool asked, struct span *out,
		     enum pages_means *means)
{
	if (!ctx->device->ops->view || !connected(ctx, r, out) ||
	    !maps_plain((uint8_t *)out->at, out->end - out->at))
		return false;
	*means = pages_means();
	return *means >= (asked ? MEANS_USER : MEANS_WHOLE);
}

static void hide(CUcontext ctx, struct registered *r)
{
	struct range *range = range_find_host(ctx, r->host);

	if (range)
		range_remove(ctx, range);
	r->shown->users--;
	r->shown = NULL;
}

/* False: no memory; some ranges may have been added. */
static bool add_ranges(CUcontext ctx, struct shown *s)
{
	struct span all = { (uintptr_t)s->pages.at, (uintptr_t)s->pages.at + s->pages.bytes };
	struct registered *r;
	bool ok = true;

	for (r = ctx->registered; r && ok; r = r->next) {
		struct range range = { .size = r->size,
				       .memory = s->memory,
				       .host = r->host,
				       .flags = r->flags | RANGE_REGISTERED,
				       .va = s->memory->va + ((uintptr_t)r->host - all.at),
				       .shared = true };

		if (!meet(all, span_of(r)))
			continue;
		ok = !range_add(ctx, range);
		if (ok) {
			r->shown = s;
			s->users++;
		}
	}
	return ok;
}

static void remove_ranges(CUcontext ctx, struct shown *s)
{
	struct registered *r;

	for (r = ctx->registered; r; r = r->next)
		if (r->shown == s)
			hide(ctx, r);
}

static bool put_pages(CUcontext ctx, struct shown *s, enum pages_means means)
{
	uint8_t *view = ctx->device->ops->view(ctx->device, s->memory);

	s->pages.source = s->memory->map;
	return view && pages_put(&s->pages, view, means);
}

static bool show(CUcontext ctx, struct span span, enum pages_means means)
{
	struct shown *s = calloc(1, sizeof(*s));

	if (!s)
		return false;
	s->pages.at = (uint8_t *)span.at;
	s->pages.bytes = span.end - span.at;
	if (ctx->device->ops->alloc(ctx->device, PLACE_HOST, s->pages.bytes, &s->memory)) {
		free(s);
		return false;
	}
	if (add_ranges(ctx, s) && put_pages(ctx, s, means))
		return true;
	remove_ranges(ctx, s);
	/* no page was replaced, or all are back */
	if (!s->pages.of.shared || !s->pages.bytes) {
		ctx->device->ops->release(ctx->device, s->memory);
		free(s);
	}
	return false;
}

bool registered_show(CUcontext ctx, const void *host, bool asked)
{
	struct registered *r = registered_at(ctx, host);
	enum pages_means means;
	struct span span;

	if (!r || r->shown)
		return r;
	asked |= r->flags & DEVICE_MAP;
	if (!asked && r->stays)
		return false;
	if (may_show(ctx, r, asked, &span, &means) && show(ctx, span, means))
		return true;
	r->stays = !asked;
	return false;
}

/* Pages that can't be put back stay; their memory is released with the device. */
static void forget(CUcontext ctx, struct registered *r)
{
	struct shown *s = r->shown;

	if (s)
		hide(ctx, r);
	if (s && !s->users && pages_back(&s->pages)) {
		ctx->device->ops->release(ctx->device, s->memory);
		free(s);
	}
	free(r);
}

/* ------------------------------------------------------------------ entry points */

/* MS_ASYNC changes nothing, and finds pages where nothing is mapped. */
static bool is_mapped(const void *at, size_t bytes)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)(PAGE_BYTES - 1), end;

	return !__builtin_add_overflow((uintptr_t)at, bytes, &end) &&
	       !msync((void *)page, end - page, MS_ASYNC);
}

static CUresult add(CUcontext ctx, uint8_t *host, size_t size, unsigned int flags)
{
	struct registered *r;
	enum pages_means means;
	struct span span;
	CUresult e = check_range(ctx, host, size);

	if (e)
		return e;
	r = malloc(sizeof(*r));
	if (!r)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*r = (struct registered){
		.host = host, .size = size, .flags = flags, .next = ctx->registered
	};
	if (flags & DEVICE_MAP && !may_show(ctx, r, true, &span, &means)) {
		free(r);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	ctx->registered = r;
	return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned int flags)
{
	CUcontext ctx;
	CUresult r = ctx_enter_unsafe(&ctx);

	if (r)
		return r;
	if (!ptr || !bytes || flags & ~KNOWN || !is_mapped(ptr, bytes) ||
	    where_is(ctx, ptr) != ON_HOST || where_is(ctx, (uint8_t *)ptr + bytes - 1) != ON_HOST)
		r = CUDA_ERROR_INVALID_VALUE;
	else if (flags & (IO_MEMORY | READ_ONLY))
		r = CUDA_ERROR_NOT_SUPPORTED;
	else
		r = add(ctx, ptr, bytes, flags);
	ctx_leave(ctx);
	return r;
}

/* Waits for all submitted work, which may use the memory. */
CUresult cuMemHostUnregister(void *ptr)
{
	struct registered **at, *old;
	CUcontext ctx;
	CUresult r = may_take_table();

	if (r)
		return r;
	if (!ptr)
		return CUDA_ERROR_INVALID_VALUE;
	r = ctx_enter_owner(&ctx, has_registered, ptr, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	if (r == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED &&
	    !ctx_enter_owner(&ctx, has_pinned_or_managed, ptr, r)) {
		ctx_leave(ctx);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (r)
		return r;
	for (at = &ctx->registered; *at && (*at)->host != ptr; at = &(*at)->next)
		;
	old = *at;
	r = capture_unsafe();
	if (!r)
		r = old ? moment_wait(ctx, &ctx->submitted) : CUDA_ERROR_INVALID_VALUE;
	if (!r) {
		*at = old->next;
		forget(ctx, old);
	}
	ctx_leave(ctx);
	return r;
}

void registered_free(CUcontext ctx)
{
	while (ctx->registered) {
		struct registered *old = ctx->registered;

		ctx->registered = old->next;
		forget(ctx, old);
	}
}
