// SPDX-License-Identifier: GPL-2.0-only
/* Without managed memory the device says so, and asking for it is an error that says so. */
#include "../programs/check.h"

int main(void)
{
	int *p = NULL, has = -1;
	cudaError_t e;

	CHECK(cudaDeviceGetAttribute(&has, cudaDevAttrManagedMemory, 0));
	e = cudaMallocManaged(&p, 4096);
	return verdict(has ? e == cudaSuccess && p : e == cudaErrorNotSupported && !p, "attribute %d, %s", has, cudaGetErrorName(e));
}
