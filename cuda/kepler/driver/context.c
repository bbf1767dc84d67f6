// SPDX-License-Identifier: MIT
/*
 * The life of contexts. A destroyed context's struct stays: threads may still have it on their
 * stacks, and get an error for it. Its end frees what every other file keeps in it.
 */
#include <stdlib.h>
#include <string.h>

#include "../../api/export/export.h"
#include "driver.h"

static void set_up(CUcontext c, unsigned int flags, CUdevice dev, struct device *device)
{
	c->magic = MAGIC_CONTEXT;
	pthread_mutex_lock(&c->watch);
	c->device = device;
	c->life++;
	pthread_mutex_unlock(&c->watch);
	c->dev = dev;
	__atomic_store_n(&c->flags, flags, __ATOMIC_RELAXED);
	c->attached = 0;
	c->sticky = CUDA_SUCCESS;
	__atomic_store_n(&c->id, unique_id(), __ATOMIC_RELAXED);
	c->null = (struct CUstream_st){ .magic = MAGIC_STREAM, .ctx = c, .id = unique_id() };
	memset(&c->blocking, 0, sizeof(c->blocking));
	memset(&c->submitted, 0, sizeof(c->submitted));
	c->parallel = false;
	c->endless = c->held_from = 0;
	memset(c->staging_used, 0, sizeof(c->staging_used));
	memset(c->crossing, 0, sizeof(c->crossing));
	c->limit[CU_LIMIT_STACK_SIZE] = 1024;
	c->limit[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
	c->limit[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
	c->cache = CU_FUNC_CACHE_PREFER_NONE;
	c->banks = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
}

CUcontext context_new(void)
{
	CUcontext c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->watch, NULL);
	contexts_add(c);
	return c;
}

CUresult context_open(CUcontext *out, unsigned int flags, CUdevice dev)
{
	struct device_memory *staging;
	CUcontext c = *out;
	struct device *device;
	CUresult r = error_of(backend->open(driver_gpu(dev), driver_moves(), &device));

	if (r)
		return r;
	r = error_of(
		device->ops->alloc(device, PLACE_HOST, STAGING_CHUNKS * STAGING_BYTES, &staging));
	if (!c && !r)
		c = context_new();
	if (r || !c) {
		device->ops->close(device);
		return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&c->lock);
	set_up(c, flags, dev, device);
	c->staging = staging;
	c->alive = true;
	pthread_mutex_unlock(&c->lock);
	*out = c;
	return CUDA_SUCCESS;
}

void context_close(CUcontext ctx)
{
	struct device *device;

	pthread_mutex_lock(&ctx->lock);
	if (!__atomic_load_n(&ctx->sticky, __ATOMIC_ACQUIRE))
		moment_wait(ctx, &ctx->submitted);
	host_stop(ctx);
	ctx->alive = false;
	modules_free(ctx);
	texrefs_free(ctx);
	textures_free(ctx);
	arrays_free(ctx);
	messages_free(ctx);
	events_free(ctx);
	streams_free(ctx);
	memory_free_all(ctx);
	registered_free(ctx);
	device = ctx->device;
	pthread_mutex_lock(&ctx->watch);
	ctx->device = NULL;
	pthread_mutex_unlock(&ctx->watch);
	device->ops->close(device);
	pthread_mutex_unlock(&ctx->lock);
}

CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice dev)
{
	CUcontext ctx = NULL;
	CUresult r = may_take_table();

	if (r)
		return r;
	if (!out || flags & ~CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	if (!driver_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (current_is_full())
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&table);
	r = context_open(&ctx, flags, dev);
	pthread_mutex_unlock(&table);
	if (r)
		return r;
	current_push(ctx);
	*out = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	CUresult r = may_take_table();

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&table);
	if (!context_known(ctx) || ctx->primary || !ctx->alive)
		r = CUDA_ERROR_INVALID_CONTEXT;
	else
		context_close(ctx);
	pthread_mutex_unlock(&table);
	if (!r)
		current_drop(ctx);
	users_destroy();
	if (!r)
		export_context_ended(ctx);
	return r;
}

CUresult cuCtxAttach(CUcontext *out, unsigned int flags)
{
	CUcontext ctx;
	CUresult r = ctx_enter(&ctx);

	if (r)
		return r;
	if (out && !flags)
		ctx->attached++;
	ctx_leave(ctx);
	if (!out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*out = ctx;
	return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext ctx)
{
	bool last;
	CUresult r = ctx_enter_of(ctx);

	if (r)
		return r;
	last = !ctx->attached;
	if (!last)
		ctx->attached--;
	ctx_leave(ctx);
	return last ? cuCtxDestroy_v2(ctx) : CUDA_SUCCESS;
}
