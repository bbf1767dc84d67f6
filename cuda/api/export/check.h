/* SPDX-License-Identifier: MIT */
/* check.c's MD2 (RFC 1319), for its test. */
#ifndef KVGPU_CUDA_EXPORT_CHECK_H
#define KVGPU_CUDA_EXPORT_CHECK_H

#include <stddef.h>
#include <stdint.h>

/* all zeros at the beginning */
struct md2 {
	uint8_t state[48], sum[16], block[16];
	unsigned int used; /* bytes of .block */
};

void md2_add(struct md2 *m, const void *bytes, size_t n);
void md2_end(struct md2 *m, uint8_t out[16]);

#endif
