// SPDX-License-Identifier: MIT
/*
 * Who sleeps and who wakes, on two GPUs of one type and one of another, among clients whose
 * processes are played here: they obey after OBEYS_MS, refuse, are silent, or lie.
 */
#include <selftests/unit_test.h>

#include <remote/sleep/sleepers.h>

#define GIB (1ull << 30)
#define S   1000ull

enum { CLIENTS = 6, GPUS = 3, STEP_MS = 100, OBEYS_MS = 1000 };

static struct sleeper rows[CLIENTS], *row_list[CLIENTS];
static struct sleepers t;
static uint64_t now;
static bool metered; /* readings come when they are wanted */
static struct player {
	uint64_t has[GPUS]; /* device memory, asleep or not */
	uint64_t order_ms, grant_ms; /* of what it has not done yet; 0: nothing */
	bool silent, fails; /* it does not answer; its Restore fails */
	enum sleep_refusal refuses;
	bool wants; /* it has a frame */
	uint64_t wants_more; /* an allocation of so much on GPU 0 waits for room */
	unsigned int made, not_made, wakes;
} players[CLIENTS];
static unsigned int suspends, grants;

static uint64_t size_of(uint32_t g)
{
	return g == 2 ? 4 * GIB : 10 * GIB;
}

static bool has_it_there(const struct sleeper *r)
{
	return r->seen.state == SLEEP_AWAKE;
}

static uint64_t free_of(uint32_t g)
{
	uint64_t used = 0;
	uint32_t i;

	for (i = 0; i < CLIENTS; i++)
		used += rows[i].present && has_it_there(&rows[i]) ? players[i].has[g] : 0;
	assert_true(used <= size_of(g));
	return size_of(g) - used;
}

static void read_gpus(void)
{
	uint32_t g, i;

	t.nr_gpus = GPUS;
	for (g = 0; g < GPUS; g++) {
		t.gpus[g].total = size_of(g);
		t.gpus[g].free = free_of(g);
		t.gpus[g].kind = g / 2;
		t.gpus[g].read_ms = now;
		for (i = 0; i < CLIENTS; i++)
			rows[i].uses[g] = has_it_there(&rows[i]) ? players[i].has[g] : 0;
	}
}

/* what the process of the client does by itself */
static void play(uint32_t i)
{
	struct player *p = &players[i];
	struct sleeper *r = &rows[i];

	if (p->order_ms && !p->silent && now >= p->order_ms + OBEYS_MS) {
		p->order_ms = 0;
		r->seen.refusal = p->refuses;
		if (!p->refuses)
			r->seen.state = SLEEP_ASLEEP;
		r->seen.done = true;
	}
	if (p->grant_ms && !p->silent && now >= p->grant_ms + OBEYS_MS) {
		p->grant_ms = 0;
		if (p->fails) {
			r->seen.wishes = true;
		} else {
			r->seen.state = SLEEP_AWAKE;
			r->seen.calls++;
			if (r->moves) {
				p->has[r->to] = p->has[r->from];
				p->has[r->from] = 0;
			}
			p->wants = false;
			p->wakes++;
			free_of(0); /* there is room */
		}
	}
	if (r->seen.state == SLEEP_ASLEEP && p->wants) {
		r->seen.state = SLEEP_WAITS;
		r->seen.wishes = true;
	}
	if (r->seen.state == SLEEP_AWAKE && p->wants_more && !r->seen.lacks) {
		r->seen.lacks = free_of(0) < p->wants_more;
		if (!r->seen.lacks) {
			p->has[0] += p->wants_more;
			p->wants_more = 0;
			r->seen.calls++;
		}
	}
}

static void obey(uint32_t i)
{
	struct player *p = &players[i];
	struct sleeper *r = &rows[i];

	if (r->does == SLEEPER_SUSPEND) {
		r->seen.done = false;
		p->order_ms = now;
		suspends++;
	} else if (r->does == SLEEPER_CALL) {
		p->wants = true;
	} else if (r->does == SLEEPER_WAKE) {
		r->seen.wishes = false;
		p->grant_ms = now;
		grants++;
	}
	if (r->answer) {
		p->made += r->answer == SLEEPER_MADE;
		p->not_made += r->answer == SLEEPER_NOT_MADE;
		r->seen.lacks = false;
		if (r->answer == SLEEPER_NOT_MADE) {
			p->wants_more = 0;
			r->seen.calls++;
		}
	}
}

