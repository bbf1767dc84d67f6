/* SPDX-License-Identifier: MIT */
/*
 * Who has rung the bell of a place, and not been taken yet. Who can reach a bell may have no part
 * in the memory behind it, so a ring decides nothing: the name in a knock, which is in that memory,
 * says whose bell it is. Meanwhile all are kept, and a source that rings often loses its own rings.
 * One thread.
 */
#ifndef KVGPU_REMOTE_RINGERS_H
#define KVGPU_REMOTE_RINGERS_H

#include <stdbool.h>
#include <stddef.h>

#include <remote/wire/frame.h>

#include "address.h"

enum { RINGERS = 32 };

struct ringer {
	int fd;			/* -1: none */
	struct kvgpu_remote_hello hello;	/* its version is the name */
	size_t have;		/* bytes of it */
	struct address_source from;
	uint64_t id, until_ns;	/* it has to have said its name, then to knock */
};

struct ringers {
	int listening;		/* -1: there is no bell */
	bool any;		/* whoever comes; else by vsock from @cid alone */
	uint32_t cid;
	uint64_t last_id;
	struct ringer at[RINGERS];
};

/* @bell: where the server listens; its CID is the client's. 0, or -errno and *why */
int ringers_begin(struct ringers *r, const struct address *bell, const char **why);
/* takes in who has come, and reads names */
void ringers_hear(struct ringers *r);
/* has said that name, and is there; NULL: none */
struct ringer *ringers_find(struct ringers *r, uint64_t name);
/*
 * those that are gone, or late. After a look for a knock: one that was not looked at in time is not
 * late
 */
void ringers_end_late_ones(struct ringers *r);
bool ringers_are_there(const struct ringers *r);
void ringer_drop(struct ringer *ringer);
void ringers_drop(struct ringers *r);
/* and what it listens at */
void ringers_end(struct ringers *r);

#endif
