// SPDX-License-Identifier: MIT
/*
 * Memory and events of other programs of the same client, by handles that its server makes. The
 * server waits for an event that another program has recorded, and so does the call.
 */
#include "client.h"

void event_shared(CUevent event)
{
	__atomic_store_n(&((struct object *)event)->shared, true, __ATOMIC_RELAXED);
}

static void close_memory(const struct call *like, CUdeviceptr ptr)
{
	const struct q_cuIpcCloseMemHandle q = { .ptr = ptr };
	struct call c = {
		.op = OP_cuIpcCloseMemHandle, .fixed = &q, .bytes = sizeof(q), .to = like->to
	};

	call_sync(&c, 0);
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags)
{
	struct q_share_open q = { .flags = flags };
	struct a_share_open a;
	struct call c;
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!ptr)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(q.handle, handle.reserved, sizeof(q.handle));
	call_init(&c, OP_share_open, &q, sizeof(q));
	r = call_sync(&c, sizeof(a));
	if (r)
		return r;
	a = *(const struct a_share_open *)c.answer;
	if (!answer_memory(a.ptr, a.bytes))
		return CUDA_ERROR_UNKNOWN;
	if (!range_add(a.ptr, a.bytes, c.serial)) {
		client_say("%s gives a program memory only where another server's is",
			   c.to.peer->address);
		close_memory(&c, a.ptr);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	*ptr = a.ptr;
	return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags)
{
	return cuIpcOpenMemHandle_v2(ptr, handle, flags);
}
