// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the flood's library: device memory that is there, as far as it is small, and copies of
 * one line, of lines, and fills, which a client can verify. All else is the fake library's. Copies
 * whose host memory is pinned may be made later, by the library's thread; where the call returns
 * before the copy is made, other memory of the host was read.
 */
#include <assert.h>
#include <stdlib.h>

#include "gpu.h"

enum { BLOCKS = 64, UNIT = 1 << 20, PINNED = 64 };

/* the serving thread's, as all here */
static struct block {
	CUdeviceptr at;
	size_t bytes;
	uint8_t *bytes_of; /* NULL: the row is free */
} blocks[BLOCKS];
static CUdeviceptr next_address = UNIT;

static struct pinned_part {
	const uint8_t *at; /* NULL: the row is free */
	size_t bytes;
} pinned[PINNED];

static struct library fake; /* the fake library's functions */
static uint64_t null_position;

uint64_t *memory_position(CUstream s)
{
	struct fake *f = (struct fake *)s;

	return f ? &f->before : &null_position;
}

/* the null stream waits for all others */
static uint64_t work_of(CUstream s)
{
	return s ? *memory_position(s) : queue_all();
}

/* Queues the work, or does it at once if no work is before it. */
static void submit(const struct work *w, CUstream s)
{
	if (queue_is_done(queue_all()) && !gpu_chance(8)) {
		queue_do(w);
		return;
	}
	queue_put(w);
	*memory_position(s) = queue_all();
}

/* ------------------------------------------------------------------ what is where */

static struct block *block_at(CUdeviceptr at)
{
	unsigned int i;

	for (i = 0; i < BLOCKS; i++)
		if (blocks[i].bytes_of && at - blocks[i].at < blocks[i].bytes)
			return &blocks[i];
	return NULL;
}

/* NULL: there is no such device memory */
static uint8_t *device(CUdeviceptr at, size_t n)
{
	struct block *b = block_at(at);

	return b && n && n <= b->bytes - (at - b->at) ? b->bytes_of + (at - b->at) : NULL;
}

static bool is_pinned(const void *p, size_t n)
{
	const uint8_t *at = p;
	unsigned int i;

	for (i = 0; i < PINNED; i++)
		if (pinned[i].at && at >= pinned[i].at && n <= pinned[i].bytes &&
		    (size_t)(at - pinned[i].at) <= pinned[i].bytes - n)
			return true;
	return false;
}

static void note_pinned(const void *at, size_t n)
{
	unsigned int i;

	for (i = 0; i < PINNED && pinned[i].at; i++)
		;
	if (i < PINNED)
		pinned[i] = (struct pinned_part){ at, n };
}

static void forget_pinned(const void *at)
{
	unsigned int i;

	for (i = 0; i < PINNED; i++)
		if (pinned[i].at == at)
			pinned[i].at = NULL;
}

static CUresult host_register(void *p, size_t n, unsigned int flags)
{
	CUresult r = fake.cuMemHostRegister_v2(p, n, flags);

	if (!r)
		note_pinned(p, n);
	return r;
}

static CUresult host_unregister(void *p)
{
	queue_drain(queue_all());
	forget_pinned(p);
	return fake.cuMemHostUnregister(p);
}

static CUresult host_alloc(void **p, size_t n, unsigned int flags)
{
	CUresult r = fake.cuMemHostAlloc(p, n, flags);

	if (!r)
		note_pinned(*p, n);
	return r;
}

static CUresult host_free(void *p)
{
	queue_drain(queue_all());
	forget_pinned(p);
	return fake.cuMemFreeHost(p);
}

static CUresult alloc(CUdeviceptr *p, size_t n)
{
	CUresult r = fake.cuMemAlloc_v2(p, n);
	unsigned int i;

	if (r)
		return r;
	*p = next_address;
	next_address += UNIT;
	for (i = 0; i < BLOCKS && blocks[i].bytes_of; i++)
		;
	if (i < BLOCKS && n && n <= UNIT)
		blocks[i] = (struct block){ *p, n, calloc(1, n) };
	return r;
}

static CUresult free_memory(CUdeviceptr at)
{
	CUresult r = fake.cuMemFree_v2(at);
	struct block *b = r ? NULL : block_at(at);

	if (!b || b->at != at)
		return r;
	queue_drain(queue_all());
	free(b->bytes_of);
	b->bytes_of = NULL;
	return r;
}

