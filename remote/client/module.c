// SPDX-License-Identifier: MIT
/* Modules, their functions with what a launch has to know of them, their variables, and linking. */
#include <stdlib.h>

#include <cuda/api/jit.h>
#include <cuda/api/libraries.h>
#include <remote/channel/tls.h>
#include <remote/wire/image.h>

#include "client.h"

/* OPTIONS: how many there are in CUDA 13.0 */
enum { OPTIONS = 35, OPTIONS_MAX = 64, LOG_MAX = 32 << 10 };

/* attributes of a device, CU_DEVICE_ATTRIBUTE_..., and of a function, CU_FUNC_ATTRIBUTE_... */
enum { MOST_SHARED = 97, CLUSTER_LAUNCH = 120, NON_PORTABLE_CLUSTERS = 14 };

/* bytes of an image that is worth a question and a hash */
enum { KEPT_MIN = 64 << 10 };

/* ------------------------------------------------------------------ options */

/* JIT options: the words for the server, and the program's buffers for the server's logs */
struct options {
	uint32_t words[2 * OPTIONS_MAX], n;
	char *log, *error;
	uint32_t log_bytes, error_bytes;
	void **log_used, **error_used;
};

static CUresult read_options(struct options *o, unsigned int n, const CUjit_option *options,
			     void **values)
{
	unsigned int i;

	memset(o, 0, sizeof(*o));
	if (n > OPTIONS_MAX || (n && (!options || !values)))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n; i++)
		switch ((int)options[i]) {
		case CU_JIT_INFO_LOG_BUFFER:
			o->log = values[i];
			break;
		case CU_JIT_ERROR_LOG_BUFFER:
			o->error = values[i];
			break;
		case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
			o->log_bytes = (uint32_t)(uintptr_t)values[i];
			o->log_used = &values[i];
			break;
		case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			o->error_bytes = (uint32_t)(uintptr_t)values[i];
			o->error_used = &values[i];
			break;
		default:
			if ((unsigned int)options[i] >= OPTIONS)
				return CUDA_ERROR_INVALID_VALUE;
			o->words[2 * o->n] = options[i];
			o->words[2 * o->n++ + 1] = (uint32_t)(uintptr_t)values[i];
		}
	o->log_bytes = !o->log ? 0 : o->log_bytes > LOG_MAX ? LOG_MAX : o->log_bytes;
	o->error_bytes = !o->error ? 0 : o->error_bytes > LOG_MAX ? LOG_MAX : o->error_bytes;
	return CUDA_SUCCESS;
}

static bool take_log(struct call *c, char *to, uint32_t room, uint32_t used, void **size)
{
	char text[LOG_MAX];

	if (used > room || !answer_bytes(c, text, used))
		return false;
	if (size)
		*size = (void *)(uintptr_t)used;
	if (!room)
		return true;
	used -= used == room;
	memcpy(to, text, used);
	to[used] = 0;
	return true;
}

static CUresult take_logs(struct call *c, const struct options *o, uint32_t log_used,
			  uint32_t error_used, CUresult r)
{
	if (take_log(c, o->log, o->log_bytes, log_used, o->log_used) &&
	    take_log(c, o->error, o->error_bytes, error_used, o->error_used))
		return r;
	return r ? r : CUDA_ERROR_UNKNOWN;
}

static CUresult place_image(struct call *c, const void *image, size_t bytes, uint64_t *at)
{
	struct peer *p = route_peer(&c->to);

	*at = arena_get(p, bytes);
	if (*at == KVGPU_REMOTE_NOWHERE)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(arena_at(p, *at), image, bytes);
	c->push_at = *at;
	c->push_bytes = bytes;
	return CUDA_SUCCESS;
}

/*
 * The server has one image in parts at a time, from its first part to the answer to its frame, and
 * carries out frames one after the other.
 */
static pthread_mutex_t images = PTHREAD_MUTEX_INITIALIZER;

/* so many bytes of an image go with one frame */
static uint64_t part_bytes(const struct peer *p)
{
	uint64_t bytes;

	kvgpu_remote_arena(p->channel, &bytes);
	return bytes / 4 < KVGPU_REMOTE_PART_MAX ? bytes / 4 : KVGPU_REMOTE_PART_MAX;
}

