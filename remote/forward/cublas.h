/* SPDX-License-Identifier: MIT */
/* Internal header of the client's libcublas.so.11. */
#ifndef KVGPU_REMOTE_FORWARD_CUBLAS_H
#define KVGPU_REMOTE_FORWARD_CUBLAS_H

#include <remote/forward/forward.h>

#include "forwards.h" /* made by remote/api.py, with ops.h */
#include "ops.h"

/*
 * blas_enter(): begin a call. blas_send(), blas_sync(), later on the same thread: send its frame,
 * without or with an answer's payload. @fine: the client knows the arguments to be right, so
 * blas_send() may queue the frame.
 */
cublasStatus_t blas_enter(cublasHandle_t handle, uint64_t *id, uint64_t *stream, uint32_t *flags);
cublasStatus_t blas_send(uint16_t op, const void *q, size_t n, bool fine);
cublasStatus_t blas_sync(uint16_t op, const void *q, size_t n, void *answer, size_t bytes);

struct gemv {
	int trans, m, n, lda, incx, incy;
};
struct gemm {
	int transa, transb, m, n, k, lda, ldb, ldc;
};
bool gemv_fine(const struct gemv *g);
bool gemm_fine(const struct gemm *g);

#endif
