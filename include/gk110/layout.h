/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Macros by which the compiler checks the register and memory encodings in this directory.
 * LAYOUT_DISJOINT() checks that the fields of a word do not overlap, LAYOUT_FITS() that a value
 * fits its field, and LAYOUT_WIDTH() that a field has a given number of bits. A header uses them at
 * its end.
 */
#ifndef KVGPU_GK110_LAYOUT_H
#define KVGPU_GK110_LAYOUT_H

#include <linux/build_bug.h>

/* LAYOUT_FOLD(op, a, b, c) is (a op b op c), in 64 bits. It takes 1 to 20 masks. */
#define LAYOUT_FOLD_1(op, a)		(0ull + (a))
#define LAYOUT_FOLD_2(op, a, ...)	((a) op LAYOUT_FOLD_1(op, __VA_ARGS__))
#define LAYOUT_FOLD_3(op, a, ...)	((a) op LAYOUT_FOLD_2(op, __VA_ARGS__))
#define LAYOUT_FOLD_4(op, a, ...)	((a) op LAYOUT_FOLD_3(op, __VA_ARGS__))
#define LAYOUT_FOLD_5(op, a, ...)	((a) op LAYOUT_FOLD_4(op, __VA_ARGS__))
#define LAYOUT_FOLD_6(op, a, ...)	((a) op LAYOUT_FOLD_5(op, __VA_ARGS__))
#define LAYOUT_FOLD_7(op, a, ...)	((a) op LAYOUT_FOLD_6(op, __VA_ARGS__))
#define LAYOUT_FOLD_8(op, a, ...)	((a) op LAYOUT_FOLD_7(op, __VA_ARGS__))
#define LAYOUT_FOLD_9(op, a, ...)	((a) op LAYOUT_FOLD_8(op, __VA_ARGS__))
#define LAYOUT_FOLD_10(op, a, ...)	((a) op LAYOUT_FOLD_9(op, __VA_ARGS__))
#define LAYOUT_FOLD_11(op, a, ...)	((a) op LAYOUT_FOLD_10(op, __VA_ARGS__))
#define LAYOUT_FOLD_12(op, a, ...)	((a) op LAYOUT_FOLD_11(op, __VA_ARGS__))
#define LAYOUT_FOLD_13(op, a, ...)	((a) op LAYOUT_FOLD_12(op, __VA_ARGS__))
#define LAYOUT_FOLD_14(op, a, ...)	((a) op LAYOUT_FOLD_13(op, __VA_ARGS__))
#define LAYOUT_FOLD_15(op, a, ...)	((a) op LAYOUT_FOLD_14(op, __VA_ARGS__))
#define LAYOUT_FOLD_16(op, a, ...)	((a) op LAYOUT_FOLD_15(op, __VA_ARGS__))
#define LAYOUT_FOLD_17(op, a, ...)	((a) op LAYOUT_FOLD_16(op, __VA_ARGS__))
#define LAYOUT_FOLD_18(op, a, ...)	((a) op LAYOUT_FOLD_17(op, __VA_ARGS__))
#define LAYOUT_FOLD_19(op, a, ...)	((a) op LAYOUT_FOLD_18(op, __VA_ARGS__))
#define LAYOUT_FOLD_20(op, a, ...)	((a) op LAYOUT_FOLD_19(op, __VA_ARGS__))
#define LAYOUT_NR_(_20, _19, _18, _17, _16, _15, _14, _13, _12, _11, _10, _9, _8, _7, _6, _5, _4, \
		   _3, _2, _1, n, ...)                                                            \
	n
#define LAYOUT_NR(...)                                                                           \
	LAYOUT_NR_(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, \
		   2, 1)
#define LAYOUT_PASTE_(a, b)	a##b
#define LAYOUT_PASTE(a, b)	LAYOUT_PASTE_(a, b)
#define LAYOUT_FOLD(op, ...)	LAYOUT_PASTE(LAYOUT_FOLD_, LAYOUT_NR(__VA_ARGS__))(op, __VA_ARGS__)

/*
 * If masks share a bit, the XOR of all masks or the sum of all masks differs from their OR. The XOR
 * alone would miss a bit that three masks share. Both miss bit 63 in three masks, because the sum
 * wraps.
 *
 * sparse (__CHECKER__) has no room for that many tokens of one macro, and does not check for
 * overlaps.
 */
#ifdef __CHECKER__
#define LAYOUT_DISJOINT(...)	static_assert(true)
#else
#define LAYOUT_DISJOINT(...)                                                              \
	static_assert(LAYOUT_FOLD(^, __VA_ARGS__) == LAYOUT_FOLD(|, __VA_ARGS__) &&       \
			      LAYOUT_FOLD(+, __VA_ARGS__) == LAYOUT_FOLD(|, __VA_ARGS__), \
		      "fields of a word overlap")
#endif

/* @mask must have adjacent bits; arguments are constant expressions. */
#define LAYOUT_LOWEST(mask)		((mask) & -(mask))
#define LAYOUT_MAX(mask)		((mask) / LAYOUT_LOWEST(mask))
#define LAYOUT_FITS(mask, value) \
	static_assert((value) <= LAYOUT_MAX(mask), "a value does not fit its field")
#define LAYOUT_WIDTH(mask, bits) \
	static_assert(LAYOUT_MAX(mask) == (1ull << (bits)) - 1, "a field has another width")

#endif
