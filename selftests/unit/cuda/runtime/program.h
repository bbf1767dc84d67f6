/* SPDX-License-Identifier: MIT */
/*
 * What nvcc's code does in a program: fat binaries and what is in them, registered; here the cubin
 * of selftests/cuda/driver.
 */
#ifndef KVGPU_TESTS_CUDART_PROGRAM_H
#define KVGPU_TESTS_CUDART_PROGRAM_H

#include <cuda/runtime/api.h>

#define OK(call) assert_int_equal(call, cudaSuccess)
#define FAILS(call, error) assert_int_equal(call, error)

/* addresses that stand for kernels and variables: only what is registered counts */
extern char add_stub, store_stub, spin_stub, table_shadow, counter_shadow, factors_shadow,
	missing_stub;

struct wrapper {
	uint32_t magic, version;
	const void *data, *prelinked;
};

struct wrapper wrap(const void *data);		/* what .nvFatBinSegment has */
/* to be freed; ends the test program if it is not there */
void *file_bytes(const char *name);
void **register_program(void);			/* all of the above names, in one fat binary */
void unregister_program(void);

#endif
