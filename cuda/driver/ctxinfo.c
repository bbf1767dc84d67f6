// SPDX-License-Identifier: MIT
/* Questions about the current context, its settings, and the wait for all of its work. */
#include "driver.h"

enum { NR_LIMITS = CU_LIMIT_MALLOC_HEAP_SIZE + 1, STACK_MAX = 512 * 1024 };

CUresult cuCtxGetDevice(CUdevice *dev)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if (dev)
		*dev = ctx->dev;
	leave(ctx);
	return dev ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if (flags)
		*flags = __atomic_load_n(&ctx->flags, __ATOMIC_RELAXED);
	leave(ctx);
	return flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* no priorities here */
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	leave(ctx);
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
	CUresult r = enter(&ctx);

	if (r)
		return r;
	all = ctx->submitted;
	r = capture_context(ctx);
	leave(ctx);
	return r ? r : moment_wait(ctx, &all);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if ((unsigned int)limit >= NR_LIMITS)
		r = CUDA_ERROR_INVALID_VALUE;
	else if (limit == CU_LIMIT_STACK_SIZE && value > STACK_MAX)
		r = CUDA_ERROR_INVALID_VALUE;
	else if (ctx->messages &&
		 (limit == CU_LIMIT_PRINTF_FIFO_SIZE || limit == CU_LIMIT_MALLOC_HEAP_SIZE))
		r = CUDA_ERROR_INVALID_VALUE;	/* ctx->messages uses both */
	else
		ctx->limit[limit] = limit == CU_LIMIT_STACK_SIZE ? (value + 15) & ~(size_t)15 :
								   value;
	leave(ctx);
	return r;
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if (!value)
		r = CUDA_ERROR_INVALID_VALUE;
	else if ((unsigned int)limit >= NR_LIMITS)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		*value = ctx->limit[limit];
	leave(ctx);
	return r;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if (config)
		*config = ctx->cache;
	leave(ctx);
	return config ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if ((unsigned int)config > CU_FUNC_CACHE_PREFER_EQUAL)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		ctx->cache = config;
	leave(ctx);
	return r;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if (config)
		*config = ctx->banks;
	leave(ctx);
	return config ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	if ((unsigned int)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		ctx->banks = config ? config : CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
	leave(ctx);
	return r;
}

/* Later GPUs have such a cache: here is nothing to reset. */
CUresult cuCtxResetPersistingL2Cache(void)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	leave(ctx);
	return CUDA_SUCCESS;
}

static CUresult check_peer(CUcontext peer)
{
	CUcontext ctx;
	CUresult r = enter(&ctx);

	if (r)
		return r;
	leave(ctx);
	return peer != ctx && context_known(peer) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
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
