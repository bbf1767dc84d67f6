// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fast moves of bytes between host addresses: the part of a copy that knows nothing of surfaces or
 * translation.
 *
 * Guest memory is scattered in 4 KiB pages, and the CPU's own prefetchers stop at page ends, so
 * while one run is moved the next run is prefetched.
 */
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "ce.h"

#define LINE 64u /* cache line */

/* Whole periods that were already written are the source of the next, longer piece. */
static void copy_repeating(uint8_t *d, const uint8_t *s, uint64_t n)
{
	uint64_t period = (uint64_t)(d - s), done = 0;

	while (done < n) {
		uint64_t have = (period + done) / period * period,
			 part = have < n - done ? have : n - done;

		memcpy(d + done, s, part);
		done += part;
	}
}

void ce_copy_forward(uint8_t *d, const uint8_t *s, uint64_t n)
{
	if ((uintptr_t)d - (uintptr_t)s >= n && (uintptr_t)s - (uintptr_t)d >= n)
		memcpy(d, s, n);
	else if ((uintptr_t)d <= (uintptr_t)s)
		memmove(d, s, n);
	else
		copy_repeating(d, s, n);
}

typedef long long ce_vec __attribute__((vector_size(16), aligned(1), may_alias));

void ce_move_gob_line(uint8_t *d, const uint8_t *s)
{
	const ce_vec *from = (const ce_vec *)s;
	ce_vec *to = (ce_vec *)d, a = from[0], b = from[1], c = from[2], e = from[3];

	to[0] = a;
	to[1] = b;
	to[2] = c;
	to[3] = e;
}

static bool overlaps(const struct ce_run *r)
{
	return (uintptr_t)r->d - (uintptr_t)r->s < r->n || (uintptr_t)r->s - (uintptr_t)r->d < r->n;
}

#ifdef __SSE2__
static void move_streaming(const struct ce_run *r, const struct ce_run *next)
{
	uint64_t head = -(uintptr_t)r->d % LINE, done;

	if (r->n < 2 * LINE) {
		memcpy(r->d, r->s, r->n);
		return;
	}
	memcpy(r->d, r->s, head);
	for (done = head; r->n - done >= LINE; done += LINE) {
		const __m128i *s = (const __m128i *)(r->s + done);
		__m128i *d = (__m128i *)(r->d + done);
		__m128i a = _mm_loadu_si128(s), b = _mm_loadu_si128(s + 1),
			c = _mm_loadu_si128(s + 2), e = _mm_loadu_si128(s + 3);

		if (next && done < next->n)
			__builtin_prefetch(next->s + done);
		_mm_stream_si128(d, a);
		_mm_stream_si128(d + 1, b);
		_mm_stream_si128(d + 2, c);
		_mm_stream_si128(d + 3, e);
	}
	memcpy(r->d + done, r->s + done, r->n - done);
}

/* A fence: streaming stores are not ordered with the store that releases a semaphore. */
static void streaming_done(void)
{
	_mm_sfence();
}
#else
static void move_streaming(const struct ce_run *r, const struct ce_run *next)
{
	memcpy(r->d, r->s, r->n);
}

static void streaming_done(void)
{
}
#endif

void ce_move_runs(const struct ce_run *runs, unsigned int n, bool streaming)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct ce_run *next = i + 1 < n ? &runs[i + 1] : NULL;

		if (overlaps(&runs[i]))
			ce_copy_forward(runs[i].d, runs[i].s, runs[i].n);
		else if (streaming)
			move_streaming(&runs[i], next);
		else
			memcpy(runs[i].d, runs[i].s, runs[i].n);
	}
	if (streaming)
		streaming_done();
}
