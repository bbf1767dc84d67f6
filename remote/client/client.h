/* SPDX-License-Identifier: MIT */
/*
 * Inside of the client, the libcuda.so.1 of a program whose GPU is elsewhere.
 *
 * Locks, outer to inner: managed memory's, `submit` (call.c: frames go out in one order), `objects` (object.c), each file's own
 * (ranges, host memory, arena, functions of the host: leaves). None but the first is held while an answer is waited for.
 */
#ifndef KVGPU_REMOTE_CLIENT_H
#define KVGPU_REMOTE_CLIENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <remote/channel/channel.h>
#include <remote/wire/cursor.h>
#include <remote/wire/frame.h>

#include "ops.h"	/* made of remote/api.def */

/* ------------------------------------------------------------------ init.c */

extern struct kvgpu_remote_channel *channel;	/* from cuInit() on */

/* CUDA_SUCCESS when the library may be used: initialised, in the process that did it */
CUresult client_ready(void);
/* one line on standard error */
void client_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int client_version(void);

/* ------------------------------------------------------------------ find.c */

/* The server's address, and the folder with certificates or NULL; NULL: why there is none was said. One thread. */
const char *find_server(const char **tls_folder);

/* ------------------------------------------------------------------ call.c */

enum { CALL_NO_CONTEXT = 1, CALL_PARTS = 6 };

/* One frame: fixed part, then parts, each padded to 8 bytes. */
struct call {
	uint16_t op;
	const void *fixed;
	size_t bytes;
	struct iovec part[CALL_PARTS];
	unsigned int nr_parts;
	void *owned[2];			/* freed with the call */
	uint64_t push_at, push_bytes;	/* of the arena: the server's before the frame */
	bool apart;			/* it touches no managed memory, whatever the operation is */
	uint64_t seq;			/* out */
	uint64_t turn;			/* out: how many calls had been sent with it */
	/* the answer, until the thread's next call */
	const void *answer;
	size_t answer_bytes, answer_used;
};

/*
 * What is true before any call: initialised, not in a function of the host, with a context that lives unless @flags say otherwise.
 */
CUresult call_enter(unsigned int flags);
/* Sends it and waits; the answer has @fixed bytes at least when it is CUDA_SUCCESS. What the call owns is freed. */
CUresult call_ask(struct call *c, size_t fixed);
/* How many calls have been sent. */
uint64_t call_turn(void);
/* Sends it; its failure is told later. Asks where failures are likely. */
CUresult call_queue(struct call *c);
void call_end(struct call *c);
/* @p stays until the call is sent. */
CUresult call_bytes(struct call *c, const void *p, uint64_t n);
CUresult call_string(struct call *c, const char *text, uint32_t *bytes);
CUresult call_handles(struct call *c, unsigned int class, const void *const *handles, uint64_t n);
/* the parts behind the answer's fixed one, in order; false: the answer is too short */
bool answer_bytes(struct call *c, void *to, uint64_t n);
bool answer_handles(struct call *c, unsigned int class, void **to, uint64_t n, void *parent);
/* the last frame of those that are through: nothing uses arena pieces of it, or of one before it, any more */
uint64_t call_through(void);
/* until all frames up to @upto are; UINT64_MAX: all that were sent */
CUresult call_fence(uint64_t upto);
/* a capture goes on: nothing is queued */
void captures_begun(void);
void captures_ended(void);
bool captures_any(void);
/*
 * What the server asks of a thread comes after what the threads did that called it, and what that thread did before it
 * acknowledges comes before what others do that have heard of it. The server is between, so that nothing else in this process
 * orders them.
 */
void call_due(void);
CUresult call_acknowledge(uint64_t invocation);
/* In a handler of a signal: calls from now on leave alone the answer that this thread may just be reading; false: that is over. */
void call_aside(bool aside);
/* made of remote/api.def */
bool op_touches(uint16_t op);
bool op_reports(uint16_t op);

/* ------------------------------------------------------------------ object.c: what the program's handles point at */

struct object {
	uint64_t id;			/* the server's number; its index is this one's place, too */
	uint32_t class;			/* atomic; CLASS_NONE: free */
	uint32_t parent, child, before, after;	/* `objects`; indexes, 0: none */
	int dev;			/* of a context */
	unsigned int attached;		/* users of a context, more than one */
	bool primary, dead;		/* a context's; dead, atomic: it was destroyed or reset */
	void *more;			/* struct function, struct capture_nodes; freed with it */
};

