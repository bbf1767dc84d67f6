// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lane-wise instructions for AVX-512 (F, BW, DQ, VL, CD). isa.c asks the processor for each
 * unit that the pragma below names.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "exec.h"

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
/* clang-format off */
#pragma GCC target("avx,avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,prefer-vector-width=512")
/* clang-format on */
#define LANE_TABLE lane_op_avx512
#include "lane_all.inc"
#endif
