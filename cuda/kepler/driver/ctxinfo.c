// SPDX-License-Identifier: MIT
/* Questions about the current context, its settings, and the wait for all of its work. */
#include <stddef.h>
#include <string.h>

#include "driver.h"

enum { NR_LIMITS = CU_LIMIT_MALLOC_HEAP_SIZE + 1, STACK_MAX = 512 * 1024 };

/* ctx_enter(), if the caller's arguments are @valid. After an error nothing is locked. */
static CUresult ctx_enter_if(bool valid, CUcontext *ctx)
{
	CUresult r = ctx_enter(ctx);

	if (r || valid)
		return r;
	ctx_leave(*ctx);
	return CUDA_ERROR_INVALID_VALUE;
}

/* *@out becomes the @bytes at @member of the current context. @out NULL: INVALID_VALUE */
static CUresult get_member(void *out, size_t member, size_t bytes)
{
	CUcontext ctx;
	CUresult r = ctx_enter_if(out, &ctx);

	if (r)
		return r;
	memcpy(out, (const char *)ctx + member, bytes);
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}

#define GET(out, member) get_member(out, offsetof(struct CUctx_st, member), sizeof(*(out)))

/* ------------------------------------------------------------------ settings */

/* A primary context has its device while it is not active, too: cudaSetDevice() leaves it so. */
CUresult cuCtxGetDevice(CUdevice *dev)
{
	CUcontext ctx;
	CUresult r = GET(dev, dev);

	if (r != CUDA_ERROR_CONTEXT_IS_DESTROYED || !dev || cuCtxGetCurrent(&ctx) || !ctx->primary)
		return r;
	*dev = ctx->dev;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
	CUcontext ctx;
	CUresult r = ctx_enter_if(flags, &ctx);

	if (r)
		return r;
	*flags = __atomic_load_n(&ctx->flags, __ATOMIC_RELAXED);
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
	return GET(config, cache);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
	CUcontext ctx;
	CUresult r = ctx_enter_if((unsigned int)config <= CU_FUNC_CACHE_PREFER_EQUAL, &ctx);

	if (r)
		return r;
	ctx->cache = config;
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
	return GET(config, banks);
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
	CUcontext ctx;
	CUresult r = ctx_enter_if((unsigned int)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE,
				  &ctx);

	if (r)
		return r;
	ctx->banks = config ? config : CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}

/* Limits behind the first are of launches by kernels, and of a later GPU's second-level cache. */
static CUresult ctx_enter_limit(bool valid, CUlimit limit, CUcontext *ctx)
{
	CUresult r = ctx_enter_if(valid && (unsigned int)limit <= CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
				  ctx);

	if (r || (unsigned int)limit < NR_LIMITS)
		return r;
	ctx_leave(*ctx);
	return CUDA_ERROR_UNSUPPORTED_LIMIT;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
	CUcontext ctx;
	CUresult r = ctx_enter_limit(value, limit, &ctx);

	if (r)
		return r;
	*value = ctx->limit[limit];
	ctx_leave(ctx);
	return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	CUcontext ctx;
	CUresult r = ctx_enter_limit(true, limit, &ctx);

	if (r)
		return r;
	if (limit == CU_LIMIT_STACK_SIZE && value > STACK_MAX)
		r = CUDA_ERROR_INVALID_VALUE;
	else if (limit == CU_LIMIT_STACK_SIZE)
		ctx->limit[limit] = (value + 15) & ~(size_t)15;
	else
		r = messages_limit(ctx, limit, value);
	ctx_leave(ctx);
	return r;
}

/* no priorities here */
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	CUresult r = current_check();

	if (r)
		return r;
	if (least)
		*least = 0;
	if (greatest)
		*greatest = 0;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
	struct moment all;
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	all = ctx->submitted;
	r = capture_context(ctx);
	ctx_leave(ctx);
	return r ? r : moment_wait(ctx, &all);
}

/* Later GPUs have such a cache: here is nothing to reset. */
CUresult cuCtxResetPersistingL2Cache(void)
{
	return current_check();
}

/* ------------------------------------------------------------------ peers */

/* No context is a peer of another one, nor of itself. */
static CUresult check_peer(CUcontext peer)
{
	CUresult r = current_check();

	if (r)
		return r;
	return context_known(peer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	CUresult r = check_peer(peer);

	if (r)
		return r;
	return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
	CUresult r = check_peer(peer);

	return r ? r : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
