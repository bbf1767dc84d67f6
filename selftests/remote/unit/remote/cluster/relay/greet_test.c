// SPDX-License-Identifier: MIT
/* The welcome that a server process sends to its proxy. */
#include <selftests/unit_test.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/channel/memory.h>

#include <remote/cluster/relay/relay.h>

enum { ARENA = 16 << 20, PATIENCE_S = 10 };

static struct tunnel tunnel;
static int server;

bool tunnel_has_arena(struct tunnel *n, uint8_t *arena, uint64_t bytes)
{
	n->arena = arena;
	n->arena_bytes = bytes;
	return true;
}

void tunnel_end_local(struct tunnel *n)
{
}

void relay_say(const char *format, ...)
{
}

static int set_up(void **state)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -1;
	tunnel = (struct tunnel){ .fd = pair[0] };
	server = pair[1];
	alarm(PATIENCE_S);
	return 0;
}

static int tear_down(void **state)
{
	alarm(0);
	if (tunnel.arena)
		munmap(tunnel.arena, tunnel.arena_bytes);
	close(tunnel.fd);
	if (server >= 0)
		close(server);
	return 0;
}

static const struct kvgpu_remote_welcome fine = { KVGPU_REMOTE_MAGIC, 1, ARENA, 0, 1 };

TEST(whole)
{
	struct kvgpu_remote_welcome w;
	int memory = memory_make(ARENA);

	assert_int_equal(greet_take_welcome(&tunnel, &w), 0);
	assert_int_equal(memory_send(server, &fine, sizeof(fine), memory), 0);
	close(memory);
	assert_int_equal(greet_take_welcome(&tunnel, &w), sizeof(w));
	assert_memory_equal(&w, &fine, sizeof(w));
	assert_non_null(tunnel.arena);
}

/*
 * A server process sends its welcome in one piece. A proxy does not wait for the rest of an
 * incomplete one.
 */
TEST(a_part)
{
	struct kvgpu_remote_welcome w;
	int memory = memory_make(ARENA);

	assert_int_equal(memory_send(server, &fine, 1, memory), 0);
	close(memory);
	assert_int_equal(greet_take_welcome(&tunnel, &w), -1);
	assert_null(tunnel.arena);
}

TEST(wrong)
{
	struct kvgpu_remote_welcome w;
	int memory = memory_make(ARENA / 2);

	assert_int_equal(memory_send(server, &fine, sizeof(fine), memory), 0);
	close(memory);
	assert_int_equal(greet_take_welcome(&tunnel, &w), -1);
}

TEST(gone)
{
	struct kvgpu_remote_welcome w;

	close(server);
	server = -1;
	assert_int_equal(greet_take_welcome(&tunnel, &w), -1);
}

TEST_MAIN(set_up, tear_down)
