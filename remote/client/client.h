/* SPDX-License-Identifier: MIT */
/*
 * Internal header of the client: the libcuda.so.1 of a program whose GPU is elsewhere.
 *
 * Locks, outer to inner: that of libraries (cuda/api/libraries.c), `init_lock` (init.c), `images`
 * (module.c), `primaries` (context.c), `growing` (grow.c), `mapping` (hostmem.c), `lending`
 * (lend.c), that of spare events, the lock of managed memory (managed.c), `submit` of a peer
 * (call.c: frames go out in one order), `objects` (object.c), then the locks of single files:
 * ranges, host memory, arena, host functions, cross-server fences, waiting for cross-server
 * fences, captures, helpers, bounce buffers, devices, cached answers; last those of a channel. A
 * thread that waits for an answer may hold that of libraries, `init_lock`, `images`, `growing`,
 * `mapping`, `lending`, that of spare events and the lock of managed memory, and no other one. No
 * lock is held while a function of the program runs.
 * Functions here take the locks that they need: call them with none held but outer ones, and
 * staging_get() with none but `init_lock`.
 */
#ifndef KVGPU_REMOTE_CLIENT_H
#define KVGPU_REMOTE_CLIENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cuda/api/libraries.h>
#include <remote/channel/channel.h>
#include <remote/channel/fair_lock.h>
#include <remote/wire/cursor.h>
#include <remote/wire/frame.h>

#include "ops.h" /* made by remote/api.py */
#include "refused.h"

/* ------------------------------------------------------------------ client.c */

/*
 * CUDA_SUCCESS: cuInit() has succeeded in this process, not in its parent; at least one server is
 * there
 */
CUresult client_ready(void);
/* This thread prints none of these lines meanwhile. */
void client_quiet(bool is);
/* For init.c: cuInit() has succeeded, here or in a parent. */
bool client_is_ready(void);
void client_set_ready(bool is);

/* ------------------------------------------------------------------ find.c */

/*
 * Store the addresses of the servers in @address, PEERS_MAX at most, and the folder with
 * certificates or NULL in *tls_folder. Return how many servers there are; 0: none, and the
 * reason was printed. The strings are in static memory. Call with `init_lock`.
 */
unsigned int find_servers(const char *address[], const char **tls_folder);

/* ------------------------------------------------------------------ peer.c: the servers */

enum { PEERS_MAX = 64, DEVICES_MAX = 256, ARENA_PIECES = 1024, ARENA_LATER = 64 };
enum { TABLE_WORDS = KVGPU_REMOTE_TABLE_MAX / 64 };

/* staging.c: a piece of the arena's ring, for one frame on its way */
struct staged {
	uint64_t end; /* position behind the piece */
	uint64_t seq; /* number of the piece's frame; 0: not sent yet */
	/* the server may read the piece until a fence; else until a later frame is answered */
	bool late;
};

struct arena {
	pthread_mutex_t lock; /* protects all that changes after arena_init() */
	uint8_t *base;
	uint64_t ring_bytes, ring_begin, ring_end; /* positions that don't wrap */
	/* behind the ring, of a plain channel: places of a piece each, for copies to the host */
	unsigned int nr_slots, slots; /* .slots: a bit for each that is taken */
	uint64_t touched;
	uint64_t first; /* bytes that it had at first */
	/* of these, which pinned memory leaves to others while it can be elsewhere */
	uint64_t spare;
	/*
	 * a relay is on the way: a piece of the ring is a power of two long, and lies at a multiple
	 * of its length
	 */
	bool relayed;
	unsigned int first_piece, nr_pieces;
	struct block *blocks; /* the arena behind the ring, sorted by place */
	unsigned int nr_blocks, max_blocks;
	/* pieces that work may still use: arena_put_later() */
	unsigned int nr_later;
	uint64_t later[ARENA_LATER], later_bytes;
	struct staged pieces[ARENA_PIECES];
};

/*
 * What a stream has to do. .work: the serial of the last call that gave it some; .light: of the
 * last one that recorded an event there, or copied bytes that came with it. .through: all that
 * calls up to this one gave it is done.
 */
struct stream_work {
	uint64_t stream; /* its number; of a null stream the context's; 0: none was noted here */
	uint64_t work, light, through;
	uint64_t bytes; /* of the copies since .through */
	/* call .waits had it wait for what calls up to .behind_serial gave stream .behind; or 0 */
	uint64_t waits, behind, behind_serial;
};
/* Call .serial has recorded event .event in .stream. 0: that is not known. */
struct event_record {
	uint64_t event, stream, serial;
};
enum { STREAMS_KNOWN = 128, EVENTS_KNOWN = 128 };

/*
 * A server, and the client's state of the connection with it. Below a file's name are the members
 * of that file.
 */
struct peer {
	struct kvgpu_remote_channel *channel; /* set by cuInit() */
	const char *address;
	int first_device, nr_devices; /* among those of all servers */

	/*
	 * Atomic, bits of enum slow. 0: calls to this server, such as launches, look at nothing
	 * else and go on.
	 */
	unsigned int slow;

	/* call.c */
	struct fair_lock submit;
	uint64_t named_context; /* under `submit`: what the server was told last */
	uint32_t named_mode;
	/*
	 * atomic: the error of work that the client did for a stream; a later call that reports
	 * errors returns it
	 */
	int late;
	/* atomic: about how many bytes were sent since the last answer */
	uint64_t behind;
	uint64_t answered, fenced; /* atomic: see call_answered(), call_fenced() */
	uint64_t submitted; /* atomic: calls sent; written under `submit` */

	/* streamwork.c, under `submit` */
	struct stream_work streams[STREAMS_KNOWN], null_stream; /* by number */
	struct event_record records[EVENTS_KNOWN]; /* by number */
	/* serials of calls: the last that gave any stream but a null one work; that gave it all */
	uint64_t work_any, work_all;
	/*
	 * the number of the last frame `barrier`, and the bytes that such frames since the last
	 * answer behind them are for
	 */
	uint64_t barrier, unwaited;
	bool shares; /* other programs may see memory and events of this one */
	bool records_hidden; /* atomic: a launch or a graph may record an event */

	/* peer_direct.c */
	/* atomic, by number of a peer: a piece could not be had from there */
	bool crooked[PEERS_MAX];