static void run(uint64_t ms)
{
	uint64_t end = now + ms;
	uint32_t i;

	for (; now < end; now += STEP_MS) {
		for (i = 0; i < CLIENTS; i++)
			if (rows[i].present)
				play(i);
		if (metered && t.wants_reading)
			read_gpus();
		sleepers_look(&t, now);
		for (i = 0; i < CLIENTS; i++)
			if (rows[i].present)
				obey(i);
	}
}

static void come(uint32_t i, uint64_t gib, uint32_t gpu)
{
	players[i] = (struct player){ 0 };
	players[i].has[gpu] = gib * GIB;
	rows[i] = (struct sleeper){ .present = true, .seen = { .state = SLEEP_AWAKE, .calls = 1 } };
}

static void go(uint32_t i)
{
	sleepers_leave(&t, &rows[i], now);
}

static void suspend(uint32_t i)
{
	rows[i].asked = true;
	run(5 * S);
	assert_int_equal(rows[i].state, SLEEPER_ASLEEP);
}

static int set_up(void **state)
{
	uint32_t i;

	memset(rows, 0, sizeof(rows));
	for (i = 0; i < CLIENTS; i++)
		row_list[i] = &rows[i];
	t = (struct sleepers){ .rows = row_list, .nr_rows = CLIENTS, .memory = 100 * GIB };
	now = 1000 * S;
	metered = true;
	suspends = grants = 0;
	return 0;
}

static int tear_down(void **state)
{
	return 0;
}

/* Nothing is to be looked at, and no GPU read, while nobody may sleep. */
TEST(nothing_to_do)
{
	come(0, 5, 0);
	assert_true(sleepers_look(&t, now) == UINT64_MAX && !t.wants_reading);
	rows[0].idle_ms = 60 * S;
	assert_true(sleepers_look(&t, now) == SLEEPERS_AGAIN_IDLE_MS && !t.wants_reading);
}

TEST(by_an_admin)
{
	come(0, 5, 0);
	come(1, 3, 1);
	suspend(0);
	assert_true(rows[0].bytes == 5 * GIB && rows[0].sleeps == 1 && free_of(0) == 10 * GIB);
	run(600 * S);
	assert_int_equal(rows[0].state, SLEEPER_ASLEEP);
	assert_false(t.wants_reading); /* for one that only sleeps */
	rows[0].called = true;
	run(5 * S);
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
	assert_true(!rows[0].bytes && !rows[0].moves && players[0].wakes == 1);
	/* a frame wakes it, too */
	suspend(0);
	players[0].wants = true;
	run(5 * S);
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
	assert_int_equal(rows[1].sleeps, 0);
}

TEST(by_idleness)
{
	uint32_t i;

	come(0, 5, 0);
	come(1, 3, 0);
	come(2, 1, 0);
	for (i = 0; i < 3; i++)
		rows[i].idle_ms = 60 * S;
	rows[0].seen.calls = 0; /* it came just now */
	rows[1].idle_ms = 0;
	rows[2].seen.works = true;
	run(59 * S);
	assert_int_equal(suspends, 0);
	run(5 * S);
	assert_int_equal(rows[0].state, SLEEPER_ASLEEP);
	assert_int_equal(suspends, 1);
	rows[2].seen.works = false;
	run(3 * S);
	assert_int_equal(rows[2].state, SLEEPER_ASLEEP);
	/* the time begins anew with its waking */
	players[0].wants = true;
	run(60 * S);
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
	run(10 * S);
	assert_int_equal(rows[0].state, SLEEPER_ASLEEP);
	/* who refuses is asked again after a minute, not at each look */
	players[0].wants = true;
	players[0].refuses = SLEEP_MANAGED;
	run(64 * S);
	assert_int_equal(rows[0].why, SLEEP_MANAGED);
	suspends = 0;
	run(50 * S);
	assert_int_equal(suspends, 0);
	run(20 * S);
	assert_int_equal(suspends, 1);
}

