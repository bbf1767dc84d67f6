// SPDX-License-Identifier: MIT
/* Loading the libcuda.so.1 that does the work: its entry points by name. */
#include <dlfcn.h>

#include "server.h"

bool library_load(struct library *l, const char *path, const char **why)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		*why = dlerror();
		return false;
	}
#define FIND(name) l->name = (typeof(l->name))(uintptr_t)dlsym(library, #name);
	LIBRARY_NAMES(FIND)
	l->goes_on = dlsym(library, "kvgpu_streams_go_on");
	*why = "it has no cuInit() and cuCtxCreate_v2(): no libcuda.so.1";
	return l->cuInit && l->cuCtxCreate_v2;
}
