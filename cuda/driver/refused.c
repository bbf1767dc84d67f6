// SPDX-License-Identifier: MIT
/* Entry points that are not offered: refused.inc lists them. */
#include "api.h"

CUresult refuse(void);

CUresult refuse(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

#define REFUSED(symbol) API CUresult symbol(void) __attribute__((alias("refuse")));
#include "refused.inc"
