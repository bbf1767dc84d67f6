// SPDX-License-Identifier: MIT
/* Both ends of a channel in one process, over a socket, a shmem region and a relay. */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <errno.h>
#include <pthread.h>
#include <poll.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/channel/memory.h>
#include <remote/channel/stream.h>

#include "selftests/own_folder.h"

enum {
	VERSION = 77,
	ARENA = 4 << 20,
	OP_ECHO = 100,
	OP_DOUBLE,
	OP_TWICE,
	OP_CALL,
	OP_SILENT,
	OP_BUSY,
	OP_BESIDE,
	OP_SLOW,
	OP_LEAVE
};

static const char *carrier = "unix";
static char path[64], address[80];
static int listening;
static pthread_t server;
static const uint8_t *place; /* of the last server's arena, atomic */
/* what the server was told to have brought, atomic: how often */
static struct kvgpu_remote_pull fetched;
static unsigned int fetches;
/* atomic: number of calls that were acked */
static uint64_t called;
static pthread_t beside;

static void *call_and_wait(void *arg)
{
	struct kvgpu_remote_notification h = { .kind = KVGPU_REMOTE_NOTIFY_CALL,
					       .value = 9,
					       .id = 5 };

	if (!kvgpu_remote_call(arg, &h, 1234))
		__atomic_add_fetch(&called, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * The serving thread goes on while another thread waits for an ack. Both share a CPU, and the
 * serving thread gets it when the other one sleeps.
 */
static int call_beside(struct kvgpu_remote_port *p)
{
	const struct sched_param least = { 0 };
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	return pthread_setaffinity_np(pthread_self(), sizeof(here), &here) ||
	       pthread_create(&beside, NULL, call_and_wait, p) ||
	       pthread_setschedparam(pthread_self(), SCHED_IDLE, &least);
}

/* Serves a frame. Returns 0 to continue. */
static int serve_one(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *h,
		     const void *payload)
{
	struct kvgpu_remote_piece piece;
	uint64_t bytes, i;
	pthread_t t;
	uint8_t *arena = kvgpu_remote_port_arena(p, &bytes);

	switch (h->op) {
	case OP_ECHO:
		return kvgpu_remote_reply(p, h, h->bytes, payload, h->bytes);
	case OP_DOUBLE:
		memcpy(&piece, payload, sizeof(piece));
		for (i = 0; i < piece.bytes; i++)
			arena[piece.at + i] *= 2;
		kvgpu_remote_return(p, piece.at, piece.bytes);
		return kvgpu_remote_reply(p, h, 0, NULL, 0);
	case OP_TWICE:
		memcpy(&piece, payload, sizeof(piece));
		kvgpu_remote_return(p, piece.at, piece.bytes);
		for (i = 0; i < piece.bytes; i++)
			arena[piece.at + i]++;
		kvgpu_remote_return(p, piece.at, piece.bytes);
		return kvgpu_remote_reply(p, h, 0, NULL, 0);
	case OP_CALL:
		kvgpu_remote_notify(p,
				    &(struct kvgpu_remote_notification){
					    .kind = KVGPU_REMOTE_NOTIFY_TEXT, .value = 1 },
				    "text", 4);
		return kvgpu_remote_reply(p, h, 0, NULL, 0);
	case OP_BUSY:
		/* the serving thread reads nothing until another thread has got the ack */
		pthread_create(&t, NULL, call_and_wait, p);
		pthread_join(t, NULL);
		return kvgpu_remote_reply(p, h, 0, NULL, 0);
	case OP_BESIDE:
		return call_beside(p);
	case OP_SLOW:
		usleep(2000); /* so the other thread reads */
		return kvgpu_remote_reply(p, h, 0, NULL, 0);
	case KVGPU_REMOTE_OP_PULL:
		memcpy(&fetched, payload, h->bytes);
		__atomic_add_fetch(&fetches, 1, __ATOMIC_SEQ_CST);
		return h->bytes != sizeof(fetched);
	case KVGPU_REMOTE_OP_SPOILT:
		return h->completion ? kvgpu_remote_reply(p, h, 802, NULL, 0) : 0;
	case OP_LEAVE:
		return 1;
	}
	return 0;
}

/* --------------------------------------------------------- a relay that passes on what it hears */

/*
 * Whether a relay stands between client and server. Then `listening` is the relay's socket, and
 * `serving` is the server's end of its connection to the relay.
 */
static bool relays;
static int serving = -1;
static pthread_t relay;
static struct kvgpu_remote_relayed knows = { .piece = 64 << 10, .overhead = 4096 };

static void pass_on(int a, int b)
{
	struct pollfd p[2] = { { .fd = a, .events = POLLIN }, { .fd = b, .events = POLLIN } };
	char bytes[4096];
	ssize_t n = 1;
	int i;

	while (n > 0 && poll(p, 2, -1) > 0)
		for (i = 0; i < 2 && n > 0; i++)
			if (p[i].revents) {
				n = recv(p[i].fd, bytes, sizeof(bytes), 0);
				n = n > 0 ? send(p[!i].fd, bytes, n, MSG_NOSIGNAL) : n;
			}
}

/* Both ends have the same arena here, so all that a relay would carry is there already. */
static void *run_relay(void *arg)
{
	int fd = accept(listening, NULL, NULL), up[2], memory;
	struct {
		struct kvgpu_remote_welcome w;
		struct kvgpu_remote_relayed r;
	} all = { .r = knows };
	struct kvgpu_remote_hello hello;
	struct conn conn;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, up))
		return NULL;
	__atomic_store_n(&serving, up[1], __ATOMIC_SEQ_CST);
	conn.fd = up[0];
	conn.tls = NULL;
	recv(fd, &hello, sizeof(hello), MSG_WAITALL);
	hello.magic = KVGPU_REMOTE_MAGIC_RELAY;
	send(up[0], &hello, sizeof(hello), MSG_NOSIGNAL);
	if (!memory_read(&conn, &all.w, sizeof(all.w), &memory)) {
		if (memory >= 0)
			memory_send(fd, &all, sizeof(all), memory);
		else
			send(fd, &all.w, sizeof(all.w), MSG_NOSIGNAL);
		pass_on(fd, up[0]);
	}
	close(memory);
	close(up[0]);
	close(fd);
	return NULL;
}

