// SPDX-License-Identifier: MIT
/*
 * Which newcomer gets a slot, and when, and which one has to leave for another; what connections
 * say first. The clock is the test's.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/channel/rights.h>
#include <remote/supervisor/supervisor.h>
#include <remote/wire/frame.h>

#include "selftests/remote/unit/remote/linger.h"

enum { PREAUTH = 32, NEWCOMERS = 16, OF_ONE = 12, VERSION = 7 };
/* starts in a second */
enum { SECOND = 1000, STARTS_OF_ONE = NEWCOMERS, STARTS = 2 * NEWCOMERS };

static struct remoted_conf conf;
static struct supervisor s;
static const struct address_source bad = { 100, 0 }, good = { 200, 0 };

static char said[200];
static uint64_t now;

/* time moves where a test moves it */
uint64_t __wrap_now_ms(void)
{
	return now;
}

void say_of_clients(enum about about, const struct address_source *from, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

static int set_up(void **state)
{
	unsigned int i;

	remoted_conf_default(&conf);
	s = (struct supervisor){
		.conf = &conf, .build = { .version = VERSION }, .admin_fd = -1, .nr_clients = 64
	};
	now = 1000000;
	*said = 0;
	s.clients = calloc(s.nr_clients, sizeof(*s.clients));
	if (!s.clients || !preauth_begin(&s) || s.nr_preauth < PREAUTH)
		return -1;
	s.nr_preauth = PREAUTH;
	for (i = 0; i < s.nr_clients; i++)
		s.clients[i].report = -1;
	return 0;
}

static int tear_down(void **state)
{
	preauth_end(&s);
	free(s.preauth);
	free(s.clients);
	return 0;
}

static const struct kvgpu_remote_hello hello = { KVGPU_REMOTE_MAGIC, VERSION };

/* Enters the pre-auth queue, and says these bytes. Returns the other end of the connection. */
static int enter_with(const struct address_source *from, bool tls, const void *bytes, size_t n)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	rights_refuse(pair[0]); /* as a listener's */
	preauth_enter(&s, pair[0], tls, from);
	assert_int_equal(write(pair[1], bytes, n), n);
	return pair[1];
}

static int enter(const struct address_source *from)
{
	return enter_with(from, false, &hello, sizeof(hello));
}

