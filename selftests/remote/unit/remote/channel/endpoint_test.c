// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shmem regions in a file that both sides map, with and without a doorbell. Servers are other
 * processes.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <remote/channel/address.h>
#include <remote/channel/shmem.h>

#include "selftests/own_folder.h"

enum { VERSION = 77, OP_ECHO = 100, ROUNDS = 8 };

#define BYTES (SHMEM_MIN + (1 << 20))

static char path[64], doorbell[64], address[256];
static pid_t server;
static unsigned int endpoint_index; /* the endpoint that the next server serves */
static struct kvgpu_remote_channel *client;

/*
 * The process for which 10 s pass whenever it reads the clock, so that it soon takes a silent peer
 * for dead; 0: none. In shared memory.
 */
static pid_t *hurries;

static void hurry(pid_t pid)
{
	__atomic_store_n(hurries, pid, __ATOMIC_SEQ_CST);
}

static unsigned int ahead_s; /* of the machine's clock; atomic */

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int r = __real_clock_gettime(id, t);

	if (hurries && __atomic_load_n(hurries, __ATOMIC_SEQ_CST) == getpid())
		__atomic_add_fetch(&ahead_s, 10, __ATOMIC_SEQ_CST);
	t->tv_sec += __atomic_load_n(&ahead_s, __ATOMIC_SEQ_CST);
	return r;
}

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
	struct timespec until = *t;

	until.tv_sec -= __atomic_load_n(&ahead_s, __ATOMIC_SEQ_CST);
	return __real_pthread_cond_timedwait(c, m, &until);
}

/* ------------------------------------------------------------------ the server's process */

static void serve(struct kvgpu_remote_endpoint *endpoint)
{
	struct kvgpu_remote_port *p;
	struct kvgpu_remote_head h;
	const void *payload;

	if (kvgpu_remote_endpoint_welcome(endpoint, &p))
		_exit(3);
	while (kvgpu_remote_next(p, -1, &h, &payload) == 1)
		if (h.completion)
			kvgpu_remote_reply(p, &h, h.op, payload, h.bytes);
	hurry(0); /* the next client is to live */
	kvgpu_remote_port_close(p);
	kvgpu_remote_endpoint_again(endpoint);
}

static void run_server(int ready)
{
	struct kvgpu_remote_endpoint *endpoint;
	const char *why;

	if (!kvgpu_remote_is_endpoint(address) ||
	    kvgpu_remote_endpoint_open(address, endpoint_index, VERSION, &endpoint, &why))
		_exit(2);
	if (write(ready, "", 1) != 1)
		_exit(4);
	for (;;)
		switch (kvgpu_remote_endpoint_await(endpoint)) {
		case 0:
			break;
		case 1:
			serve(endpoint);
			break;
		default:
			_exit(1);
		}
}

static void start_server(void)
{
	int fd[2];
	char byte;

	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	server = fork();
	if (!server)
		run_server(fd[1]);
	close(fd[1]);
	assert_int_equal(read(fd[0], &byte, 1), 1);
	close(fd[0]);
}

static int end_server(int signal)
{
	int status;

	kill(server, signal);
	waitpid(server, &status, 0);
	return status;
}

static int make_file(void)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), r = ftruncate(fd, BYTES);

	close(fd);
	return r;
}

/* How a test's client and servers meet. No side is taken for dead within .patience, ms. */
static struct meeting {
	const char *ring, *patience;
} ends_a_hang = { "", "60000" }, by_doorbell = { ",bell=unix:", "60000" };

static void name_endpoint(void)
{
	snprintf(path, sizeof(path), "%s/place", own_folder());
	snprintf(address, sizeof(address), "aperture:%s", path);
}

static int set_up(void **state)
{
	const struct meeting *m = *state ?: &ends_a_hang;

	setenv("KVGPU_REMOTE_PATIENCE_MS", m->patience, true);
	name_endpoint();
	snprintf(doorbell, sizeof(doorbell), "%s/bell", own_folder());
	snprintf(address, sizeof(address), "aperture:%s%s%s", path, m->ring,
		 *m->ring ? doorbell : "");
	if (make_file())
		return -1;
	start_server();
	return 0;
}

