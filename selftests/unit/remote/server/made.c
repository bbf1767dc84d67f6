// SPDX-License-Identifier: MIT
/* What remote/api.py makes, compiled where the tests are. */
#include "cases.c"
#include "names.c"
#include "fake.c"
