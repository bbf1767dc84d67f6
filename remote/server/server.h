/* SPDX-License-Identifier: MIT */
/*
 * Internal header of the process of kvgpu-remoted, or of a proxy (kvgpu-relay), that serves one
 * client, with one serving thread. That thread alone calls what is declared here, but for
 * hosted_run(), ferry_run(), ferry_rests() and ferry_put(), which threads of the library call, too.
 * Handles, places in the arena and lengths of a frame are checked here before the library sees
 * them. A function that carries out a frame returns the call's result, and puts the answer's
 * payload into its reply.
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

enum { SPARE_EVENTS = 64, SHOWN_MAX = 16 };

/* a handle of a library whose calls are forwarded */
struct forwarded {
	uint64_t id;		/* 0: the row is free */
	uint64_t stream;	/* the stream set in the library; 0: the null stream */
	bool on_device;
	void *what;
};
enum { FORWARDS_MAX = 64 };	/* handles of a program */
enum { FORWARD_UNTRIED, FORWARD_THERE, FORWARD_NOT };

struct options {
	/* bytes of device memory that the client may have; 0: all there is */
	uint64_t memory;
	uint64_t arena;
	FILE *dump;		/* frames are written there as text; NULL: they are not */
	/* libcublas and libcurand; empty or NULL: the loader finds them */
	const char *blas, *rand;
	/* prints an error message; NULL: none is printed */
	void (*complain)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

struct server {
	struct kvgpu_remote_port *port;
	/* serve_frame(), which is above held.c and waits.c: they call it for frames that waited */
	void (*carry_out)(struct server *s, const struct kvgpu_remote_head *h,
			  const void *payload);
	struct library library;
	struct options options;
	struct counters *counters;	/* NULL: nobody reads them */
	uint8_t *arena;
	uint64_t arena_bytes;
	uint64_t current;	/* the context that frames are carried out in; 0: none */
	uint32_t mode;		/* capture mode that the client named last, and the library has */
	CUresult deferred;	/* error of a queued call, for the next answer that may report it */

	/* the frame that is served */
	struct kvgpu_remote_head head;
	const void *payload;
	uint64_t served;	/* how many frames were served so far, with this one */
	bool later;		/* the frame gets its answer later */
	bool again;		/* the frame was put aside, and is served again */

	/* handles.c */
	struct entry *entries;
	uint32_t nr_entries, max_entries, free_entry;
	uint32_t *chains, nr_chains;

	/* waits.c */
	struct wait *waits;
	/*
	 * .served of the last frame with kernels that may have printed what the library still has;
	 * 0: none. .printing_in: the number of the stream that has all of them; 0: there are
	 * several, or it is the null stream
	 */
	uint64_t printing, printing_in;
	/*
	 * the event behind a stream's last copy whose marked words came, while it was not seen to
	 * have happened; .served: how many frames were served when they came
	 */
	struct shown {
		uint64_t context, stream, served;
		CUevent event;
	} shown[SHOWN_MAX];
	unsigned int nr_shown;
	bool may_print;	/* a module, or a library such as cuBLAS, may have kernels that print */

	/* pinned.c */
	uint64_t pinned_in;		/* context in which the shared arena is registered; or 0 */
	bool never_pinned;	/* registering the arena failed: no copy tries it again */
	bool reads_late;	/* the library registers memory, but has no address for it */
	/*
	 * if the arena is not shared: the context in which it is registered for copies of graphs,
	 * or 0
	 */
	uint64_t graphs_pinned_in;
	CUdeviceptr arena_device;
	struct noted *noted;		/* copies that may go on */
	unsigned int nr_noted, max_noted;
	struct spare {			/* unused events */
		uint64_t context;
		CUevent event;
	} spare[SPARE_EVENTS];
	unsigned int nr_spare;

	/* hostfunc.c: behind the last function that was submitted in order; NULL: there is none */
	struct {
		CUevent event;
		uint64_t context;
	} ordered;

	/* quota.c */
	struct charge *charges;
	unsigned int nr_charges, max_charges;
	uint64_t charged;
	/* shared with other programs of the same client; NULL: there are none */
	struct pool *pool;
	unsigned int program, nr_programs;	/* this program's row in the pool; number of rows */

