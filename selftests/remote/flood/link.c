// SPDX-License-Identifier: GPL-2.0-only
/* The attacking client's end of a shmem region between processes, and of a stream. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <remote/channel/stream.h>
#include <remote/ring/shared.h>

#include "link.h"

enum { OP_NOTHING = 0xfff0, FLUSH_FROM = 64 << 10, MOMENT_MS = 20 };

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------ notifications */

void link_acknowledge(struct link *l, uint64_t invocation)
{
	struct kvgpu_remote_head h = { .op = KVGPU_REMOTE_OP_ACK, .bytes = sizeof(invocation) };
	struct iovec part = { &invocation, sizeof(invocation) };

	if (l->kind == LINK_SHMEM) {
		/* the server takes acks while a thread there waits for one */
		while (kvgpu_ring_put(&l->acked, KVGPU_REMOTE_OP_ACK, 0, &part, 1) ==
			       KVGPU_RING_FULL &&
		       !__atomic_load_n(&l->over, __ATOMIC_ACQUIRE))
			usleep(100);
		kvgpu_ring_kick(&l->acked);
		return;
	}
	if (l->nr_out + sizeof(h) + sizeof(invocation) > LINK_OUT)
		return; /* link_flush() is called with room for some */
	memcpy(l->out + l->nr_out, &h, sizeof(h));
	memcpy(l->out + l->nr_out + sizeof(h), &invocation, sizeof(invocation));
	l->nr_out += sizeof(h) + sizeof(invocation);
}

static void notified(struct link *l, const struct kvgpu_remote_notification *h, const void *bytes,
		     size_t n)
{
	uint64_t invocation;

	__atomic_add_fetch(&l->notified, 1, __ATOMIC_RELAXED);
	if (h->kind < KVGPU_REMOTE_NOTIFY_TEXT || h->kind > KVGPU_REMOTE_NOTIFY_REFUSED) {
		l->wrong = "a notification that there is not";
		return;
	}
	if (h->kind != KVGPU_REMOTE_NOTIFY_CALL && h->kind != KVGPU_REMOTE_NOTIFY_FILL &&
	    h->kind != KVGPU_REMOTE_NOTIFY_DRAIN)
		return;
	if (n != sizeof(invocation)) {
		l->wrong = "a notification without its number";
		return;
	}
	memcpy(&invocation, bytes, sizeof(invocation));
	if (!__atomic_load_n(&l->acks, __ATOMIC_RELAXED))
		return;
	if (invocation % 16 == 3) /* of nothing, or of a later one */
		link_acknowledge(l, invocation + invocation % 5);
	link_acknowledge(l, invocation);
	if (invocation % 16 == 5)
		link_acknowledge(l, invocation);
}

/* ------------------------------------------------------------------ answers */

static void take_answer(struct link *l, unsigned int completion, uint64_t seq, uint32_t result,
			const uint64_t *payload, size_t bytes)
{
	struct link_asked *a = &l->asked[completion];

	if (completion > LINK_COMPLETIONS || !a->seq || seq != a->seq) {
		l->wrong = "an answer that was not asked for";
		return;
	}
	a->last = seq;
	a->seq = 0;
	l->free[l->nr_free++] = completion;
	l->answered(l->ctx, &a->frame, result, payload, bytes);
}

/* ------------------------------------------------------------------ a shmem region */

static void *read_notifications(void *arg)
{
	struct kvgpu_remote_notification h;
	struct link *l = arg;
	struct kvgpu_frame f;
	enum kvgpu_ring_status s;

	while (!__atomic_load_n(&l->over, __ATOMIC_ACQUIRE)) {
		s = kvgpu_ring_get(&l->notifications, &f, l->notification_room,
				   sizeof(l->notification_room));
		if (s == KVGPU_RING_EMPTY) {
			if (kvgpu_ring_wait_frame(&l->notifications, 100000000) == KVGPU_WAIT_GONE)
				usleep(1000);
			continue;
		}
		if (s) {
			l->wrong = kvgpu_ring_status_name(s);
			break;
		}
		if (f.op != NOTIFICATION_SHORT)
			continue;
		memcpy(&h, l->notification_room, sizeof(h));
		notified(l, &h, (uint8_t *)l->notification_room + sizeof(h), f.len - sizeof(h));
	}
	return NULL;
}

