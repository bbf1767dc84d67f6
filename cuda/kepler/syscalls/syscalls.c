// SPDX-License-Identifier: MIT
/* The table of the functions, from syscalls.inc. */
#include "syscalls.h"

#include <string.h>

#define CODE(name, regs, frame, crs, ...) static const uint32_t code_##name[] = { __VA_ARGS__ };
#include "syscalls.inc"
#undef CODE

#define CODE(name, regs, frame, crs, ...) \
	{ #name, code_##name, sizeof(code_##name), regs, frame, crs },
const struct syscall syscalls[NR_SYSCALLS] = {
#include "syscalls.inc"
};

int syscall_find(const char *name)
{
	int i;

	for (i = 0; i < NR_SYSCALLS; i++)
		if (!strcmp(syscalls[i].name, name))
			return i;
	return -1;
}
