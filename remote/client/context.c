// SPDX-License-Identifier: MIT
/* Contexts that a call has made or ended, and all that ends with a context. */
#include <cuda/api/export/export.h>

#include "client.h"

static pthread_mutex_t primaries = PTHREAD_MUTEX_INITIALIZER;
/* under `primaries`; .ctx may be known before the first reference, and stays after the last one */
static struct {
	struct object *ctx;
	uint64_t id;
	unsigned int refs;
} primary[DEVICES_MAX];

/*
 * A context that is new or ended differs for libraries.c from all that had or will have its handle.
 */
static void begin_life(struct object *o)
{
	static uint64_t lives;

	__atomic_store_n(&o->life, __atomic_add_fetch(&lives, 1, __ATOMIC_RELAXED),
			 __ATOMIC_RELEASE);
}

void context_created(CUcontext ctx, CUdevice dev)
{
	struct object *o = (struct object *)ctx;

	if (!o)
		return;
	o->dev = dev;
	begin_life(o);
	current_push(o);
}

/*
 * Mark the context as dead, and end all that belongs to it; its own slot stays. Once nothing is
 * locked call export_context_ended().
 */
static void end_object(struct object *o)
{
	__atomic_store_n(&o->dead, true, __ATOMIC_RELEASE);
	begin_life(o);
	cache_invalidate(CACHE_LIMITS);
	ranges_end(o);
	managed_end(o); /* while the pinned memory is still there that is mapped memory */
	hostmem_end(o);
	object_empty(o);
}

void context_ended(CUcontext ctx)
{
	struct object *o = (struct object *)ctx;

	if (!o) /* a server that lies has destroyed NULL */
		return;
	if (current_top() == o)
		current_pop();
	end_object(o);
	export_context_ended(ctx);
}

void context_attached(CUcontext ctx)
{
	__atomic_add_fetch(&((struct object *)ctx)->attached, 1, __ATOMIC_RELAXED);
}

void context_detached(CUcontext ctx)
{
	unsigned int *attached = &((struct object *)ctx)->attached;
	unsigned int n = __atomic_load_n(attached, __ATOMIC_RELAXED);

	while (n && !__atomic_compare_exchange_n(attached, &n, n - 1, true, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED))
		;
	if (!n)
		context_ended(ctx);
}

void primary_retained(CUcontext ctx, CUdevice dev)
{
	struct object *o = (struct object *)ctx;

	if (!o || dev < 0 || dev >= DEVICES_MAX)
		return;
	pthread_mutex_lock(&primaries);
	primary[dev].ctx = o;
	primary[dev].id = o->id;
	primary[dev].refs++;
	o->dev = dev;
	__atomic_store_n(&o->dead, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&primaries);
	cache_invalidate(CACHE_PRIMARY);
}

/* Call with `primaries`. NULL: it is not known, or a server that lies has put another one there. */
static struct object *primary_object(CUdevice dev)
{
	struct object *o = object_of(CLASS_CONTEXT, primary[dev].ctx);

	return o && o->id == primary[dev].id ? o : NULL;
}

/*
 * The server knows a context by the same number after its end, so the handle is fixed as soon as
 * the server has given the number.
 */
CUresult export_primary(CUcontext *ctx, CUdevice dev)
{
	struct q_primary q = { 0 };
	struct call c = { .op = OP_primary, .fixed = &q, .bytes = sizeof(q) };
	struct object *o = NULL;
	void *made;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	c.to.peer = peer_of_device(dev, &q.dev);
	if (!c.to.peer)
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&primaries);
	o = primary_object(dev);
	pthread_mutex_unlock(&primaries);
	if (!o) {
		r = call_sync(&c, sizeof(struct a_primary));
		if (r)
			return r;
		if (!answer_handle(&made, &c, CLASS_CONTEXT,
				   ((const struct a_primary *)c.answer)->context, NULL, false))
			return CUDA_ERROR_UNKNOWN;
		o = made;
		pthread_mutex_lock(&primaries);
		if (primary_object(dev) != o) { /* no other thread has retained it meanwhile */
			primary[dev].ctx = o;
			primary[dev].id = o->id;
			o->dev = dev;
			__atomic_store_n(&o->dead, true, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&primaries);
	}
	*ctx = (CUcontext)o;
	return CUDA_SUCCESS;
}

static void primary_end(CUdevice dev, bool reset)
{
	struct object *o;

	cache_invalidate(CACHE_PRIMARY);
	if (dev < 0 || dev >= DEVICES_MAX)
		return;
	pthread_mutex_lock(&primaries);
	if (!reset && primary[dev].refs)
		primary[dev].refs--;
	o = reset || !primary[dev].refs ? primary_object(dev) : NULL;
	if (o)
		end_object(o);
	pthread_mutex_unlock(&primaries);
	if (o)
		export_context_ended((CUcontext)o);
}

void primary_released(CUdevice dev)
{
	primary_end(dev, false);
}

void primary_reset(CUdevice dev)
{
	primary_end(dev, true);
}

CUresult library_place(CUcontext ctx, struct library_place *at)
{
	const struct object *o = ctx ? object_of(CLASS_CONTEXT, ctx) : current_context();
	CUresult r = client_ready();

	if (r)
		return r;
	if (!o)
		return ctx ? CUDA_ERROR_INVALID_CONTEXT : current_check();
	if (__atomic_load_n(&o->dead, __ATOMIC_ACQUIRE))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	*at = (struct library_place){ (CUcontext)(uintptr_t)o,
				      __atomic_load_n(&o->life, __ATOMIC_ACQUIRE), o->dev };
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ questions */

static bool is_primary(const struct object *o)
{
	bool is;

	pthread_mutex_lock(&primaries);
	is = primary_object(o->dev) == o;
	pthread_mutex_unlock(&primaries);
	return is;
}

/* A primary context has its device while it is not active, too: cudaSetDevice() leaves it so. */
CUresult cuCtxGetDevice(CUdevice *dev)
{
	const struct object *o = current_known();
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (!r)
		r = current_check();
	if (r && !(r == CUDA_ERROR_CONTEXT_IS_DESTROYED && o && is_primary(o)))
		return r;
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = o->dev;
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
	*id = unique_id((const struct object *)at.ctx, ((const struct object *)at.ctx)->id);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ names of before CUDA 11 */

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return cuDevicePrimaryCtxRelease_v2(dev);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
	return cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
	return cuDevicePrimaryCtxReset_v2(dev);
}
