// SPDX-License-Identifier: MIT
/*
 * The arbiter of turns on the GPU: a thread of the first process, which asks remote/turns what to
 * do. It reads and writes the processes' words (server/sched_shared.h), and sleeps until a process
 * rings or a time is over. It neither allocates nor prints, so that the first process may fork at
 * any time. The first process's own thread calls what supervisor.h declares, but for arbiter_part()
 * and arbiter_doorbell(), which a client's process calls. a.lock keeps the two threads apart.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <remote/turns/turns.h>

#include "supervisor.h"
#include "state.h"

enum { LOOKS_NS = 10000000, LOOKS = 200 }; /* about so many looks at most in so long */

static struct arbiter {
	/*
	 * protects all but .doorbell. The first process's own thread alone writes .shared, so it
	 * reads them without the lock. A client's process never takes it: at the fork() the
	 * arbiter's thread may have had it.
	 */
	pthread_mutex_t lock;
	int doorbell[2]; /* a pipe: processes of clients write, the arbiter reads */
	struct turns t;
	struct sched_shared **shared; /* by programs' rows; NULL: no program is served there */
	uint32_t *turns; /* the number of the turn that each program was told last */
	bool watched; /* there are programs of two clients */
} a = { .lock = PTHREAD_MUTEX_INITIALIZER, .doorbell = { -1, -1 } };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint32_t see(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* set the word; whether its value is another one than before */
static bool tell_word(uint32_t *word, uint32_t value)
{
	if (__atomic_load_n(word, __ATOMIC_RELAXED) == value)
		return false;
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	return true;
}

/* Read .done first: then what the process wrote before it gave its turn back is seen, too. */
static void look_at(uint32_t i)
{
	struct turns_program *p = &a.t.programs[i];
	const struct sched_shared *d = a.shared[i];

	p->gave_back = see(&d->done) == a.turns[i];
	p->used = __atomic_load_n(&d->used, __ATOMIC_ACQUIRE);
	p->busy = see(&d->busy);
	p->wants = see(&d->want);
}

static uint32_t share_of(const struct turns_program *p)
{
	const struct turns_client *c = &a.t.clients[p->client];

	return c->works && a.t.weights ? (uint64_t)c->weight * 1000 / a.t.weights : 0;
}

static void tell_numbers(struct sched_shared *d, const struct turns_program *p)
{
	__atomic_store_n(&d->charged, p->charged, __ATOMIC_RELAXED);
	__atomic_store_n(&d->alone, p->alone, __ATOMIC_RELAXED);
	__atomic_store_n(&d->waited, p->waited, __ATOMIC_RELAXED);
	__atomic_store_n(&d->turns, p->turns, __ATOMIC_RELAXED);
	__atomic_store_n(&d->lost, p->lost, __ATOMIC_RELAXED);
	tell_word(&d->share, share_of(p));
}

/* write the program's words; whether its process has to be woken */
static bool publish_turn(uint32_t i)
{
	const struct turns_program *p = &a.t.programs[i];
	struct sched_shared *d = a.shared[i];
	bool has = a.t.holder == i, news;

	tell_numbers(d, p);
	if (has)
		__atomic_store_n(&d->turn_ns, p->turn_ns, __ATOMIC_RELAXED);
	tell_word(&d->wanted, has && a.t.wanted);
	tell_word(&d->watched, a.watched);
	if (has)
		a.turns[i] = a.t.turn;
	news = tell_word(&d->turn, has ? a.t.turn : 0) && has;
	/* .closed is cleared after .turn, which no program has then */
	news |= tell_word(&d->closed, a.t.closed) && !a.t.closed;
	if (news)
		__atomic_add_fetch(&d->wake, 1, __ATOMIC_SEQ_CST);
	return news;
}

/* look at all programs; how long no look is needed then, in ns */
static uint64_t look_at_turns(void)
{
	uint64_t now = now_ns(), again;
	uint32_t i;

	for (i = 0; i < a.t.nr_programs; i++)
		if (a.shared[i])
			look_at(i);
	again = turns_look(&a.t, now);
	for (i = 0; i < a.t.nr_programs; i++)
		if (a.shared[i] && publish_turn(i))
			syscall(SYS_futex, &a.shared[i]->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
	return again == UINT64_MAX ? again : again > now ? again - now : 0;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* limit the looks: a process that was taken over may ring without end */
static void pause_between_looks(void)
{
	static uint64_t since;
	static unsigned int looks;
	uint64_t now = now_ns();

	if (now - since >= LOOKS_NS) {
		since = now;
		looks = 0;
	} else if (++looks >= LOOKS) {
		sleep_ns(since + LOOKS_NS - now);
	}
}

static void *arbitrate(void *arg)
{
	static char rung[65536]; /* room for all that the pipe holds */
	struct pollfd p = { .fd = a.doorbell[0], .events = POLLIN };
	struct timespec t;
	uint64_t ns;

	for (;;) {
		pause_between_looks();
		pthread_mutex_lock(&a.lock);
		ns = look_at_turns();
		pthread_mutex_unlock(&a.lock);
		t = (struct timespec){ ns / 1000000000, ns % 1000000000 };
		if (ppoll(&p, 1, ns == UINT64_MAX ? NULL : &t, NULL) > 0 &&
		    read(a.doorbell[0], rung, sizeof(rung)) < 0 && errno != EAGAIN &&
		    errno != EINTR)
			sleep_ns(LOOKS_NS);
	}
	return arg;
}

static void ring(void)
{
	if (write(a.doorbell[1], "", 1) < 0)
		return; /* the pipe is full: the arbiter will look */
}

/* ------------------------------------------------------------ by the first process's own thread */

int arbiter_doorbell(void)
{
	return a.doorbell[1];
}

/* Call with the lock. Set .watched, and tell programs before the arbiter looks at them. */
static void watch_programs(void)
{
	uint32_t i, first = TURNS_NONE;

	a.watched = false;
	for (i = 0; i < a.t.nr_programs; i++) {
		if (!a.shared[i])
			continue;
		if (first == TURNS_NONE)
			first = a.t.programs[i].client;
		a.watched |= a.t.programs[i].client != first;
	}
	for (i = 0; i < a.t.nr_programs; i++)
		if (a.shared[i])
			tell_word(&a.shared[i]->watched, a.watched);
}

void arbiter_enter(struct supervisor *s, struct client *c)
{
	uint32_t i = c - s->clients, client = c->tenant - s->tenants;

	if (a.doorbell[1] < 0)
		return;
	pthread_mutex_lock(&a.lock);
	/* a client that comes back has its old clock: leaving takes no debt away */
	if (c->tenant->programs == 1 && c->tenant->anew)
		memset(&a.t.clients[client], 0, sizeof(a.t.clients[client]));
	a.t.clients[client].weight = c->weight;
	a.t.programs[i] = (struct turns_program){ .present = true, .client = client };
	a.shared[i] = sched_shared_of(c->counters);
	a.turns[i] = 0;
	watch_programs();
	pthread_mutex_unlock(&a.lock);
	ring();
}

void arbiter_leave(struct supervisor *s, struct client *c)
{
	uint32_t i = c - s->clients;

	if (a.doorbell[1] < 0 || !a.shared[i])
		return;
	pthread_mutex_lock(&a.lock);
	look_at(i);
	a.shared[i] = NULL;
	a.t.programs[i].present = a.t.programs[i].busy = a.t.programs[i].wants = false;
	look_at_turns(); /* before another program gets the row */
	watch_programs();
	pthread_mutex_unlock(&a.lock);
	ring();
}

/*
 * Open the write end of the pipe anew for this process: O_NONBLOCK belongs to what was opened, and
 * a process that was taken over could clear it for others.
 */
static int own_doorbell(void)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", a.doorbell[1]);
	return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

/* in a client's process: erase the numbers of other clients */
void arbiter_part(struct supervisor *s)
{
	int own;

	if (a.doorbell[1] < 0)
		return;
	own = own_doorbell();
	if (own >= 0) {
		close(a.doorbell[1]);
		a.doorbell[1] = own;
	}
	explicit_bzero(a.t.clients, s->nr_clients * sizeof(*a.t.clients));
	explicit_bzero(a.t.programs, s->nr_clients * sizeof(*a.t.programs));
	explicit_bzero(a.shared, s->nr_clients * sizeof(*a.shared));
	explicit_bzero(a.turns, s->nr_clients * sizeof(*a.turns));
	explicit_bzero(&a.t, sizeof(a.t));
}

/* ------------------------------------------------------------------ in another build's place */

static const struct state_field of_arbiter[] = {
	STATE_FD(struct arbiter, doorbell[0]), STATE_FD(struct arbiter, doorbell[1]),
	STATE(struct arbiter, watched),	       STATE(struct arbiter, t.closed),
	STATE(struct arbiter, t.holder),       STATE(struct arbiter, t.turn),
	STATE(struct arbiter, t.wanted),       STATE(struct arbiter, t.at),
	STATE(struct arbiter, t.clock),	       STATE(struct arbiter, t.progress),
	STATE(struct arbiter, t.contended),    STATE(struct arbiter, t.waited_for),
	STATE(struct arbiter, t.measured),     STATE_END
};
static const struct state_field of_turns_client[] = { STATE(struct turns_client, weight),
						      STATE(struct turns_client, rest),
						      STATE(struct turns_client, clock),
						      STATE(struct turns_client, floor),
						      STATE(struct turns_client, worked),
						      STATE(struct turns_client, competed),
						      STATE_END };
struct handed_program {
	struct turns_program p;
	uint32_t turn; /* of a.turns */
};
static const struct state_field of_program[] = {
	STATE(struct handed_program, turn),	  STATE(struct handed_program, p.client),
	STATE(struct handed_program, p.used),	  STATE(struct handed_program, p.turn_ns),
	STATE(struct handed_program, p.seen),	  STATE(struct handed_program, p.spent),
	STATE(struct handed_program, p.competed), STATE(struct handed_program, p.was_present),
	STATE(struct handed_program, p.charged),  STATE(struct handed_program, p.alone),
	STATE(struct handed_program, p.waited),	  STATE(struct handed_program, p.turns),
	STATE(struct handed_program, p.lost),	  STATE_END
};

void arbiter_hold(void)
{
	pthread_mutex_lock(&a.lock);
}

void arbiter_go_on(void)
{
	pthread_mutex_unlock(&a.lock);
}

void arbiter_write(const struct supervisor *s, int fd)
{
	struct handed_program h;
	uint32_t i;

	if (a.doorbell[1] < 0)
		return;
	state_write(fd, "arbiter", 0, of_arbiter, &a);
	for (i = 0; i < s->nr_clients; i++) {
		if (a.t.clients[i].weight)
			state_write(fd, "turns-client", i, of_turns_client, &a.t.clients[i]);
		h = (struct handed_program){ a.t.programs[i], a.turns[i] };
		if (a.shared[i])
			state_write(fd, "turns-program", i, of_program, &h);
	}
}

/* NULL, or what is wrong */
static const char *take_turns(struct supervisor *s)
{
	struct handed_program h;
	const char *r, *wrong = NULL;
	unsigned int i;

	r = state_next(s->state, NULL, "arbiter");
	if (!r)
		return "arbiter";
	wrong = state_read(r, &i, of_arbiter, &a);
	for (r = NULL; !wrong && (r = state_next(s->state, r, "turns-client"));) {
		struct turns_client c = { 0 };

		wrong = state_read(r, &i, of_turns_client, &c);
		if (wrong || i >= s->nr_clients || !c.weight)
			return wrong ?: "turns-client";
		a.t.clients[i] = c;
	}
	for (r = NULL; !wrong && (r = state_next(s->state, r, "turns-program"));) {
		h = (struct handed_program){ { .present = true }, 0 };
		wrong = state_read(r, &i, of_program, &h);
		if (wrong || i >= s->nr_clients || !s->clients[i].tenant ||
		    h.p.client != s->clients[i].tenant - s->tenants ||
		    !a.t.clients[h.p.client].weight)
			return wrong ?: "turns-program";
		a.t.programs[i] = h.p;
		a.turns[i] = h.turn;
		a.shared[i] = sched_shared_of(s->clients[i].counters);
		a.t.clients[h.p.client].weight = s->clients[i].weight;
	}
	if (!wrong && a.t.holder != TURNS_NONE &&
	    (a.t.holder >= s->nr_clients || !a.shared[a.t.holder]))
		wrong = "t.holder";
	return wrong;
}

bool __attribute__((noinline)) arbiter_begin(struct supervisor *s)
{
	const char *wrong;
	pthread_t thread;

	a.t = (struct turns){ .nr_clients = s->nr_clients,
			      .nr_programs = s->nr_clients,
			      .holder = TURNS_NONE };
	a.t.clients = calloc(s->nr_clients, sizeof(*a.t.clients));
	a.t.programs = calloc(s->nr_clients, sizeof(*a.t.programs));
	a.shared = calloc(s->nr_clients, sizeof(*a.shared));
	a.turns = calloc(s->nr_clients, sizeof(*a.turns));
	if (!a.t.clients || !a.t.programs || !a.shared || !a.turns)
		return false;
	wrong = s->state ? take_turns(s) : NULL;
	if (wrong)
		say("the state to take over: %s", wrong);
	if (wrong || (!s->state && pipe2(a.doorbell, O_CLOEXEC | O_NONBLOCK)))
		return false;
	return s->trial || !pthread_create(&thread, NULL, arbitrate, NULL);
}
