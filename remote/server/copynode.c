// SPDX-License-Identifier: MIT
/*
 * Copies as nodes of graphs and of captures. A copy with a ferry (ferry.c) is a child graph for the
 * library, and a copy for the client. The server knows such a child graph by its host functions,
 * which no node of a client has.
 */
#include <stdlib.h>

#include "server.h"

enum { PARTS_MAX = 3, SET_DEPENDENCIES = 1 };
enum { BEFORE, BEHIND, SIDES };	/* the source's side, the destination's side */

struct plan {
	CUDA_MEMCPY3D copy;
	CUcontext ctx;
	struct ferry *ferry[SIDES];
	bool place[SIDES];	/* a host function is on that side, with a ferry or at rest */
};

/* a copy that is a child graph for the library */
struct wrapped {
	CUgraph inner;
	CUgraphNode copy, function[SIDES];
	struct ferry *ferry[SIDES];
};

/* a copy in which an executable graph may differ from the graph that it was made from */
struct switched {
	uint64_t exec, node;
	bool off;
	bool own;			/* .ferry is this copy's, and held here */
	struct ferry *ferry[SIDES];
};

/* ------------------------------------------------------ recognising nodes that are child graphs */

static bool add_function(struct server *s, struct wrapped *w, CUgraphNode node)
{
	CUDA_HOST_NODE_PARAMS p = { 0 };
	size_t before = 0;
	unsigned int side;

	if (CALL(s, cuGraphHostNodeGetParams, node, &p) ||
	    (p.fn != ferry_run && p.fn != ferry_rests) ||
	    CALL(s, cuGraphNodeGetDependencies, node, NULL, &before))
		return false;
	side = before ? BEHIND : BEFORE;
	w->function[side] = node;
	w->ferry[side] = p.fn == ferry_run ? ferry_of(p.userData) : NULL;
	return true;
}

static bool is_wrapped(struct server *s, CUgraphNode node, struct wrapped *w)
{
	CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
	CUgraphNode parts[PARTS_MAX + 1] = { NULL };
	size_t n = PARTS_MAX + 1, i;

	*w = (struct wrapped){ 0 };
	if (!s->switches.ferried || CALL(s, cuGraphNodeGetType, node, &type) ||
	    type != CU_GRAPH_NODE_TYPE_GRAPH ||
	    CALL(s, cuGraphChildGraphNodeGetGraph, node, &w->inner) ||
	    CALL(s, cuGraphGetNodes, w->inner, parts, &n) || n > PARTS_MAX)
		return false;
	for (i = 0; i < n; i++) {
		if (CALL(s, cuGraphNodeGetType, parts[i], &type))
			return false;
		if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
			w->copy = parts[i];
		else if (type != CU_GRAPH_NODE_TYPE_HOST || !add_function(s, w, parts[i]))
			return false;
	}
	return w->copy && (w->function[BEFORE] || w->function[BEHIND]);
}

bool is_part_of(struct server *s, CUgraphNode node, CUgraphNode part)
{
	struct wrapped w;

	return is_wrapped(s, node, &w) &&
	       (part == w.copy || part == w.function[BEFORE] || part == w.function[BEHIND]);
}

CUresult own_cuGraphNodeGetType(struct server *s, CUgraphNode node, CUgraphNodeType *type)
{
	CUresult r = CALL(s, cuGraphNodeGetType, node, type);
	struct wrapped w;

	if (!r && *type == CU_GRAPH_NODE_TYPE_GRAPH && is_wrapped(s, node, &w))
		*type = CU_GRAPH_NODE_TYPE_MEMCPY;
	return r;
}

/* the child graph of a copy is the server's own: the client does not get it */
CUresult own_cuGraphChildGraphNodeGetGraph(struct server *s, CUgraphNode node, CUgraph *graph)
{
	struct wrapped w;

	return is_wrapped(s, node, &w) ? CUDA_ERROR_INVALID_VALUE :
					 CALL(s, cuGraphChildGraphNodeGetGraph, node, graph);
}

