// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/ring/hooks.h"

struct memory memory;

void memory_call(bool once)
{
	memory.once = once;
	memset(memory.loaded, 0, sizeof(memory.loaded));
}

static void wrong(const char *what)
{
	fprintf(stderr, "access %u: %s\n", memory.accesses, what);
	abort();
}

/* Checks an access, and returns the index of its first word. */
static size_t touch(const void *p, size_t n, size_t align)
{
	uintptr_t at = (uintptr_t)p - (uintptr_t)memory.word;

	if (at > memory.words * 8 || n > memory.words * 8 - at)
		wrong("outside of shared memory");
	if (at % align)
		wrong("not aligned");
	if (memory.before)
		memory.before(memory.accesses);
	memory.accesses++;
	return at / 8;
}

uint64_t hook_load(const uint64_t *p)
{
	size_t word = touch(p, 8, 8);

	if (memory.once && memory.loaded[word])
		wrong("loaded twice");
	memory.loaded[word] = true;
	return *p;
}

uint32_t hook_load32(const uint32_t *p)
{
	touch(p, 4, 4);
	return *p;
}

void hook_store(uint64_t *p, uint64_t v)
{
	touch(p, 8, 8);
	*p = v;
}

void hook_store_release(uint64_t *p, uint64_t v)
{
	hook_store(p, v);
}

void hook_store32(uint32_t *p, uint32_t v)
{
	touch(p, 4, 4);
	*p = v;
}

void hook_fence(void)
{
}

void hook_copy_in(void *to, const uint64_t *from, size_t n)
{
	uint8_t *out = to;
	uint64_t v;

	for (; n; n -= n < 8 ? n : 8, out += 8) {
		v = hook_load(from++);
		memcpy(out, &v, n < 8 ? n : 8);
	}
}

void hook_copy_out(void *to, const void *from, size_t n)
{
	touch(to, n, 1);
	memcpy(to, from, n);
}

uint64_t hook_clock_ns(void)
{
	memory.clock += 100;
	return memory.clock;
}

void hook_clock_yield(void)
{
	uint64_t before = memory.clock;

	memory.clock += memory.away_ns;
	if (memory.tick_ns && memory.clock / memory.tick_ns != before / memory.tick_ns)
		memory.clock += memory.in_tick_ns;
}

static enum kvgpu_sleep memory_sleep(void *ctx, uint32_t *word, uint64_t ns)
{
	touch(word, 4, 4);
	memory.clock += ns;
	return KVGPU_SLEEP_LOOK;
}

static void memory_wake(void *ctx, uint32_t *word)
{
	touch(word, 4, 4);
	memory.wakes++;
}

const struct kvgpu_doorbell_ops memory_doorbell_ops = { .sleep = memory_sleep,
							.wake = memory_wake };

uint64_t memory_value(unsigned int kind, uint64_t old, uint32_t slots, uint32_t max_len)
{
	switch (kind % MEMORY_VALUES) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return ~0ull;
	case 3:
		return old + 1;
	case 4:
		return old - 1;
	case 5:
		return old + slots;
	case 6:
		return old - slots;
	case 7:
		return 1ull << 63;
	case 8:
		return old ^ 1ull << 32;
	case 9:
		return old | ~0ull << 32; /* as a frame's head: the greatest length */
	case 10:
		return (uint64_t)max_len << 32;
	case 11:
		return ((uint64_t)max_len + 1) << 32;
	case 12:
		return (uint64_t)(int32_t)-8 << 32; /* nearly 4 GiB */
	default:
		return old + (1ull << 32);
	}
}