/* Call with `images`. Send all but the last part. *done: how many bytes that were. */
static CUresult send_parts(const struct route *to, const uint8_t *image, uint64_t bytes,
			   uint64_t *done)
{
	struct q_image_part q = { .bytes = part_bytes(to->peer) };
	CUresult r = CUDA_SUCCESS;

	for (*done = 0; bytes - *done > q.bytes && !r; *done += q.bytes) {
		struct call c = { .op = OP_image_part, .fixed = &q, .bytes = sizeof(q), .to = *to };

		q.more = *done > 0;
		r = place_image(&c, image + *done, q.bytes, &q.at);
		if (r)
			return r;
		r = call_sync(&c, 0);
		arena_put(to->peer, q.at);
	}
	return r;
}

/* a question for a function, which follows an image: the answer comes with the image's */
struct first {
	struct q_image_function q;
	struct call c;
	unsigned int completion; /* 0: it is not asked */
	const char *name; /* NULL: it is the only one */
	bool fine;
};

static void first_begin(struct first *f, const struct route *to)
{
	*f = (struct first){ .name = library_wants };
	f->c = (struct call){
		.op = OP_image_function, .fixed = &f->q, .bytes = sizeof(f->q), .to = *to
	};
	if (!table_lacks(route_peer(&f->c.to), OP_image_function) &&
	    (!f->name || !call_string(&f->c, f->name, &f->q.name_bytes)))
		f->completion = kvgpu_remote_completion_get(f->c.to.peer->channel);
}

static void first_end(struct first *f)
{
	if (f->completion)
		kvgpu_remote_completion_put(f->c.to.peer->channel, f->completion);
}

/* Call with `images`, so that the image is the last one. @fixed: as in call_sync() */
static CUresult ask_image(struct call *c, size_t fixed, struct first *f)
{
	unsigned int completion = call_completion(c->to.peer);
	CUresult r = call_begin(c, completion);
	bool asked = !r && f->completion && !call_begin(&f->c, f->completion);

	if (!r)
		r = call_take(c, completion, fixed);
	f->fine = asked && !call_take(&f->c, f->completion, sizeof(struct a_image_function));
	return r;
}

/* Ask for the image by its hash, in place of sending it. False: its bytes are to be sent. */
static bool is_kept(struct call *c, struct q_image *q, const uint8_t *image, size_t fixed,
		    struct first *f, CUresult *r)
{
	const struct a_image *a;

	if (!c->to.peer->keeps || q->bytes < KEPT_MIN || !tls_hash(image, q->bytes, q->hash))
		return false;
	q->kept = true;
	*r = ask_image(c, fixed, f);
	q->kept = false;
	a = (const struct a_image *)c->answer;
	if (*r || !a->wanted)
		return true;
	c->answer_bytes = 0; /* the answer is gone with the next frame */
	return false;
}

/* call with `images` */
static CUresult send_image(struct call *c, struct q_image *q, const uint8_t *image, size_t fixed,
			   struct first *f)
{
	uint64_t done;
	CUresult r;

	if (is_kept(c, q, image, fixed, f, &r))
		return r;
	r = send_parts(&c->to, image, q->bytes, &done);
	q->parts = done > 0;
	if (!r)
		r = place_image(c, image + done, q->bytes - done, &q->at);
	if (!r) {
		r = ask_image(c, fixed, f);
		arena_put(c->to.peer, q->at);
	}
	return r;
}

/* ------------------------------------------------------------------ PTX */

/* of the current context's device; 0: not known */
static unsigned int current_arch(void)
{
	CUdevice dev;

	if (cuCtxGetDevice(&dev))
		return 0;
	return 10 * device_attribute(dev, 75 /* COMPUTE_CAPABILITY_MAJOR */) +
	       device_attribute(dev, 76 /* COMPUTE_CAPABILITY_MINOR */);
}

/*
 * A server of ours compiles nothing: its processes may start no other, and what a client sends is
 * given to no compiler there. So PTX for which the server has none is compiled here, if the
 * toolkit's ptxas is. NULL: *r is the error, and the program's log says why.
 */
