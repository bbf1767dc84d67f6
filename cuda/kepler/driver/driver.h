/* SPDX-License-Identifier: MIT */
/*
 * Inside of libcuda.so.1.
 *
 * Locks: that of libraries.c is taken before all others, as its file calls entry points; `table`
 * (contexts, primary contexts, init) before a context's `lock`. A thread holds one context's lock
 * at a time; but one that locks the process (checkpoint.c) holds `table` and all contexts' until it
 * unlocks it. context_open() and context_close() wait for the GPU with `table` held;
 * context_close() waits for host functions, too, so no host function takes `table`
 * (may_take_table()). A context's `lock` guards what is in the context and orders submissions.
 * Waits for a stream, an event or all work are without it. Submissions, copies by the CPU and calls
 * that allocate or free something may wait for the GPU with it. Taken inside of it: `graphs`
 * (graph.h), the locks of hostfunc.c, messages.h and pages.c, and `watch`; inside of all, the
 * device's (device/nv.h). A graph's nodes are carried out with `graphs` held (graphexec.c):
 * kernel_launch(), box_copy(), set_lines(), host_call() and event_record() don't take it.
 *
 * Threads: any thread of the program calls an entry point, with no lock. Host functions, waits for
 * other contexts, and the CPU's part of copies between contexts (peer.c) run on a thread of the
 * context (hostfunc.c), which takes no context's lock, nor `table` or `graphs`. A function below is
 * called with its context locked, unless its comment says something else, or it is given nothing of
 * a context. The application destroys no context that a thread is using (documentation of
 * cuCtxDestroy()): a thread that waits in a context, or prints for it, reads .device and .messages
 * without the lock.
 */
#ifndef KVGPU_CUDA_DRIVER_H
#define KVGPU_CUDA_DRIVER_H

#include <pthread.h>
#include <stdbool.h>

#include "../../api/api.h"
#include "../../api/jit.h"
#include "../device/device.h"
#include "../device/texture.h"
#include "../image/image.h"

enum {
	MAX_DEVICES = 16,
	STAGING_CHUNKS = 2,
	STAGING_BYTES = 1 << 20,
	CROSSING_SLOTS = 8,
	/*
	 * range.flags. MODULE: a module's memory. MANAGED: one address for CPU and GPU. REGISTERED:
	 * the application's own memory, which register.c has shown to the GPU. The bits below are
	 * those of cuMemHostAlloc() or cuMemHostRegister().
	 */
	RANGE_MODULE = 1 << 30,
	RANGE_MANAGED = 1 << 29,
	RANGE_REGISTERED = 1 << 28
};

/* the first word of a live object; a destroyed context keeps it */
enum magic {
	MAGIC_CONTEXT = 0x6b637478,
	MAGIC_STREAM = 0x6b737472,
	MAGIC_EVENT = 0x6b657674,
	MAGIC_MODULE = 0x6b6d6f64,
	MAGIC_FUNCTION = 0x6b66756e
};

/* an allocation, a module's data or constants, or registered memory */
struct range {
	uint64_t va, size;
	struct device_memory *memory;
	uint8_t *host; /* NULL: the CPU does not see it */
	unsigned int flags;
	bool shared; /* other ranges may be in .memory, too */
	/* a byte for each page, freed with the range; NULL: no advice */
	uint8_t *advice;
};

/* register.c. Once .shown is set the GPU sees the memory, and it is a range, too. */
struct registered {
	uint8_t *host;
	size_t size;
	unsigned int flags;
	/* a call without @asked could not show it: later ones don't try */
	bool stays;
	struct shown *shown;
	struct registered *next;
};

struct node_list {
	CUgraphNode *at;
	size_t n, max;
};

struct CUstream_st {
	uint32_t magic;
	CUcontext ctx;
	uint64_t id; /* unique_id() */
	unsigned int flags;
	struct moment last; /* the end of all its work */
	pthread_t thread; /* .per_thread: the thread whose default stream this is */
	bool per_thread;
	/*
	 * These two change with the context's lock and `graphs` held (graph.h). Either is enough to
	 * read them.
	 */
	struct capture *capture; /* NULL: work is done, not captured */
	struct node_list tips; /* dependencies of the next captured node */
	CUstream next;
};

