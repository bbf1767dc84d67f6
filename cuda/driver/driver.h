/* SPDX-License-Identifier: MIT */
/*
 * Inside of libcuda.so.1.
 *
 * Locks: `table` (contexts, primary contexts, init) is taken before a context's `lock`; nobody waits for the GPU with
 * `table` held. A context's `lock` guards everything in it and orders submissions. Waiting for the GPU is done without it,
 * but for space in staging buffers and for freeing.
 */
#ifndef KVGPU_CUDA_DRIVER_H
#define KVGPU_CUDA_DRIVER_H

#include <pthread.h>
#include <stdbool.h>

#include "../device/device.h"
#include "../image/image.h"
#include "api.h"

enum { MAX_DEVICES = 16, STAGING_CHUNKS = 4, STAGING_BYTES = 1 << 20, STAMPS = 4096, STAMP_BYTES = 16,
       RANGE_MODULE = 1 << 30 /* in range.flags: not the application's to free */ };

/* a live object begins with its kind; a destroyed one with 0 */
enum magic { MAGIC_CONTEXT = 0x6b637478, MAGIC_STREAM = 0x6b737472, MAGIC_EVENT = 0x6b657674, MAGIC_MODULE = 0x6b6d6f64,
	     MAGIC_FUNCTION = 0x6b66756e };

/* an allocation of the application's */
struct range {
	uint64_t va, size;
	struct device_memory *memory;
	uint8_t *host;			/* pinned memory: as the CPU sees it */
	unsigned int flags;
	bool shared;			/* one of several in its memory, a slab */
};

struct CUstream_st {
	uint32_t magic;
	CUcontext ctx;
	unsigned int flags;
	struct moment last;
	pthread_t thread;		/* whose default stream it is */
	bool per_thread;
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
	CUevent next;
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
	int max_dynamic;
};

struct CUmod_st {
	uint32_t magic;
	CUcontext ctx;
	struct image image;
	struct device_memory *code, *data, *constants;
	struct CUfunc_st *functions;	/* one for each kernel of image */
	CUmodule next;
};

struct CUctx_st {
	uint32_t magic;
	bool alive, primary;
	CUdevice dev;
	unsigned int flags;
	pthread_mutex_t lock;
	struct device *device;
	CUresult sticky;		/* what a fault left; read and written with __atomic */
	/* memory.c: by address */
	struct range *ranges;
	unsigned int nr_ranges, max_ranges;
	struct device_memory **slabs;
	unsigned int nr_slabs;
	/* streams */
	struct CUstream_st null;	/* the legacy default stream */
	struct moment blocking;		/* last work in streams that wait for it, and that it waits for */
	struct moment submitted;	/* last work of all */
	CUstream streams;
	CUevent events;
	CUmodule modules;
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
CUresult error_of_image(enum image_error e);

/* context.c. enter: the calling thread's context, locked; or an error and nothing locked */
CUresult enter(CUcontext *ctx);
CUresult enter_of(CUcontext ctx);		/* the same for a context named by an object */
void leave(CUcontext ctx);
/* remembers what no later call may hide; returns what is to be returned */
CUresult stick(CUcontext ctx, CUresult r);
CUresult context_open(CUcontext *out, unsigned int flags, CUdevice dev);	/* with `table` held */
void context_close(CUcontext ctx);		/* with `table` held; ctx stays as a dead one */
bool context_known(CUcontext ctx);		/* with `table` held */

/* stream.c. The stream named by a handle: 0 and CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, or a stream of ctx; NULL */
CUstream stream_of(CUcontext ctx, CUstream handle);
struct moment stream_begin(const struct CUstream_st *s);	/* what new work has to come after */
void stream_add(CUstream s, enum device_queue q, uint64_t seq);
void streams_free(CUcontext ctx);
void moment_merge(struct moment *m, const struct moment *other);

/* wait.c */
CUresult moment_poll(CUcontext ctx, const struct moment *m);	/* CUDA_ERROR_NOT_READY */
CUresult moment_wait(CUcontext ctx, const struct moment *m);

/* memory.c */
struct range *range_find(CUcontext ctx, uint64_t va);		/* the allocation that has this address, or NULL */
struct range *range_find_host(CUcontext ctx, const void *host);
CUresult range_add(CUcontext ctx, struct range r);
void range_remove(CUcontext ctx, struct range *r);
void memory_free_all(CUcontext ctx);

/* transfer.c: with ctx locked; bytes as they lie. Host memory is any; pinned memory is copied in place */
struct plane {
	uint64_t va;			/* when .host is NULL */
	uint8_t *host;
	size_t pitch;
};
CUresult transfer(CUcontext ctx, CUstream s, const struct plane *dst, const struct plane *src, size_t width, size_t lines);
CUresult fill(CUcontext ctx, CUstream s, const struct device_fill *f);

/* module.c, event.c */
void modules_free(CUcontext ctx);
void events_free(CUcontext ctx);

#endif
