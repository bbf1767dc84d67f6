/* SPDX-License-Identifier: MIT */
/* What a GPU is called. */
#ifndef KVGPU_CUDA_DEVICE_BOARD_H
#define KVGPU_CUDA_DEVICE_BOARD_H

#include <stdint.h>

/* the name of the board with this PCI id, or the chip's where no board is known by it */
const char *board_name(uint32_t pci_id);

#endif