static void look_at_completions(struct link *l)
{
	unsigned int i, kept = 0;

	for (i = 0; i < l->nr_waiting; i++) {
		unsigned int completion = l->waiting[i];
		struct kvgpu_completion_shared *b = &l->base->completion[completion - 1];
		uint64_t seq = shared_load_acquire(&b->seq), head = shared_load(&b->head);
		const struct shmem_answer *begin = (const struct shmem_answer *)b->payload;
		uint32_t len = head >> 32;

		if (seq == l->asked[completion].last) {
			l->waiting[kept++] = completion;
			continue;
		}
		if (len < sizeof(*begin) || len > KVGPU_COMPLETION_LONGEST)
			l->wrong = "an answer of a wrong length";
		else /* of a long answer nothing is in the completion slot */
			take_answer(l, completion, seq, head, b->payload + 2, len - sizeof(*begin));
	}
	l->nr_waiting = kept;
}

static void shmem_doorbells(struct link *l)
{
	struct kvgpu_ring_shared *frames = (void *)l->base->frames,
				 *notifications = (void *)l->base->notifications,
				 *acks = (void *)l->base->acks;
	uint32_t *words[] = { &frames->producer_word,	     &frames->consumer_word,
			      &acks->producer_word,	     &acks->consumer_word,
			      &notifications->consumer_word, &notifications->producer_word };
	unsigned int i;

	l->end = (struct kvgpu_doorbell_futex){ l->fd, POLLRDHUP };
	for (i = 0; i < 6; i++)
		l->doorbells[i] = (struct kvgpu_doorbell){ .word = words[i],
							   .ops = &kvgpu_doorbell_futex_ops,
							   .ctx = &l->end,
							   .times.sleep_ns = 20000000 };
}

static bool attach(struct link *l)
{
	static struct kvgpu_doorbell probe;
	struct kvgpu_ring_config frames = { l->base->frames, SHMEM_FRAMES, KVGPU_REMOTE_PAYLOAD_MAX,
					    &l->doorbells[0], &l->doorbells[1] },
				 acks = { l->base->acks, SHMEM_ACKS,
					  sizeof(struct kvgpu_remote_ack), &l->doorbells[2],
					  &l->doorbells[3] },
				 notifications = { l->base->notifications, SHMEM_NOTIFICATIONS,
						   SHMEM_NOTIFICATION_LONGEST, &l->doorbells[4],
						   &l->doorbells[5] };

	shmem_doorbells(l);
	probe = l->doorbells[0];
	probe.word = &l->base->completion_word[LINK_PROBE - 1].word;
	return !kvgpu_ring_attach_producer(&l->frames, &frames) &&
	       !kvgpu_ring_attach_producer(&l->acked, &acks) &&
	       !kvgpu_ring_attach_consumer(&l->notifications, &notifications) &&
	       !kvgpu_completion_attach(&l->probe, &l->base->completion[LINK_PROBE - 1],
					KVGPU_COMPLETION_LONGEST, &probe) &&
	       !pthread_create(&l->reader, NULL, read_notifications, l);
}

static bool put(struct link *l, uint16_t op, uint16_t completion, const void *payload, size_t n)
{
	struct iovec part = { (void *)(uintptr_t)payload, n };
	enum kvgpu_ring_status s;

	while ((s = kvgpu_ring_put(&l->frames, op, completion, &part, 1)) == KVGPU_RING_FULL)
		if (kvgpu_ring_wait_room(&l->frames, n, KVGPU_FOREVER) == KVGPU_WAIT_GONE)
			return false;
	if (s)
		l->wrong = kvgpu_ring_status_name(s);
	return !s;
}

/* ------------------------------------------------------------------ a stream */

