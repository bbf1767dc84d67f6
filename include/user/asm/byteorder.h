/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Includes the system's header of this name, and adds the names that kernel code uses for the same
 * conversions.
 */
#ifndef KVGPU_USER_ASM_BYTEORDER_H
#define KVGPU_USER_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>

#define cpu_to_le32 __cpu_to_le32
#define cpu_to_le64 __cpu_to_le64
#define le32_to_cpu __le32_to_cpu
#define le64_to_cpu __le64_to_cpu

#endif
