// SPDX-License-Identifier: MIT
/*
 * The common part of both ends of a shmem region: sleeping, waking, and a thread that watches for
 * the peer's end: at the socket, or, if there is none, by a beat that both sides count in memory.
 */
#include "shmem.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"
#include "memory.h"
#include "signals.h"

#include <remote/ring/clock.h>
#include <remote/ring/shared.h>

enum { BEAT_NS = 200000000, PAUSE_MIN_NS = 20000 };

/*
 * A VM with one CPU may stand still for seconds while its nouveau takes an endless kernel of a
 * killed program off a vGPU.
 */
enum { PATIENCE_MS = 20000 };

static uint64_t setting_of(const char *name, uint64_t otherwise, uint64_t most)
{
	const char *text = secure_getenv(name);
	char *end;
	uint64_t n;

	if (!text)
		return otherwise;
	errno = 0;
	n = strtoull(text, &end, 10);
	return errno || end == text || *end || n > most ? otherwise : n;
}

struct shmem_times shmem_times(enum shmem_wake wake)
{
	uint64_t spin_us = setting_of("KVGPU_REMOTE_SPIN_US", KVGPU_SPIN_NS / 1000, 1000000000);
	struct shmem_times t = { .wait.spin_ns = spin_us * 1000 };
	/* if a wake-up is sure to come, looks are for a peer that breaks the rules */
	uint64_t sleep_ms = wake == WAKE_NONE ? 10 : 10000;

	t.wait.sleep_ns = setting_of("KVGPU_REMOTE_SLEEP_MS", sleep_ms, 3600000) * 1000000;
	t.wait.sleep_ns += !t.wait.sleep_ns;
	t.patience_ns = setting_of("KVGPU_REMOTE_PATIENCE_MS", PATIENCE_MS, 3600000) * 1000000;
	return t;
}

/* ------------------------------------------------------------------ sleeping */

static long futex(uint32_t *word, int what, uint32_t value, uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	return syscall(SYS_futex, word, what, value, &t, NULL, 0);
}

bool shmem_is_gone(const struct shmem *a)
{
	return __atomic_load_n(&a->gone, __ATOMIC_SEQ_CST);
}

/*
 * The watcher sets .gone first, then wakes until .sleepers is 0: a thread that counts itself later
 * sees .gone.
 */
static enum kvgpu_sleep futex_sleep(void *ctx, uint32_t *word, uint64_t ns)
{
	struct shmem *a = ((struct shmem_doorbell *)ctx)->a;

	__atomic_add_fetch(&a->sleepers, 1, __ATOMIC_SEQ_CST);
	if (!shmem_is_gone(a))
		futex(word, FUTEX_WAIT, 1, ns);
	__atomic_sub_fetch(&a->sleepers, 1, __ATOMIC_SEQ_CST);
	return shmem_is_gone(a) ? KVGPU_SLEEP_GONE : KVGPU_SLEEP_LOOK;
}

static void futex_wake(void *ctx, uint32_t *word)
{
	futex(word, FUTEX_WAKE, INT_MAX, 0);
}

/*
 * A byte on the socket counts up .reads. The peer clears the word before it sends a byte: if .reads
 * was read too late, the word is no longer 1.
 */
static enum kvgpu_sleep socket_sleep(void *ctx, uint32_t *word, uint64_t ns)
{
	struct shmem *a = ((struct shmem_doorbell *)ctx)->a;
	uint32_t reads = __atomic_load_n(&a->reads, __ATOMIC_SEQ_CST);

	if (!shmem_is_gone(a) && shared_load32(word) == 1)
		futex(&a->reads, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, reads, ns);
	return shmem_is_gone(a) ? KVGPU_SLEEP_GONE : KVGPU_SLEEP_LOOK;
}

