// SPDX-License-Identifier: MIT
/*
 * Producer and consumer. Each counts slots absolutely. Slot n lies at n modulo the number of slots
 * and is published when its sequence number is n + 1; before that it has the number of one lap ago,
 * or 0.
 */
#include "remote/ring/ring.h"

#include <assert.h>

#include "remote/ring/shared.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "shared memory is little endian");
static_assert(sizeof(struct kvgpu_ring_head) == 8 && offsetof(struct kvgpu_ring_head, op) == 0 &&
		      offsetof(struct kvgpu_ring_head, flags) == 2 &&
		      offsetof(struct kvgpu_ring_head, len) == 4,
	      "layout of a frame's head");
static_assert(sizeof(union kvgpu_ring_slot) == KVGPU_RING_LINE &&
		      offsetof(union kvgpu_ring_slot, first.seq) == 0 &&
		      offsetof(union kvgpu_ring_slot, next.seq) == 0,
	      "a slot is a line and begins with its number");
static_assert(offsetof(union kvgpu_ring_slot, first.head) == 8 &&
		      offsetof(union kvgpu_ring_slot, first.payload) == 16 &&
		      offsetof(union kvgpu_ring_slot, next.payload) == 8,
	      "layout of slots");
static_assert(offsetof(struct kvgpu_ring_shared, taken) == 0 &&
		      offsetof(struct kvgpu_ring_shared, consumer_word) == 64 &&
		      offsetof(struct kvgpu_ring_shared, producer_word) == 128 &&
		      offsetof(struct kvgpu_ring_shared, slot) == 256,
	      "layout of a ring");

/* ------------------------------------------------------------------ geometry */

static bool slots_ok(uint32_t slots)
{
	return slots >= KVGPU_RING_SLOTS_MIN && slots <= KVGPU_RING_SLOTS_MAX &&
	       !(slots & (slots - 1));
}

size_t kvgpu_ring_bytes(uint32_t slots)
{
	return slots_ok(slots) ? sizeof(struct kvgpu_ring_shared) +
					 (size_t)slots * sizeof(union kvgpu_ring_slot) :
				 0;
}

uint32_t kvgpu_ring_longest(uint32_t slots)
{
	return slots_ok(slots) ? KVGPU_RING_FIRST_BYTES + (slots / 2 - 1) * KVGPU_RING_NEXT_BYTES :
				 0;
}

uint32_t kvgpu_ring_slots_of(uint32_t len)
{
	if (len <= KVGPU_RING_FIRST_BYTES)
		return 1;
	len -= KVGPU_RING_FIRST_BYTES;
	return 1 + len / KVGPU_RING_NEXT_BYTES + !!(len % KVGPU_RING_NEXT_BYTES);
}

enum kvgpu_ring_status kvgpu_ring_init(void *mem, uint32_t slots)
{
	if (!slots_ok(slots))
		return KVGPU_RING_BAD_GEOMETRY;
	memset(mem, 0, kvgpu_ring_bytes(slots));
	return KVGPU_RING_OK;
}

static bool config_ok(const struct kvgpu_ring_config *config)
{
	return slots_ok(config->slots) && config->max_len <= kvgpu_ring_longest(config->slots) &&
	       !((uintptr_t)config->mem % KVGPU_RING_LINE);
}

static union kvgpu_ring_slot *slot_at(struct kvgpu_ring_shared *shared, uint32_t slots, uint64_t n)
{
	return &shared->slot[n & (slots - 1)];
}

