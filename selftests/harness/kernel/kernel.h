/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The whole stand-in for the kernel in one header. The linux/ headers of HARNESS_LINUX (harness.mk)
 * lead here, also where the system has a header of that name. Add one to that list if the module
 * newly includes it and include/user/linux/ does not have it.
 */
#ifndef KVGPU_HARNESS_KERNEL_H
#define KVGPU_HARNESS_KERNEL_H

#include "selftests/harness/kernel/device.h"

#endif
