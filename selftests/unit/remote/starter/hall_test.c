// SPDX-License-Identifier: MIT
/* Which newcomer gets a place, and which one has to leave for another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/starter/starter.h>

enum { HALL = 32, PLACES = 16, OF_ONE = 12 };

static struct remoted_conf conf;
static struct starter s;
static const struct address_source bad = { 100, 0 }, good = { 200, 0 };

void say(const char *format, ...)
{
}

void say_of_clients(enum about about, const struct address_source *from, const char *format, ...)
{
}

/* time stands still: tests move what happened into the past */
uint64_t __wrap_now_ms(void)
{
	return 1000000;
}

static int set_up(void **state)
{
	unsigned int i;

	remoted_conf_default(&conf);
	s = (struct starter){ .conf = &conf, .admin_fd = -1, .nr_clients = 64 };
	s.clients = calloc(s.nr_clients, sizeof(*s.clients));
	if (!s.clients || !hall_begin(&s) || s.nr_hall < HALL)
		return -1;
	s.nr_hall = HALL;
	for (i = 0; i < s.nr_clients; i++)
		s.clients[i].report = -1;
	return 0;
}

static int tear_down(void **state)
{
	hall_end(&s);
	free(s.hall);
	free(s.clients);
	return 0;
}

/* Enters the hall. Returns the other end of the connection. */
static int enter(const struct address_source *from)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	hall_enter(&s, pair[0], 0, from);
	return pair[1];
}

static bool was_ended(int fd)
{
	char byte;
	bool ended = !recv(fd, &byte, 1, MSG_DONTWAIT);

	assert_true(ended || errno == EAGAIN);
	close(fd);
	return ended;
}

