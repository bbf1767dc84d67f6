/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel code includes this name; so does the C library's errno.h, which wants the system's header
 * behind it.
 */
#ifndef KVGPU_USER_LINUX_ERRNO_H
#define KVGPU_USER_LINUX_ERRNO_H

#include_next <linux/errno.h>

#endif
