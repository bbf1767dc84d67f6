// SPDX-License-Identifier: GPL-2.0-only
/*
 * virtual: memory that a program maps by itself, memory of pools, and memory and events of another
 * program. Where the device says that it has none, the calls have to say so, too. Exit code 0: all
 * was right. The last line tells what was there.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

enum {
	VIRTUAL_MEMORY = 102,
	HOST_NUMA = 3,
	MEMORY_POOLS = 115,
	IPC_EVENT = 125,
	PAGES = 8,
	MOST = 64 << 20
};

static CUcontext ctx;
static CUstream stream;
static uint8_t bytes[3 << 20];

static int attribute(int what)
{
	int value = 0;

	if (cuDeviceGetAttribute(&value, what, 0))
		return 0;
	return value;
}

static void begin(void)
{
	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&ctx, 0));
	MUST(cuCtxSetCurrent(ctx));
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static uint64_t free_now(void)
{
	size_t is, all;

	MUST(cuMemGetInfo_v2(&is, &all));
	return is;
}

/* ------------------------------------------------------------------ memory that is mapped */

static const CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
					  .requestedHandleTypes = 1,
					  .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
static const CUmemAccessDesc both_ways = { { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
					   CU_MEM_ACCESS_FLAGS_PROT_READWRITE };

static void no_virtual_memory(void)
{
	CUmemGenericAllocationHandle h;
	CUdeviceptr at;

	FAILS(cuMemAddressReserve(&at, 2 << 20, 0, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
	FAILS(cuMemCreate(&h, 2 << 20, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
}

static void is_filled(CUdeviceptr at, uint8_t with, size_t n)
{
	size_t i;

	memset(bytes, 99, n);
	MUST(cuMemcpyDtoH_v2(bytes, at, n));
	for (i = 0; i < n; i++)
		CHECK(bytes[i] == with);
}

/* NCCL asks for the host's memory, and goes on without where it can't be made */
static void memory_of_host(size_t page)
{
	CUmemAllocationProp of_host = prop;
	CUmemGenericAllocationHandle h;
	size_t n;

	of_host.location.type = HOST_NUMA;
	MUST(cuMemGetAllocationGranularity(&n, &of_host, 0));
	CHECK(n == page);
	FAILS(cuMemCreate(&h, page, &of_host, 0), CUDA_ERROR_NOT_SUPPORTED);
}

static void virtual_memory(void)
{
	CUmemGenericAllocationHandle h[2], same;
	CUmemAllocationProp got;
	CUdeviceptr at, base;
	unsigned long long flags;
	size_t page, n;
	CUdeviceptr block = 0;

	MUST(cuMemGetAllocationGranularity(&page, &prop, 0));
	CHECK(page && page <= 2 << 20);
	memory_of_host(page);
	MUST(cuMemAddressReserve(&at, PAGES * page, 0, 0, 0));
	MUST(cuMemCreate(&h[0], page, &prop, 0));
	MUST(cuMemCreate(&h[1], page, &prop, 0));
	MUST(cuMemMap(at, page, 0, h[0], 0));
	MUST(cuMemMap(at + page, page, 0, h[1], 0));
	MUST(cuMemGetAccess(&flags, &both_ways.location, at));
	CHECK(!flags);
	FAILS(cuMemsetD8_v2(at, 1, 16), CUDA_ERROR_INVALID_VALUE);
	MUST(cuMemSetAccess(at, 2 * page, &both_ways, 1));
	MUST(cuMemGetAccess(&flags, &both_ways.location, at));
	CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	/* one copy, and one fill, may be of several mappings, in whatever form */
	MUST(cuMemsetD8_v2(at, 7, 2 * page));
	MUST(cuMemsetD8Async(at + page - 8, 8, 16, stream));
	MUST(cuStreamSynchronize(stream));
	is_filled(at + page - 8, 8, 16);
	is_filled(at, 7, 1000);
	MUST(cuMemcpy((CUdeviceptr)(uintptr_t)bytes, at, page + 1000));
	CHECK(bytes[0] == 7 && bytes[page] == 8 && bytes[page + 999] == 7);
	memset(bytes, 5, sizeof(bytes));
	MUST(cuMemcpyHtoD_v2(at + 100, bytes, page));
	is_filled(at + 100, 5, page);
	FAILS(cuMemsetD8_v2(at, 7, 2 * page + 1), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpyDtoH_v2(bytes, at + 4 * page, 16), CUDA_ERROR_INVALID_VALUE);
	/* what is there */
	MUST(cuMemGetAddressRange_v2(&base, &n, at + page + 5));
	CHECK(base == at + page && n == page);
	MUST(cuPointerGetAttribute(&block, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, at + page + 5));
	CHECK(block == at + page);
	MUST(cuPointerGetAttribute(&block, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at + page + 5));
	CHECK(block == at);
	MUST(cuMemGetAllocationPropertiesFromHandle(&got, h[0]));
	CHECK(got.location.type == CU_MEM_LOCATION_TYPE_DEVICE && !got.location.id);
	/* references */
	MUST(cuMemRetainAllocationHandle(&same, (void *)(uintptr_t)(at + 5)));
	CHECK(same == h[0]);
	MUST(cuMemRelease(same));
	MUST(cuMemRelease(h[0]));
	MUST(cuMemRelease(h[1]));
	FAILS(cuMemRelease(h[1]), CUDA_ERROR_INVALID_VALUE);
	is_filled(at + 100, 5, page);
	/* the memory is no context's */
	MUST(cuStreamDestroy_v2(stream));
	MUST(cuDevicePrimaryCtxReset_v2(0));
	begin();
	is_filled(at + 100, 5, page);
	MUST(cuMemUnmap(at, 2 * page));
	FAILS(cuMemsetD8_v2(at, 7, 1), CUDA_ERROR_INVALID_VALUE);
	MUST(cuMemAddressFree(at, PAGES * page));
}

/* ------------------------------------------------------------------ pools */

static void no_pools(void)
{
	CUmemoryPool pool;
	CUdeviceptr at;

	FAILS(cuDeviceGetDefaultMemPool(&pool, 0), CUDA_ERROR_NOT_SUPPORTED);
	FAILS(cuMemAllocAsync(&at, 1 << 20, stream), CUDA_ERROR_NOT_SUPPORTED);
	FAILS(cuMemFreeAsync(4096, stream), CUDA_ERROR_NOT_SUPPORTED);
}

static uint64_t reserved(CUmemoryPool pool)
{
	cuuint64_t value;

	MUST(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
	return value;
}

static void own_pool(CUmemoryPool normal)
{
	const CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				       .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
	CUmemLocation device = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
	CUmemAccess_flags flags;
	CUmemoryPool pool, now;
	CUdeviceptr at;

	MUST(cuMemPoolCreate(&pool, &props));
	MUST(cuMemPoolGetAccess(&flags, pool, &device));
	CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	MUST(cuMemPoolSetAccess(pool, &both_ways, 1));
	MUST(cuDeviceSetMemPool(0, pool));
	MUST(cuDeviceGetMemPool(&now, 0));
	CHECK(now == pool);
	MUST(cuMemAllocAsync(&at, 1 << 20, stream));
	MUST(cuPointerGetAttribute(&now, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, at));
	CHECK(now == pool);
	MUST(cuMemPoolDestroy(pool));
	FAILS(cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
	MUST(cuDeviceGetMemPool(&now, 0));
	CHECK(now == normal);
	/* its memory stays until it is freed */
	MUST(cuMemsetD8Async(at, 3, 1 << 20, stream));
	MUST(cuStreamSynchronize(stream));
	is_filled(at, 3, 1 << 20);
	MUST(cuMemFreeAsync(at, stream));
	MUST(cuStreamSynchronize(stream));
}

static void pools(void)
{
	cuuint64_t all = UINT64_MAX;
	CUmemoryPool pool;
	CUdeviceptr a, b;
	uint64_t before;
	size_t n;

	MUST(cuDeviceGetDefaultMemPool(&pool, 0));
	before = free_now();
	MUST(cuMemAllocAsync(&a, MOST, stream));
	MUST(cuMemsetD8Async(a, 6, MOST, stream));
	MUST(cuMemAllocAsync(&b, 1 << 20, stream));
	MUST(cuMemcpyDtoDAsync_v2(b, a + MOST - (1 << 20), 1 << 20, stream));
	MUST(cuMemFreeAsync(a, stream));
	MUST(cuStreamSynchronize(stream));
	is_filled(b, 6, 1 << 20);
	MUST(cuMemGetAddressRange_v2(&a, &n, b + 5));
	CHECK(a == b && n == 1 << 20);
	MUST(cuMemFreeAsync(b, stream));
	MUST(cuStreamSynchronize(stream));
	/* what is free goes back when the program waits, as its threshold says */
	CHECK(!reserved(pool));
	CHECK(free_now() == before);
	MUST(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	MUST(cuMemAllocAsync(&a, MOST, stream));
	MUST(cuMemFreeAsync(a, stream));
	MUST(cuStreamSynchronize(stream));
	CHECK(reserved(pool) >= MOST);
	MUST(cuMemPoolTrimTo(pool, 0));
	CHECK(!reserved(pool));
	FAILS(cuMemFreeAsync(0x123000, stream), CUDA_ERROR_INVALID_VALUE);
	own_pool(pool);
}

/* ------------------------------------------------------------------ another program */

/* what the first program tells the second one */
struct told {
	CUipcMemHandle memory;
	CUipcEventHandle event;
	bool has_memory;
};

static void put(int to, const void *p, size_t n)
{
	CHECK(write(to, p, n) == (ssize_t)n);
}

static void take(int from, void *p, size_t n)
{
	CHECK(read(from, p, n) == (ssize_t)n);
}

static void wait_for_go(void *from)
{
	char go;

	take(*(int *)from, &go, 1);
}

/* opens what it is told: the event has not happened before the other program lets it */
static void second(int from, int to)
{
	CUdeviceptr at = 0, again;
	struct told told;
	CUipcEventHandle wrong;
	CUevent event;

	take(from, &told, sizeof(told));
	begin();
	wrong = told.event;
	wrong.reserved[20] ^= 1;
	FAILS(cuIpcOpenEventHandle(&event, wrong), CUDA_ERROR_MAP_FAILED);
	MUST(cuIpcOpenEventHandle(&event, told.event));
	FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	if (told.has_memory) {
		CUipcMemHandle other = told.memory;

		other.reserved[40] ^= 1;
		FAILS(cuIpcOpenMemHandle_v2(&at, other, 1), CUDA_ERROR_INVALID_VALUE);
		MUST(cuIpcOpenMemHandle_v2(&at, told.memory, 1));
		MUST(cuIpcOpenMemHandle_v2(&again, told.memory, 1));
		CHECK(again == at);
		MUST(cuIpcCloseMemHandle(at));
	}
	put(to, "", 1);
	MUST(cuStreamWaitEvent(stream, event, 0));
	if (at) {
		memset(bytes, 0, 1000);
		MUST(cuMemcpyDtoHAsync_v2(bytes, at, 1000, stream));
		MUST(cuStreamSynchronize(stream));
		CHECK(bytes[0] == 9 && bytes[999] == 9);
		MUST(cuMemsetD8_v2(at, 10, 1000));
		MUST(cuIpcCloseMemHandle(at));
		FAILS(cuIpcCloseMemHandle(at), CUDA_ERROR_INVALID_VALUE);
	}
	MUST(cuEventSynchronize(event));
	MUST(cuEventQuery(event));
	/* and the other way round */
	MUST(cuEventRecord(event, stream));
	MUST(cuEventSynchronize(event));
	put(to, "", 1);
	take(from, bytes, 1);
	exit(0);
}

static bool first(int from, int to, int go)
{
	CUdeviceptr at;
	struct told told = { 0 };
	CUevent event, plain;
	char heard;
	CUresult r;

	MUST(cuMemAlloc_v2(&at, 1 << 20));
	MUST(cuMemsetD8_v2(at, 0, 1 << 20));
	r = cuIpcGetMemHandle(&told.memory, at);
	CHECK(!r || r == CUDA_ERROR_NOT_SUPPORTED);
	told.has_memory = !r;
	FAILS(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
	MUST(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
	FAILS(cuIpcGetEventHandle(&told.event, plain), CUDA_ERROR_INVALID_HANDLE);
	MUST(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	MUST(cuLaunchHostFunc(stream, wait_for_go, &go));
	MUST(cuMemsetD8Async(at, 9, 1 << 20, stream));
	MUST(cuEventRecord(event, stream));
	MUST(cuIpcGetEventHandle(&told.event, event));
	put(to, &told, sizeof(told));
	take(from, &heard, 1);
	FAILS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	return told.has_memory;
}

static bool two_programs(void)
{
	int there[2], back[2], go[2], status;
	bool has_memory;
	char heard;
	pid_t pid;

	CHECK(!pipe(there) && !pipe(back) && !pipe(go));
	pid = fork();
	/* if one program ends, the other one does not wait for its word */
	if (!pid) {
		close(there[1]);
		second(there[0], back[1]);
	}
	close(back[1]);
	begin();
	if (!attribute(IPC_EVENT)) {
		put(there[1], "", 1);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return false;
	}
	has_memory = first(back[0], there[1], go[0]);
	put(go[1], "", 1);
	take(back[0], &heard, 1);
	put(there[1], "", 1);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	return has_memory;
}

/* virtual [alone]: alone: without another program */
int main(int argc, char **argv)
{
	bool shares = false, maps, has_pools;

	if (argc > 1 && !strcmp(argv[1], "alone"))
		begin();
	else
		shares = two_programs(); /* before cuInit(): children of fork() have no GPU */
	maps = attribute(VIRTUAL_MEMORY);
	has_pools = attribute(MEMORY_POOLS);
	if (has_pools)
		pools();
	else
		no_pools();
	if (maps)
		virtual_memory();
	else
		no_virtual_memory();
	printf("%s virtual memory, %s pools, events%s of other programs\n", maps ? "with" : "no",
	       has_pools ? "with" : "no", shares ? " and memory" : "");
	return 0;
}
