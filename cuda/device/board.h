/* SPDX-License-Identifier: MIT */
/* Names of GPUs: a constant table, for any thread. */
#ifndef KVGPU_CUDA_DEVICE_BOARD_H
#define KVGPU_CUDA_DEVICE_BOARD_H

#include <stdint.h>

/* the name of the board with this PCI id; of an unknown board "GK110" */
const char *board_name(uint32_t pci_id);

#endif