	/* forward.c */
	struct forwards *forwards;	/* NULL: no library was wanted yet */
	uint8_t blas_is, rand_is;	/* FORWARD_UNTRIED, FORWARD_THERE or FORWARD_NOT */
	struct forwarded rows[FORWARDS_MAX];

	/* gate.c */
	struct gate *gate;	/* NULL: this process takes no turns on the GPU */
	bool untracked;		/* there may be work on the GPU that no turn accounts for */

	struct small *small;	/* small.c */
	uint32_t mark;		/* the last one of small_mark() */
	struct text *text;
	uint64_t invocations;	/* atomic: events so far that the client acknowledges */
	bool captures;		/* the graph of a capture under way may have a number */
	struct hosted *kept;	/* hostfunc.c: functions that graphs may call */
	bool ferried;		/* a ferry was made once: a child graph may be a copy with one */
	/* keep.c: what graphs use or used; atomic: a reference or a number has ended */
	struct kept *kept_objects;
	bool kept_over;
	unsigned int capturing;	/* captures that were begun and not ended */
	struct user *users;	/* user.c */
	struct user_ref *refs;
	unsigned int nr_refs, max_refs;
	/* copynode.c: copies that differ in an executable graph from its graph */
	struct switched *switched;
	unsigned int nr_switched, max_switched;
	uint8_t *scratch;
	size_t scratch_used;
};

enum { SCRATCH_BYTES = 1 << 20 };

/* ------------------------------------------------------------------ serve.c */

/*
 * Serve frames until the client is gone or was cut off, or there is no memory to keep a frame for
 * its turn.
 */
void serve(struct server *s);
/*
 * @s: zeroed but for what the caller sets: .port, and before serve() .library and .options, and
 * .counters and .pool with its rows if there are any. 0; -1: out of memory
 */
int server_init(struct server *s);
/* For tests: a client's process ends without it. */
void server_fini(struct server *s);
/*
 * Carry out one frame, whose payload is 8-aligned, and send the answer, unless it comes later
 * (waits.c). Not while another frame is carried out.
 */
void serve_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload);

/* ------------------------------------- context.c: what the server's own calls of the library want */

/*
 * Make context @id the library's current one; 0: none. A function that needs another context than
 * the client's for a moment enters the client's again before it returns.
 */
CUresult enter_context(struct server *s, uint64_t id);
/*
 * Between relax() and unrelax(), which gets relax()'s result, the server's own calls of the library
 * don't end a capture of the client.
 */
CUstreamCaptureMode relax(struct server *s);
void unrelax(struct server *s, CUstreamCaptureMode mode);
/*
 * CUDA_SUCCESS; CUDA_ERROR_NOT_SUPPORTED: the stream captures, so what is submitted would be done
 * later; or the stream's error.
 */
CUresult not_capturing(struct server *s, CUstream stream);
/* a stream of the server's own in the current context, which waits for no other stream */
CUresult own_stream(struct server *s, CUstream *out);

/* ------------------------------------------- frame.c: what functions that carry out a frame share */

/* @n elements of @size bytes, zeroed, until the frame is done; NULL: too many */
void *scratch(struct server *s, uint64_t n, size_t size);
bool is_zero(const void *p, size_t n);
/* Read a list of @n handles from the frame, into scratch(). NULL: the list is wrong or too long. */
void *list_open(struct server *s, struct kvgpu_remote_cursor *in, unsigned int class, uint64_t n);
bool list_close(struct server *s, struct kvgpu_remote_reply *out, unsigned int class,
		const void *list, uint64_t n, uint64_t parent);
/*
 * Answer frame @head, if it has a box; else keep the error @r, if none is kept yet, for a later
 * answer. If op_reports(), first send what kernels have printed; the answer then tells a kept
 * error, unless @r is CUDA_ERROR_NOT_READY.
 */
void answer(struct server *s, const struct kvgpu_remote_head *head, CUresult r,
	    const struct kvgpu_remote_reply *out);

/* made of remote/api.def: cases.c */
CUresult serve_op(struct server *s, uint16_t op, struct kvgpu_remote_cursor *in,
		  struct kvgpu_remote_reply *out);
