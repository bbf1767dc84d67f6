// SPDX-License-Identifier: MIT
/*
 * A connection by a socket waits in the hall until it has said something and gets a newcomer's
 * place. A newcomer is a client whose process has not reported its name yet. Sites share the hall
 * and these places evenly, within a site its networks, within a network its addresses, users or
 * VMs. A site is a /48 of IPv6 or a /24 of IPv4, a network a /64 or an IPv4 address. So a source
 * with many connections takes room from itself. The first process's own thread runs this.
 */
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/channel/channel.h>

#include "starter.h"

/*
 * How long a newcomer may stall while others wait: MOMENT_MS if its source has more places than the
 * source that waits, else OWN_MOMENT_MS.
 */
enum { MOMENT_MS = 1000, OWN_MOMENT_MS = 3000 };
enum { HALL = 1024, HALL_MIN = 16, DESCRIPTORS_OF_ALL = 4096 };
enum { TLS_RECORD_HEAD = 5 };	/* bytes */

/* the hall's size follows the descriptors that clients' processes, places and admins leave */
bool hall_begin(struct starter *s)
{
	uint64_t beside = 5 * s->nr_clients + 16 * s->nr_listeners + 64;
	struct rlimit l;
	unsigned int i;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return false;
	if (l.rlim_cur < DESCRIPTORS_OF_ALL) {
		l.rlim_cur = l.rlim_max < DESCRIPTORS_OF_ALL ? l.rlim_max : DESCRIPTORS_OF_ALL;
		setrlimit(RLIMIT_NOFILE, &l);
		getrlimit(RLIMIT_NOFILE, &l);
	}
	s->nr_hall = l.rlim_cur >= beside + HALL    ? HALL :
		     l.rlim_cur > beside + HALL_MIN ? l.rlim_cur - beside :
						      HALL_MIN;
	s->hall = calloc(s->nr_hall, sizeof(*s->hall));
	for (i = 0; s->hall && i < s->nr_hall; i++)
		s->hall[i].fd = -1;
	return s->hall;
}

/* sources that are no IPv6 address have their family in the upper half of .net */
uint64_t hall_site(const struct address_source *a)
{
	uint64_t family = a->net >> 32;

	return family == AF_INET ? a->net >> 8 : family < AF_MAX ? a->net : a->net >> 16;
}

static bool same(const struct address_source *a, const struct address_source *b)
{
	return a->net == b->net && a->host == b->host;
}

/* @more: 1: a connection of that source has come into the hall; -1: one has left */
static void count_in_hall(struct starter *s, const struct address_source *from, int more)
{
	unsigned int i;

	for (i = 0; i < s->nr_hall; i++) {
		struct caller *c = &s->hall[i];

		if (c->fd < 0 || hall_site(&c->from) != hall_site(from))
			continue;
		c->beside.site += more;
		c->beside.net += c->from.net == from->net ? more : 0;
		c->beside.one += same(&c->from, from) ? more : 0;
	}
}

void hall_forget(struct starter *s, struct caller *c)
{
	count_in_hall(s, &c->from, -1);
	*c = (struct caller){ .fd = -1 };
}

static void drop(struct starter *s, struct caller *c, const char *why)
{
	char peer[PEER_TEXT];

	address_of_peer(c->fd, peer, sizeof(peer));
	say_of_clients(ABOUT_NEWCOMERS, &c->from, "%s: %s: ended", peer, why);
	close(c->fd);
	hall_forget(s, c);
	s->refused++;
}

static void count(struct number *n, const struct address_source *a,
		  const struct address_source *from)
{
	n->site += hall_site(a) == hall_site(from);
	n->net += a->net == from->net;
	n->one += same(a, from);
}

static int compare(const struct number *a, const struct number *b)
{
	return a->site != b->site ? (a->site > b->site) - (a->site < b->site) :
	       a->net != b->net ? (a->net > b->net) - (a->net < b->net) :
				  (a->one > b->one) - (a->one < b->one);
}

static struct number number_of_newcomers(const struct starter *s, const struct address_source *from)
{
	struct number n = { 0 };
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state == CLIENT_NEW)
			count(&n, &s->clients[i].from, from);
	return n;
}

static unsigned int by_chance(unsigned int n)
{
	unsigned int number;

	return getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number) ? number % n : 0;
}

/*
 * A connection of the source that has most of the hall; among equals one by chance, so that a flood
 * can't choose which others have to go.
 */
static struct caller *one_too_many(struct starter *s)
{
	struct caller *most = NULL;
	unsigned int i, equals = 0;
	int more;

	for (i = 0; i < s->nr_hall; i++) {
		struct caller *c = &s->hall[i];

		if (c->fd < 0)
			continue;
		more = most ? compare(&c->beside, &most->beside) : 1;
		equals = more > 0 ? 1 : equals + !more;
		if (more > 0 || (!more && !by_chance(equals)))
			most = c;
	}
	return most;
}