/* ------------------------------------------------------------------ lines */

static CUresult in(CUdeviceptr d, const void *s, size_t n, CUstream stream)
{
	struct work w = { .to = device(d, n), .from = s, .n = n };

	fake_handle(CLASS_STREAM, stream);
	if (fake_error || !w.to)
		return fake.cuMemcpyHtoDAsync_v2(d, s, n, stream);
	if (!is_pinned(s, n)) {
		w.own = malloc(n);
		assert(w.own);
		w.from = memcpy(w.own, s, n);
	}
	submit(&w, stream);
	return fake_result();
}

static CUresult out(void *d, CUdeviceptr s, size_t n, CUstream stream)
{
	struct work w = { .to = d, .from = device(s, n), .n = n };

	fake_handle(CLASS_STREAM, stream);
	if (fake_error || !w.from)
		return fake.cuMemcpyDtoHAsync_v2(d, s, n, stream);
	if (is_pinned(d, n)) {
		submit(&w, stream);
	} else {
		queue_drain(queue_all());
		queue_do(&w);
		gpu_spoil(d, n);
	}
	return fake_result();
}

static CUresult between(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream stream)
{
	struct work w = { .to = device(d, n), .from = device(s, n), .n = n };

	fake_handle(CLASS_STREAM, stream);
	if (!fake_error && w.to && w.from && (d + n <= s || s + n <= d))
		submit(&w, stream);
	return fake_result();
}

static CUresult between_null(CUdeviceptr d, CUdeviceptr s, size_t n)
{
	return between(d, s, n, NULL);
}

static CUresult fill(CUdeviceptr d, unsigned int value, size_t n, unsigned int width,
		     CUstream stream)
{
	struct work w = { .value = value, .width = width, .n = n * width };

	fake_handle(CLASS_STREAM, stream);
	w.to = n <= UNIT ? device(d, w.n) : NULL;
	if (!fake_error && w.to)
		submit(&w, stream);
	return fake_result();
}

static CUresult fill_8(CUdeviceptr d, unsigned char value, size_t n)
{
	return fill(d, value, n, 1, NULL);
}

static CUresult fill_8_in(CUdeviceptr d, unsigned char value, size_t n, CUstream s)
{
	return fill(d, value, n, 1, s);
}

static CUresult fill_32(CUdeviceptr d, unsigned int value, size_t n)
{
	return fill(d, value, n, 4, NULL);
}

static CUresult fill_32_in(CUdeviceptr d, unsigned int value, size_t n, CUstream s)
{
	return fill(d, value, n, 4, s);
}

/* ------------------------------------------------------------------ lines below each other */

/* At once: the call waits for all work before it. Host ends are as long as the server says. */
static void rows(const CUDA_MEMCPY2D *c)
{
	bool to_host = c->dstMemoryType == CU_MEMORYTYPE_HOST,
	     from_host = c->srcMemoryType == CU_MEMORYTYPE_HOST;
	uint8_t *to;
	const uint8_t *from;
	size_t y;

	if (to_host == from_host)
		return;
	queue_drain(queue_all());
	for (y = 0; y < c->Height; y++) {
		to = to_host ? (uint8_t *)c->dstHost + y * c->dstPitch :
			       device(c->dstDevice + c->dstXInBytes + (c->dstY + y) * c->dstPitch,
				      c->WidthInBytes);
		from = from_host ?
			       (const uint8_t *)c->srcHost + y * c->srcPitch :
			       device(c->srcDevice + c->srcXInBytes + (c->srcY + y) * c->srcPitch,
				      c->WidthInBytes);
		if (!to || !from)
			return;
		memcpy(to, from, c->WidthInBytes);
	}
}

static CUresult rows_2d(const CUDA_MEMCPY2D *c, CUresult r)
{
	bool is_array = c->srcMemoryType == CU_MEMORYTYPE_ARRAY ||
			c->dstMemoryType == CU_MEMORYTYPE_ARRAY;

	if (!r && !is_array && c->WidthInBytes)
		rows(c);
	return r;
}

