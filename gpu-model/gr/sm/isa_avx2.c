// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lane-wise instructions for AVX2 and FMA. isa.c asks the processor for each unit that the
 * pragma below names.
 */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "exec.h"

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
#pragma GCC target("avx,avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c")
#define LANE_TABLE lane_op_avx2
#include "lane_all.inc"
#endif