/* whether the answer to @op reports errors of queued calls */
bool op_reports(uint16_t op);
/* whether the answer to @op may have a new number */
bool op_gives(uint16_t op);
/* whether @op is work for the GPU; the offset of the stream in its frame, -1: the null stream */
bool op_works(uint16_t op);
int op_stream_at(uint16_t op);
/* whether the answer to @op is the same before and after queued work */
bool op_passes(uint16_t op);

/* ------------------------------------------------- handles.c: numbers for the library's objects */

struct entry {
	void *what;		/* NULL: the entry is free */
	uint64_t id;
	uint32_t next;		/* next entry of the hash chain, or next free entry */
	uint32_t parent, child, before, after;
	uint64_t charged;	/* bytes of device memory */
	uint32_t bytes;		/* of a function's parameters; UINT32_MAX: not known */
	unsigned int attached;	/* of a context: users besides the first */
	CUstream beside;	/* of a context: own_stream() */
	/* keep.c: of an event or a module, graphs' references; of a graph, what it refers to */
	struct kept *kept;
	struct keeper *keeps;
	/* an executable graph was updated: its copies may differ from those of its graph */
	bool updated;
	/* s->served when the entry was made, and when a node's ferries were changed last */
	uint64_t born, changed;
};

/* false: @id is no handle of that class */
bool handle_find(struct server *s, unsigned int class, uint64_t id, void **what);
/*
 * NULL: @id is no handle. The entry may move when a number is given (handle_give(), handle_room()).
 */
struct entry *handle_entry(struct server *s, uint64_t id);
/* numbers 0 and 1 are the null stream */
bool stream_find(struct server *s, uint64_t id, CUstream *stream);
/* the handle on which handle @id hangs; 0: none */
uint64_t parent_of(struct server *s, uint64_t id);
/*
 * The number of @what, a new one if it has none yet. @parent: the handle whose end also ends @what;
 * 0: none. Returns 0 if @what is NULL, or there is no room.
 */
uint64_t handle_give(struct server *s, unsigned int class, const void *what, uint64_t parent);
/* Whether there is a number for one more object. Ask before the library makes it. */
bool handle_room(struct server *s);
/* The number of @what; 0: it has none. Gives no new number. */
uint64_t handle_known(const struct server *s, unsigned int class, const void *what);
/* From now on number @id, which is in use, stands for @what. */
void handle_point(struct server *s, uint64_t id, void *what);
/* Take the handle off its parent, so that it does not end with the parent. */
void handle_free(struct server *s, uint64_t id);
/* Free the entry, below which no other one hangs: its number is no handle any more (ends.c). */
void handle_take_out(struct server *s, struct entry *e);

/* ------------------------------------------------------------ ends.c: what ends with what */

/*
 * End the handle and all handles below it, with their charges and their waits, whose frames are
 * answered with an error. The caller ends the library's objects.
 */
void handle_drop(struct server *s, uint64_t id);
/* The same for all handles below the handle; the handle itself stays, and its own waits end. */
void handle_empty(struct server *s, uint64_t id);
/* Forget the graphs of captures that go on: the library may have destroyed them */
void captures_forget(struct server *s);
/*
 * Context @id is about to end, or has ended: end what waits in it, and forget its work. Does
 * nothing if @id is no context's number.
 */
void context_leave(struct server *s, uint64_t id);

/* ----------------------------- waits.c: frames that wait for the GPU, without holding up others */

/* Look at all waits, between two frames. Return whether one of them ended. */
bool waits_look(struct server *s);
/*
 * The event, or the context, ends: end the waits for that event, or those that began in that
 * context, with an error. Waits for copies go on.
 */
void waits_forget_event(struct server *s, const void *event);
void waits_forget_context(struct server *s, uint64_t context);
/*
 * Whether a frame was put aside (held_by_stream()): its work is still to come, so that gate.c keeps
 * the client's turn.
 */
bool waits_aside(const struct server *s);
void waits_free(struct server *s);
/*
 * True: the stream is busy, and the frame is put aside until the stream has done what it has to do
 * now.
 */
bool held_by_stream(struct server *s, CUstream stream);
/* Wait, in the library, until the stream has done all its work. */
CUresult wait_for_stream(struct server *s, CUstream stream);
/*
 * An error if the stream captures: a graph would name the copy's host memory. CUDA_SUCCESS if
 * captures of other streams forbid a copy in the null stream: the copy's call has to return that
 * error.
 */
