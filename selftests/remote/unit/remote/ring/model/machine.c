// SPDX-License-Identifier: GPL-2.0-only
#include "machine.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "remote/ring/hooks.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p))
#endif

enum { RING_MAX = 256 + 8 * 64, MEM = RING_MAX + 64, LOG = 640, STORES = 12, DEPTH = 1500 };
enum { SLEEP_NS = 10, PATIENCE_NS = 15, ANSWER = 16 };

/* the access at which a thread stopped */
enum kind { LOAD, FENCE, WAKE, SLEEP, ASLEEP, NO_MORE_STORES };

/* the next step of a thread's program */
enum phase { PUT, NOTIFY, WAIT_ROOM, WAIT_ANSWER, TAKE, GET, WAIT_FRAME, ANSWER_IT };

enum ended { NOT_YET, ALL_DONE, GAVE_UP };

/* how a sleep ends */
enum how { WOKEN, GONE, TIMED_OUT };

/* a thread's private memory */
struct side {
	struct kvgpu_ring_producer producer;
	struct kvgpu_ring_consumer consumer;
	struct kvgpu_completion completion;
	struct kvgpu_doorbell own, peer;
	uint32_t frame; /* number of frames put or taken */
	uint32_t phase, ended;
};

struct store {
	uint16_t at;
	uint8_t len;
	bool release;
	uint8_t data[KVGPU_RING_NEXT_BYTES];
};

struct thread {
	struct side side; /* at the begin of the current call */
	uint16_t done; /* number of accesses of that call */
	uint16_t log_len;
	uint8_t log[LOG]; /* the values that they read */
	uint8_t nr_stores;
	struct store stores[STORES];
	uint8_t stopped_at; /* enum kind */
	uint8_t early;
	bool woken, crashed;
};

struct state {
	uint8_t mem[MEM];
	struct thread t[2]; /* producer, consumer */
	uint8_t crashes;
};

/* Stands for shared memory, but only its addresses are used: the contents are in struct state. */
static _Alignas(64) uint8_t arena[RING_MAX + sizeof(struct kvgpu_completion_shared)];
static uint8_t got[512];

static const struct plan *plan;
static struct search *found;
static struct state *stack;
static struct side now; /* private memory of the thread that runs */

static struct {
	struct state *s;
	struct thread *t, *other;
	unsigned int op, log_at, nr_fences;
	bool may; /* the thread may make one access that others can tell */
	bool was_asleep, after_fence;
	enum how how;
	uint64_t clock, last;
	jmp_buf stop;
} run;

static void finding(enum finding f)
{
	if (found->finding == FINE)
		found->finding = f;
}

/* ------------------------------------------------------------------ accesses */

static unsigned int place(const void *p, size_t n)
{
	uintptr_t at = (uintptr_t)p - (uintptr_t)arena;

	if (at + n > MEM)
		abort();
	return (unsigned int)at;
}

static bool again(void)
{
	return run.op++ < run.t->done;
}

static void stop(enum kind k)
{
	run.t->stopped_at = k;
	longjmp(run.stop, 1);
}

/*
 * Stops the thread unless this access is the one that it may make. Fences and calls into the kernel
 * also wait until the thread's own stores are visible.
 */
static void others_can_tell(enum kind k)
{
	if (!run.may || (k != LOAD && run.t->nr_stores))
		stop(k);
	run.may = false;
	run.t->done++;
}

static void remember(const void *data, size_t n)
{
	if (run.t->log_len + n > LOG) {
		finding(TOO_MUCH);
		stop(LOAD);
	}
	memcpy(run.t->log + run.t->log_len, data, n);
	run.t->log_len += n;
	run.log_at += n;
}

/* Reads memory as the thread sees it: with its own stores that are not visible yet. */
static void look(unsigned int at, size_t n, uint8_t *out)
{
	unsigned int i, j;

	memcpy(out, run.s->mem + at, n);
	for (i = 0; i < run.t->nr_stores; i++)
		for (j = 0; j < run.t->stores[i].len; j++)
			if (run.t->stores[i].at + j - at < n)
				out[run.t->stores[i].at + j - at] = run.t->stores[i].data[j];
}

static void load(const void *p, size_t n, void *out)
{
	unsigned int at = place(p, n);

	if (again()) {
		memcpy(out, run.t->log + run.log_at, n);
		run.log_at += n;
		return;
	}
	others_can_tell(LOAD);
	look(at, n, out);
	remember(out, n);
}

