// SPDX-License-Identifier: MIT
/* Launches: one frame with the packed parameters. */
#include <stdlib.h>

#include "client.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

/* so many bytes of parameters are packed on the stack, more in malloc()ed memory */
enum { PACKED = 4352 };

/* a frame's payload as it goes out */
struct packed {
	struct q_launch w;
	uint8_t parameters[PACKED + 8]; /* 8: padded to whole words */
};
static_assert(sizeof(struct q_launch) % 8 == 0, "the parameters begin at a whole word");

struct request {
	CUfunction f;
	uint32_t grid[3], block[3], shared;
	CUstream stream;
	void **params, **extra;
	const CUlaunchAttribute *attributes;
	uint32_t nr_attributes;
};

static CUresult pack_extra(const struct function *f, void **extra, uint8_t *to, uint32_t *bytes)
{
	const void *buffer = NULL;
	size_t size = 0;
	unsigned int i;

	for (i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
		if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[i + 1];
		else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
			size = *(const size_t *)extra[i + 1];
		else
			return CUDA_ERROR_INVALID_VALUE;
	}
	if (f->layout_known && size > f->bytes)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if ((size && !buffer) || (!f->layout_known && size > PACKED))
		return CUDA_ERROR_INVALID_VALUE;
	if (size)
		memcpy(to, buffer, size);
	*bytes = f->layout_known ? f->bytes : size;
	return CUDA_SUCCESS;
}

/* most parameters have these sizes, for which no function is called */
static inline void pack_one(uint8_t *to, const void *from, uint32_t size)
{
	if (size == 8)
		memcpy(to, from, 8);
	else if (size == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, size);
}

CUresult parameters_pack(const struct function *f, void **params, void **extra, uint8_t *to,
			 uint32_t *bytes)
{
	uint32_t i;

	*bytes = f->layout_known ? f->bytes : 0;
	if (*bytes && (extra || !f->gapless))
		memset(to, 0, *bytes);
	if (params && extra)
		return CUDA_ERROR_INVALID_VALUE;
	if (extra)
		return pack_extra(f, extra, to, bytes);
	if (!f->layout_known)
		return params ?
			       REFUSE("a launch with a list of parameters",
				      "the server's library does not tell how long each is, so the "
				      "program has to pack them (CU_LAUNCH_PARAM_BUFFER_POINTER)") :
			       CUDA_SUCCESS;
	if (f->parameters && !params)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < f->parameters; i++) {
		if (!params[i])
			return CUDA_ERROR_INVALID_VALUE;
		pack_one(to + f->parameter[i].offset, params[i], f->parameter[i].size);
	}
	return CUDA_SUCCESS;
}

/* numbers of device attributes */
enum { BLOCK_X = 2, GRID_X = 5, SHARED_PER_BLOCK = 8, CLUSTER_LAUNCH = 120 };

static const CUlaunchAttributeValue *attribute_of(const struct request *q, CUlaunchAttributeID id)
{
	uint32_t i;

	for (i = 0; i < q->nr_attributes; i++)
		if (q->attributes[i].id == id)
			return &q->attributes[i].value;
	return NULL;
}

