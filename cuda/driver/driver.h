/* SPDX-License-Identifier: MIT */
/*
 * Inside of libcuda.so.1.
 *
 * Locks: `table` (contexts, primary contexts, init) is taken before a context's `lock`; nobody
 * waits for the GPU with `table` held. A context's `lock` guards everything in it and orders
 * submissions. Waiting for the GPU is done without it, but for space in staging buffers and for
 * freeing.
 */
#ifndef KVGPU_CUDA_DRIVER_H
#define KVGPU_CUDA_DRIVER_H

#include <pthread.h>
#include <stdbool.h>

#include "../device/device.h"
#include "../device/texture.h"
#include "../image/image.h"
#include "api.h"

enum {
	MAX_DEVICES = 16,
	STAGING_CHUNKS = 2,
	STAGING_BYTES = 1 << 20,
	STAMPS = 4096,
	STAMP_BYTES = 16,
	/*
        * in range.flags. MODULE: not the application's to free; MANAGED: at one address for CPU and
        * GPU
        */
	RANGE_MODULE = 1 << 30,
	RANGE_MANAGED = 1 << 29,
	RANGE_REGISTERED = 1 << 28 };

/* a live object begins with its kind; a destroyed one with 0 */
enum magic {
	MAGIC_CONTEXT = 0x6b637478,
	MAGIC_STREAM = 0x6b737472,
	MAGIC_EVENT = 0x6b657674,
	MAGIC_MODULE = 0x6b6d6f64,
	MAGIC_FUNCTION = 0x6b66756e };

/* an allocation of the application's */
struct range {
	uint64_t va, size;
	struct device_memory *memory;
	uint8_t *host;			/* pinned and managed memory: as the CPU sees it */
	unsigned int flags;
	bool shared;			/* one of several in its memory, a slab */
	uint8_t *advice;		/* advice.c: of each page; NULL: nothing was said */
};

/*
 * register.c: the application's own memory, as far as it says that it is to be pinned. The GPU has
 * it once .shown, as a range, too
 */
struct registered {
	uint8_t *host;
	size_t size;
	unsigned int flags;
	bool stays;			/* could not be shown when nobody had asked for it */
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
	unsigned int flags;
	struct moment last;
	pthread_t thread;		/* whose default stream it is */
	bool per_thread;
	struct capture *capture;	/* capture.c; NULL: what comes is done */
	struct node_list tips;		/* which nodes the next one comes after */
	CUstream next;
};

struct CUevent_st {
	uint32_t magic;
	CUcontext ctx;
	unsigned int flags;
	bool recorded;
	struct moment at;
	uint64_t stamp_va;
	volatile uint32_t *stamp;
	uint32_t payload;
	/* the number of the capture that it was recorded in, which may have ended; 0: it was not */
	uint64_t capture;
	struct node_list tips;
	CUevent next;
};

/* an array, or one level of a mipmapped one, which then owns the memory */
struct CUarray_st {
	CUcontext ctx;
	CUDA_ARRAY3D_DESCRIPTOR desc;	/* as it was asked for; of this level */
	struct texel texel;
	struct tiling tiling;		/* of all levels */
	unsigned int level;
	struct device_memory *memory;
	CUmipmappedArray of;
	CUarray next;			/* of those that are in none */
};

struct CUmipmappedArray_st {
	CUcontext ctx;
	CUDA_ARRAY3D_DESCRIPTOR desc;
	unsigned int levels;
	struct CUarray_st *level;
	CUmipmappedArray next;
};

/* what a texture is made from; a reference's changes until it is used */
struct texture_source {
	CUDA_RESOURCE_DESC resource;
	CUDA_TEXTURE_DESC texture;
	CUDA_RESOURCE_VIEW_DESC view;
	bool has_view;
};

struct texture_object {
	struct texture_source source;
	uint32_t header, sampler;
};

struct CUtexref_st {
	CUcontext ctx;
	bool bound, array_only, stale;	/* stale: .made is not what .source says */
	struct texture_source source;
	CUarray_format format;		/* of linear memory */
	unsigned int channels;
	struct texture_object *made;
	CUtexref next;			/* of those that belong to no module */
};

