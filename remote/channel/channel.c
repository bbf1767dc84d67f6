// SPDX-License-Identifier: MIT
/* The common part of all carriers. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "carrier.h"
#include "guard.h"

/* ------------------------------------------------------------------ the client's end */

void kvgpu_remote_disconnect(struct kvgpu_remote_channel *c)
{
	guard_also(NULL, c->arena, 0);
	if (c->again)
		munmap(c->again, c->arena_most);
	c->carrier->close(c);
}

void kvgpu_remote_forked(struct kvgpu_remote_channel *c)
{
	__atomic_store_n(&c->gone, true, __ATOMIC_SEQ_CST);
	c->carrier->forked(c);
}

bool kvgpu_remote_is_gone(const struct kvgpu_remote_channel *c)
{
	return __atomic_load_n(&c->gone, __ATOMIC_ACQUIRE);
}

void *kvgpu_remote_arena(struct kvgpu_remote_channel *c, uint64_t *bytes)
{
	*bytes = __atomic_load_n(&c->arena_bytes, __ATOMIC_RELAXED);
	return c->arena;
}

uint64_t kvgpu_remote_arena_most(const struct kvgpu_remote_channel *c,
				 enum kvgpu_remote_bound *bound)
{
	*bound = c->bound;
	return c->arena_most;
}

bool kvgpu_remote_arena_resize(struct kvgpu_remote_channel *c, uint64_t bytes)
{
	const uint64_t now = c->arena_bytes;

	if (bytes > c->arena_most || !arena_protect(c->arena, now, bytes))
		return false;
	if (c->again && !arena_protect(c->again, now, bytes)) {
		arena_protect(c->arena, bytes, now);
		return false;
	}
	__atomic_store_n(&c->arena_bytes, bytes, __ATOMIC_RELAXED);
	return true;
}

/*
 * mremap() with an old size of 0 makes a second mapping of the same memory. The place is reserved
 * before, so that no other mapping is replaced.
 */
void *kvgpu_remote_arena_at(struct kvgpu_remote_channel *c, uint64_t where)
{
	void *want = (void *)(uintptr_t)where, *got;

	if (where < KVGPU_REMOTE_LOWEST || where % sysconf(_SC_PAGESIZE) || c->again)
		return NULL;
	if (want == c->arena)
		return want;
	got = mmap(want, c->arena_most, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (got == want &&
	    mremap(c->arena, 0, c->arena_most, MREMAP_MAYMOVE | MREMAP_FIXED, want) == want &&
	    arena_protect(want, c->arena_most, c->arena_bytes)) {
		guard_also(want, c->arena, c->arena_bytes);
		c->again = want;
		return want;
	}
	if (got != MAP_FAILED)
		munmap(got, c->arena_most);
	return NULL;
}

/* -ECONNRESET: the channel is gone from now on */
static int note_end(struct kvgpu_remote_channel *c, int r)
{
	if (r == -ECONNRESET)
		__atomic_store_n(&c->gone, true, __ATOMIC_SEQ_CST);
	return r;
}

int kvgpu_remote_send(struct kvgpu_remote_channel *c, uint16_t op, unsigned int completion,
		      const struct iovec *parts, unsigned int n, uint64_t *seq)
{
	struct kvgpu_remote_head h = { .op = op, .completion = completion };
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		bytes += parts[i].iov_len;
	if (bytes > KVGPU_REMOTE_PAYLOAD_MAX || bytes % 8)
		return -EINVAL;
	h.bytes = bytes;
	h.seq = ++c->seq;
	if (completion)
		completion_prepare(c, completion);
	*seq = h.seq;
	return kvgpu_remote_is_gone(c) ? -ECONNRESET :
					 note_end(c, c->carrier->send(c, &h, parts, n));
}

void kvgpu_remote_expect(struct kvgpu_remote_channel *c)
{
	if (c->carrier->expect)
		c->carrier->expect(c);
}

int kvgpu_remote_push(struct kvgpu_remote_channel *c, uint64_t at, const void *from, uint64_t bytes)
{
	return kvgpu_remote_is_gone(c) ? -ECONNRESET : c->carrier->push(c, at, from, bytes);
}

int kvgpu_remote_lend(struct kvgpu_remote_channel *c, int file)
{
	return !c->carrier->lend       ? -ENOTSUP :
	       kvgpu_remote_is_gone(c) ? -ECONNRESET :
					 c->carrier->lend(c, file);
}

int kvgpu_remote_fetch(struct kvgpu_remote_channel *c, const struct kvgpu_remote_pull *pull)
{
	if (!c->has_relay)
		return -ENOTSUP;
	return kvgpu_remote_is_gone(c) ? -ECONNRESET : c->carrier->fetch(c, pull);
}

int kvgpu_remote_await(struct kvgpu_remote_channel *c, unsigned int completion, uint64_t seq,
		       struct kvgpu_remote_answer *a, const void **payload)
{
	return note_end(c, c->carrier->await(c, completion, seq, a, payload));
}

bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c)
{
	return c->shared;
}