static int set_up_bell(void **state)
{
	*state = &by_doorbell;
	return set_up(state);
}

static int tear_down(void **state)
{
	end_server(SIGKILL);
	unlink(path);
	unlink(doorbell);
	for (unsigned int i = 1; i < 3; i++) {
		char more[sizeof(doorbell) + 8];

		snprintf(more, sizeof(more), "%s.%u", doorbell, i);
		unlink(more);
	}
	return 0;
}

/* ------------------------------------------------------------------ the client's */

static void on_notification(void *ctx, const struct kvgpu_remote_notification *h, const void *bytes,
			    size_t n)
{
}

static int try_to_connect(uint64_t version, const char **why)
{
	return kvgpu_remote_connect(address, version, on_notification, NULL, &client, why);
}

static void connect_it(void)
{
	const char *why = "";

	if (try_to_connect(VERSION, &why))
		fail_msg("%s", why);
}

static int ask(unsigned int completion, size_t n)
{
	static uint64_t words[2048];
	struct iovec part = { words, n };
	struct kvgpu_remote_answer a;
	const void *payload;
	uint64_t seq;
	int r;

	words[0]++;
	r = kvgpu_remote_send(client, OP_ECHO, completion, &part, 1, &seq);
	if (!r)
		r = kvgpu_remote_await(client, completion, seq, &a, &payload);
	if (r)
		return r;
	assert_int_equal(a.bytes, n);
	assert_memory_equal(payload, words, n);
	return 0;
}

static void calls(unsigned int n)
{
	unsigned int completion = kvgpu_remote_completion_get(client), i;

	for (i = 0; i < n; i++)
		assert_int_equal(ask(completion, i % 2 ? 8 : 8192), 0);
	kvgpu_remote_completion_put(client, completion);
}

static void until_gone(void)
{
	unsigned int completion = kvgpu_remote_completion_get(client);
	int r;

	hurry(getpid());
	while (!(r = ask(completion, 64)))
		;
	assert_int_equal(r, -ECONNRESET);
	kvgpu_remote_disconnect(client);
	hurry(0);
}

TEST(one_after_the_other)
{
	uint64_t bytes;
	unsigned int i;
	uint8_t *arena;

	for (i = 0; i < ROUNDS; i++) {
		connect_it();
		arena = kvgpu_remote_arena(client, &bytes);
		assert_int_equal(bytes, BYTES - SHMEM_ARENA);
		arena[bytes - 1] = 1;
		calls(20);
		kvgpu_remote_disconnect(client);
	}
}
TEST_AGAIN(one_after_the_other, "with a bell", set_up_bell, tear_down)

/*
 * A shmem region that VMs have as a device begins behind the file's first 2 MiB, which stay as they
 * are. The host's side begins there as well.
 */
TEST(behind_its_label)
{
	uint64_t file = BYTES + SHMEM_LABEL_DATA, bytes;
	struct shmem_label l = shmem_label_make(file, 1);
	struct attach_page page;
	uint8_t first[4096];
	const char *why = "";
	int fd;

	end_server(SIGKILL);
	fd = open(path, O_RDWR | O_CLOEXEC);
	memset(first, 0x5a, sizeof(first));
	memcpy(first, &l, sizeof(l));
	assert_int_equal(ftruncate(fd, file), 0);
	assert_int_equal(pwrite(fd, first, sizeof(first), 0), sizeof(first));
	assert_int_equal(pwrite(fd, &l, sizeof(l), l.data + SHMEM_LABEL_AT), sizeof(l));
	start_server();
	connect_it();
	kvgpu_remote_arena(client, &bytes);
	assert_int_equal(bytes, BYTES - SHMEM_ARENA);
	calls(20);
	kvgpu_remote_disconnect(client);
	assert_int_equal(pread(fd, &page, sizeof(page), l.data), sizeof(page));
	assert_int_equal(page.magic, KVGPU_REMOTE_MAGIC_SHMEM);
	assert_int_equal(page.bytes, BYTES);
	assert_int_equal(pread(fd, &first[64], sizeof(l), l.data + SHMEM_LABEL_AT), sizeof(l));
	assert_memory_equal(&first[64], &l, sizeof(l));
	assert_int_equal(pread(fd, first, sizeof(first), 0), sizeof(first));
	assert_memory_equal(first, &l, sizeof(l));
	assert_int_equal(first[sizeof(l)], 0x5a);
	end_server(SIGKILL);
	assert_int_equal(ftruncate(fd, file - 1), 0);
	assert_int_equal(try_to_connect(VERSION, &why), -EINVAL);
	assert_non_null(strstr(why, "shorter than it says"));
	assert_int_equal(ftruncate(fd, file), 0);
	close(fd);
	start_server();
}
TEST_AGAIN(behind_its_label, "with a bell", set_up_bell, tear_down)

