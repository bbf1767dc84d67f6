// SPDX-License-Identifier: MIT
/*
 * What the program registers, before main() or while a library is loaded: fat binaries, and which
 * address in the program stands for which kernel, variable, texture or surface. A fat binary is
 * loaded into a context when something in it is first asked for there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../api/text.h"
#include "runtime.h"

enum kind { FUNCTION, VARIABLE, MANAGED, TEXTURE, SURFACE };
enum { BUCKETS = 1024, LOG_BYTES = 256, SEGMENT_MAGIC = 0x466243b1 };

/* what nvcc registers, in .nvFatBinSegment */
struct segment {
	uint32_t magic, version;
	const void *image;
	const void *prelinked;
};

struct loaded {
	CUcontext ctx;
	CUmodule module; /* NULL: loading gave .error */
	cudaError_t error;
	struct loaded *next;
};

/*
 * Guarded by `registry`; but registration sets .refused and .managed without the lock, before
 * anything of the binary is asked for.
 */
struct binary {
	const void *image;
	bool refused; /* has variables of the host, see __cudaRegisterHostVar() */
	bool managed;
	bool gone;
	struct loaded *loaded;
	struct binary *next;
};

struct symbol {
	enum kind kind;
	const void *host;
	const char *name;
	struct binary *binary;
	CUcontext ctx; /* .handle, .ptr and .size are of this context */
	void *handle;
	CUdeviceptr ptr; /* of a managed variable, in the context loaded last */
	size_t size;
	size_t offset; /* of a binding, in bytes */
	bool bound;
	bool as_numbers; /* integers as numbers from 0 (or -1) to 1 */
	struct symbol *next;
};

/* guards both lists below, with the symbols, binaries and loaded modules in them */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static struct symbol *buckets[BUCKETS];
static struct binary *binaries;
static int cancel; /* the state of the thread that has the lock, from before */

/*
 * What was registered and is in neither list yet, with a lock of its own. A host function may open
 * a library while a thread that has `registry` waits in the driver for that function.
 */
static pthread_mutex_t arrivals = PTHREAD_MUTEX_INITIALIZER;
static struct symbol *new_symbols, **last_symbol = &new_symbols;
static struct binary *new_binaries;

static struct symbol **bucket(const void *host)
{
	return &buckets[((uintptr_t)host >> 3) * 0x9e3779b97f4a7c15u >> 54];
}

/*
 * Lock `registry`, with all that was registered in the lists. The thread can't be cancelled until
 * registry_leave().
 */
static void registry_enter(void)
{
	struct symbol *s;
	struct binary *b;
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_mutex_lock(&registry);
	cancel = before;
	pthread_mutex_lock(&arrivals);
	while ((b = new_binaries)) {
		new_binaries = b->next;
		b->next = binaries;
		binaries = b;
	}
	while ((s = new_symbols)) {
		new_symbols = s->next;
		s->next = *bucket(s->host);
		*bucket(s->host) = s;
	}
	last_symbol = &new_symbols;
	pthread_mutex_unlock(&arrivals);
}

static void registry_leave(void)
{
	int before = cancel;

	pthread_mutex_unlock(&registry);
	pthread_setcancelstate(before, NULL);
}

static struct symbol *find(const void *host, enum kind kind)
{
	struct symbol *s;

	for (s = *bucket(host); s; s = s->next)
		if (s->host == host && s->kind == kind && !s->binary->gone)
			return s;
	return NULL;
}

static void add(void **handle, enum kind kind, const void *host, const char *name, bool as_numbers)
{
	struct symbol *s = calloc(1, sizeof(*s));

	if (!s || !handle) {
		fprintf(stderr, "libcudart: %s could not be registered\n", name);
		free(s);
		return;
	}
	*s = (struct symbol){ .kind = kind,
			      .host = host,
			      .name = name,
			      .binary = (struct binary *)handle,
			      .as_numbers = as_numbers };
	pthread_mutex_lock(&arrivals);
	*last_symbol = s;
	last_symbol = &s->next;
	pthread_mutex_unlock(&arrivals);
}

/* ------------------------------------ loading: with `registry` held, and the context current */

static cudaError_t load(struct binary *b, CUmodule *out)
{
	CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
	char log[LOG_BYTES] = "";
	void *values[] = { log, (void *)sizeof(log) };
	cudaError_t e;

	if (b->refused)
		return cudaErrorNotSupported;
	e = from_driver(cuModuleLoadDataEx(out, b->image, 2, options, values));
	log[strcspn(log, "\n")] = 0;
	text_clean(log, sizeof(log)); /* a remote driver's is the server's */
	if (e && log[0])
		fprintf(stderr, "libcudart: a fat binary of this program can't be loaded: %s\n",
			log);
	else if (e && b->managed)
		fprintf(stderr,
			"libcudart: no memory for __managed__ variables at one address for CPU and GPU\n");
	return e;
}

