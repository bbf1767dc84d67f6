// SPDX-License-Identifier: MIT
/*
 * Which server a call goes to, and in which context: where its arguments belong. If the first
 * server is not slow, it is the only one; then arguments need a look where no context is current.
 * Else a look at those of a single server changes nothing.
 */
#include "client.h"

struct peer *route_peer(struct route *to)
{
	if (!to->peer)
		to->peer = peer_is_slow(peers) ? current_peer() : peers;
	return to->peer;
}

/*
 * An argument belongs to @p. @ctx: the context to use there if the thread's context is another
 * server's, or there is none; or NULL. @otherwise: the error if an earlier argument belongs to
 * another server.
 */
static void settle_route(struct route *to, struct peer *p, const struct object *ctx,
			 CUresult otherwise)
{
	if (to->peer && to->peer != p) {
		to->split = to->split ? to->split : otherwise;
		return;
	}
	to->peer = p;
	if (ctx && !to->ctx && (p != current_peer() || !current_context()))
		to->ctx = ctx;
}

/* whether it matters where an argument belongs */
static bool looks(void)
{
	return peer_is_slow(peers) || !current_context();
}

void route_current(struct route *to)
{
	if (peer_is_slow(peers))
		settle_route(to, current_peer(), NULL, CUDA_ERROR_INVALID_HANDLE);
}

bool route_handle(struct route *to, unsigned int class, const void *handle, uint64_t *id)
{
	const struct object *o = object_of(class, handle);

	if (!o)
		return false;
	*id = o->id;
	if (looks())
		settle_route(to, object_peer(o), class == CLASS_CONTEXT ? NULL : object_context(o),
			     CUDA_ERROR_INVALID_HANDLE);
	return true;
}

uint32_t route_device(struct route *to, CUdevice dev)
{
	enum { NONE = -2, CPU = -1 };
	struct peer *p;
	uint32_t number;

	if (dev == NONE || dev == CPU)
		return dev;
	p = peer_of_device(dev, &number);
	if (p)
		settle_route(to, p, NULL, CUDA_ERROR_INVALID_DEVICE);
	else if (several)
		to->split = CUDA_ERROR_INVALID_DEVICE;
	return p ? number : INT32_MAX; /* which a single server refuses */
}

void route_merge(struct route *to, const struct route *end)
{
	if (end->peer)
		settle_route(to, end->peer, end->ctx, CUDA_ERROR_INVALID_VALUE);
}

void route_address(struct route *to, CUdeviceptr ptr)
{
	const struct object *ctx;
	struct peer *p;

	if (!several && current_context())
		return;
	ctx = range_context(ptr);
	p = ctx ? object_peer(ctx) : several ? range_peer(ptr) : NULL;
	if (p)
		settle_route(to, p, ctx, CUDA_ERROR_INVALID_VALUE);
}
