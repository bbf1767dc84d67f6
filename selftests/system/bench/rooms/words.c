// SPDX-License-Identifier: GPL-2.0-only
/*
 * memcmp as a kernel has it on this architecture: without vector registers, a word at a time. The
 * rooms are compiled to call it instead of the C library's.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int kernel_memcmp(const void *a, const void *b, size_t len);

__attribute__((optimize("no-tree-vectorize"))) int kernel_memcmp(const void *a, const void *b,
								 size_t len)
{
	const unsigned char *x = a, *y = b;
	uint64_t v, w;

	for (; len >= sizeof(v); len -= sizeof(v), x += sizeof(v), y += sizeof(w)) {
		__builtin_memcpy(&v, x, sizeof(v));
		__builtin_memcpy(&w, y, sizeof(w));
		if (v != w)
			break;
	}
	for (; len; len--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}