	/* fencewait.c */
	/*
	 * atomic, written under the lock of fencewait.c: pending cross-server fences of this
	 * server's streams
	 */
	unsigned int cross_fences;
	/* atomic: calls with work since there are pending cross-server fences */
	unsigned int behind_cross_fences;

	/* init.c, set by cuInit() */
	bool keeps; /* the server keeps large images */

	/* table.c, set by cuInit() */
	struct kvgpu_remote_build build; /* the server's */
	/* a bit for each operation: the server lacks it; atomic: a line was printed */
	uint64_t lacks[TABLE_WORDS], told[TABLE_WORDS];

	/* pin.c */
	int pinned, ring_pinned, mapped; /* atomic; enum pinned */
	uint64_t arena_device; /* atomic: the arena's address for the GPU */
	bool whole; /* atomic: there the GPU also sees what the arena has grown by */

	/* hostmem.c */
	/*
	 * atomic, set once: the arena mapped where the GPU saw it then, or will see it if it is not
	 * shared; or NULL
	 */
	uint8_t *same;
	/* atomic: an address that hidden_note() found; 0: none; HIDDEN_TOLD: it was printed */
	uint64_t hidden;

	/* managed.c, under its lock */
	uint64_t room, room_used;

	/* pointer.c: atomic, a bit for each attribute: pageable memory has no value of it */
	uint64_t pageable_lacks;

	struct arena arena;
};

extern struct peer peers[PEERS_MAX];
extern unsigned int nr_peers; /* set by cuInit() */
extern bool several; /* nr_peers > 1 */
/* of all servers; written under `init_lock`, until client_is_ready() */
/*
 * The program's devices, whose numbers among those of all servers are in device_at[]:
 * CUDA_VISIBLE_DEVICES chooses and orders them.
 */
extern int all_devices, device_at[DEVICES_MAX];

/*
 * Why calls to a server can't just go out. Each has one owner, which sets the bit with the
 * condition itself, under the lock named here.
 */
enum slow {
	SLOW_SEVERAL = 1 << 0, /* `several`: init.c, `init_lock`; all servers; stays */
	SLOW_MANAGED = 1 << 1, /* managed_any(): managed.c, its lock; all servers */
	SLOW_CAPTURES = 1 << 2, /* captures_any(): capture.c, its lock; all servers */
	SLOW_FENCES = 1 << 3, /* .cross_fences: fencewait.c, its lock */
	/* a context has had a sticky error: ask, don't queue: call.c, no lock; stays */
	SLOW_SUSPECT = 1 << 4,
	SLOW_LACKS = 1 << 5, /* the server lacks calls: table.c, `init_lock`; stays */
	SLOW_TRACE = 1 << 6, /* calls are traced: trace.c, `init_lock`; stays */
};

/*
 * Set or clear bits of @p, or of all servers. A thread that sees a bit sees what led to it. A
 * thread that sees none may miss what another thread does at the same time, but not what happened
 * before by the program's own order, or by `submit`.
 */
void peer_slow(struct peer *p, enum slow why, bool is);
void peers_slow(enum slow why, bool is);
static inline bool peer_is_slow(const struct peer *p)
{
	return __atomic_load_n(&p->slow, __ATOMIC_ACQUIRE);
}

static inline unsigned int peer_number(const struct peer *p)
{
	return p - peers;
}

void peer_init(struct peer *p);
/* The server of device @dev; NULL: no such device. *number: the server's number of the device. */
struct peer *peer_of_device(CUdevice dev, uint32_t *number);
/* The same of a device by its number among those of all servers. */
struct peer *peer_of_number(int dev, uint32_t *number);
/* negative: the program does not see that device */
CUdevice device_here(const struct peer *p, uint32_t number);

/* ------------------------------------------------------------------ trace.c */

/*
 * Call with `init_lock`. Whether calls are traced, as the environment says. *why: what is wrong
 * with that, once; or NULL.
 */
bool trace_begin(const char **why);
/* Only for servers that are slow: when a call begins; 0: nothing is traced. */
uint64_t trace_now(void);
/* The call was sent, which @began then, and this thread awaits its answer; or it could not be. */
void trace_sent(uint16_t op, uint64_t began, CUresult r);
/* The call that this thread has sent last was answered. */
void trace_answered(uint16_t op, CUresult r);
/* a line that was printed for the user */
void trace_say(const char *text);

/* ------------------------------------------------------------------ tell.c, table.c */

/*
 * Tell a server, which has said nothing yet, which calls this build has. CUDA_ERROR_NOT_SUPPORTED:
 * the server lacks one without which there is no other, and a line was printed.
 */
CUresult table_tell(struct peer *p);
/* The server has told which of @n entries it has, by bits in words. As table_tell(). */
CUresult table_heard(struct peer *p, const uint64_t *has, unsigned int n);
/* CUDA_SUCCESS; or the server lacks the call: CUDA_ERROR_NOT_SUPPORTED, and a line, once. */
CUresult table_refuses(struct peer *p, uint16_t op);
/* The same without a line: for a call in whose place there is another one. */
bool table_lacks(const struct peer *p, uint16_t op);

/* ------------------------------------------------------------------ route.c */

struct object;

/*
 * Where a call goes: to @peer; NULL: to the server of the thread's context. Arguments that belong
 * to a server set @peer.
 */
struct route {
	struct peer *peer;
	/* the context to make the call in, in place of the thread's own; or NULL */
	const struct object *ctx;
	/* arguments belong to two servers, or a device to none: the call's error */
	CUresult split;
};

/* Where the call goes. If no argument has set it, set the server of the thread's context. */
struct peer *route_peer(struct route *to);
/* Take an argument into account. route_device() returns the server's number of the device. */
void route_current(struct route *to);
void route_address(struct route *to, CUdeviceptr ptr);
uint32_t route_device(struct route *to, CUdevice dev);
void route_merge(struct route *to, const struct route *end);

/* ------------------------------------------------------------------ call.c */

enum { CALL_NO_CONTEXT = 1, CALL_FINDS_CONTEXT = 2, CALL_PARTS = 8 };