/* one whole message at @at: its bytes; 0: it is not there yet */
static size_t take_message(struct link *l, const uint8_t *at, size_t have)
{
	struct kvgpu_remote_notification h;
	uint64_t first[8];
	struct down d;

	if (have < sizeof(d))
		return 0;
	memcpy(&d, at, sizeof(d));
	if (d.kind < DOWN_ANSWER || d.kind > DOWN_NOTIFICATION ||
	    d.bytes > KVGPU_REMOTE_PAYLOAD_MAX)
		l->wrong = "a message that there is not";
	if (l->wrong || have - sizeof(d) < d.bytes)
		return 0;
	if (d.kind == DOWN_PIECE) {
		if (!kvgpu_remote_in_arena(d.a, d.b, l->arena_bytes))
			l->wrong = "a piece that is not in the arena";
		l->skip = l->kind == LINK_RELAY ? 0 : d.b;
	} else if (d.kind == DOWN_NOTIFICATION) {
		h = (struct kvgpu_remote_notification){ .kind = d.b,
							.value = d.b >> 32,
							.id = d.a };
		notified(l, &h, at + sizeof(d), d.bytes);
	} else if (d.completion == LINK_PROBE) {
		l->probed = d.a;
	} else {
		memcpy(first, at + sizeof(d), d.bytes < sizeof(first) ? d.bytes : sizeof(first));
		take_answer(l, d.completion, d.a, d.b, first,
			    d.bytes < sizeof(first) ? d.bytes : sizeof(first));
	}
	return sizeof(d) + d.bytes;
}

static bool take_input(struct link *l)
{
	ssize_t n = recv(l->fd, l->in + l->nr_in, LINK_IN - l->nr_in, MSG_DONTWAIT);
	size_t used = 0, one;

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	l->nr_in += n;
	do {
		one = l->skip < l->nr_in - used ? l->skip : l->nr_in - used;
		l->skip -= one;
		used += one;
		one = l->skip ? 0 : take_message(l, l->in + used, l->nr_in - used);
		used += one;
	} while (one && !l->wrong);
	memmove(l->in, l->in + used, l->nr_in - used);
	l->nr_in -= used;
	return true;
}

/* both ways, so that neither side waits for the other to read */
static bool move_bytes(struct link *l, int ms)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN | (l->nr_out ? POLLOUT : 0) };
	ssize_t n;

	if (poll(&p, 1, ms) < 0 && errno != EINTR)
		return false;
	if (p.revents & (POLLIN | POLLHUP) && !take_input(l))
		return false;
	if (!(p.revents & POLLOUT) || !l->nr_out)
		return !l->wrong;
	n = send(l->fd, l->out, l->nr_out, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	memmove(l->out, l->out + n, l->nr_out - n);
	l->nr_out -= n;
	return !l->wrong;
}

bool link_raw(struct link *l, const void *bytes, size_t n)
{
	while (n > LINK_OUT - l->nr_out)
		if (!move_bytes(l, -1))
			return false;
	memcpy(l->out + l->nr_out, bytes, n);
	l->nr_out += n;
	return true;
}

/* ------------------------------------------------------------------ frames */

bool link_send(struct link *l, uint16_t op, uint16_t completion, const void *payload, size_t n)
{
	struct kvgpu_remote_head h = { .op = op, .completion = completion, .bytes = n };

	if (l->kind == LINK_SHMEM) {
		if (!put(l, op, completion, payload, n))
			return false;
		l->seq = l->frames.frames;
		return true;
	}
	h.seq = ++l->seq;
	/* acks of notifications that come meanwhile have room behind */
	while (l->nr_out > FLUSH_FROM)
		if (!move_bytes(l, -1))
			return false;
	return link_raw(l, &h, sizeof(h)) && link_raw(l, payload, n);
}

bool link_ask(struct link *l, const struct flood_frame *f)
{
	unsigned int completion = l->nr_free ? l->free[--l->nr_free] : 0;
	struct link_asked *a = &l->asked[completion];

	if (completion) {
		/* before it is sent: a stream's answers may come while the next frame waits */
		a->seq = l->seq + 1;
		a->frame = *f;
		if (l->kind == LINK_SHMEM)
			l->waiting[l->nr_waiting++] = completion;
	}
	return link_send(l, f->op, completion, f->word, 8 * f->words);
}

bool link_flush(struct link *l)
{
	if (l->kind == LINK_SHMEM) {
		kvgpu_ring_kick(&l->frames);
		return !l->wrong;
	}
	while (l->nr_out)
		if (!move_bytes(l, -1))
			return false;
	return true;
}

bool link_answers(struct link *l, unsigned int ms)
{
	if (l->kind != LINK_SHMEM)
		return move_bytes(l, ms);
	if (ms && link_ends(l, 0))
		return false;
	look_at_completions(l);
	if (ms && l->nr_waiting)
		usleep(ms * 1000);
	return !l->wrong;
}