static int server_end(void)
{
	int fd;

	if (!relays)
		return accept(listening, NULL, NULL);
	while ((fd = __atomic_load_n(&serving, __ATOMIC_SEQ_CST)) < 0)
		usleep(1000);
	return fd;
}

static void *serve(void *arg)
{
	struct kvgpu_remote_port *p;
	struct kvgpu_remote_head h;
	const void *payload;
	int fd = server_end();

	if (kvgpu_remote_welcome(fd, VERSION, ARENA, &p))
		return NULL;
	__atomic_store_n(&place, kvgpu_remote_port_arena(p, &(uint64_t){ 0 }), __ATOMIC_SEQ_CST);
	while (kvgpu_remote_next(p, -1, &h, &payload) == 1)
		if (serve_one(p, &h, payload))
			break;
	kvgpu_remote_port_close(p);
	return NULL;
}

static struct {
	uint64_t id, invocation;
	uint32_t value;
	char text[8];
} notified;
static struct kvgpu_remote_channel *client;
/* the test's own, and what came with the last answer to it */
static unsigned int completion;
static struct kvgpu_remote_answer a;
static const void *back;
static bool no_ack; /* the client never acks a call */

static void on_notification(void *ctx, const struct kvgpu_remote_notification *h, const void *bytes,
			    size_t n)
{
	if (h->kind == KVGPU_REMOTE_NOTIFY_TEXT) {
		memcpy(notified.text, bytes, n);
		return;
	}
	notified.id = h->id;
	notified.value = h->value;
	memcpy(&notified.invocation, bytes, n);
	if (!no_ack)
		kvgpu_remote_ack(client, notified.invocation);
}

static int set_up(void **state)
{
	const char *why;

	snprintf(path, sizeof(path), "%s/server", own_folder());
	snprintf(address, sizeof(address), "%s:%s", carrier, path);
	listening = kvgpu_remote_listen(address, &why);
	memset(&notified, 0, sizeof(notified));
	return listening < 0 || pthread_create(&server, NULL, serve, NULL);
}

static int set_up_relay(void **state)
{
	relays = true;
	serving = -1;
	return set_up(state) || pthread_create(&relay, NULL, run_relay, NULL);
}

static int set_up_shmem(void **state)
{
	carrier = "aperture";
	return set_up(state);
}

static int tear_down(void **state)
{
	pthread_join(server, NULL);
	close(listening);
	unlink(path);
	carrier = "unix";
	return 0;
}

static int tear_down_relay(void **state)
{
	pthread_join(relay, NULL);
	relays = false;
	return tear_down(state);
}

static int set_up_listener(void **state)
{
	const char *why;

	listening = kvgpu_remote_listen(address, &why);
	return listening < 0;
}

static int tear_down_listener(void **state)
{
	close(listening);
	unlink(path);
	return 0;
}

static void begin(void)
{
	const char *why;

	assert_int_equal(
		kvgpu_remote_connect(address, VERSION, on_notification, NULL, &client, &why), 0);
	completion = kvgpu_remote_completion_get(client);
}

static int send_op(uint16_t op, unsigned int completion, const void *payload, size_t n,
		   uint64_t *seq)
{
	static pthread_mutex_t submit = PTHREAD_MUTEX_INITIALIZER;
	struct iovec part = { (void *)(uintptr_t)payload, n };
	int r;

	pthread_mutex_lock(&submit);
	r = kvgpu_remote_send(client, op, completion, &part, 1, seq);
	pthread_mutex_unlock(&submit);
	return r;
}

static int ask(uint16_t op, unsigned int completion, const void *payload, size_t n,
	       struct kvgpu_remote_answer *a, const void **back)
{
	uint64_t seq;
	int r = send_op(op, completion, payload, n, &seq);

	return r ? r : kvgpu_remote_await(client, completion, seq, a, back);
}

#define IS_ANSWERED(op, payload, n) assert_int_equal(ask(op, completion, payload, n, &a, &back), 0)

static void assert_no_way(int error, const char *to, unsigned int version, const char *says)
{
	const char *why = "";

	assert_int_equal(kvgpu_remote_connect(to, version, on_notification, NULL, &client, &why),
			 error);
	assert_non_null(strstr(why, says));
}