/* A refusal is told, and holds nothing; the next order of an admin is tried at once. */
TEST(refusals)
{
	come(0, 5, 0);
	players[0].refuses = SLEEP_CAPTURES;
	rows[0].asked = true;
	run(5 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && rows[0].why == SLEEP_CAPTURES &&
		    !rows[0].asked && !rows[0].bytes);
	players[0].refuses = SLEEP_FINE;
	suspend(0);
	assert_int_equal(rows[0].why, SLEEP_FINE);
	/* host memory of all that sleep has a bound */
	t.memory = 7 * GIB;
	come(1, 3, 1);
	rows[1].asked = true;
	run(5 * S);
	assert_true(rows[1].state == SLEEPER_AWAKE && rows[1].why == WHY_MEMORY);
	go(0);
	suspend(1);
	/* nobody can read the GPUs */
	come(2, 1, 0);
	metered = false;
	t.gpus[0].read_ms = 0;
	t.blind = true;
	rows[2].asked = true;
	players[1].wants = true;
	run(5 * S);
	assert_true(rows[2].state == SLEEPER_AWAKE && rows[2].why == WHY_METER);
	/* who sleeps waits on, and does not fail */
	assert_true(rows[1].state == SLEEPER_WAITS && rows[1].why == WHY_METER);
	metered = true;
	t.blind = false;
	run(5 * S);
	assert_int_equal(rows[1].state, SLEEPER_AWAKE);
}

/* One that answers nothing is given up, keeps its claim, and may sleep later in spite of that. */
TEST(late)
{
	come(0, 5, 0);
	players[0].silent = true;
	rows[0].asked = true;
	run(100 * S);
	assert_int_equal(rows[0].state, SLEEPER_GOING);
	run(20 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && rows[0].why == WHY_LATE);
	assert_true(rows[0].bytes == 5 * GIB);
	players[0].silent = false;
	run(5 * S);
	assert_int_equal(rows[0].state, SLEEPER_ASLEEP);
	/* a granted wake that never ends holds others up no longer than that */
	come(1, 5, 0);
	suspend(1);
	players[0].wants = players[0].silent = true;
	run(S);
	players[1].wants = true;
	run(30 * S);
	assert_true(rows[0].state == SLEEPER_WAKING && rows[1].state == SLEEPER_WAITS);
	assert_true(rows[1].why == WHY_ROOM && t.gpus[0].held_ms);
	run(100 * S);
	assert_int_equal(rows[1].state, SLEEPER_AWAKE);
}

/* Where there is room for both, they wake at once; nobody takes memory meanwhile. */
TEST(side_by_side)
{
	come(0, 3, 0);
	come(1, 4, 0);
	come(2, 1, 0);
	come(3, 1, 1);
	suspend(0);
	suspend(1);
	players[0].wants = players[1].wants = players[0].silent = players[1].silent = true;
	run(2 * S);
	assert_true(rows[0].state == SLEEPER_WAKING && rows[1].state == SLEEPER_WAKING);
	assert_true(rows[2].hold && rows[3].hold); /* it may begin to use that GPU */
	players[0].silent = players[1].silent = false;
	run(5 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && rows[1].state == SLEEPER_AWAKE);
	assert_false(rows[2].hold || rows[3].hold);
}

/* What another one takes by a call that is under way would not be in the reading. */
TEST(a_call_under_way)
{
	come(0, 3, 0);
	come(1, 1, 1);
	suspend(0);
	rows[1].seen.takes = players[0].wants = players[0].silent = true;
	run(5 * S);
	assert_true(rows[0].state == SLEEPER_WAITS && rows[1].hold);
	players[1].has[0] = 7 * GIB;
	rows[1].seen.takes = false;
	run(5 * S);
	assert_true(rows[0].state == SLEEPER_WAITS && rows[0].why == WHY_ROOM);
	/* one that goes on holds it up no longer than for that time */
	rows[1].seen.takes = true;
	players[1].has[0] = 0;
	run(15 * S);
	assert_int_equal(rows[0].state, SLEEPER_WAITS);
	run(10 * S);
	assert_int_equal(rows[0].state, SLEEPER_WAKING);
}

/*
 * A process that lies about its memory when it sleeps, or that no reading lists, has no more host
 * memory by that; and what an honest one takes meanwhile keeps it awake, as the order says how much
 * it may have.
 */
