/* SPDX-License-Identifier: MIT */
/*
 * Graphs: nodes with what they do, and edges. An executable graph has its own copy of a graph,
 * sorted.
 *
 * Locks: `graphs` guards graphs, executable ones, captures, and the members of streams and events
 * that belong to captures; but capture_forget() may change an event's with the context's lock
 * alone. A stream's are changed with its context's lock, too, which is taken first. A launch holds
 * `graphs`, and may wait for the GPU meanwhile. Host functions can't take it: graphs_enter() and
 * driver.h's ctx_enter...() refuse them.
 */
#ifndef KVGPU_CUDA_DRIVER_GRAPH_H
#define KVGPU_CUDA_DRIVER_GRAPH_H

#include "driver.h"

enum {
	MAGIC_GRAPH = 0x6b677266,
	MAGIC_NODE = 0x6b6e6f64,
	MAGIC_EXEC = 0x6b657865,
	MAGIC_USER = 0x6b757372
};

/* .bytes in the kernel's layout, .pointers to each argument in it */
struct graph_kernel {
	CUfunction f;
	uint32_t grid[3], block[3], dynamic;
	uint8_t *bytes;
	void **pointers;
	CUaccessPolicyWindow window; /* kept for GetAttribute() */
	int priority;
};

struct graph_work {
	CUgraphNodeType type;
	union {
		struct graph_kernel kernel;
		CUDA_MEMCPY3D copy;
		CUDA_MEMSET_NODE_PARAMS set;
		CUDA_HOST_NODE_PARAMS host;
		CUgraph child; /* belongs to the node */
		/* may be destroyed by now: only event_of() says, with its context locked */
		CUevent event;
	};
};

struct CUgraphNode_st {
	uint32_t magic;
	/* .id is never used twice. .original: the id of the node that was copied; 0: no copy */
	uint64_t id, original;
	CUgraph graph;
	struct graph_work work;
	struct node_list before, after; /* what it depends on, and what depends on it */
	CUgraphNode next, prev;
	/* of a walk over the graph */
	unsigned int waiting;
	bool seen;
	/* for executable graphs only */
	bool disabled;
	struct moment end;
};

struct user_ref {
	CUuserObject object;
	unsigned int count;
	struct user_ref *next;
};

struct CUgraph_st {
	uint32_t magic;
	uint64_t id, original;
	CUgraphNode first, last;
	size_t nr_nodes;
	CUgraphNode parent; /* the graph's node in its parent, or NULL */
	bool capturing; /* no node may be removed */
	struct user_ref *users;
};

/* the end of an executable graph's launches in one context, while .ctx->life is .life */
struct launched {
	CUcontext ctx;
	unsigned int life;
	struct moment last;
	struct launched *next;
};

struct CUgraphExec_st {
	uint32_t magic;
	CUgraph graph; /* sorted by graph_sort() */
	struct launched *launched; /* a context once at most */
};

/* userobject.c */
extern pthread_mutex_t graphs;
CUresult graphs_enter(void); /* after an error nothing is locked */
/*
 * Gives the lock back, then calls destructors, functions of the application. So call ctx_leave()
 * first. A caller that keeps a context locked uses pthread_mutex_lock() and pthread_mutex_unlock()
 * instead (ctx_enter...() has refused host functions), and, if it freed a graph, calls
 * users_destroy() after ctx_leave().
 */
void graphs_leave(void);

struct capture {
	uint64_t id;
	CUgraph graph;
	CUcontext ctx;
	CUstream origin; /* in which it began, and has to end */
	CUstreamCaptureMode mode;
	pthread_t thread;
	bool invalid; /* set with `graphs`; read without it with __atomic */
	struct capture *next;
};

static inline bool is_graph(CUgraph graph)
{
	return graph && graph->magic == MAGIC_GRAPH;
}

static inline bool is_node(CUgraphNode node)
{
	return node && node->magic == MAGIC_NODE;
}

/* graph.c: with the lock held */
CUgraph graph_new(void);
void graph_free(CUgraph graph);
/* Copy with children. The .original of a copied node is the id of its original. */
CUresult graph_copy(CUgraph graph, CUgraph *out);
/*
 * Bring the nodes into an order in which they can run. INVALID_VALUE: a cycle. After an error
 * nothing has changed.
 */
CUresult graph_sort(CUgraph graph);
/* Takes over @work, also when it fails. */
CUresult graph_add(CUgraph graph, const CUgraphNode *before, size_t n, struct graph_work *work,
		   CUgraphNode *out);
/* The copy of the node with the id @original, also in children. */
CUgraphNode graph_find(CUgraph graph, uint64_t original);
bool list_has(const struct node_list *l, CUgraphNode node);
CUresult list_add(struct node_list *l, CUgraphNode node); /* not twice */

/* graphwork.c. work_free() and work_copy() need the lock for a child graph. */
void work_free(struct graph_work *w);
/* After an error *to is not to be freed. */
CUresult work_copy(struct graph_work *to, const struct graph_work *from);
/* Check, and fill in @w. Needs no lock. After an error there is nothing to free. */
CUresult work_request(struct graph_work *w, const struct kernel_request *q);
/* graphnode.c: the same, called with nothing locked. */
CUresult work_kernel(struct graph_work *w, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult work_memcpy(struct graph_work *w, const CUDA_MEMCPY3D *p, CUcontext ctx);
CUresult work_memset(struct graph_work *w, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx);
CUresult work_host(struct graph_work *w, const CUDA_HOST_NODE_PARAMS *p);
CUresult work_event(struct graph_work *w, CUgraphNodeType type, CUevent event);
struct device_fill fill_of(const CUDA_MEMSET_NODE_PARAMS *p);

/* graphexec.c: call with the lock held, but for exec_await(); without it is_exec() is a hint */
bool is_exec(CUgraphExec exec);
/* A sorted copy. INVALID_VALUE: a cycle. */
CUresult exec_copy(CUgraph graph, CUgraph *out);
/*
 * Call without a lock. Waits for the last launch in each context, if the graph refers to user
 * objects: then no host function of a launch is running or is still to come. No other thread may
 * use @exec: the application sees to that.
 */
void exec_await(CUgraphExec exec);

/*
 * capture.c: ctx_enter_stream() for questions about captures. The legacy stream is refused while a
 * stream that it waits for captures; that capture stays valid.
 */
CUresult ctx_enter_asking(CUstream handle, CUcontext *ctx, CUstream *s);

/* userobject.c: with the lock held; users_destroy() calls the destructors */
void users_free(CUgraph graph);
CUresult users_copy(CUgraph to, CUgraph from);

#endif