/* one frame: the fixed part, then further parts */
struct call {
	uint16_t op;
	const void *fixed;
	size_t bytes;
	unsigned int nr_parts;
	void *owned[2]; /* freed by call_end(), or when the call is sent */
	uint64_t push_at, push_bytes; /* bytes of the arena, sent before the frame */
	const void *push_from; /* they come from there; NULL: from the arena */
	/* those bytes are not sent, but come from there; NULL: they are sent */
	const struct kvgpu_remote_source *fetch;
	struct route to;
	/* the call touches no managed memory, though its operation may */
	bool apart;
	/*
	 * the bytes that the call copies and brings along, to memory that the program itself does
	 * not see; 0: it is no such call
	 */
	uint64_t copied;
	uint64_t seq; /* out: the frame's number */
	/* out: how many calls were sent, this one included */
	uint64_t serial;
	/* payload of the answer, valid until the next call with the same completion slot */
	const void *answer;
	size_t answer_bytes, answer_used;
	struct iovec part[CALL_PARTS]; /* the last member: call_init() */
};

/* for frequent calls: leaves the parts as they are, which .nr_parts counts */
static inline void call_init(struct call *c, uint16_t op, const void *fixed, size_t bytes)
{
	memset(c, 0, offsetof(struct call, part));
	c->op = op;
	c->fixed = fixed;
	c->bytes = bytes;
}

/*
 * Check what each call needs: an initialised library. Without CALL_NO_CONTEXT in @flags also a live
 * current context, and a thread that is not in a host function. CALL_FINDS_CONTEXT: an
 * argument tells the context, which may be another one, or none is current. A default stream is the
 * current context's: route_stream() looks.
 */
CUresult call_enter(unsigned int flags);
/* this thread's completion slot, which call_sync() uses; 0: out of memory */
unsigned int call_completion(struct peer *p);
/* Send the call and wait for its answer. CUDA_SUCCESS: the answer has at least @fixed bytes. */
CUresult call_sync(struct call *c, size_t fixed);
/*
 * call_sync() in two steps, for a thread that has several calls under way: each has a completion
 * slot @completion of the channel. What the call points at may be freed after call_begin().
 */
CUresult call_begin(struct call *c, unsigned int completion);
CUresult call_take(struct call *c, unsigned int completion, size_t fixed);
/*
 * Ask the server of the thread's context; if there are several servers, then each in order, until
 * the result of one is CUDA_SUCCESS. Return the last result.
 */
CUresult call_each(struct call *c, size_t fixed);
uint64_t call_serial(const struct peer *p);
/* In a child of fork() that makes its own connections: it has no completion slots at them yet. */
void call_forked(void);
/*
 * Send the call without waiting for its answer: a later call reports its error. May wait for
 * cross-server fences, and for a server that is far behind. During captures and after a sticky
 * error it asks.
 */
CUresult call_async(struct call *c);
void call_end(struct call *c);
/* Add @n bytes at @p to the call. They must stay there until the call is sent. */
CUresult call_bytes(struct call *c, const void *p, uint64_t n);
CUresult call_string(struct call *c, const char *text, uint32_t *bytes);
CUresult call_handles(struct call *c, unsigned int class, const void *const *handles, uint64_t n);
/*
 * The number of a frame: that frame and all earlier ones don't use their pieces of the arena's ring
 * any more; call_answered(): but for pieces that are .late.
 */
uint64_t call_answered(const struct peer *p);
uint64_t call_fenced(const struct peer *p);
/*
 * Wait until call_fenced() is at least @upto; UINT64_MAX: for all frames that were sent. A copy
 * that another thread waits for may go on.
 */
CUresult call_fence(struct peer *p, uint64_t upto);
/* The server has told error @r: if it stays in a context, calls to that server ask from now on. */
void call_refused(struct peer *p, CUresult r);
/* keep @r, the error of work for a stream of @p, for a later call that reports errors */
void call_late(struct peer *p, CUresult r);
/* Store in *status that no stream captures. False: one may, or call_asks(). */
bool captures_none(const struct peer *p, CUstreamCaptureStatus *status);
/*
 * Whether the server has to be asked what is known here: it is gone, or has told a sticky error,
 * which it will tell again.
 */
bool call_asks(const struct peer *p);
/*
 * Memory order around a function that a server calls here. call_due() before it: the function sees
 * what threads wrote before the calls that led to it. call_acknowledge() after it: threads that
 * learn from the server that the function has ended see what it wrote.
 */
void call_due(void);
CUresult call_acknowledge(struct peer *p, uint64_t invocation);
/*
 * In a signal's handler. True: use the thread's second completion slot, as it may be reading in its
 * first one. False: back to the first.
 */
void call_aside(bool aside);
/* generated by remote/api.py: @op may touch managed memory; its answer reports earlier errors */
bool op_touches(uint16_t op);
bool op_reports(uint16_t op);
/* where the frame of @op has the number of a stream; or it is about the null stream, or none */
enum { NAMES_NULL_STREAM = -1, NAMES_NO_STREAM = -2 };
int op_names_stream(uint16_t op);

/* ------------------------------------------------------------------ streamwork.c */

/* Call @c was sent; @queued: it has no answer. Call with `submit`. */
void work_sent(struct peer *p, const struct call *c, bool queued);
/* Call @c, which succeeded, waited until @stream (0: the null stream) had nothing left to do. */
void work_done(const struct call *c, uint64_t stream);
/*
 * What @stream of context @ctx (a number) has left to do. @alone: it does not wait for the null
 * stream. WORK_NONE_SINCE: nothing, and no call was sent to @p since that was noted; WORK_LIGHT:
 * nothing but what .light of struct stream_work tells of, which the program need not wait for if no
 * other one sees it, and work_barred() is called.
 */
enum work_left { WORK_UNKNOWN, WORK_LIGHT, WORK_NONE, WORK_NONE_SINCE };
enum work_left work_left(struct peer *p, uint64_t ctx, uint64_t stream, bool alone);
/* Whether what @event (a number) was recorded behind is known to be done. */
bool work_is_past(struct peer *p, uint64_t event);
/* Call @c, `barrier`, was sent: for later calls @stream has done what it had to do before. */
void work_barred(const struct call *c, uint64_t ctx, uint64_t stream);

/* ------------------------------------------------------------------ answer_cache.c */

/*
 * What cached answers tell of. CACHE_FUNCTIONS: attributes of functions, and what fits on an SM of
 * them. CACHE_PRIMARY: flags of primary contexts, and whether they are active. CACHE_GRAPHS: which
 * nodes graphs have, for call_tried(). CACHE_LIMITS: limits of contexts. A library may raise that
 * of stacks when it loads code, and when it first launches a kernel. CACHE_TENSORS: tensor maps,
 * which are of the arguments alone: nothing changes these.
 */
