// SPDX-License-Identifier: MIT
/* How libcublas.so.11 and libcurand.so.10 find the client's libcuda.so.1, and a context. */
#include <dlfcn.h>
#include <stdio.h>

#include <remote/forward/forward.h>

#include "ops.h"

static const struct forward_calls *find_calls(const char *library)
{
	static const struct forward_calls *calls; /* atomic */
	static bool told;
	const struct forward_calls *found = __atomic_load_n(&calls, __ATOMIC_RELAXED);

	if (found)
		return found;
	found = kvgpu_remote_forwards ? kvgpu_remote_forwards(KVGPU_REMOTE_VERSION) : NULL;
	if (found)
		__atomic_store_n(&calls, found, __ATOMIC_RELAXED);
	else if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		fprintf(stderr,
			"%s (remote): the libcuda.so.1 of this program is not the remote one of this version\n",
			library);
	return found;
}

const struct forward_calls *forward_begin(const char *library, CUresult *r)
{
	const struct forward_calls *calls = find_calls(library);
	int (*make_context)(void *);

	if (!calls) {
		*r = CUDA_ERROR_NOT_INITIALIZED;
		return NULL;
	}
	*r = calls->enter();
	if (*r == CUDA_ERROR_INVALID_CONTEXT || *r == CUDA_ERROR_NOT_INITIALIZED) {
		make_context = (int (*)(void *))(uintptr_t)dlsym(RTLD_DEFAULT, "cudaFree");
		if (make_context && !make_context(NULL))
			*r = calls->enter();
	}
	return *r ? NULL : calls;
}