TEST(lies_about_memory)
{
	come(0, 2, 0);
	rows[0].seen.charged = GIB;
	suspend(0);
	rows[0].seen.charged = SLEEPERS_MOST;
	run(S);
	assert_true(rows[0].bytes == 2 * GIB && rows[0].needs[0] == 2 * GIB + SLEEPERS_SPARE);
	come(1, 0, 0);
	rows[1].seen.charged = SLEEPERS_MOST;
	rows[1].limit = GIB;
	come(2, 8, 0);
	suspend(1);
	assert_true(rows[1].bytes == 2 * GIB);
	/* since the look that chose it: a reading may be from before the client took more */
	come(3, 1, 1);
	rows[3].seen.charged = GIB;
	players[3].silent = rows[3].asked = true;
	metered = false;
	run(S);
	rows[3].seen.charged = 3 * GIB;
	metered = true;
	run(S);
	assert_true(rows[3].state == SLEEPER_GOING && rows[3].charged == GIB);
}

/* Those that wait wake in the order in which they came, and when there is room. */
TEST(a_line)
{
	come(0, 6, 0);
	suspend(0);
	come(1, 4, 0);
	suspend(1);
	come(2, 2, 1);
	suspend(2);
	come(3, 7, 0);
	players[0].wants = true;
	run(S);
	players[1].wants = players[2].wants = true;
	run(20 * S);
	/* 3 GiB are free; the second one would not fit either, the other GPU has room */
	assert_true(rows[0].state == SLEEPER_WAITS && rows[0].why == WHY_ROOM && !rows[0].ahead);
	assert_true(rows[1].state == SLEEPER_WAITS && rows[1].why == WHY_LINE &&
		    rows[1].ahead == 1);
	assert_int_equal(rows[2].state, SLEEPER_AWAKE);
	players[3].has[0] = 5 * GIB; /* now it would, and has to wait for the first one */
	run(10 * S);
	assert_int_equal(rows[1].state, SLEEPER_WAITS);
	/* exactly what it had, without something to spare, is not enough */
	players[3].has[0] = 4 * GIB;
	run(10 * S);
	assert_int_equal(rows[0].state, SLEEPER_WAITS);
	players[3].has[0] = 3 * GIB;
	grants = 0;
	run(10 * S);
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
	assert_true(grants == 1 && rows[1].why == WHY_ROOM);
	go(3);
	go(0);
	run(10 * S);
	assert_int_equal(rows[1].state, SLEEPER_AWAKE);
}

/* Who finds no room for long is passed, and keeps its place: no lie holds others up for ever. */
TEST(passed)
{
	uint32_t i;

	come(0, 6, 0);
	suspend(0);
	come(1, 2, 0);
	suspend(1);
	come(3, 7, 0);
	players[0].wants = true;
	run(S);
	players[1].wants = true;
	run(50 * S);
	assert_int_equal(rows[1].state, SLEEPER_WAITS);
	run(20 * S);
	assert_int_equal(rows[1].state, SLEEPER_AWAKE);
	/* nor by leaving the line and standing there anew */
	for (i = 0; i < 6; i++) {
		suspend(1);
		rows[0].seen.state = SLEEP_ASLEEP;
		run(S);
		players[1].wants = true;
		run(5 * S);
		assert_int_equal(rows[1].state, SLEEPER_AWAKE);
	}
	/* both would have room, one of them at once: the first one has it */
	suspend(1);
	players[1].wants = true;
	players[3].has[0] = 3 * GIB;
	run(5 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && rows[1].state == SLEEPER_WAITS);
}

/* A client that filled its GPU can wake there. */
TEST(all_of_a_gpu)
{
	come(0, 10, 0);
	suspend(0);
	players[0].wants = true;
	run(5 * S);
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
}

/* A Restore that fails has the client wait in line anew, and not try without end. */
TEST(a_wake_that_fails)
{
	come(0, 5, 0);
	suspend(0);
	players[0].wants = players[0].fails = true;
	grants = 0;
	run(60 * S);
	assert_int_equal(rows[0].state, SLEEPER_WAITS);
	assert_in_range(grants, 3, 7);
	players[0].fails = false;
	run(15 * S);
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
}

