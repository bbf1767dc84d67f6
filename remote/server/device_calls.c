// SPDX-License-Identifier: MIT
/* Calls that also change the server's own state, and facts about devices. */
#include <cuda/api/export/export.h>
#include <cuda/api/pcie.h>
#include <remote/wire/resource.h>

#include "server.h"

/*
 * STREAM_TAKES: bytes charged for a stream. With NVIDIA's library on an H100 4,096 streams took
 * 0.55 MiB each.
 */
enum { NR_ATTRIBUTES = 148, IPC_EVENT_SUPPORTED = 125, STREAM_TAKES = 1 << 20 };

/* ------------------------------------------------------------------ devices */

/* whether GPUs see registered memory at its own address: the first one answers for all */
static bool sees_arena(struct server *s)
{
	static const int want[] = { 19 /* CAN_MAP_HOST_MEMORY */, 41 /* UNIFIED_ADDRESSING */,
				    91 /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */ };
	unsigned int i;
	int has = 1;

	for (i = 0; i < sizeof(want) / sizeof(want[0]) && has; i++)
		if (CALL(s, cuDeviceGetAttribute, &has, want[i], 0))
			has = 0;
	return has;
}

CUresult frame_init(struct server *s, const struct q_init *q, struct kvgpu_remote_cursor *in,
		    struct kvgpu_remote_reply *out)
{
	struct a_init *a = kvgpu_remote_put(out, sizeof(*a));
	int devices = 0, version = 0;
	CUresult r = a ? CALL(s, cuInit, 0) : CUDA_ERROR_OUT_OF_MEMORY;

	if (!r)
		r = CALL(s, cuDeviceGetCount, &devices);
	if (!r)
		r = CALL(s, cuDriverGetVersion, &version);
	if (s->quota.pool)
		pool_set_pid(s->quota.pool, s->quota.program, q->pid);
	if (!r) {
		if (devices && !kvgpu_remote_port_is_shared(s->port) && sees_arena(s))
			a->arena = (uintptr_t)s->arena;
		a->devices = devices;
		a->version = version;
		a->keeps = !!s->images;
	} else {
		/* send the library's message on the error now: there may be no later answer */
		stdio_capture_send(s);
	}
	return r;
}

static uint64_t at_most(const struct server *s, size_t total)
{
	return quota_limit(s) && total > quota_limit(s) ? quota_limit(s) : total;
}

CUresult frame_usage(struct server *s, const struct q_usage *q, struct kvgpu_remote_cursor *in,
		     struct kvgpu_remote_reply *out)
{
	enum { ROOM = sizeof(((struct a_usage *)0)->pid) / sizeof(uint32_t) };
	struct a_usage *a = kvgpu_remote_put(out, sizeof(*a));
	const struct quota *quota = &s->quota;
	CUdevice dev = q->dev;
	char bus_id[32] = "";
	struct pcie_link link;
	size_t total = 0;
	unsigned int i;
	CUresult r = a ? CALL(s, cuDeviceTotalMem_v2, &total, dev) : CUDA_ERROR_OUT_OF_MEMORY;

	if (r)
		return r;
	a->total = at_most(s, total);
	a->used = quota->charged;
	for (i = 0; i < quota->nr_programs && quota->pool && a->programs < ROOM; i++)
		if (pool_bytes(quota->pool, i) && pool_pid(quota->pool, i)) {
			a->bytes[a->programs] = pool_bytes(quota->pool, i);
			a->pid[a->programs++] = pool_pid(quota->pool, i);
		}
	if (quota->pool &&
	    __builtin_add_overflow(a->used,
				   pool_others(quota->pool, quota->nr_programs, quota->program),
				   &a->used))
		a->used = UINT64_MAX;
	if (!CALL(s, cuDeviceGetPCIBusId, bus_id, sizeof(bus_id), dev)) {
		link = pcie_link(PCIE_DEVICES, bus_id);
		a->generation = link.generation;
		a->width = link.width;
	}
	return CUDA_SUCCESS;
}

