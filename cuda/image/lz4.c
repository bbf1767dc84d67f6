// SPDX-License-Identifier: MIT
/*
 * LZ4's block format (lz4_Block_format.md of its authors), unpacking only: so that guests need no further library. A block is
 * sequences of a token, literals, and a match; the last sequence has no match.
 */
#include "lz4.h"

#include <string.h>

enum { MIN_MATCH = 4, LENGTH_MORE = 15, LENGTH_GOES_ON = 255 };

struct input {
	const uint8_t *at, *end;
};

static bool take_length(struct input *in, size_t *length)
{
	uint8_t byte;

	if (*length != LENGTH_MORE)
		return true;
	do {
		if (in->at == in->end || *length > SIZE_MAX / 2)
			return false;
		byte = *in->at++;
		*length += byte;
	} while (byte == LENGTH_GOES_ON);
	return true;
}

/* bytes may come from what this very match writes */
static void repeat(uint8_t *to, size_t distance, size_t length)
{
	const uint8_t *from = to - distance;

	if (distance >= length) {
		memcpy(to, from, length);
		return;
	}
	while (length--)
		*to++ = *from++;
}

bool lz4_unpack(const uint8_t *packed, size_t packed_size, uint8_t *out, size_t size)
{
	struct input in = { packed, packed + packed_size };
	size_t done = 0;

	while (in.at < in.end) {
		uint8_t token = *in.at++;
		size_t literals = token >> 4, match = token & 15, distance;

		if (!take_length(&in, &literals) || literals > (size_t)(in.end - in.at) || literals > size - done)
			return false;
		memcpy(out + done, in.at, literals);
		in.at += literals;
		done += literals;
		if (in.at == in.end)
			return done == size;
		if (in.end - in.at < 2)
			return false;
		distance = in.at[0] | in.at[1] << 8;
		in.at += 2;
		if (!take_length(&in, &match) || !distance || distance > done)
			return false;
		match += MIN_MATCH;
		if (match > size - done)
			return false;
		repeat(out + done, distance, match);
		done += match;
	}
	return false;
}
