/* SPDX-License-Identifier: MIT */
/* Entry points that are refused: what refused.c is made of. */
#ifndef KVGPU_REMOTE_REFUSED_H
#define KVGPU_REMOTE_REFUSED_H

#include <stdbool.h>

#include <cuda/driver/api.h>

/* say once for each entry point that it is not supported, and why */
CUresult client_refuse(const char *name, const char *why, bool *told);

#define REFUSED(why, name, ...)                          \
	CUresult name(__VA_ARGS__)                       \
	{                                                \
		static bool told;                        \
		return client_refuse(#name, why, &told); \
	}

#endif