static uint8_t *compile_here(const void *image, size_t bytes, unsigned int n, CUjit_option *options,
			     void **values, size_t *size, CUresult *r)
{
	uint8_t *cubin = NULL;
	struct jit j;

	*r = jit_options(&j, n, options, values);
	if (*r)
		return NULL;
	*r = jit_image(&j, image, bytes, &cubin, size);
	jit_report(&j);
	return cubin;
}

/* ------------------------------------------------------------------ what is known of functions */

/* whether the parameters are one behind the other, each with a byte at least */
static bool lay_out(struct function *f)
{
	uint32_t i, end;
	bool gapless = true;

	for (i = 0; i < f->parameters; i++) {
		if (__builtin_add_overflow(f->parameter[i].offset, f->parameter[i].size, &end) ||
		    end > KVGPU_REMOTE_PARAMETERS_MAX || f->parameter[i].offset < f->bytes ||
		    !f->parameter[i].size)
			return false;
		gapless = gapless && f->parameter[i].offset == f->bytes;
		f->bytes = end;
	}
	f->gapless = gapless;
	return true;
}

/* @name: NULL: the answer has it, if the server can tell */
static struct function *read_function(struct call *c, const struct a_function *a, const char *name)
{
	size_t layout = (size_t)a->parameters * sizeof(((struct function *)0)->parameter[0]);
	size_t name_bytes = name ? strlen(name) + 1 : a->name_bytes;
	struct function *f = NULL;
	unsigned int i;
	bool fine;
	char *to;

	if (a->parameters <= KVGPU_REMOTE_LIST_MAX && name_bytes <= KVGPU_REMOTE_STRING_MAX)
		f = calloc(1, sizeof(*f) + layout + name_bytes + 1);
	if (!f)
		return NULL;
	f->layout_known = a->layout_known;
	f->parameters = a->parameters;
	for (i = 0; i < FUNCTION_ATTRIBUTES; i++) {
		f->attribute[i] = a->attribute[i];
		f->attribute_known[i] = a->attribute_known[i];
	}
	to = (char *)f->parameter + layout;
	f->name = name_bytes ? to : NULL;
	cache_invalidate(CACHE_LIMITS);
	fine = answer_bytes(c, f->parameter, layout);
	if (name)
		memcpy(to, name, name_bytes);
	else
		fine = fine && answer_bytes(c, to, name_bytes);
	if (fine && lay_out(f))
		return f;
	free(f);
	return NULL;
}

/* Keep what the answer tells of a function of @module, whose number is @id. */
static void first_keep(struct first *f, void *module, uint64_t id)
{
	const struct a_image_function *a = f->c.answer;
	struct function *function;
	struct a_function of;
	void *made;

	if (!f->fine || a->module != id || !answer_bytes(&f->c, &of, sizeof(of)) ||
	    !answer_handle(&made, &f->c, CLASS_FUNCTION, of.function, module, false))
		return;
	function = read_function(&f->c, &of, f->name);
	if (function)
		object_keep(made, CLASS_FUNCTION, function, true);
}

static bool is_named(const void *function, const void *name)
{
	const struct function *f = function;

	return f->name && !strcmp(f->name, name);
}

/* ------------------------------------------------------------------ modules */

/*
 * A copy of a fat binary without code for other devices than the context's, and its *bytes. NULL:
 * all of @image is to be sent.
 */
static void *fit_image(const void *image, uint64_t *bytes)
{
	void *copy = NULL;
	unsigned int arch;
	size_t fit;

	if (!kvgpu_remote_image_is_fat(image, *bytes))
		return NULL;
	arch = current_arch();
	fit = arch ? kvgpu_remote_image_fit(image, *bytes, arch, NULL) : *bytes;
	if (fit < *bytes)
		copy = malloc(fit);
	if (copy) {
		kvgpu_remote_image_fit(image, *bytes, arch, copy);
		*bytes = fit;
	}
	return copy;
}

static CUresult take_module(CUmodule *module, struct call *c, struct first *f)
{
	const struct a_image *a = c->answer;
	void *made;

	if (!answer_handle(&made, c, CLASS_MODULE, a->module, current_context(), false))
		return CUDA_ERROR_UNKNOWN;
	first_keep(f, made, a->module);
	*module = made;
	cache_invalidate(CACHE_LIMITS);
	return CUDA_SUCCESS;
}