const char *kvgpu_ring_status_name(enum kvgpu_ring_status s)
{
	static const char *const name[] = {
		[KVGPU_RING_OK] = "ok",
		[KVGPU_RING_EMPTY] = "empty",
		[KVGPU_RING_FULL] = "full",
		[KVGPU_RING_TOO_LONG] = "payload too long",
		[KVGPU_RING_NO_ROOM] = "buffer too small",
		[KVGPU_RING_WRONG_LENGTH] = "not what was announced",
		[KVGPU_RING_BAD_GEOMETRY] = "bad geometry",
		[KVGPU_RING_BAD_SEQ] = "peer wrote a wrong sequence number",
		[KVGPU_RING_BAD_LENGTH] = "peer wrote a wrong length",
		[KVGPU_RING_TORN] = "peer published a torn frame",
		[KVGPU_RING_BAD_POSITION] = "peer wrote a wrong position",
	};

	return (size_t)s < sizeof(name) / sizeof(name[0]) ? name[s] : "unknown";
}

/* ------------------------------------------------------------------ the producer */

enum kvgpu_ring_status kvgpu_ring_attach_producer(struct kvgpu_ring_producer *p,
						  const struct kvgpu_ring_config *config)
{
	if (!config_ok(config))
		return KVGPU_RING_BAD_GEOMETRY;
	*p = (struct kvgpu_ring_producer){
		.shared = config->mem,
		.slots = config->slots,
		.max_len = config->max_len,
		.own = config->own,
		.peer = config->peer,
	};
	return KVGPU_RING_OK;
}

static uint32_t free_now(const struct kvgpu_ring_producer *p)
{
	return p->slots - (uint32_t)(p->head - p->taken);
}

/* read the consumer's position, which may only grow, and not beyond what was published */
static void look_at_position(struct kvgpu_ring_producer *p)
{
	uint64_t taken = shared_load_acquire(&p->shared->taken);

	if (taken - p->taken > p->head - p->taken)
		p->status = KVGPU_RING_BAD_POSITION;
	else
		p->taken = taken;
}

static bool has_room(struct kvgpu_ring_producer *p, uint32_t slots)
{
	if (free_now(p) < slots)
		look_at_position(p);
	return free_now(p) >= slots;
}

/* so many lines of a long frame are fetched before they are written */
enum { AHEAD = 16 };

void kvgpu_ring_expect(const struct kvgpu_ring_producer *p)
{
	uint64_t head = __atomic_load_n(&p->head, __ATOMIC_RELAXED);

	shared_prefetch_own(slot_at(p->shared, p->slots, head));
	shared_prefetch_own(slot_at(p->shared, p->slots, head + 1));
}

enum kvgpu_ring_status kvgpu_ring_begin(struct kvgpu_ring_producer *p, uint16_t op, uint16_t flags,
					uint32_t len)
{
	uint32_t slots, i;

	p->wanted = 0;
	if (p->status)
		return p->status;
	if (len > p->max_len)
		return KVGPU_RING_TOO_LONG;
	slots = kvgpu_ring_slots_of(len);
	if (!has_room(p, slots))
		return p->status ? p->status : KVGPU_RING_FULL;
	p->frame = (struct kvgpu_ring_head){ .op = op, .flags = flags, .len = len };
	p->wanted = slots;
	p->done = 0;
	p->to = (uint8_t *)slot_at(p->shared, p->slots, p->head)->first.payload;
	p->room = KVGPU_RING_FIRST_BYTES;
	p->slot = p->head + 1;
	for (i = 2; i < slots && i <= AHEAD; i++)
		shared_prefetch_own(slot_at(p->shared, p->slots, p->head + i));
	return KVGPU_RING_OK;
}

static void next_slot(struct kvgpu_ring_producer *p)
{
	if (p->slot + AHEAD < p->head + p->wanted)
		shared_prefetch_own(slot_at(p->shared, p->slots, p->slot + AHEAD));
	p->to = (uint8_t *)slot_at(p->shared, p->slots, p->slot++)->next.payload;
	p->room = KVGPU_RING_NEXT_BYTES;
}

