// SPDX-License-Identifier: MIT
/* Shares of a simulated GPU by remote/turns. The simulation has a time of its own. */
#include <selftests/unit_test.h>

#include <remote/turns/turns.h>

#define US 1000ull
#define MS 1000000ull
#define S  1000000000ull

enum { MAX = 8, HAND_OVER_US = 20, LINGER_US = 200 };

/* A program's habit: pieces of work, and what it does between them. */
struct habit {
	uint32_t client;
	uint64_t piece, pause; /* a pause after each piece; 0: more is always there */
	/* .until: ns with work, then .sleeps ns without; .sleeps 0: always with work */
	uint64_t until, sleeps;
	bool stuck; /* its work never ends */
	/* its work ends only when its turn is lost; until then it reports progress */
	bool keeps;
	/* members of the simulation */
	/* when it has work again; its GPU time; its GPU time at the begin of the window */
	uint64_t next, has, window;
	uint64_t longest_wait, since;
};

static struct turns_client clients[MAX];
static struct turns_program programs[MAX];
static struct habit habits[MAX];
static struct turns t;
static uint64_t now;
static uint64_t given; /* GPU time of all programs without .stuck or .keeps */

static void add(struct habit h, uint32_t weight)
{
	uint32_t i = t.nr_programs++;

	h.next = now;
	habits[i] = h;
	clients[h.client].weight = weight;
	programs[i] = (struct turns_program){ .present = true, .client = h.client };
}

static int set_up(void **state)
{
	memset(clients, 0, sizeof(clients));
	memset(programs, 0, sizeof(programs));
	t = (struct turns){
		.clients = clients, .programs = programs, .nr_clients = MAX, .holder = TURNS_NONE
	};
	now = S;
	given = 0;
	return 0;
}

static bool sleeps(const struct habit *h)
{
	return h->sleeps && now % (h->until + h->sleeps) >= h->until;
}

static bool has_work(uint32_t i)
{
	return now >= habits[i].next && !sleeps(&habits[i]);
}

static void look(void)
{
	uint32_t i;

	for (i = 0; i < t.nr_programs; i++) {
		programs[i].wants = (i != t.holder || programs[i].gave_back) && has_work(i);
		programs[i].busy = (i == t.holder && programs[i].busy) ||
				   (programs[i].wants && !t.closed) ||
				   (habits[i].stuck && programs[i].turns);
		if (programs[i].wants && !habits[i].since)
			habits[i].since = now;
	}
	turns_look(&t, now);
}

static void work_without_turns(void)
{
	uint32_t i;

	for (i = 0; i < t.nr_programs; i++) {
		if (!has_work(i))
			continue;
		now += habits[i].piece;
		habits[i].has += habits[i].piece;
		given += habits[i].piece;
		habits[i].next = now + habits[i].pause;
	}
}

/* Simulates one turn, or a moment without one. */
static void go_on(void)
{
	uint32_t h;
	uint64_t used = 0, idle;
	struct habit *a;

	look();
	h = t.holder;
	if (h == TURNS_NONE) {
		now += 10 * US;
		if (!t.closed)
			work_without_turns();
		return;
	}
	a = &habits[h];
	now += HAND_OVER_US * US;
	if (a->since && now - a->since > a->longest_wait)
		a->longest_wait = now - a->since;
	a->since = 0;
	programs[h].busy = true;
	while ((a->stuck || a->keeps) && t.holder == h && t.turn) {
		now += MS;
		a->has += MS;
		programs[h].used += a->keeps ? US : 0;
		look();
	}
	if (a->keeps)
		programs[h].busy = false;
	if (a->stuck || a->keeps)
		return;
	while (programs[h].present && (used < programs[h].turn_ns || !t.wanted)) {
		for (idle = 0; !has_work(h) && idle < LINGER_US * US; idle += 10 * US)
			now += 10 * US;
		if (!has_work(h) || sleeps(a))
			break;
		now += a->piece;
		used += a->piece;
		given += a->piece;
		a->has += a->piece;
		programs[h].used += a->piece;
		a->next = now + a->pause;
		look();
		if (!t.closed)
			return;
	}
	programs[h].busy = false;
	programs[h].gave_back = true;
}

