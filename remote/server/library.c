// SPDX-License-Identifier: MIT
/* Loading the libcuda.so.1 that does the work: its entry points by name. */
#include <dlfcn.h>
#include <string.h>

#include "server.h"

/* what dlerror() says, without @path if it begins with that */
static const char *reason_of(const char *path)
{
	const size_t n = strlen(path);
	const char *why = dlerror();

	return !strncmp(why, path, n) && !strncmp(why + n, ": ", 2) ? why + n + 2 : why;
}

bool library_load(struct library *l, const char *path, const char **why)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		*why = reason_of(path);
		return false;
	}
#define FIND(name) l->name = (typeof(l->name))(uintptr_t)dlsym(library, #name);
	LIBRARY_NAMES(FIND)
	l->goes_on = dlsym(library, "kvgpu_streams_go_on");
	*why = "it has no cuInit() and cuCtxCreate_v2(): no libcuda.so.1";
	return l->cuInit && l->cuCtxCreate_v2;
}
