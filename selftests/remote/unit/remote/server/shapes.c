// SPDX-License-Identifier: MIT
/* Only the names for the dumper, as remote/api.py makes them. */
#include "../../../../../remote/wire/dump.h"

#include "names.c"
