// SPDX-License-Identifier: MIT
/*
 * Clients by name: tenants. All programs of one name share its quota of device memory
 * (server/pool.h), its weight, its host memory (cgroup.c), and how many there may be at once.
 */
#include <string.h>
#include <unistd.h>

#include "starter.h"

static struct tenant *find_tenant(struct starter *s, const char *who)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->tenants[i].programs && !strcmp(s->tenants[i].who, who))
			return &s->tenants[i];
	return NULL;
}

/* The row that the name had before, or the one that has been free for longest. */
static struct tenant *free_row(struct starter *s, const char *who)
{
	struct tenant *n, *best = NULL;

	for (n = s->tenants; n < s->tenants + s->nr_clients; n++) {
		if (n->programs)
			continue;
		if (!strcmp(n->who, who))
			return n;
		if (!best || n->left < best->left)
			best = n;
	}
	return best;
}

static struct tenant *make_tenant(struct starter *s, const char *who)
{
	struct tenant *n = free_row(s, who);
	int fd = pool_make(s->nr_clients);

	if (fd < 0)
		return NULL;
	n->pool = pool_map(fd, s->nr_clients);
	if (!n->pool) {
		close(fd);
		return NULL;
	}
	pool_keep(n->pool, s->nr_clients);
	n->fd = fd;
	n->anew = strcmp(n->who, who);
	strcpy(n->who, who);
	return n;
}

unsigned int tenants_programs(struct starter *s, const char *who)
{
	struct tenant *n = find_tenant(s, who);

	return n ? n->programs : 0;
}

bool tenants_enter(struct starter *s, struct client *c)
{
	struct tenant *n = find_tenant(s, c->who);

	if (!n)
		n = make_tenant(s, c->who);
	if (!n)
		return false;
	n->programs++;
	c->tenant = n;
	return true;
}

void tenants_leave(struct starter *s, struct client *c)
{
	struct tenant *n = c->tenant;

	if (!n)
		return;
	c->tenant = NULL;
	pool_clear(n->pool, c - s->clients);
	if (--n->programs)
		return;
	pool_unmap(n->pool, s->nr_clients);
	close(n->fd);
	n->pool = NULL;
	n->fd = -1;
	n->left = ++s->tenants_left;
}
