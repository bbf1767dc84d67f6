// SPDX-License-Identifier: MIT
/*
 * The libcuda.so.1 that answers: a copy in a namespace of its own. Programs ask NVML before they
 * fork(), and use CUDA in the child: they do not expect that this initialises the CUDA of the
 * parent. NVML does not look at CUDA_VISIBLE_DEVICES either.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inside.h"

/* beside this library; else where the linker looks for it */
static void *open_copy(void)
{
	static const char name[] = "libcuda.so.1";
	char path[4096];
	void *copy = NULL;
	const char *slash;
	Dl_info here;

	if (dladdr((void *)(uintptr_t)library_load, &here) &&
	    (slash = strrchr(here.dli_fname, '/')) &&
	    (size_t)snprintf(path, sizeof(path), "%.*s%s", (int)(slash + 1 - here.dli_fname),
			     here.dli_fname, name) < sizeof(path))
		copy = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
	return copy ? copy : dlmopen(LM_ID_NEWLM, name, RTLD_NOW | RTLD_LOCAL);
}

/*
 * The copy has a libc of its own, whose environment is the one with which the program began. Both
 * lists have the same strings and array then, so it gets a new one. False: out of memory.
 */
static bool give_environment(void *copy)
{
	int (*clear)(void) = (int (*)(void))(uintptr_t)dlsym(copy, "clearenv");
	int (*set)(const char *, const char *, int) =
		(int (*)(const char *, const char *, int))(uintptr_t)dlsym(copy, "setenv");
	char **e, *name, *equals;
	bool fine = clear && set && !clear();

	for (e = environ; fine && e && *e; e++) {
		equals = strchr(*e, '=');
		if (!equals || equals == *e || !strncmp(*e, "CUDA_VISIBLE_DEVICES=", 21))
			continue;
		name = strndup(*e, equals - *e);
		fine = name && !set(name, equals + 1, 1);
		free(name);
	}
	return fine;
}

const struct library *library_load(void)
{
	static struct library l;
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{ "cuInit", &l.init },
		{ "cuDriverGetVersion", &l.version },
		{ "cuDeviceGetCount", &l.count },
		{ "cuDeviceGetName", &l.name },
		{ "cuDeviceGetUuid", &l.uuid },
		{ "cuDeviceGetPCIBusId", &l.bus_id },
		{ "cuDeviceGetAttribute", &l.attribute },
		{ "cuDeviceComputeCapability", &l.capability },
	};
	void *copy = open_copy(), *call;
	unsigned int i;

	if (!copy)
		return NULL;
	for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		call = dlsym(copy, wanted[i].name);
		if (!call)
			return NULL;
		memcpy(wanted[i].to, &call, sizeof(call));
	}
	call = dlsym(copy, "kvgpu_device_usage");
	memcpy(&l.usage, &call, sizeof(call));
	return give_environment(copy) ? &l : NULL;
}