CUresult own_cuGraphExecChildGraphNodeSetParams(struct server *s, CUgraphExec exec,
						CUgraphNode node, CUgraph child)
{
	struct wrapped w;
	CUresult r = is_wrapped(s, node, &w) ? CUDA_ERROR_INVALID_VALUE :
		     CALL(s, cuGraphExecChildGraphNodeSetParams, exec, node, child);

	return r ? r : switched_again(s, handle_known(s, CLASS_EXEC, exec));
}

/* ------------------------------------------------------------------ making child graphs */

static CUDA_HOST_NODE_PARAMS function_of(struct ferry *f)
{
	return (CUDA_HOST_NODE_PARAMS){ f ? ferry_run : ferry_rests, f ? ferry_key(f) : NULL };
}

static CUresult add_place(struct server *s, CUgraph g, CUgraphNode *last, struct ferry *f)
{
	CUDA_HOST_NODE_PARAMS p = function_of(f);
	CUgraphNode node;
	CUresult r = f ? ferry_hold(s, g, f) : CUDA_SUCCESS;

	if (!r)
		r = CALL(s, cuGraphAddHostNode, &node, g, last, *last ? 1 : 0, &p);
	if (!r)
		*last = node;
	return r;
}

static CUresult add_parts(struct server *s, CUgraph g, const struct plan *p)
{
	CUgraphNode last = NULL, node;
	CUresult r = p->place[BEFORE] ? add_place(s, g, &last, p->ferry[BEFORE]) : CUDA_SUCCESS;

	if (!r)
		r = CALL(s, cuGraphAddMemcpyNode, &node, g, &last, last ? 1 : 0, &p->copy, p->ctx);
	if (!r && p->place[BEHIND])
		r = add_place(s, g, &node, p->ferry[BEHIND]);
	return r;
}

static CUresult new_child(struct server *s, const struct plan *p, CUgraph *out)
{
	CUresult r = CALL(s, cuGraphCreate, out, 0);

	if (r)
		return r;
	r = add_parts(s, *out, p);
	if (r)
		CALL(s, cuGraphDestroy, *out);
	return r;
}

static bool has_ferry(const struct plan *p)
{
	return p->ferry[BEFORE] || p->ferry[BEHIND];
}

/* the library copies the child graph into the node, so that the child can be destroyed */
static CUresult add_node(struct server *s, CUgraph graph, const CUgraphNode *dependencies, size_t n,
			 const struct plan *p, CUgraphNode *made)
{
	CUgraph child;
	CUresult r;

	if (!has_ferry(p))
		return CALL(s, cuGraphAddMemcpyNode, made, graph, dependencies, n, &p->copy,
			    p->ctx);
	r = new_child(s, p, &child);
	if (r)
		return r;
	r = CALL(s, cuGraphAddChildGraphNode, made, graph, dependencies, n, child);
	CALL(s, cuGraphDestroy, child);
	return r;
}

