// SPDX-License-Identifier: GPL-2.0-only
/* The entry points of the flood's library by their names, for dlsym(). */
#include "gpu.h"

#define EXPORT_OF(library, name)                         \
	static typeof(library.name) resolve_##name(void) \
	{                                                \
		return library.name;                     \
	}                                                \
	__attribute__((ifunc("resolve_" #name))) typeof(*library.name) name;
#define CUDA(name) EXPORT_OF(gpu_library, name)

LIBRARY_NAMES(CUDA)
