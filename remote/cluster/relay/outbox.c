// SPDX-License-Identifier: MIT
/*
 * From the local connection to MPI: its bytes go out as messages. A piece of the arena that the
 * connection names goes inside of a message if it is small, else in messages of its own, which are
 * sent from the arena without a copy (bulk.c). A small message is sent eagerly. A large one, and a
 * small one in the last slot, is sent by a synchronous send: so the messages under way have a
 * bound.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <remote/wire/cursor.h>

#include "relay.h"

bool outbox_make(struct tunnel *n)
{
	unsigned int i, k;

	for (i = 0; i < n->link->settings->slots; i++) {
		n->out[i].bytes = aligned_alloc(4096, MESSAGE_MAX);
		if (!n->out[i].bytes)
			return false;
		for (k = 0; k < CUT_CLASSES; k++)
			n->out[i].made[k] = MPI_REQUEST_NULL;
	}
	return true;
}

static bool begin_send(struct tunnel *n, unsigned int i, size_t bytes)
{
	unsigned int class = cut_class(bytes);
	MPI_Request *made = &n->out[i].made[class];
	bool eager = cut_bytes(class) <= n->link->eager && i + 1 < n->link->settings->slots;
	typeof(&MPI_Send_init) init = eager ? MPI_Send_init : MPI_Ssend_init;

	if (*made == MPI_REQUEST_NULL &&
	    !tunnel_fine(n, init(n->out[i].bytes, cut_bytes(class), MPI_BYTE, n->link->rank,
				 TAG_MESSAGE + tunnel_number(n), MPI_COMM_WORLD, made)))
		return false;
	n->out[i].active = made;
	n->busy_out++;
	return tunnel_fine(n, MPI_Start(made));
}

static bool reap_sends(struct tunnel *n)
{
	bool moved = false;
	int done = 1;

	while (n->busy_out && !n->link->lost) {
		if (!tunnel_fine(n,
				 MPI_Test(n->out[n->first_out].active, &done, MPI_STATUS_IGNORE)) ||
		    !done)
			break;
		n->first_out = (n->first_out + 1) % n->link->settings->slots;
		n->busy_out--;
		moved = true;
	}
	return moved;
}

static bool send_message(struct tunnel *n, unsigned int i, bool last)
{
	struct message head = n->head;
	const size_t bytes = sizeof(head) + head.bytes + message_tail(&head);
	uint8_t *to = n->out[i].bytes;

	head.last = last;
	memcpy(to, &head, sizeof(head));
	if (head.kind == PIECE_HERE)
		memcpy(to + sizeof(head) + head.bytes, n->arena + head.piece.at, head.piece.bytes);
	else if (head.kind == PIECE_PULL)
		memcpy(to + sizeof(head) + head.bytes, &n->head_source, sizeof(n->head_source));
	n->head = (struct message){ 0 };
	n->link->counts.messages++;
	n->link->counts.inside += head.kind == PIECE_HERE;
	n->link->counts.apart += head.kind == PIECE_APART;
	n->link->counts.bytes +=
		cut_bytes(cut_class(bytes)) + (head.kind == PIECE_APART ? head.piece.bytes : 0);
	if (!begin_send(n, i, bytes))
		return false;
	if (head.kind == PIECE_APART)
		bulk_add(&n->send, head.piece.at, head.piece.bytes, head.chunk);
	return true;
}

/* false: the message has to be sent first, or too many pieces are under way */
static bool place_piece(struct tunnel *n)
{
	struct message *m = &n->head;
	bool inside = !n->is_pull && n->piece.bytes <= n->link->eager;
	uint64_t tail = n->is_pull ? sizeof(n->source) : inside ? n->piece.bytes : 0;

	if (m->kind || m->bytes + tail > MESSAGE_ROOM ||
	    (!inside && !n->is_pull && !bulk_has_room(&n->send)))
		return false;
	m->kind = n->is_pull ? PIECE_PULL : inside ? PIECE_HERE : PIECE_APART;
	m->before = m->bytes;
	m->piece = n->piece;
	n->head_source = n->source;
	m->chunk = n->link->settings->staging;
	n->has_piece = false;
	return true;
}

