/* SPDX-License-Identifier: GPL-2.0-only */
/* kvgpu-cuda-driver: the driver API on a GPU. Each subtest prints its own TAP lines. */
#ifndef KVGPU_SELFTESTS_CUDA_DRIVER_H
#define KVGPU_SELFTESTS_CUDA_DRIVER_H

#include <cuda/driver/api.h>

#include "tap.h"

/* "": CUDA_SUCCESS; for messages */
const char *error_name(CUresult r);
/* ends the program when what must work does not */
void must(CUresult r, const char *what);
#define MUST(call) must(call, #call)
CUfunction kernel(const char *name);
extern CUmodule module;
void *fresh(size_t bytes);	/* malloc that can't fail */
CUdeviceptr device_buffer(size_t bytes);

void test_memory(void);
void test_launch(void);
void test_stream(void);
/* ends the context it is in */
void test_fault(const char *cubin);

#endif