CUresult frame_facts(struct server *s, const struct q_facts *q, struct kvgpu_remote_cursor *in,
		     struct kvgpu_remote_reply *out)
{
	struct a_facts *a = kvgpu_remote_put(out, sizeof(*a));
	CUdevice dev = q->dev;
	CUuuid uuid = { { 0 } };
	size_t total = 0;
	int i, value;
	CUresult r;

	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuDeviceGetName, (char *)a->name, sizeof(a->name), dev);
	if (!r)
		r = s->library.cuDeviceGetUuid_v2 ? CALL(s, cuDeviceGetUuid_v2, &uuid, dev) :
						    CALL(s, cuDeviceGetUuid, &uuid, dev);
	if (!r)
		r = CALL(s, cuDeviceTotalMem_v2, &total, dev);
	if (!r)
		r = CALL(s, cuDeviceGetPCIBusId, (char *)a->bus_id, sizeof(a->bus_id), dev);
	if (r)
		return r;
	memcpy(a->uuid, uuid.bytes, sizeof(a->uuid));
	a->total = at_most(s, total);
	for (i = 1; i < NR_ATTRIBUTES; i++)
		if (!CALL(s, cuDeviceGetAttribute, &value, i, dev)) {
			a->attribute_known[i] = 1;
			a->attribute[i] = value;
		}
	a->attribute[IPC_EVENT_SUPPORTED] = shares_any(s); /* whatever the library does */
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ contexts */

static uint64_t number_of(struct server *s, CUcontext ctx)
{
	return handle_give(s, CLASS_CONTEXT, ctx, 0);
}

/* The library makes the new context current. Undo that: OP_current makes contexts current. */
CUresult own_cuCtxCreate_v2(struct server *s, CUcontext *ctx, unsigned int flags, CUdevice dev)
{
	CUresult r = CALL(s, cuCtxCreate_v2, ctx, flags, dev);

	if (!r)
		CALL(s, cuCtxPopCurrent_v2, NULL);
	return r;
}

/*
 * The library refuses to destroy a primary context. Then its work on the GPU goes on, though the
 * server has forgotten it.
 */
CUresult own_cuCtxDestroy_v2(struct server *s, CUcontext ctx)
{
	uint64_t id = handle_known(s, CLASS_CONTEXT, ctx);
	CUresult r;

	if (s->current == id)
		enter_context(s, 0);
	/* end the waits before the library frees what they wait for */
	context_leave(s, id);
	r = CALL(s, cuCtxDestroy_v2, ctx);
	stdio_capture_send(s);
	if (r) {
		sched_untracked(s);
	} else {
		handle_drop(s, id);
		s->late_error = CUDA_SUCCESS;
	}
	return r;
}

CUresult own_cuCtxAttach(struct server *s, CUcontext *ctx, unsigned int flags)
{
	struct entry *e;
	CUresult r = CALL(s, cuCtxAttach, ctx, flags);

	e = r ? NULL : handle_entry(s, number_of(s, *ctx));
	if (e)
		e->attached++;
	return r;
}

CUresult own_cuCtxDetach(struct server *s, CUcontext ctx)
{
	struct entry *e = handle_entry(s, number_of(s, ctx));
	CUresult r;

	if (!e || !e->attached)
		return own_cuCtxDestroy_v2(s, ctx);
	r = CALL(s, cuCtxDetach, ctx);
	if (!r)
		e->attached--;
	return r;
}

/*
 * The number of the device's primary context if it is active now; else 0. Does not make the
 * context.
 */
static uint64_t primary_of(struct server *s, CUdevice dev)
{
	unsigned int flags;
	CUcontext ctx;
	uint64_t id;
	int active = 0;

	if (CALL(s, cuDevicePrimaryCtxGetState, dev, &flags, &active) || !active ||
	    CALL(s, cuDevicePrimaryCtxRetain, &ctx, dev))
		return 0;
	id = number_of(s, ctx);
	CALL(s, cuDevicePrimaryCtxRelease_v2, dev);
	return id;
}

/*
 * The library says in a private table which handle a primary context has or will have; one without
 * the table has to make the context.
 */
FRAME(primary)
{
	struct a_primary *a = kvgpu_remote_put(out, sizeof(*a));
	const CUuuid id = { EXPORT_CONTEXTS };
	typeof(export_primary) *const *table = NULL;
	CUcontext ctx = NULL;
	CUresult r;

	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!CALL(s, cuGetExportTable, (const void **)&table, &id)) {
		r = table[EXPORT_PRIMARY](&ctx, q->dev);
	} else {
		r = CALL(s, cuDevicePrimaryCtxRetain, &ctx, q->dev);
		if (!r)
			CALL(s, cuDevicePrimaryCtxRelease_v2, q->dev);
	}
	if (r)
		return r;
	a->context = number_of(s, ctx);
	return a->context ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* a primary context was reset or released: its handle stays, but all below it is gone */
static void emptied(struct server *s, uint64_t id)
{
	if (!id)
		return;
	handle_empty(s, id);
	s->late_error = CUDA_SUCCESS;
	stdio_capture_send(s);
}