static bool fd_lives(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static void all_are_ready(void)
{
	unsigned int i;

	for (i = 0; i < s.nr_hall; i++)
		if (s.hall[i].fd >= 0)
			hall_look(&s, &s.hall[i], false);
}

static struct client *newcomer(const struct address_source *from, uint64_t ms_ago)
{
	unsigned int i = 0;

	while (s.clients[i].state != CLIENT_NONE)
		i++;
	s.clients[i] = (struct client){ .state = CLIENT_NEW,
					.report = -1,
					.from = *from,
					.id = ++s.last_id,
					.came_ms = now_ms() - ms_ago };
	return &s.clients[i];
}

/* Gives the next caller of the hall a place, as the loop does. */
static void place_next(uint64_t net)
{
	struct caller *next = hall_next(&s);

	assert_non_null(next);
	assert_int_equal(next->from.net, net);
	newcomer(&next->from, 0);
	close(next->fd);
	hall_forget(&s, next);
}

static void silent_ones_cost_no_place(void **state)
{
	unsigned int i, ended = 0;
	int fd[HALL + 2];

	for (i = 0; i < HALL; i++)
		fd[i] = enter(&bad);
	assert_null(hall_next(&s));
	/*
	 * A further caller from the same network and one from another network: each time a caller
	 * of the first network has to leave.
	 */
	fd[HALL] = enter(&bad);
	fd[HALL + 1] = enter(&good);
	for (i = 0; i < HALL + 2; i++)
		ended += !fd_lives(fd[i]);
	assert_int_equal(ended, 2);
	assert_true(fd_lives(fd[HALL + 1]));
	all_are_ready();
	place_next(bad.net);
	/* now that network has a newcomer, and the other one has none */
	place_next(good.net);
	place_next(bad.net);
	for (i = 0; i < HALL + 2; i++)
		close(fd[i]);
}

/* Networks of one site (a /48 of IPv6, a /24 of IPv4) have one share, and another site the same. */
static void far_networks(void **state)
{
	const uint64_t six = 0x20010db800070000, four = (uint64_t)AF_INET << 32 | 0xc0000200;
	const struct address_source far = { 0x20010db800080000, 1 },
				    other = { four + 256, 0 };
	unsigned int i, ended = 0;
	struct client *go;
	int fd[HALL];

	fd[0] = enter(&far);
	fd[1] = enter(&other);
	for (i = 2; i < HALL; i++)
		fd[i] = enter(&(struct address_source){ (i % 2 ? six : four) + i, 0 });
	for (i = 0; i < 1000; i++)
		close(enter(&(struct address_source){ (i % 2 ? six : four) + i % 256, 0 }));
	assert_true(fd_lives(fd[0]) && fd_lives(fd[1]));
	for (i = 2; i < HALL; i++)
		ended += !fd_lives(fd[i]);
	assert_true(ended > HALL / 2);
	for (i = 0; i < HALL; i++)
		close(fd[i]);
	for (i = 0; i < OF_ONE; i++)
		newcomer(&(struct address_source){ six + i, 0 }, 0);
	assert_true(newcomer_room(&s, &(struct address_source){ six + 99, 0 }, &go) > now_ms());
	assert_int_equal(newcomer_room(&s, &far, &go), 0);
}

/* Of many sources with one connection each, it is not always the oldest that has to leave. */
static void equals_go_by_chance(void **state)
{
	unsigned int round, i, oldest = 0;
	int fd[HALL + 1];

	for (round = 0; round < 64; round++) {
		for (i = 0; i <= HALL; i++)
			fd[i] = enter(&(struct address_source){ i, 0 });
		oldest += !fd_lives(fd[0]);
		for (i = 0; i <= HALL; i++)
			close(fd[i]);
		hall_end(&s);
	}
	assert_true(oldest < 32);
}

/* By TCP a connection is ready when all of a hello is there, and is read as ever then. */
static void one_byte_is_no_hello(void **state)
{
	static const uint8_t bytes[sizeof(struct kvgpu_remote_hello)];
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t of = sizeof(at), of_low = sizeof(int);
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd, other, low = 0;
	struct pollfd p = { .events = POLLIN };

	assert_int_equal(bind(listening, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&at, &of), 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	other = accept(listening, NULL, NULL);
	hall_enter(&s, other, 0, &good);
	p.fd = other;
	assert_int_equal(write(fd, bytes, sizeof(bytes) - 1), sizeof(bytes) - 1);
	assert_int_equal(poll(&p, 1, 100), 0);
	assert_int_equal(write(fd, bytes, 1), 1);
	assert_int_equal(poll(&p, 1, 60000), 1);
	all_are_ready();
	assert_non_null(hall_next(&s));
	assert_int_equal(getsockopt(other, SOL_SOCKET, SO_RCVLOWAT, &low, &of_low), 0);
	assert_int_equal(low, 1);
	close(fd);
	close(listening);
}

static void who_is_late_goes(void **state)
{
	int early = enter(&good), late = enter(&good), ready = enter(&good);

	assert_true(hall_deadline(&s) > now_ms() + 9000);
	s.hall[1].deadline_ms = s.hall[2].deadline_ms = now_ms();
	hall_look(&s, &s.hall[2], false);
	hall_end_late_ones(&s);
	assert_true(was_ended(late));
	assert_false(was_ended(early));
	assert_false(was_ended(ready));
	hall_look(&s, &s.hall[2], true);
	assert_null(hall_next(&s));
}

/*
 * Many programs of one user at the same time: they wait for each other while they get through in
 * time.
 */
static void a_burst_waits(void **state)
{
	struct client *go;
	unsigned int i;

	for (i = 0; i < OF_ONE; i++) {
		assert_int_equal(newcomer_room(&s, &good, &go), 0);
		newcomer(&good, 2000);
	}
	assert_true(newcomer_room(&s, &good, &go) > now_ms());
	assert_null(go);
	s.clients[5].state = CLIENT_SERVED;
	assert_int_equal(newcomer_room(&s, &good, &go), 0);
	newcomer(&good, 4000);
	assert_true(newcomer_room(&s, &good, &go) <= now_ms());
	assert_ptr_equal(go, &s.clients[OF_ONE]);
	/* a newcomer of another source can come in meanwhile */
	assert_int_equal(newcomer_room(&s, &bad, &go), 0);
}

static void who_stalls_goes_for_others(void **state)
{
	struct address_source six[] = { { 0x20010db8, 1 }, { 0x20010db8, 2 } };
	struct client *go, *first;
	unsigned int i;

	newcomer(&good, 2000);
	first = newcomer(&bad, 1500);
	for (i = 0; i < OF_ONE - 1; i++)
		newcomer(&bad, 1200);
	for (; clients_in(&s, CLIENT_NEW) < PLACES;)
		newcomer(&six[0], 1100);
	/* of the network with most newcomers, the newcomer that came first has to leave */
	newcomer_room(&s, &good, &go);
	assert_ptr_equal(go, first);
	/*
	 * a newcomer from another address of the network with 3 places does not get one of these:
	 * another network has more
	 */
	newcomer_room(&s, &six[1], &go);
	assert_ptr_equal(go, first);
	/*
	 * a newcomer of the network that has most itself must wait until one of that network's
	 * newcomers has had longer
	 */
	assert_true(newcomer_room(&s, &bad, &go) > now_ms());
	assert_null(go);
	first->came_ms -= 2000;
	newcomer_room(&s, &bad, &go);
	assert_ptr_equal(go, first);
}

/* Each address of an attacker's network has one newcomer. */
static void a_network_is_one(void **state)
{
	struct address_source other = { 7, 1000 };
	unsigned int i;
	int fd[3];

	for (i = 0; i < OF_ONE; i++)
		newcomer(&(struct address_source){ 7, i }, 0);
	fd[0] = enter(&(struct address_source){ 7, 3 });
	fd[1] = enter(&other);
	fd[2] = enter(&good);
	all_are_ready();
	place_next(good.net);
	assert_int_equal(hall_next(&s)->from.host, 1000);
	for (i = 0; i < 3; i++)
		close(fd[i]);
}

int main(void)
{
#define WITH(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = { WITH(silent_ones_cost_no_place), WITH(who_is_late_goes),
					    WITH(a_burst_waits), WITH(who_stalls_goes_for_others),
					    WITH(a_network_is_one), WITH(far_networks),
					    WITH(equals_go_by_chance), WITH(one_byte_is_no_hello) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