/* where the GPU writes the time of an event */
struct stamp {
	uint64_t va;
	volatile uint32_t *at;
};

struct CUevent_st {
	uint32_t magic;
	CUcontext ctx;
	unsigned int flags;
	/* this and .capture change by __atomic: capture_wait() reads them with .ctx not locked */
	bool recorded;
	struct moment at; /* when the last record is done; valid if .recorded */
	struct stamp stamp; /* .at NULL: no times are taken */
	uint32_t payload;
	/*
	 * The id of the capture that recorded it, perhaps over by now; 0: none. graph.h has the
	 * locks of .capture and .tips.
	 */
	uint64_t capture;
	struct node_list tips;
	CUevent next;
};

/* an array, or one level of a mipmapped one, which then owns the memory */
struct CUarray_st {
	CUcontext ctx;
	CUDA_ARRAY3D_DESCRIPTOR desc; /* of this level */
	struct texel texel;
	struct tiling tiling; /* of all levels */
	unsigned int level;
	struct device_memory *memory;
	CUmipmappedArray of;
	CUarray next; /* in ctx->arrays, unless it is a level */
};

struct CUmipmappedArray_st {
	CUcontext ctx;
	CUDA_ARRAY3D_DESCRIPTOR desc;
	unsigned int levels;
	struct CUarray_st *level;
	CUmipmappedArray next;
};

/*
 * What a texture is made from. That of a changed reference is made by the next
 * launch that uses the reference.
 */
struct texture_source {
	CUDA_RESOURCE_DESC resource;
	CUDA_TEXTURE_DESC texture;
	CUDA_RESOURCE_VIEW_DESC view;
	bool has_view;
};

struct texture_object {
	struct texture_source source;
	uint32_t header, sampler; /* indices in ctx->pools */
};

struct CUtexref_st {
	CUcontext ctx;
	bool bound, stale; /* stale: .source changed after .made */
	struct texture_source source;
	CUarray_format format;
	unsigned int channels;
	struct texture_object *made;
	CUtexref next; /* in ctx->texrefs, unless it is a module's */
};

struct CUsurfref_st {
	CUcontext ctx;
	CUarray array;
	uint32_t words[SURFACE_WORDS];
};

/* a kernel's use of image.refs[.ref]: launches write to bank 0 at .offset */
struct ref_use {
	uint32_t ref, offset;
};

/*
 * .cache, .banks, .cache_set, .banks_set, .max_dynamic and .old are set without a lock: the
 * application puts such calls and its launches in order.
 */
struct CUfunc_st {
	uint32_t magic;
	CUmodule module;
	const struct image_kernel *kernel;
	uint8_t *const0; /* with relocations, without parameters */
	CUfunc_cache cache;
	CUsharedconfig banks;
	/* .launched: the first launch invalidates the GPU's cache of instructions */
	bool cache_set, banks_set, launched;
	bool refused; /* its launch, which was said; use __atomic */
	uint32_t const2_at; /* in the module's constants */
	struct ref_use *refs;
	unsigned int nr_refs;
	struct old_launch *old;
	int max_dynamic;
};

struct CUmod_st {
	uint32_t magic;
	CUcontext ctx;
	struct image image;
	struct device_memory *code, *data, *constants;
	struct CUfunc_st *functions;
	struct CUtexref_st *texrefs; /* entry i is for image.refs[i], in .surfrefs as well */
	struct CUsurfref_st *surfrefs;
	CUmodule next;
	unsigned int keepers; /* atomic: one for the GPU's part, one for each function_keep() */
};

