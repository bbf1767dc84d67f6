// SPDX-License-Identifier: MIT
/*
 * A connection by a socket waits in the pre-auth queue until it has said something and gets a
 * newcomer's slot. A newcomer is a client whose process has not reported its name yet. Sites share
 * the pre-auth queue and these slots evenly, within a site its networks, within a network its
 * addresses, users or VMs. A site is a /48 of IPv6 or a /24 of IPv4, a network a /64 or an IPv4
 * address. So a source with many connections takes room from itself. In each second only so many
 * newcomers come from one source, and from all (bucket.h): the others wait. The first process's own
 * thread runs this.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/channel/rights.h>
#include <remote/wire/builds.h>
#include <remote/wire/frame.h>

#include "supervisor.h"

/*
 * How long a newcomer may stall while others wait: MOMENT_MS if its source has more slots than the
 * source that waits, else OWN_MOMENT_MS.
 */
enum { MOMENT_MS = 1000, OWN_MOMENT_MS = 3000 };
enum { PREAUTH = 1024, PREAUTH_MIN = 16, DESCRIPTORS_OF_ALL = 4096 };
/* of a TLS record: its kind, two bytes of its version, and two of its length */
enum { TLS_RECORD_HEAD = 5, TLS_HANDSHAKE = 22, TLS_MAJOR = 3, TLS_RECORD_MAX = 1 << 14 };
enum { AT_ONCE_MS = 1 };
/* how many newcomers a source counts for that has no start now */
enum { NO_START = 1 << 20 };

/* newcomers that one site may have: the rest is for other sites */
static unsigned int most_of_one(const struct supervisor *s)
{
	return s->conf->newcomers - s->conf->newcomers / 4;
}

/*
 * the pre-auth queue's size follows the descriptors that clients' processes, endpoints and admins
 * leave
 */
bool preauth_begin(struct supervisor *s)
{
	uint64_t beside = 6 * s->nr_clients + 16 * s->nr_listeners + 64;
	struct rlimit l;
	unsigned int i;

	buckets_begin(&s->all, 2 * s->conf->newcomers);
	buckets_begin(&s->sites, s->conf->newcomers);
	buckets_begin(&s->nets, 1); /* no bound, but who had how many */
	if (getrlimit(RLIMIT_NOFILE, &l))
		return false;
	if (l.rlim_cur < DESCRIPTORS_OF_ALL) {
		l.rlim_cur = l.rlim_max < DESCRIPTORS_OF_ALL ? l.rlim_max : DESCRIPTORS_OF_ALL;
		setrlimit(RLIMIT_NOFILE, &l);
		getrlimit(RLIMIT_NOFILE, &l);
	}
	s->nr_preauth = PREAUTH_MIN;
	if (l.rlim_cur >= beside + PREAUTH)
		s->nr_preauth = PREAUTH;
	else if (l.rlim_cur > beside + PREAUTH_MIN)
		s->nr_preauth = l.rlim_cur - beside;
	s->preauth = calloc(s->nr_preauth, sizeof(*s->preauth));
	for (i = 0; s->preauth && i < s->nr_preauth; i++)
		s->preauth[i].fd = -1;
	return s->preauth;
}

/* sources that are no IPv6 address have their family in the upper half of .net */
uint64_t preauth_site(const struct address_source *a)
{
	uint64_t family = a->net >> 32;

	return family == AF_INET ? a->net >> 8 : family < AF_MAX ? a->net : a->net >> 16;
}

struct address_source preauth_source(const struct address_source *a)
{
	return (struct address_source){ preauth_site(a), a->net == UINT64_MAX ? a->host : 0 };
}

static struct address_source network_of(const struct address_source *a)
{
	return (struct address_source){ a->net, a->net == UINT64_MAX ? a->host : 0 };
}

static bool same_source(const struct address_source *a, const struct address_source *b)
{
	return a->net == b->net && a->host == b->host;
}

/* @more: 1: a connection of that source has come into the pre-auth queue; -1: one has left */
static void count_in_preauth(struct supervisor *s, const struct address_source *from, int more)
{
	unsigned int i;

	for (i = 0; i < s->nr_preauth; i++) {
		struct preauth_conn *c = &s->preauth[i];

		if (c->fd < 0 || preauth_site(&c->from) != preauth_site(from))
			continue;
		c->beside.site += more;
		c->beside.net += c->from.net == from->net ? more : 0;
		c->beside.one += same_source(&c->from, from) ? more : 0;
	}
}

