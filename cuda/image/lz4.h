/* SPDX-License-Identifier: MIT */
#ifndef KVGPU_CUDA_LZ4_H
#define KVGPU_CUDA_LZ4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* one LZ4 block; true when it is whole and gives exactly @size bytes */
bool lz4_unpack(const uint8_t *in, size_t in_size, uint8_t *out, size_t size);

#endif
