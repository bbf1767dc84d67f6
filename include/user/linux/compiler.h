/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name, for tests that build mmio-trap/ in
 * user space. It has only the macros that mmio-trap/ uses.
 */
#ifndef KVGPU_USER_LINUX_COMPILER_H
#define KVGPU_USER_LINUX_COMPILER_H

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, val)	(*(volatile __typeof__(x) *)&(x) = (val))

#endif
