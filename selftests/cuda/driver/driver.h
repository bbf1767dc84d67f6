/* SPDX-License-Identifier: GPL-2.0-only */
/* kvgpu-cuda-driver: the driver API on a GPU. The library's is cuda/kepler/driver/driver.h. */
#ifndef KVGPU_SELFTESTS_CUDA_DRIVER_H
#define KVGPU_SELFTESTS_CUDA_DRIVER_H

#include <cuda/api/api.h>

#include <stdbool.h>

#include "tap.h" /* selftests/system/client/tap.h */

/* "": CUDA_SUCCESS */
const char *error_name(CUresult r);
/* ends the program on an error */
void must(CUresult r, const char *what);
#define MUST(call) must(call, #call)
CUfunction kernel(const char *name);
extern CUmodule module;
void *fresh(size_t bytes);
CUdeviceptr device_buffer(size_t bytes);
bool maps_host(void); /* whether kernels see pinned memory */

void noise(uint8_t *at, size_t n, uint32_t seed);
/* array.c */
CUarray new_array(size_t width, size_t height, size_t depth, CUarray_format format,
		  unsigned int channels, unsigned int flags);
CUresult array_copy(CUarray a, void *host, size_t row, size_t height, size_t depth, bool to_array);

void test_memory(void);
void test_calls(const char *cubin);
void test_array(void);
void test_texture(void);
void test_surface(void);
void test_jit(void);
void test_syscall(void);
void test_assert(const char *cubin);
void test_launch(void);
void test_library(const char *cubin);
void test_checkpoint(const char *cubin);
void test_stream(void);
void test_host_functions(void);
void test_graph(void);
void test_cancel(void);
void test_fault(const char *cubin);

#endif
