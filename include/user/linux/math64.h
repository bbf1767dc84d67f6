/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name. Arguments have the types that they
 * have in the kernel. A divisor of 0 aborts the program.
 */
#ifndef KVGPU_USER_LINUX_MATH64_H
#define KVGPU_USER_LINUX_MATH64_H

#include <stdlib.h>

#include <linux/types.h>

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	if (!divisor)
		abort();
	*remainder = (u32)(dividend % divisor);
	return dividend / divisor;
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	u32 remainder;

	return div_u64_rem(dividend, divisor, &remainder);
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	if (!divisor)
		abort();
	return dividend / divisor;
}

#endif
