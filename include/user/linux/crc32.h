/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name: CRC-32 with IEEE's polynomial, a bit
 * at a time.
 */
#ifndef KVGPU_USER_LINUX_CRC32_H
#define KVGPU_USER_LINUX_CRC32_H

#include <linux/types.h>

static inline u32 crc32_le(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

#endif