/* One that is granted, never wakes, and asks anew: others take memory nine tenths of the time. */
TEST(wakes_that_fail_late)
{
	unsigned int held = 0, i;

	come(0, 5, 0);
	come(1, 1, 0);
	suspend(0);
	players[0].wants = players[0].silent = true;
	run(S);
	for (i = 0; i < 3600; i++) {
		rows[0].seen.wishes |= now >= rows[0].ordered_ms + 59 * S;
		run(S);
		held += rows[1].hold;
	}
	assert_in_range(held, 60, 400);
	come(2, 1, 0);
	suspend(2);
	players[2].wants = true;
	run(5 * S);
	assert_int_equal(rows[2].state, SLEEPER_AWAKE);
	go(2);
	/* or one that wakes late, and sleeps and wishes at once */
	rows[0].idle_ms = S;
	for (i = held = 0; i < 3600; i++) {
		if (rows[0].state == SLEEPER_WAKING && now >= rows[0].ordered_ms + 59 * S)
			rows[0].seen.state = SLEEP_AWAKE;
		if (rows[0].state == SLEEPER_GOING) {
			rows[0].seen.state = SLEEP_WAITS;
			rows[0].seen.wishes = true;
		}
		run(S);
		held += rows[1].hold;
	}
	assert_in_range(held, 60, 900);
}

/* What one that wakes needs counts no longer than that, though another one still wakes. */
TEST(wakes_in_turn)
{
	come(0, 4, 0);
	come(1, 3, 0);
	come(2, 2, 0);
	suspend(0);
	suspend(1);
	suspend(2);
	players[0].wants = players[1].wants = players[1].silent = true;
	run(4 * S);
	players[2].wants = true;
	run(4 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && rows[1].state == SLEEPER_WAKING);
	assert_int_equal(rows[2].state, SLEEPER_AWAKE);
}

TEST(another_gpu)
{
	come(0, 5, 0);
	come(1, 8, 0);
	players[1].has[0] = 5 * GIB;
	suspend(0);
	players[1].has[0] = 8 * GIB;
	rows[0].called = true;
	rows[0].target = 3;
	run(S);
	assert_true(rows[0].state == SLEEPER_ASLEEP && rows[0].why == WHY_KIND);
	rows[0].called = true;
	rows[0].target = 9;
	run(S);
	assert_true(rows[0].state == SLEEPER_ASLEEP && rows[0].why == WHY_KIND);
	/* while it waits for room on its own GPU */
	players[0].wants = true;
	run(5 * S);
	assert_int_equal(rows[0].why, WHY_ROOM);
	rows[0].called = true;
	rows[0].target = 2;
	run(5 * S);
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
	assert_true(rows[0].from == 0 && rows[0].to == 1);
	/* with memory on two GPUs it goes nowhere */
	come(2, 1, 0);
	players[2].has[1] = GIB;
	suspend(2);
	rows[2].called = true;
	rows[2].target = 2;
	run(S);
	assert_true(rows[2].state == SLEEPER_ASLEEP && rows[2].why == WHY_SPREAD);
	/* told to go there and then to stay, it stays */
	come(3, 1, 0);
	suspend(3);
	players[2].wants = players[3].wants = true;
	players[3].silent = true;
	players[1].has[0] = 10 * GIB;
	run(S);
	rows[3].called = true;
	rows[3].target = 1;
	run(S);
	assert_false(rows[3].moves);
}

/* Three clients need twice the GPU's memory, in turns: all go on, none with work is disturbed. */
TEST(for_memory)
{
	uint32_t i, round;

	t.for_memory = true;
	for (i = 0; i < 3; i++)
		come(i, 0, 0);
	for (round = 0; round < 20; round++)
		for (i = 0; i < 3; i++) {
			players[i].wants = rows[i].seen.state != SLEEP_AWAKE;
			players[i].wants_more = players[i].has[0] ? 0 : 6 * GIB;
			run(30 * S);
			rows[i].seen.calls++;
			assert_int_equal(rows[i].state, SLEEPER_AWAKE);
			assert_true(players[i].has[0] == 6 * GIB);
			run(12 * S);
		}
	for (i = 0; i < 3; i++)
		assert_true(!players[i].not_made && players[i].wakes > 10);
	assert_true(rows[0].sleeps >= 19);
}

