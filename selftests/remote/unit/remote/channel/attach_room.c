// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote/channel/attach.c, unchanged, but its accesses to memory go to
 * ../ring/model/remote/ring/hooks.h.
 */
#include "remote/channel/attach.c"
