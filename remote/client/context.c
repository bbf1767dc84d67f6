// SPDX-License-Identifier: MIT
/*
 * Each thread's stack of contexts. A destroyed context may still be on a stack: its number tells it
 * from the context that has its slot now.
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
} current;

static pthread_mutex_t primaries = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct object *ctx;
	uint64_t id;
	unsigned int refs;
} primary[DEVICES_MAX];

static bool lives(const struct place *p)
{
	return object_of(CLASS_CONTEXT, p->ctx) && p->ctx->id == p->id &&
	       !__atomic_load_n(&p->ctx->dead, __ATOMIC_ACQUIRE);
}

static struct place *top(void)
{
	return current.n ? &current.at[current.n - 1] : NULL;
}

CUresult current_check(void)
{
	if (!current.n)
		return CUDA_ERROR_INVALID_CONTEXT;
	return lives(top()) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

void *current_context(void)
{
	return current.n && lives(top()) ? top()->ctx : NULL;
}

uint64_t current_id(const struct peer *p, uint32_t *mode)
{
	*mode = current.mode;
	if (current.borrows)
		return current.lender == p ? current.borrowed : 0;
	return current.n && object_peer(top()->ctx) == p && lives(top()) ? top()->id : 0;
}

struct peer *current_peer(void)
{
	return current.n ? object_peer(top()->ctx) : peers;
}

void context_borrow(void *ctx, uint64_t id)
{
	const struct object *o = object_of(CLASS_CONTEXT, ctx);

	current.borrows = true;
	current.lender = object_peer(ctx);
	current.borrowed = o && o->id == id && !__atomic_load_n(&o->dead, __ATOMIC_ACQUIRE) ? id :
											      0;
}

void context_give_back(void)
{
	current.borrows = false;
}

static CUresult push(struct object *ctx)
{
	if (current.n == STACK_DEPTH)
		return CUDA_ERROR_INVALID_CONTEXT;
	current.at[current.n++] = (struct place){ ctx, ctx->id };
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------- contexts that a call has made or ended */

void context_created(CUcontext ctx, CUdevice dev)
{
	struct object *o = (struct object *)ctx;

	if (!o)
		return;
	o->dev = dev;
	push(o);
}

/* Mark the context as dead, and end all that belongs to it; its own slot stays. */
static void end(struct object *o)
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

	if (current.n && top()->ctx == o)
		current.n--;
	end(o);
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
		end(primary[dev].ctx);
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

/* ------------------------------------------------------------------ entry points */

CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	struct object *o = object_of(CLASS_CONTEXT, ctx);
	CUresult r = client_ready();

	if (r)
		return r;
	return o ? push(o) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	CUresult r = client_ready();

	if (r)
		return r;
	if (!current.n)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (ctx)
		*ctx = (CUcontext)top()->ctx;
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
	return o ? push(o) : CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	CUresult r = client_ready();

	if (r)
		return r;
	if (!ctx)
		return CUDA_ERROR_INVALID_VALUE;
	*ctx = current.n ? (CUcontext)top()->ctx : NULL;
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *dev)
{
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!dev)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = top()->ctx->dev;
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
