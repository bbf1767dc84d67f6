/* SPDX-License-Identifier: MIT */
/*
 * Inside of a client's process of kvgpu-remoted: one client, one thread that serves. Everything
 * that a frame says is checked here before the library sees it. A function that carries out a frame
 * returns the call's result, and puts the answer's payload into its reply.
 */
#ifndef KVGPU_REMOTE_SERVER_H
#define KVGPU_REMOTE_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <remote/channel/channel.h>
#include <remote/wire/cursor.h>
#include <remote/wire/frame.h>

#include "counters.h"
#include "door.h"
#include "pool.h"
#include "forwards.h"	/* made of remote/api.def, as are the next two */
#include "library.h"
#include "ops.h"

struct wait;
struct entry;
struct text;
struct small;

enum { SPARE_EVENTS = 64 };

/* a handle of a library whose calls are forwarded */
struct forwarded {
	uint64_t id;		/* 0: the row is free */
	uint64_t stream;	/* that the library has; 0: the null stream */
	bool on_device;		/* where it takes scalars to be */
	void *what;
};
enum { FORWARDS_MAX = 64 };	/* of a program */
enum { FORWARD_UNTRIED, FORWARD_THERE, FORWARD_NOT };

struct options {
	/* bytes of device memory that the client may have; 0: all there is */
	uint64_t memory;
	uint64_t arena;
	FILE *dump;		/* frames as text */
	/* libcublas and libcurand; empty or NULL: the loader finds them */
	const char *blas, *rand;
	/* NULL: to nobody */
	void (*complain)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

struct server {
	struct kvgpu_remote_port *port;
	struct library library;
	struct options options;
	struct counters *counters;	/* NULL: no first process looks */
	uint8_t *arena;
	uint64_t arena_bytes;
	uint64_t current;	/* the context that frames are carried out in; 0: none */
	uint32_t mode;		/* of captures, as the library has it */
	CUresult deferred;	/* of a queued call; told by the next that may report it */

	/* the frame that is served */
	struct kvgpu_remote_head head;
	const void *payload;
	uint64_t served;	/* frames so far, this one included */
	bool later;		/* it was put aside: no answer now */
	bool again;		/* it was put aside before, and what it waited for is over */

	/* handles.c */
	struct entry *entries;
	uint32_t nr_entries, max_entries, free_entry;
	uint32_t *chains, nr_chains;

	/* waits.c */
	struct wait *waits;

	/* pinned.c */
	uint64_t pinned_in;		/* the context; 0: it is not */
	bool never_pinned;		/* the library has refused */
	bool reads_late;		/* it registers memory and has no address for it */
	/* where the arena is this side's alone: for copies of graphs; the context, or 0 */
	uint64_t graphs_pinned_in;
	CUdeviceptr arena_device;
	struct noted *noted;		/* in their frames' order */
	unsigned int nr_noted, max_noted;
	struct spare {			/* events are dearer to make than to record */
		uint64_t context;
		CUevent event;
	} spare[SPARE_EVENTS];
	unsigned int nr_spare;

	/* quota.c */
	struct charge *charges;
	unsigned int nr_charges, max_charges;
	uint64_t charged;
	/* with other programs of the same client; NULL: this is the only one */
	struct pool *pool;
	unsigned int program, nr_programs;	/* its row there, of how many */

	/* forward.c */
	struct forwards *forwards;	/* NULL: none was wanted yet */
	uint8_t blas_is, rand_is;
	struct forwarded rows[FORWARDS_MAX];

	/* gate.c */
	struct gate *gate;	/* NULL: the GPU is shared with no other client */
	bool untracked;		/* there may be work on the GPU that no turn accounts for */

