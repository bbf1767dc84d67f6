// SPDX-License-Identifier: MIT
/*
 * Executable graphs. Branches run side by side as far as the GPU's queues do. Launches of one
 * executable graph in one context run one after the other.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* ------------------------------------------------------------------ making */

static CUresult sort_all(CUgraph graph)
{
	CUresult r = graph_sort(graph);
	CUgraphNode node;

	for (node = graph->first; node && !r; node = node->next)
		if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
			r = sort_all(node->work.child);
	return r;
}

CUresult exec_copy(CUgraph graph, CUgraph *out)
{
	CUresult r = graph_copy(graph, out);

	if (r)
		return r;
	r = sort_all(*out);
	if (r)
		graph_free(*out);
	return r;
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph)
{
	CUgraphExec exec = calloc(1, sizeof(*exec));
	CUresult r = exec ? exec_copy(graph, &exec->graph) : CUDA_ERROR_OUT_OF_MEMORY;

	if (r) {
		free(exec);
		return r;
	}
	exec->magic = MAGIC_EXEC;
	*out = exec;
	return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	const unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
					 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!exec || !is_graph(graph) || graph->capturing || flags & ~known)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = instantiate(exec, graph);
	graphs_leave();
	return r;
}

/* *bad is always NULL */
CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log,
			       size_t size)
{
	if (bad)
		*bad = NULL;
	if (log && size)
		log[0] = 0;
	return cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log,
			    size_t size)
{
	return cuGraphInstantiate_v2(exec, graph, bad, log, size);
}

bool is_exec(CUgraphExec exec)
{
	return exec && exec->magic == MAGIC_EXEC;
}

static bool has_users(CUgraph graph)
{
	CUgraphNode node;

	for (node = graph->first; node; node = node->next)
		if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH && has_users(node->work.child))
			return true;
	return graph->users;
}

/* After an error the GPU does nothing more, but a host function that has begun goes on. */
static void await_launches(const struct launched *l)
{
	bool same;

	pthread_mutex_lock(&l->ctx->lock);
	same = l->ctx->alive && l->ctx->life == l->life;
	pthread_mutex_unlock(&l->ctx->lock);
	if (same && moment_wait(l->ctx, &l->last))
		host_settle(l->ctx, l->life, l->last.seq[QUEUE_HOST]);
}

/* User objects have to live until the launches are over. */
void exec_await(CUgraphExec exec)
{
	const struct launched *l = has_users(exec->graph) ? exec->launched : NULL;

	for (; l; l = l->next)
		await_launches(l);
}

static void exec_free(CUgraphExec exec)
{
	struct launched *l;

	graph_free(exec->graph);
	while ((l = exec->launched)) {
		exec->launched = l->next;
		free(l);
	}
	free(exec);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (is_exec(exec))
		exec->magic = 0; /* from here on the graph is this thread's alone */
	else
		r = CUDA_ERROR_INVALID_VALUE;
	graphs_leave();
	if (r)
		return r;
	exec_await(exec);
	pthread_mutex_lock(&graphs);
	exec_free(exec);
	graphs_leave();
	return CUDA_SUCCESS;
}

/* ------------------------------------------------ running; with the context and `graphs` locked */

