// SPDX-License-Identifier: MIT
/*
 * A cuBLAS and a cuRAND that do nothing: the functions that the server calls by hand; see fake.h.
 */
#include "fake.h"

#include <assert.h>
#include <stdlib.h>

void fake_forward(const void *handle)
{
	fake_handle(CLASS_STREAM, ((const struct fake *)handle)->in);
}

static cublasStatus_t create(cublasHandle_t *handle)
{
	if (fake_result())
		return BLAS_ALLOC_FAILED;
	*handle = fake_new(CLASS_BLAS);
	return BLAS_SUCCESS;
}

static cublasStatus_t destroy(cublasHandle_t handle)
{
	fake_handle(CLASS_BLAS, handle);
	/* any later use of the handle is an error */
	((struct fake *)handle)->class = CLASS_NONE;
	fake_calls++;
	return BLAS_SUCCESS;
}

static cublasStatus_t set_stream(cublasHandle_t handle, CUstream stream)
{
	fake_handle(CLASS_BLAS, handle);
	fake_handle(CLASS_STREAM, stream);
	((struct fake *)handle)->in = (struct fake *)stream;
	return BLAS_SUCCESS;
}

static cublasStatus_t set_mode(cublasHandle_t handle, cublasPointerMode_t mode)
{
	fake_handle(CLASS_BLAS, handle);
	assert(mode == BLAS_POINTER_MODE_HOST || mode == BLAS_POINTER_MODE_DEVICE);
	((struct fake *)handle)->count = mode;
	return BLAS_SUCCESS;
}

static curandStatus_t create_generator(curandGenerator_t *generator, curandRngType_t type)
{
	if (fake_result())
		return RAND_TYPE_ERROR;
	*generator = fake_new(CLASS_RAND);
	return RAND_SUCCESS;
}

static curandStatus_t destroy_generator(curandGenerator_t generator)
{
	fake_handle(CLASS_RAND, generator);
	((struct fake *)generator)->class = CLASS_NONE;
	fake_calls++;
	return RAND_SUCCESS;
}

static curandStatus_t set_generator_stream(curandGenerator_t generator, CUstream stream)
{
	fake_handle(CLASS_RAND, generator);
	fake_handle(CLASS_STREAM, stream);
	((struct fake *)generator)->in = (struct fake *)stream;
	return RAND_SUCCESS;
}

static curandStatus_t version(int *version)
{
	*version = 1;
	return fake_result() ? RAND_INTERNAL_ERROR : RAND_SUCCESS;
}

void fake_forward_library(struct forwards *l)
{
	fake_fill_forwards(l);
	l->cublasCreate_v2 = create;
	l->cublasDestroy_v2 = destroy;
	l->cublasSetStream_v2 = set_stream;
	l->cublasSetPointerMode_v2 = set_mode;
	l->curandCreateGenerator = create_generator;
	l->curandDestroyGenerator = destroy_generator;
	l->curandSetStream = set_generator_stream;
	l->curandGetVersion = version;
}

/* Makes both libraries, as if the server had loaded them. */
void fake_forwards(struct server *s)
{
	struct forwards *l = calloc(1, sizeof(*l));

	assert(l);
	fake_forward_library(l);
	s->forward.library = l;
	s->forward.blas_is = s->forward.rand_is = FORWARD_THERE;
}
