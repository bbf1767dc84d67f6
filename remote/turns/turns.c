// SPDX-License-Identifier: MIT
#include "turns.h"

#include <stddef.h>

/* A client's clock counts ns * TURNS_UNIT / weight. Clocks wrap around: compare them by ahead(). */
#define TURNS_UNIT 4096ull
/* a step in time, or the GPU time that a program reports in one step, counts for so much at most */
#define STEP_MAX 10000000000ull

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int64_t ahead(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return ahead(a, b) > 0 ? a : b;
}

static uint64_t in_clock(const struct turns_client *c, uint64_t ns)
{
	return ns * TURNS_UNIT / c->weight;
}

static void charge(struct turns *t, struct turns_program *p, uint64_t ns)
{
	struct turns_client *c = &t->clients[p->client];
	uint64_t n;

	ns = least(ns, STEP_MAX);
	n = ns * TURNS_UNIT + c->rest;
	c->clock += n / c->weight;
	c->rest = n % c->weight;
	p->spent += ns;
	p->charged += ns;
}

/* -------------------------------------------------------- what has happened since the last look */

/* how many programs have work on the GPU, which is taken to divide its time evenly */
static uint32_t at_once(const struct turns *t)
{
	uint32_t i, n = 0;

	for (i = 0; i < t->nr_programs; i++)
		n += t->programs[i].present && (t->programs[i].busy || i == t->holder);
	return n ? n : 1;
}

/*
 * A program has left: charge what it measured and was not charged yet, or the time of its turn
 * since then, if that is more.
 */
static void account_last(struct turns *t, struct turns_program *p, bool has_turn)
{
	uint64_t ns = p->used - p->seen, since = t->at - t->progress;

	if (has_turn && !p->gave_back && since > ns)
		ns = since;
	if (ns && p->was_present)
		charge(t, p, ns);
	p->seen = p->used;
	p->was_present = false;
}

/*
 * Charge what was measured in turns. While turns are needed, charge work on the GPU without a turn
 * its part of the time.
 */
static void account(struct turns *t, uint64_t dt)
{
	uint64_t part = dt / at_once(t);
	uint32_t i;

	for (i = 0; i < t->nr_programs; i++) {
		struct turns_program *p = &t->programs[i];

		if (!p->present) {
			account_last(t, p, t->holder == i);
			continue;
		}
		p->was_present = true;
		if (p->used != p->seen) {
			charge(t, p, p->used - p->seen);
			if (t->holder == i) {
				t->progress = t->at;
				t->measured += least(p->used - p->seen, STEP_MAX);
			}
			p->seen = p->used;
		}
		if (p->wants && t->closed && t->holder != i)
			p->waited += dt;
		if (p->busy && !t->closed)
			p->alone += dt;
		else if (p->busy && t->holder != i)
			charge(t, p, part);
	}
}

static void look_at_clients(struct turns *t)
{
	uint32_t i;

	for (i = 0; i < t->nr_clients; i++)
		t->clients[i].wants = t->clients[i].works = false;
	for (i = 0; i < t->nr_programs; i++) {
		struct turns_program *p = &t->programs[i];

		if (!p->present)
			continue;
		t->clients[p->client].wants |= p->wants && i != t->holder;
		t->clients[p->client].works |= p->wants || p->busy || i == t->holder;
	}
	t->weights = 0;
	for (i = 0; i < t->nr_clients; i++) {
		struct turns_client *c = &t->clients[i];

		if (c->works)
			c->worked = t->at;
		if (c->worked && t->at - c->worked < TURNS_RECENT)
			t->weights += c->weight;
	}
}

static uint32_t working(const struct turns *t)
{
	uint32_t i, n = 0;

	for (i = 0; i < t->nr_clients; i++)
		n += t->clients[i].works;
	return n;
}

static bool competes(const struct turns *t, const struct turns_client *c)
{
	return c->wants ||
	       (t->holder != TURNS_NONE && c == &t->clients[t->programs[t->holder].client]);
}

/*
 * keep a client's clock in its bounds; a client that did not compete is at most TURNS_LEAD behind
 */
static void limit(const struct turns *t, struct turns_client *c)
{
	if (!c->competed || !competes(t, c))
		c->clock = later(c->clock, t->clock - in_clock(c, TURNS_LEAD));
	if (ahead(c->clock, t->clock + in_clock(c, TURNS_DEBT)) > 0)
		c->clock = t->clock + in_clock(c, TURNS_DEBT);
	c->competed = competes(t, c);
}

/* the GPU's clock follows the client furthest behind, of those that want or have the GPU */
static void settle_accounts(struct turns *t)
{
	uint64_t last = 0;
	bool any = false;
	uint32_t i;

	for (i = 0; i < t->nr_clients; i++) {
		struct turns_client *c = &t->clients[i];

		if (!c->weight)
			continue;
		limit(t, c);
		if (c->competed && (!any || ahead(c->clock, last) < 0)) {
			last = c->clock;
			any = true;
		}
	}
	if (any)
		t->clock = later(last, t->clock);
	/* the loop above, for the programs of each client among themselves */
	for (i = 0; i < t->nr_programs; i++) {
		struct turns_program *p = &t->programs[i];

		if (!p->present)
			continue;
		if (!p->competed || (!p->wants && i != t->holder))
			p->spent = later(p->spent, t->clients[p->client].floor - TURNS_LEAD);
		if (ahead(p->spent, t->clients[p->client].floor + TURNS_DEBT) > 0)
			p->spent = t->clients[p->client].floor + TURNS_DEBT;
		p->competed = p->wants || i == t->holder;
	}
}