struct CUsurfref_st {
	CUcontext ctx;
	CUarray array;
	uint32_t words[SURFACE_WORDS];
};

/* a reference in a kernel's bank 0 */
struct ref_use {
	uint32_t ref, offset;
};

struct CUfunc_st {
	uint32_t magic;
	CUmodule module;
	const struct image_kernel *kernel;
	uint8_t *const0;		/* with relocations done, without parameters */
	CUfunc_cache cache;
	CUsharedconfig banks;
	bool cache_set, banks_set, launched;
	uint32_t const2_at;		/* in the module's constants */
	struct ref_use *refs;
	unsigned int nr_refs;
	struct old_launch *old;		/* oldlaunch.c; NULL */
	int max_dynamic;
};

struct CUmod_st {
	uint32_t magic;
	CUcontext ctx;
	struct image image;
	struct device_memory *code, *data, *constants;
	struct CUfunc_st *functions;	/* one for each kernel of image */
	struct CUtexref_st *texrefs;	/* one of each for each of image's refs */
	struct CUsurfref_st *surfrefs;
	CUmodule next;
};

struct CUctx_st {
	uint32_t magic;
	bool alive, primary;
	CUdevice dev;
	unsigned int flags, attached;	/* attached: beyond the one who made it */
	pthread_mutex_t lock;
	/*
	 * For other contexts' threads that look whether work here is done: they must not need
	 * `lock`, which is held by who waits, perhaps for them. It guards .device's begin and end;
	 * taken last, nobody waits with it
	 */
	pthread_mutex_t watch;
	unsigned int life;		/* counts the devices that a context has had */
	struct device *device;
	CUresult sticky;		/* what a fault left; read and written with __atomic */
	/* memory.c: by address */
	struct range *ranges;
	unsigned int nr_ranges, max_ranges;
	struct registered *registered;
	struct device_memory **slabs;
	unsigned int nr_slabs;
	/* streams */
	struct CUstream_st null;	/* the legacy default stream */
	/* last work in streams that wait for it, and that it waits for */
	struct moment blocking;
	struct moment submitted;	/* last work of all */
	/* there was another stream, or a graph: its copies may go beside kernels */
	bool parallel;
	CUstream streams;
	CUevent events;
	CUmodule modules;
	CUarray arrays;
	CUmipmappedArray mipmapped;
	struct texture_pools *pools;	/* textures.c; NULL until there are textures or surfaces */
	CUtexref texrefs;
	uint64_t grid_id;		/* of the last launch */
	/* messages.c; NULL until a module's kernels can print or allocate */
	struct messages *messages;
	struct host_queue *host;	/* hostfunc.c; NULL until there is a function */
	struct device_memory *stamps;
	uint16_t stamp_free[STAMPS];
	unsigned int nr_stamp_free;
	struct device_memory *staging;
	struct moment staging_used[STAGING_CHUNKS];
	unsigned int staging_next;
	size_t limit[5];
	CUfunc_cache cache;
	CUsharedconfig banks;
	CUcontext next;
};

/* init.c */
extern const struct device_ops *backend;	/* backend.c; tests have their own */
extern pthread_mutex_t table;
CUresult driver_ready(void);			/* cuInit() was called with success */
const struct device_facts *driver_device(CUdevice dev);	/* NULL: no such device */
unsigned int driver_count(void);

/* errors.c */
CUresult error_of(enum device_status s);
/* ILLEGAL_ADDRESS and LAUNCH_FAILED, as they may be more exactly */
CUresult error_of_end(CUcontext ctx, CUresult otherwise);
CUresult error_of_image(enum image_error e);

/* context.c. enter: the calling thread's context, locked; or an error and nothing locked */
CUresult enter(CUcontext *ctx);
CUresult enter_of(CUcontext ctx);		/* the same for a context named by an object */
void leave(CUcontext ctx);
/*
 * The context that has an object, locked: the current one, or else any other, since handles carry
 * their context. A thread without a context has no use of them either. @owns is called with that
 * context's lock; @none: what is returned when no context has it.
 */