static void socket_wake(void *ctx, uint32_t *word)
{
	send(((struct shmem_doorbell *)ctx)->a->life, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* a wait's sleeps double, up to .sleep_ns */
static enum kvgpu_sleep bounded_sleep(void *ctx, uint32_t *word, uint64_t ns)
{
	struct shmem_doorbell *b = ctx;
	struct timespec t;

	b->pause_ns = b->wait == b->doorbell.waits ? 2 * b->pause_ns : PAUSE_MIN_NS;
	b->wait = b->doorbell.waits;
	if (b->pause_ns > b->a->times.wait.sleep_ns)
		b->pause_ns = b->a->times.wait.sleep_ns;
	if (ns > b->pause_ns)
		ns = b->pause_ns;
	t = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	if (!shmem_is_gone(b->a))
		nanosleep(&t, NULL);
	return shmem_is_gone(b->a) ? KVGPU_SLEEP_GONE : KVGPU_SLEEP_LOOK;
}

static void no_wake(void *ctx, uint32_t *word)
{
}

static const struct kvgpu_doorbell_ops ways[] = {
	[WAKE_FUTEX] = { .sleep = futex_sleep, .wake = futex_wake },
	[WAKE_SOCKET] = { .sleep = socket_sleep, .wake = socket_wake },
	[WAKE_NONE] = { .sleep = bounded_sleep, .wake = no_wake },
};

void shmem_doorbell_init(struct shmem_doorbell *b, struct shmem *a, uint32_t *word)
{
	*b = (struct shmem_doorbell){
		.a = a, .doorbell = { .word = word, .ops = &ways[a->wake], .times = a->times.wait }
	};
	b->doorbell.ctx = b;
}

/* ------------------------------------------------------------------ the peer's end */

static void wake_word(void *ring, size_t at)
{
	uint32_t *word = (uint32_t *)((uint8_t *)ring + at);

	shared_store32(word, 0);
	futex(word, FUTEX_WAKE, INT_MAX, 0);
}

static void wake_ring(void *ring)
{
	wake_word(ring, offsetof(struct kvgpu_ring_shared, consumer_word));
	wake_word(ring, offsetof(struct kvgpu_ring_shared, producer_word));
}

/*
 * A malicious peer may set a word again before its sleeper sleeps: so wake until no thread sleeps.
 */
static void wake_all_futexes(struct shmem *a)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	unsigned int i;

	for (;;) {
		wake_ring(a->base->frames);
		wake_ring(a->base->notifications);
		wake_ring(a->base->acks);
		for (i = 0; i < KVGPU_REMOTE_COMPLETIONS; i++)
			wake_word(&a->base->completion_word[i], 0);
		if (!__atomic_load_n(&a->sleepers, __ATOMIC_SEQ_CST))
			return;
		nanosleep(&moment, NULL);
	}
}

static void count_read(struct shmem *a)
{
	__atomic_add_fetch(&a->reads, 1, __ATOMIC_SEQ_CST);
	futex(&a->reads, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, 0);
}

static void tell_of_end(struct shmem *a)
{
	pthread_mutex_lock(&a->lock);
	__atomic_store_n(&a->gone, true, __ATOMIC_SEQ_CST);
	pthread_cond_broadcast(&a->change);
	pthread_mutex_unlock(&a->lock);
	if (a->wake == WAKE_FUTEX)
		wake_all_futexes(a);
	else
		count_read(a);
	if (a->lost)
		a->lost(a->ctx);
}

/*
 * Take a descriptor that a client has sent, with a byte of its own, if one is there. Call with
 * .lock. False: the connection has ended, or the client breaks the rules.
 */
static bool take_lent(struct shmem *a)
{
	char byte;
	int file;

	if (memory_some(a->life, &byte, 1, MSG_DONTWAIT, &file) == -EAGAIN)
		return true;
	if (file < 0)
		return false;
	if (a->lent >= 0) {
		close(file);
		return false;
	}
	a->lent = file;
	return true;
}

/* The client has sent it before the frame, so that it is in .lent or in the socket. */
int shmem_lent(struct shmem *a)
{
	bool fine;
	int file;

	if (a->wake != WAKE_FUTEX)
		return -ENOTSUP;
	pthread_mutex_lock(&a->lock);
	fine = a->lent >= 0 || take_lent(a);
	file = a->lent;
	a->lent = -1;
	pthread_mutex_unlock(&a->lock);
	return !fine ? shmem_lose(a) : file < 0 ? -EPROTO : file;
}

/* false: the watch ends */
static bool read_socket(struct shmem *a)
{
	char bytes[256];
	ssize_t n;
	bool fine;

	if (a->wake == WAKE_FUTEX && a->side == SIDE_SERVER) {
		pthread_mutex_lock(&a->lock);
		fine = take_lent(a);
		pthread_mutex_unlock(&a->lock);
		return fine;
	}
	n = recv(a->life, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0 || a->wake != WAKE_SOCKET)
		return false;
	count_read(a);
	return true;
}

/*
 * With WAKE_SOCKET a byte is a wake-up. With WAKE_FUTEX it brings a server a descriptor. Any other
 * byte ends the watch.
 */
static void watch_socket(struct shmem *a)
{
	struct pollfd p = { .fd = a->life, .events = POLLIN | POLLRDHUP };

	do {
		while (poll(&p, 1, -1) < 0 && errno == EINTR)
			;
	} while (!shmem_is_gone(a) && !__atomic_load_n(&a->ended, __ATOMIC_SEQ_CST) &&
		 read_socket(a));
}

static bool peer_left(struct shmem *a)
{
	return (a->side == SIDE_CLIENT ? attach_client_step(&a->client) :
					 attach_server_step(&a->server)) == ATTACH_GONE;
}

static void watch_counters(struct shmem *a)
{
	struct attach_page *page = &a->base->attach;
	uint64_t *own = a->side == SIDE_CLIENT ? &page->client_beat : &page->server_beat;
	const uint64_t *other = a->side == SIDE_CLIENT ? &page->server_beat : &page->client_beat;
	struct attach_beat beat = { 0 };
	struct timespec until;
	uint64_t n = 0;

	pthread_mutex_lock(&a->lock);
	while (!a->ended && !a->gone && !peer_left(a) &&
	       !attach_beat_stands(&beat, other, clock_ns(), a->times.patience_ns)) {
		shared_store(own, ++n);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += BEAT_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		pthread_cond_timedwait(&a->change, &a->lock, &until);
	}
	pthread_mutex_unlock(&a->lock);
}

static void *watch_peer(void *arg)
{
	struct shmem *a = arg;

	if (a->life >= 0)
		watch_socket(a);
	else
		watch_counters(a);
	tell_of_end(a);
	return NULL;
}

int shmem_watch(struct shmem *a)
{
	pthread_condattr_t clock;
	int r;

	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&a->change, &clock);
	pthread_condattr_destroy(&clock);
	r = signals_thread(&a->watcher, watch_peer, a);
	a->watched = !r;
	return r;
}

