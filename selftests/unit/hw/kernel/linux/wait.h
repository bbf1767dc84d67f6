/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: wait_queue_head_t. */
#ifndef KVGPU_TEST_LINUX_WAIT_H
#define KVGPU_TEST_LINUX_WAIT_H

#include "kernel_services.h"

#endif
