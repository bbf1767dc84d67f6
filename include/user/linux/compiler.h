/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name. It gives READ_ONCE() and
 * WRITE_ONCE() as volatile accesses, which order nothing and which TSan takes for plain ones.
 */
#ifndef KVGPU_USER_LINUX_COMPILER_H
#define KVGPU_USER_LINUX_COMPILER_H

#define READ_ONCE(x)	   (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, val) (*(volatile __typeof__(x) *)&(x) = (val))

#endif