struct CUctx_st {
	uint32_t magic;
	/* changes with `table` and .lock held, so that either is enough to read it */
	bool alive;
	bool primary; /* guarded by `table` */
	CUdevice dev; /* never changes: read without a lock */
	/* use __atomic: it changes with `table` alone */
	unsigned int flags;
	unsigned int attached; /* calls of cuCtxAttach() without cuCtxDetach() */
	pthread_mutex_t lock;
	/*
	 * .device and .life change with `lock` and `watch` held. Threads of other contexts that
	 * look whether work here is done hold `watch` alone. They must not take `lock`: its holder
	 * may wait, even for them. `watch` is the last of the driver's locks. poll() under it may
	 * wait for a thread that asks for the cause.
	 */
	pthread_mutex_t watch;
	unsigned int life; /* how many devices the context has had */
	uint64_t id; /* unique_id(), of this life; use __atomic */
	struct device *device;
	CUresult sticky; /* the error that ctx_enter...() returns; use __atomic */
	/* range.c: sorted by address */
	struct range *ranges;
	unsigned int nr_ranges, max_ranges;
	struct registered *registered;
	struct device_memory **slabs; /* small allocations share them */
	unsigned int nr_slabs;
	struct CUstream_st null; /* the legacy default stream */
	/* work of the streams without CU_STREAM_NON_BLOCKING: .null comes after it */
	struct moment blocking;
	struct moment submitted; /* the last work of each queue */
	/*
	 * the last work of QUEUE_HOST that may take for ever, and the first of QUEUE_COMPUTE that
	 * waits for such; 0: none
	 */
	uint64_t endless, held_from;
	/* copies may go to a queue beside kernels */
	bool parallel;
	CUstream streams;
	CUevent events;
	CUmodule modules;
	CUarray arrays;
	CUmipmappedArray mipmapped;
	struct texture_pools *pools; /* NULL: no textures or surfaces yet */
	CUtexref texrefs;
	uint64_t grid_id; /* of the last launch */
	/* NULL: no module has needed it */
	struct messages *messages;
	struct host_queue *host; /* NULL: no work yet */
	struct stamp *stamps; /* event.c: unused ones, with room for all that were made */
	unsigned int nr_stamps, made_stamps;
	struct device_memory *staging; /* transfer.c; .staging_used: the last work of a chunk */
	struct moment staging_used[STAGING_CHUNKS];
	unsigned int staging_next;
	struct crossing_slot { /* peer.c: staging buffers of copies between contexts */
		struct device_memory *memory;
		struct moment used;
		bool taken; /* by a copy, which leaves the lock meanwhile */
	} crossing[CROSSING_SLOTS];
	unsigned int crossing_next;
	size_t limit[5]; /* by CUlimit */
	CUfunc_cache cache;
	CUsharedconfig banks;
	CUcontext next;
};

/* init.c */
API extern const char kvgpu_streams_go_on; /* init.c */
extern const struct device_ops *backend; /* backend.c */
extern pthread_mutex_t table;
/* CUDA_ERROR_NOT_INITIALIZED before cuInit(), and in a child of fork() */
CUresult driver_ready(void);
const struct device_facts *driver_device(CUdevice dev); /* NULL: no such device */
unsigned int driver_count(void);
unsigned int driver_gpu(CUdevice dev); /* the backend's number of a device that there is */
/* KVGPU_CHECKPOINT=1 was set at cuInit(): devices are opened so that their memory can be moved */
bool driver_moves(void);

/*
 * A word of the ID in file @path, /etc/machine-id. By it, GPUs of two machines at the same place on
 * the bus get different UUIDs. 0: no such file, or nothing in it.
 */
uint32_t machine_word(const char *path);
void uuid_of(const struct device_facts *f, CUuuid *uuid);

/* errors.c */
CUresult error_of(enum device_status s);
/* More exact than @otherwise, where the GPU's fault is known. Needs no lock, and may sleep. */
CUresult error_of_end(CUcontext ctx, CUresult otherwise);

/*
 * current.c. Lock the current context; after an error nothing is locked. Call all ctx_enter...()
 * with nothing locked.
 */
CUresult ctx_enter(CUcontext *ctx);
CUresult ctx_enter_of(CUcontext ctx); /* @ctx need not be current */
uint64_t unique_id(void); /* a number that no other context or stream of the process has */
bool several_contexts(void); /* more than one was ever made, destroyed ones counted */
void ctx_leave(CUcontext ctx);
/* whether the thread has a current context, without an error of its own */
CUresult current_check(void);
/*
 * Lock the context that has an object: the current one, or else any other. As with NVIDIA's driver
 * the thread needs no current one. The calls for which NVIDIA's wants one all the same begin with
 * current_check(): selftests/cuda/driver/calls.c says which do. @owns is called with a context's
 * lock. @none: the error when no context has it and the current one, if any, has no error itself.
 * Takes one context's lock after the other, without `table`: it waits for a holder that waits for
 * the GPU.
 */