typedef bool (*owns_fn)(CUcontext ctx, const void *what);
CUresult enter_owner(CUcontext *ctx, owns_fn owns, const void *what, CUresult none);
/* remembers what no later call may hide; returns what is to be returned */
CUresult stick(CUcontext ctx, CUresult r);
/* with `table` held */
CUresult context_open(CUcontext *out, unsigned int flags, CUdevice dev);
void context_close(CUcontext ctx);		/* with `table` held; ctx stays as a dead one */
bool context_known(CUcontext ctx);		/* with `table` held */

/*
 * stream.c. The stream named by a handle: 0 and CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, or a stream
 * of ctx; NULL
 */
CUstream stream_of(CUcontext ctx, CUstream handle);
/*
 * that stream with its context locked: the current one for the default streams, else the stream's
 * own
 */
CUresult enter_stream(CUstream handle, CUcontext *ctx, CUstream *s);
bool is_default_stream(CUstream handle);
/*
 * enter_work(), but where a default stream is named, the current context has nothing at @va and
 * another one has: that one's
 */
CUresult enter_work_at(CUstream handle, CUdeviceptr va, CUcontext *ctx, CUstream *s);
/* what comes next in @s comes after @until */
void stream_await(CUstream s, const struct moment *until);
/* what new work has to come after */
struct moment stream_begin(const struct CUstream_st *s);
void stream_add(CUstream s, enum device_queue q, uint64_t seq);
void streams_free(CUcontext ctx);
void moment_merge(struct moment *m, const struct moment *other);
enum device_queue copy_queue(CUcontext ctx);	/* for what copies from or to the host's memory */

/* event.c: its context, locked; CUDA_ERROR_INVALID_HANDLE: nobody has it */
CUresult enter_event(CUevent event, CUcontext *ctx);
/* with ctx locked; NULL: not one of its events */
CUevent event_of(CUcontext ctx, CUevent event);
CUresult event_record(CUcontext ctx, CUstream s, CUevent e);

/*
 * capture.c: streams whose work becomes nodes of a graph. enter_stream() for what is to be done in
 * a stream, or is asked about its
 * work: with CUDA's rules for streams that capture, and for the legacy stream beside them.
 */
struct kernel_request;
CUresult enter_work(CUstream handle, CUcontext *ctx, CUstream *s);
CUresult enter_unsafe(CUcontext *ctx);		/* enter() for what CUDA calls potentially unsafe */
CUresult enter_status(CUstream handle, CUcontext *ctx, CUstream *s);
CUresult capture_kernel(CUstream s, const struct kernel_request *q);
CUresult capture_copy(CUstream s, const CUDA_MEMCPY3D *c);
CUresult capture_set(CUstream s, const struct device_fill *f, size_t width, size_t height);
CUresult capture_host(CUstream s, CUhostFn fn, void *data);
CUresult capture_record(CUstream s, CUevent e, bool external);
/* nothing locked */
CUresult capture_wait(CUstream stream, CUevent event, unsigned int flags, bool *captures);
CUresult capture_refuse(CUstream s);		/* what can't be captured */
CUresult capture_unsafe(void);			/* the same where a context is locked already */
CUresult capture_context(CUcontext ctx);	/* before waiting for all of a context, locked */
/* what asking about it gives; @harmless: the capture goes on */
CUresult capture_of_event(CUevent e, bool harmless);
void capture_forget(CUevent e);			/* it is recorded anew, or goes */
void capture_drop(CUstream s);			/* it goes */

/* wait.c */
CUresult moment_poll(CUcontext ctx, const struct moment *m);	/* CUDA_ERROR_NOT_READY */
CUresult moment_wait(CUcontext ctx, const struct moment *m);

/* memory.c */
/* the allocation that has this address, or NULL */
struct range *range_find(CUcontext ctx, uint64_t va);
struct range *range_find_host(CUcontext ctx, const void *host);
/*
 * memory of the GPU's at @va: of the current context, or else of another that has something there
 */
