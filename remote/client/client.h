/* SPDX-License-Identifier: MIT */
/*
 * Inside of the client, the libcuda.so.1 of a program whose GPU is elsewhere.
 *
 * Locks, outer to inner: managed memory's, a server's `submit` (call.c: frames go out in one
 * order), `objects` (object.c), each file's own (ranges, host memory, arena, functions of the host:
 * leaves). None but the first is held while an answer is waited for.
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

/* CUDA_SUCCESS when the library may be used: initialised, in the process that did it */
CUresult client_ready(void);
/* one line on standard error */
void client_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
int client_version(void);

/* ------------------------------------------------------------------ find.c */

/*
 * Addresses of servers, how many; and the folder with certificates or NULL. 0: why there is none
 * was said. One thread.
 */
unsigned int find_servers(const char *address[], const char **tls_folder);

/* ------------------------------------------------------------------ peer.c: the servers */

enum { PEERS_MAX = 64, DEVICES_MAX = 256, ARENA_PIECES = 1024 };

/* arena.c */
struct staged {
	uint64_t end;		/* of the ring: counts on and on */
	uint64_t seq;		/* 0: its frame is not sent yet */
};

struct arena {
	pthread_mutex_t lock;
	uint8_t *base;
	uint64_t ring_bytes, ring_begin, ring_end;	/* begin and end count on */
	uint64_t touched;	/* of the ring: its pages are there */
	/* there is a relay: pieces are of few sizes, each at a multiple of its own */
	bool relayed;
	unsigned int first_piece, nr_pieces;
	struct block *blocks;	/* all of the rest, sorted, without gaps */
	unsigned int nr_blocks, max_blocks;
	struct staged pieces[ARENA_PIECES];
};

/* A server: all that belongs to the connection with it. Each file's part is that file's alone. */
struct peer {
	struct kvgpu_remote_channel *channel;	/* from cuInit() on */
	const char *address;
	int first_device, nr_devices;	/* as the program counts */

	/* call.c */
	pthread_mutex_t submit;
	uint64_t named_context;		/* `submit` */
	uint32_t named_mode;
	/* atomic: of what the client did for a stream; told by the next call that reports */
	int late;
	/* atomic: a context has an error that stays, so calls fail that nothing speaks against */
	bool suspect;
	uint64_t behind;		/* atomic: bytes since an answer */
	uint64_t through;		/* atomic */
	uint64_t submitted;		/* atomic; `submit` */

	/* gate.c */
	unsigned int gates;		/* atomic: of its streams, that are closed */
	unsigned int behind_gates;	/* atomic: calls with work since there are some */

	/* hostmem.c */
	int pinned;			/* atomic; enum pinned */
	uint64_t arena_device;		/* where the GPU sees the arena; atomic */
	uint8_t *same;			/* the arena at that address, or NULL; atomic */

	/* managed.c */
	uint64_t room, room_used;

	struct arena arena;
};

extern struct peer peers[PEERS_MAX];
extern unsigned int nr_peers;	/* from cuInit() on */
extern bool several;		/* more than one */

static inline unsigned int peer_number(const struct peer *p)
{
	return p - peers;
}

/* without a connection */
void peer_init(struct peer *p);
/* NULL: it is none. *number: what its server calls it */
struct peer *peer_of_device(CUdevice dev, uint32_t *number);
CUdevice device_here(const struct peer *p, uint32_t number);

struct object;

/*
 * Where a call goes. @peer: NULL: to the server of the thread's context. What the arguments are
 * says it: the first one that is of a server, and those behind it have to be of the same.
 */
struct route {
	struct peer *peer;
	/* the call is made in, where the thread's own is another server's; or NULL */
	const struct object *ctx;
	CUresult split;		/* arguments are of two servers: what such a call gives */
};

/* Where it goes as far as is known, which is then settled. */
struct peer *route_peer(struct route *to);
/*
 * An argument: the thread's context itself, an address, a device; the server's number of the
 * latter.
 */