enum cache_kind {
	CACHE_FUNCTIONS,
	CACHE_PRIMARY,
	CACHE_GRAPHS,
	CACHE_LIMITS,
	CACHE_TENSORS,
	NR_CACHES
};
enum { TRIED_MAX = 80 };

/*
 * call_sync(), or the answer to the same call, its parts included, in this context, if none was
 * forgotten since
 */
CUresult call_cached(struct call *c, size_t fixed, enum cache_kind kind);
/*
 * call_sync(); or call_async() if a call with the same @what in this context has succeeded since a
 * graph last got or lost nodes. @what: @bytes of arguments, TRIED_MAX at most, as far as they
 * decide whether the call is right.
 */
CUresult call_tried(struct call *c, size_t fixed, const void *what, size_t bytes);
/* A call has succeeded that may change such answers. */
void cache_invalidate(enum cache_kind kind);

/* ------------------------------------------------------------------ capture.c */

/* whether a stream may be capturing */
bool captures_any(void);
/* for a copy between two servers in a captured stream */
CUresult capture_refuse_servers(void);
/* The thread sends this call; it has its result. Only calls that begin or end captures count. */
void capture_sent(uint16_t op, const void *fixed);
void capture_answered(uint16_t op, const void *fixed, CUresult r);
/*
 * The capture mode for the server's library to carry out the thread's calls in. @mode: the
 * thread's own.
 */
uint32_t capture_mode(uint32_t mode);

/* ------------------------------------------------------------------ fencewait.c */

/* count a call with work while fences of @p are pending; may wait */
void cross_fence_behind(struct peer *p);
/*
 * Wait until no cross-server fence of @p is pending. False: this thread must not wait, as it
 * signals fences, or the server is gone.
 */
bool cross_fence_await(struct peer *p);
/*
 * For cross_fence.c, which may hold its lock. A cross-server fence of a stream of @p is pending, or
 * signalled; this thread serves fences from now on.
 */
void cross_fence_pending(struct peer *p);
void cross_fence_signalled(struct peer *p);
void cross_fence_serves(void);

/* ------------------- answer.c: no number of an answer is believed before it has been looked at */

/* The result of an answer; CUDA_ERROR_UNKNOWN in the place of what is none. */
CUresult answer_result(uint32_t result);
/* Read the next part behind the answer's fixed part. False: the answer is too short. */
bool answer_bytes(struct call *c, void *to, uint64_t n);
/*
 * *to: handle_here() of @id at the call's server. False: @id is no number of such a handle. @none:
 * it may be 0, for no handle.
 */
bool answer_handle(void **to, const struct call *c, unsigned int class, uint64_t id, void *parent,
		   bool none);
/* Read @room numbers, of which the first @n are those of handles. False: they are not. */
bool answer_handles(struct call *c, unsigned int class, void **to, uint64_t room, uint64_t n,
		    void *parent);
/*
 * Whether @n can say how many elements are in @list, which has room for @room; or NULL: how many
 * there are, for which a program makes room.
 */
bool answer_count(uint64_t n, const void *list, uint64_t room);
/* whether a variable, or memory of which the server says the size, can be there */
bool answer_memory(uint64_t at, uint64_t bytes);
/* *dev: the device with @number at the call's server. False: there is none. */
bool answer_device(const struct call *c, uint32_t number, CUdevice *dev);

/* ------------------------------------ object.c: the objects that the program's handles point at */

struct object {
	/*
	 * The server's number; KVGPU_REMOTE_INDEX() of it: which of the server's slots this is.
	 * Aligned, since object_of() divides by the size.
	 */
	_Alignas(64) uint64_t id;
	uint32_t class; /* atomic; CLASS_NONE: free */
	/*
	 * Under `objects`: indexes of slots, 0: none. A thread that has the handle may read .parent
	 * without the lock.
	 */
	uint32_t parent, child, before, after;
	int dev;
	uint64_t life; /* atomic; of a context: library_place() */
	unsigned int attached; /* atomic; of a context: users besides the first */
	bool dead; /* atomic; of a context: destroyed or reset */
	bool shared; /* atomic; of an event: event_shared() */
	bool alone; /* atomic; of a stream: stream_created(): CU_STREAM_NON_BLOCKING */
	bool prints; /* of a module: its code may write to standard output */
	bool ends; /* under `objects`: object_ends() */
	uint8_t flags; /* atomic; of an event: event_created(); 0: unknown */
	uint8_t peer; /* number of its server */
	/*
	 * By class, such as struct function: set by object_keep(), freed when the program ends the
	 * object. A function's is atomic, and set once. The program makes the calls that change
	 * others one at a time.
	 */
	void *more;
};

bool handle_id(unsigned int class, const void *handle, uint64_t *id);
/* whether the stream with number @id at @p is one that does not wait for the null stream */
bool stream_is_alone(const struct peer *p, uint64_t id);
/* handle_id() of an argument of a call, which goes to the handle's server. */
bool route_handle(struct route *to, unsigned int class, const void *handle, uint64_t *id);
static inline struct peer *object_peer(const struct object *o)
{
	return &peers[o->peer];
}
static inline CUresult wrong_graph(const void *handle)
{
	return handle ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
}
/* NULL: @handle is no handle of that class */
struct object *object_of(unsigned int class, const void *handle);
/* reserve addresses for the handles of all servers; false: there are none */
bool objects_begin(void);
/*
 * The handle of the object that has number @id at server @p; made if it is new. NULL: @id is no
 * such number, or 0, or one in the place of an object that is in use, or there is no memory.
 * @parent: a handle whose end also ends this one, or NULL. If both are nodes: the graph of @parent.
 */
void *handle_here(const struct peer *p, unsigned int class, uint64_t id, void *parent);
/*
 * Let @more, which is malloc()ed, belong to @handle in the place of what belonged to it. @once:
 * only if nothing did; else free it. False: @handle is no object of @class any more; @more was
 * freed.
 */
bool object_keep(void *handle, unsigned int class, void *more, bool once);
/* The object of @class that ends with @handle and has something of which @is says so; or NULL. */
void *object_below(void *handle, unsigned int class, bool (*is)(const void *more, const void *what),
		   const void *what);
