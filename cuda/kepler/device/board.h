/* SPDX-License-Identifier: MIT */
/* Names of GPUs: a constant table, for any thread. */
#ifndef KVGPU_CUDA_DEVICE_BOARD_H
#define KVGPU_CUDA_DEVICE_BOARD_H

#include <stdint.h>

/* "GK110" for an unknown board */
const char *board_name(uint32_t pci_id);

#endif
