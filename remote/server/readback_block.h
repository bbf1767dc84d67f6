/* SPDX-License-Identifier: MIT */
/* readback_block.c: pinned memory for a few bytes of an answer */
#ifndef KVGPU_REMOTE_SERVER_READBACK_BLOCK_H
#define KVGPU_REMOTE_SERVER_READBACK_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct server;

struct block;

struct readback {
	struct block *blocks;
	uint32_t mark; /* the last one of readback_mark() */
};

/*
 * Take KVGPU_REMOTE_INLINE_MAX bytes to which the GPU itself writes; NULL: there are none in this
 * context, or none now.
 */
void *readback_take(struct server *s);
void readback_put(struct server *s, void *bytes);
/*
 * Before a copy of @n bytes to @bytes, which came from readback_take(), write a mark to each word
 * there. Returns the mark; 0: copies of so many bytes, or with this library, have none.
 */
uint32_t readback_mark(struct server *s, void *bytes, uint64_t n);
/*
 * Whether all words are there in the place of the mark: then the copy is over. False: it is not, or
 * a copied word is as the mark is.
 */
bool readback_came(const void *bytes, uint64_t n, uint32_t mark);
/* the context has ended, and its pinned memory with it */
void readback_forget(struct server *s, uint64_t context);
void readback_free(struct server *s);

#endif