CUresult own_cuDevicePrimaryCtxRelease_v2(struct server *s, CUdevice dev)
{
	uint64_t id = primary_of(s, dev);
	unsigned int flags;
	int active = 1;
	CUresult r = CALL(s, cuDevicePrimaryCtxRelease_v2, dev);

	if (!r && !CALL(s, cuDevicePrimaryCtxGetState, dev, &flags, &active) && !active)
		emptied(s, id);
	return r;
}

CUresult own_cuDevicePrimaryCtxReset_v2(struct server *s, CUdevice dev)
{
	uint64_t id = primary_of(s, dev);
	CUresult r;

	context_leave(s, id);
	r = CALL(s, cuDevicePrimaryCtxReset_v2, dev);
	if (r)
		sched_untracked(s);
	else
		emptied(s, id);
	return r;
}

static size_t limit_of(struct server *s, CUlimit limit)
{
	size_t now = 0;

	return CALL(s, cuCtxGetLimit, &now, limit) ? 0 : now;
}

/*
 * The heap of kernels and the buffer of what they print are device memory, or may be. What a call
 * adds is charged to the context; what a call takes away is given back, as far as it was charged.
 * The library may round up, so ask it how much there is.
 */
CUresult own_cuCtxSetLimit(struct server *s, CUlimit limit, size_t value)
{
	struct entry *e = handle_entry(s, s->current);
	uint64_t before, after, more, rest, less;
	CUresult r;

	if (!e || (limit != CU_LIMIT_MALLOC_HEAP_SIZE && limit != CU_LIMIT_PRINTF_FIFO_SIZE))
		return CALL(s, cuCtxSetLimit, limit, value);
	before = limit_of(s, limit);
	more = value > before ? (value - before) / QUOTA_UNIT + 1 : 0;
	if (__builtin_mul_overflow(more, QUOTA_UNIT, &more) || !quota_take(s, more))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuCtxSetLimit, limit, value);
	if (r) {
		quota_give(s, more);
		return r;
	}
	after = limit_of(s, limit);
	rest = after > before && after - before > more ? after - before - more : 0;
	rest = (rest + QUOTA_UNIT - 1) / QUOTA_UNIT * QUOTA_UNIT;
	if (!quota_take(s, rest)) {
		CALL(s, cuCtxSetLimit, limit, before);
		quota_give(s, more);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	e->charged += more + rest;
	less = after < before ? (before - after) / QUOTA_UNIT * QUOTA_UNIT : 0;
	less = less < e->charged ? less : e->charged;
	e->charged -= less;
	quota_give(s, less);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ streams */

/*
 * Charge @bytes, which were taken, to the new object's handle; with @error give them back. The
 * handle is made here: cases.c, which wants a handle of each new object, gets the same one again.
 */
static CUresult charge_handle(struct server *s, unsigned int class, const void *what,
			      uint64_t parent, uint64_t bytes, CUresult error)
{
	struct entry *e = error ? NULL : handle_entry(s, handle_give(s, class, what, parent));

	if (e)
		e->charged = bytes;
	else
		quota_give(s, bytes);
	return error;
}

CUresult own_cuStreamCreate(struct server *s, CUstream *stream, unsigned int flags)
{
	CUresult r;

	if (!quota_take(s, STREAM_TAKES))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuStreamCreate, stream, flags);
	return charge_handle(s, CLASS_STREAM, *stream, s->current, STREAM_TAKES, r);
}

CUresult own_cuStreamCreateWithPriority(struct server *s, CUstream *stream, unsigned int flags,
					int priority)
{
	CUresult r;

	if (!quota_take(s, STREAM_TAKES))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuStreamCreateWithPriority, stream, flags, priority);
	return charge_handle(s, CLASS_STREAM, *stream, s->current, STREAM_TAKES, r);
}

CUresult own_cuStreamDestroy_v2(struct server *s, CUstream stream)
{
	return CALL(s, cuStreamDestroy_v2, stream);
}

/* ------------------------------------------------------------------ memory */

CUresult own_cuMemGetInfo_v2(struct server *s, size_t *free, size_t *total)
{
	uint64_t limit = quota_limit(s), left = quota_left(s);
	CUresult r = CALL(s, cuMemGetInfo_v2, free, total);

	if (!r && limit && total)
		*total = *total < limit ? *total : limit;
	if (!r && limit && free)
		*free = *free < left ? *free : left;
	return r;
}