TEST(versions)
{
	char absent[64], shm[] = "/dev/shm/kvgpu-channel-XXXXXX";
	const char *why;

	assert_no_way(-EPROTO, address, VERSION + 1, ": install one build on both");
	assert_no_way(-EINVAL, "tcp:1", VERSION, "");
	snprintf(absent, sizeof(absent), "unix:%s/absent", own_folder());
	assert_no_way(-ENOENT, absent, VERSION, "");
	snprintf(absent, sizeof(absent), "aperture:%s/absent", own_folder());
	assert_no_way(-ENOENT, absent, VERSION, "");
	/* a path below /dev is taken for that of a device or a file, not of a socket */
	assert_non_null(mkdtemp(shm));
	snprintf(absent, sizeof(absent), "aperture:%s/absent", shm);
	assert_int_equal(kvgpu_remote_listen(absent, &why), -EINVAL);
	assert_true(kvgpu_remote_is_endpoint(absent));
	assert_no_way(-ENOENT, absent, VERSION, "\"ls /dev/kvgpu\" shows");
	rmdir(shm);
	assert_no_way(-EINVAL, "aperture:", VERSION, "");
}
TEST_AGAIN(versions, "by an aperture", set_up_shmem, tear_down)

/* what a server's log says, where TLS hid the hello from the first process */
TEST_WITH(the_server_names_both_versions, set_up_listener, tear_down_listener)
{
	const struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC, 0x4b00050000000001 };
	struct kvgpu_remote_welcome w;
	struct kvgpu_remote_port *p;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(send(ends[0], &hello, sizeof(hello), 0), sizeof(hello));
	assert_int_equal(kvgpu_remote_welcome(ends[1], 0x4b00040000000002, ARENA, &p),
			 -EPROTONOSUPPORT);
	assert_string_equal(
		kvgpu_remote_unlike(),
		"client 0.5 (protocol 00000001), server 0.4 (protocol 00000002): update the server");
	assert_int_equal(recv(ends[0], &w, sizeof(w), 0), sizeof(w));
	assert_true(w.result == KVGPU_REMOTE_OTHER_VERSION && w.version == 0x4b00040000000002);
	close(ends[0]);
}

