// SPDX-License-Identifier: MIT
/*
 * A lane: bytes of a local connection go out as messages, messages come in as bytes. Its buffers
 * and requests are made when it is used first and live as long as the process. A small message is
 * sent eagerly, a large one, and one in so many small ones, by a synchronous send, which is over
 * when the other side has begun to take it: so what is under way has a bound.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay.h"

static int tag_of(const struct lane *n)
{
	return 1 + (int)(n - n->link->lanes);
}

static bool fine(struct lane *n, int r)
{
	if (r != MPI_SUCCESS)
		link_lose(n->link, "MPI can't reach it");
	return r == MPI_SUCCESS;
}

static bool begin_receive(struct lane *n, unsigned int i)
{
	n->in[i].active = &n->in[i].made[0];
	return fine(n, MPI_Start(n->in[i].active));
}

static bool make(struct lane *n)
{
	const struct settings *s = n->link->settings;
	unsigned int i, k;

	if (n->made)
		return true;
	for (i = 0; i < s->slots; i++) {
		n->out[i].bytes = aligned_alloc(4096, s->staging);
		n->in[i].bytes = aligned_alloc(4096, s->staging);
		if (!n->out[i].bytes || !n->in[i].bytes)
			return false;
		for (k = 0; k < CUT_CLASSES; k++)
			n->out[i].made[k] = MPI_REQUEST_NULL;
		if (!fine(n, MPI_Recv_init(n->in[i].bytes, s->staging, MPI_BYTE, n->link->rank,
					   tag_of(n), MPI_COMM_WORLD, &n->in[i].made[0])) ||
		    !begin_receive(n, i))
			return false;
	}
	n->made = true;
	return true;
}

struct lane *lane_find(struct link *l)
{
	unsigned int i;

	for (i = 0; i < LANES; i++)
		if (l->lanes[i].state == LANE_FREE && !l->lanes[i].wanted)
			return &l->lanes[i];
	return NULL;
}

bool lane_open(struct lane *n, int fd)
{
	if (!make(n)) {
		close(fd);
		return false;
	}
	n->state = LANE_OPEN;
	n->fd = fd;
	n->reading = 0;
	n->holding = n->ended = n->last_sent = n->last_seen = false;
	return true;
}

static void end_local(struct lane *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
	n->ended = true;
}

/* ------------------------------------------------------------------ out */

static bool begin_send(struct lane *n, unsigned int i, size_t bytes)
{
	const struct settings *s = n->link->settings;
	unsigned int class = cut_class(bytes);
	size_t size = cut_bytes(class) < s->staging ? cut_bytes(class) : s->staging;
	MPI_Request *made = &n->out[i].made[class];
	bool eager = bytes <= s->eager && i + 1 < s->slots;

	if (*made == MPI_REQUEST_NULL &&
	    !fine(n, (eager ? MPI_Send_init : MPI_Ssend_init)(n->out[i].bytes, size, MPI_BYTE,
							      n->link->rank, tag_of(n),
							      MPI_COMM_WORLD, made)))
		return false;
	n->out[i].active = made;
	n->busy_out++;
	return fine(n, MPI_Start(made));
}

static bool reap(struct lane *n)
{
	bool moved = false;
	int done = 1;

	while (n->busy_out && !n->link->lost) {
		if (!fine(n, MPI_Test(n->out[n->first_out].active, &done, MPI_STATUS_IGNORE)) ||
		    !done)
			break;
		n->first_out = (n->first_out + 1) % n->link->settings->slots;
		n->busy_out--;
		moved = true;
	}
	return moved;
}

static bool send_slot(struct lane *n, unsigned int i, bool last)
{
	struct piece head = { n->reading, last };

	memcpy(n->out[i].bytes, &head, sizeof(head));
	n->reading = 0;
	return begin_send(n, i, sizeof(head) + head.bytes);
}

