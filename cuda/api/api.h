/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver API: our own declarations of its types, and the prototypes, which entries.py
 * makes of api.def. selftests/cuda/abi.sh compares them with the toolkit's cuda.h: it includes
 * that first, and takes only the prototypes from here.
 *
 * With KVGPU_INSIDE, by which the libraries are compiled, an entry point has another symbol, which
 * is not exported, unless it is `direct` in api.def. outside.c has what programs call.
 */
#ifndef KVGPU_CUDA_API_H
#define KVGPU_CUDA_API_H

#ifndef __cuda_cuda_h__
#include "types.h"
#endif

#define API __attribute__((visibility("default")))
#ifdef KVGPU_INSIDE
#define INSIDE(name)	  __asm__("inside_" #name)
#define ENTRY_POINT(name) INSIDE(name)
#else
#define INSIDE(name)
#define ENTRY_POINT(name) API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include <prototypes.h>

#ifdef __cplusplus
}
#endif

#endif