static bool was_ended(int fd)
{
	char byte;
	bool ended = !recv(fd, &byte, 1, MSG_DONTWAIT) || errno == ECONNRESET;

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

	for (i = 0; i < s.nr_preauth; i++)
		if (s.preauth[i].fd >= 0)
			preauth_look(&s, &s.preauth[i], false);
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

/* Gives the next connection of the pre-auth queue a slot, as the loop does. */
static void admit_next(uint64_t net)
{
	struct preauth_conn *next = preauth_next(&s);

	assert_non_null(next);
	assert_int_equal(next->from.net, net);
	newcomer(&next->from, 0);
	close(next->fd);
	preauth_forget(&s, next);
}

TEST(silent_ones_cost_no_slot)
{
	unsigned int i, ended = 0;
	int fd[PREAUTH + 2];

	for (i = 0; i < PREAUTH; i++)
		fd[i] = enter(&bad);
	assert_null(preauth_next(&s));
	/*
	 * A further connection from the same network and one from another network: each time a
	 * caller of the first network has to leave.
	 */
	fd[PREAUTH] = enter(&bad);
	fd[PREAUTH + 1] = enter(&good);
	for (i = 0; i < PREAUTH + 2; i++)
		ended += !fd_lives(fd[i]);
	assert_int_equal(ended, 2);
	assert_true(fd_lives(fd[PREAUTH + 1]));
	all_are_ready();
	admit_next(bad.net);
	/* now that network has a newcomer, and the other one has none */
	admit_next(good.net);
	admit_next(bad.net);
	for (i = 0; i < PREAUTH + 2; i++)
		close(fd[i]);
}

/* Networks of one site (a /48 of IPv6, a /24 of IPv4) have one share, and another site the same. */
TEST(far_networks)
{
	const uint64_t six = 0x20010db800070000, four = (uint64_t)AF_INET << 32 | 0xc0000200;
	const struct address_source far = { 0x20010db800080000, 1 }, other = { four + 256, 0 };
	unsigned int i, ended = 0;
	struct client *go;
	int fd[PREAUTH];

	fd[0] = enter(&far);
	fd[1] = enter(&other);
	for (i = 2; i < PREAUTH; i++)
		fd[i] = enter(&(struct address_source){ (i % 2 ? six : four) + i, 0 });
	for (i = 0; i < 1000; i++)
		close(enter(&(struct address_source){ (i % 2 ? six : four) + i % 256, 0 }));
	assert_true(fd_lives(fd[0]) && fd_lives(fd[1]));
	for (i = 2; i < PREAUTH; i++)
		ended += !fd_lives(fd[i]);
	assert_true(ended > PREAUTH / 2);
	for (i = 0; i < PREAUTH; i++)
		close(fd[i]);
	for (i = 0; i < OF_ONE; i++)
		newcomer(&(struct address_source){ six + i, 0 }, 0);
	assert_true(newcomer_room(&s, &(struct address_source){ six + 99, 0 }, &go) > now_ms());
	assert_int_equal(newcomer_room(&s, &far, &go), 0);
}

/* Of many sources with one connection each, it is not always the oldest that has to leave. */
TEST(equals_go_by_chance)
{
	unsigned int round, i, oldest = 0;
	int fd[PREAUTH + 1];

	for (round = 0; round < 64; round++) {
		for (i = 0; i <= PREAUTH; i++)
			fd[i] = enter(&(struct address_source){ i, 0 });
		oldest += !fd_lives(fd[0]);
		for (i = 0; i <= PREAUTH; i++)
			close(fd[i]);
		preauth_end(&s);
	}
	assert_true(oldest < 32);
}

/* By TCP a connection is ready when all of a hello is there, and is read as ever then. */
TEST(one_byte_is_no_hello)
{
	const uint8_t *bytes = (const void *)&hello;
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
	preauth_enter(&s, other, 0, &good);
	p.fd = other;
	assert_int_equal(write(fd, bytes, sizeof(hello) - 1), sizeof(hello) - 1);
	assert_int_equal(poll(&p, 1, 100), 0);
	assert_int_equal(write(fd, bytes + sizeof(hello) - 1, 1), 1);
	assert_int_equal(poll(&p, 1, 60000), 1);
	all_are_ready();
	assert_non_null(preauth_next(&s));
	assert_int_equal(getsockopt(other, SOL_SOCKET, SO_RCVLOWAT, &low, &of_low), 0);
	assert_int_equal(low, 1);
	close(fd);
	close(listening);
}

TEST(who_is_late_goes)
{
	int early = enter(&good), late = enter(&good), ready = enter(&good);

	assert_true(preauth_deadline(&s) > now_ms() + 9000);
	s.preauth[1].came_ms = s.preauth[2].came_ms = now_ms() - 10000;
	preauth_look(&s, &s.preauth[2], false);
	preauth_end_late_ones(&s);
	assert_true(was_ended(late));
	assert_false(was_ended(early));
	assert_false(was_ended(ready));
	preauth_look(&s, &s.preauth[2], true);
	assert_null(preauth_next(&s));
}

/*
 * Many programs of one user at the same time: they wait for each other while they get through in
 * time.
 */
TEST(a_burst_waits)
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

TEST(who_stalls_goes_for_others)
{
	struct address_source six[] = { { 0x20010db8, 1 }, { 0x20010db8, 2 } };
	struct client *go, *first;
	unsigned int i;

	newcomer(&good, 2000);
	first = newcomer(&bad, 1500);
	for (i = 0; i < OF_ONE - 1; i++)
		newcomer(&bad, 1200);
	for (; clients_in(&s, CLIENT_NEW) < NEWCOMERS;)
		newcomer(&six[0], 1100);
	/* of the network with most newcomers, the newcomer that came first has to leave */
	newcomer_room(&s, &good, &go);
	assert_ptr_equal(go, first);
	/*
	 * a newcomer from another address of the network with 3 endpoints does not get one of
	 * these: another network has more
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
TEST(a_network_is_one)
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
	admit_next(good.net);
	assert_int_equal(preauth_next(&s)->from.host, 1000);
	for (i = 0; i < 3; i++)
		close(fd[i]);
}

/* ------------------------------------------------------------------ starts in a second */

/*
 * Starts what may be started now, as the loop does; each process ends at once. Counts the starts of
 * @counted, and of all, or of one connection.
 */
static unsigned int start_all(const struct address_source *counted, unsigned int *all)
{
	struct client *go;
	struct preauth_conn *next;
	unsigned int n = 0;

	all_are_ready();
	while ((next = preauth_next(&s)) && !newcomer_room(&s, &next->from, &go)) {
		newcomer_starts(&s, &next->from);
		n += next->from.net == counted->net;
		*all += 1;
		close(next->fd);
		preauth_forget(&s, next);
	}
	return n;
}

/* @n connections of a source are there, also when some have gone */
static void fill(const struct address_source *from, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < s.nr_preauth; i++)
		n -= s.preauth[i].fd >= 0 && s.preauth[i].from.net == from->net;
	for (; n; n--)
		close(enter(from));
}

/* The peer has closed its end, which start_all() does not look at. */
TEST(a_flood_has_so_many_starts)
{
	unsigned int n = 0, all = 0, i;

	for (i = 0; i < 10 * SECOND; i++, now++) {
		do {
			fill(&bad, OF_ONE);
			all = 0;
			n += start_all(&bad, &all);
		} while (all);
		if (i != 5 * SECOND)
			continue;
		/* another source comes in at once */
		close(enter(&good));
		assert_int_equal(start_all(&good, &all), 1);
	}
	assert_in_range(n, 11 * STARTS_OF_ONE, 12 * STARTS_OF_ONE);
}

/* Each of twelve sites has all that it may have, and one comes that had nothing yet. */
TEST(many_floods)
{
	const uint64_t four = (uint64_t)AF_INET << 32 | 0x0a000000;
	unsigned int all = 0, before, i, k, came = 0, waited = 0, worst = 0;
	struct address_source from;

	for (i = 0; i < 20 * SECOND; i++, now++) {
		do {
			for (k = 0; k < 12; k++) {
				from = (struct address_source){ four + 256 * k, 0 };
				fill(&from, 2);
			}
			before = all;
			came += start_all(&good, &all);
		} while (all != before);
		fill(&good, i % SECOND > 100 && came < i / SECOND);
		waited = came < i / SECOND && i % SECOND > 100 ? waited + 1 : 0;
		worst = waited > worst ? waited : worst;
	}
	assert_in_range(all, 20 * STARTS, 22 * STARTS);
	assert_int_equal(came, 19);
	assert_true(worst <= SECOND / STARTS + 2);
}

/*
 * Twelve peers of a program's own source fail and come again, some ms after their start, or just
 * before the process tells that it failed. The program waits for one start.
 */
TEST(a_flood_of_the_own_source)
{
	unsigned int all = 0, i, began = 0, worst = 0, came = 0, failing = 0, fails_at = 0;
	struct client *go;
	struct preauth_conn *next;
	uint64_t own = 0;

	fill(&good, 12);
	for (i = 0; i < 20 * SECOND; i++, now++) {
		/* not in the ms in which a peer comes again */
		if (!own && i % 97 == 0 && i > 5 * SECOND && (!failing || i + 2 < fails_at)) {
			close(enter(&good));
			own = s.last_preauth;
			began = i;
		}
		for (; failing && i >= fails_at; failing--) {
			if (i % 2)
				newcomer_failed(&s, &good);
			close(enter(&good));
			if (i % 2 == 0)
				newcomer_failed(&s, &good);
		}
		all_are_ready();
		while ((next = preauth_next(&s)) && !newcomer_room(&s, &next->from, &go)) {
			newcomer_starts(&s, &next->from);
			all++;
			if (next->id == own) {
				worst = i - began > worst ? i - began : worst;
				newcomer_is_served(&s, &next->from);
				own = 0;
				came++;
			} else {
				failing++;
				fails_at = i + 5 + i % 4;
			}
			close(next->fd);
			preauth_forget(&s, next);
		}
	}
	assert_true(came > 100);
	assert_true(worst <= SECOND / STARTS_OF_ONE + 2);
	assert_true(all < 22 * STARTS_OF_ONE + came);
}

/*
 * Clients that are served cost half, and of a shmem region's none is kept from a start by others.
 */
TEST(served_ones_and_endpoints)
{
	struct address_source endpoint = { UINT64_MAX, 3 }, other = { UINT64_MAX, 4 };
	struct client *go;
	unsigned int n = 0, i;

	for (i = 0; i < 10 * SECOND; i++, now++)
		while (!newcomer_room(&s, &good, &go)) {
			newcomer_starts(&s, &good);
			newcomer_is_served(&s, &good);
			n++;
		}
	assert_in_range(n, 22 * STARTS_OF_ONE, 24 * STARTS_OF_ONE);
	for (n = 0; !newcomer_room(&s, &endpoint, &go); n++)
		newcomer_starts(&s, &endpoint);
	assert_int_equal(n, 2 * STARTS_OF_ONE);
	assert_null(go);
	assert_in_range(newcomer_room(&s, &endpoint, &go), now + 1,
			now + SECOND / STARTS_OF_ONE + 1);
	assert_int_equal(newcomer_room(&s, &other, &go), 0);
	assert_int_equal(newcomer_room(&s, &bad, &go), 0);
}

/* ------------------------------------------------------------------ what is said first */

TEST(first_bytes)
{
#define HEAD(...)           \
	true,               \
	{                   \
		__VA_ARGS__ \
	}
	static const struct {
		bool taken;
		size_t n;
		bool tls;
		uint8_t bytes[16];
	} tries[] = {
		/*
		 * of openssl, of GnuTLS, the largest record; none, too large, other kinds of
		 * records
		 */
		{ true, 5, HEAD(22, 3, 1, 2, 0) },
		{ true, 5, HEAD(22, 3, 3, 1, 0x7c) },
		{ true, 5, HEAD(22, 3, 1, 0x40, 0) },
		{ false, 5, HEAD(22, 3, 1, 0, 0) },
		{ false, 5, HEAD(22, 3, 1, 0x40, 1) },
		{ false, 5, HEAD(23, 3, 3, 1, 0) },
		{ false, 5, HEAD(21, 3, 3, 0, 2) },
		{ false, 5, HEAD(22, 2, 1, 1, 0) },
		{ false, 4, HEAD(22, 3, 1, 1) },
		{ false, 16, HEAD('G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P') },
		{ false, 16, true, "tpremug\0\7" },
		{ true, 16, false, "gpuremt\0\7" },
		{ true, 16, false, "gpureap\0\7" },
		{ true, 16, false, "gpurely\0\7" },
		{ false, 15, false, "gpuremt\0\7" },
		{ false, 1, false, "g" },
		{ false, 16, false, "gpuremx\0\7" },
		{ false, 16, HEAD(0) },
		{ false, 16, false, { 0 } },
	};
	unsigned int i, refused = 0;
	int fd;

	for (i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		*said = 0;
		fd = enter_with(&good, tries[i].tls, tries[i].bytes, tries[i].n);
		all_are_ready();
		if (!preauth_next(&s) != !tries[i].taken || !*said != tries[i].taken)
			fail_msg("row %u: \"%s\"", i, said);
		refused += !tries[i].taken;
		assert_int_equal(s.refused, refused);
		preauth_end(&s);
		assert_true(was_ended(fd));
	}
}

/* A program of another version is told so, without a process. */
TEST(another_version)
{
	const struct kvgpu_remote_hello other = { KVGPU_REMOTE_MAGIC_SHMEM, VERSION + 1 };
	struct kvgpu_remote_welcome w;
	int fd = enter_with(&good, false, &other, sizeof(other));

	all_are_ready();
	assert_null(preauth_next(&s));
	assert_non_null(strstr(said, ": install one build on both"));
	assert_int_equal(recv(fd, &w, sizeof(w), MSG_DONTWAIT), sizeof(w));
	assert_true(w.magic == KVGPU_REMOTE_MAGIC && w.version == VERSION);
	assert_int_equal(w.result, KVGPU_REMOTE_OTHER_VERSION);
	assert_true(was_ended(fd));
}

/* ------------------------------------------------------------------ descriptors */

/* A descriptor whose last close() waits comes to a kernel that can't refuse it. */
TEST(nothing_waits_for_a_peer)
{
	const struct kvgpu_remote_hello other_version = { KVGPU_REMOTE_MAGIC, VERSION + 1 };
	struct client *c = newcomer(&good, 0);
	int fd, other, pair[2];
	unsigned int i;

	alarm(HANGS_S);
	old_kernel = true;
	for (i = 0; i < 4; i++) {
		fd = enter_with(&good, false, "abc", 0);
		other = i == 1 ? linger_send(fd, &other_version, sizeof(other_version), 0) :
				 linger_send(fd, "this is no hello", 16, 0);
		assert_true(other >= 0);
		close(fd);
		if (i < 3) /* wrong bytes, another version, gone */
			preauth_look(&s, &s.preauth[0], i == 2);
		else
			preauth_make_room(&s);
		assert_int_equal(s.preauth[0].fd, -1);
		linger_ends(other);
	}
	/* of a client's process that was taken over, and of a client whose process has ended */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	c->report = pair[0];
	c->reaped = true;
	other = linger_send(pair[1], "x", 1, 0);
	client_kill(c);
	close(pair[1]);
	linger_ends(other);
	old_kernel = false;
	alarm(0);
}

TEST_MAIN(set_up, tear_down)
