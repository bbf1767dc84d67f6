// SPDX-License-Identifier: MIT
/* Sources that remote/api.py and fake.py make, compiled together. */
#include "cases.c"
#include "names.c"
#include "fake.c"
#include "fake_shapes.c"
