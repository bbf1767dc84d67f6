/* SPDX-License-Identifier: MIT */
/* Libraries and kernels, which belong to no context: for libcuda.so.1, and for that of remote/. */
#ifndef KVGPU_CUDA_API_LIBRARIES_H
#define KVGPU_CUDA_API_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"

enum { KERNELS_MAX = 1 << 18, LIBRARIES_MAX = 1 << 14 };

/* A context. Of several that have one handle, one after the other, each has another .life. */
struct library_place {
	CUcontext ctx;
	uint64_t life;
	CUdevice dev;
};

/*
 * What a libcuda gives to libraries.c. The place that @ctx is; NULL: the thread's current context.
 * An error: there is none, or it is dead.
 */
CUresult library_place(CUcontext ctx, struct library_place *at);
/*
 * The image at @data, or the one that nvcc's wrapper there points to, and its *bytes, a text's with
 * its 0. NULL: there is none. *fat: it is a fat binary. @limit: how many bytes may be read;
 * SIZE_MAX: as many as the image says, and only then a wrapper's pointer is followed.
 */
const void *library_image(const void *data, size_t limit, size_t *bytes, bool *fat);
/* the kernel for which the thread loads a module; or NULL */
extern __thread const char *library_wants;

/*
 * .library is atomic; NULL: there is no such kernel. .in and .on are atomic, and grow at their
 * heads until the library ends. The rest does not change.
 */
struct CUkernel_st {
	CUlibrary library;
	char *name;
	struct kernel_in *in;
	struct kernel_on *on;
	CUkernel next; /* in a list of its library's, or in that of free ones */
};

extern struct CUkernel_st library_kernels[KERNELS_MAX];

static inline bool is_kernel(const void *p)
{
	uintptr_t off = (uintptr_t)p - (uintptr_t)library_kernels;

	return off < sizeof(library_kernels) && off % sizeof(*library_kernels) == 0 &&
	       __atomic_load_n(&((CUkernel)(uintptr_t)p)->library, __ATOMIC_ACQUIRE);
}

/*
 * If *f is a kernel, *f becomes its function in @ctx, or, NULL, in the current context. This may
 * load the kernel's library there: call it with nothing locked.
 */
CUresult library_function(CUfunction *f, CUcontext ctx);
/* The kernel whose function in some context is @f; NULL: none is. It looks at all kernels. */
CUkernel library_kernel_of(CUfunction f);
static inline CUresult function_here(CUfunction *f, CUcontext ctx)
{
	return is_kernel(*f) ? library_function(f, ctx) : CUDA_SUCCESS;
}

/* ---------------------------------------------------------- libraries.c, for libraryinfo.c */

enum { KERNEL_ATTRIBUTES = 16, CACHE_CONFIG = -1 /* in the place of an attribute */ };

/* a kernel's function in a context */
struct kernel_in {
	struct library_place at;
	CUfunction function;
	struct kernel_in *next;
};

/* what is known of a kernel on a device, and what was set there */
struct kernel_on {
	CUdevice dev;
	uint32_t known; /* atomic; bits of .attribute, which change under `libraries` */
	uint32_t set;
	int attribute[KERNEL_ATTRIBUTES]; /* atomic */
	bool cache_set;
	CUfunc_cache cache;
	struct kernel_on *next;
};

CUresult library_ready(void);
bool is_library(CUlibrary l);
bool library_lives(const struct library_place *at);
/*
 * Lock `libraries`, for a call about @library with a context @at: the current one; or where that is
 * not @needed, else device 0's primary one, to which *kept is a reference. @valid: the other
 * arguments are. After an error nothing is locked, else call library_leave().
 */
CUresult library_enter(CUlibrary library, bool valid, bool needed, struct library_place *at,
		       bool *kept);
/*
 * The same for a question about @k on device @dev (negative: any), with the kernel's function in a
 * context there.
 */
CUresult kernel_enter(CUkernel k, CUdevice dev, CUfunction *f, struct library_place *at,
		      bool *kept);
void library_leave(const struct library_place *at, bool kept);
/*
 * With `libraries`: the program gets the address of a __managed__ variable. The reference that
 * *@kept may be becomes the library's, which gives it back when it is unloaded.
 * CUDA_ERROR_NOT_SUPPORTED, with a line: the library is used in another context, too.
 */
CUresult library_tells_managed(CUlibrary l, const struct library_place *at, bool *kept);
/* Call these with `libraries`. kernel_set(): @attribute may be CACHE_CONFIG. */
CUresult library_module(CUlibrary l, const struct library_place *at, CUmodule *module);
CUresult kernel_set(CUfunction f, int attribute, int value);
/* *made: the kernel is new. NULL: no memory */
CUkernel library_kernel(CUlibrary l, const char *name, bool *made);
/* needs no lock; NULL: nothing is known */
struct kernel_on *kernel_on(CUkernel k, CUdevice dev);

#endif