void preauth_forget(struct supervisor *s, struct preauth_conn *c)
{
	count_in_preauth(s, &c->from, -1);
	*c = (struct preauth_conn){ .fd = -1 };
}

static void drop_conn(struct supervisor *s, struct preauth_conn *c, const char *why)
{
	char peer[PEER_TEXT];

	address_of_peer(c->fd, peer, sizeof(peer));
	say_of_clients(ABOUT_NEWCOMERS, &c->from, "%s: %s: ended", peer, why);
	rights_close(c->fd);
	preauth_forget(s, c);
	s->refused++;
}

static void count_source(struct number *n, const struct address_source *a,
			 const struct address_source *from)
{
	n->site += preauth_site(a) == preauth_site(from);
	n->net += a->net == from->net;
	n->one += same_source(a, from);
}

static int compare(const struct number *a, const struct number *b)
{
	return a->site != b->site ? (a->site > b->site) - (a->site < b->site) :
	       a->net != b->net	  ? (a->net > b->net) - (a->net < b->net) :
				    (a->one > b->one) - (a->one < b->one);
}

static struct number number_of_newcomers(const struct supervisor *s,
					 const struct address_source *from)
{
	struct number n = { 0 };
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state == CLIENT_NEW)
			count_source(&n, &s->clients[i].from, from);
	return n;
}

static unsigned int by_chance(unsigned int n)
{
	unsigned int number;

	return getrandom(&number, sizeof(number), GRND_NONBLOCK) == sizeof(number) ? number % n : 0;
}

/*
 * A connection of the source that has most of the pre-auth queue; among equals one by chance, so
 * that a flood can't choose which others have to go.
 */
static struct preauth_conn *one_too_many(struct supervisor *s)
{
	struct preauth_conn *most = NULL, *c;
	unsigned int equals = 0, skip;
	int more;

	for (c = s->preauth; c < s->preauth + s->nr_preauth; c++) {
		if (c->fd < 0)
			continue;
		more = most ? compare(&c->beside, &most->beside) : 1;
		equals = more > 0 ? 1 : equals + !more;
		most = more > 0 ? c : most;
	}
	skip = most ? by_chance(equals) : 0;
	for (c = most; skip; skip -= c->fd >= 0 && !compare(&c->beside, &most->beside))
		c++;
	return c;
}

bool preauth_make_room(struct supervisor *s)
{
	struct preauth_conn *c = one_too_many(s);

	if (c)
		drop_conn(s, c,
			  "has said nothing or waits, and there are too many others from there");
	return c;
}