bool hall_make_room(struct starter *s)
{
	struct caller *c = one_too_many(s);

	if (c)
		drop(s, c, "has said nothing or waits, and there are too many others from there");
	return c;
}

/* by TCP, poll() sees a connection when it has sent so much: one byte is no sign of a client */
static void wait_for_bytes(int fd, int bytes)
{
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

void hall_enter(struct starter *s, int fd, unsigned int listener, const struct address_source *from)
{
	unsigned int i, j;

	for (i = 0; i < s->nr_hall && s->hall[i].fd >= 0; i++)
		;
	if (i == s->nr_hall) {
		hall_make_room(s);
		for (i = 0; s->hall[i].fd >= 0; i++)
			;
	}
	s->hall[i] = (struct caller){ .fd = fd,
				      .listener = listener,
				      .from = *from,
				      .id = ++s->last_caller,
				      .deadline_ms = now_ms() + s->conf->patience_s * 1000 };
	for (j = 0; j < s->nr_hall; j++)
		if (j != i && s->hall[j].fd >= 0)
			count(&s->hall[i].beside, &s->hall[j].from, from);
	count_in_hall(s, from, 1);
	wait_for_bytes(fd, s->listeners[listener].tls ? TLS_RECORD_HEAD :
							(int)sizeof(struct kvgpu_remote_hello));
}

static void count_newcomers(struct starter *s)
{
	unsigned int i, j;

	for (i = 0; i < s->nr_hall; i++)
		s->hall[i].newcomers = (struct number){ 0 };
	for (j = 0; j < s->nr_clients; j++) {
		if (s->clients[j].state != CLIENT_NEW)
			continue;
		for (i = 0; i < s->nr_hall; i++)
			if (s->hall[i].ready)
				count(&s->hall[i].newcomers, &s->clients[j].from, &s->hall[i].from);
	}
}

/* the ready connection whose source has the fewest newcomers; among equals the oldest */
struct caller *hall_next(struct starter *s)
{
	struct caller *next = NULL;
	unsigned int i;
	int more;

	count_newcomers(s);
	for (i = 0; i < s->nr_hall; i++) {
		struct caller *c = &s->hall[i];

		if (c->fd < 0 || !c->ready)
			continue;
		more = next ? compare(&c->newcomers, &next->newcomers) : -1;
		if (more < 0 || (!more && c->id < next->id))
			next = c;
	}
	return next;
}

uint64_t hall_deadline(const struct starter *s)
{
	uint64_t first = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < s->nr_hall; i++)
		if (s->hall[i].fd >= 0 && !s->hall[i].ready && s->hall[i].deadline_ms < first)
			first = s->hall[i].deadline_ms;
	return first;
}

void hall_end_late_ones(struct starter *s)
{
	uint64_t now = now_ms();
	unsigned int i;

	for (i = 0; i < s->nr_hall; i++)
		if (s->hall[i].fd >= 0 && !s->hall[i].ready && s->hall[i].deadline_ms <= now)
			drop(s, &s->hall[i], "has not said who it is in time");
}

void hall_look(struct starter *s, struct caller *c, bool gone)
{
	c->ready = true;
	if (!gone) {
		wait_for_bytes(c->fd, 1);
		return;
	}
	close(c->fd);
	hall_forget(s, c);
}

void hall_end(struct starter *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_hall; i++)
		if (s->hall[i].fd >= 0)
			hall_look(s, &s->hall[i], true);
}

/* ------------------------------------------------------------------ places of newcomers */

/* newcomers that one site may have: the rest is for other sites */
static unsigned int most_of_one(const struct starter *s)
{
	return s->conf->newcomers - s->conf->newcomers / 4;
}

static uint64_t may_go_at(const struct client *c, const struct number *its,
			  const struct number *waiting)
{
	return c->came_ms +
	       (compare(its, waiting) > 0 ? MOMENT_MS : OWN_MOMENT_MS);
}

/*
 * *go: of the newcomers whose time is over, the oldest one of the source with most. Unless all
 * places are taken, only @from's site counts.
 */
uint64_t newcomer_room(struct starter *s, const struct address_source *from, struct client **go)
{
	struct number own = number_of_newcomers(s, from), n, most = { 0 };
	bool full = clients_in(s, CLIENT_NEW) >= s->conf->newcomers;
	uint64_t now = now_ms(), at, first = UINT64_MAX;
	unsigned int i;
	int more;

	*go = NULL;
	if (!full && own.site < most_of_one(s))
		return 0;
	for (i = 0; i < s->nr_clients; i++) {
		struct client *c = &s->clients[i];

		if (c->state != CLIENT_NEW || (!full && hall_site(&c->from) != hall_site(from)))
			continue;
		n = number_of_newcomers(s, &c->from);
		at = may_go_at(c, &n, &own);
		first = at < first ? at : first;
		more = *go ? compare(&n, &most) : 1;
		if (at > now || more < 0 || (!more && c->id > (*go)->id))
			continue;
		*go = c;
		most = n;
	}
	return first;
}