const struct kvgpu_remote_relayed *kvgpu_remote_relay(const struct kvgpu_remote_channel *c)
{
	return c->has_relay ? &c->relay : NULL;
}

int kvgpu_remote_ack(struct kvgpu_remote_channel *c, uint64_t id)
{
	struct kvgpu_remote_head h = { .op = KVGPU_REMOTE_OP_ACK,
				       .bytes = sizeof(struct kvgpu_remote_ack) };
	struct kvgpu_remote_ack ack = { .id = id };
	struct iovec part = { &ack, sizeof(ack) };

	return kvgpu_remote_is_gone(c) ? -ECONNRESET : c->carrier->send(c, &h, &part, 1);
}

/* ------------------------------------------------------------------ the server's end */

void kvgpu_remote_port_bytes(const struct kvgpu_remote_port *p, uint64_t *received, uint64_t *sent)
{
	*received = __atomic_load_n(&p->received, __ATOMIC_RELAXED);
	*sent = __atomic_load_n(&p->sent, __ATOMIC_RELAXED);
}

void kvgpu_remote_port_close(struct kvgpu_remote_port *p)
{
	p->carrier->close(p);
}

void *kvgpu_remote_port_arena(struct kvgpu_remote_port *p, uint64_t *bytes)
{
	*bytes = p->arena_bytes;
	return p->arena;
}

bool kvgpu_remote_port_resize(struct kvgpu_remote_port *p, uint64_t bytes)
{
	const uint64_t now = p->arena_bytes;

	if (bytes > p->arena_most || !arena_protect(p->arena, now, bytes))
		return false;
	p->arena_bytes = bytes;
	return true;
}

bool kvgpu_remote_port_is_shared(const struct kvgpu_remote_port *p)
{
	return p->shared;
}

int kvgpu_remote_lent(struct kvgpu_remote_port *p)
{
	return p->carrier->lent ? p->carrier->lent(p) : -ENOTSUP;
}

int kvgpu_remote_next(struct kvgpu_remote_port *p, int64_t timeout_us, struct kvgpu_remote_head *h,
		      const void **payload)
{
	int r = p->carrier->next(p, timeout_us, h, payload);

	if (r == 1)
		port_received(p, sizeof(*h) + h->bytes);
	return r;
}

int kvgpu_remote_reply(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to,
		       uint32_t result, const void *payload, size_t n)
{
	int r = p->carrier->reply(p, to, result, payload, n);

	port_sent(p, sizeof(struct kvgpu_remote_answer) + n);
	return r;
}

int kvgpu_remote_return(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes)
{
	if (!p->shared)
		port_sent(p, bytes);
	return p->carrier->give(p, at, bytes);
}

int kvgpu_remote_notify(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
			const void *bytes, size_t n)
{
	return p->carrier->notify(p, h, bytes, n);
}

int kvgpu_remote_call(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
		      uint64_t invocation)
{
	return p->carrier->call(p, h, invocation);
}

void kvgpu_remote_await_end(struct kvgpu_remote_port *p)
{
	p->carrier->await_end(p);
}
