// SPDX-License-Identifier: MIT
/*
 * The lanes of a link: the bytes of each lane's connection go out as messages (outbox.c), and
 * messages that come become bytes (inbox.c).
 */
#include <unistd.h>

#include "relay.h"

static bool lane_make(struct lane *n)
{
	n->made = n->made || (outbox_make(n) && inbox_make(n));
	return n->made;
}

struct lane *lane_find(struct link *l)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		if (l->lanes[i].state == LANE_FREE && !l->lanes[i].wanted)
			return &l->lanes[i];
	return NULL;
}

/* the broker (its links have a rank) has programs, a proxy has servers */
static enum tap_way way_out(const struct lane *n)
{
	return n->link->rank ? TAP_UP : TAP_DOWN;
}

bool lane_open(struct lane *n, int fd)
{
	if (!lane_make(n)) {
		close(fd);
		return false;
	}
	if (n->link->used <= (unsigned int)lane_number(n))
		n->link->used = lane_number(n) + 1;
	n->state = LANE_OPEN;
	n->fd = fd;
	n->tap.way = way_out(n);
	n->tap.have = n->tap.used = n->tap.left = 0;
	n->head = (struct message){ 0 };
	n->greeted = n->has_welcome = n->has_piece = n->stuck = n->ended = n->last_sent =
		n->last_seen = n->abandoned = false;
	return true;
}

static unsigned int lane_waits(struct lane *n, struct pollfd *p)
{
	n->poll = NULL;
	if (n->state != LANE_OPEN || n->fd < 0)
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

static bool lane_go(struct lane *n)
{
	bool moved;

	if (n->state != LANE_OPEN)
		return false;
	if (n->link->lost) {
		lane_end_local(n);
		lane_let_go(n);
		return true;
	}
	moved = inbox_go(n);
	moved = outbox_go(n) || moved;
	if (n->last_sent && n->last_seen && !n->nr_in && !n->busy_out && bulk_is_idle(&n->send) &&
	    bulk_is_idle(&n->receive) && pull_is_idle(n))
		lane_let_go(n);
	return moved;
}

static void lane_hang_up(struct lane *n)
{
	if (n->state == LANE_OPEN)
		lane_end_local(n);
}

/* ------------------------------------------------------------------ all of them */

unsigned int lanes_wait(struct link *l, struct pollfd *p, bool *open)
{
	unsigned int i, n = 0;

	for (i = 0; i < l->used; i++) {
		*open = *open || l->lanes[i].state == LANE_OPEN;
		n += lane_waits(&l->lanes[i], p + n);
	}
	return n;
}

bool lanes_go(struct link *l)
{
	bool moved = false;
	unsigned int i;

	for (i = 0; i < l->used; i++)
		moved = lane_go(&l->lanes[i]) || moved;
	return moved;
}

void lanes_hang_up(struct link *l)
{
	unsigned int i;

	for (i = 0; i < l->used; i++)
		lane_hang_up(&l->lanes[i]);
}

bool lanes_are_quiet(const struct link *l)
{
	unsigned int i;

	for (i = 0; i < l->used; i++)
		if (l->lanes[i].state != LANE_FREE)
			return false;
	return true;
}
