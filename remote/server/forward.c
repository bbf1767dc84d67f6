// SPDX-License-Identifier: MIT
/*
 * Calls of cuBLAS and cuRAND, carried out by the real libraries. A library is loaded when the
 * client first needs it. The library is told the stream, and where scalars lie, when that changes.
 *
 * A device address from the client goes to the library if libcuda knows it, or it is NULL. Else the
 * address could be this process's memory.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "server.h"

/*
 * Device memory that a handle takes by itself. cuBLAS: 32 MiB were seen on Hopper. cuRAND: its
 * largest generator, MT19937, keeps 8,192 states of 2,500 bytes (cuRAND's documentation).
 */
enum { BLAS_TAKES = 40 << 20, RAND_TAKES = 32 << 20 };

static const char *const blas_names[] = { "libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
					  NULL };
static const char *const rand_names[] = { "libcurand.so.10", NULL };

static void *open_one(const char *wanted, const char *const *names, const char **why)
{
	void *library = NULL;

	if (wanted && *wanted) {
		library = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
	} else {
		for (; *names && !library; names++)
			library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
	}
	if (!library)
		*why = dlerror();
	return library;
}

static bool load_blas(struct server *s, const char **why)
{
	void *library = open_one(s->options.blas, blas_names, why);
	struct forwards *l = s->forwards;

	if (!library)
		return false;
#define FIND(name) l->name = (typeof(l->name))(uintptr_t)dlsym(library, #name);
	CUBLAS_BY_HAND(FIND)
	CUBLAS_NAMES(FIND)
	*why = "it has no handles, streams and pointer modes of cuBLAS";
	return l->cublasCreate_v2 && l->cublasDestroy_v2 && l->cublasSetStream_v2 &&
	       l->cublasSetPointerMode_v2;
}

static bool load_rand(struct server *s, const char **why)
{
	void *library = open_one(s->options.rand, rand_names, why);
	struct forwards *l = s->forwards;

	if (!library)
		return false;
	CURAND_BY_HAND(FIND)
	CURAND_NAMES(FIND)
	*why = "it has no generators and streams of cuRAND";
	return l->curandCreateGenerator && l->curandDestroyGenerator && l->curandSetStream;
}
#undef FIND

/* whether the library can be loaded, which is tried once */
static bool have(struct server *s, unsigned int class)
{
	uint8_t *known = class == CLASS_BLAS ? &s->blas_is : &s->rand_is;
	const char *why = "out of memory";

	if (!s->forwards)
		s->forwards = calloc(1, sizeof(*s->forwards));
	if (!*known) {
		*known = s->forwards && (class == CLASS_BLAS ? load_blas(s, &why) :
							       load_rand(s, &why)) ?
				 FORWARD_THERE :
				 FORWARD_NOT;
		if (*known == FORWARD_NOT && s->options.complain)
			s->options.complain("%s: %s", class == CLASS_BLAS ? "cuBLAS" : "cuRAND",
					    why);
	}
	s->may_print |= *known == FORWARD_THERE;
	return *known == FORWARD_THERE;
}

/* ------------------------------------------------------------------ statuses */

/* the CUDA error that a later call returns for the @status of a queued call */
static CUresult told_later(unsigned int class, int status)
{
	if (class == CLASS_BLAS)
		switch (status) {
		case BLAS_NOT_INITIALIZED:
			return CUDA_ERROR_INVALID_HANDLE;
		case BLAS_ALLOC_FAILED:
			return CUDA_ERROR_OUT_OF_MEMORY;
		case BLAS_INVALID_VALUE:
			return CUDA_ERROR_INVALID_VALUE;
		case BLAS_NOT_SUPPORTED:
			return CUDA_ERROR_NOT_SUPPORTED;
		default:
			return CUDA_ERROR_LAUNCH_FAILED;
		}
	switch (status) {
	case RAND_NOT_INITIALIZED:
		return CUDA_ERROR_INVALID_HANDLE;
	case RAND_ALLOCATION_FAILED:
		return CUDA_ERROR_OUT_OF_MEMORY;
	case RAND_LAUNCH_FAILURE:
		return CUDA_ERROR_LAUNCH_FAILED;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult forward_status(const struct server *s, unsigned int class, int status)
{
	if (!status)
		return CUDA_SUCCESS;
	if (!s->head.box)
		return told_later(class, status);
	return (CUresult)(KVGPU_REMOTE_STATUS + (status & 0xffff));
}

/* ------------------------------------------------------------------ handles */

static struct forwarded *row_of(struct server *s, uint64_t id)
{
	unsigned int i;

	for (i = 0; id && i < FORWARDS_MAX; i++)
		if (s->rows[i].id == id)
			return &s->rows[i];
	return NULL;
}

static int set_stream(struct server *s, struct forwarded *f, CUstream stream)
{
	return KVGPU_REMOTE_CLASS(f->id) == CLASS_BLAS ?
		       s->forwards->cublasSetStream_v2(f->what, stream) :
		       s->forwards->curandSetStream(f->what, stream);
}

/*
 * a library's handle belongs to the context in which it was made: a call in another one is an error
 */
CUresult forward_enter(struct server *s, unsigned int class, uint64_t id, uint64_t stream,
		       struct forwarded **row)
{
	struct forwarded *f = KVGPU_REMOTE_CLASS(id) == class ? row_of(s, id) : NULL;
	CUstream there;
	CUresult r;

	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!s->current || parent_of(s, id) != s->current)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!stream_find(s, stream, &there) || (there && parent_of(s, stream) != s->current))
		return CUDA_ERROR_INVALID_VALUE;
	stream = there ? stream : 0;
	if (f->stream != stream) {
		r = forward_status(s, class, set_stream(s, f, there));
		if (r)
			return r;
		f->stream = stream;
	}
	*row = f;
	return CUDA_SUCCESS;
}