/* add the node to the stream's capture, as the library itself does with a captured copy */
static CUresult capture(struct server *s, uint64_t stream_id, const struct plan *p)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	const CUgraphNode *after = NULL;
	CUgraph graph = NULL;
	CUgraphNode made;
	CUstream stream;
	cuuint64_t id;
	size_t n = 0;
	CUresult r;

	if (!stream_find(s, stream_id, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = CALL(s, cuStreamGetCaptureInfo_v2, stream, &status, &id, &graph, &after, &n);
	if (r)
		return r;
	if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return status ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_ILLEGAL_STATE;
	r = add_node(s, graph, after, n, p, &made);
	return r ? r :
		   CALL(s, cuStreamUpdateCaptureDependencies, stream, &made, 1, SET_DEPENDENCIES);
}

/* ------------------------------------------------------------------ changing nodes of graphs */

static CUresult set_place(struct server *s, struct wrapped *w, unsigned int side, struct ferry *f)
{
	CUDA_HOST_NODE_PARAMS p = function_of(f);
	CUresult r = f ? ferry_hold(s, w->inner, f) : CUDA_SUCCESS;

	return r ? r : CALL(s, cuGraphHostNodeSetParams, w->function[side], &p);
}

static CUresult remake(struct server *s, struct wrapped *w, struct plan *p)
{
	CUgraphNode parts[] = { w->function[BEHIND], w->copy, w->function[BEFORE] };
	CUresult r = CUDA_SUCCESS;
	unsigned int i;

	for (i = 0; i < PARTS_MAX && !r; i++)
		if (parts[i])
			r = CALL(s, cuGraphDestroyNode, parts[i]);
	return r ? r : add_parts(s, w->inner, p);
}

/* Change the child graph in its place: clones and executable graphs know this node. */
static CUresult change_wrapped(struct server *s, struct wrapped *w, struct plan *p)
{
	CUresult r = CUDA_SUCCESS;
	unsigned int i;

	if (!has_ferry(p))
		p->place[BEFORE] = true;
	if (p->place[BEFORE] != !!w->function[BEFORE] || p->place[BEHIND] != !!w->function[BEHIND])
		return remake(s, w, p);
	for (i = 0; i < SIDES && !r; i++)
		if (p->place[i])
			r = set_place(s, w, i, p->ferry[i]);
	return r ? r : CALL(s, cuGraphMemcpyNodeSetParams, w->copy, &p->copy);
}

/* the nodes on which @node depends, or (@behind) that depend on it, in scratch() */
static CUgraphNode *neighbours(struct server *s, CUgraphNode node, bool behind, size_t *n)
{
	CUgraphNode *list;

	*n = 0;
	if (behind ? CALL(s, cuGraphNodeGetDependentNodes, node, NULL, n) :
		     CALL(s, cuGraphNodeGetDependencies, node, NULL, n))
		return NULL;
	list = *n <= KVGPU_REMOTE_LIST_MAX ? scratch(s, *n + 1, sizeof(*list)) : NULL;
	if (!list || (behind ? CALL(s, cuGraphNodeGetDependentNodes, node, list, n) :
		      CALL(s, cuGraphNodeGetDependencies, node, list, n)))
		return NULL;
	return list;
}

/* a child graph takes the place and the number of a plain copy */
static CUresult replace(struct server *s, uint64_t id, CUgraphNode old, const struct plan *p)
{
	struct entry *e = handle_entry(s, id);
	CUgraphNode *before, *behind, *from, made;
	CUgraph graph = e && e->parent ? s->handles.entries[e->parent].what : NULL;
	size_t nr_before, nr_behind, i;
	CUresult r;

	before = neighbours(s, old, false, &nr_before);
	behind = neighbours(s, old, true, &nr_behind);
	from = behind ? scratch(s, nr_behind + 1, sizeof(*from)) : NULL;
	if (!graph || !before || !from)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = add_node(s, graph, before, nr_before, p, &made);
	if (r)
		return r;
	for (i = 0; i < nr_behind; i++)
		from[i] = made;
	if (nr_behind)
		r = CALL(s, cuGraphAddDependencies, graph, from, behind, nr_behind);
	if (!r)
		r = CALL(s, cuGraphDestroyNode, old);
	if (r)
		CALL(s, cuGraphDestroyNode, made);
	else
		handle_point(s, id, made);
	return r;
}

static CUresult change_node(struct server *s, uint64_t id, CUgraphNode node, struct plan *p)
{
	CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
	struct entry *e = handle_entry(s, id);
	struct wrapped w;

	if (e)
		e->changed = s->frame.served;
	if (is_wrapped(s, node, &w))
		return change_wrapped(s, &w, p);
	if (!has_ferry(p))
		return CALL(s, cuGraphMemcpyNodeSetParams, node, &p->copy);
	if (CALL(s, cuGraphNodeGetType, node, &type) || type != CU_GRAPH_NODE_TYPE_MEMCPY)
		return CUDA_ERROR_INVALID_VALUE;
	return replace(s, id, node, p);
}

/* ------------------------------------------------------------------ changing executable graphs */

static struct switched *switched_of(struct server *s, uint64_t exec, uint64_t node, bool make)
{
	struct switches *all = &s->switches;
	struct switched *grown;
	unsigned int i;

	for (i = 0; i < all->nr; i++)
		if (all->list[i].exec == exec && all->list[i].node == node)
			return &all->list[i];
	if (!make)
		return NULL;
	if (all->nr == all->max) {
		grown = realloc(all->list, (all->max ? 2 * all->max : 16) * sizeof(*grown));
		if (!grown)
			return NULL;
		all->list = grown;
		all->max = all->max ? 2 * all->max : 16;
	}
	all->list[all->nr] = (struct switched){ .exec = exec, .node = node };
	return &all->list[all->nr++];
}

static void let_go(struct switched *w)
{
	unsigned int i;

	for (i = 0; i < SIDES; i++)
		if (w->own && w->ferry[i])
			ferry_put(w->ferry[i]);
	w->own = false;
}

void switched_forget(struct server *s, uint64_t exec)
{
	struct switches *all = &s->switches;
	unsigned int i = 0;

	while (i < all->nr) {
		if (exec && all->list[i].exec != exec) {
			i++;
			continue;
		}
		let_go(&all->list[i]);
		all->list[i] = all->list[--all->nr];
	}
}

/* @ferry: NULL where a function rests */
static CUresult set_functions(struct server *s, CUgraphExec exec, const struct wrapped *w,
			      struct ferry *const *ferry)
{
	CUresult r = CUDA_SUCCESS;
	unsigned int i;

	for (i = 0; i < SIDES && !r; i++) {
		CUDA_HOST_NODE_PARAMS p = function_of(ferry[i]);

		if (w->function[i])
			r = CALL(s, cuGraphExecHostNodeSetParams, exec, w->function[i], &p);
	}
	return r;
}

static struct ferry *const none[SIDES];

static CUresult rest_again(struct server *s, uint64_t exec)
{
	struct switches *all = &s->switches;
	CUresult r = CUDA_SUCCESS;
	void *node, *handle;
	struct wrapped w;
	unsigned int i;

	for (i = 0; i < all->nr && !r; i++) {
		if (all->list[i].exec != exec || !all->list[i].off)
			continue;
		if (!handle_find(s, CLASS_EXEC, exec, &handle) ||
		    !handle_find(s, CLASS_NODE, all->list[i].node, &node) ||
		    !is_wrapped(s, node, &w))
			/* the copy's functions, which have to rest, can't be found */
			return CUDA_ERROR_NOT_SUPPORTED;
		r = set_functions(s, handle, &w, none);
	}
	return r;
}

CUresult switched_again(struct server *s, uint64_t exec)
{
	struct switches *all = &s->switches;
	struct entry *e = handle_entry(s, exec);
	unsigned int i;

	if (e)
		e->updated = true;
	for (i = 0; i < all->nr; i++)
		if (all->list[i].exec == exec)
			let_go(&all->list[i]);
	return rest_again(s, exec);
}

/* hold the ferries of an executable graph's copy: the graph whose node has them may end */
static void remember(struct switched *sw, struct ferry *const *ferry)
{
	unsigned int i;

	let_go(sw);
	for (i = 0; i < SIDES; i++)
		sw->ferry[i] = ferry[i] ? ferry_again(ferry[i]) : NULL;
	sw->own = true;
}

/* true: the copy in the executable graph still has the node's ferries */
static bool is_as_made(struct server *s, const struct entry *exec, uint64_t node)
{
	const struct entry *e = handle_entry(s, node);

	return e && !exec->updated && e->changed < exec->born;
}

CUresult own_cuGraphNodeSetEnabled(struct server *s, CUgraphExec exec, CUgraphNode node,
				   unsigned int enabled)
{
	struct entry *e = handle_entry(s, handle_known(s, CLASS_EXEC, exec));
	struct switched *sw;
	struct wrapped w;
	CUresult r;

	if (!e || !is_wrapped(s, node, &w))
		return CALL(s, cuGraphNodeSetEnabled, exec, node, enabled);
	sw = switched_of(s, e->id, handle_known(s, CLASS_NODE, node), true);
	if (!sw)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!enabled && !sw->own && is_as_made(s, e, sw->node))
		remember(sw, w.ferry);
	if (enabled && sw->off && !sw->own)
		return CUDA_ERROR_NOT_SUPPORTED; /* the ferries that the copy had are not known */
	r = CALL(s, cuGraphNodeSetEnabled, exec, w.copy, enabled);
	if (!r && !!enabled == sw->off)
		r = set_functions(s, exec, &w, enabled ? sw->ferry : none);
	if (!r)
		sw->off = !enabled;
	return r;
}

