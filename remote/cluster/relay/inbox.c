// SPDX-License-Identifier: MIT
/*
 * Messages that come to a tunnel. They are passed on in their order; the bytes behind a piece wait
 * until the piece has landed in the arena. The other side is not trusted: what it says is checked
 * here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "relay.h"

bool inbox_make(struct tunnel *n)
{
	unsigned int i;

	for (i = 0; i < n->link->settings->slots; i++) {
		n->in[i].bytes = aligned_alloc(4096, MESSAGE_MAX);
		if (!n->in[i].bytes ||
		    !tunnel_fine(n, MPI_Recv_init(n->in[i].bytes, MESSAGE_MAX, MPI_BYTE,
						  n->link->rank, TAG_MESSAGE + tunnel_number(n),
						  MPI_COMM_WORLD, &n->in[i].made)) ||
		    !tunnel_fine(n, MPI_Start(&n->in[i].made)))
			return false;
	}
	return true;
}

/* false: the other side must not say that */
static bool begin_pull(const struct tunnel *n, struct inbox *in)
{
	const struct settings *s = n->link->settings;

	in->pull = (struct pull){ .state = PULL_WANTED, .since_us = now_us() };
	memcpy(&in->pull.from, in->bytes + sizeof(in->head) + in->head.bytes,
	       sizeof(in->pull.from));
	return !n->link->rank && source_is_sound(&in->pull.from, s->rank, s->ranks);
}

static bool take_message(struct tunnel *n)
{
	struct inbox *in = &n->in[(n->next_in + n->nr_in) % n->link->settings->slots];
	MPI_Status status;
	int done = 0, got = 0;

	if (!tunnel_fine(n, MPI_Test(&in->made, &done, &status)) || !done)
		return false;
	if (!tunnel_fine(n, MPI_Get_count(&status, MPI_BYTE, &got)))
		return false;
	memcpy(&in->head, in->bytes, sizeof(in->head));
	if (got < (int)sizeof(in->head) ||
	    !message_is_sound(&in->head, got, n->arena ? n->arena_bytes : 0) ||
	    (in->head.kind == PIECE_APART && !bulk_has_room(&n->receive)) ||
	    (in->head.kind == PIECE_PULL && !begin_pull(n, in))) {
		link_lose(n->link, "it sends nonsense");
		return false;
	}
	n->link->heard_us = now_us();
	in->written = 0;
	in->said_bytes = in->head.kind ? parser_say(n->link->rank ? PARSER_DOWN : PARSER_UP,
						    &in->head.piece, in->said) :
					 0;
	if (in->head.kind == PIECE_APART)
		in->landed = bulk_add(&n->receive, in->head.piece.at, in->head.piece.bytes,
				      in->head.chunk);
	n->last_seen = in->head.last;
	n->nr_in++;
	return true;
}

/* whether the message's piece is in the arena, or spoilt; copies it there from the message */
static bool has_landed(struct tunnel *n, const struct inbox *in)
{
	const struct message *m = &in->head;

	if (m->kind == PIECE_HERE && in->written <= m->before)
		memcpy(n->arena + m->piece.at, in->bytes + sizeof(*m) + m->bytes, m->piece.bytes);
	if (m->kind == PIECE_PULL)
		return pull_is_over(&in->pull);
	return m->kind != PIECE_APART || n->receive.done >= in->landed;
}

static unsigned int parts_of(struct tunnel *n, struct inbox *in, struct iovec *part)
{
	const struct message *m = &in->head;
	uint8_t *bytes = in->bytes + sizeof(*m);
	const struct iovec all[] = { { bytes, m->before },
				     { in->said, in->said_bytes },
				     { bytes + m->before, m->bytes - m->before } };
	const unsigned int most = has_landed(n, in) ? 3 : 1;
	unsigned int i, nr = 0;
	size_t skip = in->written, some;

	for (i = 0; i < most; i++) {
		some = skip < all[i].iov_len ? skip : all[i].iov_len;
		skip -= some;
		if (some < all[i].iov_len)
			part[nr++] = (struct iovec){ (uint8_t *)all[i].iov_base + some,
						     all[i].iov_len - some };
	}
	return nr;
}

/* true: the message is done: written, or without a connection its piece has landed */
static bool write_some(struct tunnel *n, struct inbox *in, bool *moved)
{
	struct iovec part[3];
	struct msghdr m = { .msg_iov = part };
	ssize_t put;

	while (n->fd >= 0 && (m.msg_iovlen = parts_of(n, in, part))) {
		put = sendmsg(n->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		n->stuck = put < 0 && (errno == EAGAIN || errno == EINTR);
		if (n->stuck)
			return false;
		if (put <= 0)
			tunnel_end_local(n);
		else
			in->written += put;
		*moved = true;
	}
	return n->fd >= 0 ? in->written == in->head.bytes + in->said_bytes : has_landed(n, in);
}

/* in the broker: the first message is the server's welcome, or empty */
static bool greet_peer(struct tunnel *n, const struct inbox *in)
{
	struct kvgpu_remote_welcome w;

	if (!in->head.bytes && in->head.last)
		return true;
	memcpy(&w, in->bytes + sizeof(in->head), sizeof(w));
	return in->head.bytes == sizeof(w) && greet_give_welcome(n, &w);
}

static bool pass_message(struct tunnel *n, bool *moved)
{
	struct inbox *in = &n->in[n->next_in];

	if (n->link->rank && !n->has_welcome) {
		n->has_welcome = true;
		if (!greet_peer(n, in)) {
			link_lose(n->link, "it sends nonsense");
			return false;
		}
	} else if (!write_some(n, in, moved)) {
		return false;
	}
	if (in->head.last)
		tunnel_end_local(n);
	n->next_in = (n->next_in + 1) % n->link->settings->slots;
	n->nr_in--;
	*moved = true;
	return tunnel_fine(n, MPI_Start(&in->made));
}

/* pieces from other proxies are asked for as soon as their messages have come */
static bool pull_all(struct tunnel *n)
{
	const unsigned int slots = n->link->settings->slots;
	bool moved = false;
	struct inbox *in;
	unsigned int i;

	for (i = 0; i < n->nr_in; i++) {
		in = &n->in[(n->next_in + i) % slots];
		if (in->head.kind != PIECE_PULL || pull_is_over(&in->pull))
			continue;
		moved = pull_step(n, in) || moved;
		if (in->pull.state == PULL_SPOILT)
			parser_say_spoilt(in->said);
	}
	return moved;
}

bool inbox_go(struct tunnel *n)
{
	bool moved = false;

	while (!n->link->lost && !n->last_seen && n->nr_in < n->link->settings->slots &&
	       take_message(n))
		moved = true;
	if (n->link->lost || !tunnel_fine(n, bulk_go(&n->receive, &moved)))
		return true;
	moved = pull_all(n) || moved;
	while (!n->link->lost && n->nr_in && pass_message(n, &moved))
		;
	return moved;
}
