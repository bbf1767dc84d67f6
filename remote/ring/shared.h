/* SPDX-License-Identifier: MIT */
/*
 * Accesses of this room and of remote/channel/ to memory that the peer can rewrite at any moment.
 * Tests have a header of their own in the place of this one, in which anything may happen between
 * two accesses.
 *
 * A load reads its word once, so what was checked is what is used.
 */
#ifndef KVGPU_REMOTE_RING_SHARED_H
#define KVGPU_REMOTE_RING_SHARED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* loads that follow see all that the peer wrote before it published this value */
static inline uint64_t shared_load_acquire(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline uint64_t shared_load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint32_t shared_load32(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void shared_store(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline void shared_store32(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* publish @v: all accesses before this store come first */
static inline void shared_store_release(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* stores before it are visible to the peer before any load after it reads */
static inline void shared_fence(void)
{
#ifdef __x86_64__
	/* cheaper than mfence */
	__asm__ volatile("lock; orl $0, (%%rsp)" : : : "memory", "cc");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* @from is 8-aligned. Its last word is read as a whole, but only @n bytes are written. */
static inline void shared_copy_in(void *to, const uint64_t *from, size_t n)
{
	uint8_t *out = to;
	uint64_t v;

	for (; n >= sizeof(v); n -= sizeof(v), out += sizeof(v)) {
		v = shared_load(from++);
		memcpy(out, &v, sizeof(v));
	}
	if (!n)
		return;
	for (v = shared_load(from); n--; v >>= 8)
		*out++ = (uint8_t)v;
}

static inline void shared_prefetch(const void *p)
{
	__builtin_prefetch(p);
}

/* a hint: this side writes to the line of @p soon */
static inline void shared_prefetch_own(const void *p)
{
#ifdef __x86_64__
	/* a CPU without it does nothing */
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/* Write @n bytes that the peer may change: this side does not read them again. */
static inline void shared_copy_out(void *to, const void *from, size_t n)
{
	const uint8_t *in = from;
	uint8_t *out = to;

	/* most pieces are a few whole words, for which no function is called */
	if (n > 64 || n % 8) {
		memcpy(to, from, n);
		return;
	}
	for (; n >= 16; n -= 16, in += 16, out += 16)
		memcpy(out, in, 16);
	if (n)
		memcpy(out, in, 8);
}

#endif