/* As many programs at the same time as the label says. */
TEST(several_endpoints)
{
	enum { ENDPOINTS = 3, PART = 14 << 20 };
	uint64_t file = SHMEM_LABEL_DATA + ENDPOINTS * PART + (2 << 20) - 4096, bytes;
	struct shmem_label l = shmem_label_make(file, ENDPOINTS);
	struct kvgpu_remote_channel *clients[ENDPOINTS];
	pid_t servers[ENDPOINTS];
	const char *why = "";
	unsigned int i;
	uint8_t *arena;
	int fd;

	end_server(SIGKILL);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, file), 0);
	assert_int_equal(pwrite(fd, &l, sizeof(l), 0), sizeof(l));
	assert_int_equal(pwrite(fd, &l, sizeof(l), l.data + SHMEM_LABEL_AT), sizeof(l));
	assert_int_equal(kvgpu_remote_endpoints(address, &why), ENDPOINTS);
	for (endpoint_index = 0; endpoint_index < ENDPOINTS; endpoint_index++) {
		start_server();
		servers[endpoint_index] = server;
	}
	for (i = 0; i < ENDPOINTS; i++) {
		connect_it();
		clients[i] = client;
		arena = kvgpu_remote_arena(client, &bytes);
		assert_int_equal(bytes, PART - SHMEM_ARENA);
		memset(arena, 'a' + i, bytes);
	}
	assert_int_equal(try_to_connect(VERSION, &why), -EBUSY);
	assert_non_null(strstr(why, "each of its places"));
	for (i = 0; i < ENDPOINTS; i++) {
		client = clients[i];
		calls(20);
		arena = kvgpu_remote_arena(client, &bytes);
		assert_int_equal(arena[0], 'a' + i);
		assert_int_equal(arena[bytes - 1], 'a' + i);
		assert_memory_equal(arena, arena + 1, bytes - 1);
	}
	/* a client finds the endpoint that is free again */
	kvgpu_remote_disconnect(clients[1]);
	connect_it();
	calls(20);
	assert_int_equal(try_to_connect(VERSION, &why), -EBUSY);
	clients[1] = client;
	for (i = 0; i < ENDPOINTS; i++) {
		kvgpu_remote_disconnect(clients[i]);
		kill(servers[i], SIGKILL);
		waitpid(servers[i], NULL, 0);
	}
	/*
	 * The first endpoint is not locked, but its server does not answer: it has not noticed that
	 * the last client there is gone. The other endpoints are free.
	 */
	for (endpoint_index = 0; endpoint_index < ENDPOINTS; endpoint_index++) {
		start_server();
		servers[endpoint_index] = server;
	}
	connect_it();
	clients[0] = client;
	kill(servers[0], SIGSTOP);
	kvgpu_remote_disconnect(clients[0]);
	connect_it();
	assert_int_equal(kvgpu_remote_endpoints(address, &why), ENDPOINTS);
	calls(20);
	kvgpu_remote_disconnect(client);
	for (i = 0; i < ENDPOINTS; i++) {
		kill(servers[i], SIGKILL);
		waitpid(servers[i], NULL, 0);
	}
	/* a label with more endpoints than the memory has room for */
	l.endpoints = 4;
	assert_int_equal(pwrite(fd, &l, sizeof(l), l.data + SHMEM_LABEL_AT), sizeof(l));
	assert_int_equal(kvgpu_remote_endpoints(address, &why), -EINVAL);
	assert_non_null(strstr(why, "too small"));
	assert_int_equal(try_to_connect(VERSION, &why), -EINVAL);
	endpoint_index = 0;
	l.endpoints = ENDPOINTS;
	assert_int_equal(pwrite(fd, &l, sizeof(l), l.data + SHMEM_LABEL_AT), sizeof(l));
	close(fd);
	start_server();
}
TEST_AGAIN(several_endpoints, "with a bell", set_up_bell, tear_down)