typedef bool (*owns_fn)(CUcontext ctx, const void *what);
CUresult ctx_enter_owner(CUcontext *ctx, owns_fn owns, const void *what, CUresult none);
/* what a call that frees memory gives for NULL; nothing is locked */
CUresult free_nothing(void);
/*
 * Keep @r if each later call has to return it. Return this call's error. An assertion stops its
 * grid by a trap: what kernels have said is looked at before the GPU's fault is. Needs no lock; may
 * sleep, in error_of_end().
 */
CUresult ctx_set_sticky(CUcontext ctx, CUresult r);
bool context_known(CUcontext ctx); /* needs no lock; true for a dead context */
void contexts_add(CUcontext ctx); /* a new one, with `table` held */
CUcontext contexts_all(void); /* the first of all, the dead ones too; .next has the others */
/* the calling thread's stack of contexts; current_drop() takes off @ctx if it is on top */
bool current_is_full(void);
void current_push(CUcontext ctx);
void current_drop(CUcontext ctx);
/* This thread is in a host function (hostfunc.c sets it): no call may lock a context. */
bool in_host_function(void);
void set_in_host_function(bool in);
/* driver_ready(), and CUDA_ERROR_NOT_PERMITTED in a host function */
CUresult may_take_table(void);

/* context.c: a dead context, or NULL. Call with `table` held. */
CUcontext context_new(void);
/*
 * Call with `table` held and no context locked. *out: NULL, or a dead context to open (again).
 */
CUresult context_open(CUcontext *out, unsigned int flags, CUdevice dev);
/*
 * Call with `table` held and no context locked. *ctx stays, dead. Call users_destroy() and
 * export_context_ended() once nothing is locked. Memory of the GPU that the functions ..._free()
 * leave is freed with the device.
 */
void context_close(CUcontext ctx);

/*
 * order.c. @handle: 0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, or a stream of @ctx. NULL: there is
 * none, or no memory for the thread's own.
 */
CUstream stream_of(CUcontext ctx, CUstream handle);
/* Lock the stream's context: for a default stream the current one. */
CUresult ctx_enter_stream(CUstream handle, CUcontext *ctx, CUstream *s);
bool is_default_stream(CUstream handle);
CUstream stream_new(CUcontext ctx, unsigned int flags); /* NULL: no memory */
bool has_stream(CUcontext ctx, const void *handle); /* an owns_fn */
/* Later work in @s comes after @until, too, a moment of the same context. */
void stream_await(CUstream s, const struct moment *until);
/* what new work in @s comes after */
struct moment stream_begin(const struct CUstream_st *s);
/* @seq in @q is new work of @s: later work comes after it. */
void stream_add(CUstream s, enum device_queue q, uint64_t seq);
/* @m becomes the moment when both are over. */
void moment_merge(struct moment *m, const struct moment *other);
/*
 * stream_add() for work that may take for ever: a function of the application, or host_await()'s
 * wait.
 */
void stream_add_endless(CUstream s, uint64_t seq);
/* the queue for the next copy of @s from or to host memory */
enum device_queue copy_queue(const struct CUstream_st *s);

/*
 * stream.c: ctx_enter_work(); but a default stream that does not capture is taken in the context
 * that has GPU memory at @va, if any has.
 */
CUresult ctx_enter_work_at(CUstream handle, CUdeviceptr va, CUcontext *ctx, CUstream *s);
void streams_free(CUcontext ctx);

/* event.c; CUDA_ERROR_INVALID_HANDLE: no context has the event */
CUresult ctx_enter_event(CUevent event, CUcontext *ctx);
/* NULL: not an event of @ctx */
CUevent event_of(CUcontext ctx, CUevent event);
CUresult event_record(CUcontext ctx, CUstream s, CUevent e);

/*
 * capture.c. ctx_enter_work() is ctx_enter_stream() for a caller that submits work,
 * ctx_enter_status() for one that waits for it or asks about it. Both check CUDA's rules for
 * streams that capture, and for the legacy stream beside them. All functions here but
 * capture_forget() may take `graphs`.
 */
