// SPDX-License-Identifier: MIT
/* Modules, their functions and variables, and linking. */
#include <stdlib.h>

#include <remote/wire/image.h>

#include "server.h"

enum { OPTIONS_MAX = 64, LOG_MAX = 32 << 10, PARAMETERS_MAX = 4096, OWN_OPTIONS = 4 };

/* ----------------------------------------------------------- options of the compiler and linker */

struct options_of {
	unsigned int n;
	CUjit_option option[OPTIONS_MAX + OWN_OPTIONS];
	void *value[OPTIONS_MAX + OWN_OPTIONS];
	char *log, *error;
	uint32_t log_bytes, error_bytes;
};

static void add_option(struct options_of *o, CUjit_option option, void *value)
{
	o->option[o->n] = option;
	o->value[o->n++] = value;
}

/*
 * Take the client's JIT options. Some with plain numbers are taken, as a pointer of the client
 * means nothing here; the log buffers are the server's own. @log, @error: bytes of the logs that
 * the client wants.
 */
static bool take_options(struct server *s, struct kvgpu_remote_cursor *in, uint32_t n, uint32_t log,
			 uint32_t error, struct options_of *o)
{
	const uint32_t *words = n <= OPTIONS_MAX ? kvgpu_remote_take_bytes(in, 8ull * n) : NULL;
	uint32_t i;

	memset(o, 0, sizeof(*o));
	if (!words || log > LOG_MAX || error > LOG_MAX)
		return false;
	for (i = 0; i < n; i++)
		switch (words[2 * i]) {
		case CU_JIT_MAX_REGISTERS:
		case CU_JIT_OPTIMIZATION_LEVEL:
		case CU_JIT_GENERATE_DEBUG_INFO:
		case CU_JIT_GENERATE_LINE_INFO:
			add_option(o, words[2 * i], (void *)(uintptr_t)words[2 * i + 1]);
			break;
		}
	o->log = frame_scratch(s, log + 1, 1);
	o->error = frame_scratch(s, error + 1, 1);
	if (!o->log || !o->error)
		return false;
	o->log_bytes = log;
	o->error_bytes = error;
	if (log) {
		add_option(o, CU_JIT_INFO_LOG_BUFFER, o->log);
		add_option(o, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, (void *)(uintptr_t)log);
	}
	if (error) {
		add_option(o, CU_JIT_ERROR_LOG_BUFFER, o->error);
		add_option(o, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, (void *)(uintptr_t)error);
	}
	return true;
}

static bool put_logs(struct kvgpu_remote_reply *out, const struct options_of *o, uint32_t *log_used,
		     uint32_t *error_used)
{
	*log_used = strnlen(o->log, o->log_bytes);
	*error_used = strnlen(o->error, o->error_bytes);
	return kvgpu_remote_put_bytes(out, o->log, *log_used) &&
	       kvgpu_remote_put_bytes(out, o->error, *error_used);
}

static void parts_drop(struct server *s)
{
	free(s->parts.data);
	s->parts = (struct parts){ 0 };
}

/*
 * Copy bytes of the arena, so that the client can't change them after the check. With @parts they
 * follow those that came, which end. NULL: they are not in the arena, or out of memory.
 */
static uint8_t *copy_of(struct server *s, uint64_t at, uint64_t bytes, bool parts)
{
	uint64_t before = parts ? s->parts.bytes : 0;
	bool fine = before <= bytes && bytes <= KVGPU_REMOTE_IMAGE_MAX &&
		    kvgpu_remote_in_arena(at, bytes - before, s->arena_bytes);
	uint8_t *copy = fine ? realloc(before ? s->parts.data : NULL, bytes + 1) : NULL;

	if (copy && before)
		s->parts.data = NULL;
	parts_drop(s);
	if (!copy)
		return NULL;
	memcpy(copy + before, s->arena + at, bytes - before);
	copy[bytes] = 0;
	return copy;
}

