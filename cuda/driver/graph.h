/* SPDX-License-Identifier: MIT */
/*
 * Graphs: nodes with what they do, and edges. An executable graph is a copy of its own, in an order
 * in which it can run.
 *
 * Locks: `graphs` guards all graphs, executable ones, captures, and what streams and events know of
 * captures. It is taken last, after a context's lock; launching an executable graph waits with it
 * only where any copy of the application's own pages waits. Functions that are called by the host
 * in a stream's order never get as far as taking it.
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

/*
 * a kernel with its arguments; .bytes are laid out as the kernel wants them, .pointers lead into
 * them
 */
struct graph_kernel {
	CUfunction f;
	uint32_t grid[3], block[3], dynamic;
	uint8_t *bytes;
	void **pointers;
	CUaccessPolicyWindow window;	/* kept for who asks; hints that change nothing */
	int priority;
};

/* what a node does */
struct graph_work {
	CUgraphNodeType type;
	union {
		struct graph_kernel kernel;
		CUDA_MEMCPY3D copy;
		CUDA_MEMSET_NODE_PARAMS set;
		CUDA_HOST_NODE_PARAMS host;
		CUgraph child;			/* the node's own */
		CUevent event;
	};
};

struct CUgraphNode_st {
	uint32_t magic;
	uint64_t id, original;		/* never used twice; original: of what it was copied from */
	CUgraph graph;
	struct graph_work work;
	struct node_list before, after;	/* dependencies, dependents */
	CUgraphNode next, prev;
	/* for one walk over the graph */
	unsigned int waiting;
	bool seen;
	/* in executable graphs */
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
	CUgraphNode parent;		/* whose child it is */
	bool capturing;			/* nodes may be added, but not removed */
	struct user_ref *users;
};

struct CUgraphExec_st {
	uint32_t magic;
	CUgraph graph;			/* its nodes are in an order in which they can run */
	struct moment last;		/* end of the last launch */
	CUcontext ctx;			/* where that was, and in which life */
	unsigned int life;
};

extern pthread_mutex_t graphs;
CUresult graphs_enter(void);		/* takes the lock; or an error and nothing locked */
void graphs_leave(void);		/* userobject.c */

struct capture {
	uint64_t id;
	CUgraph graph;
	CUcontext ctx;
	CUstream origin;
	CUstreamCaptureMode mode;
	pthread_t thread;		/* who began it */
	bool invalid;
	struct capture *next;
};

/* graph.c: all of these with the lock held */
bool is_graph(CUgraph graph);
bool is_node(CUgraphNode node);
CUgraph graph_new(void);
void graph_free(CUgraph graph);
/* with children; nodes know what they are copies of */
CUresult graph_copy(CUgraph graph, CUgraph *out);
/* into an order in which nodes can run; false: a cycle, and nothing was changed */
bool graph_sort(CUgraph graph);
/* takes @work over, also when it fails; dependencies are checked */
CUresult graph_add(CUgraph graph, const CUgraphNode *before, size_t n, struct graph_work *work,
		   CUgraphNode *out);
/* the copy of that node, in children, too */
CUgraphNode graph_find(CUgraph graph, uint64_t original);
bool list_has(const struct node_list *l, CUgraphNode node);
CUresult list_add(struct node_list *l, CUgraphNode node);	/* once */

/* graphnode.c */
void work_free(struct graph_work *w);
CUresult work_copy(struct graph_work *to, const struct graph_work *from);
/*
 * what a node is to do, checked; after an error there is nothing to free. Those with a context take
 * its lock: `graphs` is not held
 */
CUresult work_request(struct graph_work *w, const struct kernel_request *q);
CUresult work_kernel(struct graph_work *w, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult work_memcpy(struct graph_work *w, const CUDA_MEMCPY3D *p, CUcontext ctx);
CUresult work_memset(struct graph_work *w, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx);
CUresult work_host(struct graph_work *w, const CUDA_HOST_NODE_PARAMS *p);
CUresult work_event(struct graph_work *w, CUgraphNodeType type, CUevent event);
struct device_fill fill_of(const CUDA_MEMSET_NODE_PARAMS *p);

/* graphexec.c */
bool is_exec(CUgraphExec exec);
/* nodes in an order in which they can run; INVALID_VALUE: there is none */
CUresult exec_copy(CUgraph graph, CUgraph *out);
/* without the lock: its last launch is over, where it refers to user objects */
void exec_await(CUgraphExec exec);

/* capture.c */
/* enter_stream() for who asks about a capture */
CUresult enter_asking(CUstream handle, CUcontext *ctx, CUstream *s);

/* userobject.c, with the lock held */
void users_free(CUgraph graph);
CUresult users_copy(CUgraph to, CUgraph from);

#endif
