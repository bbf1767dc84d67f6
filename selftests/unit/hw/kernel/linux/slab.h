/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: kvmalloc(), kvfree(). */
#ifndef KVGPU_TEST_LINUX_SLAB_H
#define KVGPU_TEST_LINUX_SLAB_H

#include "kernel_services.h"

#endif