void route_current(struct route *to);
void route_address(struct route *to, CUdeviceptr ptr);
uint32_t route_device(struct route *to, CUdevice dev);
/* what one end of a copy says */
void route_merge(struct route *to, const struct route *end);

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
	struct route to;
	/* it touches no managed memory, whatever the operation is */
	bool apart;
	uint64_t seq;			/* out */
	uint64_t turn;			/* out: how many calls had been sent with it */
	/* the answer, until the thread's next call */
	const void *answer;
	size_t answer_bytes, answer_used;
};

/*
 * What is true before any call: initialised, not in a function of the host, with a context that
 * lives unless @flags say otherwise.
 */
CUresult call_enter(unsigned int flags);
/*
 * Sends it and waits; the answer has @fixed bytes at least when it is CUDA_SUCCESS. What the call
 * owns is freed.
 */
CUresult call_ask(struct call *c, size_t fixed);
/*
 * The same in two steps, for a thread that asks several things at once: each has a box of the
 * channel's. What the call points at may go after the first.
 */
CUresult call_begin(struct call *c, unsigned int box);
CUresult call_take(struct call *c, unsigned int box, size_t fixed);
/*
 * Asks the server of the thread's context, then each server in order, until the result of one is
 * CUDA_SUCCESS. Returns the last result.
 */
CUresult call_each(struct call *c, size_t fixed);
/* How many calls have been sent to it. */
uint64_t call_turn(const struct peer *p);
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
/*
 * the last frame of those that are through: nothing uses arena pieces of it, or of one before it,
 * any more
 */
uint64_t call_through(const struct peer *p);
/* until all frames up to @upto are; UINT64_MAX: all that were sent */
CUresult call_fence(struct peer *p, uint64_t upto);
/* what was to be done in the order of a stream there was not done */
void call_late(struct peer *p, CUresult r);
/* gate.c: a call with work, while some stream of that server is held: waits where there are many */
void gate_behind(struct peer *p);
/* a capture goes on: nothing is queued */
void captures_begun(void);
void captures_ended(void);
bool captures_any(void);
/*
 * What the server asks of a thread comes after what the threads did that called it, and what that
 * thread did before it acknowledges comes before what others do that have heard of it. The server
 * is between, so that nothing else in this process orders them.
 */
void call_due(void);
CUresult call_acknowledge(struct peer *p, uint64_t invocation);
/*
 * In a handler of a signal: calls from now on leave alone the answer that this thread may just be
 * reading; false: that is over.
 */
void call_aside(bool aside);
/* made of remote/api.def */
bool op_touches(uint16_t op);
bool op_reports(uint16_t op);

/* ------------------------------------------------ object.c: what the program's handles point at */

struct object {
	/* the server's number; its index is this one's place, too */
	uint64_t id;
	uint32_t class;			/* atomic; CLASS_NONE: free */
	uint32_t parent, child, before, after;	/* `objects`; indexes, 0: none */
	int dev;			/* of a context */
	unsigned int attached;		/* users of a context, more than one */
	bool primary, dead;		/* a context's; dead, atomic: it was destroyed or reset */
	uint8_t peer;			/* its server's; the same for ever */
	void *more;			/* struct function, struct capture_nodes; freed with it */
};

bool handle_id(unsigned int class, const void *handle, uint64_t *id);
/* The same for an argument of a call: goes to that server. */
bool route_handle(struct route *to, unsigned int class, const void *handle, uint64_t *id);
static inline struct peer *object_peer(const struct object *o)
{
	return &peers[o->peer];
}
/* what is said of a graph, a node, an executable graph that is none */
static inline CUresult wrong_graph(const void *handle)
{
	return handle ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
}
/*
 * How calls about graphs begin. They need no context. @given: no pointer is NULL that may not be.
 * Then the server's number of @handle is looked up, or those of an executable graph and a node.
 */
CUresult graph_enter(struct route *to, bool given, unsigned int class, const void *handle,
		     uint64_t *id);
CUresult exec_enter(struct route *to, bool given, CUgraphExec exec, uint64_t *exec_id,
		    CUgraphNode node, uint64_t *id);
/* NULL: it is no such handle */
struct object *object_of(unsigned int class, const void *handle);
/*
 * The handle of what has that number there, made if it is new; NULL: 0, or one that can't be.
 * @parent: a handle that it ends with, or NULL; where that is a node, its graph is meant.
 */
