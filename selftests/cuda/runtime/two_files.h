/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel that both files have, and what other_file.cu does. */
#ifndef KVGPU_SELFTESTS_TWO_FILES_H
#define KVGPU_SELFTESTS_TWO_FILES_H

template <typename T> __global__ void scale(T *p, T by, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] *= by;
}

int other_file(float *p, int n);

#endif
