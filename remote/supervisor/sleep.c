// SPDX-License-Identifier: MIT
/*
 * Which clients sleep: passes between the words of clients' processes (server/sleep_shared.h) and
 * remote/sleep, which decides. What a process says of itself is bounded here; it can write all of
 * its page, so what this process has told it is kept in struct client. Device memory of one that
 * sleeps is in its process, whose bound of host memory is higher meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "supervisor.h"

static uint32_t see(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void tell(uint32_t *word, uint32_t value)
{
	if (see(word) != value)
		__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------ what processes say */

static void see_client(struct client *c)
{
	const struct sleep_shared *w = sleep_shared_of(c->counters);
	const struct sched_shared *d = sched_shared_of(c->counters);
	struct sleeper *r = &c->sleeper;
	uint32_t state, refusal;

	r->present = c->state == CLIENT_SERVED && !c->reaped;
	if (!r->present)
		return;
	r->seen.done = see(&w->done) == c->sleep.order;
	state = see(&w->state);
	r->seen.state = state <= SLEEP_WAITS ? (enum sleep_state)state : SLEEP_CANNOT;
	refusal = see(&w->refusal);
	r->seen.refusal = refusal < NR_SLEEP_REFUSALS ? (enum sleep_refusal)refusal : SLEEP_LIBRARY;
	c->sleep.error = see(&w->error) % 1000;
	c->sleep.wish = see(&w->wish);
	c->sleep.lacks = see(&w->lacks);
	r->seen.wishes = c->sleep.wish != c->sleep.granted;
	r->seen.lacks = c->sleep.lacks != c->sleep.answers;
	r->seen.takes = see(&w->takes);
	r->seen.works = see(&d->busy) || see(&d->want);
	r->seen.calls = __atomic_load_n(&c->counters->calls, __ATOMIC_RELAXED);
	r->seen.charged = __atomic_load_n(&c->counters->memory, __ATOMIC_RELAXED);
	if (r->seen.charged > SLEEPERS_MOST)
		r->seen.charged = SLEEPERS_MOST;
}

/* ------------------------------------------------------------------ host memory of who sleeps */

uint64_t suspend_raised(const struct supervisor *s, const struct tenant *tenant)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].tenant == tenant)
			sum += s->clients[i].sleep.raised;
	return sum;
}

static bool raise_host(struct supervisor *s, struct client *c, uint64_t bytes)
{
	bool fine;

	c->sleep.raised = bytes;
	fine = s->cgroups ?
		       cgroup_memory(c->tenant - s->tenants, remoted_conf_share(s->conf, c->who),
				     suspend_raised(s, c->tenant)) :
		       !limit_memory_of(c->pid, s->conf->share.host_memory, bytes);
	if (!fine)
		c->sleep.raised = 0;
	return fine;
}

/* ------------------------------------------------------------------ what was decided */

/* all GPUs are named, each once on both sides */
static void tell_moves(const struct supervisor *s, const struct sleeper *r, struct sleep_shared *w)
{
	uint32_t g, n = r->moves ? s->sleepers.nr_gpus : 0, to;

	for (g = 0; g < n; g++) {
		to = g == r->from ? r->to : g == r->to ? r->from : g;
		memcpy(w->moves[g].from, s->uuids[g], sizeof(s->uuids[g]));
		memcpy(w->moves[g].to, s->uuids[to], sizeof(s->uuids[to]));
	}
	tell(&w->nr_moves, n);
}

static void tell_order(struct client *c)
{
	struct sleep_shared *w = sleep_shared_of(c->counters);

	__atomic_store_n(&w->less, c->sleeper.charged + 1, __ATOMIC_SEQ_CST);
	tell(&w->order, ++c->sleep.order);
}

