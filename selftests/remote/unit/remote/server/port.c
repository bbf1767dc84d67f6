// SPDX-License-Identifier: MIT
/* A port without a client, and a server on it with the fake library; see fake.h. */
#include "fake.h"

#include <assert.h>
#include <errno.h>
#include <remote/channel/carrier.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

unsigned int fake_answers, fake_given;
struct kvgpu_remote_answer fake_last;
uint64_t fake_payload[KVGPU_REMOTE_PAYLOAD_MAX / 8];
unsigned int fake_notified[8];
uint64_t fake_event_id;
void (*fake_in_call)(void);

static int reply(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to, uint32_t result,
		 const void *payload, size_t n)
{
	assert(n % 8 == 0 && n <= KVGPU_REMOTE_PAYLOAD_MAX);
	fake_answers++;
	fake_last = (struct kvgpu_remote_answer){ to->seq, result, n };
	if (n)
		memcpy(fake_payload, payload, n);
	return 0;
}

static int give(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes)
{
	fake_read((uint8_t *)p->arena + at, bytes);
	fake_given++;
	return 0;
}

int (*fake_next)(struct kvgpu_remote_head *h, const void **payload);

static int next(struct kvgpu_remote_port *p, int64_t timeout, struct kvgpu_remote_head *h,
		const void **payload)
{
	return fake_next ? fake_next(h, payload) : 0;
}
static int notify_client(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
			 const void *bytes, size_t n)
{
	fake_read(bytes, n);
	fake_notified[h->kind % 8]++;
	fake_event_id = h->id;
	return 0;
}
static int call_client(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
		       uint64_t invocation)
{
	if (fake_in_call)
		fake_in_call();
	return notify_client(p, h, &invocation, sizeof(invocation));
}
int fake_lent = -1;

static int lent(struct kvgpu_remote_port *p)
{
	int file = fake_lent;

	fake_lent = -1;
	return file < 0 ? -EPROTO : file;
}

static void await_end(struct kvgpu_remote_port *p)
{
}
static void close_port(struct kvgpu_remote_port *p)
{
}

static const struct port_carrier carrier = { .next = next,
					     .reply = reply,
					     .give = give,
					     .notify = notify_client,
					     .call = call_client,
					     .lent = lent,
					     .await_end = await_end,
					     .close = close_port };

void fake_begin(struct server *s, uint64_t arena_bytes)
{
	struct kvgpu_remote_port *p = calloc(1, sizeof(*p));

	*p = (struct kvgpu_remote_port){ .carrier = &carrier,
					 .arena = calloc(1, arena_bytes),
					 .arena_bytes = arena_bytes };
	memset(s, 0, sizeof(*s));
	s->port = p;
	fake_library(&s->library);
	assert(!server_init(s));
	fake_answers = fake_given = 0;
	memset(fake_notified, 0, sizeof(fake_notified));
	fake_start();
}

void fake_share(struct server *s)
{
	struct kvgpu_remote_port *p = s->port;

	p->shared = true;
	p->arena_most = p->arena_bytes + FAKE_MORE;
	free(p->arena);
	p->arena = mmap(NULL, p->arena_most, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			0);
	assert(p->arena != MAP_FAILED && arena_protect(p->arena, p->arena_most, p->arena_bytes));
	s->arena = p->arena;
	s->options.pinned = FAKE_MORE;
}

void fake_others(struct server *s)
{
	int fd = pool_make(1);

	assert(fd >= 0);
	s->quota.pool = pool_map(fd, 1);
	s->quota.nr_programs = 1;
	assert(s->quota.pool);
	close(fd);
}

void fake_end(struct server *s)
{
	server_fini(s);
	if (s->quota.pool)
		pool_unmap(s->quota.pool, s->quota.nr_programs);
	if (s->port->arena_most)
		munmap(s->port->arena, s->port->arena_most);
	else
		free(s->port->arena);
	free(s->port);
	fake_stop();
}

CUresult fake_frame(struct server *s, uint16_t op, const void *payload, size_t n)
{
	static uint64_t seq;
	struct kvgpu_remote_head h = { .seq = ++seq, .op = op, .completion = 1, .bytes = n };
	/* a byte longer alone, so that a read of a word behind the end is found */
	uint64_t *copy = malloc(n + 1);

	if (n)
		memcpy(copy, payload, n);
	fake_last = (struct kvgpu_remote_answer){ 0 };
	if (s->sched)
		sched_frame(s, &h, copy);
	else
		serve_frame(s, &h, copy);
	free(copy);
	return fake_last.result;
}
