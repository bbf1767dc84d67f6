// SPDX-License-Identifier: MIT
/*
 * Bytes are taken from the quota before the library is asked. Where the library gives more than was
 * asked, the rest is taken right after; if the quota has not so much left, the call is undone.
 * Charges are sorted by address; those of objects with a handle are with the handle.
 */
#include <stdlib.h>
#include <unistd.h>

#include "server.h"

struct charge {
	uint64_t ptr, bytes, context;
};

static uint64_t takes(uint64_t bytes)
{
	return bytes > UINT64_MAX - QUOTA_UNIT ? UINT64_MAX :
						 (bytes + QUOTA_UNIT - 1) / QUOTA_UNIT * QUOTA_UNIT;
}

uint64_t quota_limit(const struct server *s)
{
	uint64_t limit = s->counters ? __atomic_load_n(&s->counters->limit, __ATOMIC_RELAXED) : 0;

	return s->options.memory && limit ? limit : s->options.memory;
}

uint64_t quota_left(const struct server *s)
{
	const struct quota *q = &s->quota;
	uint64_t limit = quota_limit(s), used = q->charged;

	if (!limit)
		return UINT64_MAX;
	if (q->pool &&
	    __builtin_add_overflow(used, pool_others(q->pool, q->nr_programs, q->program), &used))
		return 0;
	return limit > used ? limit - used : 0;
}

/* It is said before .hold is read: the first process sees it, or this process sees .hold. */
void take_begin(struct server *s)
{
	struct sleep_shared *d = s->sleeping.words;

	while (d) {
		__atomic_store_n(&d->takes, 1, __ATOMIC_SEQ_CST);
		if (!__atomic_load_n(&d->hold, __ATOMIC_SEQ_CST))
			return;
		take_end(s);
		while (__atomic_load_n(&d->hold, __ATOMIC_RELAXED))
			usleep(SLEEP_WAKE_LOOK_US);
	}
}

void take_end(struct server *s)
{
	if (s->sleeping.words)
		__atomic_store_n(&s->sleeping.words->takes, 0, __ATOMIC_SEQ_CST);
}

void take_ends_launch(struct server *s, struct entry *e, CUresult r)
{
	take_end(s);
	e->launched |= !r && !s->captures.begun && !s->mempools.captured;
}

bool quota_take(struct server *s, uint64_t bytes)
{
	struct quota *q = &s->quota;
	uint64_t sum, limit = quota_limit(s);

	q->refused = true;
	if (__builtin_add_overflow(q->charged, takes(bytes), &sum) || (limit && sum > limit))
		return false;
	if (limit && q->pool && !pool_take(q->pool, q->nr_programs, q->program, sum, limit))
		return false;
	if (!limit && q->pool)
		pool_give(q->pool, q->program, sum); /* for frame_usage() */
	q->charged = sum;
	q->refused = false;
	return true;
}

static void set_charged(struct server *s, uint64_t charged)
{
	struct quota *q = &s->quota;

	q->charged = charged;
	if (q->pool)
		pool_give(q->pool, q->program, charged);
}

void quota_exceed(struct server *s, uint64_t bytes)
{
	set_charged(s, s->quota.charged + takes(bytes));
}

void quota_give(struct server *s, uint64_t bytes)
{
	set_charged(s, s->quota.charged - takes(bytes));
}

static unsigned int index_of(const struct server *s, uint64_t ptr)
{
	unsigned int low = 0, high = s->quota.nr_charges;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (s->quota.charges[mid].ptr < ptr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool add_charge(struct server *s, struct charge c)
{
	struct quota *q = &s->quota;
	unsigned int at, max;
	struct charge *grown;

	if (q->nr_charges == q->max_charges) {
		max = q->max_charges ? 2 * q->max_charges : 64;
		grown = realloc(q->charges, max * sizeof(*grown));
		if (!grown)
			return false;
		q->charges = grown;
		q->max_charges = max;
	}
	at = index_of(s, c.ptr);
	memmove(&q->charges[at + 1], &q->charges[at], (q->nr_charges - at) * sizeof(*q->charges));
	q->charges[at] = c;
	q->nr_charges++;
	return true;
}

bool quota_charge(struct server *s, uint64_t ptr, uint64_t bytes)
{
	if (add_charge(s, (struct charge){ ptr, takes(bytes), s->current }))
		return true;
	quota_give(s, bytes);
	return false;
}

bool quota_note(struct server *s, uint64_t ptr)
{
	return add_charge(s, (struct charge){ .ptr = ptr });
}

bool quota_find(const struct server *s, uint64_t ptr, uint64_t *bytes)
{
	unsigned int at = index_of(s, ptr);

	if (at == s->quota.nr_charges || s->quota.charges[at].ptr != ptr)
		return false;
	*bytes = s->quota.charges[at].bytes;
	return true;
}

static void remove_charge(struct server *s, unsigned int at)
{
	struct quota *q = &s->quota;

	shares_forget_memory(s, q->charges[at].ptr);
	quota_give(s, q->charges[at].bytes);
	q->nr_charges--;
	memmove(&q->charges[at], &q->charges[at + 1], (q->nr_charges - at) * sizeof(*q->charges));
}

void quota_return(struct server *s, uint64_t ptr)
{
	unsigned int at = index_of(s, ptr);

	if (at < s->quota.nr_charges && s->quota.charges[at].ptr == ptr)
		remove_charge(s, at);
}

void quota_return_context(struct server *s, uint64_t context)
{
	unsigned int i = 0;

	while (i < s->quota.nr_charges)
		if (s->quota.charges[i].context == context)
			remove_charge(s, i);
		else
			i++;
}
