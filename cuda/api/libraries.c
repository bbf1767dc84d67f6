// SPDX-License-Identifier: MIT
/*
 * Libraries and kernels, which belong to no context (CUDA 12). A library is a module in each
 * context that uses it, from when the context first does; a kernel is a function of these modules.
 * The modules are made by other entry points, so two libcuda share this file.
 *
 * `libraries` guards what is not atomic. It is taken before all other locks, and held while a
 * module is loaded.
 */
#include "libraries.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit.h"

enum { BUCKETS = 64 };

/* the library's module in a context */
struct module_in {
	struct library_place at;
	CUmodule module;
	struct module_in *next;
};

/* options for the compiler, each with its value */
struct options {
	unsigned int n;
	CUjit_option *option;
	void **value;
};

struct CUlibrary_st {
	const void *image; /* atomic; NULL: there is no such library */
	void *copy; /* .image, if it is the library's own; or NULL */
	struct options options; /* without those that name buffers of the program's */
	struct module_in *modules;
	bool keeps; /* it has a reference to device 0's primary context */
	bool managed; /* the program has the address of a __managed__ variable */
	CUkernel kernels[BUCKETS]; /* by name */
	CUlibrary next; /* of free ones */
};

static pthread_mutex_t libraries = PTHREAD_MUTEX_INITIALIZER;
static struct CUlibrary_st all[LIBRARIES_MAX];
static CUlibrary free_libraries;
static unsigned int nr_all, nr_kernels; /* those that were ever in use */
static CUkernel free_kernels;
struct CUkernel_st library_kernels[KERNELS_MAX];

CUresult library_ready(void)
{
	CUcontext ctx;

	return cuCtxGetCurrent(&ctx);
}

bool is_library(CUlibrary l)
{
	uintptr_t off = (uintptr_t)l - (uintptr_t)all;

	return off < sizeof(all) && off % sizeof(*all) == 0 &&
	       __atomic_load_n(&l->image, __ATOMIC_ACQUIRE);
}

static bool same_place(const struct library_place *a, const struct library_place *b)
{
	return a->ctx == b->ctx && a->life == b->life;
}

bool library_lives(const struct library_place *at)
{
	struct library_place now;

	return !library_place(at->ctx, &now) && same_place(at, &now);
}

/*
 * A context on @dev (negative: any) for what needs one: the current one, or the primary one, to
 * which *kept is a reference.
 */
static CUresult place_on(CUdevice dev, struct library_place *at, bool *kept)
{
	CUcontext ctx;
	CUresult r;

	*kept = false;
	if (!library_place(NULL, at) && (dev < 0 || at->dev == dev))
		return CUDA_SUCCESS;
	if (dev < 0)
		dev = 0; /* the one that .keeps is about, too */
	r = cuDevicePrimaryCtxRetain(&ctx, dev);
	if (r)
		return r;
	*kept = true;
	*at = (struct library_place){ .dev = dev };
	return library_place(ctx, at);
}

static void leave_place(const struct library_place *at, bool kept)
{
	if (kept)
		cuDevicePrimaryCtxRelease_v2(at->dev);
}

/* ------------------------------------------------- modules and functions: call with `libraries` */

/*
 * NVIDIA's driver has one managed variable for all contexts. Here each module has its own, at an
 * address that its device chose: so code that has some runs in the context alone whose variables
 * the program knows.
 */
static CUresult check_managed(CUlibrary l, const struct library_place *at)
{
	static bool told;
	struct module_in *m;

	for (m = l->modules; m && (same_place(&m->at, at) || !library_lives(&m->at)); m = m->next)
		;
	if (!m)
		return CUDA_SUCCESS;
	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"libcuda: code with __managed__ variables in a second context is not supported: each "
			"context would have variables of its own. Use it on one GPU, the first one of "
			"CUDA_VISIBLE_DEVICES\n");
	return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult load_in(CUlibrary l, const struct library_place *at, const struct options *o)
{
	struct module_in *m;
	CUresult r = l->managed ? check_managed(l, at) : CUDA_SUCCESS;

	if (r)
		return r;
	m = calloc(1, sizeof(*m));
	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = cuCtxPushCurrent_v2(at->ctx);
	if (!r) {
		r = cuModuleLoadDataEx(&m->module, l->image, o->n, o->option, o->value);
		cuCtxPopCurrent_v2(NULL);
	}
	if (r) {
		free(m);
		return r;
	}
	m->at = *at;
	m->next = l->modules;
	l->modules = m;
	return CUDA_SUCCESS;
}