TEST(answers)
{
	uint64_t words[1024], i;
	unsigned int other;

	begin();
	other = kvgpu_remote_completion_get(client);
	assert_true(completion && other && completion != other);
	for (i = 0; i < 1024; i++)
		words[i] = i * i;
	for (i = 0; i < 200; i++) {
		assert_int_equal(ask(OP_ECHO, i % 2 ? other : completion, words, i * 40, &a, &back),
				 0);
		assert_int_equal(a.result, i * 40);
		assert_int_equal(a.bytes, i * 40);
		assert_memory_equal(back, words, i * 40);
	}
	assert_int_equal(ask(OP_ECHO, completion, words, 3, &a, &back), -EINVAL);
	IS_ANSWERED(OP_CALL, NULL, 0);
	assert_string_equal(notified.text, "text"); /* the text came before the answer */
	kvgpu_remote_completion_put(client, other);
	assert_int_equal(kvgpu_remote_completion_get(client), other);
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(answers, "by an aperture", set_up_shmem, tear_down)
TEST_AGAIN(answers, "by a relay", set_up_relay, tear_down_relay)

/*
 * By a relay: what a client wants brought goes out before the frame that needs it; where the relay
 * says that a piece did not come, that one frame is not carried out.
 */
TEST_WITH(spoilt_frames, set_up_relay, tear_down_relay)
{
	const struct kvgpu_remote_pull pull = { { 4096, 8192 }, { 12288, { 3, 4 }, 5, 6 } };
	uint64_t word = 7, seq;

	begin();
	fetches = 0;
	assert_int_equal(kvgpu_remote_fetch(client, &pull), 0);
	IS_ANSWERED(OP_ECHO, &word, 8);
	assert_int_equal(__atomic_load_n(&fetches, __ATOMIC_SEQ_CST), 1);
	assert_memory_equal(&fetched, &pull, sizeof(pull));
	assert_int_equal(send_op(KVGPU_REMOTE_OP_SPOILT, 0, &pull.piece, 16, &seq), 0);
	IS_ANSWERED(OP_ECHO, &word, 8);
	assert_int_equal(a.result, 802);
	IS_ANSWERED(OP_ECHO, &word, 8);
	assert_int_equal(a.result, 8);
	kvgpu_remote_disconnect(client);
}

/*
 * Without a relay nothing can be brought, and a frame that says that a piece did not come spoils
 * nothing.
 */
TEST(nothing_to_fetch)
{
	const struct kvgpu_remote_pull pull = { { 4096, 8192 }, { 12288, { 3, 4 }, 5, 6 } };
	uint64_t word = 7, seq;

	begin();
	assert_int_equal(kvgpu_remote_fetch(client, &pull), -ENOTSUP);
	assert_int_equal(send_op(KVGPU_REMOTE_OP_SPOILT, 0, &pull.piece, 16, &seq), 0);
	IS_ANSWERED(OP_ECHO, &word, 8);
	assert_int_equal(a.result, 8);
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(nothing_to_fetch, "by an aperture", set_up_shmem, tear_down)

TEST(pieces)
{
	struct kvgpu_remote_piece piece = { 4096, 3 << 20 };
	uint64_t bytes, i;
	uint8_t *arena;

	begin();
	arena = kvgpu_remote_arena(client, &bytes);
	assert_int_equal(bytes, ARENA);
	for (i = 0; i < piece.bytes; i++)
		arena[piece.at + i] = i * 7;
	assert_int_equal(kvgpu_remote_push(client, piece.at, NULL, piece.bytes), 0);
	IS_ANSWERED(OP_DOUBLE, &piece, sizeof(piece));
	for (i = 0; i < piece.bytes; i++)
		if (arena[piece.at + i] != (uint8_t)((uint8_t)(i * 7) * 2))
			fail_msg("byte %llu", (unsigned long long)i);
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(pieces, "by an aperture", set_up_shmem, tear_down)
TEST_AGAIN(pieces, "by a relay", set_up_relay, tear_down_relay)

/* The arena is mapped where the caller wants it besides, if nothing else is there. */
TEST(arena_twice)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	uint8_t *arena, *again, *room;
	uint64_t bytes;

	begin();
	arena = kvgpu_remote_arena(client, &bytes);
	room = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
	room[bytes] = 1;
	assert_null(kvgpu_remote_arena_at(client, (uintptr_t)room));
	munmap(room, bytes);
	assert_null(kvgpu_remote_arena_at(client, (uintptr_t)room + 4096));
	assert_int_equal(room[bytes], 1);
	again = kvgpu_remote_arena_at(client, (uintptr_t)room);
	/* qemu-aarch64 7.2: nothing has two addresses */
	if (again || mremap(arena, 0, bytes, MREMAP_MAYMOVE) != MAP_FAILED) {
		assert_ptr_equal(again, room);
		again[bytes - 1] = 7;
		assert_int_equal(arena[bytes - 1], 7);
		assert_null(kvgpu_remote_arena_at(client, (uintptr_t)room));
	}
	kvgpu_remote_disconnect(client);
	munmap(room + bytes, 4096);
}

/* The client learns the place of a server's arena, so the process alone does not tell it. */
#ifndef __SANITIZE_THREAD__ /* which leaves the place to the kernel */
TEST(arena_by_chance)
{
	const uint8_t *before;

	begin();
	kvgpu_remote_disconnect(client);
	pthread_join(server, NULL);
	before = place;
	place = NULL;
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
	begin();
	kvgpu_remote_disconnect(client);
	while (!__atomic_load_n(&place, __ATOMIC_SEQ_CST))
		usleep(1000);
	assert_true(place != before);
}
#endif

/*
 * Over a plain channel bytes go out from anywhere, and come back to where the caller wants them.
 * The arena is left alone.
 */
TEST(direct_reads)
{
	static uint8_t from[3 << 20], to[3 << 20];
	struct kvgpu_remote_piece piece = { 4096, sizeof(from) };
	struct kvgpu_remote_direct_read one = { .at = piece.at, .bytes = piece.bytes, .to = to },
					other = { .at = 0, .bytes = 4096, .to = to },
					shorter = { .at = piece.at, .bytes = 4096, .to = to };
	uint64_t bytes, i;
	uint8_t *arena;

	begin();
	assert_true(kvgpu_remote_is_plain(client));
	arena = kvgpu_remote_arena(client, &bytes);
	for (i = 0; i < sizeof(from); i++)
		from[i] = i * 7;
	assert_int_equal(kvgpu_remote_push(client, piece.at, from, piece.bytes), 0);
	kvgpu_remote_read_post(client, &other);
	kvgpu_remote_read_post(client, &one);
	kvgpu_remote_read_post(client, &shorter);
	IS_ANSWERED(OP_DOUBLE, &piece, sizeof(piece));
	assert_true(kvgpu_remote_read_done(client, &one));
	assert_false(kvgpu_remote_read_done(client, &other));
	assert_false(kvgpu_remote_read_done(client, &shorter));
	for (i = 0; i < sizeof(to); i++)
		if (to[i] != (uint8_t)((uint8_t)(i * 7) * 2) || arena[piece.at + i])
			fail_msg("byte %llu", (unsigned long long)i);
	/* a piece that comes once more, when nobody waits for it, or not any more */
	memset(to, 0, sizeof(to));
	kvgpu_remote_read_post(client, &one);
	assert_false(kvgpu_remote_read_done(client, &one));
	IS_ANSWERED(OP_DOUBLE, &piece, sizeof(piece));
	for (i = 0; i < sizeof(to); i++)
		if (to[i] || arena[piece.at + i] != (uint8_t)((uint8_t)(i * 7) * 4))
			fail_msg("byte %llu", (unsigned long long)i);
	kvgpu_remote_read_post(client, &one);
	IS_ANSWERED(OP_TWICE, &piece, sizeof(piece));
	assert_true(kvgpu_remote_read_done(client, &one));
	for (i = 0; i < sizeof(to); i++)
		if (to[i] != (uint8_t)((uint8_t)(i * 7) * 4) ||
		    arena[piece.at + i] != (uint8_t)(to[i] + 1))
			fail_msg("byte %llu", (unsigned long long)i);
	kvgpu_remote_disconnect(client);
}

/* memory that a program has closed, and opens in its handler */
enum { CLOSED = 1 << 20 };
static uint8_t *closed;
static unsigned int opened; /* how often; the handler's */

static void open_page(int signal, siginfo_t *info, void *context)
{
	uint8_t *page = (uint8_t *)((uintptr_t)info->si_addr & -4096ul);

	if (page < closed || page >= closed + CLOSED)
		_exit(1);
	opened++;
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

/* A piece that goes out from closed memory, and one that is read into it. */
TEST(closed_pages)
{
	struct sigaction mine = { .sa_sigaction = open_page, .sa_flags = SA_SIGINFO }, before;
	struct kvgpu_remote_piece piece = { 4096, CLOSED - 100 };
	struct kvgpu_remote_direct_read l = { .at = piece.at, .bytes = piece.bytes };
	unsigned int i;

	begin();
	closed = mmap(NULL, CLOSED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	l.to = closed + 50;
	for (i = 0; i < CLOSED; i++)
		closed[i] = i * 7;
	sigaction(SIGSEGV, &mine, &before);
	mprotect(closed, CLOSED, PROT_NONE);
	opened = 0;
	assert_int_equal(kvgpu_remote_push(client, piece.at, closed + 50, piece.bytes), 0);
	assert_int_equal(opened, CLOSED / 4096);
	mprotect(closed, CLOSED, PROT_READ);
	kvgpu_remote_read_post(client, &l);
	IS_ANSWERED(OP_DOUBLE, &piece, sizeof(piece));
	assert_true(kvgpu_remote_read_done(client, &l));
	assert_int_equal(opened, 2 * CLOSED / 4096);
	sigaction(SIGSEGV, &before, NULL);
	for (i = 50; i < CLOSED - 50; i++)
		if (closed[i] != (uint8_t)((uint8_t)(i * 7) * 2))
			fail_msg("byte %u", i);
	munmap(closed, CLOSED);
	kvgpu_remote_disconnect(client);
}

/*
 * A server that sends a half of a piece, and says by a byte that the client has read it. When it
 * gets a byte, it sends the other half, or leaves.
 */
enum { HALF = 200000 };
static struct {
	int end[2];
	bool all;
} slow;
static struct kvgpu_remote_direct_read half = { .at = 0, .bytes = 2 * HALF };
static bool half_read, half_over; /* atomic */

static void *send_half(void *arg)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, VERSION, ARENA, 0, 0 };
	struct down d = { .kind = DOWN_PIECE, .b = half.bytes };
	struct kvgpu_remote_hello hello;
	static uint8_t bytes[HALF];
	int fd = accept(listening, NULL, NULL), unread = 1;
	char word;

	memset(bytes, 3, sizeof(bytes));
	recv(fd, &hello, sizeof(hello), MSG_WAITALL);
	send(fd, &w, sizeof(w), MSG_NOSIGNAL);
	recv(fd, &hello, sizeof(struct kvgpu_remote_head), MSG_WAITALL);
	send(fd, &d, sizeof(d), MSG_NOSIGNAL);
	send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
	while (!ioctl(fd, SIOCOUTQ, &unread) && unread)
		usleep(1000);
	send(slow.end[1], "", 1, MSG_NOSIGNAL);
	recv(slow.end[1], &word, 1, MSG_WAITALL);
	if (slow.all)
		send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
	else
		shutdown(fd, SHUT_RDWR);
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
	close(fd);
	return NULL;
}

static void *wait_for_half(void *arg)
{
	__atomic_store_n(&half_read, kvgpu_remote_read_done(client, &half), __ATOMIC_SEQ_CST);
	__atomic_store_n(&half_over, true, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * Whoever gives a direct read up goes on when the reader writes there no more: all has come, or the
 * server is gone.
 */
TEST_WITH(direct_reads_in_use, set_up_listener, tear_down_listener)
{
	static uint8_t to[2 * HALF];
	unsigned int i;
	char word;
	pthread_t t;
	uint64_t seq;

	for (i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, slow.end), 0);
		slow.all = i;
		half.to = to;
		half_over = half_read = false;
		assert_int_equal(pthread_create(&server, NULL, send_half, NULL), 0);
		begin();
		kvgpu_remote_read_post(client, &half);
		assert_int_equal(send_op(OP_ECHO, completion, NULL, 0, &seq), 0);
		assert_int_equal(recv(slow.end[0], &word, 1, 0), 1);
		assert_int_equal(pthread_create(&t, NULL, wait_for_half, NULL), 0);
		usleep(20000);
		assert_false(__atomic_load_n(&half_over, __ATOMIC_SEQ_CST));
		assert_int_equal(send(slow.end[0], "", 1, 0), 1);
		pthread_join(t, NULL);
		assert_int_equal(half_read, slow.all);
		kvgpu_remote_disconnect(client);
		pthread_join(server, NULL);
		close(slow.end[0]);
		close(slow.end[1]);
	}
}

/* Frames that lie before the ack do not hold it up. */
TEST(acks_pass_by)
{
	uint64_t seq, word = 3;
	unsigned int i;

	begin();
	__atomic_store_n(&called, 0, __ATOMIC_SEQ_CST);
	assert_int_equal(send_op(OP_BUSY, completion, NULL, 0, &seq), 0);
	for (i = 0; i < 100; i++) {
		uint64_t ignored;

		assert_int_equal(send_op(OP_SILENT, 0, &word, sizeof(word), &ignored), 0);
	}
	assert_int_equal(kvgpu_remote_await(client, completion, seq, &a, &back), 0);
	assert_int_equal(__atomic_load_n(&called, __ATOMIC_SEQ_CST), 1);
	assert_int_equal(notified.id, 5);
	assert_int_equal(notified.value, 9);
	assert_int_equal(notified.invocation, 1234);
	IS_ANSWERED(OP_ECHO, &word, sizeof(word));
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(acks_pass_by, "by an aperture", set_up_shmem, tear_down)
TEST_AGAIN(acks_pass_by, "by a relay", set_up_relay, tear_down_relay)

/*
 * Much to send in pieces beside something small of another thread, which waits for one piece at
 * most, and for the one that is on its way. The peer reads nothing until both threads wait.
 */
enum { MANY = 64, PIECE = 256 << 10, HEAD = 24, ROUNDS = 6 };
static unsigned int begun; /* atomic: pieces */
static unsigned int before; /* pieces that were begun before the small one */

static void *push_many(void *arg)
{
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		__atomic_store_n(&begun, i + 1, __ATOMIC_SEQ_CST);
		kvgpu_remote_push(arg, 0, NULL, PIECE);
	}
	return NULL;
}

static void *give_many(void *arg)
{
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		__atomic_store_n(&begun, i + 1, __ATOMIC_SEQ_CST);
		kvgpu_remote_return(arg, 0, PIECE);
	}
	return NULL;
}

static void *ack_one(void *arg)
{
	before = __atomic_load_n(&begun, __ATOMIC_SEQ_CST);
	kvgpu_remote_ack(arg, 1);
	return NULL;
}

static void *notify_one(void *arg)
{
	struct kvgpu_remote_notification h = { .kind = KVGPU_REMOTE_NOTIFY_TEXT };

	before = __atomic_load_n(&begun, __ATOMIC_SEQ_CST);
	kvgpu_remote_notify(arg, &h, "text", 4);
	return NULL;
}

/*
 * Read at @fd what many() and small() send at @end, until the small one comes: whether it comes
 * behind one piece at most that was begun later. The first HEAD bytes of a message have its kind,
 * word @at, which is @piece of pieces; @bytes of a piece follow.
 */
static bool goes_between(void *end, void *(*many)(void *), void *(*small)(void *), int fd,
			 unsigned int at, uint16_t piece, size_t bytes)
{
	static uint8_t rest[PIECE + HEAD];
	uint16_t head[HEAD / sizeof(uint16_t)];
	unsigned int pieces = 0;
	pthread_t bulk, other;

	begun = 0;
	assert_int_equal(pthread_create(&bulk, NULL, many, end), 0);
	while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
		usleep(1000);
	usleep(20000);
	assert_int_equal(pthread_create(&other, NULL, small, end), 0);
	usleep(20000);
	for (;;) {
		assert_int_equal(recv(fd, head, HEAD, MSG_WAITALL), HEAD);
		if (head[at] != piece)
			break;
		pieces++;
		assert_int_equal(recv(fd, rest, bytes, MSG_WAITALL), bytes);
	}
	shutdown(fd, SHUT_RDWR);
	pthread_join(other, NULL);
	pthread_join(bulk, NULL);
	return pieces <= before + 1;
}

static void *accept_one(void *arg)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, VERSION, ARENA, 0, 0 };
	struct kvgpu_remote_hello hello;
	int fd = accept(listening, NULL, NULL);

	recv(fd, &hello, sizeof(hello), MSG_WAITALL);
	send(fd, &w, sizeof(w), MSG_NOSIGNAL);
	*(int *)arg = fd;
	return NULL;
}

