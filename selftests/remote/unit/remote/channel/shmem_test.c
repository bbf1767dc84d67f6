// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shmem regions between processes: a malicious client or server that writes to the shared memory at
 * any moment, and a SIGKILL of either side under load.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/channel/layout.h>
#include <remote/channel/conn.h>

#include "selftests/own_folder.h"

enum {
	VERSION = 77,
	ARENA = 4 << 20,
	OP_ECHO = 100,
	OP_SAY,
	OP_CALL,
	ROUNDS = 25,
	MOVES = 3000,
	THREADS = 3
};

#define ALL (SHMEM_ARENA + ARENA)

static char path[64], address[80];
static int listening;
static uint64_t served; /* atomic: frames that servers in this process have served */

/* ------------------------------------------------------------------ an honest server */

static void *call_and_wait(void *port)
{
	kvgpu_remote_call(port,
			  &(struct kvgpu_remote_notification){ .kind = KVGPU_REMOTE_NOTIFY_CALL,
							       .id = 5 },
			  1234);
	return NULL;
}

static void serve_one(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *h,
		      const void *payload, pthread_t *caller, bool *called)
{
	if (h->op == OP_SAY)
		kvgpu_remote_notify(p,
				    &(struct kvgpu_remote_notification){
					    .kind = KVGPU_REMOTE_NOTIFY_TEXT, .value = 1 },
				    payload, h->bytes);
	if (h->op == OP_CALL && !*called)
		*called = !pthread_create(caller, NULL, call_and_wait, p);
	if (h->completion)
		kvgpu_remote_reply(p, h, h->bytes, payload, h->bytes);
	__atomic_add_fetch(&served, 1, __ATOMIC_RELAXED);
}

/* Serves one client. Returns 0 when the client is gone, 1 after another error. */
static void *serve(void *arg)
{
	struct kvgpu_remote_port *p;
	struct kvgpu_remote_head h;
	const void *payload;
	bool called = false;
	pthread_t caller;
	int r, fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);

	if (kvgpu_remote_welcome(fd, VERSION, ARENA, &p))
		return (void *)1;
	while ((r = kvgpu_remote_next(p, -1, &h, &payload)) == 1)
		serve_one(p, &h, payload, &caller, &called);
	kvgpu_remote_await_end(p);
	if (called)
		pthread_join(caller, NULL);
	kvgpu_remote_port_close(p);
	return (void *)(intptr_t)(r != -ECONNRESET);
}

static void on_notification(void *ctx, const struct kvgpu_remote_notification *h, const void *bytes,
			    size_t n)
{
	static volatile uint8_t sum;
	size_t i;

	for (i = 0; i < n; i++)
		sum += ((const uint8_t *)bytes)[i];
}

static int set_up(void **state)
{
	const char *why;

	/* attackers here ring no doorbells, so let sleepers look again soon */
	setenv("KVGPU_REMOTE_SLEEP_MS", "1", true);
	setenv("KVGPU_REMOTE_SPIN_US", "1", true);
	snprintf(path, sizeof(path), "%s/server", own_folder());
	snprintf(address, sizeof(address), "aperture:%s", path);
	listening = kvgpu_remote_listen(address, &why);
	served = 0;
	return listening < 0;
}

static int tear_down(void **state)
{
	close(listening);
	unlink(path);
	return 0;
}

/* ------------------------------------------------------------------ attackers */

struct attacker {
	uint64_t seed;
	int fd;
	struct shmem_layout *base;
};

static uint64_t draw(struct attacker *a)
{
	a->seed ^= a->seed << 13;
	a->seed ^= a->seed >> 7;
	a->seed ^= a->seed << 17;
	return a->seed;
}

/* Writes a random value to @word, often one that is nearly right. */
static void rewrite(struct attacker *a, uint64_t *word)
{
	const uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
	const uint64_t v[] = { 0,
			       1,
			       old + 1,
			       old - 1,
			       old + SHMEM_FRAMES,
			       old ^ 1ull << draw(a) % 64,
			       UINT64_MAX,
			       draw(a) };

	__atomic_store_n(word, v[draw(a) % 8], __ATOMIC_RELAXED);
}

