// SPDX-License-Identifier: MIT
/* Contexts that a call has made or ended, and all that ends with a context. */
#include "client.h"

static pthread_mutex_t primaries = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct object *ctx;
	uint64_t id;
	unsigned int refs;
} primary[DEVICES_MAX];

void context_created(CUcontext ctx, CUdevice dev)
{
	struct object *o = (struct object *)ctx;

	if (!o)
		return;
	o->dev = dev;
	current_push(o);
}

/* Mark the context as dead, and end all that belongs to it; its own slot stays. */
static void end_object(struct object *o)
{
	__atomic_store_n(&o->dead, true, __ATOMIC_RELEASE);
	ranges_end(o);
	hostmem_end(o);
	managed_end(o);
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
}

static void primary_end(CUdevice dev, bool reset)
{
	if (dev < 0 || dev >= DEVICES_MAX)
		return;
	pthread_mutex_lock(&primaries);
	if (!reset && primary[dev].refs)
		primary[dev].refs--;
	if (object_of(CLASS_CONTEXT, primary[dev].ctx) && primary[dev].ctx->id == primary[dev].id &&
	    (reset || !primary[dev].refs))
		end_object(primary[dev].ctx);
	pthread_mutex_unlock(&primaries);
}

void primary_released(CUdevice dev)
{
	primary_end(dev, false);
}

void primary_reset(CUdevice dev)
{
	primary_end(dev, true);
}

CUresult cuCtxGetDevice(CUdevice *dev)
{
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = current_top()->dev;
	return CUDA_SUCCESS;
}
