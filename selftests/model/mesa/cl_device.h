/* SPDX-License-Identifier: GPL-2.0-only */
/* Which OpenCL device the programs take: the card by rusticl. */
#ifndef KVGPU_SELFTESTS_CL_DEVICE_H
#define KVGPU_SELFTESTS_CL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/*
 * Prints what it sees, and one result. @other: take the first device with this in its name, to try
 * out the tests themselves. NULL: there is none.
 */
cl_device_id find_device(const char *other);

#endif
