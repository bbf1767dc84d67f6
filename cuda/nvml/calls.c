// SPDX-License-Identifier: MIT
/* What is exported, as nvml.def says: the checks that calls begin with, then their answer. */
#include "inside.h"

/* false: it is VALUE_UNKNOWN */
#define nvml_value(expr, value) ((value = (expr)) != VALUE_UNKNOWN)

#include "nvml_calls.inc"
