// SPDX-License-Identifier: MIT
/* The sources that remote/api.py makes, compiled together. */
#include "cases.c"
#include "names.c"
#include "fake.c"
