/* SPDX-License-Identifier: MIT */
/*
 * Answers. A completion slot in shared memory takes the answer to one call at a time. The call is a
 * frame in a ring; its answer bears the frame's sequence number.
 *
 * A completion slot whose answer a thread gave up on must not be used again, by any thread: the
 * late answer has a wrong number for the next call.
 */
#ifndef KVGPU_REMOTE_RING_COMPLETION_H
#define KVGPU_REMOTE_RING_COMPLETION_H

#include "remote/ring/ring.h"

enum { KVGPU_COMPLETION_BYTES = 4096, KVGPU_COMPLETION_LONGEST = KVGPU_COMPLETION_BYTES - 16 };

/* the word behind the sequence number */
struct kvgpu_completion_head {
	uint32_t result; /* of the call; has no meaning here */
	uint32_t len; /* of the payload, in bytes */
};

/* little endian. The answering side writes, the asking side reads */
struct kvgpu_completion_shared {
	_Alignas(KVGPU_RING_LINE) uint64_t seq; /* of the last answer; 0: there was none */
	uint64_t head; /* struct kvgpu_completion_head, read in one go */
	uint64_t payload[KVGPU_COMPLETION_LONGEST / 8];
};

/* a side of a completion slot, in the caller's own memory */
struct kvgpu_completion {
	struct kvgpu_completion_shared *shared;
	uint64_t last; /* sequence number of the last answer */
	uint32_t max_len;
	enum kvgpu_ring_status status; /* OK, or dead */
	/*
	 * asking side: the doorbell on which it sleeps; answering side: the doorbell that it rings,
	 * or NULL
	 */
	struct kvgpu_doorbell *doorbell;
	uint64_t answers; /* answers that this side gave, or took */
	/* asking side: pauses before the first look for an answer, times KVGPU_COMPLETION_PART */
	unsigned int pauses;
};

enum { KVGPU_COMPLETION_PART = 64, KVGPU_COMPLETION_PAUSES_MAX = 24 * KVGPU_COMPLETION_PART };

/*
 * @mem: KVGPU_COMPLETION_BYTES of shared memory, zero when the first side attaches. @max_len: as
 * agreed at the handshake, at most KVGPU_COMPLETION_LONGEST. KVGPU_RING_BAD_GEOMETRY: @max_len is
 * larger, or @mem is misaligned.
 */
enum kvgpu_ring_status kvgpu_completion_attach(struct kvgpu_completion *b, void *mem,
					       uint32_t max_len, struct kvgpu_doorbell *doorbell);

/*
 * The answering side: publish the answer to call @seq, which has none yet, and wake the asking
 * side.
 * KVGPU_RING_TOO_LONG: @len is more than max_len. KVGPU_RING_WRONG_LENGTH: @seq is not later than
 * the last answer's.
 */
enum kvgpu_ring_status kvgpu_completion_answer(struct kvgpu_completion *b, uint64_t seq,
					       uint32_t result, const void *data, uint32_t len);

/* The answering side, a hint: an answer follows soon, so fetch the line for it. */
void kvgpu_completion_expect(const struct kvgpu_completion *b);

/*
 * The asking side: take the answer to call @seq. Its payload goes to @buf, which has @size bytes,
 * max_len at least. KVGPU_RING_EMPTY: there is no answer yet. The completion slot is dead after
 * KVGPU_RING_BAD_SEQ, an answer to another call, and after KVGPU_RING_BAD_LENGTH.
 */
enum kvgpu_ring_status kvgpu_completion_take(struct kvgpu_completion *b, uint64_t seq,
					     struct kvgpu_completion_head *head, void *buf,
					     size_t size);

/* Wait for an answer, or for the completion slot to be dead: KVGPU_WAIT_READY for both. */
enum kvgpu_wait kvgpu_completion_wait(struct kvgpu_completion *b, uint64_t timeout_ns);

#endif
