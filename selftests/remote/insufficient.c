// SPDX-License-Identifier: MIT
/* A program on libcudart.so.12; exit code: its error. */
#include <stddef.h>
#include <stdio.h>

int cudaMalloc(void **memory, size_t bytes);
int cudaGetDeviceCount(int *n);
const char *cudaGetErrorString(int error);

int main(void)
{
	void *p;
	int n, error = cudaGetDeviceCount(&n);

	if (!error)
		error = cudaMalloc(&p, 100);
	puts(cudaGetErrorString(error));
	return error == cudaMalloc(&p, 100) ? error : 1;
}