CUresult may_copy(struct server *s, CUstream stream);
/*
 * True: the frame is answered when the stream has done what it has to do now; the payload is @n
 * bytes at @bytes, which came from small_take(). @pattern: small_mark() of them, which was called
 * before their copy was queued; that copy must be the last that the stream has to do. 0: no mark.
 * False: nothing was begun.
 */
bool answer_behind(struct server *s, CUstream stream, void *bytes, uint64_t n, uint32_t pattern);
/* Answer the frame when all copies that copy_begun() noted for frames up to @upto are done. */
CUresult wait_for_copies(struct server *s, uint64_t upto);

/* ------------------------------------------- pinned.c: the arena as the library's pinned memory */

/*
 * Register the arena as the library's pinned memory. True: it is: copies from or to it may go on
 * after the library has returned.
 */
bool arena_pinned(struct server *s);
/*
 * Whether a graph's copy reads the arena when the copy runs; registers the arena for that. A
 * library may read other memory when the graph is launched: NVIDIA's does.
 */
bool arena_for_graphs(struct server *s);
/*
 * The frame that is served began a copy from or to the arena in @stream. Returns the stream's
 * error, or CUDA_SUCCESS.
 */
CUresult copy_begun(struct server *s, CUstream stream);
/* CUDA_SUCCESS: all noted copies of frames up to @upto are done; else CUDA_ERROR_NOT_READY */
CUresult copies_look(struct server *s, uint64_t upto);
/*
 * Stream number @stream of the current context has done all that it had when @served frames were
 * served, its noted copies, too. 0: no stream.
 */
void copies_ended(struct server *s, uint64_t stream, uint64_t served);
void copies_forget(struct server *s, uint64_t context);
/* Take an event of the current context, without timing. */
CUresult event_take(struct server *s, CUevent *event);
/* Give an event back. @context: the event's, which must be the current one. */
void event_put(struct server *s, uint64_t context, CUevent event);

/* ------------------------------------------ small.c: pinned memory for a few bytes of an answer */

/*
 * Take KVGPU_REMOTE_INLINE_MAX bytes to which the GPU itself writes; NULL: there are none in this
 * context, or none now.
 */
void *small_take(struct server *s);
void small_put(struct server *s, void *bytes);
/*
 * Before a copy of @n bytes to @bytes, which came from small_take(), write a mark to each word
 * there. Returns the mark; 0: copies of so many bytes, or with this library, have none.
 */
uint32_t small_mark(struct server *s, void *bytes, uint64_t n);
/*
 * Whether all words are there in the place of the mark: then the copy is over. False: it is not, or
 * a copied word is as the mark is.
 */
bool small_came(const void *bytes, uint64_t n, uint32_t mark);
/* the context has ended, and its pinned memory with it */
void small_forget(struct server *s, uint64_t context);
void small_free(struct server *s);

/* -------------------------------------------------- forward.c, forwarded.c: cuBLAS and cuRAND */

/* the row of handle @id; NULL: it is no handle of these libraries */
struct forwarded *forward_row(struct server *s, uint64_t id);
/*
 * Find the row of handle @id, which has to be of the current context, and set the stream with
 * number @stream in its library.
 */
CUresult forward_enter(struct server *s, unsigned int class, uint64_t id, uint64_t stream,
		       struct forwarded **row);
/* tell cuBLAS whether scalars are in device memory, if it was told otherwise before */
CUresult forward_mode(struct server *s, struct forwarded *f, bool on_device);
/* whether @ptr is an address that libcuda knows, or NULL */
bool forward_device(struct server *s, uint64_t ptr);
/* a scalar's address: that of the frame's field, or the device address that is in the field */
const void *forward_scalar(const void *field, uint32_t flags);
/* the library's @status as a result; for a queued call, as the CUDA error that is reported later */
CUresult forward_status(const struct server *s, unsigned int class, int status);
/*
 * A scalar that a call returns: the library writes it to .at. If forward_result() returns an error,
 * or has set s->later, don't call the library. Else call forward_answer() afterwards; @r: the
 * library's status as a result.
 */
struct forward_result {
	void *at, *small, *here;
	size_t bytes;
};
CUresult forward_result(struct server *s, struct forwarded *f, uint32_t flags, uint64_t address,
			size_t bytes, struct kvgpu_remote_reply *out, struct forward_result *to);
