// SPDX-License-Identifier: MIT
/*
 * Copies of several lines and slices, and of arrays, and cuMemcpyPeer(). They are checked here;
 * transfer.c does them slice by slice, peer.c where one context lacks some of the memory.
 */
#include <string.h>

#include "driver.h"

#define PITCH_MAX 2147483647u

enum when { SYNC, ASYNC };

struct end {
	CUmemorytype type;
	uint8_t *host;
	CUdeviceptr device;
	CUarray array;
	size_t pitch, height; /* height: lines of a slice in memory */
	size_t x, y, z; /* x in bytes */
};

struct box {
	struct end src, dst;
	size_t width, height, depth; /* width in bytes */
};

/* ------------------------------------------------------------------ checks */

static CUresult check_array(CUcontext ctx, const struct end *e, const struct box *b)
{
	CUarray a = array_of(ctx, e->array);
	size_t texel, row;

	if (!a)
		return CUDA_ERROR_INVALID_HANDLE;
	texel = a->tiling.texel_bytes;
	row = a->desc.Width * texel;
	if (e->x % texel || b->width % texel || e->x > row || b->width > row - e->x ||
	    e->y > array_height(a) || b->height > array_height(a) - e->y || e->z > array_depth(a) ||
	    b->depth > array_depth(a) - e->z)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static bool multiply_add(size_t *sum, size_t a, size_t b)
{
	size_t product;

	return !__builtin_mul_overflow(a, b, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

/* Bytes from the first to the last that is touched. 0: more than the address space. */
static size_t span(const struct end *e, const struct box *b)
{
	size_t slice, n = b->width;

	if (__builtin_mul_overflow(e->pitch, e->height, &slice) ||
	    !multiply_add(&n, b->height - 1, e->pitch) || !multiply_add(&n, b->depth - 1, slice))
		return 0;
	return n;
}

static CUresult check_linear(CUcontext ctx, struct end *e, const struct box *b)
{
	size_t first = e->x, bytes, slice;

	if (!e->pitch)
		e->pitch = e->x + b->width;
	if (!e->height)
		e->height = e->y + b->height;
	if (((b->height > 1 || b->depth > 1) && (e->pitch < b->width || e->pitch > PITCH_MAX)) ||
	    (b->depth > 1 && e->height < b->height) || b->height > PITCH_MAX ||
	    __builtin_mul_overflow(e->pitch, e->height, &slice) ||
	    !multiply_add(&first, e->y, e->pitch) || !multiply_add(&first, e->z, slice))
		return CUDA_ERROR_INVALID_VALUE;
	bytes = span(e, b);
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (e->type == CU_MEMORYTYPE_HOST) {
		e->host += first;
		if (!e->host)
			return CUDA_ERROR_INVALID_VALUE;
		if (where_is(ctx, e->host) == ON_HOST)
			return CUDA_SUCCESS;
		e->type = CU_MEMORYTYPE_DEVICE; /* or unmapped, which the check finds */
		e->device = (uintptr_t)e->host;
		first = 0;
	}
	e->device += first;
	return on_device(ctx, &(struct plane){ .va = e->device }, bytes, 1) ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_INVALID_VALUE;
}

/* UNIFIED: device memory where the context has a range, else host memory */
static void resolve(CUcontext ctx, struct end *e)
{
	if (e->type != CU_MEMORYTYPE_UNIFIED)
		return;
	e->type = range_find(ctx, e->device) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
	e->host = (uint8_t *)(uintptr_t)e->device;
}

static CUresult check_end(CUcontext ctx, struct end *e, const struct box *b)
{
	resolve(ctx, e);
	switch (e->type) {
	case CU_MEMORYTYPE_HOST:
		if (!e->host)
			return CUDA_ERROR_INVALID_VALUE;
		return check_linear(ctx, e, b);
	case CU_MEMORYTYPE_DEVICE:
		return check_linear(ctx, e, b);
	case CU_MEMORYTYPE_ARRAY:
		return check_array(ctx, e, b);
	case CU_MEMORYTYPE_UNIFIED: /* resolve() leaves none */
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* ------------------------------------------------------------------ carrying out */

static struct plane slice(const struct end *e, size_t z)
{
	struct plane p = { .pitch = e->pitch };

	if (e->type == CU_MEMORYTYPE_ARRAY)
		return array_plane(e->array, e->x, e->y, e->z + z);
	if (e->type == CU_MEMORYTYPE_HOST)
		p.host = e->host + z * e->pitch * e->height;
	else
		p.va = e->device + z * e->pitch * e->height;
	return p;
}

static CUresult move(CUcontext ctx, CUstream s, struct box *b)
{
	size_t z;
	CUresult r;

	if (!b->width || !b->height || !b->depth)
		return CUDA_SUCCESS;
	r = check_end(ctx, &b->src, b);
	if (!r)
		r = check_end(ctx, &b->dst, b);
	for (z = 0; z < b->depth && !r; z++) {
		struct plane src = slice(&b->src, z), dst = slice(&b->dst, z);

		r = plane_copy(ctx, s, &dst, &src, b->width, b->height);
	}
	return r;
}

/* host memory, or GPU memory that the CPU sees, too */
static bool touches_host(CUcontext ctx, const struct box *b)
{
	const struct end *ends[] = { &b->dst, &b->src };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct range *range = ends[i]->type == CU_MEMORYTYPE_DEVICE ?
					      range_find(ctx, ends[i]->device) :
					      NULL;

		if (ends[i]->type == CU_MEMORYTYPE_HOST || (range && range->host))
			return true;
	}
	return false;
}

/*
 * Enter a context and find the stream in it. For a default stream outside of a capture: a context
 * that has an array or device memory of the copy, else the stream's own.
 */
static CUresult ctx_enter_box(const struct box *b, CUstream stream, CUcontext *ctx, CUstream *s)
{
	const struct end *ends[] = { &b->dst, &b->src };
	unsigned int i;
	CUresult r = ctx_enter_work(stream, ctx, s);

	for (i = 0; i < 2 && !r && !(*s)->capture && is_default_stream(stream); i++) {
		bool array = ends[i]->type == CU_MEMORYTYPE_ARRAY;

		if (array ? !!array_of(*ctx, ends[i]->array) :
			    ends[i]->type != CU_MEMORYTYPE_DEVICE ||
				    range_find(*ctx, ends[i]->device))
			continue;
		ctx_leave(*ctx);
		if (!array)
			return ctx_enter_work_at(stream, ends[i]->device, ctx, s);
		r = ctx_enter_array(ctx, ends[i]->array);
		if (!r)
			*s = stream_of(*ctx, stream);
		if (r || *s)
			return r;
		ctx_leave(*ctx);
		r = CUDA_ERROR_OUT_OF_MEMORY;
	}
	return r;
}

static struct box box_of(const CUDA_MEMCPY3D *c)
{
	return (struct box){
		.src = { c->srcMemoryType, (uint8_t *)(uintptr_t)c->srcHost, c->srcDevice,
			 c->srcArray, c->srcPitch, c->srcHeight, c->srcXInBytes, c->srcY, c->srcZ },
		.dst = { c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstPitch,
			 c->dstHeight, c->dstXInBytes, c->dstY, c->dstZ },
		.width = c->WidthInBytes,
		.height = c->Height,
		.depth = c->Depth,
	};
}

static CUDA_MEMCPY3D params_of(const struct box *b)
{
	return (CUDA_MEMCPY3D){
		.srcXInBytes = b->src.x,
		.srcY = b->src.y,
		.srcZ = b->src.z,
		.srcMemoryType = b->src.type,
		.srcHost = b->src.host,
		.srcDevice = b->src.device,
		.srcArray = b->src.array,
		.srcPitch = b->src.pitch,
		.srcHeight = b->src.height,
		.dstXInBytes = b->dst.x,
		.dstY = b->dst.y,
		.dstZ = b->dst.z,
		.dstMemoryType = b->dst.type,
		.dstHost = b->dst.host,
		.dstDevice = b->dst.device,
		.dstArray = b->dst.array,
		.dstPitch = b->dst.pitch,
		.dstHeight = b->dst.height,
		.WidthInBytes = b->width,
		.Height = b->height,
		.Depth = b->depth,
	};
}

CUresult box_check(CUcontext ctx, const CUDA_MEMCPY3D *c)
{
	struct box b = box_of(c);
	CUresult r;

	if (!b.width || !b.height || !b.depth)
		return CUDA_ERROR_INVALID_VALUE;
	r = check_end(ctx, &b.src, &b);
	return r ? r : check_end(ctx, &b.dst, &b);
}

CUresult box_copy(CUcontext ctx, CUstream s, const CUDA_MEMCPY3D *c)
{
	struct moment host = { .seq[QUEUE_HOST] = s->last.seq[QUEUE_HOST] };
	struct box b = box_of(c);
	CUresult r = CUDA_SUCCESS;

	resolve(ctx, &b.src);
	if (b.src.type == CU_MEMORYTYPE_HOST && where_is(ctx, b.src.host) == ON_HOST)
		r = moment_wait(ctx, &host); /* a host function may still write there */
	return r ? r : move(ctx, s, &b);
}

static CUresult record(CUstream s, const struct box *b)
{
	const CUDA_MEMCPY3D c = params_of(b);

	return capture_copy(s, &c);
}

/* ---------------------------------- between contexts: call with nothing locked */

static bool find_owner(struct end *e, CUcontext *owner)
{
	CUcontext ctx;

	*owner = NULL;
	if (e->type == CU_MEMORYTYPE_ARRAY) {
		if (ctx_enter_array(&ctx, e->array))
			return false;
		ctx_leave(ctx);
		*owner = ctx;
		return true;
	}
	if (e->type == CU_MEMORYTYPE_UNIFIED)
		e->host = (uint8_t *)(uintptr_t)e->device;
	if (e->type == CU_MEMORYTYPE_UNIFIED || e->type == CU_MEMORYTYPE_HOST) {
		e->type = CU_MEMORYTYPE_HOST;
		if (on_cpu(e->host))
			return true;
		e->type = CU_MEMORYTYPE_DEVICE;
		e->device = (uintptr_t)e->host;
	}
	*owner = e->type == CU_MEMORYTYPE_DEVICE ? memory_owner(e->device) : NULL;
	return *owner;
}

/* @owner NULL: host memory, checked in @other */
static CUresult check_in(CUcontext owner, CUcontext other, struct end *e, const struct box *b)
{
	CUcontext ctx = owner ? owner : other;
	CUresult r = ctx_enter_of(ctx);

	if (r)
		return r;
	r = check_end(ctx, e, b);
	ctx_leave(ctx);
	return r;
}

/* @to, @from: NULL: host memory */
static CUresult cross_box(struct box *b, CUcontext to, CUcontext from, bool late, enum when when,
			  CUstream stream)
{
	struct crossing c = {
		.to = to, .from = from, .width = b->width, .lines = b->height, .late = late
	};
	CUresult r;
	size_t z;

	if (!b->width || !b->height || !b->depth)
		return CUDA_SUCCESS;
	r = check_in(to, from, &b->dst, b);
	if (!r)
		r = check_in(from, to, &b->src, b);
	for (z = 0; z < b->depth && !r; z++) {
		c.dst = slice(&b->dst, z);
		c.src = slice(&b->src, z);
		r = peer_copy(stream, &c, when == SYNC);
	}
	return r;
}

/* A copy that one context refused. */
static CUresult copy_between(struct box *b, enum when when, CUstream stream)
{
	CUcontext to, from;

	if (!find_owner(&b->dst, &to) || !find_owner(&b->src, &from) || (!to && !from))
		return CUDA_ERROR_INVALID_VALUE;
	return cross_box(b, to, from, false, when, stream);
}

/*
 * Host memory that another context has pinned is touched when the copy's turn comes. True:
 * submitted so, with result *r.
 */
static bool copy_late(CUcontext ctx, struct box *b, CUstream stream, CUresult *r)
{
	struct end *host = b->src.type == CU_MEMORYTYPE_HOST ? &b->src :
			   b->dst.type == CU_MEMORYTYPE_HOST ? &b->dst :
							       NULL;
	CUcontext to, from;

	if (!host || !pinned_elsewhere(ctx, host->host) || !find_owner(&b->dst, &to) ||
	    !find_owner(&b->src, &from) || !to == !from)
		return false;
	*r = cross_box(b, to, from, true, ASYNC, stream);
	return true;
}

/* ------------------------------------------------------------------ in one context */

static CUresult copy(struct box *b, enum when when, CUstream stream)
{
	struct box asked;
	struct moment m;
	bool wait;
	CUcontext ctx;
	CUstream s;
	CUresult again, r = ctx_enter_box(b, stream, &ctx, &s);

	if (r)
		return r;
	if (s->capture) {
		r = when == ASYNC ? record(s, b) : capture_refuse(s);
		ctx_leave(ctx);
		return r;
	}
	if (when == ASYNC && several_contexts()) {
		ctx_leave(ctx);
		if (copy_late(ctx, b, stream, &r))
			return r;
		r = ctx_enter_box(b, stream, &ctx, &s);
		if (r)
			return r;
	}
	asked = *b;
	r = move(ctx, s, b);
	wait = touches_host(ctx, b);
	m = s->last;
	ctx_leave(ctx);
	if (r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_INVALID_HANDLE) {
		again = copy_between(&asked, when, stream);
		return again == CUDA_ERROR_INVALID_VALUE ? r : again;
	}
	return !r && when == SYNC && wait ? moment_wait(ctx, &m) : r;
}

/* ------------------------------------------------------------------ two and three dimensions */

static CUresult copy_2d(const CUDA_MEMCPY2D *c, enum when when, CUstream stream)
{
	struct box b = { .depth = 1 };

	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	b.src = (struct end){ c->srcMemoryType,
			      (uint8_t *)(uintptr_t)c->srcHost,
			      c->srcDevice,
			      c->srcArray,
			      c->srcPitch,
			      0,
			      c->srcXInBytes,
			      c->srcY,
			      0 };
	b.dst = (struct end){ c->dstMemoryType, c->dstHost,  c->dstDevice,
			      c->dstArray,	c->dstPitch, 0,
			      c->dstXInBytes,	c->dstY,     0 };
	b.width = c->WidthInBytes;
	b.height = c->Height;
	return copy(&b, when, stream);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, enum when when, CUstream stream)
{
	struct box b;

	if (!c || c->srcLOD || c->dstLOD)
		return CUDA_ERROR_INVALID_VALUE;
	b = box_of(c);
	return copy(&b, when, stream);
}

static CUresult copy_peer(struct box *b, CUcontext to, CUcontext from, enum when when,
			  CUstream stream)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = ctx_enter_stream(stream, &ctx, &s);

	if (r)
		return r;
	ctx_leave(ctx);
	if (to == ctx && from == ctx)
		return copy(b, when, stream);
	if (!context_known(to) || !context_known(from))
		return CUDA_ERROR_INVALID_CONTEXT;
	return cross_box(b, to, from, false, when, stream);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, enum when when, CUstream stream)
{
	CUDA_MEMCPY3D plain;
	struct box b;

	if (!c || c->srcLOD || c->dstLOD)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&plain, c, sizeof(plain));
	b = box_of(&plain);
	return copy_peer(&b, c->dstContext, c->srcContext, when, stream);
}

/* ------------------------------------------------------------------ the first line of an array */

/* NVIDIA's documentation of these calls says "1D CUDA array": of others they reach one line. */
static struct end in_line(CUarray array, size_t offset)
{
	return (struct end){ .type = CU_MEMORYTYPE_ARRAY, .array = array, .x = offset };
}

static CUresult copy_run(struct end dst, struct end src, size_t bytes, enum when when,
			 CUstream stream)
{
	struct box b = { .dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1 };

	return copy(&b, when, stream);
}

static CUresult dtoa(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes, enum when when,
		     CUstream stream)
{
	struct end e = { .type = CU_MEMORYTYPE_DEVICE, .device = src };

	return copy_run(in_line(dst, offset), e, bytes, when, stream);
}

static CUresult atod(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes, enum when when,
		     CUstream stream)
{
	struct end e = { .type = CU_MEMORYTYPE_DEVICE, .device = dst };

	return copy_run(e, in_line(src, offset), bytes, when, stream);
}

static CUresult htoa(CUarray dst, size_t offset, const void *src, size_t bytes, enum when when,
		     CUstream stream)
{
	struct end e = { .type = CU_MEMORYTYPE_HOST, .host = (uint8_t *)(uintptr_t)src };

	return copy_run(in_line(dst, offset), e, bytes, when, stream);
}

static CUresult atoh(void *dst, CUarray src, size_t offset, size_t bytes, enum when when,
		     CUstream stream)
{
	struct end e = { .type = CU_MEMORYTYPE_HOST, .host = dst };

	return copy_run(e, in_line(src, offset), bytes, when, stream);
}

static CUresult atoa(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes,
		     CUstream stream)
{
	return copy_run(in_line(dst, dst_offset), in_line(src, src_offset), bytes, SYNC, stream);
}

/* ------------------------------------------------------------------ entry points */

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define SYNC_ENTRIES(name, body, params, ...)                         \
	CUresult name params                                          \
	{                                                             \
		return body(__VA_ARGS__, SYNC, NULL);                 \
	}                                                             \
	CUresult name##_ptds params                                   \
	{                                                             \
		return body(__VA_ARGS__, SYNC, CU_STREAM_PER_THREAD); \
	}
#define ASYNC_ENTRIES(name, body, params, ...)                \
	CUresult name params                                  \
	{                                                     \
		return body(__VA_ARGS__, ASYNC, stream);      \
	}                                                     \
	CUresult name##_ptsz params                           \
	{                                                     \
		return body(__VA_ARGS__, ASYNC, OWN(stream)); \
	}

SYNC_ENTRIES(cuMemcpy2D_v2, copy_2d, (const CUDA_MEMCPY2D *c), c)
SYNC_ENTRIES(cuMemcpy2DUnaligned_v2, copy_2d, (const CUDA_MEMCPY2D *c), c)
ASYNC_ENTRIES(cuMemcpy2DAsync_v2, copy_2d, (const CUDA_MEMCPY2D *c, CUstream stream), c)
SYNC_ENTRIES(cuMemcpy3D_v2, copy_3d, (const CUDA_MEMCPY3D *c), c)
ASYNC_ENTRIES(cuMemcpy3DAsync_v2, copy_3d, (const CUDA_MEMCPY3D *c, CUstream stream), c)
SYNC_ENTRIES(cuMemcpy3DPeer, copy_3d_peer, (const CUDA_MEMCPY3D_PEER *c), c)
ASYNC_ENTRIES(cuMemcpy3DPeerAsync, copy_3d_peer, (const CUDA_MEMCPY3D_PEER *c, CUstream stream), c)
SYNC_ENTRIES(cuMemcpyDtoA_v2, dtoa, (CUarray dst, size_t at, CUdeviceptr src, size_t bytes), dst,
	     at, src, bytes)
SYNC_ENTRIES(cuMemcpyAtoD_v2, atod, (CUdeviceptr dst, CUarray src, size_t at, size_t bytes), dst,
	     src, at, bytes)
SYNC_ENTRIES(cuMemcpyHtoA_v2, htoa, (CUarray dst, size_t at, const void *src, size_t bytes), dst,
	     at, src, bytes)
SYNC_ENTRIES(cuMemcpyAtoH_v2, atoh, (void *dst, CUarray src, size_t at, size_t bytes), dst, src, at,
	     bytes)
ASYNC_ENTRIES(cuMemcpyHtoAAsync_v2, htoa,
	      (CUarray dst, size_t at, const void *src, size_t bytes, CUstream stream), dst, at,
	      src, bytes)
ASYNC_ENTRIES(cuMemcpyAtoHAsync_v2, atoh,
	      (void *dst, CUarray src, size_t at, size_t bytes, CUstream stream), dst, src, at,
	      bytes)

CUresult cuMemcpyAtoA_v2(CUarray dst, size_t dst_at, CUarray src, size_t src_at, size_t bytes)
{
	return atoa(dst, dst_at, src, src_at, bytes, NULL);
}

CUresult cuMemcpyAtoA_v2_ptds(CUarray dst, size_t dst_at, CUarray src, size_t src_at, size_t bytes)
{
	return atoa(dst, dst_at, src, src_at, bytes, CU_STREAM_PER_THREAD);
}

static CUresult peer(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
		     size_t bytes, enum when when, CUstream stream)
{
	struct box b = { .width = bytes, .height = 1, .depth = 1 };

	b.src = (struct end){ .type = CU_MEMORYTYPE_DEVICE, .device = src };
	b.dst = (struct end){ .type = CU_MEMORYTYPE_DEVICE, .device = dst };
	return copy_peer(&b, dst_ctx, src_ctx, when, stream);
}

#define PEER_PARAMS \
	CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t bytes
SYNC_ENTRIES(cuMemcpyPeer, peer, (PEER_PARAMS), dst, dst_ctx, src, src_ctx, bytes)
ASYNC_ENTRIES(cuMemcpyPeerAsync, peer, (PEER_PARAMS, CUstream stream), dst, dst_ctx, src, src_ctx,
	      bytes)