/*
 * Returns a random word of a ring, of a completion slot, of the completion slots' words or of the
 * attach page, more often a word near the begin.
 */
static uint64_t *any_word(struct attacker *a)
{
	uint8_t *const part[] = { a->base->frames,
				  a->base->notifications,
				  a->base->acks,
				  (uint8_t *)a->base->completion_word,
				  (uint8_t *)a->base->completion,
				  (uint8_t *)&a->base->attach };
	const size_t bytes[] = { sizeof(a->base->frames),     sizeof(a->base->notifications),
				 sizeof(a->base->acks),	      sizeof(a->base->completion_word),
				 sizeof(a->base->completion), sizeof(a->base->attach) };
	size_t n = draw(a) % 6, most = draw(a) % 4 ? 2048 : bytes[n];

	most = most < bytes[n] ? most : bytes[n];
	return (uint64_t *)(part[n] + draw(a) % (most / 8) * 8);
}

static int raw(uint64_t version)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC_SHMEM, version };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(to.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	return fd;
}

static int take_memory(int fd)
{
	union {
		struct cmsghdr c;
		char room[CMSG_SPACE(sizeof(int))];
	} u;
	struct kvgpu_remote_welcome w;
	struct iovec part = { &w, sizeof(w) };
	struct msghdr m = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &u, .msg_controllen = sizeof(u)
	};
	int memory;

	assert_int_equal(recvmsg(fd, &m, 0), sizeof(w));
	assert_int_equal(w.result, 0);
	memcpy(&memory, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(memory));
	return memory;
}

static void *map(int memory)
{
	void *p = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	assert_true(p != MAP_FAILED);
	close(memory);
	return p;
}

static void a_frame(struct attacker *a, struct kvgpu_ring_producer *p)
{
	static uint8_t bytes[KVGPU_REMOTE_PAYLOAD_MAX];
	struct iovec part = { bytes,
			      draw(a) % 8 ? draw(a) % 20 * 8 : draw(a) % (sizeof(bytes) / 8) * 8 };

	part.iov_len += draw(a) % 1000 ? 0 : part.iov_len < sizeof(bytes);
	if (kvgpu_ring_put(p, OP_ECHO + draw(a) % 3,
			   draw(a) % 1000 ? draw(a) % 8 : draw(a) % 0x10000, &part,
			   1) == KVGPU_RING_BAD_POSITION)
		p->status = KVGPU_RING_OK; /* the attacker's own doing */
}

/* Whatever the client writes at whatever moment, the server neither crashes nor hangs. */
TEST(malicious_clients)
{
	struct kvgpu_ring_config ring = { .slots = SHMEM_FRAMES,
					  .max_len = KVGPU_REMOTE_PAYLOAD_MAX };
	struct kvgpu_ring_producer p;
	struct attacker a;
	pthread_t server;
	unsigned int i, n;

	for (i = 1; i <= ROUNDS; i++) {
		pthread_create(&server, NULL, serve, NULL);
		a = (struct attacker){ .seed = i * 0x9e3779b97f4a7c15ull, .fd = raw(VERSION) };
		a.base = map(take_memory(a.fd));
		ring.mem = a.base->frames;
		assert_int_equal(kvgpu_ring_attach_producer(&p, &ring), KVGPU_RING_OK);
		for (n = 0; n < MOVES; n++) {
			a_frame(&a, &p);
			/* in every fifth round the attacker only sends frames */
			if (i % 5 && draw(&a) % (1u << i % 10) == 0)
				rewrite(&a, any_word(&a));
		}
		close(a.fd);
		pthread_join(server, NULL);
		munmap(a.base, ALL);
	}
	assert_true(served > ROUNDS);
}

/* ------------------------------------------------------------------ malicious servers */

enum memory_is { FINE, NONE, NOT_SEALED, SHORT, TOO_LONG, HUGE_PAGES, TWO };