CUresult forward_answer(struct server *s, struct forwarded *f, struct forward_result *to,
			CUresult r);
/* number @id ends: free its row */
void forward_forget(struct server *s, uint64_t id);
/* stream or context @id is about to end */
void forward_leave_stream(struct server *s, uint64_t id);
void forward_leave_context(struct server *s, uint64_t id);

/* ------------------------------------------------------------------ quota.c */

/* the quota is charged in multiples of so many bytes */
enum { QUOTA_UNIT = 512 };

/* How much more the client may have; UINT64_MAX: there is no limit. */
uint64_t quota_left(const struct server *s);
/*
 * Take @bytes from the quota before an allocation; then call quota_charge(), add them to .charged
 * of the object's entry, or call quota_give(). False: there is not so much left.
 */
bool quota_take(struct server *s, uint64_t bytes);
void quota_give(struct server *s, uint64_t bytes);
/*
 * The allocation for which @bytes were taken lies at @ptr. False: out of memory, and the bytes were
 * given back.
 */
bool quota_charge(struct server *s, uint64_t ptr, uint64_t bytes);
void quota_return(struct server *s, uint64_t ptr);
void quota_return_context(struct server *s, uint64_t context);

/* ------------------------------------------------------------------ tiles.c */

/*
 * How much device memory an array takes, with its @levels (1: it is no mipmapped array).
 * UINT64_MAX: more than any array can have.
 */
uint64_t array_takes(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels);

/* ---------------------------------------------- text.c: the library's standard output and error */

/* Catch standard output and error from now on. 0 or -errno. */
int text_catch(struct server *s);
void text_send(struct server *s);
void text_free(struct server *s);

/* ------------------------------------------------------------------ library.c */

/* false: not loaded; *why: the reason, never freed */
bool library_load(struct library *l, const char *path, const char **why);

/* ------------------------------------------------- own.c: resources of textures and surfaces */

bool resource_open(struct server *s, const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r);
void resource_close(struct server *s, const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w);

/* ----------------------------------------------------------------- functions that cases.c calls */

/* own_NAME() is called in the place of the library's NAME() */

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
CUresult own_cuCtxSetLimit(struct server *s, CUlimit limit, size_t value);
CUresult own_cuCtxSynchronize(struct server *s);
CUresult own_cuStreamSynchronize(struct server *s, CUstream stream);
CUresult own_cuStreamQuery(struct server *s, CUstream stream);
CUresult own_cuStreamDestroy_v2(struct server *s, CUstream stream);
CUresult own_cuStreamCreate(struct server *s, CUstream *stream, unsigned int flags);
CUresult own_cuStreamCreateWithPriority(struct server *s, CUstream *stream, unsigned int flags,
					int priority);
CUresult own_cuStreamBeginCapture(struct server *s, CUstream stream);
CUresult own_cuStreamBeginCapture_v2(struct server *s, CUstream stream, CUstreamCaptureMode mode);
CUresult own_cuStreamWaitEvent(struct server *s, CUstream stream, CUevent event,
			       unsigned int flags);
CUresult own_cuEventRecordWithFlags(struct server *s, CUevent event, CUstream stream,
				    unsigned int flags);
CUresult own_cuEventDestroy_v2(struct server *s, CUevent event);
CUresult own_cuLaunchGridAsync(struct server *s, CUfunction f, int width, int height,
			       CUstream stream);
CUresult own_cuGraphAddEventRecordNode(struct server *s, CUgraphNode *node, CUgraph graph,
				       const CUgraphNode *dependencies, size_t n, CUevent event);
CUresult own_cuGraphAddEventWaitNode(struct server *s, CUgraphNode *node, CUgraph graph,
				     const CUgraphNode *dependencies, size_t n, CUevent event);
CUresult own_cuGraphEventRecordNodeSetEvent(struct server *s, CUgraphNode node, CUevent event);
CUresult own_cuGraphEventWaitNodeSetEvent(struct server *s, CUgraphNode node, CUevent event);
CUresult own_cuGraphExecEventRecordNodeSetEvent(struct server *s, CUgraphExec exec,
						CUgraphNode node, CUevent event);
CUresult own_cuGraphExecEventWaitNodeSetEvent(struct server *s, CUgraphExec exec, CUgraphNode node,
					      CUevent event);
