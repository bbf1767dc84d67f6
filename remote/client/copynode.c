// SPDX-License-Identifier: MIT
/*
 * Copies as nodes of graphs, also nodes that a capture records. With shared memory a node names
 * pinned memory by its place in the arena. Another end in the program's memory gets a bounce buffer
 * (bounce.c). The server compares a frame's .mine and .size, to find a bounce buffer that it has
 * for the same memory. Of the entry points only cuGraphMemcpyNodeSetParams() needs a current
 * context.
 */
#include "box.h"

static uint64_t span(const uint64_t *w, const uint64_t *size)
{
	uint64_t lines = (size[2] - 1) * w[END_HEIGHT] + size[1] - 1;

	return lines * w[END_PITCH] + size[0];
}

static CUresult open_side(struct peer *p, const struct end *e, const uint64_t *size, bool out,
			  uint64_t *w, uint64_t *mine)
{
	const struct part whole = { { 0 }, { size[0], size[1], size[2] } };
	uint64_t at = KVGPU_REMOTE_NOWHERE, bounce = 0;

	if (e->type == CU_MEMORYTYPE_HOST && out)
		pinned_written();
	if (e->type == CU_MEMORYTYPE_HOST && kvgpu_remote_is_shared(p->channel))
		at = pinned_at(p, e->host, span(e->word, size));
	if (at != KVGPU_REMOTE_NOWHERE) {
		memcpy(w,
		       (uint64_t[END_WORDS]){ [END_TYPE] = e->type,
					      [END_WHERE] = at,
					      [END_PITCH] = e->word[END_PITCH],
					      [END_HEIGHT] = e->word[END_HEIGHT] },
		       sizeof(e->word));
		return CUDA_SUCCESS;
	}
	if (e->type == CU_MEMORYTYPE_HOST) {
		bounce = bounce_new(p, e, size, out, &at);
		if (!bounce)
			return CUDA_ERROR_OUT_OF_MEMORY;
		mine[0] = (uintptr_t)e->host;
		mine[1] = e->word[END_PITCH];
		mine[2] = e->word[END_HEIGHT];
	}
	box_words(e, &whole, at, w);
	w[END_BOUNCE] = bounce;
	return CUDA_SUCCESS;
}

/* free the bounce buffers that the server did not take: the call failed, or it has an equal one */
static void keep_taken(const struct q_copy_node *q, const struct call *c)
{
	const struct a_copy_node *a = c->answer_bytes >= sizeof(*a) ? c->answer : NULL;
	const uint64_t mine[2] = { q->src[END_BOUNCE], q->dst[END_BOUNCE] };
	unsigned int i;

	for (i = 0; i < 2; i++)
		if (mine[i] && (!a || a->bounce[i] != mine[i]))
			bounce_free(mine[i]);
}

/* contiguous bytes of the context's memory, as box_open() has read it */
static bool is_linear(const uint64_t *w, const uint64_t *size)
{
	return w[END_TYPE] == CU_MEMORYTYPE_DEVICE && size[1] == 1 && size[2] == 1 && !w[END_X] &&
	       !w[END_Y] && !w[END_Z] && device_span(w[END_WHERE], size[0], 1);
}

/* an executable graph's copy may go between other addresses each time */
static CUresult submit_node(struct q_copy_node *q, struct call *c)
{
	CUresult r;

	if (q->exec && is_linear(q->src, q->size) && is_linear(q->dst, q->size))
		return call_tried(c, sizeof(struct a_copy_node),
				  (uint64_t[]){ q->exec, q->node, q->ctx, q->size[0],
						q->src[END_PITCH], q->src[END_HEIGHT],
						q->dst[END_PITCH], q->dst[END_HEIGHT] },
				  8 * sizeof(uint64_t));
	r = call_sync(c, sizeof(struct a_copy_node));
	if (!r && !q->exec)
		cache_invalidate(CACHE_GRAPHS);
	return r;
}

static CUresult send_node(struct q_copy_node *q, struct call *c, const struct box *b)
{
	struct peer *p = route_peer(&c->to);
	CUresult r;

	memcpy(q->size, b->size, sizeof(q->size));
	r = open_side(p, &b->src, b->size, false, q->src, q->mine);
	if (!r)
		r = open_side(p, &b->dst, b->size, true, q->dst, q->mine + 3);
	if (!r)
		r = submit_node(q, c);
	keep_taken(q, c);
	return r;
}

