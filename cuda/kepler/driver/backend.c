// SPDX-License-Identifier: MIT
/* The GPUs are nouveau's. Tests have another `backend`, and leave out this file. */
#include "driver.h"

const struct device_ops *backend = &device_nouveau;
