// SPDX-License-Identifier: MIT
/*
 * The tunnels of a link: the bytes of each tunnel's connection go out as messages (outbox.c), and
 * messages that come become bytes (inbox.c).
 */
#include <unistd.h>

#include "relay.h"

static bool tunnel_make(struct tunnel *n)
{
	n->made = n->made || (outbox_make(n) && inbox_make(n));
	return n->made;
}

struct tunnel *tunnel_find(struct link *l)
{
	unsigned int i;

	for (i = 0; i < TUNNELS; i++)
		if (l->tunnels[i].state == TUNNEL_FREE && !l->tunnels[i].wanted)
			return &l->tunnels[i];
	return NULL;
}

/* the broker (its links have a rank) has programs, a proxy has servers */
static enum parser_way way_out(const struct tunnel *n)
{
	return n->link->rank ? PARSER_UP : PARSER_DOWN;
}

bool tunnel_open(struct tunnel *n, int fd)
{
	if (!tunnel_make(n)) {
		close(fd);
		return false;
	}
	if (n->link->used <= (unsigned int)tunnel_number(n))
		n->link->used = tunnel_number(n) + 1;
	n->state = TUNNEL_OPEN;
	n->fd = fd;
	n->parser.way = way_out(n);
	n->parser.have = n->parser.used = n->parser.left = 0;
	n->head = (struct message){ 0 };
	n->greeted = n->has_welcome = n->has_piece = n->stuck = false;
	n->ended = n->last_sent = n->last_seen = n->abandoned = false;
	return true;
}

static unsigned int tunnel_waits(struct tunnel *n, struct pollfd *p)
{
	n->poll = NULL;
	if (n->state != TUNNEL_OPEN || n->fd < 0)
		return 0;
	*p = (struct pollfd){ .fd = n->fd };
	if (n->busy_out < n->link->settings->slots && !n->has_piece)
		p->events |= POLLIN;
	if (n->stuck)
		p->events |= POLLOUT;
	if (!p->events)
		return 0;
	n->poll = p;
	return 1;
}

static bool tunnel_go(struct tunnel *n)
{
	bool moved;

	if (n->state != TUNNEL_OPEN)
		return false;
	if (n->link->lost) {
		tunnel_end_local(n);
		tunnel_let_go(n);
		return true;
	}
	moved = inbox_go(n);
	moved = outbox_go(n) || moved;
	if (n->last_sent && n->last_seen && !n->nr_in && !n->busy_out && bulk_is_idle(&n->send) &&
	    bulk_is_idle(&n->receive) && pull_is_idle(n))
		tunnel_let_go(n);
	return moved;
}

static void tunnel_hang_up(struct tunnel *n)
{
	if (n->state == TUNNEL_OPEN)
		tunnel_end_local(n);
}

/* ------------------------------------------------------------------ all of them */

unsigned int tunnels_wait(struct link *l, struct pollfd *p, bool *open)
{
	unsigned int i, n = 0;

	for (i = 0; i < l->used; i++) {
		*open = *open || l->tunnels[i].state == TUNNEL_OPEN;
		n += tunnel_waits(&l->tunnels[i], p + n);
	}
	return n;
}

bool tunnels_go(struct link *l)
{
	bool moved = false;
	unsigned int i;

	for (i = 0; i < l->used; i++)
		moved = tunnel_go(&l->tunnels[i]) || moved;
	return moved;
}

void tunnels_hang_up(struct link *l)
{
	unsigned int i;

	for (i = 0; i < l->used; i++)
		tunnel_hang_up(&l->tunnels[i]);
}

bool tunnels_are_quiet(const struct link *l)
{
	unsigned int i;

	for (i = 0; i < l->used; i++)
		if (l->tunnels[i].state != TUNNEL_FREE)
			return false;
	return true;
}
