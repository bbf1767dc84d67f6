/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: struct gen_pool. */
#ifndef KVGPU_TEST_LINUX_GENALLOC_H
#define KVGPU_TEST_LINUX_GENALLOC_H

#include "kernel_services.h"

#endif
