/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: ioread32() and its like. */
#ifndef KVGPU_TEST_LINUX_IO_H
#define KVGPU_TEST_LINUX_IO_H

#include "kernel_services.h"

#endif
