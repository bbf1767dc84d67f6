/* SPDX-License-Identifier: MIT */
/* LZ4's block format, unpacked. */
#ifndef KVGPU_CUDA_API_LZ4_H
#define KVGPU_CUDA_API_LZ4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* one byte of a block makes so many at most */
#define LZ4_MOST 255

/* Whether the block of @n bytes at @from is one of exactly @bytes, which are at @to then. */
bool lz4_unpack(const uint8_t *from, size_t n, uint8_t *to, size_t bytes);

#endif
