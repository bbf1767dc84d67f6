/* SPDX-License-Identifier: GPL-2.0-only */
/* User-space stand-in for the kernel header of the same name. It gives static_assert(). */
#ifndef KVGPU_USER_LINUX_BUILD_BUG_H
#define KVGPU_USER_LINUX_BUILD_BUG_H

#include <assert.h>

#endif