CUresult own_cuGraphNodeGetEnabled(struct server *s, CUgraphExec exec, CUgraphNode node,
				   unsigned int *enabled)
{
	struct wrapped w;

	return CALL(s, cuGraphNodeGetEnabled, exec, is_wrapped(s, node, &w) ? w.copy : node,
		    enabled);
}

/*
 * The error when an executable graph's plain copy is to get a ferry. CUDA forbids a change of the
 * kind of memory.
 */
static CUresult wrong_kind(struct server *s, CUgraphNode node, const struct plan *p)
{
	CUDA_MEMCPY3D now = { 0 };
	CUresult r = CALL(s, cuGraphMemcpyNodeGetParams, node, &now);

	if (r)
		return r;
	return now.srcMemoryType == p->copy.srcMemoryType &&
			       now.dstMemoryType == p->copy.dstMemoryType ?
		       CUDA_ERROR_NOT_SUPPORTED :
		       CUDA_ERROR_INVALID_VALUE;
}

static CUresult change_exec(struct server *s, const struct q_copy_node *q, CUgraphExec exec,
			    CUgraphNode node, struct plan *p)
{
	struct switched *sw;
	struct wrapped w;
	CUgraph child;
	CUresult r;
	unsigned int i;

	if (!is_wrapped(s, node, &w))
		return has_ferry(p) ? wrong_kind(s, node, p) :
		       CALL(s, cuGraphExecMemcpyNodeSetParams, exec, node, &p->copy, p->ctx);
	for (i = 0; i < SIDES; i++) {
		if (p->ferry[i] && !w.function[i])
			return CUDA_ERROR_INVALID_VALUE;
		p->place[i] = w.function[i];
	}
	sw = switched_of(s, q->exec, q->node, true);
	if (!sw)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = new_child(s, p, &child);
	if (r)
		return r;
	r = CALL(s, cuGraphExecChildGraphNodeSetParams, exec, node, child);
	CALL(s, cuGraphDestroy, child);
	if (r)
		return r;
	remember(sw, p->ferry);
	return rest_again(s, q->exec);
}