static CUresult lines(const CUDA_MEMCPY2D *c)
{
	return rows_2d(c, fake.cuMemcpy2D_v2(c));
}
static CUresult unaligned(const CUDA_MEMCPY2D *c)
{
	return rows_2d(c, fake.cuMemcpy2DUnaligned_v2(c));
}
static CUresult lines_in(const CUDA_MEMCPY2D *c, CUstream s)
{
	return rows_2d(c, fake.cuMemcpy2DAsync_v2(c, s));
}

/* ------------------------------------------------------------------ streams and events */

static CUresult record(CUevent e, CUstream s)
{
	CUresult r = fake.cuEventRecord(e, s);

	if (!r && e)
		((struct fake *)e)->before = work_of(s);
	return r;
}

static CUresult record_with(CUevent e, CUstream s, unsigned int flags)
{
	CUresult r = fake.cuEventRecordWithFlags(e, s, flags);

	if (!r && e)
		((struct fake *)e)->before = work_of(s);
	return r;
}

static CUresult event_query(CUevent e)
{
	CUresult r = fake.cuEventQuery(e);

	return r || !e || queue_is_done(((struct fake *)e)->before) ? r : CUDA_ERROR_NOT_READY;
}

static CUresult stream_query(CUstream s)
{
	CUresult r = fake.cuStreamQuery(s);

	return r || queue_is_done(work_of(s)) ? r : CUDA_ERROR_NOT_READY;
}

static CUresult stream_waits(CUstream s, CUevent e, unsigned int flags)
{
	CUresult r = fake.cuStreamWaitEvent(s, e, flags);

	if (!r && e && ((struct fake *)e)->before > *memory_position(s))
		*memory_position(s) = ((struct fake *)e)->before;
	return r;
}

static CUresult stream_synchronize(CUstream s)
{
	CUresult r = fake.cuStreamSynchronize(s);

	queue_drain(work_of(s));
	return r;
}

static CUresult event_synchronize(CUevent e)
{
	CUresult r = fake.cuEventSynchronize(e);

	queue_drain(e ? ((struct fake *)e)->before : 0);
	return r;
}

static CUresult context_synchronize(void)
{
	queue_drain(queue_all());
	return fake.cuCtxSynchronize();
}

static CUresult context_destroy(CUcontext ctx)
{
	queue_drain(queue_all());
	return fake.cuCtxDestroy_v2(ctx);
}

static CUresult host_function(CUstream s, CUhostFn fn, void *data)
{
	CUresult r = fake.cuLaunchHostFunc(s, fn, data);

	*memory_position(s) = queue_all();
	return r;
}

static CUresult callback(CUstream s, CUstreamCallback fn, void *data, unsigned int flags)
{
	fake_handle(CLASS_STREAM, s);
	if (!fake_error) {
		queue_put(&(struct work){ .back = fn, .stream = s, .data = data });
		*memory_position(s) = queue_all();
	}
	return fake_result();
}

void memory_fill(struct library *l)
{
	fake = *l;
	l->cuMemHostRegister_v2 = host_register;
	l->cuMemHostUnregister = host_unregister;
	l->cuMemHostAlloc = host_alloc;
	l->cuMemFreeHost = host_free;
	l->cuMemAlloc_v2 = alloc;
	l->cuMemFree_v2 = free_memory;
	l->cuMemcpyHtoDAsync_v2 = in;
	l->cuMemcpyDtoHAsync_v2 = out;
	l->cuMemcpyDtoDAsync_v2 = between;
	l->cuMemcpyDtoD_v2 = between_null;
	l->cuMemsetD8_v2 = fill_8;
	l->cuMemsetD8Async = fill_8_in;
	l->cuMemsetD32_v2 = fill_32;
	l->cuMemsetD32Async = fill_32_in;
	l->cuMemcpy2D_v2 = lines;
	l->cuMemcpy2DUnaligned_v2 = unaligned;
	l->cuMemcpy2DAsync_v2 = lines_in;
	l->cuEventRecord = record;
	l->cuEventRecordWithFlags = record_with;
	l->cuEventQuery = event_query;
	l->cuStreamQuery = stream_query;
	l->cuStreamWaitEvent = stream_waits;
	l->cuStreamSynchronize = stream_synchronize;
	l->cuEventSynchronize = event_synchronize;
	l->cuCtxSynchronize = context_synchronize;
	l->cuCtxDestroy_v2 = context_destroy;
	l->cuLaunchHostFunc = host_function;
	l->cuStreamAddCallback = callback;
}