/* Whether blocks come in no clusters, or in such as any GPU with clusters has room for. */
static bool cluster_is_fine(const struct request *q, const struct function *f,
			    const struct a_facts *facts)
{
	enum { PORTABLE = 8, MUST_BE_SET = 10, REQUIRED_WIDTH = 11 };
	const CUlaunchAttributeValue *v = attribute_of(q, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
	uint32_t size[3] = { 0 }, required;
	uint64_t blocks = 1;
	unsigned int i;

	if (v)
		memcpy(size, &v->clusterDim, sizeof(size));
	if (!f->attribute_known[REQUIRED_WIDTH])
		return !v;
	for (i = 0; i < 3; i++) {
		required = f->attribute[REQUIRED_WIDTH + i];
		if (v && required && required != size[i])
			return false;
		size[i] = v ? size[i] : required;
	}
	if (!v && !size[0])
		return !f->attribute[MUST_BE_SET];
	for (i = 0; i < 3; i++) {
		if (!size[i] || size[i] > PORTABLE || q->grid[i] % size[i])
			return false;
		blocks *= size[i];
	}
	return facts->attribute[CLUSTER_LAUNCH] && blocks <= PORTABLE;
}

/* whether none of the attributes can make the launch fail */
static bool attributes_are_fine(const struct request *q, const struct a_facts *facts)
{
	uint32_t i;

	for (i = 0; i < q->nr_attributes; i++) {
		switch (q->attributes[i].id) {
		case CU_LAUNCH_ATTRIBUTE_IGNORE:
		case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
			continue;
		case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
			if (!q->attributes[i].value.cooperative)
				continue;
			return false;
		case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
			/* GPUs with clusters have it */
			if (facts->attribute[CLUSTER_LAUNCH])
				continue;
			return false;
		default:
			return false;
		}
	}
	return true;
}

/* a function may be allowed more than is left of what any has */
static bool shared_is_fine(const struct request *q, const struct function *f,
			   const struct a_facts *facts)
{
	enum { MOST = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES };
	uint64_t whole = (uint64_t)f->attribute[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] + q->shared;

	return whole <= facts->attribute[SHARED_PER_BLOCK] ||
	       (f->attribute_known[MOST] && f->attribute[MOST] >= 0 &&
		q->shared <= (uint32_t)f->attribute[MOST]);
}

static bool is_fine(const struct request *q, const struct function *f)
{
	const struct object *ctx = current_context(), *o = object_of(CLASS_FUNCTION, q->f);
	uint64_t threads = (uint64_t)q->block[0] * q->block[1] * q->block[2];
	struct object *module = object_parent(o);
	const struct a_facts *facts;
	unsigned int i;
	CUresult r;

	if (!ctx || !module || object_parent(module) != ctx ||
	    (q->stream > CU_STREAM_PER_THREAD && object_parent((const void *)q->stream) != ctx))
		return false;
	facts = device_known(ctx->dev);
	if (!facts)
		facts = device_facts(ctx->dev, &r);
	if (!facts)
		return false;
	for (i = 0; i < 3; i++)
		if (!q->grid[i] || !q->block[i] || q->grid[i] > facts->attribute[GRID_X + i] ||
		    q->block[i] > facts->attribute[BLOCK_X + i])
			return false;
	return f->attribute_known[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] &&
	       f->attribute_known[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] &&
	       threads <= (uint64_t)f->attribute[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] &&
	       shared_is_fine(q, f, facts) && cluster_is_fine(q, f, facts) &&
	       attributes_are_fine(q, facts);
}

/*
 * Add the attributes to the call, behind the parameters. @to: room for them. An event goes as its
 * number.
 */
static CUresult add_attributes(struct call *c, const struct request *q, CUlaunchAttribute *to)
{
	uint32_t i;
	uint64_t id;

	memcpy(to, q->attributes, q->nr_attributes * sizeof(*to));
	for (i = 0; i < q->nr_attributes; i++) {
		if (to[i].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT &&
		    to[i].id != CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
			continue;
		if (!route_handle(&c->to, CLASS_EVENT, to[i].value.event, &id))
			return CUDA_ERROR_INVALID_HANDLE;
		__atomic_store_n(&route_peer(&c->to)->records_hidden, true, __ATOMIC_RELAXED);
		memcpy(&to[i].value, &id, sizeof(id));
	}
	return call_bytes(c, to, q->nr_attributes * sizeof(*to));
}

/* the context that @stream is of; NULL: the current one */
static CUcontext context_of(CUstream stream)
{
	return (uintptr_t)stream > (uintptr_t)CU_STREAM_PER_THREAD ?
		       (CUcontext)object_parent((const struct object *)stream) :
		       NULL;
}

/* Later than the launch was sent: what is asked from now on is asked behind it. */
static __attribute__((noinline)) void note_launched(struct function *f)
{
	cache_invalidate(CACHE_LIMITS);
	__atomic_store_n(&f->launched, true, __ATOMIC_RELEASE);
}

static CUresult launch(struct request *q)
{
	CUlaunchAttribute attributes[KVGPU_REMOTE_ATTRIBUTES_MAX];
	struct packed on_stack, *p = &on_stack;
	struct route to = { 0 };
	struct function *f;
	struct call c;
	uint64_t stream;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r)
		return r;
	r = route_stream(&to, q->stream, &stream);
	if (!r)
		r = function_here(&q->f, context_of(q->stream));
	if (r)
		return r;
	f = function_of(q->f);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (f->bytes > KVGPU_REMOTE_PAYLOAD_MAX / 2)
		return CUDA_ERROR_INVALID_VALUE;
	if (f->bytes > PACKED) {
		p = malloc(sizeof(*p) + f->bytes);
		if (!p)
			return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p->w = (struct q_launch){ .stream = stream,
				  .shared = q->shared,
				  .attributes = q->nr_attributes };
	memcpy(p->w.grid, q->grid, sizeof(p->w.grid));
	memcpy(p->w.block, q->block, sizeof(p->w.block));
	route_handle(&to, CLASS_FUNCTION, q->f, &p->w.function);
	call_init(&c, OP_launch, p, sizeof(p->w));
	c.to = to;
	c.owned[0] = p != &on_stack ? p : NULL;
	r = parameters_pack(f, q->params, q->extra, p->parameters, &p->w.bytes);
	if (!r && q->nr_attributes)
		r = add_attributes(&c, q, attributes);
	if (r) {
		call_end(&c);
		return r;
	}
	kernel_uses(route_peer(&c.to), p->parameters, p->w.bytes);
	memset(p->parameters + p->w.bytes, 0, -p->w.bytes % 8);
	c.bytes += p->w.bytes + -p->w.bytes % 8;
	r = is_fine(q, f) ? call_async(&c) : call_sync(&c, 0);
	if (!r && !__atomic_load_n(&f->launched, __ATOMIC_ACQUIRE))
		note_launched(f);
	return r;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			CUstream stream, void **params, void **extra)
{
	struct request q = { .f = f,
			     .grid = { gx, gy, gz },
			     .block = { bx, by, bz },
			     .shared = shared,
			     .stream = stream,
			     .params = params,
			     .extra = extra };

	return launch(&q);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			     unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			     CUstream stream, void **params, void **extra)
{
	struct request q = { .f = f,
			     .grid = { gx, gy, gz },
			     .block = { bx, by, bz },
			     .shared = shared,
			     .stream = OWN(stream),
			     .params = params,
			     .extra = extra };

	return launch(&q);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
				   unsigned int bx, unsigned int by, unsigned int bz,
				   unsigned int shared, CUstream stream, void **params)
{
	const CUlaunchAttribute cooperative = { .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
						.value.cooperative = 1 };
	struct request q = { .f = f,
			     .grid = { gx, gy, gz },
			     .block = { bx, by, bz },
			     .shared = shared,
			     .stream = stream,
			     .params = params,
			     .attributes = &cooperative,
			     .nr_attributes = 1 };

	return launch(&q);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, unsigned int gx, unsigned int gy,
					unsigned int gz, unsigned int bx, unsigned int by,
					unsigned int bz, unsigned int shared, CUstream stream,
					void **params)
{
	return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, OWN(stream), params);
}

/* INVALID_VALUE: the attributes are missing, or too many */
static CUresult read_config(const CUlaunchConfig *c, struct request *q)
{
	if (!c || (c->numAttrs && !c->attrs) || c->numAttrs > KVGPU_REMOTE_ATTRIBUTES_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*q = (struct request){ .grid = { c->gridDimX, c->gridDimY, c->gridDimZ },
			       .block = { c->blockDimX, c->blockDimY, c->blockDimZ },
			       .shared = c->sharedMemBytes,
			       .stream = c->hStream,
			       .attributes = c->attrs,
			       .nr_attributes = c->numAttrs };
	return CUDA_SUCCESS;
}

static CUresult launch_config(const CUlaunchConfig *c, CUfunction f, void **params, void **extra,
			      bool own)
{
	struct request q;
	CUresult r = read_config(c, &q);

	if (r)
		return r;
	q.f = f;
	q.params = params;
	q.extra = extra;
	if (own)
		q.stream = OWN(q.stream);
	return launch(&q);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	return launch_config(c, f, params, extra, false);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	return launch_config(c, f, params, extra, true);
}

/* ------------------------------------------------------------------ occupancy */

/* find the block size with the most threads on an SM; of equals, the largest */
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
						   CUoccupancyB2DSize dynamic_of, size_t dynamic,
						   int limit, unsigned int flags)
{
	/* no GPU has more: bounds of what a server says */
	enum { SM_COUNT = 16, WARP = 32, THREADS_MAX = 4096, SMS_MAX = 65536 };
	struct object *o;
	int most = 0, threads = 0, blocks = 0, sms = 0;
	CUresult r = call_enter(CALL_NO_CONTEXT);
	struct object *module;

	if (!r)
		r = function_here(&f, NULL);
	if (r)
		return r;
	if (!grid || !block || limit < 0 || flags & ~1u)
		return CUDA_ERROR_INVALID_VALUE;
	o = object_of(CLASS_FUNCTION, f);
	if (!o)
		return CUDA_ERROR_INVALID_HANDLE;
	module = object_parent(o);
	if (module && object_parent(module))
		sms = device_attribute(object_parent(module)->dev, SM_COUNT);
	r = cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
	if (!r && (threads > THREADS_MAX || sms < 0 || sms > SMS_MAX))
		r = CUDA_ERROR_UNKNOWN;
	threads = limit && limit < threads ? limit : threads;
	*grid = *block = 0;
	for (; threads > 0 && !r; threads = (threads - 1) / WARP * WARP) {
		if (dynamic_of)
			dynamic = dynamic_of(threads);
		r = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, f, threads,
									 dynamic, flags);
		if (!r && (blocks < 0 || blocks > THREADS_MAX))
			r = CUDA_ERROR_UNKNOWN;
		if (r || blocks * threads <= most)
			continue;
		most = blocks * threads;
		*block = threads;
		*grid = blocks * sms;
	}
	return r;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
					  CUoccupancyB2DSize dynamic_of, size_t dynamic, int limit)
{
	return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, dynamic_of, dynamic, limit,
							 0);
}