struct kernel_request;
CUresult ctx_enter_work(CUstream handle, CUcontext *ctx, CUstream *s);
/* ctx_enter() for a call that CUDA names potentially unsafe: a capture may forbid it. */
CUresult ctx_enter_unsafe(CUcontext *ctx);
CUresult ctx_enter_status(CUstream handle, CUcontext *ctx, CUstream *s);
CUresult capture_kernel(CUstream s, const struct kernel_request *q);
CUresult capture_copy(CUstream s, const CUDA_MEMCPY3D *c);
CUresult capture_set(CUstream s, const struct device_fill *f, size_t width, size_t height);
CUresult capture_host(CUstream s, CUhostFn fn, void *data);
CUresult capture_record(CUstream s, CUevent e, bool external);
/* Call with nothing locked. */
CUresult capture_wait(CUstream stream, CUevent event, unsigned int flags, bool *captures);
CUresult capture_refuse(CUstream s); /* for what can't be captured */
CUresult capture_unsafe(void); /* the check of ctx_enter_unsafe(), alone */
CUresult capture_context(CUcontext ctx); /* before a wait for all work of @ctx, locked */
/* the error of a question about a captured event; @harmless: the capture stays valid */
CUresult capture_of_event(CUevent e, bool harmless);
void capture_forget(CUevent e);
/*
 * @s is destroyed, and with it the graph of a capture that began in it. Call users_destroy() once
 * nothing is locked.
 */
void capture_drop(CUstream s);

/*
 * userobject.c: call the destructors, functions of the application, of objects without references.
 * Call with nothing locked.
 */
void users_destroy(void);

/* wait.c: with or without the lock. moment_wait() sleeps, and prints what kernels have printed. */
CUresult moment_poll(CUcontext ctx, const struct moment *m); /* CUDA_ERROR_NOT_READY: not done */
CUresult moment_wait(CUcontext ctx, const struct moment *m);

/*
 * range.c. NULL: no allocation has this address. The pointer is valid until a range is added or
 * removed; registered_show() may add some.
 */
struct range *range_find(CUcontext ctx, uint64_t va);
struct range *range_find_host(CUcontext ctx, const void *host);
/* how many ranges begin at @va or below it */
unsigned int range_above(CUcontext ctx, uint64_t va);
/* NULL: not registered. */
struct registered *registered_at(CUcontext ctx, const void *host);
/*
 * Lock the context that has GPU memory at @va, first the current one. @none: the error when none
 * has.
 */
CUresult ctx_enter_memory(CUcontext *ctx, CUdeviceptr va, CUresult none);
/*
 * Lock the context that has a range at the CPU address @host. The caller tests the range's flags.
 * CUDA_ERROR_INVALID_VALUE: there is none.
 */
CUresult ctx_enter_pinned(CUcontext *ctx, const void *host);
/*
 * Whether @host is pinned, managed or registered memory of another context, and not of @ctx. Call
 * with nothing locked.
 */
bool pinned_elsewhere(CUcontext ctx, const void *host);
/*
 * What an address is that the application calls host memory. Memory that the CPU can read is the
 * host's, even where the GPU has something at the same address; but a buffer that both see at one
 * address is the GPU's.
 */
enum where { ON_HOST, ON_DEVICE, NOWHERE };
bool on_cpu(const void *host); /* ON_HOST, whichever the context */
enum where where_is(CUcontext ctx, const void *host);
CUresult range_add(CUcontext ctx, struct range r);
/*
 * Add a range that CPU and GPU see, all of @r->memory. @r gets its addresses. After an error the
 * memory is released.
 */
CUresult range_add_host(CUcontext ctx, struct range *r);
void range_remove(CUcontext ctx, struct range *r);
void memory_free_all(CUcontext ctx); /* memory.c */

/*
 * transfer.c: with ctx locked. @s is any stream of @ctx, also one on the stack (peer.c,
 * graphexec.c). Host memory may be any: registered memory is shown to the GPU first where that can
 * be (registered_show()). plane_copy() returns when host memory that the GPU does not see was read
 * or written; other memory may still be in use.
 */