static int make_memory(enum memory_is what)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING |
					      (what == HUGE_PAGES ? MFD_HUGETLB : 0));

	assert_int_equal(ftruncate(fd, what == SHORT	? ALL - 4096 :
				       what == TOO_LONG ? SHMEM_ARENA + KVGPU_REMOTE_ARENA_MAX + 1 :
							  ALL),
			 0);
	if (what != NOT_SEALED)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	return fd;
}

/* Accepts a client, and sends memory that is as @what says. */
static void begin(struct attacker *a, enum memory_is what)
{
	union {
		struct cmsghdr c;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} u = { .room = { 0 } };
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, VERSION, ARENA, 0, 0 };
	struct iovec part = { &w, sizeof(w) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	struct kvgpu_remote_hello hello;
	int memory = make_memory(what), both[] = { memory, memory };
	size_t bytes = what == TWO ? sizeof(both) : sizeof(memory);

	a->fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	recv(a->fd, &hello, sizeof(hello), MSG_WAITALL);
	if (what != NONE) {
		m.msg_control = &u;
		m.msg_controllen = CMSG_SPACE(bytes);
		u.c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
					.cmsg_type = SCM_RIGHTS,
					.cmsg_len = CMSG_LEN(bytes) };
		memcpy(CMSG_DATA(&u.c), both, bytes);
	}
	sendmsg(a->fd, &m, MSG_NOSIGNAL);
	if (what == FINE)
		a->base = map(memory);
	else
		close(memory);
}

static void answer_somehow(struct attacker *a, const struct kvgpu_frame *f,
			   struct kvgpu_completion *completions)
{
	static uint64_t bytes[KVGPU_COMPLETION_LONGEST / 8];
	unsigned int completion = f->flags - 1;

	if (completion >= 8 || draw(a) % 16 == 0)
		return;
	bytes[0] = draw(a) % 4 ? 0 : draw(a) % 8; /* notifications */
	bytes[1] = draw(a) % 4 ? 64 : draw(a) % KVGPU_REMOTE_PAYLOAD_MAX;
	kvgpu_completion_answer(&completions[completion], a->seed % 8 ? f->seq : draw(a) % 1000, 0,
				bytes, draw(a) % 4 ? 80 : draw(a) % sizeof(bytes));
}

static void notify_something(struct attacker *a, struct kvgpu_ring_producer *notifications)
{
	static uint64_t bytes[SHMEM_NOTIFICATION_LONGEST / 8];
	struct iovec part = { bytes, draw(a) % 4 ? 72 : draw(a) % sizeof(bytes) };

	bytes[0] = draw(a) % 100;
	kvgpu_ring_put(notifications, 1 + draw(a) % 3, draw(a) % 6, &part, 1);
}

static void *lie(void *arg)
{
	struct kvgpu_ring_config ring = { .slots = SHMEM_FRAMES,
					  .max_len = KVGPU_REMOTE_PAYLOAD_MAX };
	struct kvgpu_ring_config down = { .slots = SHMEM_NOTIFICATIONS,
					  .max_len = SHMEM_NOTIFICATION_LONGEST };
	static uint8_t in[KVGPU_REMOTE_PAYLOAD_MAX];
	struct kvgpu_ring_consumer frames;
	struct kvgpu_ring_producer notifications;
	struct kvgpu_completion completions[8];
	struct kvgpu_frame f;
	struct attacker *a = arg;
	unsigned int n;

	begin(a, FINE);
	ring.mem = a->base->frames;
	down.mem = a->base->notifications;
	kvgpu_ring_attach_consumer(&frames, &ring);
	kvgpu_ring_attach_producer(&notifications, &down);
	for (n = 0; n < 8; n++)
		kvgpu_completion_attach(&completions[n], &a->base->completion[n],
					KVGPU_COMPLETION_LONGEST, NULL);
	for (n = 0; n < 200 * MOVES; n++) {
		if (kvgpu_ring_get(&frames, &f, in, sizeof(in)) == KVGPU_RING_OK)
			answer_somehow(a, &f, completions);
		else if (n % 64 == 0 && draw(a) % 8 == 0)
			notify_something(a, &notifications);
		else if (n > 100 * MOVES && n % 64 == 0)
			rewrite(a, any_word(a));
	}
	close(a->fd);
	munmap(a->base, ALL);
	return NULL;
}

