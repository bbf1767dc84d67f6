// SPDX-License-Identifier: MIT
/* Calls about memory and events that programs of one client share (shares.c). */
#include "server.h"

/* ------------------------------------------------------------------ memory */

/* the address that an allocation begins at, as its end ends the share, too */
CUresult own_cuIpcGetMemHandle(struct server *s, CUipcMemHandle *handle, CUdeviceptr ptr)
{
	uint64_t bytes = 0;

	if (!quota_find(s, ptr, &bytes) || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	return share_memory(s, ptr, (uint8_t *)handle->reserved);
}

/* The memory counts for each program that has it: it lives until the last one has closed it. */
CUresult frame_share_open(struct server *s, const struct q_share_open *q,
			  struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_share_open *a = kvgpu_remote_put(out, sizeof(*a));
	CUdeviceptr ptr = 0, base = 0;
	CUipcMemHandle raw;
	size_t bytes = 0;
	CUresult r;

	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!share_raw(s, q->handle, (uint8_t *)raw.reserved))
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuIpcOpenMemHandle_v2, &ptr, raw, q->flags);
	if (r)
		return r;
	r = CALL(s, cuMemGetAddressRange_v2, &base, &bytes, ptr);
	if (!r && (ptr - base > bytes || !quota_take(s, bytes) || !quota_charge(s, ptr, bytes)))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	if (r) {
		CALL(s, cuIpcCloseMemHandle, ptr);
		return r;
	}
	a->ptr = ptr;
	a->bytes = bytes - (ptr - base);
	return CUDA_SUCCESS;
}

CUresult own_cuIpcCloseMemHandle(struct server *s, CUdeviceptr ptr)
{
	CUresult r = CALL(s, cuIpcCloseMemHandle, ptr);

	if (!r)
		quota_return(s, ptr);
	return r;
}

/* ------------------------------------------------------------------ events */

/* give the new event @event a number, and share it; with an error it is destroyed again */
static CUresult share_new(struct server *s, CUevent event, const uint8_t *key)
{
	struct entry *e = handle_entry(s, handle_give(s, CLASS_EVENT, event, s->current));
	CUresult r = e ? share_event(s, e, key) : CUDA_ERROR_OUT_OF_MEMORY;

	if (!r)
		return r;
	if (e)
		handle_drop(s, e->id);
	CALL(s, cuEventDestroy_v2, event);
	return r;
}

CUresult own_cuEventCreate(struct server *s, CUevent *event, unsigned int flags)
{
	CUresult r;

	if (!(flags & CU_EVENT_INTERPROCESS))
		return CALL(s, cuEventCreate, event, flags);
	if (!(flags & CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_VALUE;
	if (!shares_any(s))
		return REFUSE("an event with CU_EVENT_INTERPROCESS", SHARES_NOTHING);
	r = CALL(s, cuEventCreate, event, flags & ~(unsigned int)CU_EVENT_INTERPROCESS);
	return r ? r : share_new(s, *event, NULL);
}

/* the place that handle_drop() has freed last is the next one that handle_give() takes */
CUresult frame_event_anew(struct server *s, const struct q_event_anew *q,
			  struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	CUevent event;
	CUresult r;

	if (!handle_find(s, CLASS_EVENT, q->event, (void **)&event))
		return CUDA_ERROR_INVALID_HANDLE;
	r = own_cuEventDestroy_v2(s, event);
	if (r)
		return r;
	handle_drop(s, q->event);
	r = own_cuEventCreate(s, &event, q->flags);
	if (!r && !handle_give(s, CLASS_EVENT, event, s->current))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	return r;
}

CUresult own_cuIpcGetEventHandle(struct server *s, CUipcEventHandle *handle, CUevent event)
{
	const struct entry *e = handle_entry(s, handle_known(s, CLASS_EVENT, event));

	return share_event_key(s, e, (uint8_t *)handle->reserved) ? CUDA_SUCCESS :
								    CUDA_ERROR_INVALID_HANDLE;
}

CUresult own_cuIpcOpenEventHandle(struct server *s, CUevent *event, CUipcEventHandle handle)
{
	CUresult r = CALL(s, cuEventCreate, event, CU_EVENT_DISABLE_TIMING);

	if (!r)
		r = share_new(s, *event, (const uint8_t *)handle.reserved);
	return r == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_MAP_FAILED : r; /* as NVIDIA's library */
}