CUresult enter_memory(CUcontext *ctx, CUdeviceptr va, CUresult none);
/* CUDA_ERROR_INVALID_VALUE: nobody's */
CUresult enter_pinned(CUcontext *ctx, const void *host);
/*
 * What an application calls host memory. Video memory has addresses of the GPU only: what the CPU
 * can read is the host's, even where the GPU has something at the same address
 */
enum where { ON_HOST, ON_DEVICE, NOWHERE };
enum where where_is(CUcontext ctx, const void *host);
CUresult range_add(CUcontext ctx, struct range r);
/*
 * one of memory that CPU and GPU see, all of @r->memory: @r gets its addresses; the memory is
 * released where there is no room for it
 */
CUresult range_add_host(CUcontext ctx, struct range *r);
void range_remove(CUcontext ctx, struct range *r);
void memory_free_all(CUcontext ctx);

/*
 * transfer.c: with ctx locked; bytes as they lie. Host memory is any; pinned memory is copied in
 * place
 */
struct plane {
	uint64_t va;			/* when .host is NULL */
	uint8_t *host;
	size_t pitch;
	/* a slice of a block-linear surface that begins at .va, from .blocks' place on */
	bool tiled;
	struct device_blocks blocks;
};
CUresult transfer(CUcontext ctx, CUstream s, const struct plane *dst, const struct plane *src,
		  size_t width, size_t lines);
CUresult fill(CUcontext ctx, CUstream s, const struct device_fill *f);

/*
 * copy.c: memory of one context to that of another, behind @stream's work; has been done when it
 * returns
 */
CUresult copy_between(CUcontext to, CUdeviceptr dst, CUcontext from, CUdeviceptr src, size_t bytes,
		      CUstream stream);

/* copy.c, box.c: whether these bytes are in one allocation; without @height lines, one */
bool on_device(CUcontext ctx, const struct plane *p, size_t width, size_t lines);

/* array.c. With ctx locked; NULL: not one of its arrays */
CUarray array_of(CUcontext ctx, CUarray handle);
CUresult enter_array(CUcontext *ctx, CUarray handle);		/* its context, locked */
CUmipmappedArray mipmapped_of(CUcontext ctx, CUmipmappedArray handle);
/* false: there is no such */
bool texel_of(CUarray_format format, unsigned int channels, struct texel *out);
/* lines and slices as memory has them, where the description says 0 for none */
uint32_t array_height(const struct CUarray_st *a);
uint32_t array_depth(const struct CUarray_st *a);
/* x in bytes */
struct plane array_plane(const struct CUarray_st *a, size_t x, size_t y, size_t z);
void arrays_free(CUcontext ctx);

/* textures.c: headers, samplers and surface descriptors in memory; all with ctx locked */
CUresult texture_make(CUcontext ctx, const struct texture_source *source,
		      struct texture_object **out);
void texture_release(CUcontext ctx, struct texture_object *t);
struct texture_object *texture_find(CUcontext ctx, CUtexObject handle);
CUtexObject texture_handle(const struct texture_object *t);
CUresult descriptor_make(CUcontext ctx, const uint32_t words[SURFACE_WORDS],
			 const CUDA_RESOURCE_DESC *resource, CUsurfObject *out);
/* NULL: there is none */
const CUDA_RESOURCE_DESC *descriptor_find(CUcontext ctx, CUsurfObject object);
void descriptor_release(CUcontext ctx, CUsurfObject object);
void textures_launch(CUcontext ctx, struct device_launch *l);
void textures_free(CUcontext ctx);

/* texdesc.c: CUDA's terms to the chip's */
CUresult texture_describe(CUcontext ctx, const struct texture_source *source,
			  struct texture_header *h, struct sampler *s);

/* texref.c, surface.c: what a kernel's word of a reference has to be now */
CUresult texref_handle(CUcontext ctx, CUtexref ref, uint32_t *handle);
void texref_init(CUcontext ctx, CUtexref ref);
void texref_drop(CUcontext ctx, CUtexref ref);
void texrefs_free(CUcontext ctx);

