/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name. It gives the C library's functions on
 * memory and strings.
 */
#ifndef KVGPU_USER_LINUX_STRING_H
#define KVGPU_USER_LINUX_STRING_H

#include <string.h>

#endif
