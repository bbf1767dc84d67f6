/* SPDX-License-Identifier: MIT */
/* physical.c: memory that cuMemCreate() makes, and where it is mapped */
#ifndef KVGPU_REMOTE_SERVER_PHYSICAL_H
#define KVGPU_REMOTE_SERVER_PHYSICAL_H

#include <stdint.h>

struct server;

/* one allocation: it ends, with its charge, when no number and no mapping has it */
struct physical {
	struct physical *next;
	uint64_t bytes;
	unsigned int refs; /* numbers and mappings */
};

struct mapping {
	uint64_t ptr, bytes;
	struct physical *of;
};

struct physicals {
	struct physical *list;
	struct mapping *mappings; /* sorted by address */
	unsigned int nr_mappings, max_mappings;
};

void physicals_free(struct server *s);

#endif