enum fill { FILL_FULL, FILL_DRY, FILL_ENDED };

static bool take_piece(struct tunnel *n, bool is_pull)
{
	const struct settings *s = n->link->settings;

	if (!n->arena || !kvgpu_remote_in_arena(n->piece.at, n->piece.bytes, n->arena_bytes))
		return false;
	n->has_piece = n->piece.bytes;
	n->is_pull = is_pull;
	n->source = n->parser.source;
	return !is_pull || (pull_is_sound(&n->piece, n->arena_bytes) &&
			    source_is_sound(&n->source, n->link->rank, s->ranks));
}

static enum fill take_apart(struct tunnel *n, uint8_t *to)
{
	const uint8_t *bytes;
	enum parser_what what;
	size_t k, room;

	for (;;) {
		if (n->has_piece && !place_piece(n))
			return FILL_FULL;
		room = MESSAGE_ROOM - n->head.bytes - message_tail(&n->head);
		what = parser_next(&n->parser, room, &bytes, &k, &n->piece);
		switch (what) {
		case PARSER_BYTES:
			memcpy(to + n->head.bytes, bytes, k);
			n->head.bytes += k;
			break;
		case PARSER_PIECE:
		case PARSER_PULL:
			if (!take_piece(n, what == PARSER_PULL))
				return FILL_ENDED;
			break;
		case PARSER_WRONG:
			return FILL_ENDED;
		case PARSER_NONE:
			return room ? FILL_DRY : FILL_FULL;
		}
	}
}

static enum fill fill_welcome(struct tunnel *n, uint8_t *to)
{
	int got = greet_take_welcome(n, (struct kvgpu_remote_welcome *)to);

	if (got > 0) {
		n->head.bytes = got;
		n->greeted = true;
	}
	return got > 0 ? FILL_FULL : got ? FILL_ENDED : FILL_DRY;
}

static enum fill fill_message(struct tunnel *n, uint8_t *to, bool readable)
{
	enum fill f = FILL_ENDED;
	size_t room;
	uint8_t *at;
	ssize_t got;

	if (!n->link->rank && !n->greeted)
		return readable && !n->ended ? fill_welcome(n, to) :
		       n->ended		     ? FILL_ENDED :
					       FILL_DRY;
	while (!n->ended && (f = take_apart(n, to)) == FILL_DRY && readable) {
		at = parser_room(&n->parser, &room);
		got = recv(n->fd, at, room, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return FILL_DRY;
		if (got <= 0)
			return FILL_ENDED;
		n->parser.have += got;
		if (n->link->rank && !n->greeted && !greet_hello(n))
			return FILL_ENDED;
	}
	return f;
}

bool outbox_go(struct tunnel *n)
{
	bool moved = reap_sends(n),
	     readable = n->poll && n->poll->revents & (POLLIN | POLLHUP | POLLERR);
	const unsigned int slots = n->link->settings->slots;
	enum fill f = FILL_FULL;
	unsigned int i;

	if (!tunnel_fine(n, bulk_go(&n->send, &moved)))
		return true;
	while (f == FILL_FULL && n->busy_out < slots && !n->last_sent && !n->link->lost) {
		i = (n->first_out + n->busy_out) % slots;
		f = fill_message(n, n->out[i].bytes + sizeof(struct message), readable);
		if (f == FILL_ENDED) {
			tunnel_end_local(n);
			n->last_sent = true;
			moved = send_message(n, i, true);
		} else if (n->head.kind ||
			   cut_goes(n->head.bytes, f == FILL_FULL ? n->head.bytes : MESSAGE_ROOM,
				    f == FILL_DRY, n->busy_out, slots)) {
			moved = send_message(n, i, false) || moved;
		} else {
			break;
		}
	}
	return tunnel_fine(n, bulk_go(&n->send, &moved)) && moved;
}
