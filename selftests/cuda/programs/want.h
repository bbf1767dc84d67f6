/* SPDX-License-Identifier: GPL-2.0-only */
/* For programs that go on when a thing is not so, and count it. */
#ifndef KVGPU_SELFTESTS_CUDA_WANT_H
#define KVGPU_SELFTESTS_CUDA_WANT_H

#include "check.h"

static int wrong;

#define WANT(what)                                                        \
	do {                                                              \
		if (!(what)) {                                            \
			printf("line %d: not so: %s\n", __LINE__, #what); \
			wrong++;                                          \
		}                                                         \
	} while (0)

#endif
