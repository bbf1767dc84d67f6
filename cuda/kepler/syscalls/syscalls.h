/* SPDX-License-Identifier: MIT */
/* Functions that nvcc's code calls and expects the driver to have. */
#ifndef KVGPU_CUDA_SYSCALLS_H
#define KVGPU_CUDA_SYSCALLS_H

#include <stdint.h>

/* in the order of syscalls.inc; MISSING stands for what is not here */
enum syscall_id {
	SYSCALL_VPRINTF,
	SYSCALL_ASSERTFAIL,
	SYSCALL_MALLOC,
	SYSCALL_FREE,
	SYSCALL_GET_DEVICE,
	SYSCALL_GET_DEVICE_COUNT,
	SYSCALL_GET_ATTRIBUTE,
	SYSCALL_SET_LAST_ERROR,
	SYSCALL_MISSING,
	NR_SYSCALLS
};

struct syscall {
	const char *name;
	const uint32_t *code; /* reloc.c puts it at a multiple of 256 */
	uint32_t bytes;
	/* registers in all; bytes of local memory and of the call stack beyond the caller's */
	uint32_t regs, frame, crs;
};

extern const struct syscall syscalls[NR_SYSCALLS];
int syscall_find(const char *name); /* negative: there is none */

#endif
