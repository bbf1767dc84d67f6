/* SPDX-License-Identifier: GPL-2.0-only */
/* Which OpenCL device the programs take: the card by rusticl, and nothing in its place. */
#ifndef KVGPU_SELFTESTS_CL_DEVICE_H
#define KVGPU_SELFTESTS_CL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/*
 * Prints what it sees, and one result. Without @other the card is meant; else the first device with
 * @other in its name, which is for trying out the tests themselves. NULL if there is none.
 */
cl_device_id find_device(const char *other);

#endif