/*
 * Let object @handle end with @parent, an object of the same server. False: one of them has ended,
 * or @parent itself would end with @handle.
 */
bool object_attach(void *handle, void *parent);
/* @id: the object's number. When another object is in its place now, nothing ends. */
void object_end(void *handle, uint64_t id);
/*
 * The program has the server destroy the object: until object_end(), or until it is known that the
 * server does not (@does: false), others wait for its slot.
 */
void object_ends(void *handle, bool does);
/* end all objects below @handle, but not @handle */
void object_empty(void *handle);
struct object *object_parent(const struct object *o);
/* @id, of an object of @o's server, as a number that no server's other objects have */
static inline uint64_t unique_id(const struct object *o, uint64_t id)
{
	return id | (uint64_t)o->peer << 24;
}
/* the context that @o is, or belongs to; NULL: none */
const struct object *object_context(const struct object *o);

/* ------------------------------------------------------------------ graph.c */

/*
 * Begin a call about graphs: it needs no context. @given: false: a pointer is NULL that must not
 * be. Look up the server's number of @handle; exec_enter(): of @exec and of @node.
 */
CUresult graph_enter(struct route *to, bool given, unsigned int class, const void *handle,
		     uint64_t *id);
CUresult exec_enter(struct route *to, bool given, CUgraphExec exec, uint64_t *exec_id,
		    CUgraphNode node, uint64_t *id);
/* From now on, and whether, a launch of a graph may fail that could be launched before. */
void graph_allocates(void);
bool graphs_allocate(void);

/* ------------------------------------------------------------------ current.c */

/* the thread's current context, dead or not; NULL: there is none, or another one has its handle */
void *current_known(void);
/* the thread's current context; NULL: there is none, or it is dead */
void *current_context(void);
/* the error if the thread has no current context, or a destroyed one */
CUresult current_check(void);
/*
 * What server @p has to know: the number of the thread's context there, or 0, and the capture mode.
 */
uint64_t current_id(const struct peer *p, uint32_t *mode);
/* the server of the thread's context, dead or not; without a context the first server */
struct peer *current_peer(void);
/*
 * Make this thread's calls in context @ctx, whatever is on the thread's stack, until
 * context_give_back(). Calls don't nest.
 */
void context_borrow(void *ctx, uint64_t id);
void context_give_back(void);
/* For hostfunc.c: this thread begins, or ends, to run a host function. */
void host_function_runs(bool runs);
bool in_host_function(void);
/* For context.c: the thread's stack. The uppermost context, dead or not; NULL: it is empty. */
struct object *current_top(void);
CUresult current_push(struct object *ctx);
void current_pop(void);

/* ------------------------------------------------------------------ context.c */

void context_created(CUcontext ctx, CUdevice dev);
void context_ended(CUcontext ctx);
void context_attached(CUcontext ctx);
void context_detached(CUcontext ctx);
void primary_retained(CUcontext ctx, CUdevice dev);
void primary_released(CUdevice dev);
void primary_reset(CUdevice dev);

/* ------------------------------------------------------------------ device.c */

/* The facts about device @dev; the first call asks its server. NULL: *r is the error. */
const struct a_facts *device_facts(CUdevice dev, CUresult *r);
/* The UUID of a device by its number among those of all servers. For cuInit(), too. */
CUresult device_uuid(int number, CUuuid *uuid);
/* The same without a question, or NULL. Only where client_ready() was asked. */
const struct a_facts *device_known(CUdevice dev);
int device_attribute(CUdevice dev, int attribute);

/* ------------------------------------------------------------------ spare_event.c */

/*
 * An event of this kind, of the thread's context, that was made ahead, or is made in the place of
 * one that was kept. False: there is none.
 */
bool event_spare(CUevent *event, unsigned int flags);
void event_created(CUevent event, unsigned int flags);
/*
 * The program destroys the event: whether it is kept, as its number, for event_spare(). Then it has
 * ended here.
 */
bool event_kept(CUevent event);

/* ------------------------------------------------------------------ stream.c */

/* *id: the number of @stream, 0: the null stream. Makes a thread's own stream at its first use. */
CUresult route_stream(struct route *to, CUstream stream, uint64_t *id);
void stream_created(CUstream stream, unsigned int flags);
/*
 * Whether the program need not wait for @stream, whose number is @id: it is known to have nothing
 * left to do, or for later calls it will have nothing.
 */
bool stream_settles(const struct route *to, CUstream stream, uint64_t id);
/* Whether no stream need wait for the event, whose number is @id. */
bool event_is_past(const struct route *to, uint64_t id);
bool own_stream(CUstream stream);
bool same_context(const void *handle);

/* ------------------------------------ ranges.c: device memory, as far as the client knows of it */

/*
 * Note memory of the current context. @serial: of the call that allocated it. False: memory of
 * another server is at that address, or the address space ends in it.
 */
bool range_add(CUdeviceptr ptr, uint64_t bytes, uint64_t serial);
/* The same of another context. */
bool range_add_of(const struct object *ctx, CUdeviceptr ptr, uint64_t bytes, uint64_t serial);
/* Note addresses that the program has reserved at @p. False: another server has something there. */
bool reservation_add(struct peer *p, CUdeviceptr ptr, uint64_t bytes);
void reservation_ends(CUdeviceptr ptr);
/*
 * Memory that cuMemCreate() has made lies at [ptr, ptr + bytes), all mappings in there end, or
 * @dev may read and write them, or not.
 */
void range_mapped(CUdeviceptr ptr, uint64_t bytes, CUmemGenericAllocationHandle handle);
void ranges_unmapped(CUdeviceptr ptr, uint64_t bytes);
void ranges_accessed(CUdeviceptr ptr, uint64_t bytes, int dev, bool usable);
/*
 * Note a variable of @module. False: memory that another server has allocated is at its address,
 * the address space ends in it, or the module has ended.
 */