void *handle_here(const struct peer *p, unsigned int class, uint64_t id, void *parent);
void object_end(void *handle);
/* what hangs on it */
void object_empty(void *handle);
struct object *object_parent(const struct object *o);
/* which it hangs on in the end, or is; NULL: none */
const struct object *object_context(const struct object *o);

/* ------------------------------------------------------------------ context.c */

/* the thread's, or NULL; one that is dead counts as none */
void *current_context(void);
/* CUDA_SUCCESS, or why there is none */
CUresult current_check(void);
/* number of the thread's context there, and its mode of captures: what that server has to know */
uint64_t current_id(const struct peer *p, uint32_t *mode);
/* the server of the thread's context, dead or not; the first one where there is none */
struct peer *current_peer(void);
/*
 * Calls of this thread are made in that context, whatever is on its stack, until it is given back.
 * No two at a time.
 */
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
CUresult route_stream(struct route *to, CUstream stream, uint64_t *id);
/* The call, which succeeded, waited until the stream had nothing left to do. */
void stream_through(uint64_t stream, const struct call *c);
/* That was this thread's last such call, and no call of any thread has been sent since. */
bool stream_is_through(const struct route *to, uint64_t stream);
/* whether it is one of the current context's, or a default one */
bool own_stream(CUstream stream);
bool same_context(const void *handle);

/* ------------------------------------ ranges.c: device memory, as far as the client knows of it */

/*
 * Of the current context. @turn: that of the call that gave it. false: other memory of this program
 * is there, which another server has given
 */
bool range_add(CUdeviceptr ptr, uint64_t bytes, uint64_t turn);
/*
 * A module's variable, where there are several servers; false: another server has allocated memory
 * at its address.
 */
bool range_variable(CUdeviceptr ptr, uint64_t bytes, const void *module);
/*
 * The answer of @c is an address, where @bytes are: has the server allocate again where another
 * server's memory is.
 */
CUresult range_settle(struct call *c, CUdeviceptr *ptr, uint64_t bytes);
/* @turn: of the call that freed it */
void range_remove(CUdeviceptr ptr, uint64_t turn);
/* whether all of it is one allocation's, of whatever context */
bool range_holds(CUdeviceptr ptr, uint64_t bytes);
void ranges_module_ends(const void *module);
/* whose it is; NULL: it is not known */
const struct object *range_context(CUdeviceptr ptr);
/* whether memory in there is that of another server than @p */
bool ranges_foreign(const struct peer *p, uint64_t begin, uint64_t bytes);
void ranges_end(const void *ctx);
bool range_has(CUdeviceptr ptr);
/* whether @n elements of @size bytes are in one allocation of the current context */
bool device_span(CUdeviceptr ptr, uint64_t n, unsigned int size);
bool device_spans(CUdeviceptr a, CUdeviceptr b, uint64_t bytes);

/* ------------------------------------------------------------------ arena.c */

void arena_init(struct peer *p);
/* A piece for long: NOWHERE when there is none left. */
uint64_t arena_get(struct peer *p, uint64_t bytes);
void arena_put(struct peer *p, uint64_t at);
/*
 * A piece for one frame on its way, KVGPU_REMOTE_PIECE_MAX at most; waits for earlier ones.
 * staging_sent() says which frame has it.
 * NULL: *r says why.
 */
struct staged *staging_get(struct peer *p, uint64_t bytes, uint64_t *at, CUresult *r);
void staging_sent(struct peer *p, struct staged *piece, uint64_t seq);
static inline void *arena_at(const struct peer *p, uint64_t at)
{
	return p->arena.base + at;
}

/* ------------------------------------------------------ hostmem.c: pinned and registered memory */

/*
 * place in that arena of [host, host + bytes), which is pinned in one allocation; NOWHERE: it is
 * not
 */
uint64_t pinned_at(const struct peer *p, const void *host, uint64_t bytes);
void hostmem_end(const void *ctx);
/*
 * Whether the server's library has the arena as its own pinned memory: then the GPU copies from and
 * to pinned memory by itself, in the stream's order, after the call has returned. Asks the server,
 * with a context.
 */
