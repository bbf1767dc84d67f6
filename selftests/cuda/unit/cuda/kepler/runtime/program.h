/* SPDX-License-Identifier: MIT */
/* Registers fat binaries and what is in them, as nvcc's code does. */
#ifndef KVGPU_TESTS_CUDART_PROGRAM_H
#define KVGPU_TESTS_CUDART_PROGRAM_H

#include <cuda/kepler/runtime/api.h>

#define OK(call)	   assert_int_equal(call, cudaSuccess)
#define FAILS(call, error) assert_int_equal(call, error)

/* Addresses that stand for kernels and variables. */
extern char add_stub, store_stub, spin_stub, table_shadow, counter_shadow, factors_shadow,
	missing_stub;

struct wrapper {
	uint32_t magic, version;
	const void *data, *prelinked;
};

/* makes what nvcc puts into .nvFatBinSegment */
struct wrapper wrap(const void *data);
/* The caller frees the bytes. No such file: ends the program. */
void *file_bytes(const char *name);
/* Registers selftests/cuda/driver/kernels.cubin, which has no kernel for missing_stub. */
void **register_program(void);
void unregister_program(void);

/* Calls of cuModuleLoadDataEx() by this program. Use __atomic. */
extern unsigned int loads;
/* not NULL: no module can be loaded, and this is the log */
extern const char *refusal;
/* what cuDriverGetVersion() gives; 0: the driver's own */
extern int driver_version;

#endif