static void run(uint64_t ns)
{
	uint64_t end = now + ns;

	while (now < end)
		go_on();
}

static uint64_t had(uint32_t client)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < t.nr_programs; i++)
		if (habits[i].client == client)
			sum += habits[i].has - habits[i].window;
	return sum;
}

/*
 * In each of @n windows of 2 s client i has its part of the time that was given to all, within
 * @per_mille of that part.
 */
static void windows(unsigned int n, uint32_t nr, const uint32_t *parts, unsigned int per_mille)
{
	uint64_t sum = 0, all, part, d;
	uint32_t i;

	for (i = 0; i < nr; i++)
		sum += parts[i];
	while (n--) {
		for (i = 0; i < t.nr_programs; i++)
			habits[i].window = habits[i].has;
		all = given;
		run(2 * S);
		all = given - all;
		for (i = 0; i < nr; i++) {
			part = all * parts[i] / sum;
			d = had(i) > part ? had(i) - part : part - had(i);
			if (d * 1000 > part * per_mille)
				fail_msg("client %u had %llu us, not %llu", i,
					 (unsigned long long)(had(i) / US),
					 (unsigned long long)(part / US));
		}
	}
}

TEST(by_weight)
{
	add((struct habit){ .client = 0, .piece = 30 * US }, 1);
	add((struct habit){ .client = 1, .piece = 3 * MS }, 2);
	add((struct habit){ .client = 2, .piece = 500 * US, .pause = 20 * US }, 4);
	run(S);
	windows(10, 3, (const uint32_t[]){ 1, 2, 4 }, 50);
	assert_true(given > 19 * S);
}

/* Long pieces of work are charged afterwards. */
TEST(long_work)
{
	add((struct habit){ .client = 0, .piece = 60 * MS }, 100);
	add((struct habit){ .client = 1, .piece = 100 * US }, 100);
	add((struct habit){ .client = 2, .piece = 2 * MS }, 300);
	run(S);
	windows(10, 3, (const uint32_t[]){ 1, 1, 3 }, 150);
	assert_true(habits[1].longest_wait < 500 * MS);
}

/* A client's programs share its part. */
TEST(programs_of_one)
{
	unsigned int i;

	for (i = 0; i < 5; i++)
		add((struct habit){ .client = 0, .piece = (i + 1) * 100 * US }, 10);
	add((struct habit){ .client = 1, .piece = 400 * US }, 10);
	run(S);
	windows(5, 2, (const uint32_t[]){ 1, 1 }, 50);
	for (i = 0; i < 5; i++)
		assert_in_range(habits[i].has - habits[i].window, 180 * MS, 220 * MS);
}

/*
 * Time that a client does not use goes to the others. When it comes back it has its part, and
 * nothing in addition for the time in which it slept.
 */
TEST(sleeping)
{
	uint64_t before;

	add((struct habit){ .client = 0, .piece = 200 * US, .until = 5 * S, .sleeps = 20 * S }, 50);
	add((struct habit){ .client = 1, .piece = 200 * US }, 50);
	run(40 * S - now % (25 * S));
	while (!sleeps(&habits[0]))
		run(MS);
	run(S);
	before = given;
	run(2 * S);
	assert_true(given - before > 19 * S / 10);
	while (sleeps(&habits[0]))
		run(10 * US);
	windows(1, 2, (const uint32_t[]){ 1, 1 }, 50);
}

/* A client that wakes for a moment again and again gets no more than its part. */
TEST(wakes_often)
{
	add((struct habit){ .client = 0, .piece = 500 * US, .until = 3 * MS, .sleeps = 3 * MS },
	    10);
	add((struct habit){ .client = 1, .piece = 500 * US }, 30);
	run(S);
	habits[0].window = habits[0].has;
	habits[1].window = habits[1].has;
	run(10 * S);
	assert_true(had(0) < 2600 * MS);
	assert_true(had(0) + had(1) > 9500 * MS);
	assert_true(habits[0].longest_wait < 30 * MS);
}

/*
 * Work that never ends: its program loses its turn, and holds the others up for no longer than
 * TURNS_LOST allows.
 */
