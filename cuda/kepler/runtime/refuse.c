// SPDX-License-Identifier: MIT
/* Entry points that always fail, so that programs that name them start. */
#include "runtime.h"

#define REFUSE(name)                                          \
	API cudaError_t name(void);                           \
	cudaError_t name(void)                                \
	{                                                     \
		return set_last_error(cudaErrorNotSupported); \
	}
#include "refuse.inc"
