/* SPDX-License-Identifier: MIT */
/*
 * Connections at the bell of an endpoint, of clients that were not taken yet. A process that can
 * reach the bell may have no access to the endpoint's memory, so a ring decides nothing: the name
 * in a knock, which is in that memory, says which connection is the client's. If there is no room,
 * the source with most connections loses its oldest. One thread.
 */
#ifndef KVGPU_REMOTE_RINGERS_H
#define KVGPU_REMOTE_RINGERS_H

#include <stdbool.h>
#include <stddef.h>

#include <remote/wire/frame.h>

#include "address.h"

enum { RINGERS = 32 };

struct ringer {
	int fd;			/* -1: the entry is free */
	struct kvgpu_remote_hello hello;	/* .version is the client's name */
	size_t have;		/* bytes of .hello so far */
	struct address_source from;
	/* .until_ns: when the name has to be said, then when the knock has to come */
	uint64_t id, until_ns;
};

struct ringers {
	int listening;		/* -1: there is no bell */
	bool any;		/* any source; else only vsock from .cid */
	uint32_t cid;
	uint64_t last_id;
	struct ringer at[RINGERS];
};

/* Listen at @bell, whose CID is that of the only client, or any. 0, or -errno and *why. */
int ringers_begin(struct ringers *r, const struct address *bell, const char **why);
/* accept connections, and read names */
void ringers_hear(struct ringers *r);
/* the connection that has said @name, and is still there; NULL: none */
struct ringer *ringers_find(struct ringers *r, uint64_t name);
/* Drop connections that have ended, or are late. Call after a look for a knock. */
void ringers_end_late_ones(struct ringers *r);
bool ringers_are_there(const struct ringers *r);
void ringer_drop(struct ringer *ringer);
void ringers_drop(struct ringers *r);
/* drop all connections, and stop listening */
void ringers_end(struct ringers *r);

#endif