static struct kvgpu_remote_channel *client;
static pthread_mutex_t submit = PTHREAD_MUTEX_INITIALIZER;
static uint64_t answered; /* atomic */

/*
 * Asks until an error says that the server is gone. Reads all bytes of each answer, so that the
 * sanitizer sees their bounds.
 */
static void *ask_for_ever(void *arg)
{
	unsigned int completion = kvgpu_remote_completion_get(client);
	struct kvgpu_remote_answer a;
	struct iovec part = { NULL, 0 };
	static uint64_t words[2048];
	const uint8_t *payload;
	volatile uint8_t sum = 0;
	uint64_t seq, n = 0;
	size_t i;
	int r;

	do {
		part = (struct iovec){ words, n++ % 50 ? 64 : sizeof(words) };
		pthread_mutex_lock(&submit);
		r = kvgpu_remote_send(client, OP_ECHO, completion, &part, 1, &seq);
		pthread_mutex_unlock(&submit);
		if (!r)
			r = kvgpu_remote_await(client, completion, seq, &a,
					       (const void **)&payload);
		for (i = 0; !r && i < a.bytes; i++)
			sum += payload[i];
		__atomic_add_fetch(&answered, !r, __ATOMIC_RELAXED);
	} while (!r);
	return (void *)(intptr_t)r;
}

static void clients(pthread_t *t)
{
	const char *why = "";
	unsigned int i;

	answered = 0;
	if (kvgpu_remote_connect(address, VERSION, on_notification, NULL, &client, &why))
		fail_msg("%s", why);
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, ask_for_ever, NULL);
}

static void clients_end(pthread_t *t)
{
	unsigned int i;
	void *r;

	for (i = 0; i < THREADS; i++) {
		pthread_join(t[i], &r);
		assert_int_equal((intptr_t)r, -ECONNRESET);
	}
	assert_true(kvgpu_remote_is_gone(client));
	kvgpu_remote_disconnect(client);
}

TEST(malicious_servers)
{
	pthread_t server, t[THREADS];
	struct attacker a;
	unsigned int i;

	for (i = 1; i <= ROUNDS; i++) {
		a = (struct attacker){ .seed = i * 0x9e3779b97f4a7c15ull };
		pthread_create(&server, NULL, lie, &a);
		clients(t);
		clients_end(t);
		pthread_join(server, NULL);
	}
}

static uint64_t heard; /* atomic: the client knows that the server lies */

/* the answer to the first frame; then it says nothing more, and stays */
static void *overstate(void *arg)
{
	struct kvgpu_ring_config ring = { .slots = SHMEM_FRAMES,
					  .max_len = KVGPU_REMOTE_PAYLOAD_MAX };
	const uint64_t answer[10] = { UINT64_MAX /* notifications */, 64 };
	static uint8_t in[KVGPU_REMOTE_PAYLOAD_MAX];
	struct kvgpu_ring_consumer frames;
	struct kvgpu_frame f = { 0 };
	struct attacker a = { 0 };
	struct kvgpu_completion completion;

	begin(&a, FINE);
	ring.mem = a.base->frames;
	kvgpu_ring_attach_consumer(&frames, &ring);
	while (kvgpu_ring_get(&frames, &f, in, sizeof(in)) != KVGPU_RING_OK)
		usleep(100);
	kvgpu_completion_attach(&completion, &a.base->completion[f.flags - 1],
				KVGPU_COMPLETION_LONGEST, NULL);
	kvgpu_completion_answer(&completion, f.seq, 0, answer, sizeof(answer));
	while (!__atomic_load_n(&heard, __ATOMIC_ACQUIRE))
		usleep(100);
	close(a.fd);
	munmap(a.base, ALL);
	return NULL;
}

