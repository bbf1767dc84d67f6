// SPDX-License-Identifier: MIT
/* Errors: names, texts, and the last one of each thread. */
#include "runtime.h"

static const struct {
	cudaError_t number;
	const char *name, *text;
} errors[] = {
#define ERROR(name, number, text) { name, #name, text },
#include "errors.inc"
};

static __thread cudaError_t last;

static int find(cudaError_t error)
{
	unsigned int i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].number == error)
			return i;
	return -1;
}

const char *cudaGetErrorName(cudaError_t error)
{
	int i = find(error);

	return i < 0 ? "unrecognized error code" : errors[i].name;
}

const char *cudaGetErrorString(cudaError_t error)
{
	int i = find(error);

	return i < 0 ? "unrecognized error code" : errors[i].text;
}

cudaError_t from_driver(CUresult r)
{
	return find((cudaError_t)r) < 0 ? cudaErrorUnknown : (cudaError_t)r;
}

/* cudaErrorNotReady is not remembered (CUDA C programming guide, "Error Checking"). */
cudaError_t set_last_error(cudaError_t e)
{
	if (e && e != cudaErrorNotReady)
		last = e;
	return e;
}

void forget_errors(void)
{
	last = cudaSuccess;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last;
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t e = last;

	last = cudaSuccess;
	return e;
}
