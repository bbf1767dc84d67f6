// SPDX-License-Identifier: MIT
/* The table of clients' processes. */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <remote/channel/channel.h>
#include <remote/channel/rights.h>

#include "supervisor.h"

#define NUMBER_MAX (1ull << 50)

bool is_process_of_client(const struct supervisor *s, int fd)
{
	uid_t user;

	return s->conf->users && address_user(fd, &user) && user >= s->conf->users &&
	       user < s->conf->users + s->nr_clients;
}

const struct client free_client = { .report = -1,
				    .log = -1,
				    .life = -1,
				    .program = -1,
				    .memory = -1,
				    .page = -1 };

bool client_map(struct client *c)
{
	struct stat st;
	void *page;

	if (fstat(c->page, &st) || st.st_size < CLIENT_PAGE)
		return false;
	page = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, c->page, 0);
	c->counters = page == MAP_FAILED ? NULL : page;
	c->shared_bytes = st.st_size;
	return c->counters;
}

struct client *client_row(struct supervisor *s)
{
	struct client *c;
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++) {
		c = &s->clients[i];
		if (c->state != CLIENT_NONE)
			continue;
		*c = free_client;
		c->page = memfd_create("kvgpu-remoted client", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (c->page < 0)
			return NULL;
		/* where files may not be so large (ulimit -f), the client can't be traced */
		if ((ftruncate(c->page, CLIENT_PAGE + TRACE_ROOM) &&
		     ftruncate(c->page, CLIENT_PAGE)) ||
		    fcntl(c->page, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
		    !client_map(c)) {
			close(c->page);
			*c = free_client;
			return NULL;
		}
		c->since = time(NULL);
		c->id = ++s->last_id;
		return c;
	}
	return NULL;
}

struct client *client_by_pid(struct supervisor *s, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state != CLIENT_NONE && s->clients[i].pid == pid)
			return &s->clients[i];
	return NULL;
}

struct client *client_by_id(struct supervisor *s, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state != CLIENT_NONE && s->clients[i].id == id)
			return &s->clients[i];
	return NULL;
}

unsigned int clients_in(const struct supervisor *s, enum client_state state)
{
	unsigned int i, n = 0;

	for (i = 0; i < s->nr_clients; i++)
		n += s->clients[i].state == state;
	return n;
}

unsigned int clients_with_row(const struct supervisor *s)
{
	unsigned int i, n = clients_in(s, CLIENT_SERVED);

	for (i = 0; i < s->nr_clients; i++)
		n += s->clients[i].reaped;
	return n;
}

bool client_is_refused(const struct supervisor *s, const struct client *c, char why[CONF_TEXT])
{
	return c->tls &&
	       refused_find(s->conf->tls_folder, c->who + strlen("tls:"), c->fingerprint, why);
}

void client_limit(struct client *c, const struct conf_share *share)
{
	__atomic_store_n(&c->counters->limit, share->memory ?: UINT64_MAX, __ATOMIC_RELAXED);
}

/* SIGKILL, as the process may be inside of the library; one of shared.c's is not to be killed */
void client_kill(struct client *c)
{
	if (c->reaped)
		c->deadline_ms = 0;
	else if (c->state != CLIENT_ENDING)
		kill(c->pid, SIGKILL);
	c->state = CLIENT_ENDING;
	if (c->report >= 0)
		rights_close(c->report);
	c->report = -1;
}

/*
 * Lines and names of other clients stay in the stack below the frames that there are: log_hear()
 * alone leaves 4 KiB.
 */
void __attribute__((noinline)) erase_dead_frames(void)
{
	char room[256 << 10];

	explicit_bzero(room, sizeof(room));
}

void clients_part(struct supervisor *s, struct client *c, bool here)
{
	if (here)
		madvise(c->counters, c->shared_bytes, MADV_DONTFORK);
	if (here)
		return;
	explicit_bzero(s->clients, s->nr_clients * sizeof(*s->clients));
	if (s->tenants)
		explicit_bzero(s->tenants, s->nr_clients * sizeof(*s->tenants));
	explicit_bzero(&s->traced, sizeof(s->traced));
	explicit_bzero(&s->sites, sizeof(s->sites));
	explicit_bzero(&s->nets, sizeof(s->nets));
	if (s->preauth)
		explicit_bzero(s->preauth, s->nr_preauth * sizeof(*s->preauth));
	/* last: the linker may put registers onto the stack when a function is called first */
	erase_dead_frames();
}

