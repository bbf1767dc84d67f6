// SPDX-License-Identifier: MIT
/*
 * cuGetProcAddress(). It is also part of remote/client's libcuda.so.1, so it uses nothing of
 * driver.h.
 */
#undef KVGPU_INSIDE /* entries are what programs call */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "api.h"

#define ADDRESS_FLAGS \
	(CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)

enum { PER_THREAD_SINCE = 7000 };

/* made of api.def */
static const struct {
	const char *name;
	int since;
	void *symbol, *per_thread; /* the same, where no form of the name is per thread */
} entries[] = {
#define ENTRY(name, since, symbol, per_thread) { #name, since, (void *)symbol, (void *)per_thread },
#include <entries.inc>
};

/* The last form of @symbol up to @version. Where that is refused, no older one takes its place. */
static CUdriverProcAddressQueryResult find(const char *symbol, int version, bool per_thread,
					   void **pfn)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	int best = 0;
	unsigned int i;

	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		void *at = per_thread ? entries[i].per_thread : entries[i].symbol;
		int since = entries[i].since;

		if (strcmp(entries[i].name, symbol))
			continue;
		if (status)
			status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
		if (at != entries[i].symbol && since < PER_THREAD_SINCE)
			since = PER_THREAD_SINCE;
		if (!at || since > version || since < best)
			continue;
		status = CU_GET_PROC_ADDRESS_SUCCESS;
		best = since;
		*pfn = at;
	}
	return status;
}

/* A runtime of a later CUDA asks nothing else then, and blames the driver. Says why, once. */
static void say_too_new(int version, int driver)
{
	static bool told;

	if (version / 1000 > driver / 1000 && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"libcuda: this program or a library of it is of CUDA %d, and the driver here of CUDA %d.%d: the "
			"CUDA runtime gives error 35 for all calls (CUDA driver version is insufficient). Use nvcc and "
			"libraries of CUDA %d\n",
			version / 1000, driver / 1000, driver % 1000 / 10, driver / 1000);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	CUdriverProcAddressQueryResult found;
	int driver;

	if (!symbol || !pfn || flags & ~(cuuint64_t)ADDRESS_FLAGS || flags == ADDRESS_FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	if (cuDriverGetVersion(&driver))
		return CUDA_ERROR_INVALID_VALUE;
	if (version > driver) {
		say_too_new(version, driver);
		return CUDA_ERROR_INVALID_VALUE;
	}
	*pfn = NULL;
	found = find(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, pfn);
	if (status)
		*status = found;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	CUresult r = cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);

	/* runtimes of CUDA 12 and later begin with an empty name, which is no error */
	return !r && !*pfn && *symbol ? CUDA_ERROR_NOT_FOUND : r;
}