	struct small *small;	/* small.c */
	struct text *text;
	uint64_t invocations;	/* of the client's functions; atomic */
	bool captures;		/* a graph of one that goes on may have a number */
	struct hosted *kept;	/* functions that graphs may call, until the end */
	struct ferry *ferries;	/* ferry.c */
	bool ferried;		/* there have been some */
	struct user *users;	/* user.c */
	struct held *held;	/* what graphs have of them */
	unsigned int nr_held, max_held;
	/* copynode.c: copies that are switched off in executable graphs */
	struct switched *switched;
	unsigned int nr_switched, max_switched;
	uint8_t *scratch;	/* of the frame that is served */
	size_t scratch_used;
};

enum { SCRATCH_BYTES = 1 << 20 };

/* ------------------------------------------------------------------ serve.c */

/* until the client is gone */
void serve(struct server *s);
/* 0, or out of memory. @s: zeroed, with port, library and options */
int server_init(struct server *s);
void server_fini(struct server *s);
/* One frame, its payload 8-aligned; the answer goes to the port. */
void serve_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
/* The answer to @head, after what the kernels printed. */
void answer(struct server *s, const struct kvgpu_remote_head *head, CUresult r,
	    const struct kvgpu_remote_reply *out);
/* What the library does next is done in this context; 0: in none. */
CUresult enter_context(struct server *s, uint64_t id);
/*
 * What the server asks of the library for itself is no part of a capture of the client's, and must
 * not end one: relax(), and its result to unrelax() afterwards.
 */
CUstreamCaptureMode relax(struct server *s);
void unrelax(struct server *s, CUstreamCaptureMode mode);
/* @n elements of @size bytes, zeroed, until the frame is done; NULL: too many */
void *scratch(struct server *s, uint64_t n, size_t size);
bool is_zero(const void *p, size_t n);

/* made of remote/api.def: cases.c */
CUresult serve_op(struct server *s, uint16_t op, struct kvgpu_remote_cursor *in,
		  struct kvgpu_remote_reply *out);
/* whether its answer tells of errors of queued calls */
bool op_reports(uint16_t op);
/* it makes something that gets a number */
bool op_gives(uint16_t op);
/* work for the GPU; where its frame names the stream, in bytes, or -1: the null stream */
bool op_works(uint16_t op);
int op_stream_at(uint16_t op);
/* its answer is the same before and after queued work */
bool op_passes(uint16_t op);

/* ------------------------------------------------- handles.c: numbers for what the library gave */

struct entry {
	void *what;		/* NULL: free */
	uint64_t id;
	uint32_t next;		/* of its chain, or of the free ones */
	uint32_t parent, child, before, after;
	uint64_t charged;	/* bytes of device memory */
	uint32_t bytes;		/* a function's parameters; UINT32_MAX: not known */
	unsigned int attached;	/* a context's users */
	CUstream beside;	/* a context's: the server's own, managed.c */
	/* an executable graph's copies are not those of the graph it was made from */
	bool updated;
	/* in which frame, of s->served: the number; a node's ferries last */
	uint64_t born, changed;
};

/* false: it is no such handle */
bool handle_find(struct server *s, unsigned int class, uint64_t id, void **what);
/* NULL: none */
struct entry *handle_entry(struct server *s, uint64_t id);
/* 0 and 1 are the null stream */
bool stream_find(struct server *s, uint64_t id, CUstream *stream);
/* the context that a handle is of; 0: it has none */
uint64_t parent_of(struct server *s, uint64_t id);
/*
 * The number of @what, a new one if it has none yet; @parent: what it ends with, 0: nothing. 0:
 * NULL, or out of memory.
 */
uint64_t handle_give(struct server *s, unsigned int class, const void *what, uint64_t parent);
/*
 * There is a number for one thing more. Asked before the library makes it: what has no number
 * nobody can free.
 */
bool handle_room(struct server *s);
/* Its number if it has one; what the library only remembers may be gone, and gets none. */
uint64_t handle_known(const struct server *s, unsigned int class, const void *what);
/* @what takes the place of what has that number, which there is. */
void handle_point(struct server *s, uint64_t id, void *what);
/* It hangs on nothing from now on. */
void handle_free(struct server *s, uint64_t id);
/* It, and all that hangs on it, is nothing any more. */
void handle_drop(struct server *s, uint64_t id);
/* Only what hangs on it. */
void handle_empty(struct server *s, uint64_t id);
/*
 * handles of a list in the frame, in scratch; NULL: one of them is none, or the frame is too short
 */
void *list_open(struct server *s, struct kvgpu_remote_cursor *in, unsigned int class, uint64_t n);
bool list_close(struct server *s, struct kvgpu_remote_reply *out, unsigned int class,
		const void *list, uint64_t n, uint64_t parent);

/* ----------------------------------- waits.c: what waits for the GPU, without holding up others */

/* Looks at all of them. Returns whether one ended. */
bool waits_look(struct server *s);
/*
 * The thing has ended: nothing of it is touched any more, who waits gets an error. @context: also
 * what began in it
 */
void waits_forget(struct server *s, unsigned int class, const void *what, uint64_t id);
/*
 * whether frames were put aside until their streams are through: copies that are still to be made
 */
bool waits_aside(const struct server *s);
void waits_free(struct server *s);
/* True: the stream was busy, and the frame is served again when it is through what it has now. */
bool held_by_stream(struct server *s, CUstream stream);
/* What the library has begun there for a call that waits is over. */
CUresult wait_for_stream(struct server *s, CUstream stream);
/*
 * CUDA_SUCCESS; or the stream captures, and a copy's host memory would be named by a graph. Where
 * it is other streams' captures that forbid the copy, the library has to say so.
 */
CUresult may_copy(struct server *s, CUstream stream);
/*
 * True: the answer comes when the stream is through what it has now; its payload are @n bytes at
 * @bytes, which small_take() gave.
 * False: nothing was begun, for an event can't be recorded there.
 */
bool answer_behind(struct server *s, CUstream stream, void *bytes, uint64_t n);
/* The frame is answered when all copies of frames up to @upto are over that copy_begun() noted. */
CUresult wait_for_copies(struct server *s, uint64_t upto);

/* ------------------------------------------- pinned.c: the arena as the library's pinned memory */

/*
 * whether it is, from now on: then what copies from or to it may go on after the library has
 * returned
 */
bool arena_pinned(struct server *s);
/*
 * Whether a graph's copy finds in the arena what lies there when it runs. Of memory that it has not
 * registered a library may read when the graph is launched: NVIDIA's does. A library that registers
 * memory and has no address for it reads when the copy runs.
 */
bool arena_for_graphs(struct server *s);
/*
 * The frame that is served began such a copy in that stream. Not CUDA_SUCCESS: the stream's error.
 */
CUresult copy_begun(struct server *s, CUstream stream);
/* CUDA_ERROR_NOT_READY, or all up to that frame are over */
CUresult copies_look(struct server *s, uint64_t upto);
/* the context is about to end, or it has */
void copies_forget(struct server *s, uint64_t context);
/* An event of the current context without a time. */
CUresult event_take(struct server *s, CUevent *event);
/* It is not needed any more; @context, its own, is the current one. */
void event_put(struct server *s, uint64_t context, CUevent event);

/* ------------------------------------------ small.c: pinned memory for a few bytes of an answer */

/*
 * KVGPU_REMOTE_INLINE_MAX bytes, which the GPU writes by itself; NULL: there are none in this
 * context, or none now
 */
void *small_take(struct server *s);
void small_put(struct server *s, void *bytes);
/* the context has ended: its memory went with it */
void small_forget(struct server *s, uint64_t context);
void small_free(struct server *s);

/* ----------------------------------------------------------------- forward.c: cuBLAS and cuRAND */

/*
 * The row of a handle of the current context, whose library has that stream from now on; both are
 * named by their numbers.
 */
CUresult forward_enter(struct server *s, unsigned int class, uint64_t id, uint64_t stream,
		       struct forwarded **row);
/* where it takes scalars to be, from now on */
CUresult forward_mode(struct server *s, struct forwarded *f, bool on_device);
/* whether it is an address that libcuda has given, or NULL */
bool forward_device(struct server *s, uint64_t ptr);
/* a scalar's place: the frame's field, or what the field names */
const void *forward_scalar(const void *field, uint32_t flags);
/* the library's status as a result; of a queued call as the error of CUDA's that is told later */
CUresult forward_status(const struct server *s, unsigned int class, int status);
/*
 * A scalar that the call gives: the library writes it to @at. After forward_result() with s->later
 * set nothing is called.
 */
struct forward_result {
	void *at, *small, *here;
	size_t bytes;
};
CUresult forward_result(struct server *s, struct forwarded *f, uint32_t flags, uint64_t address,
			size_t bytes, struct kvgpu_remote_reply *out, struct forward_result *to);
CUresult forward_answer(struct server *s, struct forwarded *f, struct forward_result *to,
			CUresult r);
/* it is no handle any more */
void forward_forget(struct server *s, uint64_t id);
/* a stream, or a context, is about to end */
void forward_leave_stream(struct server *s, uint64_t id);
void forward_leave_context(struct server *s, uint64_t id);

/* ------------------------------------------------------------------ quota.c */

/* What the client may have besides; UINT64_MAX: there is no limit. */
uint64_t quota_left(const struct server *s);
/*
 * For something that is about to be made: to be charged, or given back. false: there is not so much
 * left
 */
bool quota_take(struct server *s, uint64_t bytes);
void quota_give(struct server *s, uint64_t bytes);
/* What was taken lies at @ptr. false: out of memory, and it was given back */
bool quota_charge(struct server *s, uint64_t ptr, uint64_t bytes);
void quota_return(struct server *s, uint64_t ptr);
void quota_return_context(struct server *s, uint64_t context);

/* ---------------------------------------------- text.c: the library's standard output and error */

/* from now on they are caught, and *log writes where the error went before: 0 or -errno */
int text_catch(struct server *s, FILE **log);
void text_send(struct server *s);
void text_free(struct server *s);

/* ------------------------------------------------------------------ library.c */

/* false: not loaded, and *why, never freed */
bool library_load(struct library *l, const char *path, const char **why);

/* ------------------------------------------------------------------ resource.c */

bool resource_open(struct server *s, const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r);
void resource_close(struct server *s, const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w);

/* ------------------------------------------------------------------ what the cases call */

/* own_NAME() stands for the library's NAME() */

#define FRAME(name)                                                       \
	CUresult frame_##name(struct server *s, const struct q_##name *q, \
			      struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
#define EMPTY_FRAME(name)                                                       \
	CUresult frame_##name(struct server *s, struct kvgpu_remote_cursor *in, \
			      struct kvgpu_remote_reply *out)
