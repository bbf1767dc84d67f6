/* SPDX-License-Identifier: MIT */
/*
 * Into pieces of which size a copy by way of a relay is cut. A piece is copied by the program,
 * sent, and copied by the GPU, each of which takes it as a whole: so of n pieces the copy takes (1
 * + 2 / n) times as long as it travels, and each piece costs something of its own. Both together
 * are least where a piece is the square root of half the copy times what crosses in that time.
 * Pure.
 */
#ifndef KVGPU_REMOTE_CLIENT_CUT_H
#define KVGPU_REMOTE_CLIENT_CUT_H

#include <stdint.h>

#include <remote/wire/frame.h>

enum { CUT_LEAST = 16 << 10 };

/*
 * @bytes of the copy; a power of two, relay->piece at most. A copy of relay->turn or less is one
 * piece: cutting it costs more.
 */
static inline uint64_t cut_piece(const struct kvgpu_remote_relayed *relay, uint64_t bytes)
{
	uint64_t piece = relay->piece;

	if (bytes <= relay->turn && bytes <= piece)
		return piece;
	/* half of it would still be nearer */
	while (piece > CUT_LEAST && piece / 2 * piece > bytes / 2 * relay->turn)
		piece /= 2;
	return piece;
}

#endif
