/* SPDX-License-Identifier: MIT */
/*
 * Entry points that are refused. Each is defined without parameters: refused.c must not see the
 * prototypes.
 */
#ifndef KVGPU_REMOTE_REFUSED_H
#define KVGPU_REMOTE_REFUSED_H

#include <stdbool.h>

#include <cuda/driver/types.h>

/* say once for each entry point that it is not supported */
CUresult client_refuse(const char *name, bool *told);

#define REFUSED(name)                                               \
	CUresult name(void) __attribute__((visibility("default"))); \
	CUresult name(void)                                         \
	{                                                           \
		static bool told;                                   \
		return client_refuse(#name, &told);                 \
	}

#endif