CUresult forward_mode(struct server *s, struct forwarded *f, bool on_device)
{
	CUresult r;

	if (f->on_device == on_device)
		return CUDA_SUCCESS;
	r = forward_status(
		s, CLASS_BLAS,
		s->forwards->cublasSetPointerMode_v2(f->what, on_device ? BLAS_POINTER_MODE_DEVICE :
									  BLAS_POINTER_MODE_HOST));
	if (!r)
		f->on_device = on_device;
	return r;
}

bool forward_device(struct server *s, uint64_t ptr)
{
	const CUpointer_attribute memory_type = 2;
	uint64_t type = 0;	/* a later library may write more than 4 bytes */

	return !ptr || (!CALL(s, cuPointerGetAttribute, &type, memory_type, ptr) && type);
}

const void *forward_scalar(const void *field, uint32_t flags)
{
	uint64_t address;

	if (!(flags & FORWARD_ON_DEVICE))
		return field;
	memcpy(&address, field, sizeof(address));
	return (const void *)(uintptr_t)address;
}

static struct forwarded *row_take(struct server *s, uint64_t takes)
{
	unsigned int i;

	for (i = 0; i < FORWARDS_MAX; i++)
		if (!s->rows[i].id)
			return quota_take(s, takes) ? &s->rows[i] : NULL;
	return NULL;
}

static uint64_t row_begin(struct server *s, struct forwarded *f, unsigned int class, void *what,
			  uint64_t takes)
{
	uint64_t id = handle_give(s, class, what, s->current);
	struct entry *e = handle_entry(s, id);

	if (!e) {
		quota_give(s, takes);
		return 0;
	}
	e->charged = takes;
	*f = (struct forwarded){ .id = id, .what = what };
	return id;
}

static int end_in_library(struct server *s, struct forwarded *f)
{
	return KVGPU_REMOTE_CLASS(f->id) == CLASS_BLAS ? s->forwards->cublasDestroy_v2(f->what) :
							 s->forwards->curandDestroyGenerator(f->what);
}

void forward_forget(struct server *s, uint64_t id)
{
	struct forwarded *f = row_of(s, id);

	if (f)
		*f = (struct forwarded){ 0 };
}

void forward_leave_stream(struct server *s, uint64_t id)
{
	uint64_t current = s->current;
	unsigned int i;

	for (i = 0; id && i < FORWARDS_MAX; i++) {
		struct forwarded *f = &s->rows[i];

		if (!f->id || f->stream != id)
			continue;
		if (!enter_context(s, parent_of(s, f->id)))
			set_stream(s, f, NULL);
		f->stream = 0;
	}
	if (s->current != current)
		enter_context(s, current);
}

void forward_leave_context(struct server *s, uint64_t id)
{
	uint64_t current = s->current;
	unsigned int i;

	for (i = 0; id && i < FORWARDS_MAX; i++) {
		struct forwarded *f = &s->rows[i];

		if (!f->id || parent_of(s, f->id) != id)
			continue;
		if (!enter_context(s, id))
			end_in_library(s, f);
		handle_drop(s, f->id);
	}
	if (s->current != current)
		enter_context(s, current);
}

static CUresult may_create(struct server *s, const struct kvgpu_remote_cursor *in,
			   unsigned int class, uint64_t takes, struct forwarded **f)
{
	if (in->left)
		return CUDA_ERROR_INVALID_VALUE;
	if (!s->current)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!have(s, class))
		return CUDA_ERROR_NOT_SUPPORTED;
	*f = row_take(s, takes);
	return *f ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult frame_blas_create(struct server *s, struct kvgpu_remote_cursor *in,
			   struct kvgpu_remote_reply *out)
{
	struct a_blas_create *a = kvgpu_remote_put(out, sizeof(*a));
	cublasHandle_t what = NULL;
	struct forwarded *f;
	CUresult r;