TEST(only_one_at_once)
{
	struct kvgpu_remote_channel *first;
	const char *why;

	connect_it();
	first = client;
	assert_int_equal(try_to_connect(VERSION, &why), -EBUSY);
	assert_non_null(strstr(why, "other programs use"));
	client = first;
	calls(5);
	kvgpu_remote_disconnect(client);
	connect_it();
	calls(5);
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(only_one_at_once, "with a bell", set_up_bell, tear_down)

TEST(only_one_server)
{
	struct kvgpu_remote_endpoint *endpoint;
	const char *why;

	assert_int_equal(kvgpu_remote_endpoint_open(address, endpoint_index, VERSION, &endpoint,
						    &why),
			 -EBUSY);
	assert_non_null(strstr(why, "another server"));
}
TEST_AGAIN(only_one_server, "with a bell", set_up_bell, tear_down)

TEST(other_versions)
{
	const char *why;

	assert_int_equal(try_to_connect(VERSION + 1, &why), -EPROTO);
	assert_non_null(strstr(why, "(protocol 0000004d): install one build on both"));
	connect_it();
	calls(2);
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(other_versions, "with a bell", set_up_bell, tear_down)

TEST(server_killed)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		connect_it();
		calls(i * 7);
		end_server(SIGKILL);
		until_gone();
		start_server();
	}
	connect_it();
	calls(2);
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(server_killed, "with a bell", set_up_bell, tear_down)

/* The next client gets in at its first attempt. */
TEST(client_killed)
{
	int fd[2];
	char byte;
	pid_t pid;

	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(pipe(fd), 0);
		pid = fork();
		if (!pid) {
			connect_it();
			calls(1 + i * 5);
			(void)!write(fd[1], "", 1);
			for (;;)
				calls(1);
		}
		close(fd[1]);
		assert_int_equal(read(fd[0], &byte, 1), 1);
		close(fd[0]);
		kill(pid, SIGSTOP);
		hurry(server); /* until it has noticed */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		connect_it();
		calls(10);
		kvgpu_remote_disconnect(client);
	}
}
TEST_AGAIN(client_killed, "with a bell", set_up_bell, tear_down)