CUresult own_cuMemAlloc_v2(struct server *s, CUdeviceptr *ptr, size_t bytes)
{
	CUresult r;

	if (!quota_take(s, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuMemAlloc_v2, ptr, bytes);
	if (r) {
		quota_give(s, bytes);
	} else if (!quota_charge(s, *ptr, bytes)) {
		CALL(s, cuMemFree_v2, *ptr);
		r = CUDA_ERROR_OUT_OF_MEMORY;
	}
	return r;
}

/* the library chooses the pitch, so the size is known afterwards */
CUresult own_cuMemAllocPitch_v2(struct server *s, CUdeviceptr *ptr, size_t *pitch, size_t width,
				size_t height, unsigned int element)
{
	size_t bytes;
	CUresult r;

	if (__builtin_mul_overflow(width, height, &bytes) || !quota_take(s, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuMemAllocPitch_v2, ptr, pitch, width, height, element);
	quota_give(s, bytes);
	if (r)
		return r;
	bytes = *pitch * height;
	if (!quota_take(s, bytes) || !quota_charge(s, *ptr, bytes)) {
		CALL(s, cuMemFree_v2, *ptr);
		r = CUDA_ERROR_OUT_OF_MEMORY;
	}
	return r;
}

CUresult own_cuMemFree_v2(struct server *s, CUdeviceptr ptr)
{
	CUresult r = CALL(s, cuMemFree_v2, ptr);

	if (!r)
		memory_is_free(s, ptr);
	return r;
}

CUresult own_cuArray3DCreate_v2(struct server *s, CUarray *array,
				const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
	uint64_t bytes = array_takes(desc, 1);
	CUresult r;

	if (bytes == UINT64_MAX || !quota_take(s, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuArray3DCreate_v2, array, desc);
	return charge_handle(s, CLASS_ARRAY, *array, s->current, bytes, r);
}

CUresult own_cuArrayCreate_v2(struct server *s, CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc)
{
	const CUDA_ARRAY3D_DESCRIPTOR d = { .Width = desc->Width,
					    .Height = desc->Height,
					    .Format = desc->Format,
					    .NumChannels = desc->NumChannels };
	uint64_t bytes = array_takes(&d, 1);
	CUresult r;

	if (bytes == UINT64_MAX || !quota_take(s, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuArrayCreate_v2, array, desc);
	return charge_handle(s, CLASS_ARRAY, *array, s->current, bytes, r);
}

CUresult own_cuMipmappedArrayCreate(struct server *s, CUmipmappedArray *array,
				    const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels)
{
	uint64_t bytes = array_takes(desc, levels);
	CUresult r;

	if (bytes == UINT64_MAX || !quota_take(s, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = CALL(s, cuMipmappedArrayCreate, array, desc, levels);
	return charge_handle(s, CLASS_MIPMAP, *array, s->current, bytes, r);
}

/* ------------------------------------------------------------------ addresses */

enum { P2P_TOKENS = 5, ATTRIBUTE_ROOM = 64 };

CUresult frame_pointer(struct server *s, const struct q_pointer *q, struct kvgpu_remote_cursor *in,
		       struct kvgpu_remote_reply *out)
{
	/* attributes of one word; more room, as a later library may write more */
	uint64_t value[ATTRIBUTE_ROOM / 8] = { 0 };
	struct a_pointer *a = kvgpu_remote_put(out, sizeof(*a));
	CUresult r;

	if (!a || q->attribute == P2P_TOKENS ||
	    q->attribute > CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuPointerGetAttribute, value, q->attribute, q->ptr);
	if (r)
		return r;
	a->value = value[0];
	if (q->attribute == CU_POINTER_ATTRIBUTE_CONTEXT)
		a->value = number_of(s, (CUcontext)(uintptr_t)value[0]);
	if (q->attribute == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
		a->value = mempool_number(s, (CUmemoryPool)(uintptr_t)value[0]);
	return CUDA_SUCCESS;
}

CUresult frame_pointer_set(struct server *s, const struct q_pointer_set *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	unsigned int value = q->value;

	return CALL(s, cuPointerSetAttribute, &value, q->attribute, q->ptr);
}

/* ----------------------------------------------------------- resources of textures and surfaces */

bool resource_open(struct server *s, const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r)
{
	void *what = NULL;

	if (!kvgpu_remote_resource_get(w, r))
		return false;
	if (w->type == CU_RESOURCE_TYPE_ARRAY) {
		if (!handle_find(s, CLASS_ARRAY, w->what, &what))
			return false;
		r->res.array.hArray = what;
	} else if (w->type == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
		if (!handle_find(s, CLASS_MIPMAP, w->what, &what))
			return false;
		r->res.mipmap.hMipmappedArray = what;
	}
	return true;
}

void resource_close(struct server *s, const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w)
{
	kvgpu_remote_resource_put(r, w);
	if (r->resType == CU_RESOURCE_TYPE_ARRAY)
		w->what = handle_known(s, CLASS_ARRAY, r->res.array.hArray);
	if (r->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
		w->what = handle_known(s, CLASS_MIPMAP, r->res.mipmap.hMipmappedArray);
}
