// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pacing: keeps an engine busy for as long as a stated rate asks, without using the CPU.
 *
 * An engine's time line is busy_until plus the fraction in rem: each charge moves it by units /
 * per_s seconds. The time line starts anew after the engine was idle: no job open (pacer_begin,
 * pacer_end) and nothing charged for PACER_GAP_NS. A thread can catch up PACER_LAG_NS at most, so
 * that a machine too slow for the rate does not collect credit and run in a burst later.
 */
#include "model.h"

#define NS_PER_S       1000000000ull
#define PACER_SLICE_NS 1000000ull
#define PACER_GAP_NS   250000ull
#define PACER_LAG_NS   20000000ull
/* a sleep can't be that short */
#define PACER_MIN_SLEEP_NS 20000ull

static void pacer_start(struct pacer *p, uint64_t now)
{
	uint64_t idle_from = p->busy_until > p->last ? p->busy_until : p->last;

	if (now <= p->busy_until)
		return;
	if (now > idle_from + PACER_GAP_NS) {
		p->busy_until = now;
		p->rem = 0;
	}
}

static void pacer_limit_lag(struct pacer *p, uint64_t now)
{
	if (now > p->busy_until + PACER_LAG_NS)
		p->busy_until = now - PACER_LAG_NS;
}

void pacer_begin(struct pacer *p)
{
	if (!p->per_s)
		return;
	pacer_start(p, mono_ns());
	p->open = true;
}

void pacer_end(struct pacer *p)
{
	if (!p->per_s)
		return;
	p->open = false;
	p->last = mono_ns();
}

void pacer_charge(struct pacer *p, uint64_t units, const atomic_bool *stop)
{
	unsigned __int128 cost;
	uint64_t now;

	if (!p->per_s)
		return;
	now = mono_ns();
	if (!p->open)
		pacer_start(p, now);
	pacer_limit_lag(p, now);
	cost = (unsigned __int128)units * NS_PER_S + p->rem;
	p->busy_until += (uint64_t)(cost / p->per_s);
	p->rem = (uint64_t)(cost % p->per_s);
	while (p->busy_until > now && p->busy_until - now >= PACER_MIN_SLEEP_NS &&
	       !(stop && atomic_load(stop))) {
		mono_sleep_until(p->busy_until - now > PACER_SLICE_NS ? now + PACER_SLICE_NS :
									p->busy_until);
		now = mono_ns();
	}
	p->last = now;
}