CUresult frame_image_part(struct server *s, const struct q_image_part *q,
			  struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	uint8_t *grown;

	if (!q->more)
		parts_drop(s);
	if (q->bytes > KVGPU_REMOTE_PART_MAX ||
	    s->parts.bytes + q->bytes > KVGPU_REMOTE_IMAGE_MAX ||
	    !kvgpu_remote_in_arena(q->at, q->bytes, s->arena_bytes))
		return CUDA_ERROR_INVALID_VALUE;
	grown = realloc(s->parts.data, s->parts.bytes + q->bytes + 1);
	if (!grown)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(grown + s->parts.bytes, s->arena + q->at, q->bytes);
	s->parts = (struct parts){ grown, s->parts.bytes + q->bytes };
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ modules */

static uint8_t *find_kept(struct server *s, const struct q_image *q)
{
	return s->images ? images_find(s->images, s->options.images, q->hash, q->bytes) : NULL;
}

/* an image that the library has taken, if the client has told its hash */
static void keep_image(struct server *s, const struct q_image *q, const uint8_t *image)
{
	static const uint8_t none[sizeof(q->hash)];

	if (s->images && memcmp(q->hash, none, sizeof(none)))
		images_keep(s->images, s->options.images, q->hash, image, q->bytes);
}

CUresult frame_image(struct server *s, const struct q_image *q, struct kvgpu_remote_cursor *in,
		     struct kvgpu_remote_reply *out)
{
	struct a_image *a = kvgpu_remote_put(out, sizeof(*a));
	struct options_of o;
	CUmodule m = NULL;
	uint8_t *image;
	CUresult r;

	s->newest = 0;
	if (!a || !take_options(s, in, q->number_options, q->log_bytes, q->error_bytes, &o))
		return CUDA_ERROR_INVALID_VALUE;
	image = q->kept ? find_kept(s, q) : copy_of(s, q->at, q->bytes, q->parts);
	a->wanted = q->kept && !image;
	if (!image)
		return q->kept ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	s->waits.may_print |= kvgpu_remote_image_may_print(image, q->bytes);
	r = kvgpu_remote_image_bytes(image, q->bytes) ?
		    CALL(s, cuModuleLoadDataEx, &m, image, o.n, o.option, o.value) :
		    CUDA_ERROR_INVALID_IMAGE;
	if (!r && !q->kept)
		keep_image(s, q, image);
	free(image);
	if (!r) {
		a->module = handle_give(s, CLASS_MODULE, m, s->current);
		if (!a->module) {
			CALL(s, cuModuleUnload, m);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		s->newest = a->module;
	}
	return put_logs(out, &o, &a->log_used, &a->error_used) ? r : CUDA_ERROR_OUT_OF_MEMORY;
}

static void put_attributes(struct server *s, CUfunction f, struct a_function *a)
{
	int value;
	unsigned int i;

	for (i = 0; i < sizeof(a->attribute) / sizeof(a->attribute[0]); i++)
		if (!CALL(s, cuFuncGetAttribute, &value, i, f)) {
			a->attribute_known[i] = 1;
			a->attribute[i] = value;
		}
}

/* put offset and size of each parameter; false: no room */
static bool put_layout(struct server *s, CUfunction f, struct a_function *a,
		       struct kvgpu_remote_reply *out)
{
	struct entry *e = handle_entry(s, a->function);
	size_t offset, size, i;
	uint32_t end = 0, *pair;

	a->layout_known = !!s->library.cuFuncGetParamInfo;
	for (i = 0; a->layout_known && i < PARAMETERS_MAX &&
		    !s->library.cuFuncGetParamInfo(f, i, &offset, &size);
	     i++) {
		pair = kvgpu_remote_put(out, 8);
		if (!pair)
			return false;
		pair[0] = offset;
		pair[1] = size;
		if (offset + size > end)
			end = offset + size;
	}
	a->parameters = i;
	e->bytes = a->layout_known ? end : UINT32_MAX;
	return true;
}

static CUresult put_name(struct server *s, CUfunction f, struct a_function *a,
			 struct kvgpu_remote_reply *out)
{
	const char *name = NULL;
	CUresult r = CALL(s, cuFuncGetName, &name, f);

	if (r == CUDA_ERROR_NOT_SUPPORTED)
		return CUDA_SUCCESS; /* a library of before CUDA 12.3 has no names to tell */
	if (r)
		return r;
	a->name_bytes = strlen(name) + 1;
	return a->name_bytes <= KVGPU_REMOTE_STRING_MAX &&
			       kvgpu_remote_put_bytes(out, name, a->name_bytes) ?
		       CUDA_SUCCESS :
		       CUDA_ERROR_OUT_OF_MEMORY;
}

/* the answer to `function`; @id: 0: no memory; @named: with the function's name */
static CUresult put_function(struct server *s, CUfunction f, uint64_t id, bool named,
			     struct kvgpu_remote_reply *out)
{
	struct a_function *a = kvgpu_remote_put(out, sizeof(*a));

	if (!a || !id)
		return CUDA_ERROR_OUT_OF_MEMORY;
	a->function = id;
	put_attributes(s, f, a);
	if (!put_layout(s, f, a, out))
		return CUDA_ERROR_OUT_OF_MEMORY;
	return named ? put_name(s, f, a, out) : CUDA_SUCCESS;
}

CUresult frame_function(struct server *s, const struct q_function *q,
			struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	const char *name = q->name_bytes ? kvgpu_remote_take_string(in, q->name_bytes) : NULL;
	CUfunction f = NULL;
	void *module;
	CUresult r;

	if (q->name_bytes && !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!name) {
		if (!handle_find(s, CLASS_FUNCTION, q->function, (void **)&f))
			return CUDA_ERROR_INVALID_HANDLE;
		return put_function(s, f, q->function, true, out);
	}
	if (!handle_find(s, CLASS_MODULE, q->module, &module))
		return CUDA_ERROR_INVALID_HANDLE;
	r = CALL(s, cuModuleGetFunction, &f, module, name);
	if (r)
		return r;
	return put_function(s, f, handle_give(s, CLASS_FUNCTION, f, q->module), false, out);
}

/* the name of a module's only function */
static CUresult only_name(struct server *s, CUmodule module, const char **name)
{
	CUfunction f = NULL;
	unsigned int n = 0;
	CUresult r = CALL(s, cuModuleGetFunctionCount, &n, module);

	if (r || n != 1)
		return r ? r : CUDA_ERROR_NOT_FOUND;
	r = CALL(s, cuModuleEnumerateFunctions, &f, 1, module);
	return r ? r : CALL(s, cuFuncGetName, name, f);
}

CUresult frame_image_function(struct server *s, const struct q_image_function *q,
			      struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	const char *name = q->name_bytes ? kvgpu_remote_take_string(in, q->name_bytes) : NULL;
	struct a_image_function *a = kvgpu_remote_put(out, sizeof(*a));
	CUfunction f = NULL;
	void *module;
	CUresult r;

	if (!a || (q->name_bytes && !name))
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_find(s, CLASS_MODULE, s->newest, &module))
		return CUDA_ERROR_INVALID_HANDLE;
	r = name ? CUDA_SUCCESS : only_name(s, module, &name);
	if (!r)
		r = CALL(s, cuModuleGetFunction, &f, module, name);
	if (r)
		return r;
	a->module = s->newest;
	return put_function(s, f, handle_give(s, CLASS_FUNCTION, f, s->newest), !q->name_bytes,
			    out);
}

CUresult frame_functions(struct server *s, const struct q_functions *q,
			 struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_functions *a = kvgpu_remote_put(out, sizeof(*a));
	CUfunction *f;
	unsigned int n = 0;
	void *module;
	CUresult r;

	if (!a || q->room > KVGPU_REMOTE_LIST_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_find(s, CLASS_MODULE, q->module, &module))
		return CUDA_ERROR_INVALID_HANDLE;
	r = CALL(s, cuModuleGetFunctionCount, &n, module);
	if (r)
		return r;
	f = calloc(n + 1ull, sizeof(*f));
	if (!f)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = n ? CALL(s, cuModuleEnumerateFunctions, f, n, module) : CUDA_SUCCESS;
	n = q->first < n ? n - q->first : 0;
	a->n = n < q->room ? n : q->room;
	if (!r && a->n && !list_close(s, out, CLASS_FUNCTION, f + q->first, a->n, q->module))
		r = CUDA_ERROR_OUT_OF_MEMORY;
	free(f);
	return r;
}

/*
 * NVIDIA's library (580.159.04) looks at neither an offset below 0 nor an attribute that there is
 * not, and ended by SIGSEGV in both calls: it wrote or read beside its own tables.
 */
enum { OLD_PARAMETERS_MAX = 4096, FUNCTION_ATTRIBUTES = 16 };

CUresult own_cuParamSetv(struct server *s, CUfunction f, int offset, void *bytes, unsigned int n)
{
	if (offset < 0 || offset > OLD_PARAMETERS_MAX ||
	    n > OLD_PARAMETERS_MAX - (unsigned int)offset)
		return CUDA_ERROR_INVALID_VALUE;
	return CALL(s, cuParamSetv, f, offset, bytes, n);
}

CUresult own_cuFuncSetAttribute(struct server *s, CUfunction f, CUfunction_attribute attribute,
				int value)
{
	if ((unsigned int)attribute >= FUNCTION_ATTRIBUTES)
		return CUDA_ERROR_INVALID_VALUE;
	return CALL(s, cuFuncSetAttribute, f, attribute, value);
}

CUresult frame_global(struct server *s, const struct q_global *q, struct kvgpu_remote_cursor *in,
		      struct kvgpu_remote_reply *out)
{
	const char *name = kvgpu_remote_take_string(in, q->name_bytes);
	struct a_global *a = kvgpu_remote_put(out, sizeof(*a));
	CUdeviceptr ptr = 0;
	size_t bytes = 0;
	void *module;
	CUresult r;

	if (!name || !a)
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_find(s, CLASS_MODULE, q->module, &module))
		return CUDA_ERROR_INVALID_HANDLE;
	r = CALL(s, cuModuleGetGlobal_v2, &ptr, &bytes, module, name);
	a->ptr = ptr;
	a->bytes = bytes;
	if (!r)
		managed_range(s, ptr, bytes, &a->managed, &a->managed_bytes);
	return r;
}

