// SPDX-License-Identifier: MIT
/*
 * Clients by name: tenants. All programs of one name share its quota of device memory
 * (server/pool.h), its weight, its host memory (cgroup.c), and how many there may be at once.
 */
#include <string.h>
#include <unistd.h>

#include <remote/server/images.h>

#include "supervisor.h"

enum { GONE_MAX = 8 };

static struct tenant *find_tenant(struct supervisor *s, const char *who)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		if (s->tenants[i].programs && !strcmp(s->tenants[i].who, who))
			return &s->tenants[i];
	return NULL;
}

static void drop_kept(struct tenant *n)
{
	if (n->images)
		close(n->images);
	if (n->compiled)
		compiled_drop(n->compiled);
	n->images = n->compiled = 0;
}

/* The row that the name had before, or the one that has been free for longest. */
static struct tenant *free_row(struct supervisor *s, const char *who)
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

/*
 * A name by TLS is a user's, who alone hits what is kept. Peers of this machine need nothing kept:
 * an image is sent to them as fast as it is hashed.
 */
static void give_images(const struct supervisor *s, struct tenant *n)
{
	uint64_t bytes = remoted_conf_share(s->conf, n->who)->images;
	int fd;

	if (strncmp(n->who, "tls:", 4) || !bytes || n->images)
		return;
	fd = images_make(bytes);
	n->images = fd > 0 ? fd : 0;
}

static void give_compiled(const struct supervisor *s, struct tenant *n)
{
	int fd;

	if (!remoted_conf_share(s->conf, n->who)->compiled || n->compiled)
		return;
	fd = compiled_make(s->conf);
	n->compiled = fd > 0 ? fd : 0;
}

/* Of clients that have gone GONE_MAX keep something: those that left last. */
static void drop_oldest(struct supervisor *s)
{
	struct tenant *n, *oldest = NULL;
	unsigned int gone = 0;

	for (n = s->tenants; n < s->tenants + s->nr_clients; n++)
		if ((n->images || n->compiled) && !n->programs) {
			gone++;
			if (!oldest || n->left < oldest->left)
				oldest = n;
		}
	if (gone > GONE_MAX)
		drop_kept(oldest);
}

static struct tenant *make_tenant(struct supervisor *s, const char *who)
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
	if (n->anew)
		drop_kept(n);
	give_images(s, n);
	give_compiled(s, n);
	return n;
}

unsigned int tenants_programs(struct supervisor *s, const char *who)
{
	struct tenant *n = find_tenant(s, who);

	return n ? n->programs : 0;
}

bool tenants_enter(struct supervisor *s, struct client *c)
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

void tenants_leave(struct supervisor *s, struct client *c)
{
	struct tenant *n = c->tenant;

	if (!n)
		return;
	c->tenant = NULL;
	pool_clear(n->pool, c - s->clients);
	pool_unpin(n->pool, c - s->clients);
	if (--n->programs)
		return;
	pool_unmap(n->pool, s->nr_clients);
	close(n->fd);
	n->pool = NULL;
	n->fd = -1;
	n->left = ++s->tenants_left;
	drop_oldest(s);
}

void tenants_forget(struct supervisor *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_clients; i++)
		drop_kept(&s->tenants[i]);
}
