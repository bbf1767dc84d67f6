/* SPDX-License-Identifier: MIT */
/* Entry points that are refused: of whatever prototype, which refused.c therefore must not see. */
#ifndef KVGPU_REMOTE_REFUSED_H
#define KVGPU_REMOTE_REFUSED_H

#include <stdbool.h>

#include <cuda/driver/types.h>

/* says so once for each */
CUresult client_refuse(const char *name, bool *told);

#define REFUSED(name) \
	CUresult name(void) __attribute__((visibility("default"))); \
	CUresult name(void) \
	{ \
		static bool told; \
		return client_refuse(#name, &told); \
	}

#endif