static CUresult load_image(CUmodule *module, const void *image, size_t limit, unsigned int n,
			   CUjit_option *options, void **values)
{
	struct q_image q = { 0 };
	struct call c = { .op = OP_image, .fixed = &q, .bytes = sizeof(q) };
	const struct a_image *a;
	struct first first;
	struct options o;
	uint8_t *cubin;
	size_t size, bytes;
	void *fit;
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!module || !image)
		return CUDA_ERROR_INVALID_VALUE;
	r = read_options(&o, n, options, values);
	if (r)
		return r;
	if (limit == SIZE_MAX)
		image = kvgpu_remote_image_unwrap(image);
	q.bytes = bytes = image ? kvgpu_remote_image_bytes(image, limit) : 0;
	if (!bytes)
		return CUDA_ERROR_INVALID_IMAGE;
	q.number_options = o.n;
	q.log_bytes = o.log_bytes;
	q.error_bytes = o.error_bytes;
	r = call_bytes(&c, o.words, 8ull * o.n);
	fit = fit_image(image, &q.bytes);
	route_peer(&c.to);
	first_begin(&first, &c.to);
	pthread_mutex_lock(&images);
	if (!r)
		r = send_image(&c, &q, fit ? fit : image, sizeof(*a), &first);
	pthread_mutex_unlock(&images);
	free(fit);
	if (!r)
		r = take_module(module, &c, &first);
	if (!r)
		((struct object *)*module)->prints = kvgpu_remote_image_may_print(image, bytes);
	first_end(&first);
	if (r == CUDA_ERROR_JIT_COMPILER_NOT_FOUND && current_arch() == 35) {
		cubin = compile_here(image, bytes, n, options, values, &size, &r);
		if (cubin)
			r = load_image(module, cubin, size, 0, NULL, NULL);
		free(cubin);
		return r;
	}
	if (c.answer_bytes < sizeof(*a))
		return r ? r : CUDA_ERROR_UNKNOWN;
	a = (const struct a_image *)c.answer;
	return take_logs(&c, &o, a->log_used, a->error_used, r);
}

const void *library_image(const void *data, size_t limit, size_t *bytes, bool *fat)
{
	const void *image = limit == SIZE_MAX ? kvgpu_remote_image_unwrap(data) : data;

	*bytes = kvgpu_remote_image_bytes(image, limit);
	*fat = *bytes && kvgpu_remote_image_is_fat(image, *bytes);
	return *bytes ? image : NULL;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int n,
			    CUjit_option *options, void **values)
{
	return load_image(module, image, SIZE_MAX, n, options, values);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	return load_image(module, image, SIZE_MAX, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	return load_image(module, image, SIZE_MAX, 0, NULL, NULL);
}

CUresult cuModuleLoad(CUmodule *module, const char *file)
{
	uint8_t *data;
	size_t size;
	CUresult r = client_ready();

	if (r)
		return r;
	if (!module || !file)
		return CUDA_ERROR_INVALID_VALUE;
	r = read_file(file, &data, &size);
	if (r)
		return r;
	r = load_image(module, data, size + 1, 0, NULL, NULL);
	free(data);
	return r;
}

/*
 * NVIDIA's runtimes ask, and if they hear that loading is lazy, they load a fat binary when a
 * kernel of it is needed first: so no other one crosses. Of several servers, all variables of
 * modules should be there before other memory is: a server can't move them if another one has
 * memory at their address.
 */
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	const char *wanted = getenv("CUDA_MODULE_LOADING");
	CUresult r = client_ready();

	if (r)
		return r;
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	if (wanted && (!strcmp(wanted, "EAGER") || !strcmp(wanted, "LAZY")))
		*mode = *wanted == 'E' ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
	else
		*mode = several ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

bool module_prints(CUmodule module)
{
	return ((const struct object *)module)->prints;
}

void module_unloaded(CUmodule module)
{
	managed_module_ends(module);
	ranges_module_ends(module);
	object_end(module, ((const struct object *)module)->id);
}

/* ------------------------------------------------------------------ functions */

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	struct q_function q = { 0 };
	struct call c = { .op = OP_function, .fixed = &q, .bytes = sizeof(q) };
	const struct a_function *a;
	struct function *f;
	void *made;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r)
		return r;
	if (!route_handle(&c.to, CLASS_MODULE, module, &q.module))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!function || !name || !*name)
		return CUDA_ERROR_INVALID_VALUE;
	made = call_asks(route_peer(&c.to)) ? NULL :
					      object_below(module, CLASS_FUNCTION, is_named, name);
	if (made) {
		*function = made;
		return CUDA_SUCCESS;
	}
	r = call_string(&c, name, &q.name_bytes);
	if (!r)
		r = call_sync(&c, sizeof(*a));
	if (r)
		return r;
	a = (const struct a_function *)c.answer;
	if (!answer_handle(&made, &c, CLASS_FUNCTION, a->function, module, false))
		return CUDA_ERROR_UNKNOWN;
	f = read_function(&c, a, name);
	/* an earlier result stays: another thread may be reading it */
	if (!f || !object_keep(made, CLASS_FUNCTION, f, true))
		return CUDA_ERROR_UNKNOWN;
	*function = made;
	return CUDA_SUCCESS;
}

