// SPDX-License-Identifier: MIT
/*
 * A few bytes of device memory for an answer. They are copied into pinned memory of the server's
 * own, of which BLOCKS contexts have a block. So the copy is queued behind the stream's work at
 * once.
 *
 * With a library whose pinned memory has no address on the device readback_take() gives nothing.
 *
 * A question to an event that has happened takes a library longer than a look at the words that the
 * GPU copies. So these have a mark until then. They tell of no error: so there is no mark with a
 * library whose streams go on after one. cuda/ is such: on nouveau the channel outlives a kernel's
 * exception, and a copy behind the kernel is made.
 */
#include <stdlib.h>

#include "server.h"

enum { SLOTS = 32, BLOCKS = 16, ALLOC_PORTABLE = 1, ALLOC_DEVICEMAP = 2 };

/* odd, so that a mark comes again after 2^32 others */
#define MARK_STEP 0x9e3779b9u

struct block {
	struct block *next;
	uint64_t context;
	uint8_t *bytes; /* NULL: the library gave none */
	uint32_t taken; /* a bit for each slot */
};

static uint8_t *pinned_block(struct server *s)
{
	CUstreamCaptureMode mode;
	CUdeviceptr device;
	void *p = NULL;

	if (!s->library.cuMemHostAlloc || !s->library.cuMemHostGetDevicePointer_v2 ||
	    !s->library.cuMemFreeHost)
		return NULL;
	mode = capture_relax(s);
	if (CALL(s, cuMemHostAlloc, &p, SLOTS * KVGPU_REMOTE_INLINE_MAX,
		 ALLOC_PORTABLE | ALLOC_DEVICEMAP))
		p = NULL;
	if (p && CALL(s, cuMemHostGetDevicePointer_v2, &device, p, 0)) {
		CALL(s, cuMemFreeHost, p);
		p = NULL;
	}
	capture_restore(s, mode);
	return p;
}

static struct block *block_of(struct server *s, uint64_t context)
{
	unsigned int nr = 0;
	struct block *b;

	for (b = s->readback.blocks; b; b = b->next, nr++)
		if (b->context == context)
			return b;
	if (nr == BLOCKS)
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	*b = (struct block){ .next = s->readback.blocks,
			     .context = context,
			     .bytes = pinned_block(s) };
	s->readback.blocks = b;
	return b;
}

void *readback_take(struct server *s)
{
	struct block *b = s->current ? block_of(s, s->current) : NULL;
	int slot;

	if (!b || !b->bytes || !~b->taken)
		return NULL;
	slot = __builtin_ctz(~b->taken);
	b->taken |= 1u << slot;
	return b->bytes + slot * KVGPU_REMOTE_INLINE_MAX;
}

void readback_put(struct server *s, void *bytes)
{
	uint8_t *at = bytes;
	struct block *b;

	for (b = s->readback.blocks; b; b = b->next)
		if (b->bytes && at >= b->bytes && at < b->bytes + SLOTS * KVGPU_REMOTE_INLINE_MAX)
			b->taken &= ~(1u << (at - b->bytes) / KVGPU_REMOTE_INLINE_MAX);
}

/* A copy of at most so many bytes has a mark. The GPU writes a word of 4 bytes at once. */
enum { MARKED_MAX = 64 };

uint32_t readback_mark(struct server *s, void *bytes, uint64_t n)
{
	uint32_t *word = bytes;
	uint64_t i;

	if (s->library.goes_on || !n || n % sizeof(*word) || n > MARKED_MAX)
		return 0;
	s->readback.mark += MARK_STEP;
	s->readback.mark += !s->readback.mark;
	for (i = 0; i < n / sizeof(*word); i++)
		__atomic_store_n(&word[i], s->readback.mark, __ATOMIC_RELAXED);
	return s->readback.mark;
}

bool readback_came(const void *bytes, uint64_t n, uint32_t mark)
{
	const uint32_t *word = bytes;
	uint64_t i;

	for (i = n / sizeof(*word); i; i--)
		if (__atomic_load_n(&word[i - 1], __ATOMIC_ACQUIRE) == mark)
			return false;
	return true;
}

void readback_forget(struct server *s, uint64_t context)
{
	struct block **at, *b;

	for (at = &s->readback.blocks; (b = *at); at = &b->next)
		if (b->context == context) {
			*at = b->next;
			free(b);
			return;
		}
}

void readback_free(struct server *s)
{
	while (s->readback.blocks)
		readback_forget(s, s->readback.blocks->context);
}