/* Three that come at once, and have a frame each 2.5 s. */
TEST(a_crowd)
{
	uint32_t i, round;

	t.for_memory = true;
	for (i = 0; i < 3; i++) {
		come(i, 0, 0);
		players[i].wants_more = 6 * GIB;
	}
	for (round = 0; round < 100; round++)
		for (i = 0; i < 3; i++) {
			run(800);
			players[i].wants = rows[i].seen.state != SLEEP_AWAKE;
			rows[i].seen.calls += !players[i].wants && players[i].has[0];
		}
	for (i = 0; i < 3; i++) {
		assert_int_equal(players[i].not_made, 0);
		assert_true(players[i].has[0] == 6 * GIB && players[i].wakes > 3);
	}
	/* a client that slept made room for one allocation */
	assert_int_equal(players[0].made + players[1].made + players[2].made, 2);
}

/* Whom an allocation, or a wake, may put to sleep. */
TEST(victims)
{
	t.for_memory = true;
	come(0, 4, 0);
	come(1, 4, 0);
	come(2, 5, 1);
	come(3, 1, 0);
	run(5 * S);
	rows[1].seen.calls++;
	run(20 * S);
	/* of those on its GPU, the one that is idle for longest */
	players[3].wants_more = 3 * GIB;
	run(5 * S);
	assert_int_equal(rows[0].state, SLEEPER_ASLEEP);
	assert_true(players[3].made == 1 && players[3].has[0] == 4 * GIB);
	assert_int_equal(rows[1].sleeps + rows[2].sleeps, 0);
	/* the others have work, and that does not end: no */
	rows[1].seen.works = true;
	players[3].wants_more = 3 * GIB;
	run(2 * S);
	assert_true(rows[3].seen.lacks);
	run(2 * S);
	assert_true(players[3].not_made == 1 && !rows[1].sleeps);
	/* who woke just now is left alone for 10 s, for which an allocation waits */
	rows[1].seen.works = false;
	go(1);
	players[0].wants = true;
	run(3 * S);
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
	players[3].wants_more = 6 * GIB;
	run(5 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && rows[3].seen.lacks);
	run(10 * S);
	assert_true(rows[0].state == SLEEPER_ASLEEP && players[3].has[0] == 10 * GIB);
	/* and for a longer idle-suspend, for which none waits: the wake does */
	rows[3].idle_ms = 600 * S;
	rows[3].awake_ms = now;
	players[0].wants = true;
	run(60 * S);
	assert_true(rows[0].state == SLEEPER_WAITS && rows[3].state == SLEEPER_AWAKE);
	rows[3].idle_ms = 0;
	run(5 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && rows[3].state == SLEEPER_ASLEEP);
}

/* One that does not answer its order is not waited for, and is chosen last from then on. */
TEST(slow_victims)
{
	t.for_memory = true;
	come(0, 3, 0);
	players[0].silent = true;
	run(3 * S);
	come(1, 3, 0);
	run(3 * S);
	come(2, 3, 0);
	come(3, 1, 0);
	run(20 * S);
	players[3].wants_more = 2 * GIB;
	run(20 * S);
	assert_true(rows[0].state == SLEEPER_GOING && rows[1].state == SLEEPER_ASLEEP);
	assert_true(players[3].has[0] == 3 * GIB && !rows[2].sleeps);
	/* it answers late, and that it does not sleep */
	players[0].refuses = SLEEP_BUSY;
	run(120 * S);
	assert_true(rows[0].owes && rows[0].why == WHY_LATE);
	players[0].silent = false;
	players[0].refuses = SLEEP_FINE;
	rows[0].seen.done = true;
	players[0].order_ms = 0;
	run(70 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && !rows[0].owes);
	rows[2].seen.calls++;
	run(20 * S);
	players[3].wants_more = 3 * GIB;
	run(10 * S);
	assert_true(rows[2].state == SLEEPER_ASLEEP && rows[0].state == SLEEPER_AWAKE);
}