FRAME(current); FRAME(fence); EMPTY_FRAME(pin); FRAME(facts); EMPTY_FRAME(init);
FRAME(image);
FRAME(function);
FRAME(global);
FRAME(launch);
FRAME(copy_in);
FRAME(copy_out);
FRAME(box);
FRAME(run);
FRAME(peer);
FRAME(host_call); FRAME(pointer); FRAME(pointer_set); FRAME(capture_info);
FRAME(instantiate); FRAME(update);
FRAME(kernel_node);
FRAME(kernel_node_get);
FRAME(copy_node);
FRAME(copy_node_get);
FRAME(host_node);
FRAME(user_object);
FRAME(managed);
FRAME(managed_in);
FRAME(managed_out);
EMPTY_FRAME(idle);
FRAME(range_attribute);
FRAME(link_create); FRAME(link_add); FRAME(link_complete);
EMPTY_FRAME(blas_create);
FRAME(blas_destroy);
FRAME(rand_create);
FRAME(rand_destroy);
EMPTY_FRAME(rand_version);

CUresult own_cuCtxCreate_v2(struct server *s, CUcontext *ctx, unsigned int flags, CUdevice dev);
CUresult own_cuCtxDestroy_v2(struct server *s, CUcontext ctx);
CUresult own_cuCtxAttach(struct server *s, CUcontext *ctx, unsigned int flags);
CUresult own_cuCtxDetach(struct server *s, CUcontext ctx);
CUresult own_cuDevicePrimaryCtxRelease_v2(struct server *s, CUdevice dev);
CUresult own_cuDevicePrimaryCtxReset_v2(struct server *s, CUdevice dev);
CUresult own_cuCtxSynchronize(struct server *s);
CUresult own_cuStreamSynchronize(struct server *s, CUstream stream);
CUresult own_cuStreamQuery(struct server *s, CUstream stream);
CUresult own_cuStreamDestroy_v2(struct server *s, CUstream stream);
CUresult own_cuEventSynchronize(struct server *s, CUevent event);
CUresult own_cuEventQuery(struct server *s, CUevent event);
CUresult own_cuStreamEndCapture(struct server *s, CUstream stream, CUgraph *graph);
CUresult own_cuGraphNodeGetType(struct server *s, CUgraphNode node, CUgraphNodeType *type);
CUresult own_cuGraphChildGraphNodeGetGraph(struct server *s, CUgraphNode node, CUgraph *graph);
CUresult own_cuGraphExecChildGraphNodeSetParams(struct server *s, CUgraphExec exec,
						CUgraphNode node, CUgraph child);
