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

static void find_checkpoint_calls(struct checkpoint_calls *c, void *library)
{
	*c = (struct checkpoint_calls){
		.lock = (typeof(c->lock))(uintptr_t)dlsym(library, "cuCheckpointProcessLock"),
		.checkpoint = (typeof(c->checkpoint))(uintptr_t)dlsym(
			library, "cuCheckpointProcessCheckpoint"),
		.restore =
			(typeof(c->restore))(uintptr_t)dlsym(library, "cuCheckpointProcessRestore"),
		.unlock = (typeof(c->unlock))(uintptr_t)dlsym(library, "cuCheckpointProcessUnlock")
	};
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
	find_checkpoint_calls(&l->checkpoint, library);
	*why = "it has no cuInit() and cuCtxCreate_v2(): no libcuda.so.1";
	return l->cuInit && l->cuCtxCreate_v2;
}