/* File cut short: the client's call fails without a crash; the server gets an error and ends. */
TEST(cut_short)
{
	volatile uint8_t *arena, *again;
	uint64_t bytes;
	int status;
	void *room;

	connect_it();
	calls(5);
	/* the arena at a second address is the same memory; other memory there stays */
	arena = kvgpu_remote_arena(client, &bytes);
	room = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_null(kvgpu_remote_arena_at(client, (uintptr_t)room));
	assert_null(kvgpu_remote_arena_at(client, (uintptr_t)room + 1));
	assert_int_equal(*(volatile uint8_t *)room, 0);
	munmap(room, bytes);
	again = kvgpu_remote_arena_at(client, (uintptr_t)room);
	if (!again && mremap((void *)arena, 0, bytes, MREMAP_MAYMOVE) == MAP_FAILED)
		again = room = (void *)arena; /* qemu-aarch64 7.2: nothing has two addresses */
	assert_ptr_equal(again, room);
	again[bytes - 1] = 5;
	arena[0] = 6;
	assert_int_equal(arena[bytes - 1], 5);
	assert_int_equal(again[0], 6);
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(again[0], 0);
	until_gone();
	waitpid(server, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(make_file(), 0);
	start_server();
	connect_it();
	calls(5);
	kvgpu_remote_disconnect(client);
}
TEST_AGAIN(cut_short, "with a bell", set_up_bell, tear_down)

TEST(nobody_there)
{
	const char *why, *gone = strstr(address, ",bell=") ? "no server listens there" :
							     "answer: does kvgpu-remoted run";

	end_server(SIGKILL);
	setenv("KVGPU_REMOTE_PATIENCE_MS", "400", true);
	assert_true(try_to_connect(VERSION, &why) && strstr(why, gone));
	assert_int_equal(make_file(), 0);
	assert_true(try_to_connect(VERSION, &why) && strstr(why, "yet: does kvgpu-remoted run"));
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(try_to_connect(VERSION, &why), -EINVAL);
	assert_non_null(strstr(why, "too small"));
	assert_int_equal(make_file(), 0);
	start_server();
}
TEST_AGAIN(nobody_there, "with a bell", set_up_bell, tear_down)

static bool after_some(void *looks)
{
	return !(*(unsigned int *)looks)--;
}

/*
 * A client that nothing wakes: the sleeps of one wait get longer, up to a limit, and those of the
 * next wait begin short again.
 */
TEST_WITH(sleeps_get_longer, NULL, NULL)
{
	struct shmem_doorbell b;
	struct shmem a;
	unsigned int looks;
	uint32_t word = 0;
	uint64_t first;

	setenv("KVGPU_REMOTE_SPIN_US", "0", true);
	setenv("KVGPU_REMOTE_SLEEP_MS", "1", true);
	shmem_init(&a, SIDE_CLIENT, WAKE_NONE, NULL, SHMEM_MIN);
	shmem_doorbell_init(&b, &a, &word);
	looks = 2; /* one before the wait, one before the sleep; ready at the third */
	assert_int_equal(kvgpu_doorbell_wait(&b.doorbell, after_some, &looks, KVGPU_FOREVER),
			 KVGPU_WAIT_READY);
	first = b.pause_ns;
	looks = 4;
	assert_int_equal(kvgpu_doorbell_wait(&b.doorbell, after_some, &looks, KVGPU_FOREVER),
			 KVGPU_WAIT_READY);
	assert_int_equal(b.pause_ns, 4 * first);
	looks = 30;
	assert_int_equal(kvgpu_doorbell_wait(&b.doorbell, after_some, &looks, KVGPU_FOREVER),
			 KVGPU_WAIT_READY);
	assert_int_equal(b.pause_ns, 1000000);
	looks = 2;
	assert_int_equal(kvgpu_doorbell_wait(&b.doorbell, after_some, &looks, KVGPU_FOREVER),
			 KVGPU_WAIT_READY);
	assert_int_equal(b.pause_ns, first);
	unsetenv("KVGPU_REMOTE_SPIN_US");
	unsetenv("KVGPU_REMOTE_SLEEP_MS");
}

static void expect_waits(struct kvgpu_remote_endpoint *endpoint, unsigned int looks, int want)
{
	unsigned int i;
	int ms;

	for (i = 0; i < looks; i++) {
		assert_int_equal(kvgpu_remote_endpoint_wait(endpoint, &ms), -1);
		assert_int_equal(ms, want);
		assert_int_equal(kvgpu_remote_endpoint_look(endpoint), 0);
	}
}

/*
 * Looks at an endpoint are counted, not timed: frequent looks at the start and after a client, then
 * seldom ones.
 */
TEST_WITH(idle_endpoints_are_looked_at_seldom, NULL, NULL)
{
	struct kvgpu_remote_endpoint *endpoint;
	const char *why;

	name_endpoint();
	assert_int_equal(make_file(), 0);
	assert_int_equal(kvgpu_remote_endpoint_open(address, 0, VERSION, &endpoint, &why), 0);
	expect_waits(endpoint, 100, 10);
	expect_waits(endpoint, 200, 50);
	assert_int_equal(kvgpu_remote_endpoint_again(endpoint), 0);
	expect_waits(endpoint, 100, 10);
	expect_waits(endpoint, 1, 50);
	kvgpu_remote_endpoint_close(endpoint);
	unlink(path);
}

/* ---------------------------------------------- rings by processes without a part in the memory */

enum { STRANGERS = 60 };

static int ring(uint64_t name)
{
	struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC_SHMEM, name };
	struct address at = { .scheme = ADDRESS_UNIX };
	const char *why;
	int fd;

	strcpy(at.host, doorbell);
	fd = address_connect(&at, &why);
	if (fd >= 0)
		(void)!send(fd, &hello, name ? sizeof(hello) : 3, MSG_NOSIGNAL);
	return fd;
}