/* Who lacks more than there can be, again and again, has others sleep less and less often. */
TEST(room_in_vain)
{
	uint32_t i, n;

	t.for_memory = true;
	for (i = 0; i < 3; i++)
		come(i, 3, 0);
	for (n = 0; n < 3600; n++) {
		players[0].wants_more = 20 * GIB;
		for (i = 1; i < 3; i++)
			players[i].wants = n % 2 && rows[i].state == SLEEPER_ASLEEP;
		run(S);
	}
	assert_in_range(rows[1].sleeps + rows[2].sleeps, 8, 180);
	/* a success ends that */
	run(600 * S);
	players[0].wants_more = 6 * GIB;
	run(20 * S);
	assert_true(players[0].has[0] == 9 * GIB);
	for (n = 0; n < 3; n++) {
		players[0].has[0] = 3 * GIB;
		players[1].wants = players[2].wants = true;
		run(20 * S);
		players[0].wants_more = 6 * GIB;
		run(20 * S);
		assert_true(players[0].has[0] == 9 * GIB);
	}
}

/* Nobody is put to sleep for a wake that would not have room by that either. */
TEST(no_vain_victims)
{
	t.for_memory = true;
	come(0, 8, 0);
	suspend(0);
	come(1, 2, 0);
	come(2, 5, 0);
	rows[2].seen.works = true;
	players[0].wants = true;
	run(60 * S);
	assert_true(rows[0].state == SLEEPER_WAITS && !rows[1].sleeps);
	rows[2].seen.works = false;
	run(10 * S);
	assert_true(rows[0].state == SLEEPER_AWAKE && rows[2].sleeps);
}

/* A process that lies: it has an answer a second at most, and whom it harms has slept 10 s ago. */
TEST(lies)
{
	unsigned int i;

	t.for_memory = true;
	come(0, 3, 0);
	come(1, 3, 0);
	run(2 * S);
	for (i = 0; i < 600; i++) { /* it lacks memory without end, and the other one has a frame */
		rows[0].seen.lacks = true;
		players[1].wants = rows[1].seen.state != SLEEP_AWAKE;
		run(STEP_MS);
	}
	assert_in_range(players[0].made + players[0].not_made, 4, 60);
	assert_in_range(rows[1].sleeps, 3, 6);
	/* it says that it sleeps, though nobody told it to; and wishes without end */
	rows[0].seen.lacks = false;
	rows[0].seen.state = SLEEP_WAITS;
	for (i = 0; i < 100; i++) {
		rows[0].seen.wishes = true;
		run(STEP_MS);
	}
	assert_int_equal(rows[0].state, SLEEPER_AWAKE);
	rows[0].seen.state = SLEEP_AWAKE;
	/* a true sleeper's wishes change nothing in the line */
	suspend(0);
	suspend(1);
	come(2, 9, 0);
	players[1].wants = true;
	run(S);
	for (i = 0; i < 100; i++) {
		rows[0].seen.state = i % 2 ? SLEEP_WAITS : SLEEP_ASLEEP;
		rows[0].seen.wishes = true;
		rows[2].seen.works = true;
		run(STEP_MS);
	}
	assert_true(rows[1].ahead == 0 && rows[1].why == WHY_ROOM);
}

/* A process that no reading lists, as in a container: its charge and a context, on GPU 0. */
TEST(not_listed)
{
	come(0, 0, 0);
	rows[0].seen.charged = 2 * GIB;
	come(1, 4, 0);
	rows[0].asked = true;
	run(5 * S);
	assert_true(rows[0].state == SLEEPER_ASLEEP && rows[0].bytes == 3 * GIB);
	rows[0].called = true;
	rows[0].target = 2;
	run(S);
	assert_int_equal(rows[0].why, WHY_SPREAD);
	/* never more than what is in use there: it could not wake */
	go(1);
	come(2, 0, 0);
	rows[2].seen.charged = 12 * GIB;
	come(3, 9, 0);
	run(2 * S);
	rows[2].asked = true;
	run(5 * S);
	assert_true(rows[2].bytes == 9 * GIB);
	go(3);
	players[2].wants = true;
	run(5 * S);
	assert_int_equal(rows[2].state, SLEEPER_AWAKE);
}

/* ------------------------------------------------------------------ whatever is said */

static uint32_t dice(uint32_t n)
{
	static uint64_t x = 1;

	x = x * 6364136223846793005ull + 1442695040888963407ull;
	return (x >> 33) % n;
}