CUresult library_module(CUlibrary l, const struct library_place *at, CUmodule *module)
{
	struct module_in *m;
	CUresult r;

	for (m = l->modules; m && !same_place(&m->at, at); m = m->next)
		;
	if (!m) {
		r = load_in(l, at, &l->options);
		if (r)
			return r;
		m = l->modules;
	}
	*module = m->module;
	return CUDA_SUCCESS;
}

struct kernel_on *kernel_on(CUkernel k, CUdevice dev)
{
	struct kernel_on *on = __atomic_load_n(&k->on, __ATOMIC_ACQUIRE);

	while (on && on->dev != dev)
		on = on->next;
	return on;
}

/* needs no lock */
static struct kernel_in *find_in(CUkernel k, const struct library_place *at)
{
	struct kernel_in *in = __atomic_load_n(&k->in, __ATOMIC_ACQUIRE);

	while (in && !same_place(&in->at, at))
		in = in->next;
	return in;
}

CUresult kernel_set(CUfunction f, int attribute, int value)
{
	return attribute == CACHE_CONFIG ? cuFuncSetCacheConfig(f, value) :
					   cuFuncSetAttribute(f, attribute, value);
}

/* a new function gets what was set for its device */
static void set_all(CUkernel k, CUdevice dev, CUfunction f)
{
	const struct kernel_on *on = kernel_on(k, dev);
	int i;

	for (i = 0; on && i < KERNEL_ATTRIBUTES; i++)
		if (on->set & 1u << i)
			kernel_set(f, i, on->attribute[i]);
	if (on && on->cache_set)
		kernel_set(f, CACHE_CONFIG, on->cache);
}

__thread const char *library_wants;

/* the kernel's function in a context where it is not known yet */
static CUresult find_function(CUkernel k, const struct library_place *at, CUfunction *f)
{
	/* captures go on meanwhile: the program does not know that its kernel is loaded */
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUmodule module;
	CUresult r;

	cuThreadExchangeStreamCaptureMode(&mode);
	library_wants = k->name;
	r = library_module(k->library, at, &module);
	library_wants = NULL;
	if (!r)
		r = cuModuleGetFunction(f, module, k->name);
	if (!r)
		set_all(k, at->dev, *f);
	cuThreadExchangeStreamCaptureMode(&mode);
	return r;
}

