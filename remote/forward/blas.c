// SPDX-License-Identifier: MIT
/*
 * libcublas.so.11 of a program whose GPU is elsewhere: handles, and calls that are answered here.
 * The other calls are made of lines of remote/frames.def.
 */
#include <remote/forward/cublas.h>

/* of the thread's present call: whether its handle is of the current context */
static __thread bool own;
static __thread const struct forward_calls *calls;

static cublasStatus_t status_of(CUresult r)
{
	if ((unsigned int)r >= KVGPU_REMOTE_STATUS)
		return r - KVGPU_REMOTE_STATUS;
	switch (r) {
	case CUDA_SUCCESS:
		return BLAS_SUCCESS;
	case CUDA_ERROR_INVALID_VALUE:
		return BLAS_INVALID_VALUE;
	case CUDA_ERROR_OUT_OF_MEMORY:
		return BLAS_ALLOC_FAILED;
	case CUDA_ERROR_NOT_SUPPORTED:
		return BLAS_NOT_SUPPORTED;
	case CUDA_ERROR_NOT_INITIALIZED:
	case CUDA_ERROR_INVALID_CONTEXT:
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
	case CUDA_ERROR_INVALID_HANDLE:
	case CUDA_ERROR_NO_DEVICE:
	case CUDA_ERROR_SYSTEM_NOT_READY:
		return BLAS_NOT_INITIALIZED;
	default:
		return BLAS_EXECUTION_FAILED;
	}
}

static cublasStatus_t blas_begin(void)
{
	CUresult r;

	calls = forward_begin("libcublas", &r);
	return calls ? BLAS_SUCCESS : status_of(r);
}

static struct forward_state *state_of(cublasHandle_t handle)
{
	return blas_begin() ? NULL : calls->state(CLASS_BLAS, handle);
}

cublasStatus_t blas_enter(cublasHandle_t handle, uint64_t *id, uint64_t *stream, uint32_t *flags)
{
	const struct forward_state *state = state_of(handle);

	if (!state)
		return BLAS_NOT_INITIALIZED;
	*flags = state->mode == BLAS_POINTER_MODE_DEVICE ? FORWARD_ON_DEVICE : 0;
	return status_of(calls->find(CLASS_BLAS, handle, id, stream, &own));
}

cublasStatus_t blas_send(uint16_t op, const void *q, size_t n, bool fine)
{
	return status_of(fine && own ? calls->async(op, q, n) : calls->sync(op, q, n, NULL, 0));
}

cublasStatus_t blas_sync(uint16_t op, const void *q, size_t n, void *answer, size_t bytes)
{
	return status_of(calls->sync(op, q, n, answer, bytes));
}

/* ------------------------------------------------------------------ arguments */

static bool is_operation(int trans)
{
	return trans >= 0 && trans <= 2;
}

static bool is_matrix(int rows, int columns, int lead)
{
	return rows >= 0 && columns >= 0 && lead >= 1 && lead >= rows;
}

bool gemv_fine(const struct gemv *g)
{
	return is_operation(g->trans) && is_matrix(g->m, g->n, g->lda) && g->incx && g->incy;
}

bool gemm_fine(const struct gemm *g)
{
	return is_operation(g->transa) && is_operation(g->transb) &&
	       is_matrix(g->m, g->n, g->ldc) &&
	       (g->transa ? is_matrix(g->k, g->m, g->lda) : is_matrix(g->m, g->k, g->lda)) &&
	       (g->transb ? is_matrix(g->n, g->k, g->ldb) : is_matrix(g->k, g->n, g->ldb));
}

/* ------------------------------------------------------------------ handles */

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
	struct a_blas_create a;
	cublasStatus_t status;
	CUresult r;

	if (!handle)
		return BLAS_INVALID_VALUE;
	*handle = NULL;
	status = blas_begin();
	if (status)
		return status;
	r = calls->sync(OP_blas_create, NULL, 0, &a, sizeof(a));
	if (r == CUDA_ERROR_NOT_SUPPORTED)
		calls->say("the server has no libcublas; its log says what it looked for");
	if (r)
		return r == CUDA_ERROR_NOT_SUPPORTED ? BLAS_NOT_INITIALIZED : status_of(r);
	*handle = calls->made(CLASS_BLAS, a.blas);
	return *handle ? BLAS_SUCCESS : BLAS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
	struct q_blas_destroy q;
	uint64_t stream;
	uint32_t flags;
	cublasStatus_t status = blas_enter(handle, &q.blas, &stream, &flags);

	/* a handle whose stream is gone can be destroyed, too */
	if (status && status != BLAS_INVALID_VALUE)
		return status;
	status = status_of(calls->sync(OP_blas_destroy, &q, sizeof(q), NULL, 0));
	if (!status)
		calls->ended(handle, q.blas);
	return status;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream)
{
	struct forward_state *state = state_of(handle);
	CUstream before;
	uint64_t ids[2];
	CUresult r;

	if (!state)
		return BLAS_NOT_INITIALIZED;
	before = state->stream;
	state->stream = stream;
	r = calls->find(CLASS_BLAS, handle, &ids[0], &ids[1], &own);
	if (r)
		state->stream = before;
	return status_of(r);
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, CUstream *stream)
{
	const struct forward_state *state = state_of(handle);

	if (!state)
		return BLAS_NOT_INITIALIZED;
	if (!stream)
		return BLAS_INVALID_VALUE;
	*stream = state->stream;
	return BLAS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
	struct forward_state *state = state_of(handle);

	if (!state)
		return BLAS_NOT_INITIALIZED;
	if (mode != BLAS_POINTER_MODE_HOST && mode != BLAS_POINTER_MODE_DEVICE)
		return BLAS_INVALID_VALUE;
	state->mode = mode;
	return BLAS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode)
{
	const struct forward_state *state = state_of(handle);

	if (!state)
		return BLAS_NOT_INITIALIZED;
	if (!mode)
		return BLAS_INVALID_VALUE;
	*mode = state->mode;
	return BLAS_SUCCESS;
}

/* ------------------------------------------------------------------ names */

static const struct {
	cublasStatus_t status;
	const char *name, *text;
} names[] = {
	{ BLAS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success" },
	{ BLAS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED",
	  "the library was not initialized" },
	{ BLAS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed" },
	{ BLAS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was passed" },
	{ BLAS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH", "the device lacks a feature" },
	{ BLAS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory failed" },
	{ BLAS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed" },
	{ BLAS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed" },
	{ BLAS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the call is not supported" },
	{ BLAS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "a licence is missing" },
};

const char *cublasGetStatusName(cublasStatus_t status)
{
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			return names[i].name;
	return "unknown";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			return names[i].text;
	return "unknown";
}
