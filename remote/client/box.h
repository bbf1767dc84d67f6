/* SPDX-License-Identifier: MIT */
/*
 * Copies of several lines and slices, inside of the client: what a program's description of one
 * becomes (box.c).
 */
#ifndef KVGPU_REMOTE_CLIENT_BOX_H
#define KVGPU_REMOTE_CLIENT_BOX_H

#include "client.h"

struct end {
	CUmemorytype type;
	uint8_t *host;		/* of the box's first byte */
	struct route at;	/* its server, of several */
	uint64_t word[END_WORDS];
};

struct box {
	struct end src, dst;
	uint64_t size[3];	/* bytes of a line, lines, slices */
	uint32_t form;
};

/* of a box, in one piece */
struct part {
	uint64_t at[3], size[3];
};

/*
 * CUDA_SUCCESS and a size of 0: there is nothing to copy, and nothing was looked at. @contexts: of
 * each end, too
 */
CUresult box_open(struct route *to, struct box *b, const CUDA_MEMCPY3D_PEER *c, bool contexts);
/* the program's memory, into one piece and out of it */
void box_pack(const struct end *e, const struct part *p, uint8_t *to);
void box_unpack(const struct end *e, const struct part *p, const uint8_t *from);
/* an end's words in a frame; of the program's memory that part is at @arena, packed */
void box_words(const struct end *e, const struct part *p, uint64_t arena, uint64_t *w);

/* -------------------------------------------- ferry.c: the program's memory in copies of graphs */

/*
 * A number for an end, with a piece of the arena for all of its bytes; 0: there is no room. @out:
 * copied to
 */
uint64_t ferry_new(struct peer *p, const struct end *e, const uint64_t *size, bool out,
		   uint64_t *at);
void ferry_free(uint64_t id);
bool ferry_get(uint64_t id, struct end *e);
/* on a thread of the channel's: the server's EVENT_FILL, EVENT_DRAIN, EVENT_FREE */
void ferry_happened(struct peer *p, const struct kvgpu_remote_happening *h, uint64_t invocation);

/* ------------------------------------------------------------------ copynode.c */

/* what a stream that captures would do is a node of its graph */
CUresult box_capture(const struct route *to, struct box *b, uint64_t stream);

#endif
