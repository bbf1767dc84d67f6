// SPDX-License-Identifier: MIT
/*
 * What the broker does with a program that connects: it tells the proxy to open a tunnel. If there
 * is no memory for the tunnel on this side, the link is lost, as the proxy has opened its side.
 */
#include <selftests/unit_test.h>

#include "remote/cluster/relay/broker.c"

static struct link the_link, *links[] = { &the_link };
static unsigned int asked, opened, lost; /* the proxy for a tunnel; tunnels; links */
static bool no_memory;

/* ------------------------------------------------------------------ the rest of the program */

struct tunnel *tunnel_find(struct link *l)
{
	return &l->tunnels[0];
}

bool link_open(struct link *l, const struct tunnel *n)
{
	asked++;
	return true;
}

bool tunnel_open(struct tunnel *n, int fd)
{
	assert_int_equal(asked, 1);
	close(fd);
	opened += !no_memory;
	return !no_memory;
}

void link_lose(struct link *l, const char *why)
{
	assert_ptr_equal(l, &the_link);
	lost++;
}

/* the rest is not called */
#define NOT_CALLED(type, name, ...) \
	type name(__VA_ARGS__)      \
	{                           \
		abort();            \
	}

NOT_CALLED(void, relay_say, const char *format, ...)
NOT_CALLED(int, kvgpu_remote_listen, const char *address, const char **why)
NOT_CALLED(void, folder_remove, const char *path)
NOT_CALLED(bool, backoff_wait, const struct settings *s, struct pollfd *p, unsigned int n,
	   bool moved, bool open)
NOT_CALLED(void, link_measure, struct link *l)
NOT_CALLED(uint64_t, now_us, void)
NOT_CALLED(bool, link_begin, struct link *l, const struct settings *s, int rank)
NOT_CALLED(bool, link_say, struct link *l, enum control_kind kind, unsigned int tunnel)
NOT_CALLED(bool, link_hear, struct link *l, struct control *c)
NOT_CALLED(void, link_beat, struct link *l)
NOT_CALLED(unsigned int, tunnels_wait, struct link *l, struct pollfd *p, bool *open)
NOT_CALLED(bool, tunnels_go, struct link *l)
NOT_CALLED(void, tunnels_hang_up, struct link *l)
NOT_CALLED(bool, tunnels_are_quiet, const struct link *l)
NOT_CALLED(void, link_end, struct link *l)

/* ------------------------------------------------------------------ tests */

/* a program connects once */
static void connect_program(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int program = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static struct broker b = { .proxies = 1, .links = links };
	socklen_t bytes = sizeof(a);

	/* the kernel chooses an abstract address */
	assert_int_equal(bind(listener, (struct sockaddr *)&a, sizeof(a.sun_family)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &bytes), 0);
	assert_int_equal(connect(program, (struct sockaddr *)&a, bytes), 0);
	b.listeners = &listener;
	asked = opened = lost = 0;
	accept_one(&b, 0);
	close(program);
	close(listener);
}

TEST(program_gets_a_tunnel)
{
	no_memory = false;
	connect_program();
	assert_int_equal(asked, 1);
	assert_int_equal(opened, 1);
	assert_int_equal(lost, 0);
}

TEST(no_memory_for_a_tunnel)
{
	no_memory = true;
	connect_program();
	assert_int_equal(asked, 1);
	assert_int_equal(opened, 0);
	assert_int_equal(lost, 1);
}

TEST_MAIN(NULL, NULL)
