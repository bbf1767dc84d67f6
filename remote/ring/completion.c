// SPDX-License-Identifier: MIT
/*
 * One answer at a time. The answering side reads nothing in the completion slot; the asking side
 * checks the length before it copies.
 */
#include "remote/ring/completion.h"

#include <assert.h>

#include "remote/ring/clock.h"
#include "remote/ring/shared.h"

static_assert(sizeof(struct kvgpu_completion_head) == 8 &&
		      offsetof(struct kvgpu_completion_head, result) == 0 &&
		      offsetof(struct kvgpu_completion_head, len) == 4,
	      "layout of an answer's head");
static_assert(sizeof(struct kvgpu_completion_shared) == KVGPU_COMPLETION_BYTES &&
		      offsetof(struct kvgpu_completion_shared, seq) == 0 &&
		      offsetof(struct kvgpu_completion_shared, head) == 8 &&
		      offsetof(struct kvgpu_completion_shared, payload) == 16,
	      "layout of a completion slot");

enum kvgpu_ring_status kvgpu_completion_attach(struct kvgpu_completion *b, void *mem,
					       uint32_t max_len, struct kvgpu_doorbell *doorbell)
{
	if (max_len > KVGPU_COMPLETION_LONGEST || (uintptr_t)mem % KVGPU_RING_LINE)
		return KVGPU_RING_BAD_GEOMETRY;
	*b = (struct kvgpu_completion){ .shared = mem, .max_len = max_len, .doorbell = doorbell };
	return KVGPU_RING_OK;
}

enum kvgpu_ring_status kvgpu_completion_answer(struct kvgpu_completion *b, uint64_t seq,
					       uint32_t result, const void *data, uint32_t len)
{
	struct kvgpu_completion_head head = { .result = result, .len = len };
	uint64_t word;

	if (len > b->max_len)
		return KVGPU_RING_TOO_LONG;
	if (seq <= b->last)
		return KVGPU_RING_WRONG_LENGTH;
	if (len)
		shared_copy_out(b->shared->payload, data, len);
	memcpy(&word, &head, sizeof(word));
	shared_store(&b->shared->head, word);
	shared_store_release(&b->shared->seq, seq); /* pairs with kvgpu_completion_take() */
	b->last = seq;
	b->answers++;
	if (b->doorbell)
		kvgpu_doorbell_ring(b->doorbell);
	return KVGPU_RING_OK;
}

enum kvgpu_ring_status kvgpu_completion_take(struct kvgpu_completion *b, uint64_t seq,
					     struct kvgpu_completion_head *head, void *buf,
					     size_t size)
{
	uint64_t there, word;

	if (b->status)
		return b->status;
	if (size < b->max_len)
		return KVGPU_RING_NO_ROOM;
	there = shared_load_acquire(&b->shared->seq); /* pairs with kvgpu_completion_answer() */
	if (there == b->last)
		return KVGPU_RING_EMPTY;
	if (there != seq)
		return b->status = KVGPU_RING_BAD_SEQ;
	word = shared_load(&b->shared->head);
	memcpy(head, &word, sizeof(*head));
	if (head->len > b->max_len)
		return b->status = KVGPU_RING_BAD_LENGTH;
	shared_copy_in(buf, b->shared->payload, head->len);
	b->last = seq;
	b->answers++;
	return KVGPU_RING_OK;
}

static bool has_answer(void *arg)
{
	struct kvgpu_completion *b = arg;

	return b->status || shared_load_acquire(&b->shared->seq) != b->last;
}

void kvgpu_completion_expect(const struct kvgpu_completion *b)
{
	shared_prefetch_own(b->shared);
}

/*
 * Look for an answer when it is about due. A look that is too early takes the line away from the
 * peer that is about to write to it, and so makes the answer later. One of LATER + 1 first looks is
 * too early where answers take the same time. An answer that takes much longer does not count.
 */
static bool due_answer(struct kvgpu_completion *b)
{
	enum { LATER = 8, LOOKS = 8 };
	unsigned int i;

	for (i = b->pauses / KVGPU_COMPLETION_PART; i; i--)
		clock_pause();
	if (has_answer(b)) {
		b->pauses -= !!b->pauses;
		return true;
	}
	for (i = 0; i < LOOKS; i++) {
		clock_rest();
		if (!has_answer(b))
			continue;
		if (b->pauses < KVGPU_COMPLETION_PAUSES_MAX)
			b->pauses += LATER;
		return true;
	}
	return false;
}

enum kvgpu_wait kvgpu_completion_wait(struct kvgpu_completion *b, uint64_t timeout_ns)
{
	if (b->doorbell->times.spin_ns && !b->doorbell->crowded && due_answer(b))
		return KVGPU_WAIT_READY;
	return kvgpu_doorbell_wait(b->doorbell, has_answer, b, timeout_ns);
}
