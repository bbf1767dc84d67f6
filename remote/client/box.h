/* SPDX-License-Identifier: MIT */
/* Internal header of the client: 2-D and 3-D copies, of boxes: rows and slices. */
#ifndef KVGPU_REMOTE_CLIENT_BOX_H
#define KVGPU_REMOTE_CLIENT_BOX_H

#include "client.h"

struct end {
	CUmemorytype type;
	uint8_t *host; /* address of the box's first byte */
	CUarray array; /* CU_MEMORYTYPE_ARRAY */
	struct route at; /* where calls about the end go */
	uint64_t word[END_WORDS]; /* as in a frame (frame.h) */
};

struct box {
	struct end src, dst;
	uint64_t size[3]; /* bytes of a row; rows of a slice; slices */
	uint32_t form; /* enum kvgpu_remote_form */
};

/* a part of a box that is copied in one piece */
struct part {
	uint64_t at[3], size[3];
};

/*
 * Read the program's description @c. CUDA_SUCCESS and a size of 0: there is nothing to copy, and
 * the ends' memory was not checked. @contexts: @c has a context for each end.
 */
CUresult box_open(struct route *to, struct box *b, const CUDA_MEMCPY3D_PEER *c, bool contexts);
/*
 * Whether the servers' memory has all that the box names, before the program's is read or written.
 * @to: where to ask about an address that is known nowhere.
 */
CUresult box_check(const struct route *to, const struct box *b);
/* where a row begins in the program's memory at end @e */
uint8_t *box_row(const struct end *e, uint64_t x, uint64_t y, uint64_t z);
/* copy part @p of the program's memory into one piece without gaps, and out of it */
void box_pack(const struct end *e, const struct part *p, uint8_t *to);
void box_unpack(const struct end *e, const struct part *p, const uint8_t *from);
/*
 * The words of end @e in a frame. If the end is the program's memory, part @p lies packed at
 * @arena.
 */
void box_words(const struct end *e, const struct part *p, uint64_t arena, uint64_t *w);

/* ------------------------------------------- bounce.c: the program's memory in copies of graphs */

/*
 * Make a bounce buffer for end @e, with a piece of the arena for all of its bytes, and return its
 * number; 0: there is no room or memory. *at: the piece's place. @out: the copy writes to the end.
 */
uint64_t bounce_new(struct peer *p, const struct end *e, const uint64_t *size, bool out,
		    uint64_t *at);
void bounce_free(uint64_t id);
/*
 * e: the end of bounce buffer @id. False: @p has no such bounce buffer, of that size and direction.
 */
bool bounce_get(uint64_t id, const struct peer *p, const uint64_t *size, bool out, struct end *e);
/* take the server's NOTIFY_FILL, NOTIFY_DRAIN or NOTIFY_FREE; runs on the reader of @p's channel */
void bounce_notified(struct peer *p, const struct kvgpu_remote_notification *h,
		     uint64_t invocation);

/* ------------------------------------------------------------------ copynode.c */

/* @stream captures: add the copy to its graph as a node */
CUresult box_capture(const struct route *to, struct box *b, uint64_t stream);

#endif
