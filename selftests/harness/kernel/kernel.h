/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All of the stand-in for the kernel. Every linux/ header that the module includes and user space
 * has not leads here (harness.mk).
 */
#ifndef KVGPU_HARNESS_KERNEL_H
#define KVGPU_HARNESS_KERNEL_H

#include "selftests/harness/kernel/device.h"

#endif
