/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: struct rt_mutex. */
#ifndef KVGPU_TEST_LINUX_RTMUTEX_H
#define KVGPU_TEST_LINUX_RTMUTEX_H

#include "kernel_services.h"

#endif