/* ------------------------------------------------------------------ linking */

CUresult frame_link_create(struct server *s, const struct q_link_create *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_link_create *a = kvgpu_remote_put(out, sizeof(*a));
	struct options_of o;
	CUlinkState link = NULL;
	CUresult r;

	/* a link would need its log buffers as long as it lives: it gets none */
	if (!a || !take_options(s, in, q->number_options, 0, 0, &o))
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuLinkCreate_v2, o.n, o.option, o.value, &link);
	a->elsewhere = s->library.goes_on; /* a library of ours */
	if (!r)
		a->link = handle_give(s, CLASS_LINK, link, 0);
	return r || a->link ? r : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult frame_link_add(struct server *s, const struct q_link_add *q,
			struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	const char *name = q->name_bytes ? kvgpu_remote_take_string(in, q->name_bytes) : NULL;
	struct a_link_add *a = kvgpu_remote_put(out, sizeof(*a));
	struct options_of o;
	uint8_t *data;
	void *link;
	CUresult r;

	if (!a || (q->name_bytes && !name) ||
	    !take_options(s, in, q->number_options, q->log_bytes, q->error_bytes, &o))
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_find(s, CLASS_LINK, q->link, &link))
		return CUDA_ERROR_INVALID_HANDLE;
	data = copy_of(s, q->at, q->bytes, false);
	if (!data)
		return CUDA_ERROR_INVALID_VALUE;
	r = CUDA_ERROR_INVALID_IMAGE;
	if (kvgpu_remote_image_bytes(data, q->bytes + 1))
		r = CALL(s, cuLinkAddData_v2, link, q->type, data, q->bytes, name, o.n, o.option,
			 o.value);
	free(data);
	return put_logs(out, &o, &a->log_used, &a->error_used) ? r : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult frame_link_complete(struct server *s, const struct q_link_complete *q,
			     struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_link_complete *a = kvgpu_remote_put(out, sizeof(*a));
	void *link, *cubin = NULL;
	size_t bytes = 0;
	CUresult r;

	if (!a || !kvgpu_remote_in_arena(q->at, q->room, s->arena_bytes))
		return CUDA_ERROR_INVALID_VALUE;
	if (!handle_find(s, CLASS_LINK, q->link, &link))
		return CUDA_ERROR_INVALID_HANDLE;
	r = CALL(s, cuLinkComplete, link, &cubin, &bytes);
	if (r)
		return r;
	if (bytes > q->room)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(s->arena + q->at, cubin, bytes);
	a->bytes = bytes;
	return kvgpu_remote_return(s->port, q->at, bytes) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

CUresult own_cuLinkDestroy(struct server *s, CUlinkState state)
{
	CUresult r = CALL(s, cuLinkDestroy, state);

	if (!r)
		handle_drop(s, handle_known(s, CLASS_LINK, state));
	return r;
}

CUresult own_cuModuleUnload(struct server *s, CUmodule module)
{
	uint64_t id = handle_known(s, CLASS_MODULE, module);
	CUresult r = graph_refs_end(s, id) ? CUDA_SUCCESS : CALL(s, cuModuleUnload, module);

	if (!r)
		handle_drop(s, id);
	stdio_capture_send(s);
	return r;
}
