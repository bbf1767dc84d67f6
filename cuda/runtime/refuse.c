// SPDX-License-Identifier: MIT
/*
 * Entry points that there are so that programs start which may never call them. Their arguments are
 * not looked at.
 */
#include "runtime.h"

#define REFUSE(name)				\
	API cudaError_t name(void);		\
	cudaError_t name(void)			\
	{					\
		return done(cudaErrorNotSupported);	\
	}
#include "refuse.inc"