static void ack_between_pieces(void)
{
	const size_t of_piece =
		sizeof(struct kvgpu_remote_head) + sizeof(struct kvgpu_remote_piece) + PIECE;
	int fd;

	static_assert(sizeof(struct kvgpu_remote_head) + sizeof(struct kvgpu_remote_ack) == HEAD &&
			      sizeof(struct down) == HEAD,
		      "what a message has at least");
	assert_int_equal(pthread_create(&server, NULL, accept_one, &fd), 0);
	begin();
	pthread_join(server, NULL);
	assert_true(goes_between(client, push_many, ack_one, fd,
				 offsetof(struct kvgpu_remote_head, op) / 2, KVGPU_REMOTE_OP_PUSH,
				 of_piece - HEAD));
	kvgpu_remote_disconnect(client);
	close(fd);
}

TEST_WITH(acks_between_pieces, set_up_listener, tear_down_listener)
{
	unsigned int i;

	/* without an order the small one is lucky at times */
	for (i = 0; i < ROUNDS; i++)
		ack_between_pieces();
}

static void notification_between_pieces(void)
{
	const struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC, VERSION };
	struct kvgpu_remote_welcome w;
	struct kvgpu_remote_port *p;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(send(ends[0], &hello, sizeof(hello), 0), sizeof(hello));
	assert_int_equal(kvgpu_remote_welcome(ends[1], VERSION, ARENA, &p), 0);
	assert_int_equal(recv(ends[0], &w, sizeof(w), MSG_WAITALL), sizeof(w));
	assert_true(goes_between(p, give_many, notify_one, ends[0], 0, DOWN_PIECE, PIECE));
	kvgpu_remote_port_close(p);
	close(ends[0]);
}

