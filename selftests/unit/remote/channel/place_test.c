// SPDX-License-Identifier: GPL-2.0-only
/*
 * Apertures in a file that both sides map, with a bell and without: clients one after the other, a second one at once, each side
 * killed, the file cut short, other versions. The server is a process of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/channel/aperture.h>

enum { VERSION = 77, OP_ECHO = 100, ROUNDS = 8 };

#define BYTES	(APERTURE_MIN + (1 << 20))

static char path[64], bell[64], address[256];
static pid_t server;
static struct kvgpu_remote_channel *client;

/* ------------------------------------------------------------------ the server's process */

static void serve(struct kvgpu_remote_place *place)
{
	struct kvgpu_remote_port *p;
	struct kvgpu_remote_head h;
	const void *payload;

	if (kvgpu_remote_place_welcome(place, &p))
		_exit(3);
	while (kvgpu_remote_next(p, -1, &h, &payload) == 1)
		if (h.box)
			kvgpu_remote_reply(p, &h, h.op, payload, h.bytes);
	kvgpu_remote_port_close(p);
	kvgpu_remote_place_again(place);
}

static void run_server(int ready)
{
	struct kvgpu_remote_place *place;
	const char *why;

	if (!kvgpu_remote_is_place(address) || kvgpu_remote_place_open(address, VERSION, &place, &why))
		_exit(2);
	if (write(ready, "", 1) != 1)
		_exit(4);
	for (;;)
		switch (kvgpu_remote_place_await(place)) {
		case 0:
			break;
		case 1:
			serve(place);
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

static int begin(const char *ring)
{
	setenv("KVGPU_REMOTE_PATIENCE_MS", "400", true);
	snprintf(path, sizeof(path), "/tmp/kvgpu-place-%d", (int)getpid());
	snprintf(bell, sizeof(bell), "/tmp/kvgpu-place-bell-%d", (int)getpid());
	snprintf(address, sizeof(address), "aperture:%s%s%s", path, ring, *ring ? bell : "");
	if (make_file())
		return -1;
	start_server();
	return 0;
}

static int set_up(void **state)
{
	return begin("");
}

static int set_up_bell(void **state)
{
	return begin(",bell=unix:");
}

static int tear_down(void **state)
{
	end_server(SIGKILL);
	unlink(path);
	unlink(bell);
	return 0;
}

/* ------------------------------------------------------------------ the client's */

static void on_event(void *ctx, const struct kvgpu_remote_happening *h, const void *bytes, size_t n)
{
}

static int try_to_connect(uint64_t version, const char **why)
{
	return kvgpu_remote_connect(address, version, on_event, NULL, &client, why);
}

static void connect_it(void)
{
	const char *why = "";

	if (try_to_connect(VERSION, &why))
		fail_msg("%s", why);
}

static int ask(unsigned int box, size_t n)
{
	static uint64_t words[2048];
	struct iovec part = { words, n };
	struct kvgpu_remote_answer a;
	const void *payload;
	uint64_t seq;
	int r;

	words[0]++;
	r = kvgpu_remote_send(client, OP_ECHO, box, &part, 1, &seq);
	if (!r)
		r = kvgpu_remote_await(client, box, seq, &a, &payload);
	if (r)
		return r;
	assert_int_equal(a.bytes, n);
	assert_memory_equal(payload, words, n);
	return 0;
}

/* some calls, then a number of them until the server is gone */
static void calls(unsigned int n)
{
	unsigned int box = kvgpu_remote_box_get(client), i;

	for (i = 0; i < n; i++)
		assert_int_equal(ask(box, i % 2 ? 8 : 8192), 0);
}

static void until_gone(void)
{
	unsigned int box = kvgpu_remote_box_get(client);
	int r;

	while (!(r = ask(box, 64)))
		;
	assert_int_equal(r, -ECONNRESET);
	kvgpu_remote_disconnect(client);
}

static void one_after_the_other(void **state)
{
	uint64_t bytes;
	unsigned int i;
	uint8_t *arena;

	for (i = 0; i < ROUNDS; i++) {
		connect_it();
		arena = kvgpu_remote_arena(client, &bytes);
		assert_int_equal(bytes, BYTES - APERTURE_ARENA);
		arena[bytes - 1] = 1;
		calls(20);
		kvgpu_remote_disconnect(client);
	}
}

static void only_one_at_once(void **state)
{
	struct kvgpu_remote_channel *first;
	const char *why;

	connect_it();
	first = client;
	assert_int_equal(try_to_connect(VERSION, &why), -EBUSY);
	assert_non_null(strstr(why, "another program"));
	client = first;
	calls(5);
	kvgpu_remote_disconnect(client);
	connect_it();
	calls(5);
	kvgpu_remote_disconnect(client);
}

static void only_one_server(void **state)
{
	struct kvgpu_remote_place *place;
	const char *why;

	assert_int_equal(kvgpu_remote_place_open(address, VERSION, &place, &why), -EBUSY);
	assert_non_null(strstr(why, "another server"));
}

static void other_versions(void **state)
{
	const char *why;

	assert_int_equal(try_to_connect(VERSION + 1, &why), -EPROTO);
	assert_non_null(strstr(why, "version"));
	connect_it();
	calls(2);
	kvgpu_remote_disconnect(client);
}

static void server_killed(void **state)
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

/* the next one gets in at once, whatever the server has noticed by then */
static void client_killed(void **state)
{
	unsigned int i;
	int fd[2];
	char byte;
	pid_t pid;

	for (i = 0; i < 3; i++) {
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
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		connect_it();
		calls(10);
		kvgpu_remote_disconnect(client);
	}
}

/* no crash of the client, whose call fails; the server's process says what happened, and ends */
static void cut_short(void **state)
{
	volatile uint8_t *arena, *again;
	uint64_t bytes;
	int status;
	void *room;

	connect_it();
	calls(5);
	/* the arena at two addresses is one memory, and no other memory makes room for it */
	arena = kvgpu_remote_arena(client, &bytes);
	room = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_null(kvgpu_remote_arena_at(client, (uintptr_t)room));
	assert_null(kvgpu_remote_arena_at(client, (uintptr_t)room + 1));
	assert_int_equal(*(volatile uint8_t *)room, 0);
	munmap(room, bytes);
	again = kvgpu_remote_arena_at(client, (uintptr_t)room);
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

static void nobody_there(void **state)
{
	const char *why;

	end_server(SIGKILL);
	assert_int_equal(make_file(), 0);
	assert_int_not_equal(try_to_connect(VERSION, &why), 0);
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(try_to_connect(VERSION, &why), -EINVAL);
	assert_non_null(strstr(why, "too small"));
	assert_int_equal(make_file(), 0);
	start_server();
}

static bool after_some(void *looks)
{
	return !(*(unsigned int *)looks)--;
}

/* without anything that wakes: the sleeps of a wait get longer up to a bound, those of the next one begin short again */
static void sleeps_get_longer(void **state)
{
	struct aperture_bell b;
	struct aperture a;
	unsigned int looks;
	uint32_t word = 0;
	uint64_t first;

	setenv("KVGPU_REMOTE_SPIN_US", "0", true);
	setenv("KVGPU_REMOTE_SLEEP_MS", "1", true);
	aperture_init(&a, SIDE_CLIENT, WAKE_NONE, NULL, APERTURE_MIN);
	aperture_bell_init(&b, &a, &word);
	looks = 2;	/* one before, one before the sleep: then it is there */
	assert_int_equal(kvgpu_bell_wait(&b.bell, after_some, &looks, KVGPU_FOREVER), KVGPU_WAIT_READY);
	first = b.pause_ns;
	looks = 4;
	assert_int_equal(kvgpu_bell_wait(&b.bell, after_some, &looks, KVGPU_FOREVER), KVGPU_WAIT_READY);
	assert_int_equal(b.pause_ns, 4 * first);
	looks = 30;
	assert_int_equal(kvgpu_bell_wait(&b.bell, after_some, &looks, KVGPU_FOREVER), KVGPU_WAIT_READY);
	assert_int_equal(b.pause_ns, 1000000);
	looks = 2;
	assert_int_equal(kvgpu_bell_wait(&b.bell, after_some, &looks, KVGPU_FOREVER), KVGPU_WAIT_READY);
	assert_int_equal(b.pause_ns, first);
	unsetenv("KVGPU_REMOTE_SPIN_US");
	unsetenv("KVGPU_REMOTE_SLEEP_MS");
}

int main(void)
{
#define BOTH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down), \
		{ #f ", with a bell", f, set_up_bell, tear_down, NULL }
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sleeps_get_longer), BOTH(one_after_the_other), BOTH(only_one_at_once), BOTH(only_one_server), BOTH(other_versions), BOTH(server_killed),
		BOTH(client_killed), BOTH(cut_short), BOTH(nobody_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
