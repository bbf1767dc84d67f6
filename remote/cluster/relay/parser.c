// SPDX-License-Identifier: MIT
#include "parser.h"

#include <string.h>

#include <remote/channel/stream.h>

static_assert(sizeof(struct kvgpu_remote_head) + sizeof(struct kvgpu_remote_piece) <= PARSER_SAID &&
		      sizeof(struct down) <= PARSER_SAID,
	      "what is said of a piece");

static enum parser_what begin_pull(struct parser *t, const struct kvgpu_remote_head *h,
				   struct kvgpu_remote_piece *piece)
{
	struct kvgpu_remote_pull pull;

	if (h->bytes != sizeof(pull))
		return PARSER_WRONG;
	if (t->have - t->used < sizeof(*h) + sizeof(pull))
		return PARSER_NONE;
	memcpy(&pull, t->ahead + t->used + sizeof(*h), sizeof(pull));
	t->used += sizeof(*h) + sizeof(pull);
	t->source = pull.source;
	*piece = pull.piece;
	return PARSER_PULL;
}

static enum parser_what begin_up(struct parser *t, struct kvgpu_remote_piece *piece)
{
	size_t here = t->have - t->used;
	struct kvgpu_remote_head h;

	if (here < sizeof(h))
		return PARSER_NONE;
	memcpy(&h, t->ahead + t->used, sizeof(h));
	/* a relay alone says that */
	if (h.op == KVGPU_REMOTE_OP_SPOILT)
		return PARSER_WRONG;
	if (h.op == KVGPU_REMOTE_OP_PULL)
		return begin_pull(t, &h, piece);
	if (h.op != KVGPU_REMOTE_OP_PUSH) {
		t->left = sizeof(h) + h.bytes;
		return h.bytes > KVGPU_REMOTE_PAYLOAD_MAX ? PARSER_WRONG : PARSER_BYTES;
	}
	if (h.bytes != sizeof(*piece))
		return PARSER_WRONG;
	if (here < sizeof(h) + sizeof(*piece))
		return PARSER_NONE;
	memcpy(piece, t->ahead + t->used + sizeof(h), sizeof(*piece));
	t->used += sizeof(h) + sizeof(*piece);
	return PARSER_PIECE;
}

static enum parser_what begin_down(struct parser *t, struct kvgpu_remote_piece *piece)
{
	struct down d;

	if (t->have - t->used < sizeof(d))
		return PARSER_NONE;
	memcpy(&d, t->ahead + t->used, sizeof(d));
	if (d.kind != DOWN_PIECE) {
		t->left = sizeof(d) + d.bytes;
		return d.bytes > KVGPU_REMOTE_PAYLOAD_MAX ? PARSER_WRONG : PARSER_BYTES;
	}
	*piece = (struct kvgpu_remote_piece){ d.a, d.b };
	t->used += sizeof(d);
	return PARSER_PIECE;
}

enum parser_what parser_next(struct parser *t, size_t room, const uint8_t **bytes, size_t *n,
			     struct kvgpu_remote_piece *piece)
{
	enum parser_what what = PARSER_BYTES;

	if (!t->left)
		what = t->way == PARSER_UP ? begin_up(t, piece) : begin_down(t, piece);
	if (what != PARSER_BYTES)
		return what;
	*bytes = t->ahead + t->used;
	*n = t->have - t->used;
	if (*n > room)
		*n = room;
	if (*n > t->left)
		*n = t->left;
	t->used += *n;
	t->left -= *n;
	return *n ? PARSER_BYTES : PARSER_NONE;
}

uint8_t *parser_room(struct parser *t, size_t *n)
{
	memmove(t->ahead, t->ahead + t->used, t->have - t->used);
	t->have -= t->used;
	t->used = 0;
	*n = PARSER_AHEAD - t->have;
	return t->ahead + t->have;
}

size_t parser_say(enum parser_way way, const struct kvgpu_remote_piece *piece, uint8_t *to)
{
	struct kvgpu_remote_head h = { .op = KVGPU_REMOTE_OP_PUSH, .bytes = sizeof(*piece) };
	struct down d = { .kind = DOWN_PIECE, .a = piece->at, .b = piece->bytes };

	if (way == PARSER_DOWN) {
		memcpy(to, &d, sizeof(d));
		return sizeof(d);
	}
	memcpy(to, &h, sizeof(h));
	memcpy(to + sizeof(h), piece, sizeof(*piece));
	return sizeof(h) + sizeof(*piece);
}

void parser_say_spoilt(uint8_t *said)
{
	struct kvgpu_remote_head h;

	memcpy(&h, said, sizeof(h));
	h.op = KVGPU_REMOTE_OP_SPOILT;
	memcpy(said, &h, sizeof(h));
}
