// SPDX-License-Identifier: MIT
/*
 * A block is a row of sequences: a token, literals, and a match, which repeats bytes that were
 * made before. The last sequence has no match. Source: LZ4's block format description.
 */
#include "lz4.h"

#include <string.h>

enum { NIBBLE = 15, MATCH_MIN = 4 };

struct block {
	const uint8_t *at, *end; /* what is left of it */
	uint8_t *begin, *to, *full; /* what it makes */
};

/* A length of 15 in a token goes on in bytes, of which the first that is not 255 is the last. */
static bool take_length(struct block *b, size_t *length)
{
	uint8_t more;

	if (*length != NIBBLE)
		return true;
	do {
		if (b->at == b->end)
			return false;
		more = *b->at++;
		*length += more;
	} while (more == UINT8_MAX);
	return true;
}

static bool take_literals(struct block *b, size_t n)
{
	if (!take_length(b, &n) || n > (size_t)(b->end - b->at) || n > (size_t)(b->full - b->to))
		return false;
	memcpy(b->to, b->at, n);
	b->to += n;
	b->at += n;
	return true;
}

/* A match may reach into the bytes that it makes itself, which repeat: more are there to copy. */
static bool take_match(struct block *b, size_t n)
{
	const uint8_t *match;
	size_t back, piece;

	if (b->end - b->at < 2)
		return false;
	back = b->at[0] | b->at[1] << 8;
	b->at += 2;
	if (!take_length(b, &n) || !back || back > (size_t)(b->to - b->begin) ||
	    n + MATCH_MIN > (size_t)(b->full - b->to))
		return false;
	match = b->to - back;
	for (n += MATCH_MIN; n; n -= piece) {
		back = b->to - match;
		piece = n < back ? n : back;
		memcpy(b->to, match, piece);
		b->to += piece;
	}
	return true;
}

bool lz4_unpack(const uint8_t *from, size_t n, uint8_t *to, size_t bytes)
{
	struct block b = { .at = from, .end = from + n, .begin = to, .to = to, .full = to + bytes };
	uint8_t token;

	while (b.at < b.end) {
		token = *b.at++;
		if (!take_literals(&b, token >> 4))
			return false;
		if (b.at == b.end)
			return b.to == b.full;
		if (!take_match(&b, token & NIBBLE))
			return false;
	}
	return false;
}