void kvgpu_ring_append(struct kvgpu_ring_producer *p, const void *data, uint32_t len)
{
	const uint8_t *from = data;
	uint32_t n;

	if (!p->wanted || len > p->frame.len - p->done) {
		p->wanted = 0;
		return;
	}
	p->done += len;
	for (; len; len -= n, from += n, p->to += n, p->room -= n) {
		if (!p->room)
			next_slot(p);
		n = p->room < len ? p->room : len;
		shared_copy_out(p->to, from, n);
	}
}

enum kvgpu_ring_status kvgpu_ring_publish(struct kvgpu_ring_producer *p)
{
	uint32_t i, slots = p->wanted;
	union kvgpu_ring_slot *slot;
	uint64_t head;

	p->wanted = 0;
	if (p->status)
		return p->status;
	if (!slots || p->done != p->frame.len)
		return KVGPU_RING_WRONG_LENGTH;
	/*
	 * not earlier: sequence numbers of a frame that is dropped would publish slots of a later
	 * frame
	 */
	for (i = 1; i < slots; i++) {
		slot = slot_at(p->shared, p->slots, p->head + i);
		shared_store(&slot->seq, p->head + i + 1);
	}
	memcpy(&head, &p->frame, sizeof(head));
	slot = slot_at(p->shared, p->slots, p->head);
	shared_store(&slot->first.head, head);
	shared_store_release(&slot->seq, p->head + 1); /* pairs with kvgpu_ring_get() */
	p->last_seq = p->head + 1;
	__atomic_store_n(&p->head, p->head + slots, __ATOMIC_RELAXED);
	p->frames++;
	return KVGPU_RING_OK;
}

enum kvgpu_ring_status kvgpu_ring_put(struct kvgpu_ring_producer *p, uint16_t op, uint16_t flags,
				      const struct iovec *iov, int nr)
{
	enum kvgpu_ring_status s;
	size_t len = 0;
	int i;

	for (i = 0; i < nr; i++) {
		if (iov[i].iov_len > p->max_len - len)
			return p->status ? p->status : KVGPU_RING_TOO_LONG;
		len += iov[i].iov_len;
	}
	s = kvgpu_ring_begin(p, op, flags, (uint32_t)len);
	if (s)
		return s;
	for (i = 0; i < nr; i++)
		kvgpu_ring_append(p, iov[i].iov_base, (uint32_t)iov[i].iov_len);
	return kvgpu_ring_publish(p);
}

void kvgpu_ring_kick(struct kvgpu_ring_producer *p)
{
	if (p->peer)
		kvgpu_doorbell_ring(p->peer);
}

uint32_t kvgpu_ring_free_slots(struct kvgpu_ring_producer *p)
{
	if (!p->status)
		look_at_position(p);
	return p->status ? 0 : free_now(p);
}

/* true also if the ring is dead: the next try says so */
static bool ready_for_frame(void *arg)
{
	struct kvgpu_ring_producer *p = arg;

	return p->status || has_room(p, p->wanted) || p->status;
}

enum kvgpu_wait kvgpu_ring_wait_room(struct kvgpu_ring_producer *p, uint32_t len,
				     uint64_t timeout_ns)
{
	enum kvgpu_wait w;

	if (len > p->max_len)
		return KVGPU_WAIT_READY;
	p->wanted = kvgpu_ring_slots_of(len);
	p->full_waits++;
	/* a consumer that sleeps while the ring is full would never make room */
	kvgpu_ring_kick(p);
	w = kvgpu_doorbell_wait(p->own, ready_for_frame, p, timeout_ns);
	p->wanted = 0;
	return w;
}

/* ------------------------------------------------------------------ the consumer */

enum kvgpu_ring_status kvgpu_ring_attach_consumer(struct kvgpu_ring_consumer *c,
						  const struct kvgpu_ring_config *config)
{
	if (!config_ok(config))
		return KVGPU_RING_BAD_GEOMETRY;
	*c = (struct kvgpu_ring_consumer){
		.shared = config->mem,
		.slots = config->slots,
		.max_len = config->max_len,
		.own = config->own,
		.peer = config->peer,
	};
	return KVGPU_RING_OK;
}