/* The stream of @config makes no difference. */
static CUresult clusters(int *n, CUfunction f, const CUlaunchConfig *config, uint32_t potential)
{
	CUlaunchAttribute attributes[KVGPU_REMOTE_ATTRIBUTES_MAX];
	struct q_clusters w = { .potential = potential };
	struct call c = { .op = OP_clusters, .fixed = &w, .bytes = sizeof(w) };
	struct request q;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	r = n ? read_config(config, &q) : CUDA_ERROR_INVALID_VALUE;
	if (!r)
		r = function_here(&f, NULL);
	if (r)
		return r;
	if (!route_handle(&c.to, CLASS_FUNCTION, f, &w.function))
		return CUDA_ERROR_INVALID_HANDLE;
	memcpy(w.grid, q.grid, sizeof(w.grid));
	memcpy(w.block, q.block, sizeof(w.block));
	w.shared = q.shared;
	w.attributes = q.nr_attributes;
	r = add_attributes(&c, &q, attributes);
	if (!r)
		r = call_sync(&c, sizeof(struct a_clusters));
	if (!r)
		*n = ((const struct a_clusters *)c.answer)->clusters;
	return r;
}

CUresult cuOccupancyMaxActiveClusters(int *n, CUfunction f, const CUlaunchConfig *config)
{
	return clusters(n, f, config, false);
}

CUresult cuOccupancyMaxPotentialClusterSize(int *n, CUfunction f, const CUlaunchConfig *config)
{
	return clusters(n, f, config, true);
}
