// SPDX-License-Identifier: MIT
/*
 * Memory that cuMemCreate() makes, pools, and what programs of one client share, on a library that
 * only counts.
 */
#include <unistd.h>

#include "ask.h"

enum { PAGE = 2 << 20, KEPT = 16 };

#define ON_DEVICE                                   \
	{                                           \
		.type = CU_MEM_LOCATION_TYPE_DEVICE \
	}

/* ------------------------------------------------------------------ memory that is mapped */

/* the library's references to its allocations: it does not look whether a handle is one */
static struct {
	unsigned int refs, maps;
	CUmemAllocationProp prop;
} kept[KEPT];
static unsigned int nr_kept;

static unsigned int index_of(CUmemGenericAllocationHandle h)
{
	assert_in_range(h, 1, nr_kept);
	assert_true(kept[h - 1].refs || kept[h - 1].maps);
	return h - 1;
}

static CUresult create(CUmemGenericAllocationHandle *h, size_t bytes, const CUmemAllocationProp *p,
		       unsigned long long flags)
{
	if (fake_error)
		return fake_error;
	kept[nr_kept].refs = 1;
	kept[nr_kept].maps = 0;
	kept[nr_kept].prop = *p;
	*h = ++nr_kept;
	return CUDA_SUCCESS;
}

static CUresult release(CUmemGenericAllocationHandle h)
{
	unsigned int i = index_of(h);

	assert_true(kept[i].refs);
	kept[i].refs--;
	return CUDA_SUCCESS;
}

static CUresult map(CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle h,
		    unsigned long long flags)
{
	kept[index_of(h)].maps++;
	return fake_error;
}

static CUresult unmap(CUdeviceptr ptr, size_t bytes)
{
	return fake_error;
}

static CUresult retain(CUmemGenericAllocationHandle *h, void *at)
{
	*h = (uintptr_t)at / PAGE;
	kept[index_of(*h)].refs++;
	return CUDA_SUCCESS;
}

static uint64_t made(uint64_t bytes)
{
	return GET(handle, cuMemCreate, .prop = { .type = 1, .location = ON_DEVICE },
		   .size = bytes);
}

static int begin_physical(void **state)
{
	set_up(state);
	nr_kept = 0;
	s.library.cuMemCreate = create;
	s.library.cuMemRelease = release;
	s.library.cuMemMap = map;
	s.library.cuMemUnmap = unmap;
	s.library.cuMemRetainAllocationHandle = retain;
	s.options.memory = 4 * PAGE;
	return 0;
}

/* no context is needed, and none ends it */
TEST_WITH(physical_memory, begin_physical, tear_down)
{
	uint64_t a = made(PAGE), b = made(2 * PAGE);

	assert_int_equal(s.quota.charged, 3 * PAGE);
	FAILS(ASK(cuMemCreate, .prop = { .type = 1, .location = ON_DEVICE }, .size = 2 * PAGE),
	      OUT_OF_MEMORY);
	assert_int_equal(nr_kept, 2);
	OK(ASK(cuMemRelease, .handle = a));
	assert_int_equal(s.quota.charged, 2 * PAGE);
	FAILS(ASK(cuMemRelease, .handle = a), INVALID_VALUE);
	FAILS(ASK(cuMemMap, .ptr = PAGE, .size = PAGE, .handle = a), INVALID_VALUE);
	OK(ASK(cuCtxDestroy_v2, .ctx = context()));
	OK(ASK(cuMemRelease, .handle = b));
	assert_int_equal(s.quota.charged, 0);
	fake_error = CUDA_ERROR_OUT_OF_MEMORY;
	FAILS(ASK(cuMemCreate, .prop = { .type = 1, .location = ON_DEVICE }, .size = PAGE),
	      OUT_OF_MEMORY);
	assert_int_equal(s.quota.charged, 0);
	assert_null(s.physicals.list);
}

