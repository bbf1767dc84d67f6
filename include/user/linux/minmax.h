/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name. Both arguments of min() and max()
 * must have the same type, as in older kernels.
 */
#ifndef KVGPU_USER_LINUX_MINMAX_H
#define KVGPU_USER_LINUX_MINMAX_H

#define min(a, b)                              \
	({                                     \
		__typeof__(a) min_a = (a);     \
		__typeof__(b) min_b = (b);     \
		(void)(&min_a == &min_b);      \
		min_a < min_b ? min_a : min_b; \
	})
#define max(a, b)                              \
	({                                     \
		__typeof__(a) max_a = (a);     \
		__typeof__(b) max_b = (b);     \
		(void)(&max_a == &max_b);      \
		max_a > max_b ? max_a : max_b; \
	})
#define min3(a, b, c)	   min(min(a, b), c)
#define clamp(val, lo, hi) min(max(val, lo), hi)
#define min_t(type, a, b)                      \
	({                                     \
		type min_a = (a), min_b = (b); \
		min_a < min_b ? min_a : min_b; \
	})
#define max_t(type, a, b)                      \
	({                                     \
		type max_a = (a), max_b = (b); \
		max_a > max_b ? max_a : max_b; \
	})

#endif