bool range_variable(CUdeviceptr ptr, uint64_t bytes, const void *module);
/* @serial: of the call that freed the memory */
void range_remove(CUdeviceptr ptr, uint64_t serial);
/* whether [ptr, ptr + bytes) lies in one allocation, of any context, or in mapped memory */
bool range_holds(CUdeviceptr ptr, uint64_t bytes);
void ranges_module_ends(const void *module);
/* the context that has the memory at @ptr; NULL: not known, or it belongs to none */
const struct object *range_context(CUdeviceptr ptr);
/* the server that has memory or reserved addresses at @ptr; NULL: not known */
struct peer *range_peer(CUdeviceptr ptr);
/* whether a server other than @p has allocated memory in [begin, begin + bytes) */
bool ranges_foreign(const struct peer *p, uint64_t begin, uint64_t bytes);
/*
 * Return the end of the block of other servers' memory at @begin, but at least @begin + @bytes.
 * Ranges with a gap of less than @bytes between them count as one block.
 */
uint64_t ranges_foreign_end(const struct peer *p, uint64_t begin, uint64_t bytes);
void ranges_end(const void *ctx);
/* whether a server has memory at @ptr, or addresses that the program has reserved */
bool range_has(CUdeviceptr ptr);
/* whether an allocation of the current context begins at @ptr */
bool device_begins(CUdeviceptr ptr);
/*
 * whether @n elements of @size bytes, aligned, are in one allocation of the current context, or in
 * mapped memory that its device can use
 */
bool device_span(CUdeviceptr ptr, uint64_t n, unsigned int size);
bool device_spans(CUdeviceptr a, CUdeviceptr b, uint64_t bytes);

/* ------------------------------------------------------------------ va_conflict.c */

/*
 * Note the memory that call @c has allocated at *ptr. While memory of another server is there, have
 * the server allocate again; *ptr is the final address.
 */
CUresult range_settle(struct call *c, CUdeviceptr *ptr, uint64_t bytes);
/* The same for an array of lines, @pitch bytes apart, as the answer says. */
CUresult pitch_settle(struct call *c, CUdeviceptr *ptr, uint64_t pitch, uint64_t width,
		      uint64_t height);
/* The same for memory of a pool, in @stream, and for addresses that were reserved. */
CUresult pool_settle(struct call *c, CUdeviceptr *ptr, uint64_t bytes, CUstream stream);
/* Call once for each of several servers, before its first pool. */
void pools_set_apart(struct peer *p);
CUresult reservation_settle(struct call *c, CUdeviceptr *ptr, uint64_t bytes);

/* ------------------------------------------------------------------ arena.c */

/* False: the arena that the server gives is too small, or there is no memory. */
bool arena_init(struct peer *p);
/* Take a piece of the arena, until arena_put(). NOWHERE: there is no room. */
uint64_t arena_get(struct peer *p, uint64_t bytes);
/* The same; @spare: NOWHERE also if less than .spare would be left. */
uint64_t arena_take(struct peer *p, uint64_t bytes, bool spare);
/*
 * The arena has grown by a part at @at; false: no memory. arena_cut(): the last such part is not
 * used, ends here, and was at *at; false: there is none. One thread at a time.
 */
bool arena_add(struct peer *p, uint64_t at, uint64_t bytes);
bool arena_cut(struct peer *p, uint64_t *at);
/* Also called with the lock of hostmem.c held: it must not wait, nor call hostmem.c. */
void arena_put(struct peer *p, uint64_t at);
/*
 * Pieces that nobody may take before work that uses them is done. False: there are too many of
 * them. arena_take_later(): the ARENA_LATER at most that there are: the caller waits for the work,
 * and calls arena_put() for each.
 */
bool arena_put_later(struct peer *p, uint64_t at);
unsigned int arena_take_later(struct peer *p, uint64_t *at);
/*
 * Take a place for @bytes, KVGPU_REMOTE_PIECE_MAX at most, that come from the GPU: a slot, which
 * the server may have as pinned memory, or a piece as of arena_get().
 */
uint64_t slot_get(struct peer *p, uint64_t bytes);
void slot_put(struct peer *p, uint64_t at);
/* the bytes of the next piece of a copy that has @left bytes */
static inline uint64_t piece_least(uint64_t left)
{
	return left < KVGPU_REMOTE_PIECE_MAX ? left : KVGPU_REMOTE_PIECE_MAX;
}
static inline void *arena_at(const struct peer *p, uint64_t at)
{
	return p->arena.base + at;
}

/* ------------------------------------------------------------------ bulk.c */

/* memcpy(), by several threads. @far: nobody reads the bytes soon, as there are many. */
void bulk_copy(void *to, const void *from, uint64_t bytes, bool far);

/* ------------------------------------------------------------------ staging.c */

/*
 * Take a piece of the ring for one frame, KVGPU_REMOTE_PIECE_MAX bytes or a relay's .piece at most;
 * wait for earlier frames if there is no room. Then call staging_sent() with the frame's number, or
 * with 0 if no frame was sent. The piece's .late may be set until then. NULL: *r is the error.
 */
struct staged *staging_get(struct peer *p, uint64_t bytes, uint64_t *at, CUresult *r);
void staging_sent(struct peer *p, struct staged *piece, uint64_t seq);

/* ------------------------------------------------------ hostmem.c: pinned and registered memory */

/*
 * The place of [host, host + bytes) in @p's arena. NOWHERE: it is not in one allocation of pinned
 * memory there.
 */
uint64_t pinned_at(const struct peer *p, const void *host, uint64_t bytes);
void hostmem_end(const void *ctx);
/* whether @at can be an address that pinned_device() has given */
bool pinned_device_has(CUdeviceptr at);
/*
 * False: no allocation of pinned memory, and no registered memory, is at that address of a GPU's.
 * @base and @bytes may be NULL.
 */
bool pinned_device_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr at);
/* false: @address is in no host memory that is noted here; no lock is taken */
bool hostmem_may_have(uint64_t address);
/*
 * Note @address, which a kernel was given, if it is host memory that the GPU of @p does not see.
 * hidden_tell() prints it, once until a context of @p ends.
 */
void hidden_note(struct peer *p, uint64_t address);
void hidden_tell(struct peer *p);
/*
 * Until pinned_release() the memory at @host, which may be pinned, is not made mapped memory: the
 * kernel reads or writes it for a socket, where it can't open closed pages. False: it can't be made
 * that; don't release it.
 */
bool pinned_hold(const struct peer *p, const void *host);
void pinned_release(void);
/*
 * from now on, and whether, pinned memory may be written while the program goes on: by an
 * asynchronous copy, by a graph, or by work that was given an address of a shared arena
 */
void pinned_written(void);
bool pinned_is_written(void);
/*
 * Map the arena at @device: then pinned memory has one address for CPU and GPU. Not if this process
 * has memory there.
 */
