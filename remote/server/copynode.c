// SPDX-License-Identifier: MIT
/*
 * Copies as nodes of graphs and of captures. A copy with a bounce buffer (bounce.c) is a child
 * graph for the library, and a copy for the client. The server knows such a child graph by its host
 * functions, which no node of a client has.
 */
#include <stdlib.h>

#include "server.h"

enum { PARTS_MAX = 3, SET_DEPENDENCIES = 1 };
enum { BEFORE, BEHIND, SIDES }; /* the source's side, the destination's side */

struct plan {
	CUDA_MEMCPY3D copy;
	CUcontext ctx;
	struct bounce *bounce[SIDES];
	/* a host function is on that side, with a bounce buffer or at rest */
	bool has_function[SIDES];
};

/* a copy that is a child graph for the library */
struct wrapped {
	CUgraph inner;
	CUgraphNode copy, function[SIDES];
	struct bounce *bounce[SIDES];
};

/* a copy in which an executable graph may differ from the graph that it was made from */
struct switched {
	uint64_t exec, node;
	bool off;
	bool own; /* .bounce is this copy's, and held here */
	struct bounce *bounce[SIDES];
};

/* ------------------------------------------------------ recognising nodes that are child graphs */

static bool note_function(struct server *s, struct wrapped *w, CUgraphNode node)
{
	CUDA_HOST_NODE_PARAMS p = { 0 };
	size_t before = 0;
	unsigned int side;

	if (CALL(s, cuGraphHostNodeGetParams, node, &p) ||
	    (p.fn != bounce_run && p.fn != bounce_rests) ||
	    CALL(s, cuGraphNodeGetDependencies, node, NULL, &before))
		return false;
	side = before ? BEHIND : BEFORE;
	w->function[side] = node;
	w->bounce[side] = p.fn == bounce_run ? bounce_of(p.userData) : NULL;
	return true;
}

