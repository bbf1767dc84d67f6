/* SPDX-License-Identifier: GPL-2.0-only */
/* What other.cu offers to main.cu. */
#ifndef KVGPU_SELFTESTS_CUDA_OTHER_H
#define KVGPU_SELFTESTS_CUDA_OTHER_H

extern __constant__ int offsets[4];
extern __device__ int shared_counter;
__device__ int polynomial(int x);
__device__ int chosen(int x);
void bump(int by); /* on the CPU: launches a kernel of the other file */

#endif