TEST_WITH(notifications_between_pieces, set_up_listener, tear_down_listener)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		notification_between_pieces();
}

/* ends a test that hangs: with the ack the server goes on */
static void *ack_late(void *arg)
{
	unsigned int ms = 20000;

	while (ms-- && !__atomic_load_n((bool *)arg, __ATOMIC_ACQUIRE))
		usleep(1000);
	kvgpu_remote_ack(client, 1234);
	return NULL;
}

/*
 * While a thread of the server waits for an ack that the client gives after the answers to further
 * frames, the serving thread gets these frames.
 */
TEST(frames_before_the_ack)
{
	enum { FRAMES = 50 };
	static bool over;
	pthread_t late;
	uint64_t seq;
	unsigned int i;

	begin();
	no_ack = true;
	over = false;
	__atomic_store_n(&called, 0, __ATOMIC_SEQ_CST);
	assert_int_equal(send_op(OP_BESIDE, 0, NULL, 0, &seq), 0);
	pthread_create(&late, NULL, ack_late, &over);
	for (i = 0; i < FRAMES; i++)
		IS_ANSWERED(OP_SLOW, NULL, 0);
	assert_int_equal(__atomic_load_n(&called, __ATOMIC_SEQ_CST), 0);
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	pthread_join(late, NULL);
	pthread_join(beside, NULL);
	assert_int_equal(__atomic_load_n(&called, __ATOMIC_SEQ_CST), 1);
	kvgpu_remote_disconnect(client);
	no_ack = false;
}