/* memory that was released counts as long as it is mapped */
TEST_WITH(mapped_memory, begin_physical, tear_down)
{
	uint64_t a = made(PAGE), b = made(PAGE), again;

	OK(ASK(cuMemMap, .ptr = PAGE, .size = PAGE, .handle = a));
	OK(ASK(cuMemMap, .ptr = 2 * PAGE, .size = PAGE, .handle = b));
	OK(ASK(cuMemMap, .ptr = 8 * PAGE, .size = PAGE, .handle = a));
	OK(ASK(cuMemRelease, .handle = a));
	OK(ASK(cuMemRelease, .handle = b));
	FAILS(ASK(cuMemMap, .ptr = 4 * PAGE, .size = PAGE, .handle = a), INVALID_VALUE);
	assert_int_equal(s.quota.charged, 2 * PAGE);
	fake_error = CUDA_ERROR_INVALID_VALUE;
	FAILS(ASK(cuMemUnmap, .ptr = PAGE, .size = PAGE / 2), INVALID_VALUE);
	fake_error = CUDA_SUCCESS;
	assert_int_equal(s.quota.charged, 2 * PAGE);
	/* by an address in it */
	again = GET(handle, cuMemRetainAllocationHandle, .at = 2 * PAGE + 5);
	assert_int_equal(GET(handle, cuMemRetainAllocationHandle, .at = 2 * PAGE), again);
	OK(ASK(cuMemUnmap, .ptr = PAGE, .size = 2 * PAGE));
	assert_int_equal(s.quota.charged, 2 * PAGE);
	OK(ASK(cuMemUnmap, .ptr = 8 * PAGE, .size = PAGE));
	assert_int_equal(s.quota.charged, PAGE);
	OK(ASK(cuMemRelease, .handle = again));
	OK(ASK(cuMemRelease, .handle = again));
	FAILS(ASK(cuMemRelease, .handle = again), INVALID_VALUE);
	assert_int_equal(s.quota.charged, 0);
	FAILS(ASK(cuMemRetainAllocationHandle, .at = 2 * PAGE), INVALID_VALUE);
	FAILS(ASK(cuMemRetainAllocationHandle, .at = UINT64_MAX), INVALID_VALUE);
}

/* what no quota would count, or could be given away */
TEST_WITH(other_memory, begin_physical, tear_down)
{
	const CUmemAllocationProp fd = { .type = 1,
					 .requestedHandleTypes = 1,
					 .win32HandleMetaData = &s,
					 .location = ON_DEVICE };

	FAILS(ASK(cuMemCreate, .prop = { .type = 1, .location = { .type = 2 } }, .size = PAGE),
	      NOT_SUPPORTED);
	FAILS(ASK(cuMemCreate, .prop = { .type = 2, .location = ON_DEVICE }, .size = PAGE),
	      NOT_SUPPORTED);
	FAILS(ASK(cuMemCreate,
		  .prop = { .type = 1, .requestedHandleTypes = 9, .location = ON_DEVICE },
		  .size = PAGE),
	      NOT_SUPPORTED);
	FAILS(ASK(cuMemPoolCreate, .props = { .allocType = 2, .location = ON_DEVICE }),
	      NOT_SUPPORTED);
	FAILS(ASK(cuMemPoolCreate, .props = { .allocType = 1, .location = { .type = 3 } }),
	      NOT_SUPPORTED);
	FAILS(ASK(cuMemPoolCreate,
		  .props = { .allocType = 1, .handleTypes = 1, .location = ON_DEVICE }),
	      NOT_SUPPORTED);
	assert_int_equal(nr_kept, 0);
	OK(ASK(cuMemCreate, .prop = fd, .size = PAGE));
	assert_int_equal(kept[0].prop.requestedHandleTypes, 0);
	assert_null(kept[0].prop.win32HandleMetaData);
	OK(ASK(cuMemPoolCreate, .props = { .allocType = 1, .location = ON_DEVICE }));
}

static CUmemAccessDesc said[4];

static CUresult set_access(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *list, size_t n)
{
	assert_in_range(n, 1, 4);
	memcpy(said, list, n * sizeof(*list));
	return CUDA_SUCCESS;
}

TEST_WITH(access_to_memory, begin_physical, tear_down)
{
	struct {
		struct q_access q;
		uint32_t pair[2][2];
	} f = { .q = { .ptr = PAGE, .bytes = PAGE, .devices = 2 }, .pair = { { 3, 1 }, { 1, 3 } } };

	s.library.cuMemSetAccess = set_access;
	OK(fake_frame(&s, OP_access, &f, sizeof(f)));
	assert_int_equal(said[0].location.id, 3);
	assert_int_equal(said[0].location.type, CU_MEM_LOCATION_TYPE_DEVICE);
	assert_int_equal(said[1].location.id, 1);
	assert_int_equal(said[1].flags, 3);
	f.q.devices = 3; /* more than there are in the frame */
	FAILS(fake_frame(&s, OP_access, &f, sizeof(f)), INVALID_VALUE);
	f.q.devices = 1;
	FAILS(fake_frame(&s, OP_access, &f, sizeof(f)), INVALID_VALUE);
	f.q.devices = UINT32_MAX;
	FAILS(fake_frame(&s, OP_access, &f, sizeof(f)), INVALID_VALUE);
	f.q.devices = 2;
	f.q.pool = 77;
	FAILS(fake_frame(&s, OP_access, &f, sizeof(f)), INVALID_VALUE);
}

/* ------------------------------------------------------------------ pools */

/* NVIDIA's pools reserve in such pieces */
enum { CHUNK = 32 << 20 };

/* the device's own, and another one */
static struct pool_model {
	bool is, waits;
	uint64_t used, reserved, threshold;
} model[2];
static int current_model;
static struct {
	CUdeviceptr ptr;
	uint64_t bytes;
	struct pool_model *of;
} taken[KEPT];
static unsigned int nr_taken;

static struct pool_model *model_of(CUmemoryPool pool)
{
	struct pool_model *m = (struct pool_model *)pool;

