// SPDX-License-Identifier: MIT
/* The dumper's names alone, as remote/api.py makes them. */
#include "../../../../remote/wire/dump.h"

#include "names.c"
