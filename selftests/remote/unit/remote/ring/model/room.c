// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote/ring, unchanged, but its accesses go to hooks.h: this folder comes first on the include
 * path.
 */
#include "remote/ring/ring.c"
#include "remote/ring/completion.c"
#include "remote/ring/doorbell.c"
