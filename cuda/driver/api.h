/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver API: our own declarations of its types, and the prototypes, which ../entries.py
 * makes of ../api.def. selftests/cuda/abi.sh compares them with the toolkit's cuda.h: it includes
 * that first, and takes only the prototypes from here.
 */
#ifndef KVGPU_CUDA_API_H
#define KVGPU_CUDA_API_H

#ifndef __cuda_cuda_h__
#include "types.h"
#endif

#define API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

#include <prototypes.h>

#ifdef __cplusplus
}
#endif

#endif