	assert_true((m == &model[0] || m == &model[1]) && m->is);
	return m;
}

static CUresult get_pool(CUmemoryPool *pool, CUdevice dev)
{
	*pool = (CUmemoryPool)&model[current_model];
	return dev ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

static CUresult get_default(CUmemoryPool *pool, CUdevice dev)
{
	*pool = (CUmemoryPool)&model[0];
	return dev ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

static CUresult set_pool(CUdevice dev, CUmemoryPool pool)
{
	current_model = model_of(pool) - model;
	return CUDA_SUCCESS;
}

static CUresult create_pool(CUmemoryPool *pool, const CUmemPoolProps *props)
{
	assert_false(model[1].is);
	model[1] = (struct pool_model){ .is = true };
	*pool = (CUmemoryPool)&model[1];
	return CUDA_SUCCESS;
}

static CUresult destroy_pool(CUmemoryPool pool)
{
	struct pool_model *m = model_of(pool);

	assert_ptr_equal(m, &model[1]);
	m->is = false;
	return CUDA_SUCCESS;
}

static CUresult alloc_from(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream)
{
	struct pool_model *m = model_of(pool);
	static CUdeviceptr next = 1ull << 40;

	if (fake_error)
		return fake_error;
	assert_true(nr_taken < KEPT);
	m->used += bytes;
	while (m->reserved < m->used)
		m->reserved += CHUNK;
	*ptr = next += 1ull << 32;
	taken[nr_taken].ptr = *ptr;
	taken[nr_taken].bytes = bytes;
	taken[nr_taken++].of = m;
	return CUDA_SUCCESS;
}

static CUresult alloc_async(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
	return alloc_from(ptr, bytes, (CUmemoryPool)&model[current_model], stream);
}

static CUresult free_async(CUdeviceptr ptr, CUstream stream)
{
	unsigned int i;

	for (i = 0; i < nr_taken && taken[i].ptr != ptr; i++)
		;
	assert_in_range(i, 0, nr_taken - 1);
	taken[i].of->used -= taken[i].bytes;
	taken[i] = taken[--nr_taken];
	return CUDA_SUCCESS;
}

/* what is free goes back to the system, if the stream has come so far */
static CUresult trim(CUmemoryPool pool, size_t keep)
{
	struct pool_model *m = model_of(pool);

	while (!m->waits && m->reserved >= m->used + CHUNK && m->reserved > keep)
		m->reserved -= CHUNK;
	return CUDA_SUCCESS;
}

static CUresult synchronize(CUstream stream)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (model[i].is)
			trim((CUmemoryPool)&model[i], model[i].threshold);
	return CUDA_SUCCESS;
}

static CUresult get_attribute(CUmemoryPool pool, CUmemPool_attribute what, void *value)
{
	struct pool_model *m = model_of(pool);

	*(uint64_t *)value = what == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ? m->reserved :
			     what == CU_MEMPOOL_ATTR_USED_MEM_CURRENT	  ? m->used :
									    m->threshold;
	return CUDA_SUCCESS;
}

static CUresult set_attribute(CUmemoryPool pool, CUmemPool_attribute what, void *value)
{
	if (what == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		model_of(pool)->threshold = *(uint64_t *)value;
	return CUDA_SUCCESS;
}

static int begin_pools(void **state)
{
	set_up(state);
	memset(model, 0, sizeof(model));
	model[0].is = true;
	current_model = 0;
	nr_taken = 0;
	s.library.cuDeviceGetMemPool = get_pool;
	s.library.cuDeviceGetDefaultMemPool = get_default;
	s.library.cuDeviceSetMemPool = set_pool;
	s.library.cuMemPoolCreate = create_pool;
	s.library.cuMemPoolDestroy = destroy_pool;
	s.library.cuMemPoolTrimTo = trim;
	s.library.cuMemPoolGetAttribute = get_attribute;
	s.library.cuMemPoolSetAttribute = set_attribute;
	s.library.cuMemAllocAsync = alloc_async;
	s.library.cuMemAllocFromPoolAsync = alloc_from;
	s.library.cuMemFreeAsync = free_async;
	s.library.cuStreamSynchronize = synchronize;
	s.options.memory = 4 * CHUNK;
	context();
	return 0;
}

static uint64_t taken_async(uint64_t bytes)
{
	return GET(ptr, cuMemAllocAsync, .bytes = bytes);
}

/* the quota counts what a pool has reserved, also where the program has given it back */
TEST_WITH(pools_in_quota, begin_pools, tear_down)
{
	uint64_t a = taken_async(1000), b;

	assert_int_equal(s.quota.charged, CHUNK);
	b = taken_async(CHUNK / 2);
	assert_int_equal(s.quota.charged, CHUNK);
	FAILS(ASK(cuMemAllocAsync, .bytes = 4 * CHUNK), OUT_OF_MEMORY);
	FAILS(ASK(cuMemAllocAsync, .bytes = UINT64_MAX), OUT_OF_MEMORY);
	FAILS(ASK(cuMemAlloc_v2, .bytes = 3 * CHUNK + 1), OUT_OF_MEMORY);
	assert_int_equal(s.quota.charged, CHUNK);
	OK(ASK(cuMemFreeAsync, .ptr = a));
	OK(ASK(cuMemFree_v2, .ptr = b));
	assert_int_equal(s.quota.charged, CHUNK);
	model[0].used = 0; /* this library does not know cuMemFree() */
	OK(ASK(cuStreamSynchronize, .stream = 0));
	assert_int_equal(s.quota.charged, 0);
	OK(ASK(cuMemAlloc_v2, .bytes = 4 * CHUNK));
}

/* What a stream has still to give back when another one is waited for is given back later. */
TEST_WITH(given_back_later, begin_pools, tear_down)
{
	uint64_t a = taken_async(CHUNK), b = taken_async(CHUNK);

	model[0].waits = true;
	OK(ASK(cuMemFreeAsync, .ptr = a));
	OK(ASK(cuStreamSynchronize, .stream = 0));
	OK(ASK(cuStreamSynchronize, .stream = 0));
	assert_int_equal(s.quota.charged, 2 * CHUNK);
	model[0].waits = false;
	OK(ASK(cuStreamSynchronize, .stream = 0));
	assert_int_equal(s.quota.charged, CHUNK);
	/* where nothing can be given back no wait is the library's */
	assert_false(s.mempools.changed);
	model[0].threshold = UINT64_MAX;
	OK(ASK(cuMemFreeAsync, .ptr = b));
	OK(ASK(cuStreamSynchronize, .stream = 0));
	assert_false(s.mempools.changed);
	assert_int_equal(s.quota.charged, CHUNK);
}

/* A pool that needs more than was foreseen: the allocation is undone. */
TEST_WITH(a_pool_takes_more, begin_pools, tear_down)
{
	s.options.memory = CHUNK + CHUNK / 2;
	taken_async(CHUNK);
	FAILS(ASK(cuMemAllocAsync, .bytes = 512), OUT_OF_MEMORY);
	assert_int_equal(model[0].used, CHUNK);
	assert_int_equal(model[0].reserved, CHUNK);
	assert_int_equal(s.quota.charged, CHUNK);
	fake_error = CUDA_ERROR_OUT_OF_MEMORY;
	FAILS(ASK(cuMemAllocAsync, .bytes = 512), OUT_OF_MEMORY);
	assert_int_equal(s.quota.charged, CHUNK);
}

static CUresult alloc_behind_others(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
	CUresult r = alloc_async(ptr, bytes, stream);

	model[0].reserved += bytes; /* what is free is another stream's, and that one waits */
	return r;
}

/* What a pool can't give back when the allocation is undone counts, also beyond the limit. */
TEST_WITH(a_pool_keeps_more, begin_pools, tear_down)
{
	unsigned int i;

	FAILS(ASK(cuMemAllocAsync, .bytes = 5 * CHUNK), OUT_OF_MEMORY);
	s.library.cuMemAllocAsync = alloc_behind_others;
	model[0].waits = true;
	for (i = 0; i < 10; i++)
		FAILS(ASK(cuMemAllocAsync, .bytes = 3 * CHUNK), OUT_OF_MEMORY);
	assert_int_equal(model[0].reserved, 6 * CHUNK);
	assert_int_equal(s.quota.charged, 6 * CHUNK);
	FAILS(ASK(cuMemAlloc_v2, .bytes = 512), OUT_OF_MEMORY);
	assert_int_equal(GET(free, cuMemGetInfo_v2, .want = 3), 0);
	model[0].waits = false;
	OK(ASK(cuStreamSynchronize, .stream = 0));
	assert_int_equal(s.quota.charged, 0);
	OK(ASK(cuMemAlloc_v2, .bytes = 4 * CHUNK));
}

/* the library would hang at an address that it has freed */
TEST_WITH(free_only_once, begin_pools, tear_down)
{
	uint64_t a = taken_async(1000), other;

	OK(ASK(cuMemFreeAsync, .ptr = a));
	FAILS(ASK(cuMemFreeAsync, .ptr = a), INVALID_VALUE);
	FAILS(ASK(cuMemFreeAsync, .ptr = 4096), INVALID_VALUE);
	/* not a pool's: freed at once, as it is in no pool that would count it */
	other = GET(ptr, cuMemAlloc_v2, .bytes = CHUNK);
	OK(ASK(cuMemFreeAsync, .ptr = other));
	FAILS(ASK(cuMemFreeAsync, .ptr = other), INVALID_VALUE);
	assert_int_equal(s.quota.charged, CHUNK);
	/* no context has it */
	a = taken_async(1000);
	OK(ASK(cuCtxDestroy_v2, .ctx = s.current));
	context();
	OK(ASK(cuMemFreeAsync, .ptr = a));
}

/* A destroyed pool lives, and counts, until the memory that is from it is given back. */
TEST_WITH(a_pool_ends_later, begin_pools, tear_down)
{
	uint64_t pool, a, b;

	pool = GET(pool, cuMemPoolCreate, .props = { .allocType = 1, .location = ON_DEVICE });
	OK(ASK(pool_set, .pool = pool, .attribute = 4, .value = UINT64_MAX));
	OK(ASK(cuDeviceSetMemPool, .pool = pool));
	a = GET(ptr, cuMemAllocFromPoolAsync, .pool = pool, .bytes = CHUNK);
	b = taken_async(CHUNK);
	assert_int_equal(s.quota.charged, 2 * CHUNK);
	OK(ASK(cuMemPoolDestroy, .pool = pool));
	FAILS(ASK(cuMemPoolDestroy, .pool = pool), INVALID_VALUE);
	FAILS(ASK(cuMemAllocFromPoolAsync, .pool = pool, .bytes = CHUNK), INVALID_VALUE);
	assert_true(model[1].is);
	assert_int_equal(s.quota.charged, 2 * CHUNK);
	/* the device takes its own pool again */
	pool = GET(pool, cuDeviceGetMemPool, .dev = 0);
	assert_int_equal(current_model, 0);
	OK(ASK(cuMemFreeAsync, .ptr = a));
	OK(ASK(cuStreamSynchronize, .stream = 0));
	assert_int_equal(s.quota.charged, CHUNK);
	model[1].waits = true; /* given back behind a kernel that goes on */
	OK(ASK(cuMemFreeAsync, .ptr = b));
	OK(ASK(cuMemGetInfo_v2, .want = 3));
	assert_true(model[1].is);
	assert_int_equal(s.quota.charged, CHUNK);
	model[1].waits = false;
	OK(ASK(cuStreamSynchronize, .stream = 0));
	assert_false(model[1].is);
	assert_int_equal(s.quota.charged, 0);
	FAILS(ASK(cuMemPoolDestroy, .pool = pool), INVALID_VALUE);
}

static CUresult pool_of_pointer(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	assert_int_equal(attribute, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
	*(void **)data = &model[ptr != taken[0].ptr];
	return CUDA_SUCCESS;
}

/* A pool has a number until it is destroyed, although memory that is from it tells the pool. */
TEST_WITH(a_pool_without_a_number, begin_pools, tear_down)
{
	uint64_t pool, a = taken_async(CHUNK), b;

	s.library.cuPointerGetAttribute = pool_of_pointer;
	pool = GET(pool, cuMemPoolCreate, .props = { .allocType = 1, .location = ON_DEVICE });
	b = GET(ptr, cuMemAllocFromPoolAsync, .pool = pool, .bytes = CHUNK);
	assert_int_equal(GET(value, pointer, .ptr = b,
			     .attribute = CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE),
			 pool);
	OK(ASK(cuMemPoolDestroy, .pool = pool));
	assert_int_equal(
		GET(value, pointer, .ptr = b, .attribute = CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE), 0);
	/* the device's own pool, which the client has not asked for */
	pool = GET(value, pointer, .ptr = a, .attribute = CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
	OK(ASK(cuMemAllocFromPoolAsync, .pool = pool, .bytes = CHUNK));
}

TEST_WITH(attributes_of_pools, begin_pools, tear_down)
{
	uint64_t pool;

	pool = GET(pool, cuDeviceGetDefaultMemPool, .dev = 0);
	OK(ASK(pool_set, .pool = pool, .attribute = 4, .value = 1ull << 40));
	OK(ASK(pool_get, .pool = pool, .attribute = 4));
	assert_true(ANSWER(pool_get)->value == 1ull << 40);
	OK(ASK(pool_get, .pool = pool, .attribute = 1)); /* a library writes 4 bytes */
	assert_true(ANSWER(pool_get)->value <= UINT32_MAX);
	FAILS(ASK(pool_get, .pool = pool, .attribute = 99), INVALID_VALUE);
	FAILS(ASK(pool_set, .pool = pool, .attribute = 99), INVALID_VALUE);
	FAILS(ASK(pool_get, .pool = s.current, .attribute = 4), INVALID_VALUE);
	FAILS(ASK(graph_memory, .attribute = 4), INVALID_VALUE);
	OK(ASK(graph_memory, .attribute = 3));
}

static CUstreamCaptureStatus captures;

static CUresult capturing(CUstream stream, CUstreamCaptureStatus *status)
{
	*status = captures;
	return CUDA_SUCCESS;
}

/* What a capture allocates has no size that could be counted. */
TEST_WITH(memory_in_captures, begin_pools, tear_down)
{
	s.library.cuStreamIsCapturing = capturing;
	captures = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	FAILS(ASK(cuMemAllocAsync, .bytes = 1000), NOT_SUPPORTED);
	assert_int_equal(nr_taken, 0);
	s.options.memory = 0;
	taken_async(1000);
	captures = CU_STREAM_CAPTURE_STATUS_NONE;
	/* outside of the capture, as its graph leaves it to the program */
	OK(ASK(cuMemFreeAsync, .ptr = taken[0].ptr));
	assert_int_equal(nr_taken, 0);
}

/* ------------------------------------------------------------------ what programs share */

/* another program of the same client, and one of another */
static struct server second, stranger;
static int pool_fd[2];

static CUresult open_raw(CUdeviceptr *ptr, CUipcMemHandle raw, unsigned int flags)
{
	assert_int_equal(raw.reserved[0], 0x11); /* as fake_write() has made it */
	*ptr = 5ull << 40;
	return fake_error;
}

static unsigned int closed;

static CUresult close_raw(CUdeviceptr ptr)
{
	closed++;
	return CUDA_SUCCESS;
}

static CUresult range_of_it(CUdeviceptr *base, size_t *bytes, CUdeviceptr ptr)
{
	*base = 5ull << 40;
	*bytes = PAGE;
	return CUDA_SUCCESS;
}

static void with_pool(struct server *of, int fd, unsigned int row)
{
	of->quota.pool = pool_map(fd, 2);
	of->quota.program = row;
	of->quota.nr_programs = 2;
	of->library.cuIpcOpenMemHandle_v2 = open_raw;
	of->library.cuIpcCloseMemHandle = close_raw;
	of->library.cuMemGetAddressRange_v2 = range_of_it;
}

#define IN(server, name, ...) \
	fake_frame(server, OP_##name, &(struct q_##name){ __VA_ARGS__ }, sizeof(struct q_##name))

static int begin_shares(void **state)
{
	set_up(state);
	fake_begin(&second, 1 << 20);
	fake_begin(&stranger, 1 << 20);
	pool_fd[0] = pool_make(2);
	pool_fd[1] = pool_make(2);
	assert_true(pool_fd[0] >= 0 && pool_fd[1] >= 0);
	with_pool(&s, pool_fd[0], 0);
	with_pool(&second, pool_fd[0], 1);
	with_pool(&stranger, pool_fd[1], 0);
	closed = 0;
	context();
	OK(IN(&second, cuCtxCreate_v2, .dev = 0));
	OK(IN(&second, current, .ctx = ANSWER(cuCtxCreate_v2)->ctx));
	OK(IN(&stranger, cuCtxCreate_v2, .dev = 0));
	OK(IN(&stranger, current, .ctx = ANSWER(cuCtxCreate_v2)->ctx));
	return 0;
}

static int end_shares(void **state)
{
	struct server *all[] = { &stranger, &second, &s };
	unsigned int i;

	for (i = 0; i < 3; i++)
		fake_end(all[i]);
	close(pool_fd[0]);
	close(pool_fd[1]);
	return 0;
}

static struct q_share_open key;

static uint64_t shared(void)
{
	uint64_t ptr;

	ptr = GET(ptr, cuMemAlloc_v2, .bytes = PAGE);
	OK(ASK(cuIpcGetMemHandle, .ptr = ptr));
	memcpy(key.handle, ANSWER(cuIpcGetMemHandle)->handle.reserved, sizeof(key.handle));
	return ptr;
}

static CUresult opens(struct server *by)
{
	return fake_frame(by, OP_share_open, &key, sizeof(key));
}

TEST(shared_memory)
{
	struct q_share_open right;
	uint64_t ptr = shared();
	uint8_t raw[64];
	unsigned int i;

	FAILS(ASK(cuIpcGetMemHandle, .ptr = ptr + 4096), INVALID_VALUE);
	FAILS(ASK(cuIpcGetMemHandle, .ptr = 4096), INVALID_VALUE);
	/* one handle for one allocation; it is not the library's */
	OK(ASK(cuIpcGetMemHandle, .ptr = ptr));
	assert_memory_equal(ANSWER(cuIpcGetMemHandle)->handle.reserved, key.handle, 64);
	memset(raw, 0x11, sizeof(raw));
	assert_memory_not_equal(raw, key.handle, 64);
	OK(opens(&second));
	assert_int_equal(ANSWER(share_open)->ptr, 5ull << 40);
	assert_int_equal(ANSWER(share_open)->bytes, PAGE);
	assert_int_equal(second.quota.charged, PAGE);
	OK(IN(&second, cuIpcCloseMemHandle, .ptr = 5ull << 40));
	assert_int_equal(second.quota.charged, 0);
	/* not for another client, and not by another key */
	FAILS(opens(&stranger), INVALID_VALUE);
	right = key;
	for (i = 0; i < 64; i++) {
		key = right;
		key.handle[i] ^= 1 << i % 8;
		FAILS(opens(&second), INVALID_VALUE);
	}
	memset(key.handle, 0xff, sizeof(key.handle));
	FAILS(opens(&second), INVALID_VALUE);
	memset(key.handle, 0, sizeof(key.handle));
	FAILS(opens(&second), INVALID_VALUE);
	key = right;
	OK(ASK(cuMemFree_v2, .ptr = ptr));
	FAILS(opens(&second), INVALID_VALUE);
	ptr = shared();
	assert_memory_not_equal(key.handle, right.handle, 64);
	OK(opens(&second));
}

TEST(shared_memory_counts)
{
	shared();
	second.options.memory = 2 * PAGE; /* of both programs */
	OK(opens(&second));
	closed = 0;
	FAILS(opens(&second), OUT_OF_MEMORY);
	assert_int_equal(closed, 1);
	assert_int_equal(second.quota.charged, PAGE);
}

/* With its context, or its program, the memory ends for others. */
TEST(shared_memory_ends)
{
	shared();
	OK(ASK(cuCtxDestroy_v2, .ctx = s.current));
	FAILS(opens(&second), INVALID_VALUE);
	context();
	shared();
	pool_clear(second.quota.pool, 1); /* of another program */
	OK(opens(&second));
	pool_clear(second.quota.pool, 0);
	FAILS(opens(&second), INVALID_VALUE);
}

/* also where another context than the memory's was current when it was shared */
TEST(shared_memory_ends_with_its_context)
{
	uint64_t first = s.current, ptr;

	ptr = GET(ptr, cuMemAlloc_v2, .bytes = PAGE);
	context();
	OK(ASK(cuIpcGetMemHandle, .ptr = ptr));
	memcpy(key.handle, ANSWER(cuIpcGetMemHandle)->handle.reserved, sizeof(key.handle));
	OK(opens(&second));
	OK(ASK(cuCtxDestroy_v2, .ctx = first));
	assert_int_equal(s.quota.charged, 0);
	FAILS(opens(&second), INVALID_VALUE);
}

/* A process that is killed while it takes a share leaves it, and hides none behind it. */
TEST(killed_while_sharing)
{
	struct share *first = pool_shares(second.quota.pool);

	first->state = 2; /* of row 1, which has written no key yet */
	shared();
	OK(opens(&second));
	pool_clear(second.quota.pool, 1);
	assert_int_equal(first->state, 0);
	pool_clear(second.quota.pool, 0);
	FAILS(opens(&second), INVALID_VALUE);
}

TEST(no_more_shares)
{
	unsigned int i;

	for (i = 0; i < POOL_SHARES; i++)
		OK(ASK(cuEventCreate, .flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	FAILS(ASK(cuEventCreate, .flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
	      OUT_OF_MEMORY);
	OK(ASK(cuMemAlloc_v2, .bytes = PAGE));
	FAILS(ASK(cuIpcGetMemHandle, .ptr = ANSWER(cuMemAlloc_v2)->ptr), OUT_OF_MEMORY);
	OK(ASK(cuCtxDestroy_v2, .ctx = s.current));
	context();
	shared();
}

/* *here: an event of the first program; returns the number that the second one has for it */
static uint64_t event_of_both(uint64_t *here)
{
	struct q_cuIpcOpenEventHandle q = { 0 };

	*here = GET(event, cuEventCreate, .flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
	OK(ASK(cuIpcGetEventHandle, .event = *here));
	memcpy(&q.handle, &ANSWER(cuIpcGetEventHandle)->handle, sizeof(q.handle));
	FAILS(fake_frame(&stranger, OP_cuIpcOpenEventHandle, &q, sizeof(q)), MAP_FAILED);
	assert_int_equal(stranger.shares.events, 0);
	OK(fake_frame(&second, OP_cuIpcOpenEventHandle, &q, sizeof(q)));
	return ANSWER(cuIpcOpenEventHandle)->event;
}

static unsigned int waited; /* the library's waits of streams for events */

static CUresult wait_event(CUstream stream, CUevent event, unsigned int flags)
{
	waited++;
	return CUDA_SUCCESS;
}

TEST(shared_events)
{
	uint64_t here, there = event_of_both(&here);

	second.library.cuStreamWaitEvent = wait_event;
	waited = 0;
	OK(IN(&second, cuEventQuery, .event = there)); /* never recorded */
	OK(ASK(cuEventRecord, .event = here));
	fake_busy = 1;
	assert_false(waits_look(&s));
	FAILS(IN(&second, cuEventQuery, .event = there), NOT_READY);
	/* work behind it, and a thread that waits */
	fake_answers = 0;
	IN(&second, cuStreamWaitEvent, .event = there);
	IN(&second, cuEventSynchronize, .event = there);
	assert_false(waits_look(&second));
	assert_int_equal(fake_answers, 0);
	assert_int_equal(waited, 0);
	assert_false(waits_aside(&second));
	assert_true(waits_look(&s));
	assert_null(s.waits.list);
	assert_int_equal(fake_answers, 0); /* the record's frame was answered before */
	assert_true(waits_look(&second));
	assert_int_equal(fake_answers, 2);
	assert_int_equal(waited, 1);
	OK(IN(&second, cuEventQuery, .event = there));
	OK(IN(&second, cuStreamWaitEvent, .event = there));
	assert_int_equal(waited, 2);
	/* the other way round */
	OK(IN(&second, cuEventRecordWithFlags, .event = there));
	FAILS(ASK(cuEventQuery, .event = here), NOT_READY);
	assert_true(waits_look(&second));
	OK(ASK(cuEventQuery, .event = here));
}

/* who waits does not wait for a program, a context or an event that is gone */
TEST(shared_events_end)
{
	uint64_t here, there = event_of_both(&here);

	OK(ASK(cuEventRecord, .event = here));
	FAILS(IN(&second, cuEventQuery, .event = there), NOT_READY);
	OK(ASK(cuCtxDestroy_v2, .ctx = s.current));
	assert_null(s.waits.list);
	OK(IN(&second, cuEventQuery, .event = there));
	context();
	there = event_of_both(&here);
	OK(ASK(cuEventRecord, .event = here));
	FAILS(IN(&second, cuEventQuery, .event = there), NOT_READY);
	OK(ASK(cuEventDestroy_v2, .event = here));
	OK(IN(&second, cuEventQuery, .event = there));
	there = event_of_both(&here);
	OK(ASK(cuEventRecord, .event = here));
	IN(&second, cuStreamWaitEvent, .event = there);
	pool_clear(second.quota.pool, 0);
	assert_true(waits_look(&second));
	/* recorded by the program that has opened it, which ends */
	there = event_of_both(&here);
	OK(IN(&second, cuEventRecord, .event = there));
	FAILS(ASK(cuEventQuery, .event = here), NOT_READY);
	pool_clear(second.quota.pool, 1);
	OK(ASK(cuEventQuery, .event = here));
}

TEST(events_that_are_not_shared)
{
	struct q_cuIpcOpenEventHandle q = { 0 };
	uint64_t plain;

	FAILS(ASK(cuEventCreate, .flags = CU_EVENT_INTERPROCESS), INVALID_VALUE);
	plain = GET(event, cuEventCreate, .flags = CU_EVENT_DISABLE_TIMING);
	FAILS(ASK(cuIpcGetEventHandle, .event = plain), INVALID_HANDLE);
	FAILS(ASK(cuIpcOpenEventHandle, .handle = q.handle), MAP_FAILED);
	/* a key of memory is none of an event */
	shared();
	memcpy(q.handle.reserved, key.handle, sizeof(key.handle));
	FAILS(fake_frame(&second, OP_cuIpcOpenEventHandle, &q, sizeof(q)), MAP_FAILED);
	pool_unmap(stranger.quota.pool, 2);
	stranger.quota.pool = NULL;
	FAILS(IN(&stranger, cuEventCreate, .flags = 6), NOT_SUPPORTED);
	FAILS(opens(&stranger), INVALID_VALUE);
	stranger.quota.pool = pool_map(pool_fd[1], 2);
}

/* ------------------------------------------------------------------ what libnvidia-ml.so.1 asks */

static const struct a_usage *usage_of(struct server *of)
{
	OK(IN(of, usage, .dev = 0));
	return ANSWER(usage);
}

/* of the client's programs all, and of those of another client nothing; with a limit or without */
TEST(used_by_a_client)
{
	const uint64_t limits[] = { 0, 4 << 20 };
	const struct a_usage *a;
	unsigned int i;

	OK(IN(&s, init, .pid = 11));
	OK(IN(&second, init, .pid = 22));
	OK(IN(&stranger, init, .pid = 33));
	assert_int_equal(usage_of(&s)->programs, 0);
	for (i = 0; i < 2; i++) {
		s.options.memory = second.options.memory = stranger.options.memory = limits[i];
		OK(IN(&second, cuMemAlloc_v2, .bytes = 1 << 20));
		OK(IN(&stranger, cuMemAlloc_v2, .bytes = 1 << 19));
		assert_int_equal(usage_of(&s)->used, (i + 1) << 20);
	}
	a = usage_of(&s);
	assert_int_equal(a->total, 4 << 20);
	assert_int_equal(a->used, 2 << 20);
	assert_int_equal(a->programs, 1);
	assert_int_equal(a->pid[0], 22);
	assert_int_equal(a->bytes[0], 2 << 20);
	OK(ASK(cuMemAlloc_v2, .bytes = 1 << 10));
	a = usage_of(&second);
	assert_int_equal(a->used, (2 << 20) + (1 << 10));
	assert_int_equal(a->programs, 2);
	assert_int_equal(a->pid[0], 11);
	assert_int_equal(a->bytes[0], 1 << 10);
	/* without a limit the client may have all */
	s.options.memory = 0;
	assert_true(usage_of(&s)->total > 4 << 20);
	/* a program that has ended has nothing */
	pool_clear(s.quota.pool, 1);
	assert_int_equal(usage_of(&s)->used, 1 << 10);
	assert_int_equal(usage_of(&s)->programs, 1);
}

TEST_MAIN(begin_shares, end_shares)
