// SPDX-License-Identifier: GPL-2.0-only
/* The lane-wise instructions for any machine: the portable fallback. */
#include <fenv.h>
#include <math.h>
#include <string.h>

#include "exec.h"

#ifndef __clang__
#pragma GCC optimize("O3", "fp-contract=off")
#endif

#define LANE_TABLE lane_op_base
#include "lane_all.inc"
