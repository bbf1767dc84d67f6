// SPDX-License-Identifier: MIT
/*
 * The fake library's graphs, as far as the server asks about their contents: nodes with their
 * functions; child graphs, which are copies; and user objects, whose destructors are called when
 * the last reference to them is gone.
 */
#include "fake.h"

#include <assert.h>
#include <stdlib.h>

size_t fake_whole_most = SIZE_MAX;
CUgraphConditionalHandle fake_condition = 0x700;

struct fake_ref {
	struct fake_ref *next;
	struct fake *user;
	unsigned int count;
};

static struct fake *of(const void *handle)
{
	return (struct fake *)(uintptr_t)handle;
}

/* ------------------------------------------------------------------ user objects */

static void let_go(struct fake *user, unsigned int n)
{
	assert(user->count >= n);
	user->count -= n;
	if (user->count)
		return;
	user->magic = 0; /* no longer a handle */
	fake_run(user->host.fn, user->host.userData);
}

static CUresult user_create(CUuserObject *object, void *ptr, CUhostFn destroy, unsigned int count,
			    unsigned int flags)
{
	struct fake *user;

	if (fake_error || !count || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return fake_error ? fake_error : CUDA_ERROR_INVALID_VALUE;
	user = fake_new(CLASS_USER);
	user->count = count;
	user->host = (CUDA_HOST_NODE_PARAMS){ destroy, ptr };
	*object = (CUuserObject)user;
	return fake_result();
}

static CUresult user_retain(CUuserObject object, unsigned int count)
{
	fake_handle(CLASS_USER, object);
	if (!fake_error)
		of(object)->count += count;
	return fake_result();
}

static CUresult user_release(CUuserObject object, unsigned int count)
{
	fake_handle(CLASS_USER, object);
	if (!fake_error && count)
		let_go(of(object), count);
	return fake_result();
}

static void hold(struct fake *graph, struct fake *user, unsigned int count)
{
	struct fake_ref *r = malloc(sizeof(*r));

	*r = (struct fake_ref){ graph->refs, user, count };
	graph->refs = r;
}

static CUresult graph_retain(CUgraph g, CUuserObject object, unsigned int count, unsigned int flags)
{
	fake_handle(CLASS_GRAPH, g);
	fake_handle(CLASS_USER, object);
	if (fake_error || !count || (flags && count > of(object)->count))
		return fake_error ? fake_error : CUDA_ERROR_INVALID_VALUE;
	if (!flags)
		of(object)->count += count;
	hold(of(g), of(object), count);
	return fake_result();
}

static CUresult graph_release(CUgraph g, CUuserObject object, unsigned int count)
{
	struct fake_ref *r, **at;

	fake_handle(CLASS_GRAPH, g);
	fake_handle(CLASS_USER, object);
	for (at = &of(g)->refs; (r = *at) && (r->user != of(object) || r->count < count);
	     at = &r->next)
		;
	if (fake_error || !r || !count)
		return fake_error ? fake_error : CUDA_ERROR_INVALID_VALUE;
	r->count -= count;
	if (!r->count) {
		*at = r->next;
		free(r);
	}
	let_go(of(object), count);
	return fake_result();
}

/* ------------------------------------------------------------------ graphs and nodes */

static void put_in(struct fake *node, struct fake *graph)
{
	node->in = graph;
	node->beside = graph->nodes;
	graph->nodes = node;
}

static void take_out(struct fake *node)
{
	struct fake **at;

	if (!node->in)
		return;
	for (at = &node->in->nodes; *at != node; at = &(*at)->beside)
		;
	*at = node->beside;
	node->in = node->beside = NULL;
}

static void end_graph(struct fake *g)
{
	struct fake *n;

	while (g->refs) {
		struct fake_ref *r = g->refs;

		g->refs = r->next;
		let_go(r->user, r->count);
		free(r);
	}
	while ((n = g->nodes)) {
		take_out(n);
		if (n->child)
			end_graph(n->child);
		n->child = NULL;
	}
}

void fake_graphs_end(void)
{
	struct fake *f;

	for (f = fake_all; f; f = f->next)
		while (f->refs) {
			struct fake_ref *r = f->refs;

			f->refs = r->next;
			free(r);
		}
}

/* @n plus the nodes and references of the graph and its children; not far beyond the most */
static size_t count_whole(const struct fake *g, size_t n)
{
	const struct fake_ref *r;
	const struct fake *node;

	for (r = g->refs; r && n <= fake_whole_most; r = r->next)
		n++;
	for (node = g->nodes; node && n <= fake_whole_most; node = node->beside)
		n = node->child ? count_whole(node->child, n + 1) : n + 1;
	return n;
}

static struct fake *copy_graph(struct fake *g)
{
	struct fake *made = fake_new(CLASS_GRAPH), *n, *copy;
	struct fake_ref *r;

	for (n = g->nodes; n; n = n->beside) {
		copy = fake_new(CLASS_NODE);
		copy->type = n->type;
		copy->host = n->host;
		copy->copy = n->copy;
		copy->before = n->before;
		put_in(copy, made);
		copy->child = n->child ? copy_graph(n->child) : NULL;
	}
	for (r = g->refs; r; r = r->next) {
		r->user->count++;
		hold(made, r->user, 1);
	}
	return made;
}

static struct fake *add(CUgraph g, const CUgraphNode *d, size_t n, CUgraphNodeType type)
{
	struct fake *node;

	fake_handle(CLASS_GRAPH, g);
	fake_handles(CLASS_NODE, (void *const *)d, n);
	node = fake_new(CLASS_NODE);
	node->type = type;
	if (g)
		put_in(node, of(g));
	node->before = n;
	return node;
}

static CUresult host_node(CUgraphNode *node, CUgraph g, const CUgraphNode *d, size_t n,
			  const CUDA_HOST_NODE_PARAMS *p)
{
	struct fake *made = add(g, d, n, CU_GRAPH_NODE_TYPE_HOST);

	made->host = *p;
	*node = (CUgraphNode)made;
	if (!fake_error)
		fake_run(p->fn, p->userData);
	return fake_result();
}

static CUresult copy_node(CUgraphNode *node, CUgraph g, const CUgraphNode *d, size_t n,
			  const CUDA_MEMCPY3D *c, CUcontext ctx)
{
	struct fake *made = add(g, d, n, CU_GRAPH_NODE_TYPE_MEMCPY);

	fake_handle(CLASS_CONTEXT, ctx);
	made->copy = *c;
	*node = (CUgraphNode)made;
	fake_box(c);
	return fake_result();
}

static CUresult child_node(CUgraphNode *node, CUgraph g, const CUgraphNode *d, size_t n,
			   CUgraph child)
{
	struct fake *made;

	fake_handle(CLASS_GRAPH, child);
	if (child && count_whole(of(child), 0) > fake_whole_most)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made = add(g, d, n, CU_GRAPH_NODE_TYPE_GRAPH);
	if (child)
		made->child = copy_graph(of(child));
	*node = (CUgraphNode)made;
	return fake_result();
}

/* as NVIDIA's library: the list is the node's */
static CUresult condition_node(struct fake *made, CUDA_CONDITIONAL_NODE_PARAMS *p)
{
	uint32_t i;

	fake_handle(CLASS_CONTEXT, p->ctx);
	assert(p->handle == fake_condition && p->size <= FAKE_BODIES);
	for (i = 0; i < p->size; i++)
		made->bodies[i] = fake_new(CLASS_GRAPH);
	p->phGraph_out = (CUgraph *)made->bodies;
	return fake_result();
}

/* a child graph is moved: the node has it, and no copy */
static CUresult any_node(CUgraphNode *node, CUgraph g, const CUgraphNode *d,
			 const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *p)
{
	struct fake *made;

	assert(!edges);
	made = add(g, d, n, p->type);
	*node = (CUgraphNode)made;
	if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
		return condition_node(made, &p->conditional);
	assert(p->type == CU_GRAPH_NODE_TYPE_GRAPH &&
	       p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
	fake_handle(CLASS_GRAPH, p->graph.graph);
	if (!fake_error)
		made->child = of(p->graph.graph);
	return fake_result();
}

static CUresult condition(CUgraphConditionalHandle *handle, CUgraph g, CUcontext ctx,
			  unsigned int value, unsigned int flags)
{
	fake_handle(CLASS_GRAPH, g);
	if (ctx)
		fake_handle(CLASS_CONTEXT, ctx);
	*handle = fake_condition;
	return fake_result();
}

static CUresult destroy_graph(CUgraph g)
{
	fake_handle(CLASS_GRAPH, g);
	if (!fake_error && g)
		end_graph(of(g));
	return fake_result();
}

static CUresult destroy_node(CUgraphNode node)
{
	fake_handle(CLASS_NODE, node);
	if (fake_error || !node)
		return fake_result();
	if (of(node)->child)
		end_graph(of(node)->child);
	of(node)->child = NULL;
	take_out(of(node));
	return fake_result();
}

static CUresult clone_graph(CUgraph *made, CUgraph g)
{
	fake_handle(CLASS_GRAPH, g);
	if (g && count_whole(of(g), 0) > fake_whole_most)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*made = g ? (CUgraph)copy_graph(of(g)) : NULL;
	return fake_result();
}

static CUresult get_type(CUgraphNode node, CUgraphNodeType *type)
{
	fake_handle(CLASS_NODE, node);
	*type = node ? of(node)->type : CU_GRAPH_NODE_TYPE_EMPTY;
	return fake_result();
}

static CUresult get_child(CUgraphNode node, CUgraph *g)
{
	fake_handle(CLASS_NODE, node);
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	if (!of(node)->child)
		of(node)->child = fake_new(CLASS_GRAPH);
	*g = (CUgraph)of(node)->child;
	return fake_result();
}

static CUresult get_nodes(CUgraph g, CUgraphNode *nodes, size_t *n)
{
	size_t found = 0, room = *n;
	struct fake *f;

	fake_handle(CLASS_GRAPH, g);
	for (f = g ? of(g)->nodes : NULL; f; f = f->beside) {
		if (nodes && found < room)
			nodes[found] = (CUgraphNode)f;
		found++;
	}
	*n = nodes && found > room ? room : found;
	return fake_result();
}

static CUresult dependencies(CUgraphNode node, CUgraphNode *nodes, size_t *n)
{
	fake_handle(CLASS_NODE, node);
	if (nodes)
		fake_list(CLASS_NODE, (void **)nodes, n);
	else
		*n = node ? of(node)->before : 0;
	return fake_result();
}

static CUresult get_host(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
	fake_handle(CLASS_NODE, node);
	*p = of(node)->host;
	return fake_result();
}

static CUresult set_host(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
	fake_handle(CLASS_NODE, node);
	if (!fake_error && node)
		of(node)->host = *p;
	if (!fake_error)
		fake_run(p->fn, p->userData);
	return fake_result();
}

static CUresult exec_host(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
	fake_handle(CLASS_EXEC, exec);
	fake_handle(CLASS_NODE, node);
	if (!fake_error)
		fake_run(p->fn, p->userData);
	return fake_result();
}

static CUresult get_copy(CUgraphNode node, CUDA_MEMCPY3D *c)
{
	fake_handle(CLASS_NODE, node);
	if (!node || of(node)->type != CU_GRAPH_NODE_TYPE_MEMCPY)
		return CUDA_ERROR_INVALID_VALUE;
	*c = of(node)->copy;
	return fake_result();
}

static CUresult set_copy(CUgraphNode node, const CUDA_MEMCPY3D *c)
{
	fake_handle(CLASS_NODE, node);
	if (!fake_error && node)
		of(node)->copy = *c;
	fake_box(c);
	return fake_result();
}

static CUresult exec_copy(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *c, CUcontext ctx)
{
	fake_handle(CLASS_EXEC, exec);
	fake_handle(CLASS_NODE, node);
	fake_box(c);
	return fake_result();
}

void fake_graphs(struct library *l)
{
	l->cuUserObjectCreate = user_create;
	l->cuUserObjectRetain = user_retain;
	l->cuUserObjectRelease = user_release;
	l->cuGraphRetainUserObject = graph_retain;
	l->cuGraphReleaseUserObject = graph_release;
	l->cuGraphAddHostNode = host_node;
	l->cuGraphAddMemcpyNode = copy_node;
	l->cuGraphAddChildGraphNode = child_node;
	l->cuGraphAddNode_v2 = any_node;
	l->cuGraphConditionalHandleCreate = condition;
	l->cuGraphDestroy = destroy_graph;
	l->cuGraphDestroyNode = destroy_node;
	l->cuGraphClone = clone_graph;
	l->cuGraphNodeGetType = get_type;
	l->cuGraphChildGraphNodeGetGraph = get_child;
	l->cuGraphGetNodes = get_nodes;
	l->cuGraphNodeGetDependencies = dependencies;
	l->cuGraphHostNodeGetParams = get_host;
	l->cuGraphHostNodeSetParams = set_host;
	l->cuGraphExecHostNodeSetParams = exec_host;
	l->cuGraphMemcpyNodeGetParams = get_copy;
	l->cuGraphMemcpyNodeSetParams = set_copy;
	l->cuGraphExecMemcpyNodeSetParams = exec_copy;
}
