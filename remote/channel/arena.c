// SPDX-License-Identifier: MIT
/* Where an arena is, and how much of it may be touched. */
#include <sys/mman.h>
#include <sys/random.h>

#include "carrier.h"

void *arena_map(uint64_t bytes, int flags, void *hint)
{
	void *p = bytes && bytes <= KVGPU_REMOTE_ARENA_MAX ?
			  mmap(hint, bytes, PROT_READ | PROT_WRITE,
			       flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) :
			  MAP_FAILED;

	return p == MAP_FAILED ? NULL : p;
}

void arena_unmap(void *arena, uint64_t bytes)
{
	if (arena)
		munmap(arena, bytes);
}

void *arena_place(bool client)
{
	const uint64_t lowest = client ? 1ull << 46 : 1ull << 45, unit = 2 << 20, units = 1 << 23;
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return NULL; /* anywhere */
	return (void *)(lowest + number % units * unit);
}

bool arena_protect(void *arena, uint64_t now, uint64_t bytes)
{
	if (bytes > now)
		return !mprotect((uint8_t *)arena + now, bytes - now, PROT_READ | PROT_WRITE);
	return bytes == now || !mprotect((uint8_t *)arena + bytes, now - bytes, PROT_NONE);
}
