/* SPDX-License-Identifier: MIT */
/*
 * Whether this process is a child of fork() whose parent uses CUDA. Such a child has none of its
 * parent's threads, and any lock may be held in it for ever: each call gives
 * CUDA_ERROR_NOT_INITIALIZED before it takes one. Also remote/'s libcuda.so.1 is linked with it.
 */
#ifndef KVGPU_CUDA_API_FORKED_H
#define KVGPU_CUDA_API_FORKED_H

#include <stdbool.h>

/* Children of this process will be such. */
void forked_expect(void);
bool forked_is_child(void);

#endif