/* ------------------------------------------------------------------ life */

void shmem_init(struct shmem *a, enum shmem_side side, enum shmem_wake wake, void *base,
		uint64_t bytes)
{
	*a = (struct shmem){ .base = base,
			     .bytes = bytes,
			     .arena_bytes = bytes - SHMEM_ARENA,
			     .arena_most = bytes - SHMEM_ARENA,
			     .bound = KVGPU_REMOTE_BOUND_FILE,
			     .side = side,
			     .wake = wake,
			     .times = shmem_times(wake),
			     .life = -1,
			     .lent = -1,
			     .file = -1 };
}

int shmem_lose(struct shmem *a)
{
	pthread_mutex_lock(&a->lock);
	__atomic_store_n(&a->ended, true, __ATOMIC_SEQ_CST);
	__atomic_store_n(&a->gone, true, __ATOMIC_SEQ_CST);
	pthread_cond_broadcast(&a->change);
	pthread_mutex_unlock(&a->lock);
	if (a->life >= 0)
		shutdown(a->life, SHUT_RDWR);
	return -ECONNRESET;
}

void shmem_await_end(struct shmem *a)
{
	pthread_mutex_lock(&a->lock);
	while (!a->gone)
		pthread_cond_wait(&a->change, &a->lock);
	pthread_mutex_unlock(&a->lock);
}

void shmem_fini(struct shmem *a)
{
	if (a->watched) {
		pthread_join(a->watcher, NULL);
		pthread_mutex_destroy(&a->lock);
		pthread_cond_destroy(&a->change);
	}
	if (a->file >= 0 && a->side == SIDE_CLIENT && a->client.page)
		attach_client_leave(&a->client);
	guard_end(a->base);
	munmap(a->base, a->bytes);
	if (a->lent >= 0)
		close(a->lent);
	if (a->life >= 0)
		close(a->life);
	if (a->file >= 0)
		close(a->file);
}

/* ------------------------------------------------------------------ rings */

void shmem_ring(struct shmem_end *e, struct shmem *a, void *ring, uint32_t slots, uint32_t longest,
		bool producer)
{
	struct kvgpu_ring_shared *shared = ring;
	uint32_t *words[] = { &shared->consumer_word, &shared->producer_word };

	shmem_doorbell_init(&e->own, a, words[producer]);
	shmem_doorbell_init(&e->peer, a, words[!producer]);
	e->config = (struct kvgpu_ring_config){ .mem = ring,
						.slots = slots,
						.max_len = longest,
						.own = &e->own.doorbell,
						.peer = &e->peer.doorbell };
}

bool shmem_completion(struct kvgpu_completion *completion, struct shmem_doorbell *doorbell,
		      struct shmem *a, unsigned int i)
{
	shmem_doorbell_init(doorbell, a, &a->base->completion_word[i].word);
	return !kvgpu_completion_attach(completion, &a->base->completion[i],
					KVGPU_COMPLETION_LONGEST, &doorbell->doorbell);
}

int shmem_put(struct shmem *a, struct kvgpu_ring_producer *p, uint16_t op, uint16_t flags,
	      const struct iovec *parts, unsigned int n)
{
	enum kvgpu_ring_status s;
	uint32_t len = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		len += parts[i].iov_len;
	while ((s = kvgpu_ring_put(p, op, flags, parts, n)) == KVGPU_RING_FULL)
		if (kvgpu_ring_wait_room(p, len, KVGPU_FOREVER) == KVGPU_WAIT_GONE)
			return -ECONNRESET;
	if (s)
		return shmem_lose(a);
	kvgpu_ring_kick(p);
	return 0;
}

int shmem_get(struct shmem *a, struct kvgpu_ring_consumer *c, uint64_t timeout_ns,
	      struct kvgpu_frame *f, void *buf, size_t size)
{
	enum kvgpu_ring_status s;

	while ((s = kvgpu_ring_get(c, f, buf, size)) == KVGPU_RING_EMPTY) {
		if (!timeout_ns)
			return shmem_is_gone(a) ? -ECONNRESET : 0;
		switch (kvgpu_ring_wait_frame(c, timeout_ns)) {
		case KVGPU_WAIT_READY:
			break;
		case KVGPU_WAIT_TIMEOUT:
			return shmem_is_gone(a) ? -ECONNRESET : 0;
		case KVGPU_WAIT_GONE:
			return -ECONNRESET;
		}
	}
	return s ? shmem_lose(a) : 1;
}