CUresult own_cuGraphNodeSetEnabled(struct server *s, CUgraphExec exec, CUgraphNode node,
				   unsigned int enabled);
CUresult own_cuGraphNodeGetEnabled(struct server *s, CUgraphExec exec, CUgraphNode node,
				   unsigned int *enabled);
CUresult own_cuGraphClone(struct server *s, CUgraph *clone, CUgraph graph);
CUresult own_cuUserObjectRetain(struct server *s, CUuserObject object, unsigned int count);
CUresult own_cuUserObjectRelease(struct server *s, CUuserObject object, unsigned int count);
CUresult own_cuGraphRetainUserObject(struct server *s, CUgraph graph, CUuserObject object,
				     unsigned int count, unsigned int flags);
CUresult own_cuGraphReleaseUserObject(struct server *s, CUgraph graph, CUuserObject object,
				      unsigned int count);
CUresult own_cuModuleUnload(struct server *s, CUmodule module);
CUresult own_cuLinkDestroy(struct server *s, CUlinkState state);
CUresult own_cuMemGetInfo_v2(struct server *s, size_t *free, size_t *total);
CUresult own_cuMemAlloc_v2(struct server *s, CUdeviceptr *ptr, size_t bytes);
CUresult own_cuMemAllocPitch_v2(struct server *s, CUdeviceptr *ptr, size_t *pitch, size_t width,
				size_t height, unsigned int element);