bool handle_id(unsigned int class, const void *handle, uint64_t *id);
/* what is said of a graph, a node, an executable graph that is none */
static inline CUresult wrong_graph(const void *handle)
{
	return handle ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
}
/*
 * How calls about graphs begin. They need no context. @given: no pointer is NULL that may not be. Then the server's number of
 * @handle is looked up, or those of an executable graph and a node.
 */
CUresult graph_enter(bool given, unsigned int class, const void *handle, uint64_t *id);
CUresult exec_enter(bool given, CUgraphExec exec, uint64_t *exec_id, CUgraphNode node, uint64_t *id);
/* NULL: it is no such handle */
struct object *object_of(unsigned int class, const void *handle);
/*
 * The handle with that number, made if it is new; NULL: 0, or one that can't be. @parent: a handle that it ends with, or NULL;
 * where that is a node, its graph is meant.
 */
void *handle_here(unsigned int class, uint64_t id, void *parent);
void object_end(void *handle);
/* what hangs on it */
void object_empty(void *handle);
struct object *object_parent(const struct object *o);

/* ------------------------------------------------------------------ context.c */

/* the thread's, or NULL; one that is dead counts as none */
void *current_context(void);
/* CUDA_SUCCESS, or why there is none */
CUresult current_check(void);
/* number of the thread's context, and its mode of captures: what the server has to know */
uint64_t current_id(uint32_t *mode);
/* Calls of this thread are made in that context, whatever is on its stack, until it is given back. No two at a time. */
void context_borrow(void *ctx, uint64_t id);
void context_give_back(void);
void context_created(CUcontext ctx, CUdevice dev);
void context_ended(CUcontext ctx);
void context_attached(CUcontext ctx);
void context_detached(CUcontext ctx);
void primary_retained(CUcontext ctx, CUdevice dev);
void primary_released(CUdevice dev);
void primary_reset(CUdevice dev);

/* ------------------------------------------------------------------ device.c */

/* what was asked of the device once; NULL: there is none such, or *r says what went wrong */
const struct a_facts *device_facts(CUdevice dev, CUresult *r);
/* 0: not known */
int device_attribute(CUdevice dev, int attribute);

/* ------------------------------------------------------------------ stream.c */

/* 0 for the null stream; a thread's own is made at its first use */
CUresult stream_id(CUstream stream, uint64_t *id);
/* The call, which succeeded, waited until the stream had nothing left to do. */
void stream_through(uint64_t stream, const struct call *c);
/* That was this thread's last such call, and no call of any thread has been sent since. */
bool stream_is_through(uint64_t stream);
/* whether it is one of the current context's, or a default one */
bool own_stream(CUstream stream);
bool same_context(const void *handle);

/* ------------------------------------------------------------------ ranges.c: device memory, as far as the client knows of it */

void range_add(CUdeviceptr ptr, size_t bytes);
void range_remove(CUdeviceptr ptr);
void ranges_end(const void *ctx);
bool range_has(CUdeviceptr ptr);
/* whether @n elements of @size bytes are in one allocation of the current context */
bool device_span(CUdeviceptr ptr, uint64_t n, unsigned int size);
bool device_spans(CUdeviceptr a, CUdeviceptr b, uint64_t bytes);

/* ------------------------------------------------------------------ arena.c */

void arena_init(void);
/* A piece for long: NOWHERE when there is none left. */
uint64_t arena_get(uint64_t bytes);
void arena_put(uint64_t at);
/*
 * A piece for one frame on its way, KVGPU_REMOTE_PIECE_MAX at most; waits for earlier ones. staging_sent() says which frame has it.
 * NULL: *r says why.
 */
struct staged *staging_get(uint64_t bytes, uint64_t *at, CUresult *r);
void staging_sent(struct staged *piece, uint64_t seq);
void *arena_at(uint64_t at);

/* ------------------------------------------------------------------ hostmem.c: pinned and registered memory */