static CUresult ask_node(struct q_copy_node *q, const CUDA_MEMCPY3D *params, CUcontext ctx,
			 struct call *c)
{
	struct box b = { 0 };
	CUDA_MEMCPY3D_PEER p;
	CUresult r;

	if (!route_handle(&c->to, CLASS_CONTEXT, ctx, &q->ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	memcpy(&p, params, sizeof(p));
	r = box_open(&c->to, &b, &p, false);
	if (!r && (!b.size[0] || !b.size[1] || !b.size[2]))
		r = CUDA_ERROR_INVALID_VALUE;
	return r ? r : send_node(q, c, &b);
}

/* ------------------------------------------------------------------ captures */

CUresult box_capture(const struct route *to, struct box *b, uint64_t stream)
{
	struct q_copy_node q = { .stream = stream, .captured = 1 };
	struct call c = { .op = OP_copy_node, .fixed = &q, .bytes = sizeof(q), .to = *to };

	route_handle(&c.to, CLASS_CONTEXT, current_context(), &q.ctx);
	return send_node(&q, &c, b);
}

static struct end linear_end(CUdeviceptr at, enum memory_kind kind, size_t bytes)
{
	struct end e = { .type = kind == MEMORY_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
			 .word = { [END_WHERE] = at, [END_PITCH] = bytes, [END_HEIGHT] = 1 } };

	e.word[END_TYPE] = e.type;
	e.host = kind == MEMORY_HOST ? (uint8_t *)(uintptr_t)at : NULL;
	return e;
}

CUresult linear_capture(const struct route *route, uint64_t stream, CUdeviceptr dst,
			enum memory_kind to, CUdeviceptr src, enum memory_kind from, size_t bytes)
{
	struct box b = { .src = linear_end(src, from, bytes),
			 .dst = linear_end(dst, to, bytes),
			 .size = { bytes, 1, 1 } };

	return box_capture(route, &b, stream);
}

CUresult array_capture(const struct route *route, uint64_t stream, CUarray array, size_t offset,
		       void *host, size_t bytes, bool to_array)
{
	struct end a = { .type = CU_MEMORYTYPE_ARRAY,
			 .word = { [END_TYPE] = CU_MEMORYTYPE_ARRAY, [END_X] = offset } };
	struct end h = linear_end((uintptr_t)host, MEMORY_HOST, bytes);
	struct box b = { .src = to_array ? h : a,
			 .dst = to_array ? a : h,
			 .size = { bytes, 1, 1 } };
	struct end *e = to_array ? &b.dst : &b.src;
	struct route to = *route;

	if (!route_handle(&to, CLASS_ARRAY, array, &e->word[END_WHERE]))
		return CUDA_ERROR_INVALID_HANDLE;
	return box_capture(&to, &b, stream);
}

/* ------------------------------------------------------------------ entry points */

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
			      size_t n, const CUDA_MEMCPY3D *params, CUcontext ctx)
{
	struct q_copy_node q = { .dependencies = n };
	struct call c = { .op = OP_copy_node, .fixed = &q, .bytes = sizeof(q) };
	void *made;
	CUresult r = graph_enter(&c.to, node && params, CLASS_GRAPH, graph, &q.graph);

	if (r)
		return r;
	r = call_handles(&c, CLASS_NODE, (const void *const *)dependencies, n);
	if (!r)
		r = ask_node(&q, params, ctx, &c);
	call_end(&c);
	if (r)
		return r;
	if (!answer_handle(&made, &c, CLASS_NODE, ((const struct a_copy_node *)c.answer)->node,
			   graph, false))
		return CUDA_ERROR_UNKNOWN;
	*node = made;
	return CUDA_SUCCESS;
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
					const CUDA_MEMCPY3D *params, CUcontext ctx)
{
	struct q_copy_node q = { 0 };
	struct call c = { .op = OP_copy_node, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = exec_enter(&c.to, params, exec, &q.exec, node, &q.node);

	if (r)
		return r;
	return ask_node(&q, params, ctx, &c);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *params)
{
	struct q_copy_node q = { 0 };
	struct call c = { .op = OP_copy_node, .fixed = &q, .bytes = sizeof(q) };
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	if (!route_handle(&c.to, CLASS_NODE, node, &q.node))
		return wrong_graph(node);
	return ask_node(&q, params, current_context(), &c);
}

/* ------------------------------------------------------------------ the parameters of a node */

/* one end of a node's copy, as the program sees it */
struct shown {
	CUmemorytype type;
	void *host;
	CUdeviceptr device;
	void *array;
	uint64_t word[END_WORDS];
};

static bool multiply_add(uint64_t *sum, uint64_t factor, uint64_t more)
{
	return !__builtin_mul_overflow(*sum, factor, sum) &&
	       !__builtin_add_overflow(*sum, more, sum);
}

/* where an end begins that lies in the arena as a whole; or NULL */
static void *in_arena(struct peer *p, const uint64_t *w, const uint64_t *size)
{
	uint64_t bytes, span = w[END_Z];

	kvgpu_remote_arena(p->channel, &bytes);
	/* a pitch or height of 0 would mean another one when the program sets these words again */
	if (!w[END_PITCH] || !w[END_HEIGHT] || !size[0] || !size[1] || !size[2])
		return NULL;
	if (!multiply_add(&span, 1, size[2] - 1) || !multiply_add(&span, w[END_HEIGHT], w[END_Y]) ||
	    !multiply_add(&span, 1, size[1] - 1) || !multiply_add(&span, w[END_PITCH], w[END_X]) ||
	    !multiply_add(&span, 1, size[0]) || !kvgpu_remote_in_arena(w[END_WHERE], span, bytes))
		return NULL;
	return arena_at(p, w[END_WHERE]);
}

/*
 * A bounce buffer's end is as this process has described it. Else @w says where it is in the arena.
 */
static bool show_host(struct peer *p, const uint64_t *w, const uint64_t *size, bool out,
		      struct shown *s)
{
	struct end e;
	uint64_t slice, before;

	if (!w[END_BOUNCE]) {
		s->host = in_arena(p, w, size);
		return s->host;
	}
	if (!bounce_get(w[END_BOUNCE], p, size, out, &e))
		return false;
	memcpy(s->word, e.word, sizeof(s->word));
	slice = e.word[END_PITCH] * e.word[END_HEIGHT];
	before = e.word[END_X] + e.word[END_Y] * e.word[END_PITCH] + e.word[END_Z] * slice;
	s->host = e.host - before;
	return true;
}

/* False: the answer is wrong. A type that depends on an address is none here. */
static bool show_end(const struct call *c, const uint64_t *w, const uint64_t *size, bool out,
		     struct shown *s)
{
	bool fine;

	*s = (struct shown){ .type = w[END_TYPE] };
	memcpy(s->word, w, sizeof(s->word));
	switch (w[END_TYPE]) {
	case CU_MEMORYTYPE_ARRAY:
		fine = answer_handle(&s->array, c, CLASS_ARRAY, w[END_WHERE], current_context(),
				     true);
		return fine;
	case CU_MEMORYTYPE_DEVICE:
		s->device = w[END_WHERE];
		return answer_address(c->to.peer, s->device);
	case CU_MEMORYTYPE_HOST:
		return show_host(c->to.peer, w, size, out, s);
	}
	return false;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	struct q_copy_node_get q = { 0 };
	struct call c = { .op = OP_copy_node_get, .fixed = &q, .bytes = sizeof(q) };
	const struct a_copy_node_get *a;
	struct shown src, dst;
	CUresult r = graph_enter(&c.to, params, CLASS_NODE, node, &q.node);

	if (r)
		return r;
	r = call_sync(&c, sizeof(*a));
	if (r)
		return r;
	a = (const struct a_copy_node_get *)c.answer;
	if (!show_end(&c, a->src, a->size, false, &src) ||
	    !show_end(&c, a->dst, a->size, true, &dst))
		return CUDA_ERROR_UNKNOWN;
	*params = (CUDA_MEMCPY3D){
		.srcMemoryType = src.type,
		.srcHost = src.host,
		.srcDevice = src.device,
		.srcArray = src.array,
		.srcPitch = src.word[END_PITCH],
		.srcHeight = src.word[END_HEIGHT],
		.srcXInBytes = src.word[END_X],
		.srcY = src.word[END_Y],
		.srcZ = src.word[END_Z],
		.srcLOD = src.word[END_LOD],
		.dstMemoryType = dst.type,
		.dstHost = dst.host,
		.dstDevice = dst.device,
		.dstArray = dst.array,
		.dstPitch = dst.word[END_PITCH],
		.dstHeight = dst.word[END_HEIGHT],
		.dstXInBytes = dst.word[END_X],
		.dstY = dst.word[END_Y],
		.dstZ = dst.word[END_Z],
		.dstLOD = dst.word[END_LOD],
		.WidthInBytes = a->size[0],
		.Height = a->size[1],
		.Depth = a->size[2],
	};
	return CUDA_SUCCESS;
}