CUresult own_cuMemFree_v2(struct server *s, CUdeviceptr ptr);
CUresult own_cuArrayCreate_v2(struct server *s, CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc);
CUresult own_cuArray3DCreate_v2(struct server *s, CUarray *array,
				const CUDA_ARRAY3D_DESCRIPTOR *desc);
CUresult own_cuMipmappedArrayCreate(struct server *s, CUmipmappedArray *array,
				    const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels);

/* what the library lacks is refused */
#define CALL(s, name, ...) \
	((s)->library.name ? (s)->library.name(__VA_ARGS__) : CUDA_ERROR_NOT_SUPPORTED)

/*
 * hostfunc.c: a function of the client's, for the library to call with the returned data; NULL: out
 * of memory. @once: freed afterwards
 */
struct hosted;
struct hosted *hosted_new(struct server *s, uint64_t id, bool once);
void hosted_free(struct hosted *h);
void hosted_free_all(struct server *s);
void hosted_run(void *hosted);
/*
 * CUDA_SUCCESS; or the stream captures, and what is submitted would be done later:
 * CUDA_ERROR_NOT_SUPPORTED, or the stream's error
 */
CUresult not_capturing(struct server *s, CUstream stream);

/* --------------------------------------------- ferry.c: the client's memory in copies of graphs */