/* Rings again and again, until the process is killed. */
static void ring_for_ever(void)
{
	int fd[STRANGERS] = { 0 };
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0;; i = (i + 1) % STRANGERS) {
		if (fd[i] > 0)
			close(fd[i]);
		fd[i] = ring(i + 1);
	}
}

/*
 * Strangers ring the doorbell, more of them than a server keeps: with names and without, and some
 * that ring again at once. They do not keep a client from its calls.
 */
TEST_WITH(strangers_ring, set_up_bell, tear_down)
{
	int fd[STRANGERS];
	unsigned int i;
	pid_t pid;

	for (i = 0; i < STRANGERS; i++)
		fd[i] = ring(i % 2 ? 0 : i + 1);
	connect_it();
	calls(5);
	kvgpu_remote_disconnect(client);
	pid = fork();
	if (!pid)
		ring_for_ever();
	for (i = 0; i < 3; i++) {
		connect_it();
		calls(5);
		kvgpu_remote_disconnect(client);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (i = 0; i < STRANGERS; i++)
		close(fd[i]);
}

/* By vsock the server knows which VM rings the doorbell. Here this machine rings, as CID 1. */
TEST(only_its_vm_rings)
{
	const unsigned int port = 0x40000000 + getpid();
	struct address at = { .scheme = ADDRESS_VSOCK, .cid = 1, .port = port };
	const char *why;
	int fd;

	end_server(SIGKILL);
	snprintf(address, sizeof(address), "aperture:%s,bell=vsock:9:%u", path, port);
	fd = address_listen(&at, &why);
	if (fd < 0) {
		start_server();
		/* cmocka's skip() would print "not ok" */
		print_message("# only_its_vm_rings: not run, this kernel has no vsock to itself\n");
		return;
	}
	close(fd);
	start_server();
	snprintf(address, sizeof(address), "aperture:%s,bell=vsock:1:%u", path, port);
	/* only silence tells that it is refused; a late machine can at most hide an answer */
	setenv("KVGPU_REMOTE_PATIENCE_MS", "2000", true);
	assert_int_not_equal(try_to_connect(VERSION, &why), 0);
	setenv("KVGPU_REMOTE_PATIENCE_MS", ends_a_hang.patience, true);
	end_server(SIGKILL);
	start_server();
	connect_it();
	calls(5);
	kvgpu_remote_disconnect(client);
}

enum { OTHER_USER = 12345 };

static void expect_refused(const char *text)
{
	struct kvgpu_remote_endpoint *endpoint;
	const char *why = "";

	assert_int_equal(kvgpu_remote_endpoints(address, &why), -EPERM);
	assert_non_null(strstr(why, text));
	assert_int_equal(kvgpu_remote_endpoint_open(address, 0, VERSION, &endpoint, &why), -EPERM);
	assert_non_null(strstr(why, text));
}

/* Root must own the file: its owner would pass for the client that the configuration names. */
TEST_WITH(anothers_file_is_not_served, NULL, NULL)
{
	const char *why;
	char to[80];

	if (geteuid())
		skip();
	name_endpoint();
	assert_int_equal(make_file(), 0);
	assert_int_equal(chown(path, OTHER_USER, OTHER_USER), 0);
	expect_refused("another user than root owns it");
	assert_int_equal(chown(path, 0, OTHER_USER), 0);
	assert_int_equal(chmod(path, 0666), 0);
	expect_refused("all users may write it");
	/* root owns it, and root chose the group */
	assert_int_equal(chmod(path, 0660), 0);
	assert_int_equal(kvgpu_remote_endpoints(address, &why), 1);
	/* a user's link to another client's file */
	snprintf(to, sizeof(to), "%s.target", path);
	assert_int_equal(rename(path, to), 0);
	assert_int_equal(symlink(to, path), 0);
	assert_int_equal(kvgpu_remote_endpoints(address, &why), 1);
	assert_int_equal(lchown(path, OTHER_USER, OTHER_USER), 0);
	expect_refused("another user than root owns it");
	assert_int_equal(lchown(path, 0, 0), 0);
	assert_int_equal(chown(to, OTHER_USER, OTHER_USER), 0);
	expect_refused("another user than root owns it");
	unlink(path);
	unlink(to);
}

static void expect_no_server(const char *text)
{
	const char *why = "";

	assert_int_equal(try_to_connect(VERSION, &why), -EPERM);
	assert_non_null(strstr(why, text));
}

/* The owner of a file, or who may write it, would pass for the server that the address means. */
TEST(anothers_file_is_no_server)
{
	if (geteuid())
		skip();
	assert_int_equal(chown(path, OTHER_USER, OTHER_USER), 0);
	expect_no_server("another user owns it");
	assert_int_equal(chown(path, 0, OTHER_USER), 0);
	assert_int_equal(chmod(path, 0662), 0);
	expect_no_server("all may write it");
	assert_int_equal(chmod(path, 0660), 0);
	connect_it();
	calls(2);
	kvgpu_remote_disconnect(client);
}

static unsigned int mode_of(const char *what)
{
	struct stat st;

	assert_int_equal(stat(what, &st), 0);
	return st.st_mode & 07777;
}

/*
 * When it is served, a regular file loses other users' rights. A device becomes root's alone; the
 * one here has the number of /dev/null, which has no size.
 */
TEST_WITH(no_other_opens_it, NULL, NULL)
{
	struct stat st;
	const char *why;

	if (geteuid())
		skip();
	name_endpoint();
	assert_int_equal(make_file(), 0);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(kvgpu_remote_endpoints(address, &why), 1);
	assert_int_equal(mode_of(path), 0640);
	unlink(path);
	if (mknod(path, S_IFCHR | 0660, makedev(1, 3)) ||
	    (close(open(path, O_RDONLY)) && !unlink(path))) /* a file system with nodev */
		skip();
	assert_int_equal(chown(path, 0, OTHER_USER) || chmod(path, 0660), 0);
	assert_int_equal(kvgpu_remote_endpoints(address, &why), -EINVAL);
	assert_non_null(strstr(why, "no device that says how large it is"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_gid, 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	unlink(path);
}

static int on_a_full_disk(void)
{
	struct kvgpu_remote_endpoint *endpoint;
	const char *why = "";
	char full[64];
	int fd;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", own_folder(), "tmpfs", 0, "size=64k") || make_file())
		return 77;
	snprintf(full, sizeof(full), "%s/full", own_folder());
	fd = open(full, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, address, 1) == 1)
		lseek(fd, 4095, SEEK_CUR);
	if (kvgpu_remote_endpoint_open(address, 0, VERSION, &endpoint, &why) != -EIO)
		return 1;
	return !strstr(why, "can't be touched");
}

/* A sparse file on a full disk: its pages can't be had. Opening the endpoint gives an error. */
TEST_WITH(no_room_for_its_pages, NULL, NULL)
{
	pid_t pid;
	int status;

	if (geteuid())
		skip();
	name_endpoint();
	pid = fork();
	if (!pid)
		_exit(on_a_full_disk());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	hurries = mmap(NULL, sizeof(*hurries), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (hurries == MAP_FAILED)
		return 1;
	return unit_tests_run(set_up, tear_down, NULL, NULL);
}
