/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The results of kernels in kernels.cu (int_ops to convert), in the order of their OUT()s, computed
 * with the host's own arithmetic.
 */
#ifndef KVGPU_SELFTESTS_SM_ORACLE_H
#define KVGPU_SELFTESTS_SM_ORACLE_H

#include <stdint.h>

#define ORACLE_MAX 80

/* Each fills @out and returns the number of results. */
unsigned int oracle_int(uint32_t a, uint32_t b, uint32_t c, uint32_t *out);
unsigned int oracle_long(uint64_t a, uint64_t b, uint64_t *out);
unsigned int oracle_float(float a, float b, float c, uint32_t *out);
unsigned int oracle_double(double a, double b, double c, uint64_t *out);
unsigned int oracle_convert(uint32_t a, double d, uint64_t *out);

#endif
