// SPDX-License-Identifier: MIT
/*
 * Handles of cuBLAS and cuRAND, from their begin to their end. A library is loaded when the client
 * first needs it.
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
	struct forwards *l = s->forward.library;

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
	struct forwards *l = s->forward.library;

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
	uint8_t *known = class == CLASS_BLAS ? &s->forward.blas_is : &s->forward.rand_is;
	const char *why = "out of memory";

	if (!s->forward.library)
		s->forward.library = calloc(1, sizeof(*s->forward.library));
	if (!*known) {
		*known = s->forward.library && (class == CLASS_BLAS ? load_blas(s, &why) :
								      load_rand(s, &why)) ?
				 FORWARD_THERE :
				 FORWARD_NOT;
		if (*known == FORWARD_NOT && s->options.complain)
			s->options.complain("%s: %s", class == CLASS_BLAS ? "cuBLAS" : "cuRAND",
					    why);
	}
	s->waits.may_print |= *known == FORWARD_THERE;
	return *known == FORWARD_THERE;
}

/* ------------------------------------------------------------------ handles */

static struct forwarded *row_take(struct server *s, uint64_t takes)
{
	unsigned int i;

	for (i = 0; i < FORWARDS_MAX; i++)
		if (!s->forward.rows[i].id)
			return quota_take(s, takes) ? &s->forward.rows[i] : NULL;
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
	return KVGPU_REMOTE_CLASS(f->id) == CLASS_BLAS ?
		       s->forward.library->cublasDestroy_v2(f->what) :
		       s->forward.library->curandDestroyGenerator(f->what);
}

void forward_leave_context(struct server *s, uint64_t id)
{
	uint64_t current = s->current;
	unsigned int i;

	for (i = 0; id && i < FORWARDS_MAX; i++) {
		struct forwarded *f = &s->forward.rows[i];

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
	r = forward_status(s, CLASS_BLAS, s->forward.library->cublasCreate_v2(&what));
	if (r || !what) {
		quota_give(s, BLAS_TAKES);
		return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
	}
	a->blas = row_begin(s, f, CLASS_BLAS, what, BLAS_TAKES);
	if (!a->blas)
		s->forward.library->cublasDestroy_v2(what);
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
	r = forward_status(s, CLASS_RAND,
			   s->forward.library->curandCreateGenerator(&what, q->type));
	if (r || !what) {
		quota_give(s, RAND_TAKES);
		return r ? r : CUDA_ERROR_OUT_OF_MEMORY;
	}
	a->rand = row_begin(s, f, CLASS_RAND, what, RAND_TAKES);
	if (!a->rand)
		s->forward.library->curandDestroyGenerator(what);
	return a->rand ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* destroy a handle in its own context, whatever the current one is; its stream may have ended */
static CUresult destroy_handle(struct server *s, unsigned int class, uint64_t id)
{
	struct forwarded *f = KVGPU_REMOTE_CLASS(id) == class ? forward_row(s, id) : NULL;
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
	return in->left ? CUDA_ERROR_INVALID_VALUE : destroy_handle(s, CLASS_BLAS, q->blas);
}

CUresult frame_rand_destroy(struct server *s, const struct q_rand_destroy *q,
			    struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	return in->left ? CUDA_ERROR_INVALID_VALUE : destroy_handle(s, CLASS_RAND, q->rand);
}

CUresult frame_rand_version(struct server *s, struct kvgpu_remote_cursor *in,
			    struct kvgpu_remote_reply *out)
{
	struct a_rand_version *a = kvgpu_remote_put(out, sizeof(*a));
	int version = 0;
	CUresult r;

	if (!a || in->left)
		return CUDA_ERROR_INVALID_VALUE;
	if (!have(s, CLASS_RAND) || !s->forward.library->curandGetVersion)
		return CUDA_ERROR_NOT_SUPPORTED;
	r = forward_status(s, CLASS_RAND, s->forward.library->curandGetVersion(&version));
	a->version = version;
	return r;
}