/* of a function that a list of functions has told */
static struct function *ask_function(CUfunction function)
{
	struct q_function q = { 0 };
	struct call c = { .op = OP_function, .fixed = &q, .bytes = sizeof(q) };
	const struct a_function *a;
	struct function *f;

	if (call_enter(CALL_NO_CONTEXT) ||
	    !route_handle(&c.to, CLASS_FUNCTION, function, &q.function) ||
	    call_sync(&c, sizeof(*a)))
		return NULL;
	a = (const struct a_function *)c.answer;
	f = a->function == q.function ? read_function(&c, a, NULL) : NULL;
	if (!f || !object_keep(function, CLASS_FUNCTION, f, true))
		return NULL;
	return __atomic_load_n((struct function **)&((struct object *)function)->more,
			       __ATOMIC_ACQUIRE);
}

struct function *function_of(CUfunction f)
{
	struct object *o = object_of(CLASS_FUNCTION, f);
	struct function *known;

	if (!o)
		return NULL;
	known = __atomic_load_n((struct function **)&o->more, __ATOMIC_ACQUIRE);
	return known ? known : ask_function(f);
}

bool function_tells(CUfunction f, int attribute, int *value)
{
	struct object *o = object_of(CLASS_FUNCTION, f);
	const struct function *known =
		o ? __atomic_load_n((struct function **)&o->more, __ATOMIC_ACQUIRE) : NULL;

	if (!known || attribute < 0 || attribute >= FUNCTION_ATTRIBUTES ||
	    !known->attribute_known[attribute])
		return false;
	*value = known->attribute[attribute];
	return true;
}

void function_set(CUfunction f, int attribute, int value)
{
	struct function *known = function_of(f);

	if (known && attribute >= 0 && attribute < FUNCTION_ATTRIBUTES)
		known->attribute[attribute] = value;
	cache_invalidate(CACHE_FUNCTIONS);
}

bool function_has(CUfunction f, int attribute, int value)
{
	const struct function *known = function_of(f);

	return known && !call_asks(object_peer((const void *)f)) &&
	       (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
		attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) &&
	       known->attribute_known[attribute] && known->attribute[attribute] == value;
}

