// SPDX-License-Identifier: MIT
/*
 * The part of this library that the client's libcublas.so.11 and libcurand.so.10 call:
 * remote/forward.
 */
#include <stdlib.h>

#include <remote/forward/forward.h>

#include "client.h"

static CUresult enter_call(void)
{
	return call_enter(0);
}

static struct forward_state *state_of(unsigned int class, const void *handle)
{
	const struct object *o = object_of(class, handle);

	return o ? o->more : NULL;
}

/*
 * CUDA_ERROR_INVALID_VALUE: the handle's stream is invalid by now, or another server's; *id is set
 */
static CUresult find_handle(unsigned int class, const void *handle, uint64_t *id, uint64_t *stream,
			    bool *own)
{
	const struct forward_state *s = state_of(class, handle);
	struct route to = { 0 };

	/* the call goes to the server of the thread's context */
	if (!s || !route_handle(&to, class, handle, id) || route_peer(&to) != current_peer())
		return CUDA_ERROR_INVALID_HANDLE;
	*own = same_context(handle);
	if (route_stream(&to, s->stream, stream) || to.split)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult async_call(uint16_t op, const void *q, size_t n)
{
	struct call c = { .op = op, .fixed = q, .bytes = n };

	return call_async(&c);
}

static CUresult sync_call(uint16_t op, const void *q, size_t n, void *answer, size_t bytes)
{
	struct call c = { .op = op, .fixed = q, .bytes = n };
	CUresult r = call_sync(&c, bytes);

	if (!r && bytes)
		memcpy(answer, c.answer, bytes);
	return r;
}

static void *made_handle(unsigned int class, uint64_t id)
{
	void *o = handle_here(current_peer(), class, id, current_context());
	void *state = o ? calloc(1, sizeof(struct forward_state)) : NULL;

	return state && object_keep(o, class, state, true) ? o : NULL;
}

const struct forward_calls *kvgpu_remote_forwards(uint64_t version)
{
	static const struct forward_calls calls = {
		.enter = enter_call,
		.find = find_handle,
		.state = state_of,
		.async = async_call,
		.sync = sync_call,
		.made = made_handle,
		.ended = object_end,
		.say = client_say,
	};

	return version == KVGPU_REMOTE_VERSION ? &calls : NULL;
}
