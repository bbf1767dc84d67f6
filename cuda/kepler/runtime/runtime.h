/* SPDX-License-Identifier: MIT */
/*
 * Inside of libcudart.so.11.0, which uses exported entry points of libcuda.so.1.
 *
 * An entry point ends with `return set_last_error(e)`, which records errors for cudaGetLastError(),
 * or with another entry point. The other functions here leave that to it. An entry point calls
 * use_context(), or a find_...() that does so, before anything of the driver that works in the
 * current context; use_driver() is enough for what asks about devices.
 *
 * Threads: any thread of the program calls any entry point, with no lock.
 *
 * Locks: `primaries` (context.c) and `registry` (registry.c), neither taken with the other held.
 * The driver is called with either held, but never where it may call the application: host
 * functions and destructors run on threads that hold neither. Of this library only stream.c's
 * call() calls the application. With either held the driver may wait for the GPU and for host
 * functions; so what registers takes `arrivals` (registry.c) alone, which is a leaf. use_driver()
 * has a lock of its own, held during cuInit(); none of the others is taken meanwhile. The functions
 * below take and release these locks; call use_context(), context_of() and what finds something in
 * the registry with none held.
 */
#ifndef KVGPU_CUDART_RUNTIME_H
#define KVGPU_CUDART_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>

#include "api.h"

enum { RUNTIME_VERSION = 11080, MAX_DEVICES = 16 };

/* errors.c */
cudaError_t from_driver(CUresult r);
cudaError_t set_last_error(cudaError_t e); /* remembers @e for cudaGetLastError() */
void forget_errors(void);

/* context.c */
cudaError_t use_driver(void); /* calls cuInit(), until it succeeds */
/* In a child of fork() whose parent uses the driver: each call fails, and locks may be held. */
bool is_child_of_user(void);
/* use_driver(), and give this thread a living context */
cudaError_t use_context(void);
cudaError_t check_device(int device);
/* the current context if it is on @device, else @device's primary one */
cudaError_t context_of(int device, CUcontext *out);

/* ------------------------------------------ struct when: the stream, and whether to wait for it */

struct when {
	bool async;
	cudaStream_t stream;
};
#define LEGACY	    ((struct when){ .async = false })
#define OWN	    ((struct when){ .async = false, .stream = cudaStreamPerThread })
#define ON(s)	    ((struct when){ .async = true, .stream = (s) })
#define OWN_IF_0(s) ((s) ? (s) : cudaStreamPerThread)

/* @name_async, or a form of @name that waits */
#define CALL_WHEN(w, name, name_async, ...)                 \
	((w).async  ? name_async(__VA_ARGS__, (w).stream) : \
	 (w).stream ? name##_ptds(__VA_ARGS__) :            \
		      name(__VA_ARGS__))

/*
 * Both forms of an entry point. @params: in parentheses; then the arguments of @body but for the
 * last one, the struct when.
 */
#define SYNC_FORMS(name, body, params, ...)                       \
	cudaError_t name params                                   \
	{                                                         \
		return set_last_error(body(__VA_ARGS__, LEGACY)); \
	}                                                         \
	cudaError_t name##_ptds params                            \
	{                                                         \
		return set_last_error(body(__VA_ARGS__, OWN));    \
	}
#define ASYNC_FORMS(name, body, params, ...)                                    \
	cudaError_t name params                                                 \
	{                                                                       \
		return set_last_error(body(__VA_ARGS__, ON(stream)));           \
	}                                                                       \
	cudaError_t name##_ptsz params                                          \
	{                                                                       \
		return set_last_error(body(__VA_ARGS__, ON(OWN_IF_0(stream)))); \
	}
/* ASYNC_FORMS() of a @body that takes the stream itself, as its first argument */
#define STREAM_FORMS(name, body, params, ...)                                 \
	cudaError_t name params                                               \
	{                                                                     \
		return set_last_error(body(stream, ##__VA_ARGS__));           \
	}                                                                     \
	cudaError_t name##_ptsz params                                        \
	{                                                                     \
		return set_last_error(body(OWN_IF_0(stream), ##__VA_ARGS__)); \
	}

/* registry.c. The find_...() functions call use_context(), but for find_host(). */
cudaError_t find_function(const void *host, CUfunction *out);
cudaError_t find_host(CUfunction function, const void **host);
cudaError_t find_variable(const void *host, CUdeviceptr *ptr, size_t *size);
cudaError_t find_texture(const void *host, CUtexref *out, bool *as_numbers);
void remember_offset(const void *host, size_t offset); /* of a binding, in bytes */
cudaError_t recall_offset(const void *host, size_t *offset);
cudaError_t find_surface(const void *host, CUsurfref *out);
bool is_texture(const void *host);
bool is_surface(const void *host);
void forget_modules(CUcontext ctx); /* @ctx has ended */

/* ------------------------------------------------------------------ memory */

/* pointer.c: call use_context() before */
bool is_on_device(const void *ptr);
/* GPU memory that the CPU can't read, or pinned memory that nouveau has mapped */
bool is_device_only(const void *ptr);
/* @ptr, or where the GPU sees it if it is pinned host memory */
CUdeviceptr device_address(const void *ptr);

/*
 * copy.c. Call use_context() before memcpy_sides() and copy_lines(); copy_linear() does so itself.
 */
enum side { HOST, DEVICE, ARRAY };
struct end { /* one side of a copy of lines */
	enum side side;
	const void *ptr;
	CUarray array;
	size_t pitch, x, y; /* x in bytes */
};
cudaError_t memcpy_sides(enum cudaMemcpyKind kind, const void *dst, const void *src,
			 enum side *dst_side, enum side *src_side);
cudaError_t copy_linear(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind,
			struct when w);
cudaError_t copy_lines(struct end dst, struct end src, size_t width, size_t lines, struct when w);

/*
 * symbol.c: a part of a variable for a copy. @way: the kind that is allowed; DeviceToDevice and
 * Default are, too. Calls use_context().
 */
cudaError_t part_of_symbol(const void *symbol, size_t n, size_t offset, enum cudaMemcpyKind kind,
			   enum cudaMemcpyKind way, void **at);

/* copy3d.c. Calls use_context(). A copy of nothing is an error. */
cudaError_t box_of(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *c);

/* array.c. array_shape() calls use_context(), the others nothing of the driver. */
cudaError_t format_of(const struct cudaChannelFormatDesc *desc, CUarray_format *format,
		      unsigned int *channels);
struct cudaChannelFormatDesc desc_of(CUarray_format format, unsigned int channels);
size_t bytes_of(CUarray_format format, unsigned int channels);
cudaError_t array_shape(CUarray array, CUDA_ARRAY3D_DESCRIPTOR *out);

/* texture.c. @as_numbers: integers as numbers from 0 (or -1) to 1 */
cudaError_t check_reading(CUarray_format format, bool as_numbers, bool linear);

#endif
