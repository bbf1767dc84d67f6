// SPDX-License-Identifier: MIT
/*
 * A libcuda.so.1 for kvgpu-remoted, on the one with the GPU in the process, that says to be of CUDA
 * 13.0.
 */
#include <cuda/driver/api.h>

CUresult cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}
