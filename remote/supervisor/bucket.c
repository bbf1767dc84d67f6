// SPDX-License-Identifier: MIT
#include "bucket.h"

#include <stddef.h>

enum { SECOND_US = 1000000, MS_US = 1000 };

void buckets_begin(struct buckets *b, unsigned int a_second)
{
	*b = (struct buckets){ .token_us = SECOND_US / a_second };
}

static struct bucket *find_bucket(const struct buckets *b, struct address_source of)
{
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		if (b->row[i].of.net == of.net && b->row[i].of.host == of.host)
			return (struct bucket *)&b->row[i];
	return NULL;
}

static struct bucket *fullest(struct buckets *b)
{
	struct bucket *row = b->row;
	unsigned int i;

	for (i = 1; i < BUCKETS; i++)
		if (b->row[i].full_us < row->full_us)
			row = &b->row[i];
	return row;
}

/* the time in which an empty bucket gets full */
static uint64_t whole_us(const struct buckets *b)
{
	return BUCKET_S * SECOND_US / b->token_us * b->token_us;
}

uint64_t buckets_wait(const struct buckets *b, struct address_source of, uint64_t now_ms)
{
	const struct bucket *row = find_bucket(b, of);
	uint64_t rest = whole_us(b) - b->token_us, at;

	at = row && row->full_us > rest ? row->full_us - rest : 0;
	return at > now_ms * MS_US ? (at + MS_US - 1) / MS_US : 0;
}

void buckets_take(struct buckets *b, struct address_source of, uint64_t now_ms)
{
	uint64_t now_us = now_ms * MS_US, most = now_us + whole_us(b);
	struct bucket *row = find_bucket(b, of) ?: fullest(b);

	if (row->full_us <= now_us || row->of.net != of.net || row->of.host != of.host)
		*row = (struct bucket){ .of = of, .full_us = now_us };
	row->full_us += b->token_us;
	row->full_us = row->full_us < most ? row->full_us : most;
}

void buckets_give_back(struct buckets *b, struct address_source of)
{
	struct bucket *row = find_bucket(b, of);

	if (row && row->full_us > b->token_us)
		row->full_us -= b->token_us / 2;
}

void buckets_failed(struct buckets *b, struct address_source of)
{
	struct bucket *row = find_bucket(b, of);

	if (row)
		row->failed++;
}

bool buckets_comes_again(struct buckets *b, struct address_source of, uint64_t now_ms)
{
	struct bucket *row = find_bucket(b, of);

	if (!row || !row->failed || row->full_us <= now_ms * MS_US)
		return false;
	row->failed--;
	return true;
}

unsigned int bucket_lacks(const struct buckets *b, const struct bucket *row, uint64_t now_ms)
{
	uint64_t now_us = now_ms * MS_US;

	return row->full_us > now_us ? (row->full_us - now_us + b->token_us - 1) / b->token_us : 0;
}
