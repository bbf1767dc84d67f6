// SPDX-License-Identifier: MIT
/*
 * Where memory is, and who may use it: devices in the arguments of calls about virtual memory,
 * pools and managed memory.
 */
#include "client.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

enum { TYPE_NONE, TYPE_NUMA = 3, TYPE_LAST = 4, CPU = -1 };

static CUresult refuse_location(void)
{
	return REFUSE("virtual, pooled or advised memory elsewhere than on a device",
		      "a server gives a device's memory, and none of its machine's");
}

CUresult location_to_server(struct route *to, CUmemLocation *place)
{
	if (place->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return place->type > TYPE_NONE && place->type <= TYPE_LAST ?
			       refuse_location() :
			       CUDA_ERROR_INVALID_VALUE;
	if (place->id < 0 || place->id >= all_devices)
		return CUDA_ERROR_INVALID_DEVICE;
	place->id = route_device(to, place->id);
	return CUDA_SUCCESS;
}

/*
 * NCCL tries to make memory of the host's node in each process, whatever the device's attributes
 * say, and goes on without it: that is no news for who reads standard error.
 */
CUresult location_to_try(struct route *to, CUmemLocation *place)
{
	return place->type == TYPE_NUMA ? CUDA_ERROR_NOT_SUPPORTED : location_to_server(to, place);
}

CUresult location_to_ask(struct route *to, CUmemLocation *place)
{
	if (place->type > CU_MEM_LOCATION_TYPE_DEVICE && place->type <= TYPE_LAST)
		*place = (CUmemLocation){ CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	return location_to_server(to, place);
}

bool location_here(const struct call *c, CUmemLocation *place)
{
	return place->type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       answer_device(c, place->id, &place->id);
}

void allocation_made(CUmemGenericAllocationHandle handle, const CUmemAllocationProp *prop)
{
	((struct object *)(uintptr_t)handle)->dev = prop->location.id;
}

/* ------------------------------------------------------------------ who may use it */

/* send @q, with the devices of @list, which are to be of one server */
static CUresult send_access(struct call *c, struct q_access *q, const CUmemAccessDesc *list,
			    size_t n)
{
	uint32_t pair[DEVICES_MAX][2];
	CUmemLocation place;
	CUresult r;
	size_t i;

	if (!list || !n || n > DEVICES_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n; i++) {
		place = list[i].location;
		r = location_to_server(&c->to, &place);
		if (r)
			return r;
		pair[i][0] = place.id;
		pair[i][1] = list[i].flags;
	}
	q->devices = n;
	r = call_bytes(c, pair, n * sizeof(*pair));
	return r ? r : call_sync(c, 0);
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	struct q_access q = { .ptr = ptr, .bytes = size };
	struct call c;
	CUresult r = call_enter(CALL_NO_CONTEXT);
	size_t i;

	if (r)
		return r;
	call_init(&c, OP_access, &q, sizeof(q));
	route_address(&c.to, ptr);
	r = send_access(&c, &q, desc, count);
	for (i = 0; i < count && !r; i++)
		ranges_accessed(ptr, size, desc[i].location.id,
				desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	return r;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	struct q_access q = { 0 };
	struct call c;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	call_init(&c, OP_access, &q, sizeof(q));
	if (!route_handle(&c.to, CLASS_POOL, pool, &q.pool))
		return CUDA_ERROR_INVALID_VALUE;
	return send_access(&c, &q, map, count);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
	struct q_pool_access q = { 0 };
	struct call c;
	CUmemLocation place;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	call_init(&c, OP_pool_access, &q, sizeof(q));
	if (!flags || !location || !route_handle(&c.to, CLASS_POOL, pool, &q.pool))
		return CUDA_ERROR_INVALID_VALUE;
	place = *location;
	r = location_to_server(&c.to, &place);
	q.dev = place.id;
	if (!r)
		r = call_sync(&c, sizeof(struct a_pool_access));
	if (!r)
		*flags = ((const struct a_pool_access *)c.answer)->flags;
	return r;
}

/* ------------------------------------------------------------------ pools */

/* bytes of a pool's attribute */
static size_t size_of(CUmemPool_attribute attribute)
{
	return attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? sizeof(cuuint64_t) : sizeof(int);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	struct q_pool_get q = { .attribute = attribute };
	struct call c;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	call_init(&c, OP_pool_get, &q, sizeof(q));
	if (!value || !route_handle(&c.to, CLASS_POOL, pool, &q.pool))
		return CUDA_ERROR_INVALID_VALUE;
	r = call_sync(&c, sizeof(struct a_pool_get));
	if (!r)
		memcpy(value, &((const struct a_pool_get *)c.answer)->value, size_of(attribute));
	return r;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	struct q_pool_set q = { .attribute = attribute };
	struct call c;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	call_init(&c, OP_pool_set, &q, sizeof(q));
	if (!value || !route_handle(&c.to, CLASS_POOL, pool, &q.pool))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&q.value, value, size_of(attribute));
	return call_sync(&c, 0);
}

/* The device of @place, which is the only kind of place that has pools here; or *r is the error. */
static CUdevice device_of(const CUmemLocation *place, CUmemAllocationType type, CUresult *r)
{
	*r = CUDA_SUCCESS;
	if (!place)
		*r = CUDA_ERROR_INVALID_VALUE;
	else if (place->type != CU_MEM_LOCATION_TYPE_DEVICE ||
		 type != CU_MEM_ALLOCATION_TYPE_PINNED)
		*r = refuse_location();
	return *r ? 0 : place->id;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
				CUmemAllocationType type)
{
	CUresult r;
	CUdevice dev = device_of(location, type, &r);

	return r ? r : cuDeviceGetDefaultMemPool(pool, dev);
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
	CUresult r;
	CUdevice dev = device_of(location, type, &r);

	return r ? r : cuDeviceGetMemPool(pool, dev);
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
	CUresult r;
	CUdevice dev = device_of(location, type, &r);

	return r ? r : cuDeviceSetMemPool(dev, pool);
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attribute, void *value)
{
	struct q_graph_memory q = { .attribute = attribute };
	struct call c;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	call_init(&c, OP_graph_memory, &q, sizeof(q));
	q.dev = route_device(&c.to, dev);
	r = call_sync(&c, sizeof(struct a_graph_memory));
	if (!r)
		memcpy(value, &((const struct a_graph_memory *)c.answer)->value,
		       sizeof(cuuint64_t));
	return r;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attribute, void *value)
{
	struct q_graph_memory_set q = { .attribute = attribute };
	struct call c;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	call_init(&c, OP_graph_memory_set, &q, sizeof(q));
	q.dev = route_device(&c.to, dev);
	memcpy(&q.value, value, sizeof(q.value));
	return call_sync(&c, 0);
}

/* ------------------------------------------------------------------ managed memory */

/* what the forms before CUDA 12.2 say for a place: all of the host's are one */
static CUresult device_or_host(CUmemLocation place, CUdevice *dev)
{
	if (place.type <= TYPE_NONE || place.type > TYPE_LAST)
		return CUDA_ERROR_INVALID_VALUE;
	*dev = place.type == CU_MEM_LOCATION_TYPE_DEVICE ? place.id : CPU;
	return CUDA_SUCCESS;
}

/* a preference for nothing, which some kinds of advice are about, names no place either */
CUresult cuMemAdvise_v2(CUdeviceptr ptr, size_t count, CUmem_advise advice, CUmemLocation location)
{
	CUdevice dev = CPU;

	if (location.type != TYPE_NONE && device_or_host(location, &dev))
		return CUDA_ERROR_INVALID_VALUE;
	return cuMemAdvise(ptr, count, advice, dev);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr ptr, size_t count, CUmemLocation location,
			       unsigned int flags, CUstream stream)
{
	CUdevice dev;

	if (flags || device_or_host(location, &dev))
		return CUDA_ERROR_INVALID_VALUE;
	return cuMemPrefetchAsync(ptr, count, dev, stream);
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr ptr, size_t count, CUmemLocation location,
				    unsigned int flags, CUstream stream)
{
	return cuMemPrefetchAsync_v2(ptr, count, location, flags, OWN(stream));
}
