// SPDX-License-Identifier: MIT
/*
 * Entry points that always fail. They exist so that programs start that may never call them. Their
 * arguments are not read.
 */
#include "runtime.h"

#define REFUSE(name)				\
	API cudaError_t name(void);		\
	cudaError_t name(void)			\
	{					\
		return done(cudaErrorNotSupported);	\
	}
#include "refuse.inc"