static bool probed(struct link *l, uint64_t seq, uint64_t until)
{
	uint64_t room[KVGPU_COMPLETION_LONGEST / 8];
	struct kvgpu_completion_head head;
	enum kvgpu_ring_status s;

	if (l->kind != LINK_SHMEM) {
		while (l->probed != seq && now_ms() < until)
			if (!move_bytes(l, MOMENT_MS))
				return false;
		return l->probed == seq;
	}
	while ((s = kvgpu_completion_take(&l->probe, seq, &head, room, sizeof(room))) ==
	       KVGPU_RING_EMPTY)
		if (kvgpu_completion_wait(&l->probe, 1000000000) == KVGPU_WAIT_GONE ||
		    now_ms() > until)
			return false;
	if (s)
		l->wrong = kvgpu_ring_status_name(s);
	look_at_completions(l);
	return !l->wrong;
}

bool link_probe(struct link *l, unsigned int seconds)
{
	return link_send(l, OP_NOTHING, LINK_PROBE, NULL, 0) && link_flush(l) &&
	       probed(l, l->seq, now_ms() + seconds * 1000ull);
}

/* ------------------------------------------------------------------ life */

bool link_ends(struct link *l, unsigned int seconds)
{
	struct pollfd p = { .fd = l->fd, .events = POLLRDHUP };

	return poll(&p, 1, seconds * 1000) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

int link_connect(const char *path, const void *hello, size_t n)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)) &&
	    send(fd, hello, n, MSG_NOSIGNAL) == (ssize_t)n)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* the welcome, and the descriptor that comes with it, or -1 */
static bool hear_welcome(int fd, struct kvgpu_remote_welcome *w, int *memory)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} with;
	struct iovec part = { w, sizeof(*w) };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &with,
			    .msg_controllen = sizeof(with) };
	struct cmsghdr *c;
	ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);

	*memory = -1;
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(memory, CMSG_DATA(c), sizeof(*memory));
	return n == sizeof(*w) && !w->result;
}

static const char *map(struct link *l, int memory)
{
	uint64_t before = l->kind == LINK_SHMEM ? SHMEM_ARENA : 0;
	void *p;

	if (memory < 0)
		return l->kind == LINK_STREAM ? NULL : "no memory came with the welcome";
	p = mmap(NULL, before + l->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (p == MAP_FAILED)
		return "the memory can't be mapped";
	l->base = p;
	l->arena = (uint8_t *)p + before;
	return NULL;
}

const char *link_open(struct link *l, const char *path, enum link_kind kind)
{
	static const uint64_t magic[] = { KVGPU_REMOTE_MAGIC_SHMEM, KVGPU_REMOTE_MAGIC,
					  KVGPU_REMOTE_MAGIC_RELAY };
	struct kvgpu_remote_hello hello = { magic[kind], KVGPU_REMOTE_VERSION };
	struct kvgpu_remote_welcome w;
	const char *why = "no welcome";
	unsigned int i;
	int memory;

	memset(l, 0, sizeof(*l));
	l->kind = kind;
	l->acks = true;
	for (i = LINK_COMPLETIONS; i; i--)
		l->free[l->nr_free++] = i;
	l->fd = link_connect(path, &hello, sizeof(hello));
	if (l->fd < 0)
		return "no connection";
	if (hear_welcome(l->fd, &w, &memory)) {
		l->arena_bytes = w.arena_bytes;
		why = map(l, memory);
		if (!why && kind == LINK_SHMEM && !attach(l))
			why = "the rings can't be attached";
	}
	if (memory >= 0)
		close(memory);
	if (why)
		close(l->fd);
	return why;
}

void link_close(struct link *l)
{
	uint32_t *word = l->doorbells[4].word;

	if (l->kind == LINK_SHMEM) {
		__atomic_store_n(&l->over, true, __ATOMIC_RELEASE);
		shared_store32(word, 0);
		syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
		pthread_join(l->reader, NULL);
	}
	close(l->fd);
	if (l->base)
		munmap(l->base, (l->kind == LINK_SHMEM ? SHMEM_ARENA : 0) + l->arena_bytes);
}