#ifndef __SANITIZE_THREAD__ /* many frames of one thread: no more races than in other tests */
/*
 * A client that never acks and sends frames without payload: the server keeps a limited number of
 * those, too.
 */
TEST(kept_heads)
{
	enum { MANY = 3000000 };
	unsigned int i;
	uint64_t seq;

	begin();
	no_ack = true;
	assert_int_equal(send_op(OP_BUSY, completion, NULL, 0, &seq), 0);
	for (i = 0; i < MANY && !send_op(OP_SILENT, 0, NULL, 0, &seq); i++)
		;
	assert_in_range(i, 100000, MANY - 1);
	kvgpu_remote_disconnect(client);
	no_ack = false;
}
#endif

static void *wait_for_ever(void *arg)
{
	struct kvgpu_remote_answer a;
	const void *back;

	*(int *)arg = ask(OP_SILENT, kvgpu_remote_completion_get(client), NULL, 0, &a, &back);
	return NULL;
}

TEST(server_goes)
{
	pthread_t t[3];
	int r[3], i;
	uint64_t seq;

	begin();
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, wait_for_ever, &r[i]);
	usleep(20000);
	assert_int_equal(send_op(OP_LEAVE, 0, NULL, 0, &seq), 0);
	for (i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
		assert_int_equal(r[i], -ECONNRESET);
	}
	assert_true(kvgpu_remote_is_gone(client));
	assert_int_equal(ask(OP_ECHO, completion, NULL, 0, &a, &back), -ECONNRESET);
	assert_int_equal(kvgpu_remote_push(client, 0, NULL, 8), -ECONNRESET);
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(server_goes, "by an aperture", set_up_shmem, tear_down)
TEST_AGAIN(server_goes, "by a relay", set_up_relay, tear_down_relay)

/* ------------------------------------------------------------------ peers that lie */