/* processes say anything, come and go; readings come or not */
static void say_anything(void)
{
	struct sleeper *r = &rows[dice(CLIENTS)];
	uint32_t g, i;

	if (!r->present) {
		come(r - rows, 0, 0);
	} else if (!dice(60)) {
		sleepers_leave(&t, r, now);
		return;
	}
	r->seen.state = dice(3) ? r->seen.state : dice(4);
	r->seen.refusal = dice(NR_SLEEP_REFUSALS);
	r->seen.done = dice(2);
	r->seen.wishes = dice(2);
	r->seen.lacks = !dice(4);
	r->seen.works = !dice(4);
	r->seen.calls += !dice(4);
	r->seen.charged = dice(12) * GIB;
	r->idle_ms = dice(2) * 20 * S;
	r->asked |= !dice(20);
	r->called |= !dice(20);
	r->target = dice(5);
	t.blind = !dice(40);
	if (!dice(3))
		return;
	t.nr_gpus = GPUS;
	for (g = 0; g < GPUS; g++) {
		t.gpus[g].total = size_of(g);
		t.gpus[g].free = size_of(g) * dice(11) / 10;
		t.gpus[g].kind = g / 2;
		t.gpus[g].read_ms = now;
		for (i = 0; i < CLIENTS; i++)
			rows[i].uses[g] = dice(3) ? 0 : dice(9) ? dice(5) * GIB : SLEEPERS_UNKNOWN;
	}
}

static bool meet(const struct sleeper *a, const struct sleeper *b)
{
	uint32_t g;

	for (g = 0; g < GPUS; g++)
		if (a->needs[g] && b->needs[g])
			return true;
	return false;
}

/* @was: the row before the look */
static void check_order(const struct sleeper *r, const struct sleeper *was)
{
	assert_true(was->state <= SLEEPER_AWAKE && !was->owes && !r->seen.lacks);
	assert_true(sleepers_bytes(&t) <= t.memory);
	if (was->asked)
		return;
	assert_true(!r->seen.works && now >= r->frame_ms + SLEEPERS_WORK_MS);
	assert_true(!r->awake_ms || now >= r->awake_ms + SLEEPERS_HOLD_MS);
	assert_true(!was->refused_ms || now >= was->refused_ms + SLEEPERS_REFUSED_MS);
}

/* there is room for all that wake, and nobody who came before it waits */
static void check_wake(const struct sleeper *r)
{
	uint64_t needs;
	uint32_t g, i;

	for (g = 0; g < GPUS; g++) {
		for (needs = 0, i = 0; i < CLIENTS; i++)
			if (rows[i].present && rows[i].state == SLEEPER_WAKING &&
			    now <= rows[i].ordered_ms + SLEEPERS_LATE_MS)
				needs += rows[i].needs[g];
		assert_true(!r->needs[g] || needs <= t.gpus[g].free);
	}
	for (i = 0; i < CLIENTS; i++)
		if (&rows[i] != r && rows[i].present && meet(&rows[i], r) &&
		    now >= rows[i].apart_ms &&
		    (!rows[i].headed_ms || now <= rows[i].headed_ms + SLEEPERS_HEAD_MS))
			assert_false(rows[i].state == SLEEPER_WAITS && rows[i].place < r->place);
}

TEST(anything)
{
	struct sleeper was[CLIENTS];
	unsigned int n, orders = 0, wakes = 0, answers = 0;
	uint32_t i;

	t.for_memory = true;
	t.memory = 12 * GIB;
	for (n = 0; n < 300000; n++, now += dice(4) ? 50 : dice(5000)) {
		say_anything();
		memcpy(was, rows, sizeof(was));
		sleepers_look(&t, now);
		for (i = 0; i < CLIENTS; i++) {
			if (rows[i].does == SLEEPER_SUSPEND)
				check_order(&rows[i], &was[i]);
			if (rows[i].does == SLEEPER_WAKE)
				check_wake(&rows[i]);
			if (rows[i].answer)
				assert_true(now >= was[i].answered_ms + SLEEPERS_LACK_AGAIN_MS);
			orders += rows[i].does == SLEEPER_SUSPEND;
			wakes += rows[i].does == SLEEPER_WAKE;
			answers += rows[i].answer == SLEEPER_MADE;
			rows[i].does = SLEEPER_NOTHING;
			rows[i].answer = SLEEPER_NO_ANSWER;
		}
	}
	assert_true(orders > 1000 && wakes > 1000 && answers > 100);
}

TEST_MAIN(set_up, tear_down)