/* a number from a client's process: 1 PiB at most, as a process may lie */
static uint64_t read_word(const uint64_t *word)
{
	uint64_t n = __atomic_load_n(word, __ATOMIC_RELAXED);

	return n < NUMBER_MAX ? n : NUMBER_MAX;
}

static void add_word(uint64_t *sum, const uint64_t *word)
{
	uint64_t n = read_word(word);

	*sum = *sum < INT64_MAX - n ? *sum + n : INT64_MAX;
}

static void add_all(struct counters *sum, const struct counters *c)
{
	add_word(&sum->calls, &c->calls);
	add_word(&sum->received, &c->received);
	add_word(&sum->sent, &c->sent);
}

/* the last one that was traced keeps its memory: the admin may not have read all of it */
static void free_shared(struct supervisor *s, struct client *c)
{
	struct counters *last = c->counters;
	size_t bytes = c->shared_bytes;

	if (c->traced) {
		last = s->traced.counters;
		bytes = s->traced.bytes;
		s->traced.id = c->id;
		s->traced.counters = c->counters;
		s->traced.bytes = c->shared_bytes;
	}
	if (last)
		munmap(last, bytes);
}

void client_gone(struct supervisor *s, struct client *c)
{
	add_all(&s->gone, c->counters);
	tenants_leave(s, c);
	if (c->report >= 0)
		rights_close(c->report);
	if (c->log >= 0)
		close(c->log);
	if (c->life >= 0)
		rights_close(c->life);
	if (c->program >= 0)
		close(c->program);
	if (c->memory >= 0)
		close(c->memory);
	if (c->listener) {
		c->listener->taken = false;
		if (c->listener->leaves)
			listener_drop(s, c->listener);
		else if (c->listener->endpoint &&
			 kvgpu_remote_endpoint_again(c->listener->endpoint))
			listen_lost(s, c->listener);
	}
	free_shared(s, c);
	close(c->page);
	*c = free_client;
}

/* ------------------------------------------------------------------ as text */

struct printer {
	char *to;
	size_t size, used;
};

