// SPDX-License-Identifier: MIT
/* What all carriers have in common, and which one an address names. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aperture.h"
#include "stream.h"

void *arena_map(uint64_t bytes)
{
	void *p = bytes && bytes <= KVGPU_REMOTE_ARENA_MAX ?
		  mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;

	return p == MAP_FAILED ? NULL : p;
}

void arena_unmap(void *arena, uint64_t bytes)
{
	if (arena)
		munmap(arena, bytes);
}

/* ------------------------------------------------------------------ the client's end */

int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_happened happened, void *ctx,
			 struct kvgpu_remote_channel **out, const char **why)
{
	struct address at;
	int fd, r = address_parse(address, &at, why);

	if (r)
		return r;
	if (at.kind == ADDRESS_PLACE)
		return place_connect(&at, version, happened, ctx, out, why);
	fd = address_connect(at.path, why);
	if (fd < 0)
		return fd;
	return at.kind == ADDRESS_STREAM ? stream_connect(fd, version, happened, ctx, out, why) :
	       aperture_connect(fd, version, happened, ctx, out, why);
}

void kvgpu_remote_disconnect(struct kvgpu_remote_channel *c)
{
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
	*bytes = c->arena_bytes;
	return c->arena;
}

/* who was told that it is gone finds it gone */
static int seen(struct kvgpu_remote_channel *c, int r)
{
	if (r == -ECONNRESET)
		__atomic_store_n(&c->gone, true, __ATOMIC_SEQ_CST);
	return r;
}

int kvgpu_remote_send(struct kvgpu_remote_channel *c, uint16_t op, unsigned int box, const struct iovec *parts, unsigned int n,
		      uint64_t *seq)
{
	struct kvgpu_remote_head h = { .op = op, .box = box };
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		bytes += parts[i].iov_len;
	if (bytes > KVGPU_REMOTE_PAYLOAD_MAX || bytes % 8)
		return -EINVAL;
	h.bytes = bytes;
	h.seq = ++c->seq;
	if (box)
		box_prepare(c, box);
	*seq = h.seq;
	return kvgpu_remote_is_gone(c) ? -ECONNRESET : seen(c, c->carrier->send(c, &h, parts, n));
}

int kvgpu_remote_push(struct kvgpu_remote_channel *c, uint64_t at, uint64_t bytes)
{
	return kvgpu_remote_is_gone(c) ? -ECONNRESET : c->carrier->push(c, at, bytes);
}

int kvgpu_remote_await(struct kvgpu_remote_channel *c, unsigned int box, uint64_t seq, struct kvgpu_remote_answer *a,
		       const void **payload)
{
	return seen(c, c->carrier->await(c, box, seq, a, payload));
}

bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c)
{
	return c->shared;
}

int kvgpu_remote_ack(struct kvgpu_remote_channel *c, uint64_t id)
{
	struct kvgpu_remote_head h = { .op = KVGPU_REMOTE_OP_ACK, .bytes = sizeof(struct kvgpu_remote_ack) };
	struct kvgpu_remote_ack ack = { .id = id };
	struct iovec part = { &ack, sizeof(ack) };

	return kvgpu_remote_is_gone(c) ? -ECONNRESET : c->carrier->send(c, &h, &part, 1);
}

/* ------------------------------------------------------------------ the server's */

int kvgpu_remote_welcome(int fd, uint64_t version, uint64_t arena_bytes, struct kvgpu_remote_port **out)
{
	struct kvgpu_remote_hello hello;
	int r;

	stream_prepare(fd);
	r = stream_read(fd, &hello, sizeof(hello));
	if (!r && hello.magic == KVGPU_REMOTE_MAGIC)
		return stream_welcome(fd, version, arena_bytes, &hello, out);
	if (!r && hello.magic == KVGPU_REMOTE_MAGIC_APERTURE)
		return aperture_welcome(fd, version, arena_bytes, &hello, out);
	close(fd);
	return r ? r : -EPROTO;
}

int kvgpu_remote_listen(const char *address, const char **why)
{
	struct address at;
	int r = address_parse(address, &at, why);

	*why = r ? *why : "that is a file, where nobody can listen";
	return r ? r : at.kind == ADDRESS_PLACE ? -EINVAL : address_listen(at.path, why);
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

bool kvgpu_remote_port_is_shared(const struct kvgpu_remote_port *p)
{
	return p->shared;
}

int kvgpu_remote_next(struct kvgpu_remote_port *p, int64_t timeout_us, struct kvgpu_remote_head *h, const void **payload)
{
	return p->carrier->next(p, timeout_us, h, payload);
}

int kvgpu_remote_reply(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to, uint32_t result, const void *payload,
		       size_t n)
{
	return p->carrier->reply(p, to, result, payload, n);
}

int kvgpu_remote_return(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes)
{
	return p->carrier->give(p, at, bytes);
}

int kvgpu_remote_happen(struct kvgpu_remote_port *p, const struct kvgpu_remote_happening *h, const void *bytes, size_t n)
{
	return p->carrier->happen(p, h, bytes, n);
}

int kvgpu_remote_call(struct kvgpu_remote_port *p, const struct kvgpu_remote_happening *h, uint64_t invocation)
{
	return p->carrier->call(p, h, invocation);
}

void kvgpu_remote_await_end(struct kvgpu_remote_port *p)
{
	p->carrier->await_end(p);
}
