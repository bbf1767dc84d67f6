/* SPDX-License-Identifier: MIT */
/* copynode.c: copies as nodes of graphs; copy.c: what they share with copies */
#ifndef KVGPU_REMOTE_SERVER_COPYNODE_H
#define KVGPU_REMOTE_SERVER_COPYNODE_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

struct switches {
	struct switched *list; /* copies that differ in an executable graph from its graph */
	unsigned int nr, max;
	/* a bounce buffer was made once: a child graph may be a copy with one */
	bool bounced;
};

/* @exec has taken over other nodes: switch off again the copies that were switched off */
CUresult switched_again(struct server *s, uint64_t exec);
void switched_forget(struct server *s, uint64_t exec);
/* whether @node is a copy that is a child graph for the library, and has @part in it */
bool is_part_of(struct server *s, CUgraphNode node, CUgraphNode part);

/* An end of a box: in the arena, in the library's memory, or an array */
struct side {
	CUmemorytype type;
	uint8_t *host;
	CUdeviceptr device;
	CUarray array;
	CUcontext ctx;
	uint64_t bytes;
};
CUresult side_open(struct server *s, const uint64_t *end, const uint64_t *size, struct side *side);
CUDA_MEMCPY3D_PEER box_from_words(const uint64_t *from, const uint64_t *to, const uint64_t *size,
				  const struct side *src, const struct side *dst);
CUDA_MEMCPY3D box_without_contexts(const CUDA_MEMCPY3D_PEER *b);

#endif