static CUresult kernel_function(CUkernel k, const struct library_place *at, CUfunction *f)
{
	struct kernel_in *in = find_in(k, at);
	CUresult r;

	if (in) {
		*f = in->function;
		return CUDA_SUCCESS;
	}
	in = malloc(sizeof(*in));
	r = in ? find_function(k, at, f) : CUDA_ERROR_OUT_OF_MEMORY;
	if (r) {
		free(in);
		return r;
	}
	*in = (struct kernel_in){ *at, *f, k->in };
	__atomic_store_n(&k->in, in, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

CUkernel library_kernel_of(CUfunction f)
{
	const struct kernel_in *in;
	CUkernel k, found = NULL;

	pthread_mutex_lock(&libraries);
	for (k = library_kernels; k < library_kernels + nr_kernels && !found; k++)
		for (in = k->in; in && !found; in = in->next)
			found = in->function == f && library_lives(&in->at) ? k : NULL;
	pthread_mutex_unlock(&libraries);
	return found;
}

/* ------------------------------------------------------------------ loading */

static bool names_buffer(CUjit_option option)
{
	return option >= CU_JIT_WALL_TIME && option <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
}

/* the options that hold for a later load, too */
static bool keep_options(struct options *kept, const struct options *o)
{
	unsigned int i;

	kept->n = 0;
	kept->option = calloc(o->n + 1, sizeof(*kept->option));
	kept->value = calloc(o->n + 1, sizeof(*kept->value));
	for (i = 0; kept->option && kept->value && i < o->n; i++)
		if (!names_buffer(o->option[i])) {
			kept->option[kept->n] = o->option[i];
			kept->value[kept->n++] = o->value[i];
		}
	return kept->option && kept->value;
}

/*
 * *preserved: the program keeps the image until the library ends. cuBLASLt of CUDA 13 gives that
 * option without values.
 */
static CUresult read_library_options(unsigned int n, const CUlibraryOption *option, void **value,
				     bool *preserved)
{
	unsigned int i;

	*preserved = false;
	if (n && !option)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n; i++)
		switch ((int)option[i]) {
		case CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE:
			break; /* for GPUs that call the CPU's functions: none here does */
		case CU_LIBRARY_BINARY_IS_PRESERVED:
			*preserved = !value || value[i];
			break;
		default:
			return CUDA_ERROR_INVALID_VALUE;
		}
	return CUDA_SUCCESS;
}

/* call with `libraries` */
static CUlibrary new_library(void)
{
	CUlibrary l = free_libraries;

	if (l)
		free_libraries = l->next;
	else if (nr_all < LIBRARIES_MAX)
		l = &all[nr_all++];
	return l;
}

static void end_kernel(CUkernel k)
{
	struct kernel_in *in;
	struct kernel_on *on;

	while ((in = k->in)) {
		k->in = in->next;
		free(in);
	}
	while ((on = k->on)) {
		k->on = on->next;
		free(on);
	}
	free(k->name);
	k->name = NULL;
	__atomic_store_n(&k->library, NULL, __ATOMIC_RELEASE);
	k->next = free_kernels;
	free_kernels = k;
}

/* Call with `libraries`. True: release device 0's primary context, once that is open. */
static bool end_library(CUlibrary l)
{
	bool keeps = l->keeps;
	struct module_in *m;
	CUkernel k;
	int i;

	l->keeps = l->managed = false;

	for (i = 0; i < BUCKETS; i++)
		while ((k = l->kernels[i])) {
			l->kernels[i] = k->next;
			end_kernel(k);
		}
	while ((m = l->modules)) {
		l->modules = m->next;
		if (library_lives(&m->at))
			cuModuleUnload(m->module);
		free(m);
	}
	free(l->copy);
	free(l->options.option);
	free(l->options.value);
	l->options = (struct options){ 0 };
	__atomic_store_n(&l->image, NULL, __ATOMIC_RELEASE);
	l->next = free_libraries;
	free_libraries = l;
	return keeps;
}

/*
 * A fat binary without options is one of a program's own, and large: it is loaded when something
 * of it is needed. The program may want to know at once what is wrong with others, and to read the
 * compiler's log. @copy belongs to the library.
 */
static CUresult open_library(CUlibrary *out, const void *image, void *copy, bool fat,
			     const struct options *o)
{
	struct library_place at;
	CUlibrary l;
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	pthread_mutex_lock(&libraries);
	l = new_library();
	if (!l) {
		free(copy);
	} else {
		l->copy = copy;
		__atomic_store_n(&l->image, image, __ATOMIC_RELEASE);
		if (keep_options(&l->options, o))
			r = (fat && !o->n) || library_place(NULL, &at) ? CUDA_SUCCESS :
									 load_in(l, &at, o);
		if (r)
			end_library(l);
		else
			*out = l;
	}
	pthread_mutex_unlock(&libraries);
	return r;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options,
			   void **values, unsigned int n, CUlibraryOption *lib_options,
			   void **lib_values, unsigned int nr_lib)
{
	const struct options o = { n, options, values };
	void *copy = NULL;
	bool preserved, fat;
	size_t bytes;
	CUresult r = library_ready();

	if (r)
		return r;
	if (!library || !image || (n && (!options || !values)))
		return CUDA_ERROR_INVALID_VALUE;
	r = read_library_options(nr_lib, lib_options, lib_values, &preserved);
	if (r)
		return r;
	image = library_image(image, SIZE_MAX, &bytes, &fat);
	if (!image)
		return CUDA_ERROR_INVALID_IMAGE;
	if (!preserved) {
		copy = malloc(bytes);
		if (!copy)
			return CUDA_ERROR_OUT_OF_MEMORY;
		image = memcpy(copy, image, bytes);
	}
	return open_library(library, image, copy, fat, &o);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, CUjit_option *options,
			       void **values, unsigned int n, CUlibraryOption *lib_options,
			       void **lib_values, unsigned int nr_lib)
{
	const struct options o = { n, options, values };
	size_t bytes;
	bool preserved, fat;
	uint8_t *data;
	CUresult r = library_ready();

	if (r)
		return r;
	if (!library || !file || (n && (!options || !values)))
		return CUDA_ERROR_INVALID_VALUE;
	r = read_library_options(nr_lib, lib_options, lib_values, &preserved);
	if (r || preserved)
		return r ? r : CUDA_ERROR_INVALID_VALUE;
	r = read_file(file, &data, &bytes);
	if (r)
		return r;
	if (!library_image(data, bytes + 1, &bytes, &fat)) { /* a 0 follows the file's bytes */
		free(data);
		return CUDA_ERROR_INVALID_IMAGE;
	}
	return open_library(library, data, data, fat, &o);
}

CUresult cuLibraryUnload(CUlibrary library)
{
	bool kept = false;
	CUresult r = library_ready();

	if (r)
		return r;
	pthread_mutex_lock(&libraries);
	if (is_library(library))
		kept = end_library(library);
	else
		r = CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_unlock(&libraries);
	if (kept)
		cuDevicePrimaryCtxRelease_v2(0);
	return r;
}

/* ------------------------------------------------------------------ what calls begin with */

CUresult library_enter(CUlibrary library, bool valid, bool needed, struct library_place *at,
		       bool *kept)
{
	CUresult r = library_ready();

	*kept = false;
	if (r)
		return r;
	if (!is_library(library))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!valid)
		return CUDA_ERROR_INVALID_VALUE;
	r = needed ? library_place(NULL, at) : place_on(-1, at, kept);
	if (r)
		leave_place(at, *kept);
	else
		pthread_mutex_lock(&libraries);
	return r;
}