TEST(stuck)
{
	add((struct habit){ .client = 0, .stuck = true }, 100);
	add((struct habit){ .client = 1, .piece = 300 * US }, 100);
	add((struct habit){ .client = 2, .piece = 300 * US }, 100);
	run(30 * S);
	assert_true(programs[0].lost >= 1);
	assert_true(habits[1].longest_wait < TURNS_LOST + 50 * MS);
	assert_true(habits[1].has + habits[2].has > 26 * S);
	assert_true(habits[1].has * 100 > habits[2].has * 95 &&
		    habits[2].has * 100 > habits[1].has * 95);
}

/*
 * A process keeps its turn and reports progress now and then. It is charged for the time, and its
 * turn ends nevertheless.
 */
TEST(keeps)
{
	add((struct habit){ .client = 0, .keeps = true }, 100);
	add((struct habit){ .client = 1, .piece = 300 * US }, 100);
	run(S);
	habits[0].window = habits[0].has;
	habits[1].window = habits[1].has;
	run(30 * S);
	assert_true(programs[0].lost >= 10);
	assert_true(habits[1].longest_wait < TURNS_OVER * TURNS_LONGEST + TURNS_LOST + 10 * MS);
	assert_true(had(0) < 16 * S);
	assert_true(had(1) > 14 * S);
}

TEST(killed)
{
	add((struct habit){ .client = 0, .piece = 300 * US }, 1);
	add((struct habit){ .client = 1, .piece = 300 * US }, 1);
	run(S);
	while (t.holder != 0)
		look(), turns_look(&t, ++now), programs[t.holder == 1].gave_back = true;
	programs[0].present = false;
	programs[1].wants = true;
	turns_look(&t, ++now);
	assert_int_equal(t.holder, 1);
}

/*
 * A program that leaves in its turn has paid for the turn's time at least, however little it has
 * said that it used. One that has given the turn back pays only what it said.
 */
TEST(leaves)
{
	uint32_t i;

	for (i = 0; i < 4; i++) {
		add((struct habit){ .client = 0 }, 100);
		programs[i].wants = true;
	}
	add((struct habit){ .client = 1 }, 100);
	programs[4].busy = true;
	for (i = 0; i < 4; i++) {
		turns_look(&t, now);
		assert_int_equal(t.holder, i);
		now += 8 * MS;
		programs[i].used = i == 1 ? 3 * MS : i == 2 ? 9 * MS : 0;
		programs[i].gave_back = i == 3;
		programs[i].present = programs[i].wants = false;
		turns_look(&t, now);
		turns_look(&t, now);
	}
	assert_int_equal(programs[0].charged, 8 * MS);
	assert_int_equal(programs[1].charged, 8 * MS);
	assert_int_equal(programs[2].charged, 9 * MS);
	assert_int_equal(programs[3].charged, 0);
}

/* There are no turns for a client alone. */
TEST(alone)
{
	add((struct habit){ .client = 0, .piece = 300 * US }, 1);
	programs[0].busy = true;
	turns_look(&t, now);
	assert_false(t.closed);
	assert_int_equal(turns_look(&t, now + S), now + S + TURNS_AGAIN_OPEN);
	assert_int_equal(programs[0].alone, S);
	assert_int_equal(programs[0].charged, 0);
	now += S;
	add((struct habit){ .client = 1, .piece = 300 * US }, 1);
	programs[1].wants = true;
	turns_look(&t, ++now);
	assert_true(t.closed);
	assert_int_equal(t.holder, 1);
	/* work of the first client that is still on the GPU is charged to that client */
	turns_look(&t, now + 10 * MS);
	assert_int_equal(programs[0].charged, 5 * MS);
	now += 10 * MS;
	programs[1].wants = programs[0].busy = false;
	programs[1].gave_back = true;
	turns_look(&t, now);
	assert_true(t.closed);
	assert_int_equal(t.holder, TURNS_NONE);
	turns_look(&t, now + TURNS_CALM);
	assert_false(t.closed);
}

TEST(far_apart)
{
	add((struct habit){ .client = 0, .piece = 500 * US }, 1);
	add((struct habit){ .client = 1, .piece = 500 * US }, 10000);
	run(60 * S);
	assert_true(habits[0].has >= 3 * MS && habits[0].has < 20 * MS);
	assert_true(habits[0].longest_wait < 21 * S);
}

TEST_MAIN(set_up, NULL)
