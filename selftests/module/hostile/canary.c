// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the server that no guest may see or change. "kvgpu-canary hold MIB" fills it with
 * marks, prints READY, waits for a character, then checks each word.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SERVER_MARK 0x59524e4143555047ull /* hostile.h */

static void __attribute__((noreturn)) give_up(const char *what)
{
	fprintf(stderr, "kvgpu-canary: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t word_at(size_t i)
{
	return i % 8 ? i * 0x9e3779b97f4a7c15ull : SERVER_MARK;
}

static int hold(size_t mib)
{
	size_t words = (mib << 20) / 8, i, wrong = 0;
	volatile uint64_t *m = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
	char c;

	if (m == MAP_FAILED)
		give_up("locked memory");
	for (i = 0; i < words; i++)
		m[i] = word_at(i);
	printf("READY\n");
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		give_up("reading");
	for (i = 0; i < words; i++)
		wrong += m[i] != word_at(i);
	printf("%zu of %zu words changed\n", wrong, words);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "hold") && atoi(argv[2]) > 0)
		return hold(atoi(argv[2]));
	fprintf(stderr, "usage: kvgpu-canary hold MIB\n");
	return 2;
}
