/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: dma_addr_t. */
#ifndef KVGPU_TEST_LINUX_DMA_MAPPING_H
#define KVGPU_TEST_LINUX_DMA_MAPPING_H

#include "kernel_services.h"

#endif