/* end turns; all clients begin anew */
static void open_up(struct turns *t)
{
	uint32_t i;

	t->closed = false;
	t->holder = TURNS_NONE;
	for (i = 0; i < t->nr_clients; i++)
		t->clients[i].clock = t->clock;
}

/* ------------------------------------------------------------------ turns */

static bool others_want(const struct turns *t)
{
	uint32_t i;

	for (i = 0; i < t->nr_programs; i++)
		if (t->programs[i].present && t->programs[i].wants && i != t->holder)
			return true;
	return false;
}

/* the time at which others have waited for the holder for too long */
static uint64_t loses_at(const struct turns *t)
{
	uint64_t over = t->waited_for + TURNS_OVER * t->programs[t->holder].turn_ns + TURNS_LOST;
	uint64_t still = t->progress + TURNS_LOST;

	return ahead(still, over) < 0 ? still : over;
}

static void end_turn(struct turns *t, uint64_t now)
{
	struct turns_program *p;
	uint64_t ns;

	if (t->holder == TURNS_NONE)
		return;
	p = &t->programs[t->holder];
	if (p->present && !p->gave_back) {
		if (!others_want(t)) {
			t->waited_for = 0;
			return;
		}
		if (!t->waited_for) {
			t->waited_for = now;
			t->measured = 0;
		}
		if (ahead(now, loses_at(t)) < 0)
			return;
		/*
		 * charge by the clock what the holder has not measured, and TURNS_LOST at least;
		 * account() so charges its work from now on until that is done
		 */
		ns = now - t->waited_for > t->measured ? now - t->waited_for - t->measured : 0;
		charge(t, p, (ns > TURNS_LOST ? ns : TURNS_LOST) / at_once(t));
		p->lost++;
	}
	t->holder = TURNS_NONE;
}

/* the program for the next turn: of the client furthest behind, its program furthest behind */
static uint32_t choose_client(const struct turns *t)
{
	uint32_t i, best = TURNS_NONE;

	for (i = 0; i < t->nr_programs; i++) {
		const struct turns_program *p = &t->programs[i],
					   *b = &t->programs[best == TURNS_NONE ? i : best];
		int64_t d = ahead(t->clients[p->client].clock, t->clients[b->client].clock);

		if (!p->present || !p->wants)
			continue;
		if (best == TURNS_NONE || d < 0 ||
		    (!d && p->client == b->client && ahead(p->spent, b->spent) < 0))
			best = i;
	}
	return best;
}

/* GPU time by which @c is behind the next client that wants the GPU */
static uint64_t behind(const struct turns *t, const struct turns_client *c)
{
	uint64_t least_ahead = 0;
	bool any = false;
	uint32_t i;

	for (i = 0; i < t->nr_clients; i++) {
		const struct turns_client *o = &t->clients[i];
		int64_t d = ahead(o->clock, c->clock);

		if (o == c || !o->wants)
			continue;
		if (!any || d < (int64_t)least_ahead)
			least_ahead = d > 0 ? d : 0;
		any = true;
	}
	return least_ahead / TURNS_UNIT * c->weight;
}

/* A turn has the client's part of a round, and what the client has to catch up. */
static void next_turn(struct turns *t, uint64_t now)
{
	struct turns_client *c;
	struct turns_program *p;
	uint64_t ns;

	t->holder = choose_client(t);
	if (t->holder == TURNS_NONE)
		return;
	p = &t->programs[t->holder];
	c = &t->clients[p->client];
	c->floor = later(p->spent, c->floor);
	ns = TURNS_ROUND * c->weight / t->weights;
	ns = (ns < TURNS_SHORTEST ? TURNS_SHORTEST : ns) + behind(t, c);
	p->turn_ns = least(ns, TURNS_LONGEST);
	p->gave_back = false;
	p->turns++;
	t->progress = now;
	t->waited_for = others_want(t) ? now : 0;
	t->measured = 0;
	t->turn = t->turn == UINT32_MAX ? 1 : t->turn + 1;
}

static uint64_t deadline(const struct turns *t)
{
	uint64_t at = t->at + TURNS_AGAIN;
	uint32_t i;

	if (t->closed)
		return t->holder != TURNS_NONE && t->wanted ? least(at, later(loses_at(t), t->at)) :
							      at;
	for (i = 0; i < t->nr_programs; i++)
		if (t->programs[i].present && t->programs[i].busy)
			return t->at + TURNS_AGAIN_OPEN;
	return UINT64_MAX;
}

uint64_t turns_look(struct turns *t, uint64_t now)
{
	uint64_t dt = t->at && now > t->at ? least(now - t->at, STEP_MAX) : 0;

	now = now > t->at ? now : t->at;
	t->at = now;
	account(t, dt);
	end_turn(t, now);
	look_at_clients(t);
	if (working(t) >= 2) {
		t->contended = now;
		t->closed = true;
	} else if (t->closed && now - t->contended >= TURNS_CALM) {
		open_up(t);
	}
	settle_accounts(t);
	if (t->closed && t->holder == TURNS_NONE)
		next_turn(t, now);
	t->wanted = t->holder != TURNS_NONE && others_want(t);
	return deadline(t);
}
