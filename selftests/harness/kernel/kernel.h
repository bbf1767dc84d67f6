/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The whole stand-in for the kernel in one header. Each linux/ header that the module includes and
 * that user space does not have leads here (harness.mk).
 */
#ifndef KVGPU_HARNESS_KERNEL_H
#define KVGPU_HARNESS_KERNEL_H

#include "selftests/harness/kernel/device.h"

#endif
