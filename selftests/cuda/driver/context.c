// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the subtests share: the loaded module, errors that end the program (exit code 2), memory,
 * pseudo-random bytes. For the main thread. main() makes the context and loads the module; fault.c
 * destroys that context, and loads the module into another one. The caller frees the memory:
 * fresh() by free(), device_buffer() by cuMemFree_v2(). Device 0 only.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>

CUmodule module;

const char *error_name(CUresult r)
{
	const char *name = NULL;

	if (!r)
		return "";
	return cuGetErrorName(r, &name) ? "unknown number" : name;
}

void must(CUresult r, const char *what)
{
	if (!r)
		return;
	printf("Bail out! %s: %s\n", what, error_name(r));
	exit(2);
}

CUfunction kernel(const char *name)
{
	CUfunction f;

	must(cuModuleGetFunction(&f, module, name), name);
	return f;
}

void *fresh(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p)
		must(CUDA_ERROR_OUT_OF_MEMORY, "malloc");
	return p;
}

CUdeviceptr device_buffer(size_t bytes)
{
	CUdeviceptr p;

	MUST(cuMemAlloc_v2(&p, bytes));
	return p;
}

bool maps_host(void)
{
	enum { CAN_MAP_HOST_MEMORY = 19 };
	int can = 0;

	MUST(cuDeviceGetAttribute(&can, CAN_MAP_HOST_MEMORY, 0));
	return can;
}

void noise(uint8_t *at, size_t n, uint32_t seed)
{
	while (n--)
		*at++ = (seed = seed * 1664525 + 1013904223) >> 24;
}