static void carry_out(struct supervisor *s, struct client *c, uint64_t now)
{
	struct sleep_shared *w = sleep_shared_of(c->counters);
	struct sleeper *r = &c->sleeper;

	tell(&w->makes_room, s->conf->suspend_for_memory);
	tell(&w->hold, r->hold);
	if (r->does == SLEEPER_SUSPEND && !raise_host(s, c, r->bytes))
		sleepers_refuse(r, WHY_HOST, now);
	else if (r->does == SLEEPER_SUSPEND)
		tell_order(c);
	else if (r->does == SLEEPER_CALL)
		tell(&w->wakes, ++c->sleep.wakes);
	if (r->does == SLEEPER_WAKE) {
		tell_moves(s, r, w);
		c->sleep.granted = c->sleep.wish;
		tell(&w->granted, c->sleep.granted);
	}
	if (r->answer) {
		tell(&w->made, r->answer == SLEEPER_MADE);
		c->sleep.answers = c->sleep.lacks;
		tell(&w->answers, c->sleep.answers);
	}
	if (c->sleep.raised != r->bytes)
		raise_host(s, c, r->bytes);
}

static void say_change(const struct client *c, enum sleeper_state was)
{
	const struct sleeper *r = &c->sleeper;

	if (r->state == SLEEPER_ASLEEP && was < SLEEPER_ASLEEP)
		say_of_clients(
			ABOUT_PROCESSES, &c->from,
			"client %llu (%s) sleeps: %llu MiB of device memory are in host memory",
			(unsigned long long)c->id, c->who, (unsigned long long)r->bytes >> 20);
	else if (r->state <= SLEEPER_AWAKE && was >= SLEEPER_ASLEEP)
		say_of_clients(ABOUT_PROCESSES, &c->from, "client %llu (%s) is awake",
			       (unsigned long long)c->id, c->who);
}

void suspend_look(struct supervisor *s)
{
	uint64_t now = now_ms(), again, meter;
	enum sleeper_state *was;
	unsigned int i;

	if (!s->sleepers.rows)
		return;
	was = (enum sleeper_state *)(s->sleepers.rows + s->nr_clients);
	for (i = 0; i < s->nr_clients; i++) {
		was[i] = s->clients[i].sleeper.state;
		s->clients[i].sleeper.present = false;
		if (s->clients[i].counters)
			see_client(&s->clients[i]);
	}
	s->sleepers.for_memory = s->conf->suspend_for_memory;
	s->sleepers.memory = s->conf->suspend_memory;
	s->sleepers.blind = s->sleepers.blind && now < s->meter.next_ms;
	again = sleepers_look(&s->sleepers, now);
	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].sleeper.present) {
			carry_out(s, &s->clients[i], now);
			say_change(&s->clients[i], was[i]);
		}
	if (s->sleepers.wants_reading) {
		s->meter.needed_ms = now;
		meter_begin(s);
	}
	meter = meter_look(s);
	s->sleep_ms = again == UINT64_MAX ? UINT64_MAX : now + again;
	s->sleep_ms = meter < s->sleep_ms ? meter : s->sleep_ms;
}

/* After a build without sleep: what an earlier one has told the process, as that still has it. */
static void take_words(struct client *c)
{
	const struct sleep_shared *w = sleep_shared_of(c->counters);

	if (c->sleeper.state != SLEEPER_CANNOT)
		return;
	c->sleep.order = see(&w->order);
	c->sleep.granted = see(&w->granted);
	c->sleep.wakes = see(&w->wakes);
	c->sleep.answers = see(&w->answers);
}

/* behind the rows' addresses is room for their states */
bool suspend_begin(struct supervisor *s)
{
	struct sleepers *t = &s->sleepers;
	unsigned int i;

	t->rows = calloc(s->nr_clients, sizeof(*t->rows) + sizeof(enum sleeper_state));
	if (!t->rows)
		return false;
	t->nr_rows = s->nr_clients;
	s->meter = (struct meter){ .fd = -1 };
	for (i = 0; i < s->nr_clients; i++) {
		t->rows[i] = &s->clients[i].sleeper;
		if (t->rows[i]->place > t->places)
			t->places = t->rows[i]->place;
		if (s->clients[i].state != CLIENT_SERVED)
			continue;
		take_words(&s->clients[i]);
		suspend_enter(s, &s->clients[i]);
	}
	suspend_look(s);
	return true;
}

