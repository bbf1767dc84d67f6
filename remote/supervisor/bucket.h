/* SPDX-License-Identifier: MIT */
/*
 * Token buckets: how many processes may be started in a second. Pure: no clock and no lock; the
 * time is an argument, in ms, and does not go back.
 *
 * A start takes a token of its source. A start that was worth it gives half of it back. A full
 * bucket has the tokens that come in BUCKET_S seconds; it lacks so many at most. A source whose
 * bucket is full needs no row. Where there are too few rows, the source with the fullest bucket
 * loses its own.
 */
#ifndef KVGPU_REMOTE_BUCKET_H
#define KVGPU_REMOTE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/channel/address.h>

enum { BUCKETS = 256, BUCKET_S = 2 };

struct bucket {
	struct address_source of;
	uint64_t full_us; /* when the bucket is full again */
	unsigned int failed; /* for buckets_comes_again() */
};

struct buckets {
	uint64_t token_us; /* in which a token comes to each bucket */
	struct bucket row[BUCKETS];
};

/* All buckets are full. @a_second: tokens, 1 or more. */
void buckets_begin(struct buckets *b, unsigned int a_second);
/* When a process of @of may be started: 0: now; else the time. */
uint64_t buckets_wait(const struct buckets *b, struct address_source of, uint64_t now_ms);
/* a process of @of is started; it was worth it; it was not */
void buckets_take(struct buckets *b, struct address_source of, uint64_t now_ms);
void buckets_give_back(struct buckets *b, struct address_source of);
void buckets_failed(struct buckets *b, struct address_source of);
/*
 * A peer has come. True: it may be the one whose start failed, which comes again: so many peers
 * come again as starts have failed since the bucket was full last.
 */
bool buckets_comes_again(struct buckets *b, struct address_source of, uint64_t now_ms);
/* how many tokens a bucket lacks, rounded up */
unsigned int bucket_lacks(const struct buckets *b, const struct bucket *row, uint64_t now_ms);

#endif