bool arena_is_pinned(struct peer *p);
/* where that server's GPU sees pinned memory; false: nowhere */
bool pinned_device(struct peer *p, const void *host, CUdeviceptr *device);
/*
 * a copy into pinned memory has been queued, at whatever time: such memory may be written behind
 * the program's back
 */
void pinned_written(void);
/* whether it has an address for both sides in there, of another server than @p */
bool pinned_foreign(const struct peer *p, uint64_t begin, uint64_t bytes);
/* whether something that comes before it in a stream may still write it */
bool pinned_may_change(void);
struct host_range {
	uint8_t *base;
	uint64_t bytes;
	uint64_t at;		/* in the arena of @peer; NOWHERE: registered memory */
	struct peer *peer;
	unsigned int flags;
	void *ctx;
};
bool host_find(const void *host, struct host_range *out);

/* ------------------------------------------------------------------ managed.c: managed memory */

bool managed_any(void);
bool managed_has(CUdeviceptr ptr);
/*
 * Before and after a frame with work of that server's GPU that may touch it, in that context or
 * (NULL) the thread's; then what was waited for; where there is some
 */
void managed_work_begins(struct peer *p, const struct object *ctx);
void managed_work_sent(void);
void managed_waited(void);
/* on the function's thread, before it is acknowledged */
void managed_function_ends(void);
/* before the program's memory is read where no page may fault */
void managed_touch(const void *p, uint64_t bytes);
/*
 * a module's, of which the library has @bytes from @begin on; 0: there are none.
 * CUDA_ERROR_NOT_SUPPORTED: there is other memory here
 */
CUresult managed_variables(void *module, uint64_t begin, uint64_t bytes);
void managed_freed(CUdeviceptr ptr);
void managed_module_ends(const void *module);
void managed_end(const void *ctx);

/* the server's library has freed it */
static inline void memory_freed(CUdeviceptr ptr, uint64_t turn)
{
	range_remove(ptr, turn);
	managed_freed(ptr);
}

/* ------------------------------------------------------------------ copy.c, box.c */

enum side_of { SIDE_NOWHERE, SIDE_HOST, SIDE_DEVICE };
/* what an address is; said to be the host's: @host */
enum side_of side_of(CUdeviceptr at, bool host);
/*
 * A copy from or to the host's memory begins. *captured: it is to be a node of what the stream
 * captures. Else it may read @src (NULL: nothing) now: waits where pinned memory may still be
 * written by a function or a copy that comes before it in the stream.
 */
CUresult host_copy_begins(CUstream stream, bool waits, const void *src, bool *captured);
/*
 * The node of a copy of one line, @bytes long, in what the stream of that number captures; @array:
 * NULL, or one end, from @offset on.
 */
CUresult line_capture(const struct route *route, uint64_t stream, CUdeviceptr dst, enum side_of to,
		      CUdeviceptr src, enum side_of from, size_t bytes);
CUresult array_capture(const struct route *route, uint64_t stream, CUarray array, size_t offset,
		       void *host, size_t bytes, bool to_array);

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
/*
 * parameters one by one or in one piece, packed into @to, which has function.bytes; *bytes: how
 * many
 */
CUresult parameters_pack(const struct function *f, void **params, void **extra, uint8_t *to,
			 uint32_t *bytes);

/* ------------------------------------------------------------------ texture.c */

CUresult resource_to_wire(struct route *to, const CUDA_RESOURCE_DESC *r,
			  struct kvgpu_remote_resource *w);
CUresult resource_from_wire(const struct peer *p, const struct kvgpu_remote_resource *w,
			    CUDA_RESOURCE_DESC *r);

/* ------------------------------------------------------------------ hostfunc.c */

/* on a thread of the channel's; @ctx: the server */
void client_happened(void *ctx, const struct kvgpu_remote_happening *h, const void *bytes,
		     size_t n);
bool in_host_function(void);
/* one that a stream was given has not returned yet: it may write what a copy behind it reads */
bool host_functions_pending(void);
/* a number for a function; 0: none left. @kept: a graph has it, and may call it often */
uint64_t host_function(CUhostFn fn, CUstreamCallback callback, CUstream stream, void *data,
		       bool kept);
void host_function_drop(uint64_t id);
bool host_function_get(uint64_t id, CUDA_HOST_NODE_PARAMS *p);

#endif