static bool is_wrapped(struct server *s, CUgraphNode node, struct wrapped *w)
{
	CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
	CUgraphNode parts[PARTS_MAX + 1] = { NULL };
	size_t n = PARTS_MAX + 1, i;

	*w = (struct wrapped){ 0 };
	if (!s->switches.bounced || CALL(s, cuGraphNodeGetType, node, &type) ||
	    type != CU_GRAPH_NODE_TYPE_GRAPH ||
	    CALL(s, cuGraphChildGraphNodeGetGraph, node, &w->inner) ||
	    CALL(s, cuGraphGetNodes, w->inner, parts, &n) || n > PARTS_MAX)
		return false;
	for (i = 0; i < n; i++) {
		if (CALL(s, cuGraphNodeGetType, parts[i], &type))
			return false;
		if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
			w->copy = parts[i];
		else if (type != CU_GRAPH_NODE_TYPE_HOST || !note_function(s, w, parts[i]))
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
	CUresult r = is_wrapped(s, node, &w) ?
			     CUDA_ERROR_INVALID_VALUE :
			     CALL(s, cuGraphExecChildGraphNodeSetParams, exec, node, child);

	return r ? r : switched_again(s, handle_known(s, CLASS_EXEC, exec));
}

/* ------------------------------------------------------------------ making child graphs */

static CUDA_HOST_NODE_PARAMS function_of(struct bounce *f)
{
	return (CUDA_HOST_NODE_PARAMS){ f ? bounce_run : bounce_rests, f ? bounce_key(f) : NULL };
}

static CUresult add_host_function(struct server *s, CUgraph g, CUgraphNode *last, struct bounce *f)
{
	CUDA_HOST_NODE_PARAMS p = function_of(f);
	CUgraphNode node;
	CUresult r = f ? bounce_hold(s, g, f) : CUDA_SUCCESS;

	if (!r)
		r = CALL(s, cuGraphAddHostNode, &node, g, last, *last ? 1 : 0, &p);
	if (!r)
		*last = node;
	return r;
}

static CUresult add_parts(struct server *s, CUgraph g, const struct plan *p)
{
	CUgraphNode last = NULL, node;
	CUresult r = p->has_function[BEFORE] ? add_host_function(s, g, &last, p->bounce[BEFORE]) :
					       CUDA_SUCCESS;

	if (!r)
		r = CALL(s, cuGraphAddMemcpyNode, &node, g, &last, last ? 1 : 0, &p->copy, p->ctx);
	if (!r && p->has_function[BEHIND])
		r = add_host_function(s, g, &node, p->bounce[BEHIND]);
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

static bool has_bounce(const struct plan *p)
{
	return p->bounce[BEFORE] || p->bounce[BEHIND];
}

/* the library copies the child graph into the node, so that the child can be destroyed */
static CUresult add_node(struct server *s, CUgraph graph, const CUgraphNode *dependencies, size_t n,
			 const struct plan *p, CUgraphNode *made)
{
	CUgraph child;
	CUresult r;

	if (!has_bounce(p))
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
	struct captured c;
	CUgraphNode made;
	CUstream stream;
	CUresult r;

	if (!stream_find(s, stream_id, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = capture_of(s, stream, &c);
	if (r)
		return r;
	if (c.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
		return c.status ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_ILLEGAL_STATE;
	r = add_node(s, c.graph, c.nodes, c.n, p, &made);
	return r ? r :
		   CALL(s, cuStreamUpdateCaptureDependencies, stream, &made, 1, SET_DEPENDENCIES);
}

/* ------------------------------------------------------------------ changing nodes of graphs */

static CUresult set_host_function(struct server *s, struct wrapped *w, unsigned int side,
				  struct bounce *f)
{
	CUDA_HOST_NODE_PARAMS p = function_of(f);
	CUresult r = f ? bounce_hold(s, w->inner, f) : CUDA_SUCCESS;

	return r ? r : CALL(s, cuGraphHostNodeSetParams, w->function[side], &p);
}

static CUresult remake_node(struct server *s, struct wrapped *w, struct plan *p)
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

	if (!has_bounce(p))
		p->has_function[BEFORE] = true;
	if (p->has_function[BEFORE] != !!w->function[BEFORE] ||
	    p->has_function[BEHIND] != !!w->function[BEHIND])
		return remake_node(s, w, p);
	for (i = 0; i < SIDES && !r; i++)
		if (p->has_function[i])
			r = set_host_function(s, w, i, p->bounce[i]);
	return r ? r : CALL(s, cuGraphMemcpyNodeSetParams, w->copy, &p->copy);
}

/* the nodes on which @node depends, or (@behind) that depend on it, in frame_scratch() */
static CUgraphNode *neighbours(struct server *s, CUgraphNode node, bool behind, size_t *n)
{
	CUgraphNode *list;

	*n = 0;
	if (behind ? CALL(s, cuGraphNodeGetDependentNodes, node, NULL, n) :
		     CALL(s, cuGraphNodeGetDependencies, node, NULL, n))
		return NULL;
	list = *n <= KVGPU_REMOTE_LIST_MAX ? frame_scratch(s, *n + 1, sizeof(*list)) : NULL;
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
	from = behind ? frame_scratch(s, nr_behind + 1, sizeof(*from)) : NULL;
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
	if (!has_bounce(p))
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

static void let_switched_go(struct switched *w)
{
	unsigned int i;

	for (i = 0; i < SIDES; i++)
		if (w->own && w->bounce[i])
			bounce_put(w->bounce[i]);
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
		let_switched_go(&all->list[i]);
		all->list[i] = all->list[--all->nr];
	}
}

/* @bounce: NULL where a function rests */
static CUresult set_functions(struct server *s, CUgraphExec exec, const struct wrapped *w,
			      struct bounce *const *bounce)
{
	CUresult r = CUDA_SUCCESS;
	unsigned int i;

	for (i = 0; i < SIDES && !r; i++) {
		CUDA_HOST_NODE_PARAMS p = function_of(bounce[i]);

		if (w->function[i])
			r = CALL(s, cuGraphExecHostNodeSetParams, exec, w->function[i], &p);
	}
	return r;
}

static struct bounce *const none[SIDES];

#define BOUNCES "which memory of the program's the copy has had is not known any more"

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
			return REFUSE(
				"an update of an executable graph with a copy that is switched off",
				BOUNCES);
		r = set_functions(s, handle, &w, none);
	}
	return r;
}

CUresult switched_again(struct server *s, uint64_t exec)
{
	struct switches *all = &s->switches;
	struct entry *e = handle_entry(s, exec);
	unsigned int i;

	if (e) {
		e->updated = true;
		e->launched = false;
	}
	for (i = 0; i < all->nr; i++)
		if (all->list[i].exec == exec)
			let_switched_go(&all->list[i]);
	return rest_again(s, exec);
}

/* hold the bounce buffers of an executable graph's copy: the graph whose node has them may end */
static void remember_bounces(struct switched *sw, struct bounce *const *bounce)
{
	unsigned int i;

	let_switched_go(sw);
	for (i = 0; i < SIDES; i++)
		sw->bounce[i] = bounce[i] ? bounce_again(bounce[i]) : NULL;
	sw->own = true;
}

/* true: the copy in the executable graph still has the node's bounce buffers */
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
		remember_bounces(sw, w.bounce);
	if (enabled && sw->off && !sw->own)
		return REFUSE("cuGraphNodeSetEnabled() of a copy that was changed while it was off",
			      BOUNCES);
	r = CALL(s, cuGraphNodeSetEnabled, exec, w.copy, enabled);
	if (!r && !!enabled == sw->off)
		r = set_functions(s, exec, &w, enabled ? sw->bounce : none);
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
 * The error when an executable graph's plain copy is to get a bounce buffer. CUDA forbids a change
 * of the kind of memory.
 */
static CUresult wrong_kind(struct server *s, CUgraphNode node, const struct plan *p)
{
	CUDA_MEMCPY3D now = { 0 };
	CUresult r = CALL(s, cuGraphMemcpyNodeGetParams, node, &now);

	if (r)
		return r;
	return now.srcMemoryType == p->copy.srcMemoryType &&
			       now.dstMemoryType == p->copy.dstMemoryType ?
		       REFUSE("cuGraphExecMemcpyNodeSetParams() from pinned to other memory",
			      BOUNCES) :
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
		return has_bounce(p) ? wrong_kind(s, node, p) :
				       CALL(s, cuGraphExecMemcpyNodeSetParams, exec, node, &p->copy,
					    p->ctx);
	for (i = 0; i < SIDES; i++) {
		if (p->bounce[i] && !w.function[i])
			return CUDA_ERROR_INVALID_VALUE;
		p->has_function[i] = w.function[i];
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
	remember_bounces(sw, p->bounce);
	return rest_again(s, q->exec);
}

/* ------------------------------------------------------------------ frames */

static CUresult open_bounce(struct server *s, const uint64_t *end, const struct q_copy_node *q,
			    bool out, struct side *side, struct bounce **bounce)
{
	struct bounce_end e = {
		.id = end[END_BOUNCE], .at = end[END_WHERE], .bytes = side->bytes, .out = out
	};

	*bounce = NULL;
	if (!e.id)
		return CUDA_SUCCESS;
	if (!side->host)
		return CUDA_ERROR_INVALID_VALUE;
	if (!arena_for_graphs(s))
		return REFUSE("a graph's copy of host memory",
			      "the library there can't register the arena");
	memcpy(e.mine, q->mine + (out ? 3 : 0), sizeof(e.mine));
	memcpy(e.size, q->size, sizeof(e.size));
	s->switches.bounced = true;
	*bounce = bounce_take(s, &e);
	if (!*bounce)
		return CUDA_ERROR_OUT_OF_MEMORY;
	side->host = s->arena + bounce_end(*bounce)->at;
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
		r = open_bounce(s, q->src, q, false, &src, &p->bounce[BEFORE]);
	if (!r)
		r = open_bounce(s, q->dst, q, true, &dst, &p->bounce[BEHIND]);
	if (r)
		return r;
	for (i = 0; i < SIDES; i++)
		p->has_function[i] = p->bounce[i];
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
		if (!p.bounce[i])
			continue;
		a->bounce[i] = r ? 0 : bounce_kept(p.bounce[i]);
		bounce_put(p.bounce[i]);
	}
	return r;
}

static void close_end(struct server *s, uint64_t *end, CUmemorytype type, CUdeviceptr device,
		      CUarray array, const void *host, const struct bounce *bounce,
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
	end[END_BOUNCE] = bounce ? bounce_end(bounce)->id : 0;
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
	close_end(s, a->src, c.srcMemoryType, c.srcDevice, c.srcArray, c.srcHost, w.bounce[BEFORE],
		  (size_t[]){ c.srcPitch, c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ, c.srcLOD });
	close_end(s, a->dst, c.dstMemoryType, c.dstDevice, c.dstArray, c.dstHost, w.bounce[BEHIND],
		  (size_t[]){ c.dstPitch, c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ, c.dstLOD });
	a->size[0] = c.WidthInBytes;
	a->size[1] = c.Height;
	a->size[2] = c.Depth;
	return CUDA_SUCCESS;
}
