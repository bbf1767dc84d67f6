/* SPDX-License-Identifier: MIT */
/*
 * A queue of frames in memory that is shared with a peer that may be hostile: one producer, one
 * consumer, no lock. Layout and guarantees: README.md.
 *
 * A frame is an operation, flags, and up to .max_len bytes of payload, in one or more slots of 64
 * bytes. Each side keeps geometry and its position in private memory.
 *
 * None of these functions blocks but the two waits. A producer or a consumer belongs to one thread
 * at a time.
 */
#ifndef KVGPU_REMOTE_RING_RING_H
#define KVGPU_REMOTE_RING_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "remote/ring/doorbell.h"

enum {
	KVGPU_RING_LINE = 64, /* a cache line; a slot is one, too */
	KVGPU_RING_FIRST_BYTES = 48, /* of payload in a frame's first slot */
	KVGPU_RING_NEXT_BYTES = 56, /* of payload in each further slot */
	KVGPU_RING_SLOTS_MIN = 2,
	KVGPU_RING_SLOTS_MAX = 1 << 20,
};

enum kvgpu_ring_status {
	KVGPU_RING_OK,
	KVGPU_RING_EMPTY, /* nothing to take now */
	KVGPU_RING_FULL, /* no room now */
	/* the statuses below: the caller is wrong; nothing was published or taken */
	KVGPU_RING_TOO_LONG, /* more than .max_len */
	KVGPU_RING_NO_ROOM, /* the caller's buffer is smaller than .max_len */
	KVGPU_RING_WRONG_LENGTH, /* other bytes were appended than were announced */
	KVGPU_RING_BAD_GEOMETRY,
	/* the statuses below: the peer is wrong, and the ring is dead from now on */
	/* a sequence number that is neither the next nor what was there before */
	KVGPU_RING_BAD_SEQ,
	KVGPU_RING_BAD_LENGTH, /* a length beyond .max_len */
	KVGPU_RING_TORN, /* a frame with a slot that is not its own */
	/* the consumer's position went back, or beyond what was published */
	KVGPU_RING_BAD_POSITION,
};

static inline bool kvgpu_ring_dead(enum kvgpu_ring_status s)
{
	return s >= KVGPU_RING_BAD_SEQ;
}

/* for logs */
const char *kvgpu_ring_status_name(enum kvgpu_ring_status s);

/* ----------------------------------------------------------------- shared memory, little endian */

/* the word behind the sequence number in a frame's first slot */
struct kvgpu_ring_head {
	uint16_t op;
	uint16_t flags;
	uint32_t len; /* of the payload, in bytes */
};

/* The sequence number of a slot is its absolute number, which never wraps, plus 1. */
union kvgpu_ring_slot {
	uint64_t seq;
	struct {
		uint64_t seq;
		uint64_t head; /* struct kvgpu_ring_head, read in one go */
		uint64_t payload[KVGPU_RING_FIRST_BYTES / 8];
	} first;
	struct {
		uint64_t seq;
		uint64_t payload[KVGPU_RING_NEXT_BYTES / 8];
	} next;
};

/* each word has a cache line of its own */
struct kvgpu_ring_shared {
	/* the consumer's position: slots that it needs no more; absolute */
	_Alignas(KVGPU_RING_LINE) uint64_t taken;
	/* of the doorbell on which the consumer sleeps */
	_Alignas(KVGPU_RING_LINE) uint32_t consumer_word;
	/* of the doorbell on which the producer sleeps */
	_Alignas(KVGPU_RING_LINE) uint32_t producer_word;
	_Alignas(KVGPU_RING_LINE) uint64_t unused;
	_Alignas(KVGPU_RING_LINE) union kvgpu_ring_slot slot[];
};

/* ------------------------------------------------------------------ geometry */

/* agreed at the handshake, never read from shared memory */
struct kvgpu_ring_config {
	/* kvgpu_ring_bytes(.slots), aligned to KVGPU_RING_LINE; stays mapped and backed */
	void *mem;
	uint32_t slots; /* a power of 2 */
	/* longest payload that is accepted, at most kvgpu_ring_longest(.slots) */
	uint32_t max_len;
	/* the doorbell on which this side sleeps; NULL: it never waits */
	struct kvgpu_doorbell *own;
	/* the doorbell that wakes the other side; NULL: it never sleeps */
	struct kvgpu_doorbell *peer;
};

/* bytes of shared memory of a ring; 0: no ring has so many slots */
size_t kvgpu_ring_bytes(uint32_t slots);

/*
 * Bytes of payload of the longest frame. It takes half of the ring: there is room for it after a
 * while.
 */
uint32_t kvgpu_ring_longest(uint32_t slots);

/* slots of a frame with @len bytes of payload */
uint32_t kvgpu_ring_slots_of(uint32_t len);

/*
 * Make an empty ring of @mem, which is then all zero, before either side attaches.
 * KVGPU_RING_BAD_GEOMETRY: no ring has so many slots.
 */
enum kvgpu_ring_status kvgpu_ring_init(void *mem, uint32_t slots);

/* ------------------------------------------------------------------ the producer */