static int raw(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(to.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void shake(int fd)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC, VERSION };
	struct kvgpu_remote_welcome w;

	assert_int_equal(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	assert_int_equal(recv(fd, &w, sizeof(w), MSG_WAITALL), sizeof(w));
}

/* Sends bytes after which the server must close: nothing more comes. */
static void assert_refused(int fd, const void *what, size_t n)
{
	char byte;

	assert_int_equal(send(fd, what, n, MSG_NOSIGNAL), n);
	assert_true(recv(fd, &byte, 1, 0) <= 0);
	close(fd);
}

TEST(too_long)
{
	struct kvgpu_remote_head h = { .op = OP_ECHO,
				       .completion = 1,
				       .bytes = KVGPU_REMOTE_PAYLOAD_MAX + 8 };
	int fd = raw();

	shake(fd);
	assert_refused(fd, &h, sizeof(h));
}

TEST(beside_the_arena)
{
	struct {
		struct kvgpu_remote_head h;
		struct kvgpu_remote_piece p;
	} m = { { .op = KVGPU_REMOTE_OP_PUSH, .bytes = sizeof(m.p) }, { ARENA - 8, 16 } };
	int fd = raw();

	shake(fd);
	assert_refused(fd, &m, sizeof(m));
}

TEST(no_hello)
{
	char nothing[sizeof(struct kvgpu_remote_hello)] = "GET / HTTP/1.0";

	assert_refused(raw(), nothing, sizeof(nothing));
}

/* A server that sends an answer to a question that was not asked. */
static void *lie(void *arg)
{
	struct kvgpu_remote_welcome w = { KVGPU_REMOTE_MAGIC, VERSION, ARENA, 0, 0 };
	struct down d = { .kind = DOWN_ANSWER, .completion = 7, .bytes = 8 };
	struct kvgpu_remote_hello hello;
	int fd = accept(listening, NULL, NULL);

	recv(fd, &hello, sizeof(hello), MSG_WAITALL);
	send(fd, &w, sizeof(w), MSG_NOSIGNAL);
	send(fd, &d, sizeof(d), MSG_NOSIGNAL);
	recv(fd, &hello, sizeof(hello), MSG_WAITALL);
	close(fd);
	return NULL;
}

static int set_up_liar(void **state)
{
	const char *why;

	listening = kvgpu_remote_listen(address, &why);
	return listening < 0 || pthread_create(&server, NULL, lie, NULL);
}

TEST_WITH(a_lying_server, set_up_liar, tear_down)
{
	begin();
	assert_int_equal(ask(OP_ECHO, completion, NULL, 0, &a, &back), -ECONNRESET);
	kvgpu_remote_disconnect(client);
}

/* A server that tells something at once finds the caller with its channel. */
enum { AT_ONCE = 400 };
static unsigned int told, told_too_early; /* atomic */

static void *tell_at_once(void *arg)
{
	struct {
		struct kvgpu_remote_welcome w;
		struct down d;
	} all = { { KVGPU_REMOTE_MAGIC, VERSION, ARENA, 0, 0 }, { .kind = DOWN_NOTIFICATION } };
	struct kvgpu_remote_hello hello;
	int fd, i;

	for (i = 0; i < AT_ONCE; i++) {
		fd = accept(listening, NULL, NULL);
		recv(fd, &hello, sizeof(hello), MSG_WAITALL);
		send(fd, &all, sizeof(all), MSG_NOSIGNAL);
		recv(fd, &hello, sizeof(hello), MSG_WAITALL);
		close(fd);
	}
	return NULL;
}

static void on_telling(void *ctx, const struct kvgpu_remote_notification *h, const void *bytes,
		       size_t n)
{
	struct kvgpu_remote_channel **c = ctx;

	if (!*c)
		__atomic_add_fetch(&told_too_early, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&told, 1, __ATOMIC_SEQ_CST);
}

TEST_WITH(told_at_once, set_up_listener, tear_down_listener)
{
	struct kvgpu_remote_channel *c;
	const char *why;
	unsigned int i;

	assert_int_equal(pthread_create(&server, NULL, tell_at_once, NULL), 0);
	for (i = 1; i <= AT_ONCE; i++) {
		c = NULL;
		assert_int_equal(kvgpu_remote_connect(address, VERSION, on_telling, &c, &c, &why),
				 0);
		while (__atomic_load_n(&told, __ATOMIC_SEQ_CST) < i)
			sched_yield();
		kvgpu_remote_disconnect(c);
	}
	pthread_join(server, NULL);
	assert_int_equal(told_too_early, 0);
}

/* ------------------------------------------------------------------ relays that lie */

/* the lying relay's welcome, sent with memory .memory, or with none if that is -1 */
static struct {
	struct kvgpu_remote_relayed r;
	int memory;
} lying;

static void *lie_as_relay(void *arg)
{
	struct {
		struct kvgpu_remote_welcome w;
		struct kvgpu_remote_relayed r;
	} all = { { KVGPU_REMOTE_MAGIC, VERSION, ARENA, 0, 1 }, lying.r };
	struct kvgpu_remote_hello hello;
	int fd = accept(listening, NULL, NULL);

	recv(fd, &hello, sizeof(hello), MSG_WAITALL);
	if (lying.memory >= 0)
		memory_send(fd, &all, sizeof(all), lying.memory);
	else
		send(fd, &all, sizeof(all), MSG_NOSIGNAL);
	recv(fd, &hello, sizeof(hello), MSG_WAITALL);
	close(fd);
	return NULL;
}

static void refuses_relay(uint32_t piece, int memory, const char *says)
{
	const char *why = "";
	pthread_t t;

	lying.r.piece = piece;
	lying.memory = memory;
	assert_int_equal(pthread_create(&t, NULL, lie_as_relay, NULL), 0);
	assert_int_equal(kvgpu_remote_connect(address, VERSION, on_notification, NULL, &client,
					      &why),
			 -EPROTO);
	assert_non_null(strstr(why, says));
	pthread_join(t, NULL);
	if (memory >= 0)
		close(memory);
}

TEST_WITH(lying_relays, set_up_listener, tear_down_listener)
{
	int open = memfd_create("not sealed", MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(open, ARENA), 0);
	refuses_relay(64 << 10, -1, "no memory");
	refuses_relay(64 << 10, memory_make(ARENA / 2), "another size");
	refuses_relay(64 << 10, open, "not sealed");
	refuses_relay(0, memory_make(ARENA), "can't be");
	refuses_relay(4 << 20, memory_make(ARENA), "can't be");
	/* pieces of more than an eighth of the arena */
	refuses_relay(1 << 20, memory_make(ARENA), "can't be");
}

/* A server that is reached by a relay refuses a piece that passes the end of the arena. */
TEST(beside_a_relays_arena)
{
	struct {
		struct kvgpu_remote_head h;
		struct kvgpu_remote_piece p;
	} m = { { .op = KVGPU_REMOTE_OP_PUSH, .bytes = sizeof(m.p) }, { ARENA - 8, 16 } };
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC_RELAY, VERSION };
	struct kvgpu_remote_welcome w;
	int fd = raw();

	assert_int_equal(send(fd, &hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	assert_int_equal(recv(fd, &w, sizeof(w), MSG_WAITALL), sizeof(w));
	assert_int_equal(w.relayed, 1);
	assert_refused(fd, &m, sizeof(m));
}

TEST_MAIN(set_up, tear_down)
