/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: msleep(), udelay(), usleep_range(). */
#ifndef KVGPU_TEST_LINUX_DELAY_H
#define KVGPU_TEST_LINUX_DELAY_H

#include "kernel_services.h"

#endif
