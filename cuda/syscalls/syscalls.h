/* SPDX-License-Identifier: MIT */
/* Functions that nvcc's code calls and expects the driver to have, as machine code for sm_35. */
#ifndef KVGPU_CUDA_SYSCALLS_H
#define KVGPU_CUDA_SYSCALLS_H

#include <stdint.h>

enum syscall_id { SYSCALL_VPRINTF, SYSCALL_ASSERTFAIL, SYSCALL_MALLOC, SYSCALL_FREE, NR_SYSCALLS };

struct syscall {
	const char *name;
	const uint32_t *code;		/* to lie at a multiple of 256 */
	uint32_t bytes;
	/* what a caller has to have: in all, and beyond its own bytes of each kind of stack */
	uint32_t regs, frame, crs;
};

extern const struct syscall syscalls[NR_SYSCALLS];
int syscall_find(const char *name);	/* negative: there is none */

#endif