/*
 * messages.c. take: prints what kernels have printed; CUDA_ERROR_ASSERT when one asserted. The rest
 * with ctx locked
 */
CUresult messages_take(CUcontext ctx);
CUresult messages_add(CUcontext ctx, CUmodule module);
void messages_remove(CUcontext ctx, CUmodule module);
void messages_launch(CUcontext ctx, uint8_t *const0, uint32_t size);
void messages_free(CUcontext ctx);

/* launch.c: one launch */
struct kernel_request {
	CUfunction f;
	uint32_t grid[3], block[3];
	uint32_t dynamic;
	void **params, **extra;
};
CUresult kernel_check(const struct kernel_request *q);
/* f->kernel->param_size bytes */
CUresult kernel_arguments(const struct kernel_request *q, uint8_t *to);
CUresult kernel_launch(CUcontext ctx, const struct kernel_request *q, CUstream s);

/* box.c, memset.c, with ctx locked */
CUresult box_check(CUcontext ctx, const CUDA_MEMCPY3D *c);
CUresult box_copy(CUcontext ctx, CUstream s, const CUDA_MEMCPY3D *c);
CUresult set_check(CUcontext ctx, const struct device_fill *f, size_t width, size_t height);
CUresult set_lines(CUcontext ctx, CUstream s, struct device_fill f, size_t width, size_t height);

/* function.c, occupancy.c */
enum { SM_SHARED = 49152 };
bool is_function(CUfunction f);
int kernel_max_threads(const struct image_kernel *k);	/* of a block */

/* hostfunc.c */
/* whether this thread is in one: it may use nothing here */
bool in_host_function(void);
CUresult host_call(CUcontext ctx, CUstream s, CUhostFn fn, void *data);
void host_stop(CUcontext ctx);			/* after all of them have returned */
/* what comes next in @s, a stream of ctx, which is locked, comes after @until in @other */
CUresult host_await(CUcontext ctx, CUstream s, CUcontext other, unsigned int life,
		    const struct moment *until);

/* jit.c: what an application asks of the compiler, and gets to read of it */
struct jit {
	char *log[2];			/* the application's buffers: information, errors */
	size_t log_size[2];
	/* where to say how much was written, and how long it took */
	void **size_out[2], **wall_ms;
	unsigned int max_registers, level;
	bool has_level, debug, lines;
	bool failed;			/* .text is an error */
	double ms;
	char text[4096];
};
enum jit_form { JIT_WHOLE, JIT_OBJECT };	/* to be loaded, to be linked */
void jit_options(struct jit *j, unsigned int n, CUjit_option *options, void **values);
/* an error */
void jit_say(struct jit *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void jit_report(struct jit *j);		/* writes the buffers */
CUresult jit_compile(struct jit *j, const char *ptx, size_t n, enum jit_form form, uint8_t **cubin,
		     size_t *size);
CUresult jit_link(struct jit *j, uint8_t *const *cubin, const size_t *size, unsigned int n,
		  uint8_t **out, size_t *out_size);

/* module.c: with a 0 byte behind the file's; to be freed */
CUresult read_file(const char *name, uint8_t **out, size_t *size);

/* register.c. NULL: not so; with ctx locked */
struct registered *registered_at(CUcontext ctx, const void *host);
/*
 * shows it to the GPU, if it can be, which makes a range of it. @asked: by the application, for an
 * address
 */
bool registered_show(CUcontext ctx, const void *host, bool asked);
void registered_free(CUcontext ctx);	/* while there still is the device */

/*
 * managed.c: memory of the host's at one address. NOT_SUPPORTED where the CPU has something else at
 * the GPU's
 */
/* its range, with its context locked; every byte of the @bytes has to be in it */
CUresult enter_managed(CUcontext *ctx, CUdeviceptr ptr, size_t bytes, struct range **range);
CUresult same_memory(CUcontext ctx, uint64_t size, struct device_memory **out);

/* module.c, event.c */
void modules_free(CUcontext ctx);
void events_free(CUcontext ctx);

#endif