/* @write: set the program's pointers, too */
static cudaError_t find_managed(struct binary *b, CUmodule module, bool write)
{
	cudaError_t e = cudaSuccess;
	struct symbol *s;
	unsigned int i;

	for (i = 0; b->managed && i < BUCKETS; i++) {
		for (s = buckets[i]; s && !e; s = s->next) {
			if (s->binary != b || s->kind != MANAGED)
				continue;
			e = from_driver(cuModuleGetGlobal_v2(&s->ptr, &s->size, module, s->name));
			if (!e && write)
				*(void **)(uintptr_t)s->host = (void *)(uintptr_t)s->ptr;
		}
	}
	return e;
}

/*
 * Write all pointers to managed variables or none. With several contexts the one loaded last
 * counts.
 */
static cudaError_t point_to_managed(struct binary *b, CUmodule module)
{
	cudaError_t e = find_managed(b, module, false);

	return e ? e : find_managed(b, module, true);
}

/* @ctx is current */
static void sweep(CUcontext ctx)
{
	struct binary **at = &binaries;

	while (*at) {
		struct binary *b = *at;
		struct loaded **l = &b->loaded;

		while (*l && (!b->gone || (*l)->ctx != ctx))
			l = &(*l)->next;
		if (*l) {
			struct loaded *old = *l;

			if (old->module)
				cuModuleUnload(old->module);
			*l = old->next;
			free(old);
		}
		if (b->gone && !b->loaded) {
			*at = b->next;
			free(b);
		} else {
			at = &b->next;
		}
	}
}

static cudaError_t module_in(struct binary *b, CUcontext ctx, CUmodule *out)
{
	struct loaded *l;

	for (l = b->loaded; l && l->ctx != ctx; l = l->next)
		;
	if (!l) {
		sweep(ctx);
		l = calloc(1, sizeof(*l));
		if (!l)
			return cudaErrorMemoryAllocation;
		l->ctx = ctx;
		l->error = load(b, &l->module);
		if (!l->error) {
			l->error = point_to_managed(b, l->module);
			if (l->error)
				cuModuleUnload(l->module);
		}
		if (l->error)
			l->module = NULL;
		if (l->error == cudaErrorMemoryAllocation) { /* a later try may succeed */
			free(l);
			return cudaErrorMemoryAllocation;
		}
		l->next = b->loaded;
		b->loaded = l;
	}
	*out = l->module;
	return l->error;
}

static CUresult resolve(struct symbol *s, CUmodule module)
{
	switch (s->kind) {
	case FUNCTION:
		return cuModuleGetFunction((CUfunction *)&s->handle, module, s->name);
	case VARIABLE:
	case MANAGED:
		return cuModuleGetGlobal_v2(&s->ptr, &s->size, module, s->name);
	case TEXTURE:
		return cuModuleGetTexRef((CUtexref *)&s->handle, module, s->name);
	case SURFACE:
		return cuModuleGetSurfRef((CUsurfref *)&s->handle, module, s->name);
	}
	return CUDA_ERROR_INVALID_VALUE;
}

/*
 * @out: a copy of the symbol, with its handle or address in the current context. @missing: the
 * error when it is not registered, or not in its module.
 */
static cudaError_t look_up(const void *host, enum kind kind, cudaError_t missing,
			   struct symbol *out)
{
	cudaError_t e = use_context();
	CUcontext ctx = NULL;
	struct symbol *s;
	CUmodule module;

	if (!e)
		e = from_driver(cuCtxGetCurrent(&ctx));
	if (e)
		return e;
	registry_enter();
	s = host ? find(host, kind) : NULL;
	if (!s)
		e = missing;
	if (s && s->ctx != ctx) {
		e = module_in(s->binary, ctx, &module);
		if (!e)
			e = from_driver(resolve(s, module));
		if (e == cudaErrorSymbolNotFound)
			e = missing;
		if (!e)
			s->ctx = ctx;
	}
	if (!e)
		*out = *s;
	registry_leave();
	return e;
}

cudaError_t find_function(const void *host, CUfunction *out)
{
	struct symbol s;
	cudaError_t e = look_up(host, FUNCTION, cudaErrorInvalidDeviceFunction, &s);

	if (!e)
		*out = s.handle;
	return e;
}

