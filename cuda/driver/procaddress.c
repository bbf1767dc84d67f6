// SPDX-License-Identifier: MIT
/*
 * cuGetProcAddress(). It is also part of remote/client's libcuda.so.1, so it uses nothing of
 * driver.h.
 */
#include <string.h>

#include "api.h"

#define ADDRESS_FLAGS \
	(CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)

#define REFUSED(symbol) extern CUresult symbol(void);
#include "refused.inc"

static const struct {
	const char *name;
	int since;
	void *symbol, *per_thread;
} entries[] = {
#define ENTRY(name, since, symbol, per_thread) { #name, since, (void *)symbol, (void *)per_thread },
#define REFUSE				       ENTRY
#include "entries.inc"
#define ENTRY(name, since, symbol, per_thread) { #name, since, (void *)symbol, (void *)per_thread },
#define REFUSE				       ENTRY
#include "refused.inc"
};

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	int best = -1;
	unsigned int i;

	if (!symbol || !pfn || flags & ~(cuuint64_t)ADDRESS_FLAGS || flags == ADDRESS_FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (!strcmp(entries[i].name, symbol) && entries[i].since <= version &&
		    (best < 0 || entries[i].since > entries[best].since))
			best = i;
	*pfn = NULL;
	if (best < 0)
		return CUDA_ERROR_NOT_FOUND;
	*pfn = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? entries[best].per_thread :
								       entries[best].symbol;
	return CUDA_SUCCESS;
}
