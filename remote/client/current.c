// SPDX-License-Identifier: MIT
/*
 * What a thread is in: its stack of contexts, as in CUDA, its capture mode, a context that it
 * borrows, a host function. All of it is the thread's, and needs no lock. A destroyed
 * context may still be on a stack: its number tells it from the context that has its slot now.
 */
#include "client.h"

enum { STACK_DEPTH = 64 };

struct place {
	struct object *ctx;
	uint64_t id;
};

static __thread struct {
	struct place at[STACK_DEPTH];
	unsigned int n;
	uint32_t mode;
	bool borrows;
	uint64_t borrowed;
	const struct peer *lender;
	bool in_host_function;
} current;

/* It may have ended: a primary context keeps its number. */
static bool place_is_known(const struct place *p)
{
	return object_of(CLASS_CONTEXT, p->ctx) && p->ctx->id == p->id;
}

static bool place_lives(const struct place *p)
{
	return place_is_known(p) && !__atomic_load_n(&p->ctx->dead, __ATOMIC_ACQUIRE);
}

static struct place *top_place(void)
{
	return current.n ? &current.at[current.n - 1] : NULL;
}

CUresult current_check(void)
{
	if (!current.n)
		return CUDA_ERROR_INVALID_CONTEXT;
	return place_lives(top_place()) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

void *current_known(void)
{
	return current.n && place_is_known(top_place()) ? top_place()->ctx : NULL;
}

void *current_context(void)
{
	return current.n && place_lives(top_place()) ? top_place()->ctx : NULL;
}

uint64_t current_id(const struct peer *p, uint32_t *mode)
{
	*mode = capture_mode(current.mode);
	if (current.borrows)
		return current.lender == p ? current.borrowed : 0;
	return current.n && object_peer(top_place()->ctx) == p && place_lives(top_place()) ?
		       top_place()->id :
		       0;
}

struct peer *current_peer(void)
{
	return current.n ? object_peer(top_place()->ctx) : peers;
}

void context_borrow(void *ctx, uint64_t id)
{
	const struct place there = { ctx, id };

	current.borrows = true;
	current.lender = object_peer(ctx);
	current.borrowed = place_lives(&there) ? id : 0;
}

void context_give_back(void)
{
	current.borrows = false;
}

void host_function_runs(bool runs)
{
	current.in_host_function = runs;
}

bool in_host_function(void)
{
	return current.in_host_function;
}

CUresult current_push(struct object *ctx)
{
	if (current.n == STACK_DEPTH)
		return CUDA_ERROR_INVALID_CONTEXT;
	current.at[current.n++] = (struct place){ ctx, ctx->id };
	return CUDA_SUCCESS;
}

void current_pop(void)
{
	if (current.n)
		current.n--;
}

struct object *current_top(void)
{
	return current.n ? top_place()->ctx : NULL;
}

/* ------------------------------------------------------------------ entry points */

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	struct object *o = object_of(CLASS_CONTEXT, ctx);
	CUresult r = client_ready();

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	return o ? current_push(o) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	CUresult r = client_ready();

	if (r)
		return r;
	if (!current.n)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ctx)
		*ctx = (CUcontext)top_place()->ctx;
	current.n--;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	struct object *o = object_of(CLASS_CONTEXT, ctx);
	CUresult r = client_ready();

	if (r)
		return r;
	if (ctx && !o)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (current.n)
		current.n--;
	return o ? current_push(o) : CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	CUresult r = client_ready();

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	*ctx = current.n ? (CUcontext)top_place()->ctx : NULL;
	return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode old = current.mode;
	CUresult r = client_ready();

	if (r)
		return r;
	if (!mode || (unsigned int)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	current.mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}
