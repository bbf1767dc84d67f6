/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-in for unmap_test: all that unmap.c uses of the kernel is in ../standin.h. */
#include "standin.h"
