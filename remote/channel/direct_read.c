// SPDX-License-Identifier: MIT
/*
 * Direct reads: a channel's reader puts returned bytes into the caller's memory, not into the
 * arena. One takes the bytes of one piece, once: a server that returns a piece again writes to the
 * arena. The caller does not go on while the reader writes.
 */
#include <pthread.h>

#include "carrier.h"

enum { DIRECT_READ_POSTED, DIRECT_READ_BUSY, DIRECT_READ_DONE, DIRECT_READ_BROKEN };

/* of .direct_reads of each channel, and of the state of each direct read in a list */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

void kvgpu_remote_read_post(struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d)
{
	pthread_mutex_lock(&lock);
	d->state = DIRECT_READ_POSTED;
	d->next = c->direct_reads;
	c->direct_reads = d;
	pthread_mutex_unlock(&lock);
}

struct kvgpu_remote_direct_read *direct_read_begin(struct kvgpu_remote_channel *c, uint64_t at,
						   uint64_t bytes)
{
	struct kvgpu_remote_direct_read *d;

	pthread_mutex_lock(&lock);
	for (d = c->direct_reads; d; d = d->next)
		if (d->at == at && d->bytes == bytes && d->state == DIRECT_READ_POSTED)
			break;
	if (d)
		d->state = DIRECT_READ_BUSY;
	pthread_mutex_unlock(&lock);
	return d;
}

void direct_read_end(struct kvgpu_remote_direct_read *d, bool all)
{
	pthread_mutex_lock(&lock);
	d->state = all ? DIRECT_READ_DONE : DIRECT_READ_BROKEN;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&lock);
}

bool kvgpu_remote_read_done(struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d)
{
	struct kvgpu_remote_direct_read **at;
	bool done;

	pthread_mutex_lock(&lock);
	while (d->state == DIRECT_READ_BUSY)
		pthread_cond_wait(&ended, &lock);
	for (at = &c->direct_reads; *at != d; at = &(*at)->next)
		;
	*at = d->next;
	done = d->state == DIRECT_READ_DONE;
	pthread_mutex_unlock(&lock);
	return done;
}