static void store(const void *p, const void *data, size_t n, bool release)
{
	struct store *s = &run.t->stores[run.t->nr_stores];
	unsigned int at = place(p, n);

	if (again())
		return;
	if (run.t->nr_stores == STORES)
		stop(NO_MORE_STORES);
	*s = (struct store){ .at = at, .len = n, .release = release && plan->wrong != NO_RELEASE };
	memcpy(s->data, data, n);
	run.t->nr_stores++;
	run.t->done++;
}

uint64_t hook_load(const uint64_t *p)
{
	if (!run.after_fence || plan->wrong != NO_RECHECK)
		load(p, sizeof(*p), &run.last);
	run.after_fence = false;
	return run.last;
}

uint32_t hook_load32(const uint32_t *p)
{
	uint32_t v;

	run.after_fence = false;
	load(p, sizeof(v), &v);
	return v;
}

void hook_store(uint64_t *p, uint64_t v)
{
	store(p, &v, sizeof(v), false);
}

void hook_store_release(uint64_t *p, uint64_t v)
{
	store(p, &v, sizeof(v), true);
}

void hook_store32(uint32_t *p, uint32_t v)
{
	if (v || plan->wrong != NO_CLEAR)
		store(p, &v, sizeof(v), false);
}

static bool no_fence(void)
{
	bool sleeps = now.phase == WAIT_FRAME || now.phase == WAIT_ANSWER ||
		      (now.phase == WAIT_ROOM && run.nr_fences);

	return plan->wrong == (sleeps ? NO_FENCE_ASLEEP : NO_FENCE_RINGING);
}

void hook_fence(void)
{
	bool none = no_fence();

	/* the first fence of kvgpu_ring_wait_room() belongs to the notify in it */
	run.nr_fences++;
	run.after_fence = true;
	if (none || again())
		return;
	if (run.t->nr_stores)
		others_can_tell(FENCE);
	else
		run.t->done++;
}

void hook_copy_in(void *to, const uint64_t *from, size_t n)
{
	load(from, n, to);
}

void hook_copy_out(void *to, const void *from, size_t n)
{
	store(to, from, n, false);
}

void hook_clock_yield(void)
{
}

uint64_t hook_clock_ns(void)
{
	return run.clock;
}

/* ------------------------------------------------------------------ the carrier */

static enum kvgpu_sleep end_of_sleep(enum how how, uint64_t ns)
{
	if (how == TIMED_OUT)
		run.clock += ns;
	return how == GONE ? KVGPU_SLEEP_GONE : KVGPU_SLEEP_LOOK;
}

static enum kvgpu_sleep machine_sleep(void *ctx, uint32_t *word, uint64_t ns)
{
	unsigned int at = place(word, sizeof(*word));
	uint32_t set = 1;
	uint8_t how;

	(void)ctx;
	run.after_fence = false;
	if (again())
		return end_of_sleep(run.t->log[run.log_at++], ns);
	others_can_tell(SLEEP);
	how = run.how;
	if (!run.was_asleep) {
		how = WOKEN;
		if (plan->carrier == SOCKET || !memcmp(run.s->mem + at, &set, sizeof(set))) {
			run.t->done--;
			stop(ASLEEP);
		}
	}
	run.was_asleep = false;
	/* a socket's byte stays there if the sleep ended for another reason */
	if (how == WOKEN || plan->carrier == FUTEX)
		run.t->woken = false;
	remember(&how, 1);
	return end_of_sleep(how, ns);
}

static void machine_wake(void *ctx, uint32_t *word)
{
	(void)ctx;
	(void)word;
	if (again())
		return;
	others_can_tell(WAKE);
	if (plan->carrier == SOCKET || run.other->stopped_at == ASLEEP)
		run.other->woken = true;
}

static const struct kvgpu_doorbell_ops machine_ops = { .sleep = machine_sleep,
						       .wake = machine_wake };

/* ------------------------------------------------------------------ the programs */

static void pattern(uint8_t *out, unsigned int frame, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		out[i] = (uint8_t)(frame * 37 + i + 1);
}

static bool is_pattern(const uint8_t *p, unsigned int frame, unsigned int len)
{
	uint8_t want[sizeof(got)];

	pattern(want, frame, len);
	return !memcmp(p, want, len);
}

static void end(enum ended how)
{
	now.ended = how;
}