struct plane {
	uint64_t va; /* valid if .host is NULL */
	uint8_t *host;
	size_t pitch;
	/* a slice of a block-linear surface at .va; .blocks says where in it */
	bool tiled;
	struct device_blocks blocks;
};
CUresult plane_copy(CUcontext ctx, CUstream s, const struct plane *dst, const struct plane *src,
		    size_t width, size_t lines);
/* For peer.c: no end has .host. Uses copy_queue(). */
CUresult plane_copy_beside(CUcontext ctx, CUstream s, const struct plane *dst,
			   const struct plane *src, size_t width, size_t lines);
CUresult memory_fill(CUcontext ctx, CUstream s, const struct device_fill *f);

/* peer.c: copies where the stream's context lacks some memory. Call with nothing locked. */
struct crossing {
	CUcontext to, from; /* NULL: host memory */
	struct plane dst, src;
	size_t width, lines;
	/* Host memory that another context has pinned: touched when the copy's turn comes. */
	bool late;
};
/*
 * Copy after @stream's work; @stream's later work comes after the copy. @wait: copy also after what
 * both contexts' legacy streams come after, and return when it is done.
 */
CUresult peer_copy(CUstream stream, const struct crossing *c, bool wait);
/* NULL: no context has GPU memory at @va, or there was an error */
CUcontext memory_owner(CUdeviceptr va);

/* range.c: one allocation has all these bytes */
bool on_device(CUcontext ctx, const struct plane *p, size_t width, size_t lines);

/* array.c. NULL: not an array of ctx. */
CUarray array_of(CUcontext ctx, CUarray handle);
CUresult ctx_enter_array(CUcontext *ctx, CUarray handle); /* locks its context */
CUmipmappedArray mipmapped_of(CUcontext ctx, CUmipmappedArray handle);
/* false: formats that are not offered */
bool texel_of(CUarray_format format, unsigned int channels, struct texel *out);
/* 1 where the description says 0 */
uint32_t array_height(const struct CUarray_st *a);
uint32_t array_depth(const struct CUarray_st *a);
/* @x in bytes */
struct plane array_plane(const struct CUarray_st *a, size_t x, size_t y, size_t z);
void arrays_free(CUcontext ctx);

/* textures.c: call with ctx locked */
CUresult texture_make(CUcontext ctx, const struct texture_source *source,
		      struct texture_object **out);
void texture_release(CUcontext ctx, struct texture_object *t);
struct texture_object *texture_find(CUcontext ctx, CUtexObject handle);
CUtexObject texture_handle(const struct texture_object *t);
CUresult descriptor_make(CUcontext ctx, const uint32_t words[SURFACE_WORDS],
			 const CUDA_RESOURCE_DESC *resource, CUsurfObject *out);
/* NULL: no such object */
const CUDA_RESOURCE_DESC *descriptor_find(CUcontext ctx, CUsurfObject object);
/* Only for an object that descriptor_find() finds. */
void descriptor_release(CUcontext ctx, CUsurfObject object);
void textures_launch(CUcontext ctx, struct device_launch *l);
void textures_free(CUcontext ctx);

/* texdesc.c: fills in @h and @s. Call with ctx locked. */
CUresult texture_describe(CUcontext ctx, const struct texture_source *source,
			  struct texture_header *h, struct sampler *s);

/* texref.c: what kernels have to find for a reference now */
CUresult texref_handle(CUcontext ctx, CUtexref ref, uint32_t *handle);
void texref_init(CUcontext ctx, CUtexref ref);
void texref_drop(CUcontext ctx, CUtexref ref);
void texrefs_free(CUcontext ctx);

/* output.c: print what is there, with or without the lock. CUDA_ERROR_ASSERT: a kernel asserted. */
CUresult messages_take(CUcontext ctx);
/* messages.c: with ctx locked */
CUresult messages_add(CUcontext ctx, CUmodule module);
void messages_remove(CUcontext ctx, CUmodule module);
/* bank 0 of a kernel that is launched now */
void messages_launch(CUcontext ctx, const struct image_kernel *k, uint8_t *const0);
/*
 * Set the limit of what kernels print, or of their heap. It may wait for the GPU. INVALID_VALUE: a
 * kernel that prints, or has a heap, was launched (NVIDIA's manual of cuCtxSetLimit()).
 */
