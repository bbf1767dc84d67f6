/* SPDX-License-Identifier: GPL-2.0-only */
/* Passes on to the system's header of this name. */
#ifndef KVGPU_USER_LINUX_ERRNO_H
#define KVGPU_USER_LINUX_ERRNO_H

#include_next <linux/errno.h>

#endif