/* the sequence number in the next frame's first slot, while that frame is not published */
static uint64_t seq_before(const struct kvgpu_ring_consumer *c)
{
	return c->pos < c->slots ? 0 : c->pos + 1 - c->slots;
}

/*
 * Tell the producer that it may use the slots. The release keeps the reads of them before this
 * store.
 */
static void give_back(struct kvgpu_ring_consumer *c)
{
	c->given_back = c->pos;
	shared_store_release(&c->shared->taken, c->pos); /* pairs with look_at_position() */
	if (c->peer)
		kvgpu_doorbell_ring(c->peer);
}

/* the payload of a frame of @len bytes, whose first slot is at the consumer's position */
static enum kvgpu_ring_status copy_payload(struct kvgpu_ring_consumer *c, uint8_t *buf,
					   uint32_t len)
{
	union kvgpu_ring_slot *slot = slot_at(c->shared, c->slots, c->pos);
	uint32_t n = len < KVGPU_RING_FIRST_BYTES ? len : KVGPU_RING_FIRST_BYTES;
	uint64_t at = c->pos;

	shared_copy_in(buf, slot->first.payload, n);
	for (len -= n, buf += n; len; len -= n, buf += n) {
		slot = slot_at(c->shared, c->slots, ++at);
		if (shared_load(&slot->seq) != at + 1)
			return c->status = KVGPU_RING_TORN;
		n = len < KVGPU_RING_NEXT_BYTES ? len : KVGPU_RING_NEXT_BYTES;
		shared_copy_in(buf, slot->next.payload, n);
	}
	return KVGPU_RING_OK;
}

enum kvgpu_ring_status kvgpu_ring_get(struct kvgpu_ring_consumer *c, struct kvgpu_frame *f,
				      void *buf, size_t size)
{
	union kvgpu_ring_slot *slot = slot_at(c->shared, c->slots, c->pos);
	struct kvgpu_ring_head head;
	uint64_t seq, word;

	if (c->status)
		return c->status;
	if (size < c->max_len)
		return KVGPU_RING_NO_ROOM;
	seq = shared_load_acquire(&slot->seq); /* pairs with kvgpu_ring_publish() */
	if (seq != c->pos + 1) {
		if (seq != seq_before(c))
			return c->status = KVGPU_RING_BAD_SEQ;
		if (c->given_back != c->pos)
			give_back(c);
		return KVGPU_RING_EMPTY;
	}
	word = shared_load(&slot->first.head);
	memcpy(&head, &word, sizeof(head));
	if (head.len > c->max_len)
		return c->status = KVGPU_RING_BAD_LENGTH;
	if (copy_payload(c, buf, head.len))
		return c->status;
	*f = (struct kvgpu_frame){
		.seq = seq,
		.op = head.op,
		.flags = head.flags,
		.len = head.len,
	};
	c->pos += kvgpu_ring_slots_of(head.len);
	c->frames++;
	/* fetch the next frame's lines while this one is carried out */
	shared_prefetch(slot_at(c->shared, c->slots, c->pos));
	shared_prefetch(slot_at(c->shared, c->slots, c->pos + 1));
	if (c->pos - c->given_back >= (c->slots + 3) / 4)
		give_back(c);
	return KVGPU_RING_OK;
}

bool kvgpu_ring_has_frame(void *arg)
{
	struct kvgpu_ring_consumer *c = arg;

	return c->status ||
	       shared_load_acquire(&slot_at(c->shared, c->slots, c->pos)->seq) != seq_before(c);
}

enum kvgpu_wait kvgpu_ring_wait_frame(struct kvgpu_ring_consumer *c, uint64_t timeout_ns)
{
	return kvgpu_doorbell_wait(c->own, kvgpu_ring_has_frame, c, timeout_ns);
}
