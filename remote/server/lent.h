/* SPDX-License-Identifier: MIT */
/* lent.c: pages of the client's files as registered memory */
#ifndef KVGPU_REMOTE_SERVER_LENT_H
#define KVGPU_REMOTE_SERVER_LENT_H

#include <stdint.h>

struct server;
struct lent;

struct lents {
	struct lent *list;
	uint64_t bytes; /* of all mappings */
};

/* Context @id is about to end, or has ended: what is registered in it ends, too. */
void lents_forget(struct server *s, uint64_t id);
void lents_free(struct server *s);

#endif
