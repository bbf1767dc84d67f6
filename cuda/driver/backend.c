// SPDX-License-Identifier: MIT
/* Tests leave out this file. */
#include "driver.h"

const struct device_ops *backend = &device_nouveau;