/* reads until the slot is full or nothing is there; false: the connection has ended */
static bool read_some(struct lane *n, uint8_t *to, size_t room, bool *dry)
{
	ssize_t got;

	*dry = false;
	while (n->reading < room && !*dry) {
		got = recv(n->fd, to + n->reading, room - n->reading, MSG_DONTWAIT);
		if (got > 0)
			n->reading += got;
		else if (got < 0 && (errno == EAGAIN || errno == EINTR))
			*dry = true;
		else
			return false;
	}
	return true;
}

static bool go_out(struct lane *n)
{
	const struct settings *s = n->link->settings;
	bool dry = true, moved = reap(n),
	     readable = n->poll && n->poll->revents & (POLLIN | POLLHUP | POLLERR);
	size_t room = s->staging - sizeof(struct piece);
	unsigned int i;

	while (n->busy_out < s->slots && !n->last_sent && !n->link->lost) {
		i = (n->first_out + n->busy_out) % s->slots;
		if (readable && !n->ended &&
		    !read_some(n, n->out[i].bytes + sizeof(struct piece), room, &dry))
			end_local(n);
		if (n->ended) {
			n->last_sent = true;
			return send_slot(n, i, true);
		}
		if (!cut_goes(n->reading, room, dry, n->busy_out, s->slots))
			break;
		moved = send_slot(n, i, false) || moved;
		readable = readable && !dry;
	}
	return moved;
}

/* ------------------------------------------------------------------ in */

/* false: nothing has come */
static bool take(struct lane *n)
{
	struct slot *slot = &n->in[n->next_in];
	struct piece head;
	int done = 0;

	if (!fine(n, MPI_Test(slot->active, &done, MPI_STATUS_IGNORE)) || !done)
		return false;
	memcpy(&head, slot->bytes, sizeof(head));
	if (head.bytes > n->link->settings->staging - sizeof(head)) {
		link_lose(n->link, "it sends nonsense");
		return false;
	}
	n->link->heard_us = now_us();
	n->holding = true;
	n->holds = head.bytes;
	n->written = 0;
	n->last_seen = head.last;
	return true;
}

static bool write_some(struct lane *n)
{
	const uint8_t *bytes = n->in[n->next_in].bytes + sizeof(struct piece);
	ssize_t put;
	bool moved = false;

	while (n->written < n->holds && n->fd >= 0) {
		put = send(n->fd, bytes + n->written, n->holds - n->written,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put < 0 && (errno == EAGAIN || errno == EINTR))
			return moved;
		if (put <= 0)
			end_local(n);
		else
			n->written += put;
		moved = true;
	}
	n->written = n->holds;
	return moved;
}

static bool go_in(struct lane *n)
{
	bool moved = false;

	while (!n->link->lost && (n->holding || (!n->last_seen && take(n)))) {
		moved = write_some(n) || moved;
		if (n->written < n->holds)
			break;
		n->holding = false;
		if (!begin_receive(n, n->next_in))
			break;
		n->next_in = (n->next_in + 1) % n->link->settings->slots;
		if (n->last_seen)
			end_local(n);
		moved = true;
	}
	return moved;
}

unsigned int lane_waits(struct lane *n, struct pollfd *p)
{
	n->poll = NULL;
	if (n->state != LANE_OPEN || n->fd < 0)
		return 0;
	*p = (struct pollfd){ .fd = n->fd };
	if (n->busy_out < n->link->settings->slots)
		p->events |= POLLIN;
	if (n->holding)
		p->events |= POLLOUT;
	if (!p->events)
		return 0;
	n->poll = p;
	return 1;
}

bool lane_go(struct lane *n)
{
	bool moved;

	if (n->state != LANE_OPEN)
		return false;
	if (n->link->lost) {
		end_local(n);
		n->state = LANE_FREE;
		return true;
	}
	moved = go_in(n);
	moved = go_out(n) || moved;
	if (n->last_sent && n->last_seen && !n->holding && !n->busy_out)
		n->state = LANE_FREE;
	return moved;
}

void lane_hang_up(struct lane *n)
{
	if (n->state == LANE_OPEN)
		end_local(n);
}
