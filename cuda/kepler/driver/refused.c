// SPDX-License-Identifier: MIT
/*
 * Entry points that exist so that programs that name them start; ../../api/api.def has the reasons.
 * refused.inc is made of it.
 */
#include "../../api/api.h"

#define REFUSED(name, ...)                       \
	CUresult name(__VA_ARGS__)               \
	{                                        \
		return CUDA_ERROR_NOT_SUPPORTED; \
	}
#include <refused.inc>