	r = a ? may_create(s, in, CLASS_BLAS, BLAS_TAKES, &f) : CUDA_ERROR_OUT_OF_MEMORY;
	if (r)
		return r;
	r = forward_status(s, CLASS_BLAS, s->forwards->cublasCreate_v2(&what));
	if (r || !what) {
		quota_give(s, BLAS_TAKES);
		return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
	}
	a->blas = row_begin(s, f, CLASS_BLAS, what, BLAS_TAKES);
	if (!a->blas)
		s->forwards->cublasDestroy_v2(what);
	return a->blas ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult frame_rand_create(struct server *s, const struct q_rand_create *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_rand_create *a = kvgpu_remote_put(out, sizeof(*a));
	curandGenerator_t what = NULL;
	struct forwarded *f;
	CUresult r;

	r = a ? may_create(s, in, CLASS_RAND, RAND_TAKES, &f) : CUDA_ERROR_OUT_OF_MEMORY;
	if (r)
		return r;
	r = forward_status(s, CLASS_RAND, s->forwards->curandCreateGenerator(&what, q->type));
	if (r || !what) {
		quota_give(s, RAND_TAKES);
		return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
	}
	a->rand = row_begin(s, f, CLASS_RAND, what, RAND_TAKES);
	if (!a->rand)
		s->forwards->curandDestroyGenerator(what);
	return a->rand ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* destroy a handle in its own context, whatever the current one is; its stream may have ended */
static CUresult destroy(struct server *s, unsigned int class, uint64_t id)
{
	struct forwarded *f = KVGPU_REMOTE_CLASS(id) == class ? row_of(s, id) : NULL;
	uint64_t current = s->current;
	CUresult r;

	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	r = enter_context(s, parent_of(s, id));
	if (!r) {
		/* a library that returns an error may have freed the handle all the same */
		r = forward_status(s, class, end_in_library(s, f));
		handle_drop(s, id);
	}
	if (s->current != current)
		enter_context(s, current);
	return r;
}

CUresult frame_blas_destroy(struct server *s, const struct q_blas_destroy *q,
			    struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	return in->left ? CUDA_ERROR_INVALID_VALUE : destroy(s, CLASS_BLAS, q->blas);
}

CUresult frame_rand_destroy(struct server *s, const struct q_rand_destroy *q,
			    struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	return in->left ? CUDA_ERROR_INVALID_VALUE : destroy(s, CLASS_RAND, q->rand);
}

CUresult frame_rand_version(struct server *s, struct kvgpu_remote_cursor *in,
			    struct kvgpu_remote_reply *out)
{
	struct a_rand_version *a = kvgpu_remote_put(out, sizeof(*a));
	int version = 0;
	CUresult r;

	if (!a || in->left)
		return CUDA_ERROR_INVALID_VALUE;
	if (!have(s, CLASS_RAND) || !s->forwards->curandGetVersion)
		return CUDA_ERROR_NOT_SUPPORTED;
	r = forward_status(s, CLASS_RAND, s->forwards->curandGetVersion(&version));
	a->version = version;
	return r;
}

/* ------------------------------------------------------------------ scalars that come back */

/*
 * A scalar for the program's memory: the GPU writes it into memory of the server's own
 * (small_take()), and the answer follows the stream's work. Without such memory the frame is put
 * aside until the stream is idle; then the library waits for the call's own work.
 */
CUresult forward_result(struct server *s, struct forwarded *f, uint32_t flags, uint64_t address,
			size_t bytes, struct kvgpu_remote_reply *out, struct forward_result *to)
{
	CUdeviceptr device;
	CUstream stream;
	CUresult r;

	*to = (struct forward_result){ .bytes = bytes,
				       .here = kvgpu_remote_put(out, sizeof(uint64_t)) };
	if (!to->here)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (flags & FORWARD_ON_DEVICE) {
		to->at = (void *)(uintptr_t)address;
		return forward_device(s, address) ? forward_mode(s, f, true) :
						    CUDA_ERROR_INVALID_VALUE;
	}
	if (!stream_find(s, f->stream, &stream))
		return CUDA_ERROR_INVALID_HANDLE;
	r = may_copy(s, stream);
	if (r)
		return r;
	to->small = small_take(s);
	if (to->small && CALL(s, cuMemHostGetDevicePointer_v2, &device, to->small, 0)) {
		small_put(s, to->small);
		to->small = NULL;
	}
	if (to->small) {
		to->at = (void *)(uintptr_t)device;
		r = forward_mode(s, f, true);
		if (r)
			small_put(s, to->small);
		return r;
	}
	if (held_by_stream(s, stream))
		return CUDA_SUCCESS;
	to->at = to->here;
	return forward_mode(s, f, false);
}

CUresult forward_answer(struct server *s, struct forwarded *f, struct forward_result *to,
			CUresult r)
{
	CUstream stream;

	if (!to->small)
		return r;
	if (!r && !stream_find(s, f->stream, &stream))
		r = CUDA_ERROR_INVALID_HANDLE;
	if (!r && answer_behind(s, stream, to->small, to->bytes, 0))
		return CUDA_SUCCESS;
	if (!r)
		r = wait_for_stream(s, stream);
	if (!r)
		memcpy(to->here, to->small, to->bytes);
	small_put(s, to->small);
	return r;
}