void suspend_enter(struct supervisor *s, struct client *c)
{
	const struct conf_share *share = remoted_conf_share(s->conf, c->who);

	c->sleeper.idle_ms = share->idle_s * 1000;
	c->sleeper.limit = share->memory;
	s->sleep_ms = 0;
}

void suspend_leave(struct supervisor *s, struct client *c)
{
	sleepers_leave(&s->sleepers, &c->sleeper, now_ms());
	if (c->sleep.raised && c->tenant && s->cgroups)
		raise_host(s, c, 0);
	c->sleep.raised = 0;
	if (s->sleepers.rows && s->sleep_ms != UINT64_MAX)
		s->sleep_ms = 0;
}

bool one_sleeps(const struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->clients[i].sleeper.state >= SLEEPER_GOING)
			return true;
	return false;
}

/* ------------------------------------------------------------------ the admin */

/* the client, with what is known of it now; NULL: *why */
static struct client *find(struct supervisor *s, uint64_t id, const char **why)
{
	struct client *c = client_by_id(s, id);

	suspend_look(s);
	*why = "error there is no client with that number";
	if (c && !c->sleeper.present)
		*why = "error it is not served";
	return c && c->sleeper.present ? c : NULL;
}

const char *suspend_order(struct supervisor *s, const char *text)
{
	const char *why;
	struct client *c;
	uint64_t id;

	if (!conf_natural(text, UINT64_MAX, &id))
		return "error suspend wants the number of a client";
	c = find(s, id, &why);
	if (!c)
		return why;
	switch (c->sleeper.state) {
	case SLEEPER_CANNOT:
		return "error its library can't put a process to sleep: NVIDIA's can from driver 570 "
		       "on, kvgpu's where remoted.conf has idle-suspend or suspend-for; or its "
		       "process has not begun";
	case SLEEPER_ASLEEP:
		return "error it sleeps already";
	case SLEEPER_WAITS:
	case SLEEPER_WAKING:
		return "error it sleeps, and is about to wake";
	case SLEEPER_AWAKE:
	case SLEEPER_GOING:
		break;
	}
	if (c->sleeper.owes)
		return "error it has not answered an earlier order yet";
	c->sleeper.asked = true;
	c->sleeper.why = SLEEP_FINE;
	suspend_look(s);
	return "ok";
}

/* "ID" or "ID gpu N" */
static bool read_resume(const char *text, uint64_t *id, uint64_t *gpu)
{
	static const char word[] = " gpu ";
	const char *at = strstr(text, word);
	char number[24];

	*gpu = UINT64_MAX;
	snprintf(number, sizeof(number), "%.*s", (int)(at ? at - text : 23), text);
	return conf_natural(number, UINT64_MAX, id) &&
	       (!at || conf_natural(at + strlen(word), SLEEP_GPUS - 1, gpu));
}

const char *suspend_resume(struct supervisor *s, const char *text)
{
	uint64_t id, gpu;
	const char *why;
	struct client *c;

	if (!read_resume(text, &id, &gpu))
		return "error resume wants the number of a client, and behind \"gpu\" one from 0 to 15";
	c = find(s, id, &why);
	if (!c)
		return why;
	if (c->sleeper.state == SLEEPER_WAKING && gpu != UINT64_MAX)
		return "error it wakes already, on the GPU that it had";
	if (c->sleeper.state < SLEEPER_ASLEEP)
		return "error it does not sleep";
	c->sleeper.called = true;
	c->sleeper.target = gpu == UINT64_MAX ? 0 : gpu + 1;
	c->sleeper.why = SLEEP_FINE;
	suspend_look(s);
	return "ok";
}
