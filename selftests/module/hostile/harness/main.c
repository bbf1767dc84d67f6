// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes main()'s arguments of the boot loader's command line, and has the few functions that a
 * compiler expects.
 */
#include "libcflat.h"

enum { MB_FLAG_CMDLINE = 4, MAX_ARGS = 32, MAX_LINE = 256 };

struct multiboot_info { /* Multiboot 1, section 3.3 */
	uint32_t flags, mem_lower, mem_upper, boot_device, cmdline;
};

int main(int argc, char **argv);
int harness_main(const struct multiboot_info *info);

int harness_main(const struct multiboot_info *info)
{
	static char text[MAX_LINE], *argv[MAX_ARGS + 1];
	const char *from = info->flags & MB_FLAG_CMDLINE ? (const char *)(uintptr_t)info->cmdline :
							   "";
	unsigned int i;
	int argc = 0;

	for (i = 0; i < MAX_LINE - 1 && from[i]; i++) {
		bool starts = from[i] != ' ' && (i == 0 || from[i - 1] == ' ');

		text[i] = from[i] == ' ' ? 0 : from[i];
		if (starts && argc < MAX_ARGS)
			argv[argc++] = text + i;
	}
	return main(argc, argv);
}

void *memcpy(void *dst, const void *src, size_t n)
{
	void *d = dst;

	asm volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	void *d = dst;

	asm volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}