bool function_takes(CUfunction f, int attribute, int value)
{
	enum { OWN_SHARED = CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES };
	const struct function *known = function_of(f);
	const struct object *ctx = object_context((const void *)f);
	const struct a_facts *facts = ctx ? device_known(ctx->dev) : NULL;

	if (!known || !facts)
		return false;
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		return value >= 0 && known->attribute_known[OWN_SHARED] &&
		       (uint64_t)value + (uint32_t)known->attribute[OWN_SHARED] <=
			       facts->attribute[MOST_SHARED];
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return value >= -1 && value <= 100;
	case NON_PORTABLE_CLUSTERS:
		return (value == 0 || value == 1) && facts->attribute[CLUSTER_LAUNCH];
	}
	return false;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size)
{
	const struct function *f;
	CUresult r = client_ready();

	if (!r)
		r = function_here(&function, NULL);
	if (r)
		return r;
	f = function_of(function);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!f->layout_known)
		return REFUSE("cuFuncGetParamInfo()", "the server's library does not tell it");
	if (!offset || index >= f->parameters)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = f->parameter[index].offset;
	if (size)
		*size = f->parameter[index].size;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
	const struct function *f;
	CUresult r = client_ready();

	if (r)
		return r;
	if (!name || !function)
		return CUDA_ERROR_INVALID_VALUE;
	r = function_here(&function, NULL);
	if (r)
		return r;
	f = function_of(function);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!f->name)
		return REFUSE("cuFuncGetName()", "the server's library does not tell it");
	*name = f->name;
	return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int n, CUmodule module)
{
	struct q_functions q = { 0 };
	struct call c = { .op = OP_functions, .fixed = &q, .bytes = sizeof(q) };
	const struct a_functions *a;
	unsigned int done = 0, got;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!route_handle(&c.to, CLASS_MODULE, module, &q.module))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!functions)
		return CUDA_ERROR_INVALID_VALUE;
	do {
		q.first = done;
		q.room = n - done < KVGPU_REMOTE_LIST_MAX ? n - done : KVGPU_REMOTE_LIST_MAX;
		r = call_sync(&c, sizeof(*a));
		if (r)
			return r;
		a = (const struct a_functions *)c.answer;
		got = a->n;
		if (got > q.room || !answer_handles(&c, CLASS_FUNCTION, (void **)functions + done,
						    got, got, module))
			return CUDA_ERROR_UNKNOWN;
		done += got;
	} while (got && done < n);
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ variables */