/* The kernel must have been looked up before, and in no other context since. */
cudaError_t find_host(CUfunction function, const void **host)
{
	const struct symbol *s;
	unsigned int i;

	*host = NULL;
	registry_enter();
	for (i = 0; i < BUCKETS && !*host; i++)
		for (s = buckets[i]; s; s = s->next)
			if (s->kind == FUNCTION && s->handle == function && !s->binary->gone)
				*host = s->host;
	registry_leave();
	return *host ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t find_variable(const void *host, CUdeviceptr *ptr, size_t *size)
{
	struct symbol s;
	cudaError_t e = look_up(host, VARIABLE, cudaErrorInvalidSymbol, &s);

	if (e)
		return e;
	if (ptr)
		*ptr = s.ptr;
	if (size)
		*size = s.size;
	return cudaSuccess;
}

cudaError_t find_texture(const void *host, CUtexref *out, bool *as_numbers)
{
	struct symbol s;
	cudaError_t e = look_up(host, TEXTURE, cudaErrorInvalidTexture, &s);

	if (e)
		return e;
	*out = s.handle;
	*as_numbers = s.as_numbers;
	return cudaSuccess;
}

void remember_offset(const void *host, size_t offset)
{
	struct symbol *s;

	registry_enter();
	s = find(host, TEXTURE);
	if (s) {
		s->bound = true;
		s->offset = offset;
	}
	registry_leave();
}

cudaError_t recall_offset(const void *host, size_t *offset)
{
	cudaError_t e = cudaErrorInvalidTexture;
	struct symbol *s;

	registry_enter();
	s = host ? find(host, TEXTURE) : NULL;
	if (s) {
		e = s->bound ? cudaSuccess : cudaErrorInvalidTextureBinding;
		*offset = s->offset;
	}
	registry_leave();
	return e;
}

cudaError_t find_surface(const void *host, CUsurfref *out)
{
	struct symbol s;
	cudaError_t e = look_up(host, SURFACE, cudaErrorInvalidSurface, &s);

	if (!e)
		*out = s.handle;
	return e;
}

static bool is_registered(const void *host, enum kind kind)
{
	bool known;

	registry_enter();
	known = host && find(host, kind);
	registry_leave();
	return known;
}

bool is_texture(const void *host)
{
	return is_registered(host, TEXTURE);
}

bool is_surface(const void *host)
{
	return is_registered(host, SURFACE);
}

void forget_modules(CUcontext ctx)
{
	struct loaded **at, *old;
	struct symbol *s;
	struct binary *b;
	unsigned int i;

	registry_enter();
	for (i = 0; i < BUCKETS; i++)
		for (s = buckets[i]; s; s = s->next)
			if (s->ctx == ctx) {
				s->ctx = NULL;
				s->handle = NULL;
				s->bound = false;
			}
	for (b = binaries; b; b = b->next) {
		for (at = &b->loaded; *at && (*at)->ctx != ctx; at = &(*at)->next)
			;
		old = *at;
		if (old)
			*at = old->next;
		free(old);
	}
	registry_leave();
}

/* ------------------------------------------------------------------ entry points */

static const void *image_of(const void *registered)
{
	struct segment s;

	memcpy(&s.magic, registered, sizeof(s.magic));
	if (s.magic != SEGMENT_MAGIC)
		return registered;
	memcpy(&s, registered, sizeof(s));
	return s.image;
}

void **__cudaRegisterFatBinary(void *image)
{
	struct binary *b = calloc(1, sizeof(*b));

	if (!b) {
		fputs("libcudart: no memory for a fat binary\n", stderr);
		return NULL;
	}
	b->image = image_of(image);
	pthread_mutex_lock(&arrivals);
	b->next = new_binaries;
	new_binaries = b;
	pthread_mutex_unlock(&arrivals);
	return (void **)b;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
}

/*
 * At exit, or by dlclose(). The modules stay until sweep(): an exit should not wait for the GPU.
 * But this waits for a thread that loads a module, which may read the library's memory. A child of
 * fork() does not have that thread, nor anything that it could unload.
 */
void __cudaUnregisterFatBinary(void **handle)
{
	struct binary *b = (struct binary *)handle;
	struct symbol **at;
	unsigned int i;

	if (!b || is_child_of_user())
		return;
	registry_enter();
	for (i = 0; i < BUCKETS; i++) {
		for (at = &buckets[i]; *at;) {
			struct symbol *s = *at;

			if (s->binary != b) {
				at = &s->next;
				continue;
			}
			*at = s->next;
			free(s);
		}
	}
	b->gone = true;
	registry_leave();
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			    int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
	add(handle, FUNCTION, host, name, false);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
		       size_t size, int constant, int global)
{
	add(handle, VARIABLE, host, name, false);
}

/* The host's variable, which kernels would use by its address. */
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
	fprintf(stderr, "libcudart: %s: variables of the host can't be shown to the GPU here\n",
		name);
	if (handle)
		((struct binary *)handle)->refused = true;
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
			      size_t size, int constant, int global)
{
	add(handle, MANAGED, host, name, false);
	if (handle)
		((struct binary *)handle)->managed = true;
}

/*
 * @name is a reference's name in the source, "::space::ref". @device is the name in the cubin,
 * whatever its type says.
 */
void __cudaRegisterTexture(void **handle, const struct textureReference *host, const void **device,
			   const char *name, int dimensions, int normalized, int ext)
{
	add(handle, TEXTURE, host, device ? (const char *)device : name, normalized);
}

void __cudaRegisterSurface(void **handle, const struct surfaceReference *host, const void **device,
			   const char *name, int dimensions, int ext)
{
	add(handle, SURFACE, host, device ? (const char *)device : name, false);
}

/* Before managed variables are used. The caller ignores the answer. */
char __cudaInitModule(void **handle)
{
	cudaError_t e = handle ? use_context() : cudaErrorInvalidValue;
	CUcontext ctx = NULL;
	CUmodule module;

	if (!e)
		e = from_driver(cuCtxGetCurrent(&ctx));
	if (!e) {
		registry_enter();
		e = module_in((struct binary *)handle, ctx, &module);
		registry_leave();
	}
	return !set_last_error(e);
}