static void go_on(enum kvgpu_wait w, enum phase with)
{
	if (w == KVGPU_WAIT_READY)
		now.phase = with;
	else
		end(GAVE_UP);
}

static uint64_t patience(void)
{
	return plan->crashes && plan->after_crash == TIME_OUT ? PATIENCE_NS : KVGPU_FOREVER;
}

static void next_frame(void)
{
	now.phase = PUT;
	if (now.frame == plan->nr_frames)
		end(ALL_DONE);
}

static void put(void)
{
	struct iovec iov = { .iov_base = got, .iov_len = plan->len[now.frame] };
	enum kvgpu_ring_status s;

	pattern(got, now.frame, plan->len[now.frame]);
	s = kvgpu_ring_put(&now.producer, now.frame + 1, 7, &iov, 1);
	if (s == KVGPU_RING_FULL) {
		now.phase = WAIT_ROOM;
	} else if (s == KVGPU_RING_OK) {
		now.frame++;
		now.phase = plan->in_one_go && now.frame < plan->nr_frames ? PUT : NOTIFY;
	} else {
		finding(CORRUPT);
	}
}

static void take(void)
{
	struct kvgpu_completion_head head;

	if (kvgpu_completion_take(&now.completion, now.producer.last_seq, &head, got, ANSWER) ||
	    head.len != ANSWER || head.result != now.frame * 3 ||
	    !is_pattern(got, now.frame + 100, ANSWER))
		finding(CORRUPT);
	next_frame();
}

static void get(void)
{
	enum kvgpu_ring_status s;
	struct kvgpu_frame f;

	s = kvgpu_ring_get(&now.consumer, &f, got, sizeof(got));
	if (s == KVGPU_RING_EMPTY) {
		now.phase = WAIT_FRAME;
		return;
	}
	if (s || f.op != now.frame + 1 || f.flags != 7 || f.len != plan->len[now.frame] ||
	    !is_pattern(got, now.frame, f.len))
		finding(CORRUPT);
	now.frame++;
	now.phase = plan->asks ? ANSWER_IT : GET;
	now.completion.max_len = ANSWER;
	now.producer.last_seq = f.seq;
	if (!plan->asks && now.frame == plan->nr_frames)
		end(ALL_DONE);
}

static void answer(void)
{
	uint8_t text[ANSWER];

	pattern(text, now.frame + 100, ANSWER);
	if (kvgpu_completion_answer(&now.completion, now.producer.last_seq, now.frame * 3, text,
				    ANSWER))
		finding(CORRUPT);
	now.phase = GET;
	if (now.frame == plan->nr_frames)
		end(ALL_DONE);
}

/* Makes one call of remote/ring, and sets what the thread does next. */
static void call(void)
{
	switch ((enum phase)now.phase) {
	case PUT:
		put();
		break;
	case WAIT_ROOM:
		go_on(kvgpu_ring_wait_room(&now.producer, plan->len[now.frame], patience()), PUT);
		break;
	case NOTIFY:
		kvgpu_ring_kick(&now.producer);
		now.phase = WAIT_ANSWER;
		if (!plan->asks)
			next_frame();
		break;
	case WAIT_ANSWER:
		go_on(kvgpu_completion_wait(&now.completion, patience()), TAKE);
		break;
	case TAKE:
		take();
		break;
	case GET:
		get();
		break;
	case WAIT_FRAME:
		go_on(kvgpu_ring_wait_frame(&now.consumer, patience()), GET);
		break;
	case ANSWER_IT:
		answer();
		break;
	}
	/* counters on which nothing depends: without them more states are equal */
	now.own.sleeps = now.own.spins = now.peer.wakes = now.producer.full_waits = 0;
}

/* ------------------------------------------------------------------ steps */

static void run_on(struct state *s, unsigned int i, bool may, enum how how)
{
	run.s = s;
	run.t = &s->t[i];
	run.other = &s->t[!i];
	run.may = may;
	run.how = how;
	run.was_asleep = may && run.t->stopped_at == ASLEEP;
	if (setjmp(run.stop))
		return;
	while (run.t->side.ended == NOT_YET && found->finding == FINE) {
		now = run.t->side;
		run.op = run.log_at = run.nr_fences = 0;
		run.clock = 1;
		run.after_fence = false;
		call();
		run.t->side = now;
		run.t->done = run.t->log_len = 0;
	}
}

