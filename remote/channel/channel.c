// SPDX-License-Identifier: MIT
/* The common part of all carriers, and the choice of the carrier that an address names. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "address.h"
#include "shmem.h"
#include "guard.h"
#include "line.h"
#include "tls.h"

void *arena_map(uint64_t bytes, int flags, void *hint)
{
	void *p = bytes && bytes <= KVGPU_REMOTE_ARENA_MAX ?
			  mmap(hint, bytes, PROT_READ | PROT_WRITE,
			       flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) :
			  MAP_FAILED;

	return p == MAP_FAILED ? NULL : p;
}

void arena_unmap(void *arena, uint64_t bytes)
{
	if (arena)
		munmap(arena, bytes);
}

void *arena_place(bool client)
{
	const uint64_t lowest = client ? 1ull << 46 : 1ull << 45, unit = 2 << 20, units = 1 << 23;
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return NULL; /* anywhere */
	return (void *)(lowest + number % units * unit);
}

bool arena_protect(void *arena, uint64_t now, uint64_t bytes)
{
	if (bytes > now)
		return !mprotect((uint8_t *)arena + now, bytes - now, PROT_READ | PROT_WRITE);
	return bytes == now || !mprotect((uint8_t *)arena + bytes, now - bytes, PROT_NONE);
}

/* ------------------------------------------------------------------ welcomes */

uint32_t welcome_result(const struct kvgpu_remote_hello *hello, uint64_t version,
			kvgpu_remote_admit admit, void *ctx)
{
	if (hello->version != version)
		return KVGPU_REMOTE_OTHER_VERSION;
	return admit ? admit(ctx) : 0;
}

int welcome_error(uint32_t result)
{
	return !result ? 0 : result == KVGPU_REMOTE_OTHER_VERSION ? -EPROTO : -EACCES;
}

static const char *refusal(uint32_t result)
{
	switch (result) {
	case KVGPU_REMOTE_FULL:
		return "the server has as many clients as it takes: its remoted.conf says how many";
	case KVGPU_REMOTE_FORBIDDEN:
		return "the server does not let this client in: its remoted.conf says so";
	case KVGPU_REMOTE_NO_LIBRARY:
		return "the server can't load its libcuda.so.1: its log says why, its remoted.conf which one";
	default:
		return "client and server are of different versions: both have to be of one build";
	}
}

int welcome_check(const struct kvgpu_remote_welcome *w, uint64_t version, const char **why)
{
	*why = "what listens there is no kvgpu-remoted";
	if (w->magic != KVGPU_REMOTE_MAGIC)
		return -EPROTO;
	*why = refusal(w->result);
	if (w->version != version || w->result)
		return -EPROTO;
	*why = "the server's arena has a size that can't be";
	return w->arena_bytes < KVGPU_REMOTE_PIECE_MAX || w->arena_bytes > KVGPU_REMOTE_ARENA_MAX ?
		       -EPROTO :
		       0;
}

/* ------------------------------------------------------------------ the client's end */

static const char *tls_folder = TLS_DIRECTORY;

void kvgpu_remote_tls_folder(const char *folder)
{
	tls_folder = folder;
}

static int begin_tls(struct line *l, const char *host, const char **why)
{
	struct tls_credentials *c;
	int r = tls_load(why);

	if (!r)
		r = tls_credentials_read(tls_folder, false, &c, why);
	if (r)
		return r;
	r = tls_begin(l->fd, c, host, &l->tls, why);
	if (!r)
		tls_forget(l->tls);
	tls_credentials_free(c);
	return r;
}

int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_notified notified,
			 void *ctx, struct kvgpu_remote_channel **out, const char **why)
{
	struct line l = { .fd = -1 };
	struct address a;
	int r = address_parse(address, false, &a, why);

	if (r)
		return r;
	if (address_is_endpoint(&a))
		return endpoint_connect(&a, version, notified, ctx, out, why);
	l.fd = address_connect(&a, why);
	if (l.fd < 0)
		return l.fd;
	line_prepare(&l);
	line_patience(&l, ADDRESS_PATIENCE_S);
	if (a.scheme == ADDRESS_SHMEM)
		return shmem_connect(&l, version, notified, ctx, out, why);
	r = a.scheme == ADDRESS_TLS ? begin_tls(&l, a.host, why) : 0;
	if (r) {
		line_close(&l);
		return r;
	}
	return stream_connect(&l, version, notified, ctx, out, why);
}

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

int kvgpu_remote_listen(const char *address, const char **why)
{
	struct address a;
	int r = address_parse(address, true, &a, why);

	return r ? r : address_listen(&a, why);
}

static bool is_unix(const struct line *l)
{
	socklen_t bytes = sizeof(int);
	int domain = 0;

	return !l->tls && !getsockopt(l->fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) &&
	       domain == AF_UNIX;
}

int kvgpu_remote_welcome_line(struct line *l, uint64_t version, uint64_t arena_bytes, uint64_t more,
			      int begun, kvgpu_remote_admit admit, void *ctx,
			      struct kvgpu_remote_port **out)
{
	struct kvgpu_remote_hello hello;
	int r;

	line_prepare(l);
	r = line_read(l, &hello, sizeof(hello));
	if (r)
		return r;
	if (hello.magic == KVGPU_REMOTE_MAGIC ||
	    (hello.magic == KVGPU_REMOTE_MAGIC_RELAY && is_unix(l)))
		return stream_welcome(l, version, arena_bytes, begun, &hello, admit, ctx, out);
	/* the memory's descriptor can only travel over a UNIX socket */
	if (hello.magic == KVGPU_REMOTE_MAGIC_SHMEM && is_unix(l))
		return shmem_welcome(l, version, arena_bytes, more, begun, &hello, admit, ctx, out);
	return -EPROTO;
}

int kvgpu_remote_welcome(int fd, uint64_t version, uint64_t arena_bytes,
			 struct kvgpu_remote_port **out)
{
	struct line l = { .fd = fd };
	int r = kvgpu_remote_welcome_line(&l, version, arena_bytes, 0, -1, NULL, NULL, out);

	if (r)
		line_close(&l);
	return r;
}

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