void pinned_map(struct peer *p, uint64_t device);
/* The arena of @p has @bytes: kvgpu_remote_arena_resize(). */
bool pinned_resize(struct peer *p, uint64_t bytes);
/* that mapping if it is where the GPU of @p sees the arena now, or NULL */
uint8_t *pinned_same(const struct peer *p);
/*
 * Whether a part of [begin, begin + bytes) is the arena of a server other than @p, at the same
 * address for CPU and GPU.
 */
bool pinned_foreign(const struct peer *p, uint64_t begin, uint64_t bytes);
struct host_range {
	uint8_t *base;
	uint64_t bytes;
	uint64_t at; /* place in the arena of .peer; NOWHERE: it is this process's own */
	struct peer *peer; /* NULL: registered memory */
	unsigned int flags;
	void *ctx;
	bool mapped; /* mapped memory of a peer that does not share its arena */
	/* lend.c: where the GPU of .lent_to, NULL none, sees registered memory */
	CUdeviceptr device;
	struct peer *lent_to;
};
bool host_find(const void *host, struct host_range *out);
/*
 * Make pinned memory @host mapped memory by @map, once. False: there is none, or @map has returned
 * false.
 */
bool host_map(const void *host, bool (*map)(const struct host_range *r));
/*
 * Note @r, or forget memory that begins at @ptr; @pinned: it is not registered memory. host_add():
 * CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: a part of @r is known already. host_remove(): @none:
 * there is no such memory.
 */
CUresult host_add(struct host_range r);
CUresult host_remove(void *ptr, bool pinned, CUresult none);
/*
 * The same of mapped memory that queued work may still use: its piece is put later.
 * False: that can't be, and nothing has changed.
 */
bool host_leave(void *ptr);
/* whether a copy, graph or kernel that is queued already may still write to @r */
bool pinned_may_change(const struct host_range *r);

/* ------------------------------------------------------------------ grow.c */

/*
 * Make room for pinned memory: its place in @p's arena, which may grow. NOWHERE: there is none, and
 * *own is memory of this process's own; or that is NULL, and the reason was printed. @mapped: only
 * the arena will do.
 */
uint64_t pinned_room(struct peer *p, uint64_t bytes, bool mapped, uint8_t **own);
/* Pinned memory was freed: give the server back what the arena has grown by. */
void pinned_shrink(struct peer *p);

/* ------------------------------------------------------------------ pin.c */

enum pinned { PINNED_UNKNOWN, PINNED_NOT, PINNED };
/*
 * Whether the server's library has registered the arena as pinned memory. Then the GPU itself
 * copies from and to pinned memory, in the stream's order. May ask the server, if the thread's
 * context is there.
 */
bool arena_is_pinned(struct peer *p);
/*
 * Whether the server of a plain channel has registered the ring and the slots of its arena, from
 * and to which the GPU then copies by itself. @ask: ask the server if that is not known.
 */
bool ring_is_pinned(struct peer *p, bool ask);
/* *device: the address of pinned memory @host for the GPU of @p; false: it has none */
bool pinned_device(struct peer *p, const void *host, CUdeviceptr *device);
/*
 * The GPU is to use memory at @ptr, or what a kernel's parameters point at: if that is pinned
 * memory of a peer that does not share its arena, it is mapped memory from now on. Call before the
 * frame is sent, and with no memory held.
 */
void gpu_uses(CUdeviceptr ptr);
void kernel_uses(struct peer *p, const uint8_t *packed, uint32_t bytes);
/* for init.c: the GPU of @p sees its arena, which is not shared, at @where when it is to */
void arena_is_seen_at(struct peer *p, uint64_t where);

/* ------------------------------------------------------------------ lend.c */

/*
 * Have the GPU of @p see registered memory at *device. NOT_SUPPORTED: not this memory, or not by
 * this channel, which was printed.
 */
CUresult memory_lend(struct peer *p, const void *host, uint64_t bytes, unsigned int flags,
		     CUdeviceptr *device);
CUresult memory_lend_end(struct peer *p, CUdeviceptr device);

/* ------------------------------------------------------- managed.c: managed and mapped memory */

/* For host_map(): pinned memory @r, which the program has in a second mapping of the arena. */
bool mapped_begin(const struct host_range *r);
/*
 * The program uses the pinned memory at @base no more, if it was mapped. Nobody else may get it
 * before managed_wait(), which waits for work.
 */
void mapped_end(const void *base);
void managed_wait(void);

bool managed_any(void);
/* managed memory, or mapped memory whose peer does not share its arena */
bool managed_has(CUdeviceptr ptr);
/*
 * Call managed_work_begins() before and managed_work_sent() after sending a frame with work for
 * @p's GPU that may touch managed memory, in context @ctx, or (NULL) in the thread's. Call
 * managed_waited() when a call has waited for work. All three only if managed_any().
 */
void managed_work_begins(struct peer *p, const struct object *ctx);
void managed_work_sent(void);
void managed_waited(void);
/* call before a call to @p that may wait for work, only if managed_any() */
void managed_wait_begins(const struct peer *p);
/* call on the host function's thread, before the server hears that the function has ended */
void managed_function_ends(void);
/* open the pages of [p, p + bytes) before they are read where no page may fault */
void managed_touch(const void *p, uint64_t bytes);
/*
 * Map the managed variables of @module that the library has in [begin, begin + bytes); @bytes 0:
 * there are none. CUDA_ERROR_NOT_SUPPORTED, with a line: they can't be mapped there, or modules on
 * another device have some.
 */
CUresult managed_variables(void *module, uint64_t begin, uint64_t bytes);
void managed_freed(CUdeviceptr ptr);
void managed_module_ends(const void *module);
void managed_end(const void *ctx);

/* the server's library has freed the memory at @ptr. @serial: of the call that freed it */
static inline void memory_freed(CUdeviceptr ptr, uint64_t serial)
{
	range_remove(ptr, serial);
	managed_freed(ptr);
}

/* ------------------------------------------------------------------ memory_kind.c */

/*
 * Whether @at can be an address of the GPU's: cuMemcpy() and others must not take it for one of the
 * program's memory.
 */
bool answer_address(const struct peer *p, CUdeviceptr at);
/*
 * Whether @at is memory of the program's own, whatever a server says. Managed memory is not. False
 * with a single server. Asks the kernel each time, 0.5 us.
 */