static void begin(struct state *s)
{
	struct kvgpu_ring_config config = {
		.mem = arena,
		.slots = plan->slots,
		.max_len = kvgpu_ring_longest(plan->slots),
		.own = &now.own,
		.peer = &now.peer,
	};
	struct kvgpu_ring_shared *shared = (struct kvgpu_ring_shared *)arena;
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->crashes = plan->crashes;
	for (i = 0; i < 2; i++) {
		memset(&now, 0, sizeof(now));
		now.own = (struct kvgpu_doorbell){ .word = i ? &shared->consumer_word :
							       &shared->producer_word,
						   .ops = &machine_ops };
		now.peer = (struct kvgpu_doorbell){ .word = i ? &shared->producer_word :
								&shared->consumer_word,
						    .ops = &machine_ops };
		now.own.times.sleep_ns = SLEEP_NS;
		now.phase = i ? GET : PUT;
		if (kvgpu_ring_attach_producer(&now.producer, &config) ||
		    kvgpu_ring_attach_consumer(&now.consumer, &config) ||
		    kvgpu_completion_attach(&now.completion, arena + kvgpu_ring_bytes(plan->slots),
					    ANSWER, i ? &now.peer : &now.own))
			abort();
		s->t[i].side = now;
		s->t[i].early = plan->early;
	}
	for (i = 0; i < 2; i++)
		run_on(s, i, false, WOKEN);
}

static bool may_leave(const struct thread *t, unsigned int i)
{
	unsigned int j;

	if (plan->order == TSO || t->stores[i].release)
		return i == 0;
	for (j = 0; j < i; j++)
		if (t->stores[j].at < t->stores[i].at + t->stores[i].len &&
		    t->stores[i].at < t->stores[j].at + t->stores[j].len)
			return false;
	return true;
}

static void leave(struct state *s, struct thread *t, unsigned int i)
{
	memcpy(s->mem + t->stores[i].at, t->stores[i].data, t->stores[i].len);
	t->nr_stores--;
	memmove(&t->stores[i], &t->stores[i + 1], (t->nr_stores - i) * sizeof(t->stores[0]));
}

static bool gone(const struct thread *t)
{
	return t->crashed && !t->nr_stores;
}

static bool ready(const struct thread *t, const struct thread *other, enum how how)
{
	if (t->crashed || t->side.ended)
		return false;
	if (t->stopped_at == ASLEEP) {
		if (how == GONE)
			return gone(other) && plan->after_crash == TOLD;
		if (how == TIMED_OUT)
			return t->early || (gone(other) && plan->after_crash == TIME_OUT);
		return t->woken;
	}
	if (how != WOKEN)
		return false;
	if (t->stopped_at == NO_MORE_STORES)
		return t->nr_stores < STORES;
	return t->stopped_at == LOAD || !t->nr_stores;
}

/* ------------------------------------------------------------------ states that were there */

static uint64_t *seen;
static size_t nr_seen, room_seen;

/* Not checked by sanitizers: half of the search's time, and it reads only the search's states. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

static UNCHECKED uint64_t mix(uint64_t h, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t v;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * 0x9e3779b97f4a7c15;
		h ^= h >> 29;
	}
	for (v = 0; n; n--)
		v = v << 8 | p[n - 1];
	h = (h ^ v) * 0x9e3779b97f4a7c15;
	return h ^ h >> 29;
}

static uint64_t hash(const struct state *s)
{
	uint64_t h = mix(s->crashes + 1, s->mem, kvgpu_ring_bytes(plan->slots) + MEM - RING_MAX);
	const struct thread *t;
	unsigned int i;

	for (t = s->t; t < s->t + 2; t++) {
		uint16_t rest[] = { t->log_len, t->done,  t->nr_stores, t->stopped_at,
				    t->early,	t->woken, t->crashed };

		h = mix(h, rest, sizeof(rest));
		h = mix(h, &t->side, sizeof(t->side));
		h = mix(h, t->log, t->log_len);
		for (i = 0; i < t->nr_stores; i++)
			h = mix(h, &t->stores[i], sizeof(t->stores[i]));
	}
	return h ? h : 1;
}

static void insert(uint64_t h)
{
	size_t i = h & (room_seen - 1);

	while (seen[i])
		i = (i + 1) & (room_seen - 1);
	seen[i] = h;
}

static bool was_there(const struct state *s)
{
	uint64_t h = hash(s), *old = seen;
	size_t i;

	for (i = h & (room_seen - 1); seen[i]; i = (i + 1) & (room_seen - 1))
		if (seen[i] == h)
			return true;
	if (++nr_seen * 2 > room_seen) {
		room_seen *= 2;
		seen = calloc(room_seen, sizeof(*seen));
		for (i = 0; i < room_seen / 2; i++)
			if (old[i])
				insert(old[i]);
		free(old);
	}
	insert(h);
	return false;
}

/* ------------------------------------------------------------------ the search */

