// SPDX-License-Identifier: MIT
/*
 * Landings: where a channel's reader puts returned bytes, if not in the arena. A landing takes the
 * bytes of one piece, once: a server that returns a piece again writes to the arena. The caller
 * does not go on while the reader writes.
 */
#include <pthread.h>

#include "carrier.h"

enum { LANDING_AWAITED, LANDING_BUSY, LANDING_DONE, LANDING_BROKEN };

/* of .landings of each channel, and of the state of each landing in a list */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

void kvgpu_remote_land(struct kvgpu_remote_channel *c, struct kvgpu_remote_landing *l)
{
	pthread_mutex_lock(&lock);
	l->state = LANDING_AWAITED;
	l->next = c->landings;
	c->landings = l;
	pthread_mutex_unlock(&lock);
}

struct kvgpu_remote_landing *landing_begin(struct kvgpu_remote_channel *c, uint64_t at,
					   uint64_t bytes)
{
	struct kvgpu_remote_landing *l;

	pthread_mutex_lock(&lock);
	for (l = c->landings; l; l = l->next)
		if (l->at == at && l->bytes == bytes && l->state == LANDING_AWAITED)
			break;
	if (l)
		l->state = LANDING_BUSY;
	pthread_mutex_unlock(&lock);
	return l;
}

void landing_end(struct kvgpu_remote_landing *l, bool all)
{
	pthread_mutex_lock(&lock);
	l->state = all ? LANDING_DONE : LANDING_BROKEN;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&lock);
}

bool kvgpu_remote_landed(struct kvgpu_remote_channel *c, struct kvgpu_remote_landing *l)
{
	struct kvgpu_remote_landing **at;
	bool done;

	pthread_mutex_lock(&lock);
	while (l->state == LANDING_BUSY)
		pthread_cond_wait(&ended, &lock);
	for (at = &c->landings; *at != l; at = &(*at)->next)
		;
	*at = l->next;
	done = l->state == LANDING_DONE;
	pthread_mutex_unlock(&lock);
	return done;
}