/* an answer that comes after more than the ring can hold is waited for by no thread */
TEST(events_that_can_not_be)
{
	struct kvgpu_remote_answer a;
	struct iovec part = { &a, 0 };
	const char *why = "";
	const void *payload;
	unsigned int completion;
	pthread_t server;
	uint64_t seq;

	alarm(60);
	pthread_create(&server, NULL, overstate, NULL);
	assert_int_equal(
		kvgpu_remote_connect(address, VERSION, on_notification, NULL, &client, &why), 0);
	completion = kvgpu_remote_completion_get(client);
	assert_int_equal(kvgpu_remote_send(client, OP_ECHO, completion, &part, 1, &seq), 0);
	assert_int_equal(kvgpu_remote_await(client, completion, seq, &a, &payload), -ECONNRESET);
	__atomic_store_n(&heard, 1, __ATOMIC_RELEASE);
	pthread_join(server, NULL);
	kvgpu_remote_disconnect(client);
	alarm(0);
}

static void *give_wrong_memory(void *what)
{
	struct attacker a;

	begin(&a, (intptr_t)what);
	close(a.fd);
	return NULL;
}

static unsigned int descriptors(void)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

/*
 * Returns whether the kernel makes files of huge pages. It may do so without having such pages;
 * then the first touch of one is a SIGBUS.
 */
