/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name. FIELD_PREP() masks off bits that do
 * not fit the field; the kernel's refuses a constant that does not fit. Of constant
 * arguments the macros here make constant expressions, the kernel's do not. Here the mask may be
 * anything but 0, in the kernel's it has to be constant. The kernel has no FIELD_SHIFT().
 */
#ifndef KVGPU_USER_LINUX_BITFIELD_H
#define KVGPU_USER_LINUX_BITFIELD_H

#include <linux/bits.h>

#define FIELD_SHIFT(mask)     __builtin_ctzll(mask)
#define FIELD_MAX(mask)	      ((mask) >> FIELD_SHIFT(mask))
#define FIELD_FIT(mask, val)  (!((val) & ~FIELD_MAX(mask)))
#define FIELD_GET(mask, reg)  ((__typeof__(mask))(((reg) & (mask)) >> FIELD_SHIFT(mask)))
#define FIELD_PREP(mask, val) (((__typeof__(mask))(val) << FIELD_SHIFT(mask)) & (mask))

#endif