CUresult own_cuEventSynchronize(struct server *s, CUevent event);
CUresult own_cuEventQuery(struct server *s, CUevent event);
CUresult own_cuEventElapsedTime(struct server *s, float *ms, CUevent start, CUevent end);
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
CUresult own_cuGraphInstantiateWithFlags(struct server *s, CUgraphExec *exec, CUgraph graph,
					 unsigned long long flags);
CUresult own_cuGraphNodeFindInClone(struct server *s, CUgraphNode *node, CUgraphNode original,
				    CUgraph clone);
CUresult own_cuUserObjectRetain(struct server *s, CUuserObject object, unsigned int count);
CUresult own_cuUserObjectRelease(struct server *s, CUuserObject object, unsigned int count);
CUresult own_cuGraphRetainUserObject(struct server *s, CUgraph graph, CUuserObject object,
				     unsigned int count, unsigned int flags);
CUresult own_cuGraphReleaseUserObject(struct server *s, CUgraph graph, CUuserObject object,
				      unsigned int count);
CUresult own_cuModuleUnload(struct server *s, CUmodule module);
CUresult own_cuParamSetv(struct server *s, CUfunction f, int offset, void *bytes, unsigned int n);
CUresult own_cuFuncSetAttribute(struct server *s, CUfunction f, CUfunction_attribute attribute,
				int value);
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

/* call the library's function; CUDA_ERROR_NOT_SUPPORTED if the library lacks it */
#define CALL(s, name, ...) \
	((s)->library.name ? (s)->library.name(__VA_ARGS__) : CUDA_ERROR_NOT_SUPPORTED)

/*
 * hostfunc.c: hosted_run() with the returned pointer calls the client's function with number @id.
 * NULL: out of memory. @once: freed after one call.
 */
struct hosted;
struct hosted *hosted_new(struct server *s, uint64_t id, bool once);
void hosted_free(struct hosted *h);
void hosted_free_all(struct server *s);
void hosted_run(void *hosted);
/* the context is about to end, or has ended, and its events with it */
void ordered_forget(struct server *s, uint64_t context);
/* Frame @h is about to be served: note whether its kernels may print. */
void prints_begin(struct server *s, const struct kvgpu_remote_head *h, const void *payload);

/* --------------------------------------------- ferry.c: the client's memory in copies of graphs */

struct ferry;
struct ferry_end {
	uint64_t id;		/* the client's number of the ferry */
	uint64_t at, bytes;	/* place and size of its piece of the arena */
	/* the client's address, pitch and height, and the box's size: only compared */
	uint64_t mine[3], size[3];
	bool out;		/* the copy writes to this end */
};

/*
 * Take a ferry for the same memory, or a new one with that number; NULL: out of memory. Give it
 * back by ferry_put(), in any thread.
 */
struct ferry *ferry_take(struct server *s, const struct ferry_end *e);
/* With the last reference the ferry ends; the client is told if ferry_kept() was called. */
void ferry_put(struct ferry *f);
struct ferry *ferry_again(struct ferry *f);
/* The ferry's number, which the client has until it is told that the ferry ends. */
uint64_t ferry_kept(struct ferry *f);
const struct ferry_end *ferry_end(const struct ferry *f);
/* @graph, and each copy of it, gets a reference to the ferry. */
CUresult ferry_hold(struct server *s, CUgraph graph, struct ferry *f);
bool ferries_live(const struct server *s);
void ferries_free(struct server *s);
/*
 * What a library has in the place of a ferry, so that it can't use one that has ended; and the
 * ferry, without a reference of its own, NULL: it has ended.
 */
void *ferry_key(const struct ferry *f);
struct ferry *ferry_of(const void *key);
/*
 * Functions of host nodes. The data of ferry_run() is a ferry's key; without the ferry it does
 * nothing. ferry_rests() is in its place while that end of the copy has no ferry, or the copy is
 * switched off.
 */
void ferry_run(void *key);
void ferry_rests(void *nothing);

/* ----------------- gate.c, held.c, work.c: work for the GPU waits for the client's turn */