static bool has_huge_pages(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * Returns whether the receiver of two descriptors with room for one is told of the second.
 * qemu-aarch64 of Debian 13 does not tell.
 */
static bool shows_second(void)
{
	char bytes[CMSG_SPACE(2 * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec v = { &(char){ 'x' }, 1 };
	struct msghdr m = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_control = bytes,
			    .msg_controllen = sizeof(bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int pair[2], got[2] = { -1, -1 };
	bool second;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(pair)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), pair, sizeof(pair));
	assert_int_equal(sendmsg(pair[0], &m, 0), 1);
	m.msg_controllen = CMSG_LEN(sizeof(int));
	assert_int_equal(recvmsg(pair[1], &m, 0), 1);
	c = CMSG_FIRSTHDR(&m);
	second = !c || c->cmsg_len != CMSG_LEN(sizeof(int)) || m.msg_flags & MSG_CTRUNC;
	if (c)
		memcpy(got, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	close(got[0]);
	close(got[1]);
	close(pair[0]);
	close(pair[1]);
	return second;
}

TEST(wrong_memory)
{
	static const struct {
		enum memory_is what;
		const char *why;
	} c[] = {
		{ NONE, "no memory" },	   { NOT_SEALED, "not sealed" },
		{ SHORT, "another size" }, { TOO_LONG, "another size" },
		{ TWO, "no memory" },	   { HUGE_PAGES, "is no memory of ours" },
	};
	const char *why;
	pthread_t t;
	unsigned int before;
	size_t i;
	bool two;

	two = shows_second();
	before = descriptors();
	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		if ((c[i].what == HUGE_PAGES && !has_huge_pages()) || (c[i].what == TWO && !two))
			continue;
		pthread_create(&t, NULL, give_wrong_memory, (void *)c[i].what);
		assert_int_equal(kvgpu_remote_connect(address, VERSION, on_notification, NULL,
						      &client, &why),
				 -EPROTO);
		assert_non_null(strstr(why, c[i].why));
		pthread_join(t, NULL);
	}
	/* no descriptor that came with a welcome stays open */
	assert_int_equal(descriptors(), before);
}

/* A client can't shorten the memory that its server maps. */
TEST(memory_is_sealed)
{
	pthread_t server;
	int memory, fd;

	pthread_create(&server, NULL, serve, NULL);
	fd = raw(VERSION);
	memory = take_memory(fd);
	assert_int_equal(ftruncate(memory, 0), -1);
	assert_int_equal(ftruncate(memory, 1 << 30), -1);
	close(memory);
	close(fd);
	pthread_join(server, NULL);
}

/* Serves nothing: the arena has grown by all that it may. */
static void *serve_more(void *out)
{
	struct conn l = { .fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC) };
	struct kvgpu_remote_port **p = out;
	uint64_t bytes;

	if (kvgpu_remote_welcome_conn(&l, VERSION, ARENA, ARENA, -1, NULL, NULL, p) ||
	    kvgpu_remote_port_resize(*p, 2 * ARENA + 4096) ||
	    !kvgpu_remote_port_resize(*p, 2 * ARENA) || !kvgpu_remote_port_arena(*p, &bytes) ||
	    bytes != 2 * ARENA)
		return (void *)1;
	return NULL;
}

/* whether a child that touches @at is killed for it */
static bool is_closed(const volatile uint8_t *at)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit(*at & 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/* What an arena may grow by is closed in each mapping until it has grown. */
TEST(memory_that_grows)
{
	const uint64_t away = 1ull << 45;
	struct kvgpu_remote_port *p = NULL;
	enum kvgpu_remote_bound bound;
	uint8_t *arena, *there, *again;
	pthread_t server;
	uint64_t bytes;
	const char *why;
	void *r;

	pthread_create(&server, NULL, serve_more, &p);
	assert_int_equal(
		kvgpu_remote_connect(address, VERSION, on_notification, NULL, &client, &why), 0);
	pthread_join(server, &r);
	assert_null(r);
	arena = kvgpu_remote_arena(client, &bytes);
	there = kvgpu_remote_port_arena(p, &(uint64_t){ 0 });
	assert_int_equal(bytes, ARENA);
	/* each has room for its copy of the other's, and for what is beside the libraries */
	assert_int_equal((uintptr_t)there >> 45, 1);
	assert_int_equal((uintptr_t)arena >> 45, 2);
	assert_int_equal(kvgpu_remote_arena_most(client, &bound), 2 * ARENA);
	assert_int_equal(bound, KVGPU_REMOTE_BOUND_PINNED);
	assert_false(kvgpu_remote_arena_resize(client, 2 * ARENA + 4096));
	again = kvgpu_remote_arena_at(client, away);
	assert_ptr_equal(again, (void *)away);
	assert_true(is_closed(arena + ARENA) && is_closed(again + ARENA));
	assert_false(is_closed(again + ARENA - 1));
	assert_true(kvgpu_remote_arena_resize(client, 2 * ARENA));
	there[2 * ARENA - 1] = 5;
	assert_int_equal(arena[2 * ARENA - 1], 5);
	assert_int_equal(again[2 * ARENA - 1], 5);
	assert_true(kvgpu_remote_arena_resize(client, ARENA));
	assert_true(is_closed(arena + ARENA) && is_closed(again + ARENA));
	kvgpu_remote_disconnect(client);
	kvgpu_remote_port_close(p);
}

/* ------------------------------------------------------------------ descriptors of the client's */

/* one message: @n bytes with descriptors of @file, each of its own in the receiver */
static void send_files(int to, size_t n, const int *file, unsigned int files)
{
	union {
		struct cmsghdr c;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} u = { .room = { 0 } };
	static char bytes[512];
	struct iovec part = { bytes, n };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (files) {
		m.msg_control = &u;
		m.msg_controllen = CMSG_SPACE(files * sizeof(int));
		u.c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
					.cmsg_type = SCM_RIGHTS,
					.cmsg_len = CMSG_LEN(files * sizeof(int)) };
		memcpy(CMSG_DATA(&u.c), file, files * sizeof(int));
	}
	assert_int_equal(sendmsg(to, &m, MSG_NOSIGNAL), n);
}

static void *welcome(void *p)
{
	return (void *)(intptr_t)kvgpu_remote_welcome(accept4(listening, NULL, NULL, SOCK_CLOEXEC),
						      VERSION, ARENA, p);
}

/* One at a time comes, before the watcher or the serving thread has looked. */
TEST(files_are_lent)
{
	struct kvgpu_remote_port *p = NULL;
	unsigned int i, before = descriptors();
	struct kvgpu_remote_head h;
	struct stat given, got;
	const char *why = "";
	const void *payload;
	pthread_t server;
	int file, taken;

	pthread_create(&server, NULL, welcome, &p);
	assert_int_equal(
		kvgpu_remote_connect(address, VERSION, on_notification, NULL, &client, &why), 0);
	pthread_join(server, NULL);
	for (i = 0; i < 200; i++) {
		file = memfd_create("lent", MFD_CLOEXEC);
		assert_int_equal(kvgpu_remote_lend(client, file), 0);
		if (i % 2)
			usleep(1000);
		taken = kvgpu_remote_lent(p);
		assert_true(taken >= 0);
		assert_int_equal(fstat(file, &given) | fstat(taken, &got), 0);
		assert_int_equal(given.st_ino, got.st_ino);
		close(file);
		close(taken);
		assert_int_equal(kvgpu_remote_lent(p), -EPROTO);
	}
	assert_int_equal(kvgpu_remote_next(p, 0, &h, &payload), 0);
	/* one that nobody takes ends with the port */
	assert_int_equal(kvgpu_remote_lend(client, listening), 0);
	kvgpu_remote_disconnect(client);
	kvgpu_remote_await_end(p);
	kvgpu_remote_port_close(p);
	assert_int_equal(descriptors(), before);
}

/*
 * What is no lent file ends the connection, whoever reads it: the watcher, or the thread that
 * serves a frame. No descriptor stays open.
 */
TEST(files_that_break_the_rules)
{
	static const struct {
		size_t bytes;
		unsigned int files, times;
	} rows[] = { { 1, 0, 1 }, { 1, 2, 1 }, { 2, 1, 1 }, { 1, 1, 2 }, { 300, 0, 1 } };
	unsigned int i, k, before = descriptors();
	struct kvgpu_remote_port *p = NULL;
	struct kvgpu_remote_head h;
	const void *payload;
	pthread_t server;
	int fd, files[2];
	bool two;

	two = shows_second();
	alarm(60);
	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i / 2].files == 2 && !two)
			continue;
		pthread_create(&server, NULL, welcome, &p);
		fd = raw(VERSION);
		close(take_memory(fd));
		pthread_join(server, NULL);
		files[0] = memfd_create("lent", MFD_CLOEXEC);
		files[1] = memfd_create("lent", MFD_CLOEXEC);
		for (k = 0; k < rows[i / 2].times; k++)
			send_files(fd, rows[i / 2].bytes, files, rows[i / 2].files);
		if (i % 2 && rows[i / 2].times == 1)
			close(kvgpu_remote_lent(p));
		assert_int_equal(kvgpu_remote_next(p, -1, &h, &payload), -ECONNRESET);
		kvgpu_remote_await_end(p);
		kvgpu_remote_port_close(p);
		assert_true(recv(fd, &h, 1, 0) <= 0);
		close(files[0]);
		close(files[1]);
		close(fd);
		assert_int_equal(descriptors(), before);
	}
	alarm(0);
}

