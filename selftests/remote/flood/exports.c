// SPDX-License-Identifier: GPL-2.0-only
/* The entry points of the flood's library by their names, for dlsym(). */
#include "gpu.h"

#define EXPORT_OF(library, name)                         \
	static typeof(library.name) resolve_##name(void) \
	{                                                \
		return library.name;                     \
	}                                                \
	__attribute__((ifunc("resolve_" #name))) typeof(*library.name) name;
#define CUDA(name)	EXPORT_OF(gpu_library, name)
#define FORWARDED(name) EXPORT_OF(gpu_forwards, name)

LIBRARY_NAMES(CUDA)
CUBLAS_BY_HAND(FORWARDED)
CUBLAS_NAMES(FORWARDED)
CURAND_BY_HAND(FORWARDED)
CURAND_NAMES(FORWARDED)