/* Checks a state in which nothing but a crash can happen any more. */
static void look_at_end(const struct state *s)
{
	const struct side *producer = &s->t[0].side, *consumer = &s->t[1].side;
	bool crash = s->t[0].crashed || s->t[1].crashed;
	unsigned int i;
	uint64_t seq;

	found->ends++;
	for (i = 0; i < 2; i++)
		if (!s->t[i].crashed && s->t[i].side.ended != ALL_DONE &&
		    !(crash && s->t[i].side.ended == GAVE_UP))
			finding(STUCK);
	/* a side that gave up must have got all that was published */
	if (consumer->ended == GAVE_UP) {
		memcpy(&seq, s->mem + 256 + consumer->consumer.pos % plan->slots * 64, sizeof(seq));
		if (seq == consumer->consumer.pos + 1)
			finding(LOST);
	}
	if (producer->ended == GAVE_UP && producer->phase == WAIT_ANSWER) {
		memcpy(&seq, s->mem + kvgpu_ring_bytes(plan->slots), sizeof(seq));
		if (seq == producer->producer.last_seq)
			finding(LOST);
	}
}

static void explore(unsigned int depth);

static void visit(unsigned int depth, char name)
{
	found->steps++;
	if (depth < sizeof(found->path) - 1) {
		found->path[depth] = name;
		found->path[depth + 1] = 0;
	}
	if (depth + 2 >= DEPTH)
		finding(TOO_MUCH);
	if (found->finding == FINE && !was_there(&stack[depth + 1]))
		explore(depth + 1);
}

static bool sleep_ends(unsigned int depth, unsigned int i, enum how how)
{
	const struct state *s = &stack[depth];
	struct state *next = &stack[depth + 1];
	bool by_crash;

	if (found->finding != FINE || !ready(&s->t[i], &s->t[!i], how))
		return false;
	*next = *s;
	by_crash = gone(&s->t[!i]) && plan->after_crash == TIME_OUT;
	if (how == TIMED_OUT && !by_crash)
		next->t[i].early--;
	run_on(next, i, true, how);
	visit(depth, how == TIMED_OUT && !by_crash ? 'e' : i ? 'C' : 'P');
	return true;
}

static bool store_leaves(unsigned int depth, unsigned int i, unsigned int n)
{
	struct state *next = &stack[depth + 1];

	if (found->finding != FINE || !may_leave(&stack[depth].t[i], n))
		return false;
	*next = stack[depth];
	leave(next, &next->t[i], n);
	visit(depth, i ? 'c' : 'p');
	return true;
}

static void crashes(unsigned int depth, unsigned int i)
{
	struct state *next = &stack[depth + 1];
	const struct state *s = &stack[depth];

	if (found->finding != FINE || !s->crashes || s->t[i].crashed || s->t[i].side.ended)
		return;
	*next = *s;
	next->crashes--;
	next->t[i].crashed = true;
	visit(depth, i ? 'Y' : 'X');
}

static void explore(unsigned int depth)
{
	unsigned int i, n, ways = 0;

	for (i = 0; i < 2; i++) {
		ways += sleep_ends(depth, i, WOKEN);
		ways += sleep_ends(depth, i, GONE);
		ways += sleep_ends(depth, i, TIMED_OUT);
		for (n = 0; n < stack[depth].t[i].nr_stores; n++)
			ways += store_leaves(depth, i, n);
	}
	if (!ways && found->finding == FINE)
		look_at_end(&stack[depth]);
	for (i = 0; i < 2; i++)
		crashes(depth, i);
}

void search(const struct plan *p, struct search *s)
{
	memset(s, 0, sizeof(*s));
	plan = p;
	found = s;
	ASAN_POISON_MEMORY_REGION(arena, sizeof(arena));
	stack = calloc(DEPTH, sizeof(*stack));
	room_seen = 1 << 12;
	nr_seen = 0;
	seen = calloc(room_seen, sizeof(*seen));
	begin(&stack[0]);
	was_there(&stack[0]);
	explore(0);
	s->states = nr_seen;
	free(seen);
	free(stack);
}
