/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: spin_lock(), spin_unlock(). */
#ifndef KVGPU_TEST_LINUX_SPINLOCK_H
#define KVGPU_TEST_LINUX_SPINLOCK_H

#include "kernel_services.h"

#endif