bool programs_own(CUdeviceptr at);
/*
 * Whether @at is memory of the program's own, and neither pinned nor registered nor, as far as the
 * client knows, a server's. As programs_own() else.
 */
bool is_pageable(CUdeviceptr at);
enum memory_kind { MEMORY_UNKNOWN, MEMORY_HOST, MEMORY_DEVICE };
/* What memory @at is. @host: the program says that it is host memory. */
enum memory_kind memory_kind_of(CUdeviceptr at, bool host);

/* ------------------------------------------------------------------ mem_extent.c */

/*
 * Before a copy reads or writes the program's memory: CUDA_SUCCESS if @bytes from @at on are one
 * allocation of the GPU's, or @size[0] bytes of a row, @size[1] rows and @size[2] slices from @at
 * on are in @array. Ask the server about what is not known here.
 */
CUresult device_holds(const struct route *to, CUdeviceptr at, uint64_t bytes);
CUresult array_holds(const struct route *to, CUarray array, const uint64_t *at,
		     const uint64_t *size);

/* ------------------------------------------------------------------ copy.c, copynode.c */

/*
 * Begin a copy from or to host memory. *captured: add the copy to the stream's graph as a node.
 * Else the caller may read @src (or NULL) at once. @waits: the copy is synchronous, which is an
 * error in a capture.
 */
CUresult host_copy_begins(CUstream stream, bool waits, const void *src, bool *captured);
/*
 * Add a linear copy of @bytes as a node to the graph that the stream with number @stream
 * captures. array_capture(): one end is @array, from byte @offset on.
 */
CUresult linear_capture(const struct route *route, uint64_t stream, CUdeviceptr dst,
			enum memory_kind to, CUdeviceptr src, enum memory_kind from, size_t bytes);
CUresult array_capture(const struct route *route, uint64_t stream, CUarray array, size_t offset,
		       void *host, size_t bytes, bool to_array);

/* ------------------------------------------------------------------ module.c */

enum { FUNCTION_ATTRIBUTES = sizeof(((struct a_function *)0)->attribute) / sizeof(uint32_t) };

/* what a launch needs, and the name behind it in the same memory */
struct function {
	const char *name; /* NULL: the server can't tell */
	bool layout_known, gapless; /* gapless: each parameter begins where the last one ends */
	bool launched; /* atomic */
	uint32_t parameters, bytes;
	int attribute[FUNCTION_ATTRIBUTES];
	bool attribute_known[FUNCTION_ATTRIBUTES];
	struct {
		uint32_t offset, size;
	} parameter[];
};

/* What is known of @f; asks the server for what is not. NULL: @f is no function. */
struct function *function_of(CUfunction f);
/* Whether *value could be told without asking. */
bool function_tells(CUfunction f, int attribute, int *value);
/* whether @attribute, one that can be set, has that value already */
bool function_has(CUfunction f, int attribute, int value);
/* whether the server's library is known to let @attribute have that value */
bool function_takes(CUfunction f, int attribute, int value);
void function_set(CUfunction f, int attribute, int value);
/* whether text of its code may come out when it is unloaded, before which nobody goes on then */
bool module_prints(CUmodule module);
void module_unloaded(CUmodule module);
void link_destroyed(CUlinkState state);
/*
 * launch.c: pack kernel parameters into @to. @to has room for f->bytes, and for 4352 bytes (PACKED)
 * if the layout is not known. *bytes: how many were packed.
 */
CUresult parameters_pack(const struct function *f, void **params, void **extra, uint8_t *to,
			 uint32_t *bytes);

/* ------------------------------------------------------------------ mem_access.c */

/*
 * Where memory is to be: put the server's number of the device in the place of the program's, or
 * back. Memory of a host can't be had; location_to_ask() puts the first device in its place, and
 * location_to_try() prints no line. location_here(): false: an answer can't say that.
 */
CUresult location_to_server(struct route *to, CUmemLocation *place);
CUresult location_to_try(struct route *to, CUmemLocation *place);
CUresult location_to_ask(struct route *to, CUmemLocation *place);
bool location_here(const struct call *c, CUmemLocation *place);
void allocation_made(CUmemGenericAllocationHandle handle, const CUmemAllocationProp *prop);

/* ------------------------------------------------------------------ ipc.c */

/* Other programs may record the event from now on: calls about it ask. */
void event_shared(CUevent event);

/* ------------------------------------------------------------------ texture.c */

CUresult resource_to_wire(struct route *to, const CUDA_RESOURCE_DESC *r,
			  struct kvgpu_remote_resource *w);
CUresult resource_from_wire(const struct call *c, const struct kvgpu_remote_resource *w,
			    CUDA_RESOURCE_DESC *r);

/*
 * Whether a tensor map can be written to @map, and have @rank dimensions, @least at least: so many
 * numbers of the program's are read.
 */
bool tensor_fine(const CUtensorMap *map, unsigned int rank, unsigned int least);

/* ------------------------------------------------------------------ hostfunc.c */

/*
 * So many notifications of servers wait at most for the thread of functions, and for that of bounce
 * buffers. More are dropped: an honest server has one for each function or bounce buffer.
 */
enum { DUE_MAX = 1 << 20 };

/* take the server's NOTIFY_CALL, _GONE or _REFUSED; runs on the reader of @p's channel */
void host_function_notified(struct peer *p, const struct kvgpu_remote_notification *h,
			    uint64_t invocation);
/*
 * whether a function that a stream was given has not returned: it may write a later copy's
 * source. Kept functions don't count.
 */
bool host_functions_pending(void);
/*
 * give a function, which @p may call, a number; 0: no memory or no thread. @kept: a graph may have
 * it, and call it often
 */
uint64_t host_function(const struct peer *p, CUhostFn fn, CUstreamCallback callback,
		       CUstream stream, void *data, bool kept);
void host_function_drop(uint64_t id);
bool host_function_get(uint64_t id, CUDA_HOST_NODE_PARAMS *p);

/* ------------------------------------------------------------------ notification.c */

/*
 * Take an event of the server. Runs on the reader of that server's channel: with several servers on
 * several threads at once. @ctx: the struct peer.
 */
void client_notified(void *ctx, const struct kvgpu_remote_notification *h, const void *bytes,
		     size_t n);

#endif