/* ------------------------------------------------------------------ frames */

static CUresult open_ferry(struct server *s, const uint64_t *end, const struct q_copy_node *q,
			   bool out, struct side *side, struct ferry **ferry)
{
	struct ferry_end e = { .id = end[END_FERRY],
			       .at = end[END_WHERE],
			       .bytes = side->bytes,
			       .out = out };

	*ferry = NULL;
	if (!e.id)
		return CUDA_SUCCESS;
	if (!side->host)
		return CUDA_ERROR_INVALID_VALUE;
	if (!arena_for_graphs(s))
		return CUDA_ERROR_NOT_SUPPORTED;
	memcpy(e.mine, q->mine + (out ? 3 : 0), sizeof(e.mine));
	memcpy(e.size, q->size, sizeof(e.size));
	s->switches.ferried = true;
	*ferry = ferry_take(s, &e);
	if (!*ferry)
		return CUDA_ERROR_OUT_OF_MEMORY;
	side->host = s->arena + ferry_end(*ferry)->at;
	return CUDA_SUCCESS;
}

static CUresult open_plan(struct server *s, const struct q_copy_node *q, struct plan *p)
{
	CUDA_MEMCPY3D_PEER b;
	struct side src, dst;
	unsigned int i;
	CUresult r;

	if (!q->size[0] || !q->size[1] || !q->size[2])
		return CUDA_ERROR_INVALID_VALUE;
	r = side_open(s, q->src, q->size, &src);
	if (!r)
		r = side_open(s, q->dst, q->size, &dst);
	if (!r)
		r = open_ferry(s, q->src, q, false, &src, &p->ferry[BEFORE]);
	if (!r)
		r = open_ferry(s, q->dst, q, true, &dst, &p->ferry[BEHIND]);
	if (r)
		return r;
	for (i = 0; i < SIDES; i++)
		p->place[i] = p->ferry[i];
	b = box_from_words(q->src, q->dst, q->size, &src, &dst);
	p->copy = box_without_contexts(&b);
	return CUDA_SUCCESS;
}

