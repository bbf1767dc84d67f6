/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name. Includes the system's header of this
 * name, and adds macros that kernel code uses.
 */
#ifndef KVGPU_USER_LINUX_KERNEL_H
#define KVGPU_USER_LINUX_KERNEL_H

#include_next <linux/kernel.h>

#include <linux/types.h>

#define ARRAY_SIZE(a)                                                                      \
	(sizeof(a) / sizeof((a)[0]) +                                                      \
	 0 * sizeof(struct {                                                               \
		 int is_array                                                              \
		     : !__builtin_types_compatible_p(__typeof__(a), __typeof__(&(a)[0])) ? \
		       1 :                                                                 \
		       -1;                                                                 \
	 }))
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define container_of(ptr, type, member) \
	((type *)((char *)(1 ? (ptr) : &((type *)0)->member) - offsetof(type, member)))

#endif