/* place in the arena of [host, host + bytes), which is pinned in one allocation; NOWHERE: it is not */
uint64_t pinned_at(const void *host, uint64_t bytes);
void hostmem_end(const void *ctx);
/*
 * Whether the server's library has the arena as its own pinned memory: then the GPU copies from and to pinned memory by itself, in
 * the stream's order, after the call has returned. Asks the server, with a context.
 */
bool arena_is_pinned(void);
/* where the GPU sees pinned memory; false: nowhere */
bool pinned_device(const void *host, CUdeviceptr *device);
/* a copy into pinned memory has been queued, at whatever time: such memory may be written behind the program's back */
void pinned_written(void);
/* whether something that comes before it in a stream may still write it */
bool pinned_may_change(void);
struct host_range {
	uint8_t *base;
	uint64_t bytes;
	uint64_t at;		/* in the arena; NOWHERE: registered memory */
	unsigned int flags;
	void *ctx;
};
bool host_find(const void *host, struct host_range *out);

/* ------------------------------------------------------------------ managed.c: managed memory */

bool managed_any(void);
bool managed_has(CUdeviceptr ptr);
/* before and after a frame with work of the GPU's that may touch it; then what was waited for; where there is some */
void managed_work_begins(void);
void managed_work_sent(void);
void managed_waited(void);
/* on the function's thread, before it is acknowledged */
void managed_function_ends(void);
/* before the program's memory is read where no page may fault */
void managed_touch(const void *p, uint64_t bytes);
/*
 * a module's, of which the library has @bytes from @begin on; 0: there are none. CUDA_ERROR_NOT_SUPPORTED: there is other
 * memory here
 */
CUresult managed_variables(void *module, uint64_t begin, uint64_t bytes);
void managed_freed(CUdeviceptr ptr);
void managed_module_ends(const void *module);
void managed_end(const void *ctx);

/* the server's library has freed it */
static inline void memory_freed(CUdeviceptr ptr)
{
	range_remove(ptr);
	managed_freed(ptr);
}

/* ------------------------------------------------------------------ copy.c, box.c */

enum side_of { SIDE_NOWHERE, SIDE_HOST, SIDE_DEVICE };
/* what an address is; said to be the host's: @host */
enum side_of side_of(CUdeviceptr at, bool host);
/*
 * A copy from or to the host's memory begins. *captured: it is to be a node of what the stream captures. Else it may read @src
 * (NULL: nothing) now: waits where pinned memory may still be written by a function or a copy that comes before it in the stream.
 */
CUresult host_copy_begins(CUstream stream, bool waits, const void *src, bool *captured);
/*
 * The node of a copy of one line, @bytes long, in what the stream of that number captures; @array: NULL, or one end, from
 * @offset on.
 */
CUresult line_capture(uint64_t stream, CUdeviceptr dst, enum side_of to, CUdeviceptr src, enum side_of from, size_t bytes);
CUresult array_capture(uint64_t stream, CUarray array, size_t offset, void *host, size_t bytes, bool to_array);

/* ------------------------------------------------------------------ module.c */

struct function {
	bool layout_known;
	uint32_t parameters, bytes;
	int attribute[10];
	bool attribute_known[10];
	struct { uint32_t offset, size; } parameter[];
};

struct function *function_of(CUfunction f);
void function_set(CUfunction f, int attribute, int value);
void module_unloaded(CUmodule module);
void link_destroyed(CUlinkState state);
/* parameters one by one or in one piece, packed into @to, which has function.bytes; *bytes: how many */
CUresult parameters_pack(const struct function *f, void **params, void **extra, uint8_t *to, uint32_t *bytes);

/* ------------------------------------------------------------------ texture.c */

CUresult resource_to_wire(const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w);
CUresult resource_from_wire(const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r);

/* ------------------------------------------------------------------ hostfunc.c */

/* on a thread of the channel's */
void client_happened(void *ctx, const struct kvgpu_remote_happening *h, const void *bytes, size_t n);
bool in_host_function(void);
/* one that a stream was given has not returned yet: it may write what a copy behind it reads */
bool host_functions_pending(void);
/* a number for a function; 0: none left. @kept: a graph has it, and may call it often */
uint64_t host_function(CUhostFn fn, CUstreamCallback callback, CUstream stream, void *data, bool kept);
void host_function_drop(uint64_t id);
bool host_function_get(uint64_t id, CUDA_HOST_NODE_PARAMS *p);

#endif