struct kvgpu_ring_producer {
	struct kvgpu_ring_shared *shared;
	/* slots that are published; absolute. Atomic, for kvgpu_ring_expect() */
	uint64_t head;
	uint64_t taken; /* the consumer's position when it was read last */
	/* number of the frame published last, which its answer will bear; 0: there was none */
	uint64_t last_seq;
	uint32_t slots, max_len;
	/* slots of the frame that is being written, or waits for room; 0: there is none */
	uint32_t wanted;
	uint32_t done; /* bytes that were appended to that frame */
	/* where its next bytes go: .room bytes from .to on, then into slot .slot */
	uint8_t *to;
	uint32_t room;
	uint64_t slot;
	struct kvgpu_ring_head frame;
	enum kvgpu_ring_status status; /* OK, or dead */
	struct kvgpu_doorbell *own, *peer;
	uint64_t frames; /* frames that were published */
	uint64_t full_waits; /* how often the producer waited, as the ring was too full */
};

/*
 * @p is in the caller's own memory, and is overwritten. KVGPU_RING_BAD_GEOMETRY: slots, max_len or
 * alignment is wrong.
 */
enum kvgpu_ring_status kvgpu_ring_attach_producer(struct kvgpu_ring_producer *p,
						  const struct kvgpu_ring_config *config);

/*
 * A hint: a frame of this thread follows soon, so fetch the lines for its first slots. Any thread,
 * also while another is the producer's.
 */
void kvgpu_ring_expect(const struct kvgpu_ring_producer *p);

/*
 * A frame in pieces: begin, append each piece, publish. The consumer takes nothing of it before
 * kvgpu_ring_publish(); a frame that was begun may be dropped by beginning another.
 * KVGPU_RING_FULL: wait for room, or do something else. KVGPU_RING_TOO_LONG: @len.
 */
enum kvgpu_ring_status kvgpu_ring_begin(struct kvgpu_ring_producer *p, uint16_t op, uint16_t flags,
					uint32_t len);
void kvgpu_ring_append(struct kvgpu_ring_producer *p, const void *data, uint32_t len);

/*
 * KVGPU_RING_WRONG_LENGTH: the pieces don't have the @len bytes of kvgpu_ring_begin(), or no frame
 * was begun; the frame is dropped.
 */
enum kvgpu_ring_status kvgpu_ring_publish(struct kvgpu_ring_producer *p);

/* begin, append and publish at once, with their statuses */
enum kvgpu_ring_status kvgpu_ring_put(struct kvgpu_ring_producer *p, uint16_t op, uint16_t flags,
				      const struct iovec *iov, int nr);

/* Wake the consumer if it sleeps. Call after a frame, or once after several. */
void kvgpu_ring_kick(struct kvgpu_ring_producer *p);

/* How many slots are free. A frame of at most so many fits. 0: the ring is full or dead. */
uint32_t kvgpu_ring_free_slots(struct kvgpu_ring_producer *p);

/*
 * Notify, and wait until a frame of @len bytes fits or never will: KVGPU_WAIT_READY for both, and
 * the next try tells which. Needs .own. A frame that was begun is dropped.
 */
enum kvgpu_wait kvgpu_ring_wait_room(struct kvgpu_ring_producer *p, uint32_t len,
				     uint64_t timeout_ns);

/* ------------------------------------------------------------------ the consumer */

struct kvgpu_frame {
	uint64_t seq;
	uint16_t op;
	uint16_t flags;
	uint32_t len;
};

struct kvgpu_ring_consumer {
	struct kvgpu_ring_shared *shared;
	uint64_t pos; /* slots that were taken; absolute */
	uint64_t given_back; /* slots given back to the producer; absolute */
	uint32_t slots, max_len;
	enum kvgpu_ring_status status; /* OK, or dead */
	struct kvgpu_doorbell *own, *peer;
	uint64_t frames; /* frames that were taken */
};

/* as kvgpu_ring_attach_producer() */
enum kvgpu_ring_status kvgpu_ring_attach_consumer(struct kvgpu_ring_consumer *c,
						  const struct kvgpu_ring_config *config);

/*
 * Take a frame: its head goes to @f, its payload to @buf, which has @size bytes, .max_len at least.
 * With KVGPU_RING_OK its length and the numbers of its slots were checked. After an error the
 * contents of @f and @buf mean nothing.
 */
enum kvgpu_ring_status kvgpu_ring_get(struct kvgpu_ring_consumer *c, struct kvgpu_frame *f,
				      void *buf, size_t size);

/*
 * Wait for a frame, or for the ring to be dead: KVGPU_WAIT_READY for both. Needs .own. Call after
 * kvgpu_ring_get() returned KVGPU_RING_EMPTY, and so gave all slots back.
 */
enum kvgpu_wait kvgpu_ring_wait_frame(struct kvgpu_ring_consumer *c, uint64_t timeout_ns);

/* Whether kvgpu_ring_get() would return anything but KVGPU_RING_EMPTY. @arg: the consumer. */
bool kvgpu_ring_has_frame(void *arg);

#endif