struct ferry;
struct ferry_end {
	uint64_t id;		/* the client's number */
	uint64_t at, bytes;	/* in the arena */
	uint64_t mine[3], size[3];	/* where the client has it: compared, and nothing else */
	bool out;		/* copied to */
};

/*
 * One that exists with the same memory, or a new one with that number; NULL: out of memory.
 * ferry_put() lets go of it.
 */
struct ferry *ferry_take(struct server *s, const struct ferry_end *e);
/* When nobody has it any more the client is told, if it was ferry_kept() */
void ferry_put(struct ferry *f);
struct ferry *ferry_again(struct ferry *f);
/* Its number: the client has that until it is told. */
uint64_t ferry_kept(struct ferry *f);
const struct ferry_end *ferry_end(const struct ferry *f);
/* @graph, and what is copied from it, has it */
CUresult ferry_hold(struct server *s, CUgraph graph, struct ferry *f);
bool ferries_live(struct server *s);
void ferries_free(struct server *s);
/* functions of nodes: with a ferry for their data; and where it is switched off */
void ferry_run(void *ferry);
void ferry_rests(void *nothing);

/* ----------------------------------------- gate.c: work for the GPU waits for the client's turn */

/* @bell: where the arbiter is rung. 0 or -errno. @s: has a port */
int gate_begin(struct server *s, struct door *door, int bell);
void gate_end(struct server *s);
/* kvgpu_remote_next(), and it returns in time for what the gate has to look at */
int gate_next(struct server *s, int64_t us, struct kvgpu_remote_head *h, const void **payload);
/* Serves the frame, or keeps it for later: 0, or -errno. */
int gate_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
/* Serves kept frames, as far as they may go; whether there was one */
bool gate_go_on(struct server *s);
/* Looks at what is under way. @quiet: no frame came */
void gate_look(struct server *s, bool quiet);
/* the context is about to end, or it has */
void gate_forget(struct server *s, uint64_t context);
/*
 * The context goes on after all, of which the gate has forgotten what is under way: charged by the
 * clock until all is idle
 */
void gate_untracked(struct server *s);

/* ------------------------------------------------------------------ managed.c */

/* a stream of the server's own in the current context, beside all others */
CUresult own_stream(struct server *s, CUstream *out);

/* the managed memory that a variable lies in; 0 bytes: it lies in none */
void managed_range(struct server *s, CUdeviceptr ptr, uint64_t size, uint64_t *begin,
		   uint64_t *bytes);

/* ------------------------------------------------------------------ user.c: user objects */

/* the graph is nothing any more */
void users_forget(struct server *s, uint64_t graph);
void users_free(struct server *s);

/* ------------------------------------------------------------------ copynode.c */

/* after the executable graph took over other nodes: what is switched off stays so */
CUresult switched_again(struct server *s, uint64_t exec);
void switched_forget(struct server *s, uint64_t exec);

/* copy.c: an end of a box, in the arena, the library's memory or an array */
struct side {
	CUmemorytype type;
	uint8_t *host;
	CUdeviceptr device;
	CUarray array;
	CUcontext ctx;
	uint64_t bytes;
};
CUresult side_open(struct server *s, const uint64_t *end, const uint64_t *size, struct side *side);
CUDA_MEMCPY3D_PEER box_from_words(const uint64_t *from, const uint64_t *to, const uint64_t *size,
				  const struct side *src, const struct side *dst);
/* CUDA_MEMCPY3D has what CUDA_MEMCPY3D_PEER has, but for the contexts, which are reserved there */
CUDA_MEMCPY3D box_without_contexts(const CUDA_MEMCPY3D_PEER *b);

/* graph.c: no graph is known any more that a capture showed and that its program does not have */
void captures_forget(struct server *s);

#endif
