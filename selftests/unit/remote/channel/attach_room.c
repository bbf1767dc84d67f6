// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote/channel/attach.c as it is, with its accesses given to ../ring/model/remote/ring/hooks.h.
 */
#include "remote/channel/attach.c"
