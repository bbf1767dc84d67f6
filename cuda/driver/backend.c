// SPDX-License-Identifier: MIT
/* Tests leave out this file: they have a device of their own. */
#include "driver.h"

const struct device_ops *backend = &device_nouveau;
