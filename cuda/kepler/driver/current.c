// SPDX-License-Identifier: MIT
/*
 * Which contexts there are, which one is current in a thread, and entering them. Everything that
 * needs a context calls this file, so it calls nothing that does.
 */
#include "../../api/libraries.h"
#include "driver.h"

enum { STACK_DEPTH = 64, API_VERSION = 3020 };

/* all contexts ever made: grows at its head only, with `table` held; read without a lock */
static CUcontext contexts;
static __thread struct {
	CUcontext at[STACK_DEPTH];
	unsigned int n;
} current;
static __thread bool inside;

static CUcontext top(void)
{
	return current.n ? current.at[current.n - 1] : NULL;
}

bool in_host_function(void)
{
	return inside;
}

void set_in_host_function(bool in)
{
	inside = in;
}

CUresult may_take_table(void)
{
	CUresult r = driver_ready();

	return r ? r : in_host_function() ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ entering */

CUresult ctx_enter_of(CUcontext ctx)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (in_host_function())
		return CUDA_ERROR_NOT_PERMITTED;
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&ctx->lock);
	r = !ctx->alive ? CUDA_ERROR_CONTEXT_IS_DESTROYED :
			  __atomic_load_n(&ctx->sticky, __ATOMIC_ACQUIRE);
	if (r)
		pthread_mutex_unlock(&ctx->lock);
	return r;
}

CUresult ctx_enter(CUcontext *ctx)
{
	*ctx = top();
	return ctx_enter_of(*ctx);
}

CUresult current_check(void)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (!r)
		ctx_leave(ctx);
	return r;
}

static bool lock_owner(CUcontext ctx, owns_fn owns, const void *what)
{
	pthread_mutex_lock(&ctx->lock);
	if (ctx->alive && owns(ctx, what))
		return true;
	pthread_mutex_unlock(&ctx->lock);
	return false;
}

CUresult ctx_enter_owner(CUcontext *ctx, owns_fn owns, const void *what, CUresult none)
{
	CUcontext mine = top(), c = mine;
	CUresult r = may_take_table();

	if (r)
		return r;
	if (!mine || !lock_owner(mine, owns, what))
		for (c = __atomic_load_n(&contexts, __ATOMIC_ACQUIRE); c; c = c->next)
			if (c != mine && lock_owner(c, owns, what))
				break;
	if (!c) {
		r = mine ? current_check() : CUDA_SUCCESS;
		return r ? r : none;
	}
	*ctx = c;
	r = __atomic_load_n(&c->sticky, __ATOMIC_ACQUIRE);
	if (r)
		ctx_leave(c);
	return r;
}

void ctx_leave(CUcontext ctx)
{
	pthread_mutex_unlock(&ctx->lock);
}

CUresult ctx_set_sticky(CUcontext ctx, CUresult r)
{
	CUresult none = CUDA_SUCCESS;

	if (r == CUDA_ERROR_ILLEGAL_ADDRESS || r == CUDA_ERROR_LAUNCH_FAILED) {
		none = __atomic_load_n(&ctx->sticky, __ATOMIC_ACQUIRE);
		if (none)
			return none;
		r = messages_take(ctx) ? CUDA_ERROR_ASSERT : error_of_end(ctx, r);
	} else if (r != CUDA_ERROR_UNKNOWN && r != CUDA_ERROR_ASSERT) {
		return r;
	}
	if (!__atomic_compare_exchange_n(&ctx->sticky, &none, r, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return none;
	return r;
}

/* ------------------------------------------------------------------ all contexts */

void contexts_add(CUcontext ctx)
{
	ctx->next = contexts;
	__atomic_store_n(&contexts, ctx, __ATOMIC_RELEASE);
}

CUcontext contexts_all(void)
{
	return __atomic_load_n(&contexts, __ATOMIC_ACQUIRE);
}

bool several_contexts(void)
{
	CUcontext c = contexts_all();

	return c && c->next;
}

uint64_t unique_id(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

bool context_known(CUcontext ctx)
{
	CUcontext c;

	for (c = __atomic_load_n(&contexts, __ATOMIC_ACQUIRE); c; c = c->next)
		if (c == ctx)
			return true;
	return false;
}

/* ------------------------------------------------------------------ current */

bool current_is_full(void)
{
	return current.n == STACK_DEPTH;
}

void current_push(CUcontext ctx)
{
	current.at[current.n++] = ctx;
}

void current_drop(CUcontext ctx)
{
	if (top() == ctx)
		current.n--;
}

static CUresult check_context(CUcontext ctx)
{
	return context_known(ctx) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	CUresult r = driver_ready();

	if (!r)
		r = ctx ? check_context(ctx) : CUDA_ERROR_INVALID_VALUE;
	if (!r && current.n == STACK_DEPTH)
		r = CUDA_ERROR_INVALID_CONTEXT;
	if (!r)
		current.at[current.n++] = ctx;
	return r;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!current.n)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ctx)
		*ctx = top();
	current.n--;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
	CUresult r = driver_ready();

	if (!r && ctx)
		r = check_context(ctx);
	if (r)
		return r;
	if (current.n)
		current.n--;
	if (ctx)
		current.at[current.n++] = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	*ctx = top();
	return CUDA_SUCCESS;
}

CUresult library_place(CUcontext ctx, struct library_place *at)
{
	CUresult r = ctx ? check_context(ctx) : CUDA_SUCCESS;

	if (!r)
		r = ctx ? ctx_enter_of(ctx) : ctx_enter(&ctx);
	if (r)
		return r;
	*at = (struct library_place){ ctx, ctx->life, ctx->dev };
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long *id)
{
	struct library_place at;
	CUresult r = library_place(ctx, &at);

	if (r)
		return r;
	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	*id = __atomic_load_n(&at.ctx->id, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

/*
 * NVIDIA's runtime takes a primary context that was reset, and is current still, as one to be made
 * anew where this call refuses it.
 */
CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	if (ctx ? check_context(ctx) : !top())
		return CUDA_ERROR_INVALID_CONTEXT;
	ctx = ctx ? ctx : top();
	pthread_mutex_lock(&ctx->lock);
	r = ctx->alive ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_unlock(&ctx->lock);
	if (!r)
		*version = API_VERSION;
	return r;
}