static void print_line(struct printer *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void print_line(struct printer *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(p->to + p->used, p->size - p->used, format, args);
	va_end(args);
	p->used += n < 0 ? 0 : (size_t)n < p->size - p->used ? (size_t)n : p->size - p->used - 1;
}

static unsigned long long us(const uint64_t *ns)
{
	return __atomic_load_n(ns, __ATOMIC_RELAXED) / 1000;
}

static void print_turns(struct printer *p, const struct sched_shared *d)
{
	print_line(p, " share=%u gpu=%llu alone=%llu waited=%llu",
		   __atomic_load_n(&d->share, __ATOMIC_RELAXED), us(&d->charged), us(&d->alone),
		   us(&d->waited));
	print_line(p, " turns=%llu lost=%llu\n", (unsigned long long)read_word(&d->turns),
		   (unsigned long long)read_word(&d->lost));
}

/* A client of another build than the server's, or that has told none, may lack calls. */
static void print_build(struct printer *p, const struct supervisor *s, const struct counters *c)
{
	const struct kvgpu_remote_build its = { __atomic_load_n(&c->version, __ATOMIC_RELAXED),
						__atomic_load_n(&c->table, __ATOMIC_RELAXED) };
	char release[BUILD_RELEASE], protocol[BUILD_PROTOCOL];

	if (!its.version)
		return;
	print_line(p, " release=%s protocol=%s old=%u", build_release(its.version, release),
		   build_protocol(&its, protocol),
		   its.version != s->build.version || its.table != s->build.table);
}

/* words that ../ctl/show.c has sentences for */
static const char *const whys[NR_WHYS] = {
	[SLEEP_BUSY] = "busy",	    [SLEEP_CAPTURES] = "captures",   [SLEEP_MANAGED] = "managed",
	[SLEEP_SHARES] = "shares",  [SLEEP_LIBRARY] = "library",     [WHY_LATE] = "late",
	[WHY_HOST] = "host-memory", [WHY_MEMORY] = "suspend-memory", [WHY_METER] = "meter",
	[WHY_KIND] = "gpu-type",    [WHY_SPREAD] = "gpus",	     [WHY_LINE] = "line",
	[WHY_ROOM] = "room",
};

/* nothing of a client that can't sleep */
static void print_sleep(struct printer *p, const struct client *c)
{
	static const char *const states[] = {
		[SLEEPER_CANNOT] = "cannot", [SLEEPER_AWAKE] = "awake", [SLEEPER_GOING] = "going",
		[SLEEPER_ASLEEP] = "asleep", [SLEEPER_WAITS] = "waits", [SLEEPER_WAKING] = "waits"
	};
	const struct sleeper *r = &c->sleeper;
	bool going = r->asked && r->state == SLEEPER_AWAKE;
	uint64_t now = now_ms();

	if (r->state == SLEEPER_CANNOT && !r->sleeps)
		return;
	print_line(p, " sleep=%s", states[going ? SLEEPER_GOING : r->state]);
	if (r->sleeps)
		print_line(p, " suspended=%llu sleeps=%llu",
			   (unsigned long long)(r->state >= SLEEPER_ASLEEP ? r->bytes : 0),
			   (unsigned long long)r->sleeps);
	if (r->state == SLEEPER_WAITS && now > r->wished_ms)
		print_line(p, " waits=%llu ahead=%u",
			   (unsigned long long)(now - r->wished_ms) / 1000, r->ahead);
	if (r->state == SLEEPER_WAKING)
		print_line(p, " why=wakes");
	else if (r->why == SLEEP_LIBRARY)
		print_line(p, " why=library-%u", c->sleep.error);
	else if (r->why && r->why < NR_WHYS)
		print_line(p, " why=%s", whys[r->why]);
}

static void print_client(struct printer *p, const struct supervisor *s, const struct client *c)
{
	static const char *const states[] = {
		[CLIENT_NEW] = "new", [CLIENT_SERVED] = "served", [CLIENT_ENDING] = "ending"
	};
	uint64_t users = s->conf->users;

	print_line(p, "client id=%llu slot=%u pid=%d state=%s", (unsigned long long)c->id,
		   (unsigned int)(c - s->clients), (int)c->pid, states[c->state]);
	print_line(p, " user=%lld peer=%s who=%s since=%lld weight=%llu",
		   (long long)(users ? users + (c - s->clients) : getuid()), c->peer,
		   *c->who ? c->who : "-", (long long)c->since, (unsigned long long)c->weight);
	print_line(p, " memory=%llu pinned=%llu calls=%llu received=%llu sent=%llu",
		   (unsigned long long)read_word(&c->counters->memory),
		   (unsigned long long)read_word(&c->counters->pinned),
		   (unsigned long long)read_word(&c->counters->calls),
		   (unsigned long long)read_word(&c->counters->received),
		   (unsigned long long)read_word(&c->counters->sent));
	if (*c->fingerprint)
		print_line(p, " fingerprint=%s", c->fingerprint);
	print_build(p, s, c->counters);
	print_sleep(p, c);
	print_turns(p, sched_shared_of(c->counters));
}

size_t clients_print(const struct supervisor *s, char *to, size_t size)
{
	struct printer p = { to, size, 0 };
	struct counters all = s->gone;
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state != CLIENT_NONE)
			add_all(&all, s->clients[i].counters);
	print_line(&p, "server pid=%d state=%s since=%lld served=%u new=%u limit=%llu",
		   (int)getpid(), s->draining ? "draining" : "serving", (long long)s->since,
		   clients_in(s, CLIENT_SERVED), clients_in(s, CLIENT_NEW),
		   (unsigned long long)s->conf->clients);
	print_line(&p, " accepted=%llu refused=%llu calls=%llu received=%llu sent=%llu\n",
		   (unsigned long long)s->accepted, (unsigned long long)s->refused,
		   (unsigned long long)all.calls, (unsigned long long)all.received,
		   (unsigned long long)all.sent);
	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].state != CLIENT_NONE)
			print_client(&p, s, &s->clients[i]);
	return p.used;
}
