/* SPDX-License-Identifier: MIT */
/* Queue meta data of a launch, and constant bank 0 as nvcc's code for sm_35 expects it. Pure. */
#ifndef KVGPU_CUDA_QMD_H
#define KVGPU_CUDA_QMD_H

#include "device.h"

enum { QMD_BYTES = 256 };

/* @release, @payload: the word that says that the grid is complete */
void qmd_build(uint32_t qmd[QMD_BYTES / 4], const struct device_launch *l, uint64_t const0,
	       uint64_t release, uint32_t payload);
/* @bank: qmd_const0_size() bytes */
void qmd_const0(void *bank, const struct device_launch *l);
uint32_t qmd_const0_size(const struct device_launch *l);

#endif