CUresult cuModuleGetGlobal_v2(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)
{
	struct q_global q = { 0 };
	struct call c = { .op = OP_global, .fixed = &q, .bytes = sizeof(q) };
	struct a_global a;
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r)
		return r;
	if (!route_handle(&c.to, CLASS_MODULE, module, &q.module))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!name || !*name || (!ptr && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	r = call_string(&c, name, &q.name_bytes);
	if (!r)
		r = call_sync(&c, sizeof(a));
	if (r)
		return r;
	memcpy(&a, c.answer, sizeof(a));
	if (!answer_memory(a.ptr, a.bytes))
		return CUDA_ERROR_UNKNOWN;
	r = managed_variables(module, a.managed, a.managed_bytes);
	if (r)
		return r;
	if (!range_variable(a.ptr, a.bytes, module)) {
		client_say("%s has variables of a module where another server's memory is",
			   c.to.peer->address);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	if (ptr)
		*ptr = a.ptr;
	if (bytes)
		*bytes = a.bytes;
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ linking */

/*
 * A server whose library has its compiler and linker in other programs, which may not be started
 * there, links nothing: then the client does, where the toolkit's are.
 */
struct linked {
	CUlinkState here; /* NULL: the server has the pieces */
	void *cubin; /* what the server made */
};

static struct linked *linked_of(CUlinkState state)
{
	struct object *o = object_of(CLASS_LINK, state);

	return o ? o->more : NULL;
}

static CUresult linked_make(CUlinkState state, bool here, unsigned int n, CUjit_option *options,
			    void **values)
{
	struct linked *l = calloc(1, sizeof(*l));
	CUresult r = !l	  ? CUDA_ERROR_OUT_OF_MEMORY :
		     here ? link_make(n, options, values, &l->here) :
			    CUDA_SUCCESS;

	if (r)
		free(l);
	else
		object_keep(state, CLASS_LINK, l, true);
	return r;
}

CUresult cuLinkCreate_v2(unsigned int n, CUjit_option *options, void **values, CUlinkState *state)
{
	struct q_link_create q = { 0 };
	struct call c = { .op = OP_link_create, .fixed = &q, .bytes = sizeof(q) };
	const struct a_link_create *a;
	struct options o;
	void *made;
	CUresult r = call_enter(0);

	if (r)
		return r;
	r = state ? read_options(&o, n, options, values) : CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	q.number_options = o.n;
	r = call_bytes(&c, o.words, 8ull * o.n);
	if (!r)
		r = call_sync(&c, sizeof(*a));
	if (r)
		return r;
	a = (const struct a_link_create *)c.answer;
	if (!answer_handle(&made, &c, CLASS_LINK, a->link, NULL, false))
		return CUDA_ERROR_UNKNOWN;
	r = linked_make(made, a->elsewhere, n, options, values);
	if (r)
		cuLinkDestroy(made);
	else
		*state = made;
	return r;
}

static CUresult send_piece(struct call *c, struct q_link_add *q, const void *data, const char *name,
			   const struct options *o)
{
	const struct a_link_add *a;
	CUresult r = name ? call_string(c, name, &q->name_bytes) : CUDA_SUCCESS;

	if (r)
		return r;
	q->number_options = o->n;
	q->log_bytes = o->log_bytes;
	q->error_bytes = o->error_bytes;
	r = call_bytes(c, o->words, 8ull * o->n);
	if (!r)
		r = place_image(c, data, q->bytes, &q->at);
	if (r)
		return r;
	r = call_sync(c, sizeof(*a));
	arena_put(c->to.peer, q->at);
	if (c->answer_bytes < sizeof(*a))
		return r ? r : CUDA_ERROR_UNKNOWN;
	a = (const struct a_link_add *)c->answer;
	return take_logs(c, o, a->log_used, a->error_used, r);
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
			  const char *name, unsigned int n, CUjit_option *options, void **values)
{
	struct q_link_add q = { .bytes = size, .type = type };
	struct call c = { .op = OP_link_add, .fixed = &q, .bytes = sizeof(q) };
	const struct linked *l;
	struct options o;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	l = linked_of(state);
	if (!l || !route_handle(&c.to, CLASS_LINK, state, &q.link))
		return CUDA_ERROR_INVALID_HANDLE;
	r = data && size ? read_options(&o, n, options, values) : CUDA_ERROR_INVALID_VALUE;
	if (r)
		return r;
	return l->here ? link_add(l->here, type, data, size) : send_piece(&c, &q, data, name, &o);
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned int n,
			  CUjit_option *options, void **values)
{
	uint8_t *data;
	size_t size;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	r = read_file(path, &data, &size);
	if (r)
		return r;
	r = cuLinkAddData_v2(state, type, data, size, path, n, options, values);
	free(data);
	return r;
}

static CUresult fetch_linked(struct call *c, struct q_link_complete *q, struct linked *l,
			     size_t *size)
{
	uint64_t bytes;
	void *copy;
	CUresult r;

	q->at = arena_get(route_peer(&c->to), q->room);
	if (q->at == KVGPU_REMOTE_NOWHERE)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = call_sync(c, sizeof(struct a_link_complete));
	if (!r) {
		bytes = ((const struct a_link_complete *)c->answer)->bytes;
		copy = bytes <= q->room ? malloc(bytes + 1) : NULL;
		r = copy ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
	}
	if (!r) {
		memcpy(copy, arena_at(c->to.peer, q->at), bytes);
		free(l->cubin);
		l->cubin = copy;
		*size = bytes;
	}
	arena_put(c->to.peer, q->at);
	return r;
}

/* *cubin belongs to the state's object, and is valid until the state is completed anew or ends */
CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *size)
{
	struct q_link_complete q = { .room = 16 << 20 };
	struct call c = { .op = OP_link_complete, .fixed = &q, .bytes = sizeof(q) };
	struct linked *l;
	size_t bytes;
	CUresult r = call_enter(CALL_NO_CONTEXT);

	if (r)
		return r;
	l = linked_of(state);
	if (!l || !route_handle(&c.to, CLASS_LINK, state, &q.link))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!cubin)
		return CUDA_ERROR_INVALID_VALUE;
	if (l->here)
		return link_complete(l->here, cubin, size);
	r = fetch_linked(&c, &q, l, &bytes);
	if (r)
		return r;
	*cubin = l->cubin;
	if (size)
		*size = bytes;
	return CUDA_SUCCESS;
}

void link_destroyed(CUlinkState state)
{
	struct linked *l = linked_of(state);

	if (l && l->here)
		link_free(l->here);
	if (l)
		free(l->cubin);
	object_end(state, ((const struct object *)state)->id);
}