/* ------------------------------------------------------------------ SIGKILL under load */

static void wait_for(const uint64_t *count, uint64_t n)
{
	while (__atomic_load_n(count, __ATOMIC_RELAXED) < n)
		sched_yield();
}

TEST(servers_are_killed)
{
	pthread_t t[THREADS];
	unsigned int i;
	pid_t pid;

	/* sleepers look again only after a long time now, so they must be woken */
	unsetenv("KVGPU_REMOTE_SLEEP_MS");
	for (i = 0; i < ROUNDS; i++) {
		pid = fork();
		if (!pid)
			_exit(!!serve(NULL));
		clients(t);
		wait_for(&answered, i * 37 % 500);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		clients_end(t);
	}
}

TEST(clients_are_killed)
{
	pthread_t server, t[THREADS];
	unsigned int i;
	void *r;
	pid_t pid;

	unsetenv("KVGPU_REMOTE_SLEEP_MS");
	for (i = 0; i < ROUNDS; i++) {
		pid = fork();
		if (!pid) {
			clients(t);
			pause();
		}
		served = 0;
		pthread_create(&server, NULL, serve, NULL);
		wait_for(&served, 1 + i * 37 % 500);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pthread_join(server, &r);
		assert_null(r);
	}
}

TEST_MAIN(set_up, tear_down)