CUresult frame_copy_node(struct server *s, const struct q_copy_node *q,
			 struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	void *graph = NULL, *node = NULL, *exec = NULL, *ctx = NULL;
	CUgraphNode *dependencies = list_open(s, in, CLASS_NODE, q->dependencies), made = NULL;
	struct a_copy_node *a = kvgpu_remote_put(out, sizeof(*a));
	struct plan p = { 0 };
	unsigned int i;
	CUresult r;

	if (!a || !dependencies || (q->graph && !handle_find(s, CLASS_GRAPH, q->graph, &graph)) ||
	    (q->node && !handle_find(s, CLASS_NODE, q->node, &node)) ||
	    (q->exec && !handle_find(s, CLASS_EXEC, q->exec, &exec)) ||
	    (q->ctx && !handle_find(s, CLASS_CONTEXT, q->ctx, &ctx)))
		return CUDA_ERROR_INVALID_HANDLE;
	p.ctx = ctx;
	r = open_plan(s, q, &p);
	if (!r && q->captured)
		r = capture(s, q->stream, &p);
	else if (!r && exec)
		r = change_exec(s, q, exec, node, &p);
	else if (!r && node)
		r = change_node(s, q->node, node, &p);
	else if (!r)
		r = add_node(s, graph, dependencies, q->dependencies, &p, &made);
	a->node = made ? handle_give(s, CLASS_NODE, made, q->graph) : 0;
	if (!r && made && !a->node)
		r = CUDA_ERROR_OUT_OF_MEMORY;
	for (i = 0; i < SIDES; i++) {
		if (!p.ferry[i])
			continue;
		a->ferry[i] = r ? 0 : ferry_kept(p.ferry[i]);
		ferry_put(p.ferry[i]);
	}
	return r;
}

static void close_end(struct server *s, uint64_t *end, CUmemorytype type, CUdeviceptr device,
		      CUarray array, const void *host, const struct ferry *ferry,
		      const size_t *rest)
{
	unsigned int i;

	end[END_TYPE] = type;
	if (type == CU_MEMORYTYPE_DEVICE)
		end[END_WHERE] = device;
	else if (type == CU_MEMORYTYPE_ARRAY)
		end[END_WHERE] = handle_known(s, CLASS_ARRAY, array);
	else if (type == CU_MEMORYTYPE_HOST)
		end[END_WHERE] = (const uint8_t *)host - s->arena;
	end[END_FERRY] = ferry ? ferry_end(ferry)->id : 0;
	for (i = END_PITCH; i <= END_LOD; i++)
		end[i] = rest[i - END_PITCH];
}

CUresult frame_copy_node_get(struct server *s, const struct q_copy_node_get *q,
			     struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_copy_node_get *a = kvgpu_remote_put(out, sizeof(*a));
	struct wrapped w;
	CUDA_MEMCPY3D c;
	void *node;
	CUresult r;

	if (!a || !handle_find(s, CLASS_NODE, q->node, &node))
		return CUDA_ERROR_INVALID_HANDLE;
	memset(&c, 0, sizeof(c));
	r = CALL(s, cuGraphMemcpyNodeGetParams, is_wrapped(s, node, &w) ? w.copy : node, &c);
	if (r)
		return r;
	close_end(s, a->src, c.srcMemoryType, c.srcDevice, c.srcArray, c.srcHost, w.ferry[BEFORE],
		  (size_t []){ c.srcPitch, c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ, c.srcLOD });
	close_end(s, a->dst, c.dstMemoryType, c.dstDevice, c.dstArray, c.dstHost, w.ferry[BEHIND],
		  (size_t []){ c.dstPitch, c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ, c.dstLOD });
	a->size[0] = c.WidthInBytes;
	a->size[1] = c.Height;
	a->size[2] = c.Depth;
	return CUDA_SUCCESS;
}
