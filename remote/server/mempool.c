// SPDX-License-Identifier: MIT
/*
 * Memory of pools, in the order of streams. A pool reserves more than the program has from it, and
 * gives it back when the library waits, so the quota is charged with what the library says is
 * reserved. If that is too much after an allocation, the allocation is undone. What the pool keeps
 * behind a stream that waits is charged beyond the limit, and nobody gets more until it is back.
 * Without a limit the library is asked after waits alone. A pool that the client has destroyed
 * lives until all its memory is given back.
 *
 * Allocations are noted as charges of no bytes and of no context: the library, given an address
 * twice, hangs.
 */
#include <stdlib.h>

#include "server.h"

struct mempool {
	struct mempool *next;
	CUmemoryPool what;
	uint64_t charged;
	bool ends; /* the client has destroyed it */
};

static uint64_t attribute_of(struct server *s, const struct mempool *p, CUmemPool_attribute what)
{
	cuuint64_t value = 0;

	return CALL(s, cuMemPoolGetAttribute, p->what, what, &value) ? 0 : value;
}

/* charge what it has reserved, also beyond the quota; false: that is more than there is left */
static bool charge_pool(struct server *s, struct mempool *p)
{
	uint64_t now = attribute_of(s, p, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
	bool fits = true;

	now = (now + QUOTA_UNIT - 1) / QUOTA_UNIT * QUOTA_UNIT;
	if (now > p->charged) {
		fits = quota_take(s, now - p->charged);
		if (!fits)
			quota_exceed(s, now - p->charged);
	} else {
		quota_give(s, p->charged - now);
	}
	p->charged = now;
	return fits;
}

static struct mempool *pool_of(struct server *s, CUmemoryPool what)
{
	struct mempool *p;

	for (p = s->mempools.list; p; p = p->next)
		if (p->what == what)
			return p;
	p = calloc(1, sizeof(*p));
	if (p) {
		*p = (struct mempool){ .next = s->mempools.list, .what = what };
		s->mempools.list = p;
	}
	return p;
}

/* whether the library will give back something when it waits: NVIDIA's by such pieces */
static bool has_spare(struct server *s, const struct mempool *p, uint64_t used)
{
	enum { PIECE = 32 << 20 };

	return p->charged >= used && p->charged - used >= PIECE &&
	       p->charged > attribute_of(s, p, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
}

void mempools_look(struct server *s)
{
	struct mempool **at = &s->mempools.list, *p;
	uint64_t used;

	s->mempools.changed = false;
	while ((p = *at)) {
		used = attribute_of(s, p, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
		if (p->ends && !used)
			CALL(s, cuMemPoolTrimTo, p->what, 0);
		charge_pool(s, p);
		if (!p->ends || p->charged) {
			s->mempools.changed |= has_spare(s, p, used);
			at = &p->next;
			continue;
		}
		CALL(s, cuMemPoolDestroy, p->what);
		*at = p->next;
		free(p);
	}
}

uint64_t mempool_number(struct server *s, CUmemoryPool what)
{
	const struct mempool *p;

	for (p = s->mempools.list; p; p = p->next)
		if (p->what == what && p->ends)
			return 0;
	return handle_give(s, CLASS_POOL, what, 0);
}

void mempools_free(struct server *s)
{
	struct mempool *p;

	while ((p = s->mempools.list)) {
		s->mempools.list = p->next;
		free(p);
	}
}

void memory_is_free(struct server *s, CUdeviceptr ptr)
{
	quota_return(s, ptr);
	s->mempools.changed = s->mempools.list;
}

/* ------------------------------------------------------------------ allocations */

/* *pool: from which the library allocates for @stream */
static CUresult pool_of_stream(struct server *s, CUstream stream, CUmemoryPool *pool)
{
	uint64_t before = s->current, ctx = parent_of(s, handle_known(s, CLASS_STREAM, stream));
	CUdevice dev;
	CUresult r = ctx ? enter_context(s, ctx) : CUDA_SUCCESS;

	if (!r)
		r = CALL(s, cuCtxGetDevice, &dev);
	enter_context(s, before);
	return r ? r : CALL(s, cuDeviceGetMemPool, pool, dev);
}

/* take ahead what the pool must reserve to have @bytes more; false: there is not so much left */
static bool take_ahead(struct server *s, struct mempool *p, uint64_t bytes)
{
	uint64_t used, spare, more;

	if (!s->options.memory)
		return true;
	used = attribute_of(s, p, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
	spare = p->charged > used ? p->charged - used : 0;
	more = bytes > spare ? bytes - spare : 0;
	if (more > UINT64_MAX - QUOTA_UNIT)
		return false;
	more = (more + QUOTA_UNIT - 1) / QUOTA_UNIT * QUOTA_UNIT;
	if (!quota_take(s, more))
		return false;
	p->charged += more;
	return true;
}

/* What a capture allocates has no memory before its graph runs, nor a bound. */
static CUresult alloc_captured(struct server *s, CUdeviceptr *ptr, size_t bytes,
			       const CUmemoryPool *pool, CUstream stream)
{
	if (s->options.memory)
		return REFUSE(
			"cuMemAllocAsync() in a capture",
			"the server has a limit `memory`, and how much the graph takes is not "
			"known");
	s->mempools.captured = true;
	return pool ? CALL(s, cuMemAllocFromPoolAsync, ptr, bytes, *pool, stream) :
		      CALL(s, cuMemAllocAsync, ptr, bytes, stream);
}

static CUresult alloc_from(struct server *s, CUdeviceptr *ptr, size_t bytes,
			   const CUmemoryPool *pool, CUstream stream)
{
	CUmemoryPool what = pool ? *pool : NULL;
	struct mempool *p;
	CUresult r = not_capturing(s, stream);

	if (r == CUDA_ERROR_NOT_SUPPORTED)
		return alloc_captured(s, ptr, bytes, pool, stream);
	if (!r && !pool)
		r = pool_of_stream(s, stream, &what);
	if (r)
		return r;
	if (s->options.memory)
		mempools_look(s);
	p = pool_of(s, what);
	if (!p || !take_ahead(s, p, bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->mempools.changed = true;
	r = pool ? CALL(s, cuMemAllocFromPoolAsync, ptr, bytes, what, stream) :
		   CALL(s, cuMemAllocAsync, ptr, bytes, stream);
	if ((!s->options.memory || charge_pool(s, p)) && !r && quota_note(s, *ptr))
		return CUDA_SUCCESS;
	if (r)
		return r;
	CALL(s, cuMemFreeAsync, *ptr, stream);
	CALL(s, cuMemPoolTrimTo, what, 0);
	charge_pool(s, p);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult own_cuMemAllocAsync(struct server *s, CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
	return alloc_from(s, ptr, bytes, NULL, stream);
}

CUresult own_cuMemAllocFromPoolAsync(struct server *s, CUdeviceptr *ptr, size_t bytes,
				     CUmemoryPool pool, CUstream stream)
{
	return alloc_from(s, ptr, bytes, &pool, stream);
}

/*
 * Other memory than a pool's is freed at once, behind all work: else a client could have more and
 * more of it, which a stream is to free later.
 */
CUresult own_cuMemFreeAsync(struct server *s, CUdeviceptr ptr, CUstream stream)
{
	uint64_t bytes = 0;
	bool known = quota_find(s, ptr, &bytes);
	CUresult r;

	if (bytes) {
		r = CALL(s, cuMemFree_v2, ptr);
		if (!r)
			memory_is_free(s, ptr);
		return r;
	}
	if (!known && s->mempools.list && !s->mempools.captured)
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuMemFreeAsync, ptr, stream);
	if (!r && known)
		quota_return(s, ptr);
	s->mempools.changed = true;
	return r;
}

/* ------------------------------------------------------------------ pools */

/* From a pool that ends no device allocates: as NVIDIA's library, take its default pool. */
static void leave_pool(struct server *s, CUmemoryPool pool)
{
	CUmemoryPool now;
	CUdevice dev;
	int n = 0;

	CALL(s, cuDeviceGetCount, &n);
	for (dev = 0; dev < n; dev++)
		if (!CALL(s, cuDeviceGetMemPool, &now, dev) && now == pool &&
		    !CALL(s, cuDeviceGetDefaultMemPool, &now, dev))
			CALL(s, cuDeviceSetMemPool, dev, now);
}

static bool is_default(struct server *s, CUmemoryPool pool)
{
	CUmemoryPool that;
	CUdevice dev;
	int n = 0;

	CALL(s, cuDeviceGetCount, &n);
	for (dev = 0; dev < n; dev++)
		if (!CALL(s, cuDeviceGetDefaultMemPool, &that, dev) && that == pool)
			return true;
	return false;
}

/* of other memory than a device's own, and of what is given away, no quota would know */
CUresult own_cuMemPoolCreate(struct server *s, CUmemoryPool *pool, const CUmemPoolProps *props)
{
	if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return REFUSE("a memory pool of managed memory",
			      "a server counts it by allocation");
	if (props->handleTypes)
		return REFUSE("a memory pool with handleTypes",
			      "a server can't give memory away as a descriptor or another handle; "
			      "cuIpcGetMemHandle() of memory by cuMemAlloc() works");
	return CALL(s, cuMemPoolCreate, pool, props);
}

CUresult own_cuMemPoolDestroy(struct server *s, CUmemoryPool pool)
{
	cuuint64_t none = 0;
	struct mempool *p;

	if (is_default(s, pool))
		return CUDA_ERROR_INVALID_VALUE;
	p = pool_of(s, pool);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	leave_pool(s, pool);
	CALL(s, cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none);
	p->ends = true;
	mempools_look(s);
	return CUDA_SUCCESS;
}

CUresult own_cuMemPoolTrimTo(struct server *s, CUmemoryPool pool, size_t keep)
{
	CUresult r = CALL(s, cuMemPoolTrimTo, pool, keep);

	mempools_look(s);
	return r;
}

static bool is_word(uint32_t attribute)
{
	return attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
}

CUresult frame_pool_get(struct server *s, const struct q_pool_get *q,
			struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_pool_get *a = kvgpu_remote_put(out, sizeof(*a));
	cuuint64_t word = 0;
	void *pool = NULL;
	CUresult r;

	if (!a || q->attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_find(s, CLASS_POOL, q->pool, &pool))
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuMemPoolGetAttribute, pool, q->attribute, &word);
	a->value = is_word(q->attribute) ? word : (uint32_t)word;
	return r;
}

CUresult frame_pool_set(struct server *s, const struct q_pool_set *q,
			struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	cuuint64_t word = q->value;
	void *pool = NULL;

	if (q->attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH ||
	    !handle_find(s, CLASS_POOL, q->pool, &pool))
		return CUDA_ERROR_INVALID_VALUE;
	return CALL(s, cuMemPoolSetAttribute, pool, q->attribute, &word);
}

CUresult frame_pool_access(struct server *s, const struct q_pool_access *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_pool_access *a = kvgpu_remote_put(out, sizeof(*a));
	CUmemLocation where = { CU_MEM_LOCATION_TYPE_DEVICE, q->dev };
	CUmemAccess_flags flags = 0;
	void *pool = NULL;
	CUresult r;

	if (!a || !handle_find(s, CLASS_POOL, q->pool, &pool))
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuMemPoolGetAccess, &flags, pool, &where);
	a->flags = flags;
	return r;
}

/* ------------------------------------------------------------------ memory of graphs */

enum { GRAPH_MEMORY_ATTRIBUTES = 4 };

CUresult frame_graph_memory(struct server *s, const struct q_graph_memory *q,
			    struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_graph_memory *a = kvgpu_remote_put(out, sizeof(*a));
	cuuint64_t value = 0;
	CUresult r;

	if (!a || q->attribute >= GRAPH_MEMORY_ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuDeviceGetGraphMemAttribute, q->dev, q->attribute, &value);
	a->value = value;
	return r;
}

CUresult frame_graph_memory_set(struct server *s, const struct q_graph_memory_set *q,
				struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	cuuint64_t value = q->value;

	if (q->attribute >= GRAPH_MEMORY_ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	return CALL(s, cuDeviceSetGraphMemAttribute, q->dev, q->attribute, &value);
}