/* by TCP, poll() sees a connection when it has sent so much: one byte is no sign of a client */
static void wait_for_bytes(int fd, int bytes)
{
	setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

void preauth_enter(struct supervisor *s, int fd, bool tls, const struct address_source *from)
{
	unsigned int i, j;

	for (i = 0; i < s->nr_preauth && s->preauth[i].fd >= 0; i++)
		;
	if (i == s->nr_preauth) {
		preauth_make_room(s);
		for (i = 0; s->preauth[i].fd >= 0; i++)
			;
	}
	s->preauth[i] = (struct preauth_conn){ .fd = fd,
					       .tls = tls,
					       .from = *from,
					       .again = buckets_comes_again(
						       &s->nets, network_of(from), now_ms()),
					       .id = ++s->last_preauth,
					       .came_ms = now_ms() };
	for (j = 0; j < s->nr_preauth; j++)
		if (j != i && s->preauth[j].fd >= 0)
			count_source(&s->preauth[i].beside, &s->preauth[j].from, from);
	count_in_preauth(s, from, 1);
	wait_for_bytes(fd, tls ? TLS_RECORD_HEAD : (int)sizeof(struct kvgpu_remote_hello));
}

void preauth_adopt(struct supervisor *s, const struct preauth_conn *of)
{
	struct preauth_conn *c = s->preauth;

	preauth_enter(s, of->fd, of->tls, &of->from);
	while (c->fd != of->fd)
		c++;
	c->came_ms = of->came_ms;
	c->again = of->again;
	c->ready = of->ready;
	if (c->ready)
		wait_for_bytes(c->fd, 1);
}

/* a source that has no start now comes behind all that have one */
static void count_starts(struct supervisor *s, unsigned int row)
{
	const struct bucket *site = &s->sites.row[row], *net = &s->nets.row[row];
	uint64_t now = now_ms();
	unsigned int i, of_site = bucket_lacks(&s->sites, site, now),
			of_net = bucket_lacks(&s->nets, net, now);
	struct address_source source;

	if (!of_site && !of_net)
		return;
	if (of_site && buckets_wait(&s->sites, site->of, now))
		of_site = NO_START;
	for (i = 0; i < s->nr_preauth; i++) {
		if (!s->preauth[i].ready)
			continue;
		source = preauth_source(&s->preauth[i].from);
		s->preauth[i].newcomers.site += same_source(&source, &site->of) ? of_site : 0;
		source = network_of(&s->preauth[i].from);
		s->preauth[i].newcomers.net += same_source(&source, &net->of) ? of_net : 0;
	}
}

static void count_newcomers(struct supervisor *s)
{
	unsigned int i, j;

	for (i = 0; i < s->nr_preauth; i++)
		s->preauth[i].newcomers = (struct number){ 0 };
	for (j = 0; j < s->nr_clients; j++) {
		if (s->clients[j].state != CLIENT_NEW)
			continue;
		for (i = 0; i < s->nr_preauth; i++)
			if (s->preauth[i].ready)
				count_source(&s->preauth[i].newcomers, &s->clients[j].from,
					     &s->preauth[i].from);
	}
	for (i = 0; i < BUCKETS; i++)
		count_starts(s, i);
}

/*
 * The ready connection whose source has the fewest newcomers, and starts in the last seconds; among
 * equals one that does not come again, and then the oldest. So where many peers of one source fail
 * and come again, without end, a program of that source does not wait for all of them.
 */
struct preauth_conn *preauth_next(struct supervisor *s)
{
	struct preauth_conn *next = NULL;
	unsigned int i;
	int more;

	count_newcomers(s);
	for (i = 0; i < s->nr_preauth; i++) {
		struct preauth_conn *c = &s->preauth[i];

		if (c->fd < 0 || !c->ready)
			continue;
		more = next ? compare(&c->newcomers, &next->newcomers) : -1;
		more = more ? more : (int)c->again - next->again;
		if (more < 0 || (!more && c->id < next->id))
			next = c;
	}
	return next;
}

/* UINT64_MAX: it is never late */
static uint64_t deadline_of(const struct supervisor *s, const struct preauth_conn *c)
{
	return c->fd < 0 || c->ready ? UINT64_MAX : c->came_ms + s->conf->patience_s * 1000;
}

uint64_t preauth_deadline(const struct supervisor *s)
{
	uint64_t first = UINT64_MAX, at;
	unsigned int i;

	for (i = 0; i < s->nr_preauth; i++) {
		at = deadline_of(s, &s->preauth[i]);
		first = at < first ? at : first;
	}
	return first;
}

void preauth_end_late_ones(struct supervisor *s)
{
	uint64_t now = now_ms();
	unsigned int i;

	for (i = 0; i < s->nr_preauth; i++)
		if (deadline_of(s, &s->preauth[i]) <= now)
			drop_conn(s, &s->preauth[i], "has not said who it is in time");
}

/* NULL: @head may be a ClientHello's; else why not */
static const char *wrong_head(const uint8_t head[TLS_RECORD_HEAD], size_t n)
{
	unsigned int length = n == TLS_RECORD_HEAD ? head[3] << 8 | head[4] : 0;

	return head[0] == TLS_HANDSHAKE && head[1] == TLS_MAJOR && length &&
			       length <= TLS_RECORD_MAX ?
		       NULL :
		       "it does not begin as TLS does";
}

/* as wrong_head(); a client of another version is told so here, as its process would do */
static const char *wrong_hello(const struct supervisor *s, int fd, struct kvgpu_remote_hello *hello,
			       size_t n)
{
	const struct kvgpu_remote_build here = { .version = s->build.version };
	const struct kvgpu_remote_welcome w = { .magic = KVGPU_REMOTE_MAGIC,
						.version = here.version,
						.result = KVGPU_REMOTE_OTHER_VERSION };
	static char apart[BUILDS_TEXT];

	if (n != sizeof(*hello) ||
	    (hello->magic != KVGPU_REMOTE_MAGIC && hello->magic != KVGPU_REMOTE_MAGIC_SHMEM &&
	     hello->magic != KVGPU_REMOTE_MAGIC_RELAY))
		return "it does not begin as a client does";
	if (builds_speak(hello->version, here.version))
		return NULL;
	builds_apart(&(struct kvgpu_remote_build){ .version = hello->version }, &here, apart);
	/* an answer is lost if the socket is closed with bytes unread */
	if (rights_read(fd, hello, sizeof(*hello)) < 0 ||
	    send(fd, &w, sizeof(w), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return "it is of another version, and has gone";
	return apart;
}

/*
 * Fewer bytes than poll() waits for are no client's: by a UNIX socket or a vsock, where it does not
 * wait for more, the hello of a client comes as a whole. Where poll() has seen something and recv()
 * sees nothing (an urgent byte by a UNIX socket), poll() would see it again at once.
 */
void preauth_look(struct supervisor *s, struct preauth_conn *c, bool gone)
{
	union {
		uint8_t head[TLS_RECORD_HEAD];
		struct kvgpu_remote_hello hello;
	} first = { 0 };
	ssize_t n = gone ? 0 :
			   recv(c->fd, &first, c->tls ? sizeof(first.head) : sizeof(first.hello),
				MSG_PEEK | MSG_DONTWAIT);
	const char *wrong;

	if (n < 0 && errno == EAGAIN) {
		drop_conn(s, c, "it begins with an urgent byte, as no client does");
		return;
	}
	if (n <= 0) {
		rights_close(c->fd);
		preauth_forget(s, c);
		return;
	}
	wrong = c->tls ? wrong_head(first.head, n) : wrong_hello(s, c->fd, &first.hello, n);
	if (wrong) {
		drop_conn(s, c, wrong);
		return;
	}
	c->ready = true;
	wait_for_bytes(c->fd, 1);
}

void preauth_end(struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_preauth; i++)
		if (s->preauth[i].fd >= 0)
			preauth_look(s, &s->preauth[i], true);
}

/* ------------------------------------------------------------------ slots of newcomers */

/* of .all */
static const struct address_source everybody;

/*
 * Connections share the bucket of all in preauth_next()'s order. Shmem regions have no order, so
 * there each has its own bucket alone, and remoted.conf says how many there are.
 */
static bool in_all(const struct address_source *from)
{
	return from->net != UINT64_MAX;
}

void newcomer_starts(struct supervisor *s, const struct address_source *from)
{
	uint64_t now = now_ms();

	buckets_take(&s->sites, preauth_source(from), now);
	buckets_take(&s->nets, network_of(from), now);
	if (in_all(from))
		buckets_take(&s->all, everybody, now);
}

void newcomer_is_served(struct supervisor *s, const struct address_source *from)
{
	buckets_give_back(&s->sites, preauth_source(from));
	buckets_give_back(&s->nets, network_of(from));
	if (in_all(from))
		buckets_give_back(&s->all, everybody);
}

/* when the process tells that it failed, its peer may be here again already */
void newcomer_failed(struct supervisor *s, const struct address_source *from)
{
	struct preauth_conn *last = NULL, *c;

	for (c = s->preauth; c < s->preauth + s->nr_preauth; c++)
		if (c->fd >= 0 && c->from.net == from->net && (!last || c->id > last->id))
			last = c;
	if (last && !last->again && last->came_ms + AT_ONCE_MS >= now_ms())
		last->again = true;
	else
		buckets_failed(&s->nets, network_of(from));
}

/* 0: now */
static uint64_t start_room(const struct supervisor *s, const struct address_source *from,
			   uint64_t now)
{
	uint64_t of_site = buckets_wait(&s->sites, preauth_source(from), now),
		 of_all = in_all(from) ? buckets_wait(&s->all, everybody, now) : 0;

	return of_site > of_all ? of_site : of_all;
}

static uint64_t may_go_at(const struct client *c, const struct number *its,
			  const struct number *waiting)
{
	return c->came_ms + (compare(its, waiting) > 0 ? MOMENT_MS : OWN_MOMENT_MS);
}

/*
 * *go: of the newcomers whose time is over, the oldest one of the source with most. Unless all
 * slots are taken, only @from's site counts.
 */
uint64_t newcomer_room(struct supervisor *s, const struct address_source *from, struct client **go)
{
	struct number own = number_of_newcomers(s, from), n, most = { 0 };
	bool full = clients_in(s, CLIENT_NEW) >= s->conf->newcomers;
	uint64_t now = now_ms(), at, first = UINT64_MAX;
	unsigned int i;
	int more;

	*go = NULL;
	at = start_room(s, from, now);
	if (at)
		return at;
	if (!full && own.site < most_of_one(s))
		return 0;
	for (i = 0; i < s->nr_clients; i++) {
		struct client *c = &s->clients[i];

		if (c->state != CLIENT_NEW ||
		    (!full && preauth_site(&c->from) != preauth_site(from)))
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
