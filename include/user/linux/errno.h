/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Passes on to the system's header of this name. Two sources include <linux/errno.h>, and both need
 * only the error numbers: kernel code that is built in user space, and the C library's errno.h.
 */
#ifndef KVGPU_USER_LINUX_ERRNO_H
#define KVGPU_USER_LINUX_ERRNO_H

#include_next <linux/errno.h>

#endif