CUresult messages_limit(CUcontext ctx, CUlimit limit, size_t value);
void messages_free(CUcontext ctx);

/* kernel.c. These need no lock. */
struct kernel_request {
	CUfunction f;
	uint32_t grid[3], block[3];
	uint32_t dynamic;
	void **params, **extra;
};
CUresult kernel_check(const struct kernel_request *q);
/* @to: f->kernel->param_size bytes */
CUresult kernel_arguments(const struct kernel_request *q, uint8_t *to);
/* launch.c */
CUresult kernel_launch(CUcontext ctx, const struct kernel_request *q, CUstream s);

/* box.c, memset.c: call with ctx locked */
CUresult box_check(CUcontext ctx, const CUDA_MEMCPY3D *c);
CUresult box_copy(CUcontext ctx, CUstream s, const CUDA_MEMCPY3D *c);
CUresult set_check(CUcontext ctx, const struct device_fill *f, size_t width, size_t height);
CUresult set_lines(CUcontext ctx, CUstream s, struct device_fill f, size_t width, size_t height);

/* occupancy.c: need no lock */
enum { SM_SHARED = 49152 };
static inline bool is_function(CUfunction f)
{
	return f && __atomic_load_n(&f->magic, __ATOMIC_RELAXED) == MAGIC_FUNCTION;
}

int kernel_max_threads(const struct image_kernel *k);

/* hostfunc.c */
CUresult host_call(CUcontext ctx, CUstream s, CUhostFn fn, void *data);
/* host_await() for work whose result @s uses: if it fails @ctx keeps CUDA_ERROR_UNKNOWN. */
CUresult host_need(CUcontext ctx, CUstream s, CUcontext other, unsigned int life,
		   const struct moment *until);
/* The CPU copies, in the stream's order; nothing may free the memory before. */
struct host_lines {
	uint8_t *to;
	const uint8_t *from;
	size_t to_pitch, from_pitch, width, lines;
};
CUresult host_copy(CUcontext ctx, CUstream s, const struct host_lines *c);
void host_stop(CUcontext ctx); /* waits until all have returned */
/*
 * Call with nothing locked. @ctx has an error: wait for the function or copy that is under way, if
 * it is of those up to @upto and .life is still @life. No later one begins.
 */
void host_settle(CUcontext ctx, unsigned int life, uint64_t upto);
/* New work in @s of @ctx comes after @until in @other, whose .life was @life then. */
CUresult host_await(CUcontext ctx, CUstream s, CUcontext other, unsigned int life,
		    const struct moment *until);

/*
 * register.c. If possible registered memory becomes a range that the GPU sees: its pages are
 * replaced by others (pages.c). @asked, or DEVICEMAP: the application needs the GPU's address. Then
 * MEANS_USER is enough, and an attempt that failed is made again. Copies and questions about a
 * pointer don't pass @asked: another thread's system call must not fail for them.
 */
bool registered_show(CUcontext ctx, const void *host, bool asked);
void registered_free(CUcontext ctx); /* while ctx->device is open */

/*
 * managed.c. Lock the context whose managed range has all of the @bytes. After an error nothing is
 * locked.
 */
CUresult ctx_enter_managed(CUcontext *ctx, CUdeviceptr ptr, size_t bytes, struct range **range);
/*
 * Allocate memory with one address for CPU and GPU; module.c does for managed variables, too.
 * NOT_SUPPORTED: the process has something at the GPU's address.
 */
CUresult same_memory(CUcontext ctx, uint64_t size, struct device_memory **out);

/* module.c, event.c */
void modules_free(CUcontext ctx);
void events_free(CUcontext ctx);

/*
 * kernel.c. Between these two, @f, its module's image and its kernel can be read also after the
 * module was unloaded, but not f->const0, .refs and .old; is_function() then says no. No locks
 * needed. Call function_keep() while the module is loaded, or for a function that is kept already.
 */
void function_keep(CUfunction f);
void function_drop(CUfunction f);
void module_drop(CUmodule m); /* the GPU's part is released: free the rest, unless it is kept */

#endif
