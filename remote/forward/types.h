/* SPDX-License-Identifier: MIT */
/*
 * Of cuBLAS and cuRAND: the types in the prototypes of forwarded calls, statuses, and the functions
 * that are written by hand. Enumerations are ints.
 */
#ifndef KVGPU_REMOTE_FORWARD_TYPES_H
#define KVGPU_REMOTE_FORWARD_TYPES_H

#include <stddef.h>

#include <cuda/driver/types.h>

typedef struct cublasContext *cublasHandle_t;
typedef struct curandGenerator_st *curandGenerator_t;
typedef int cublasStatus_t, cublasOperation_t, cublasPointerMode_t, cublasMath_t;
typedef int curandStatus_t, curandRngType_t;

/* the statuses of cuBLAS, then those of cuRAND that are used here */
enum {
	BLAS_SUCCESS = 0,
	BLAS_NOT_INITIALIZED = 1,
	BLAS_ALLOC_FAILED = 3,
	BLAS_INVALID_VALUE = 7,
	BLAS_ARCH_MISMATCH = 8,
	BLAS_MAPPING_ERROR = 11,
	BLAS_EXECUTION_FAILED = 13,
	BLAS_INTERNAL_ERROR = 14,
	BLAS_NOT_SUPPORTED = 15,
	BLAS_LICENSE_ERROR = 16,
};
enum {
	RAND_SUCCESS = 0,
	RAND_NOT_INITIALIZED = 101,
	RAND_ALLOCATION_FAILED = 102,
	RAND_TYPE_ERROR = 103,
	RAND_OUT_OF_RANGE = 104,
	RAND_LAUNCH_FAILURE = 201,
	RAND_INITIALIZATION_FAILED = 203,
	RAND_INTERNAL_ERROR = 999,
	RAND_INVALID_VALUE = RAND_OUT_OF_RANGE,
};

enum { BLAS_POINTER_MODE_HOST = 0, BLAS_POINTER_MODE_DEVICE = 1 };
/* types from here on are quasi-random sequences, not pseudo-random generators */
enum { RAND_FIRST_QUASI = 200 };

#pragma GCC visibility push(default)
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, CUstream *stream);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandSetStream(curandGenerator_t generator, CUstream stream);
curandStatus_t curandGetVersion(int *version);
#pragma GCC visibility pop

/* functions of the real libraries that the server calls by hand */
#define CUBLAS_BY_HAND(name)                                                  \
	name(cublasCreate_v2) name(cublasDestroy_v2) name(cublasSetStream_v2) \
		name(cublasSetPointerMode_v2)
#define CURAND_BY_HAND(name)                                                           \
	name(curandCreateGenerator) name(curandDestroyGenerator) name(curandSetStream) \
		name(curandGetVersion)

#endif
