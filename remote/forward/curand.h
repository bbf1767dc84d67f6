/* SPDX-License-Identifier: MIT */
/* Internal header of the client's libcurand.so.10. */
#ifndef KVGPU_REMOTE_FORWARD_CURAND_H
#define KVGPU_REMOTE_FORWARD_CURAND_H

#include <remote/forward/forward.h>

#include "forwards.h" /* made by remote/api.py, with ops.h */
#include "ops.h"

/* as blas_enter() and blas_send() in cublas.h */
curandStatus_t rand_enter(curandGenerator_t generator, uint64_t *id, uint64_t *stream,
			  uint32_t *flags);
curandStatus_t rand_send(uint16_t op, const void *q, size_t n, bool fine);
/* Whether @generator is pseudo-random, not a quasi-random sequence. Call as rand_send(). */
bool pseudo(curandGenerator_t generator);

#endif
