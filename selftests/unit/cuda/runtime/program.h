/* SPDX-License-Identifier: MIT */
/*
 * Registers fat binaries and their kernels and variables, as the code does that nvcc puts into a
 * program. The binary here is the cubin of selftests/cuda/driver.
 */
#ifndef KVGPU_TESTS_CUDART_PROGRAM_H
#define KVGPU_TESTS_CUDART_PROGRAM_H

#include <cuda/runtime/api.h>

#define OK(call) assert_int_equal(call, cudaSuccess)
#define FAILS(call, error) assert_int_equal(call, error)

/*
 * Addresses that stand for kernels and variables: only what is registered for them gives them a
 * meaning.
 */
extern char add_stub, store_stub, spin_stub, table_shadow, counter_shadow, factors_shadow,
	missing_stub;

struct wrapper {
	uint32_t magic, version;
	const void *data, *prelinked;
};

/* makes what nvcc puts into section .nvFatBinSegment */
struct wrapper wrap(const void *data);
/* The caller frees the bytes. Ends the test program if there is no such file. */
void *file_bytes(const char *name);
/* Registers all of the above, in one fat binary. The binary has no kernel for missing_stub. */
void **register_program(void);
void unregister_program(void);

#endif
