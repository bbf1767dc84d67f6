/* SPDX-License-Identifier: MIT */
/*
 * The size of the pieces into which a copy by way of a relay is cut. Each piece passes three steps
 * as a whole: the program copies it, it is sent, the GPU copies it. So a copy of n pieces takes
 * about (1 + 2 / n) times as long as sending alone, and each piece has a cost of its own. The sum
 * is least for pieces of sqrt(bytes / 2 * overhead) bytes; overhead: what is sent in the time that
 * one more piece costs. Pure.
 */
#ifndef KVGPU_REMOTE_CLIENT_PIECE_SIZE_H
#define KVGPU_REMOTE_CLIENT_PIECE_SIZE_H

#include <stdint.h>

#include <remote/wire/frame.h>

enum { PIECE_LEAST = 16 << 10 };

/* The size of the pieces of a copy of @bytes: relay->piece, halved as often as is better */
static inline uint64_t piece_size(const struct kvgpu_remote_relayed *relay, uint64_t bytes)
{
	uint64_t piece = relay->piece;

	if (bytes <= relay->overhead && bytes <= piece)
		return piece;
	/* half of the piece is still nearer to the best size */
	while (piece > PIECE_LEAST && piece / 2 * piece > bytes / 2 * relay->overhead)
		piece /= 2;
	return piece;
}

#endif