/* Begin to take turns. @bell: the descriptor that rings the arbiter. 0 or -errno */
int gate_begin(struct server *s, struct door *door, int bell);
void gate_end(struct server *s);
/* kvgpu_remote_next(), but it also returns when the gate has to look at its work. */
int gate_next(struct server *s, int64_t us, struct kvgpu_remote_head *h, const void **payload);
/* Serve the frame, or keep it for later: 0, or -errno. */
int gate_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
/* Serve kept frames, as far as they may go. Return whether one was served. */
bool gate_go_on(struct server *s);
/* Look at the work under way. @quiet: no frame came */
void gate_look(struct server *s, bool quiet);
/* A capture that has begun is over. */
void gate_capture_ended(struct server *s);
/* the context is about to end, or has ended: forget its work */
void gate_forget(struct server *s, uint64_t context);
/*
 * The server itself makes the GPU work, and waits, whoever has the turn: gate_beside_ends() charges
 * the time since gate_beside(), if nothing else does. In the client's turn it charges all of the
 * turn's time that is not accounted yet. Another such pair in between charges nothing.
 */
uint64_t gate_beside(const struct server *s);
void gate_beside_ends(struct server *s, uint64_t since_ns);
/*
 * A context goes on after the gate has forgotten its work: charge the client by the clock until all
 * is idle.
 */
void gate_untracked(struct server *s);

/* ------------------------------------------------------------------ managed.c */

/* the managed memory that contains a variable; 0 bytes: the variable is in none */
void managed_range(struct server *s, CUdeviceptr ptr, uint64_t size, uint64_t *begin,
		   uint64_t *bytes);

/* --------------------------------------------- keep.c: events and modules that graphs refer to */

/*
 * Call before @graph, which may be an executable graph, is given event or function @id: from then
 * on the library's object lives at least as long as what is made of the graph.
 */
CUresult graph_keeps(struct server *s, uint64_t graph, uint64_t id);
/* the same, before a call that @stream may capture */
CUresult capture_keeps(struct server *s, uint64_t stream_id, CUstream stream, uint64_t id);
/*
 * The client ends event or module @id. True: graphs refer to it, so don't call the library; only
 * the number ends now.
 */
bool keeps_end(struct server *s, uint64_t id);
/* the entry ends */
void keeps_forget(struct server *s, struct entry *e);
/* the context has ended, and its events and modules with it */
void keeps_forget_context(struct server *s, uint64_t context);
/* after a frame: have the library end what the client has ended and no graph refers to */
void keeps_reap(struct server *s);
void keeps_free(struct server *s);

/* ------------------------------------- refs.c: what graphs refer to by user objects of the library */

/*
 * From now on @graph, and what the library makes of it, refers to @what. @let_go(@what) is
 * called, in any thread, when nothing refers to it any more, and so it is after an error. Without
 * user objects it is not called.
 */
CUresult graph_refers(struct server *s, CUgraph graph, CUhostFn let_go, void *what);

/* references of a graph to a user object of the client */
struct user_ref {
	uint64_t graph;
	struct user *user;
	unsigned int count;
};
/* NULL: there are none */
struct user_ref *ref_find(struct server *s, uint64_t graph, const struct user *u);
/* note @count more; false: out of memory */
bool ref_add(struct server *s, uint64_t graph, struct user *u, unsigned int count);
/* @count of them, which are there, have ended */
void ref_drop(struct server *s, struct user_ref *h, unsigned int count);
/* graph @to is a clone of @from, with a reference of its own to each object */
void refs_clone(struct server *s, uint64_t from, uint64_t to);
/* how many references graphs have to @u */
uint64_t refs_sum(const struct server *s, const struct user *u);
/* the object, or the graph, has ended */
void refs_forget_user(struct server *s, const struct user *u);
void refs_forget_graph(struct server *s, uint64_t graph);
void refs_free(struct server *s);

/* ------------------------------------------------------------------ user.c: user objects */

void users_free(struct server *s);

/* ------------------------------------------------------------------ copynode.c */

/* @exec has taken over other nodes: switch off again the copies that were switched off */
CUresult switched_again(struct server *s, uint64_t exec);
void switched_forget(struct server *s, uint64_t exec);
/* whether @node is a copy that is a child graph for the library, and has @part in it */
bool is_part_of(struct server *s, CUgraphNode node, CUgraphNode part);

/* copy.c: an end of a box: in the arena, in the library's memory, or an array */
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
CUDA_MEMCPY3D box_without_contexts(const CUDA_MEMCPY3D_PEER *b);


#endif