static CUresult run_kernel(const struct graph_kernel *k, CUcontext ctx, CUstream s)
{
	size_t size = k->f->kernel->param_size;
	void *extra[] = { CU_LAUNCH_PARAM_BUFFER_POINTER, k->bytes, CU_LAUNCH_PARAM_BUFFER_SIZE,
			  &size, CU_LAUNCH_PARAM_END };
	struct kernel_request q = { .f = k->f, .dynamic = k->dynamic, .extra = extra };

	if (!is_function(k->f) || k->f->module->ctx != ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	memcpy(q.grid, k->grid, sizeof(q.grid));
	memcpy(q.block, k->block, sizeof(q.block));
	return kernel_launch(ctx, &q, s);
}

static CUresult run_event(const struct graph_work *w, CUcontext ctx, CUstream s)
{
	CUevent e = event_of(ctx, w->event);

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
		return event_record(ctx, s, e);
	if (e->recorded)
		stream_await(s, &e->at);
	return CUDA_SUCCESS;
}

static CUresult run_graph(CUgraph graph, CUcontext ctx, const struct moment *begin,
			  struct moment *end);

static CUresult run_work(const struct graph_work *w, CUcontext ctx, CUstream s)
{
	struct moment end = s->last;
	CUresult r;

	switch (w->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return run_kernel(&w->kernel, ctx, s);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return box_copy(ctx, s, &w->copy);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return set_lines(ctx, s, fill_of(&w->set), w->set.width, w->set.height);
	case CU_GRAPH_NODE_TYPE_HOST:
		return host_call(ctx, s, w->host.fn, w->host.userData);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		r = run_graph(w->child, ctx, &s->last, &end);
		s->last = end;
		return r;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return run_event(w, ctx, s);
	case CU_GRAPH_NODE_TYPE_EMPTY:
	case CU_GRAPH_NODE_TYPE_CONDITIONAL: /* none is made */
		break;
	}
	return CUDA_SUCCESS;
}

/*
 * Each node has its own stream, which begins after its dependencies. *end: of all nodes that were
 * begun, also after an error.
 */
static CUresult run_graph(CUgraph graph, CUcontext ctx, const struct moment *begin,
			  struct moment *end)
{
	CUgraphNode node;
	CUresult r = CUDA_SUCCESS;
	size_t i;

	*end = *begin;
	for (node = graph->first; node && !r; node = node->next) {
		struct CUstream_st s = { .magic = MAGIC_STREAM,
					 .ctx = ctx,
					 .flags = CU_STREAM_NON_BLOCKING,
					 .last = *begin };

		for (i = 0; i < node->before.n; i++)
			moment_merge(&s.last, &node->before.at[i]->end);
		if (!node->disabled)
			r = run_work(&node->work, ctx, &s);
		node->end = s.last;
		moment_merge(end, &node->end);
	}
	return r;
}

static struct launched *launched_in(CUgraphExec exec, CUcontext ctx)
{
	struct launched *l;

	for (l = exec->launched; l && l->ctx != ctx; l = l->next)
		;
	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l)
			return NULL;
		*l = (struct launched){ .ctx = ctx, .life = ctx->life, .next = exec->launched };
		exec->launched = l;
	}
	if (l->life != ctx->life) {
		l->life = ctx->life;
		memset(&l->last, 0, sizeof(l->last));
	}
	return l;
}

static CUresult launch(CUgraphExec exec, CUcontext ctx, CUstream s)
{
	struct launched *l = launched_in(exec, ctx);
	struct moment begin = stream_begin(s), end;
	CUresult r;

	if (!l)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->parallel = true;
	moment_merge(&begin, &l->last);
	r = run_graph(exec->graph, ctx, &begin, &end);
	l->last = end;
	stream_await(s, &end);
	return r;
}

/* ------------------------------------------------------------------ launching */

/* No graphs_leave() here: it may call destructors, and @ctx is locked. */
static CUresult locked_launch(CUgraphExec exec, CUcontext ctx, CUstream s)
{
	CUresult r;

	pthread_mutex_lock(&graphs);
	r = is_exec(exec) ? launch(exec, ctx, s) : CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_unlock(&graphs);
	return r;
}

/* A capturing stream refuses a launch, as seen on a GPU. */
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = exec ? ctx_enter_work(stream, &ctx, &s) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	r = s->capture ? capture_refuse(s) : locked_launch(exec, ctx, s);
	ctx_leave(ctx);
	return r;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	CUcontext ctx;
	CUstream s;
	CUresult r = is_exec(exec) ? ctx_enter_work(stream, &ctx, &s) : CUDA_ERROR_INVALID_VALUE;

	if (r)
		return r;
	if (s->capture)
		r = capture_refuse(s);
	ctx_leave(ctx);
	return r;
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
	return cuGraphLaunch(exec, stream ? stream : CU_STREAM_PER_THREAD);
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
	return cuGraphUpload(exec, stream ? stream : CU_STREAM_PER_THREAD);
}