void library_leave(const struct library_place *at, bool kept)
{
	pthread_mutex_unlock(&libraries);
	leave_place(at, kept);
}

CUresult library_tells_managed(CUlibrary l, const struct library_place *at, bool *kept)
{
	CUresult r = check_managed(l, at);

	if (r)
		return r;
	l->managed = true;
	if (!l->keeps) {
		l->keeps = *kept;
		*kept = false;
	}
	return CUDA_SUCCESS;
}

static CUkernel *bucket_of(CUlibrary l, const char *name)
{
	uint32_t h = 0;

	while (*name)
		h = h * 31 + (unsigned char)*name++;
	return &l->kernels[h % BUCKETS];
}

CUkernel library_kernel(CUlibrary l, const char *name, bool *made)
{
	CUkernel *bucket = bucket_of(l, name), k;

	*made = false;
	for (k = *bucket; k; k = k->next)
		if (!strcmp(k->name, name))
			return k;
	k = free_kernels	     ? free_kernels :
	    nr_kernels < KERNELS_MAX ? &library_kernels[nr_kernels] :
				       NULL;
	if (!k)
		return NULL;
	k->name = strdup(name);
	if (!k->name)
		return NULL;
	if (free_kernels)
		free_kernels = k->next;
	else
		nr_kernels++;
	k->next = *bucket;
	*bucket = k;
	__atomic_store_n(&k->library, l, __ATOMIC_RELEASE);
	*made = true;
	return k;
}

/* Where no context is current, whether there is such a kernel is told when it is first used. */
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	struct library_place at;
	CUfunction f;
	CUkernel k;
	bool made;
	CUresult r = library_ready();

	if (r)
		return r;
	if (!is_library(library))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!kernel || !name || !*name)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&libraries);
	k = library_kernel(library, name, &made);
	if (!k)
		r = CUDA_ERROR_OUT_OF_MEMORY;
	else if (made && !library_place(NULL, &at))
		r = kernel_function(k, &at, &f);
	if (!r) {
		*kernel = k;
	} else if (k && made) {
		*bucket_of(library, name) = k->next;
		end_kernel(k);
	}
	pthread_mutex_unlock(&libraries);
	return r;
}

/* ------------------------------------------------------------------ kernels */

CUresult library_function(CUfunction *f, CUcontext ctx)
{
	CUkernel k = (CUkernel)*f;
	struct library_place at;
	struct kernel_in *in;
	CUresult r = library_place(ctx, &at);

	if (r)
		return r;
	in = find_in(k, &at);
	if (in) {
		*f = in->function;
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&libraries);
	r = kernel_function(k, &at, f);
	pthread_mutex_unlock(&libraries);
	return r;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	CUfunction f = (CUfunction)kernel;
	CUresult r = library_ready();

	if (r)
		return r;
	if (!is_kernel(kernel))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	r = library_function(&f, NULL);
	if (!r)
		*function = f;
	return r;
}

CUresult kernel_enter(CUkernel k, CUdevice dev, CUfunction *f, struct library_place *at, bool *kept)
{
	CUresult r = place_on(dev, at, kept);

	pthread_mutex_lock(&libraries);
	if (!r)
		r = kernel_function(k, at, f);
	if (r)
		library_leave(at, *kept);
	return r;
}
