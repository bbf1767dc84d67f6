// SPDX-License-Identifier: MIT
/*
 * Bytes are taken from the quota before the library is asked. Where the library gives more than was
 * asked, the rest is taken right after; if the quota has not so much left, the call is undone.
 * Charges are sorted by address; those of objects with a handle are with the handle.
 */
#include <stdlib.h>

#include "server.h"

struct charge {
	uint64_t ptr, bytes, context;
};

static uint64_t takes(uint64_t bytes)
{
	return bytes > UINT64_MAX - QUOTA_UNIT ? UINT64_MAX :
						 (bytes + QUOTA_UNIT - 1) / QUOTA_UNIT * QUOTA_UNIT;
}

uint64_t quota_left(const struct server *s)
{
	uint64_t limit = s->options.memory, used = s->charged;

	if (!limit)
		return UINT64_MAX;
	if (s->pool &&
	    __builtin_add_overflow(used, pool_others(s->pool, s->nr_programs, s->program), &used))
		return 0;
	return limit > used ? limit - used : 0;
}

bool quota_take(struct server *s, uint64_t bytes)
{
	uint64_t sum;

	if (__builtin_add_overflow(s->charged, takes(bytes), &sum) ||
	    (s->options.memory && sum > s->options.memory))
		return false;
	if (s->options.memory && s->pool &&
	    !pool_take(s->pool, s->nr_programs, s->program, sum, s->options.memory))
		return false;
	s->charged = sum;
	return true;
}

void quota_give(struct server *s, uint64_t bytes)
{
	s->charged -= takes(bytes);
	if (s->pool)
		pool_give(s->pool, s->program, s->charged);
}

static unsigned int place(const struct server *s, uint64_t ptr)
{
	unsigned int low = 0, high = s->nr_charges;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (s->charges[mid].ptr < ptr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool quota_charge(struct server *s, uint64_t ptr, uint64_t bytes)
{
	unsigned int at, max;
	struct charge *grown;

	if (s->nr_charges == s->max_charges) {
		max = s->max_charges ? 2 * s->max_charges : 64;
		grown = realloc(s->charges, max * sizeof(*grown));
		if (!grown) {
			quota_give(s, bytes);
			return false;
		}
		s->charges = grown;
		s->max_charges = max;
	}
	at = place(s, ptr);
	memmove(&s->charges[at + 1], &s->charges[at], (s->nr_charges - at) * sizeof(*s->charges));
	s->charges[at] = (struct charge){ ptr, takes(bytes), s->current };
	s->nr_charges++;
	return true;
}

static void remove_charge(struct server *s, unsigned int at)
{
	quota_give(s, s->charges[at].bytes);
	s->nr_charges--;
	memmove(&s->charges[at], &s->charges[at + 1], (s->nr_charges - at) * sizeof(*s->charges));
}

void quota_return(struct server *s, uint64_t ptr)
{
	unsigned int at = place(s, ptr);

	if (at < s->nr_charges && s->charges[at].ptr == ptr)
		remove_charge(s, at);
}

void quota_return_context(struct server *s, uint64_t context)
{
	unsigned int i = 0;

	while (i < s->nr_charges)
		if (s->charges[i].context == context)
			remove_charge(s, i);
		else
			i++;
}
