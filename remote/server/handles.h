/* SPDX-License-Identifier: MIT */
/* Numbers for the library's objects */
#ifndef KVGPU_REMOTE_SERVER_HANDLES_H
#define KVGPU_REMOTE_SERVER_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

/* ------------------------------------------------------------------ handles.c: the table */

struct entry {
	void *what; /* NULL: the entry is free */
	uint64_t id;
	uint32_t next; /* next entry of the hash chain, or next free entry */
	uint32_t parent, child, before, after;
	uint64_t charged; /* bytes of device memory */
	uint32_t bytes; /* of a function's parameters; UINT32_MAX: not known */
	/* of a context: users besides the first; of an allocation: references besides the first */
	unsigned int attached;
	CUstream beside; /* of a context: own_stream() */
	/*
	 * graph_refs.c: of an event or a module, graphs' references; of a graph, what it refers to
	 */
	struct ref_object *ref_object;
	struct graph_ref *refs;
	struct physical *physical; /* physical.c: of an allocation */
	struct shared_event *shared; /* shares.c: of an event; NULL: it is not shared */
	/* an executable graph was updated: its copies may differ from those of its graph */
	bool updated;
	/* of a function, or of an executable graph as it is now: take_ends_launch() (quota.h) */
	bool launched;
	/*
	 * of a graph: a node has taken it over, or made it; a capture fills it, or has failed to
	 */
	bool moved, filled;
	/*
	 * s->frame.served when the entry was made, and when a node's bounce buffers were changed
	 * last
	 */
	uint64_t born, changed;
};

struct handles {
	struct entry *entries;
	uint32_t nr_entries, max_entries, free_entry;
	uint32_t *chains, nr_chains;
};

/* false: @id is no handle of that class */
bool handle_find(struct server *s, unsigned int class, uint64_t id, void **what);
/*
 * NULL: @id is no handle. The entry may move when a number is given (handle_give(), handle_room()).
 */
struct entry *handle_entry(struct server *s, uint64_t id);
/* numbers 0 and 1 are the null stream */
bool stream_find(struct server *s, uint64_t id, CUstream *stream);
/* the handle on which handle @id hangs; 0: none */
uint64_t parent_of(struct server *s, uint64_t id);
/*
 * The number of @what, a new one if it has none yet. @parent: the handle whose end also ends @what;
 * 0: none. Returns 0 if @what is NULL, or there is no room.
 */
uint64_t handle_give(struct server *s, unsigned int class, const void *what, uint64_t parent);
/* Whether there is a number for one more object. Ask before the library makes it. */
bool handle_room(struct server *s);
/* The number of @what; 0: it has none. Gives no new number. */
uint64_t handle_known(const struct server *s, unsigned int class, const void *what);
/* From now on number @id, which is in use, stands for @what. */
void handle_point(struct server *s, uint64_t id, void *what);
/*
 * Hang the handle, which hangs on none, on @parent, which is not below it: then it ends with
 * @parent.
 */
void handle_hang(struct server *s, uint64_t id, uint64_t parent);
/* Take the handle off its parent, so that it does not end with the parent. */
void handle_free(struct server *s, uint64_t id);
/*
 * Free the entry, below which no other one hangs: its number is no handle any more
 * (destroy_cascade.c).
 */
void handle_take_out(struct server *s, struct entry *e);

/* ------------------------------------------------------- destroy_cascade.c: what ends with what */

/*
 * End the handle and all handles below it, with their charges and their waits, whose frames are
 * answered with an error. The caller ends the library's objects.
 */
void handle_drop(struct server *s, uint64_t id);
/* The same for all handles below the handle; the handle itself stays, and its own waits end. */
void handle_empty(struct server *s, uint64_t id);
/* Forget the graphs of captures that go on: the library may have destroyed them */
void captures_forget(struct server *s);
/*
 * Context @id is about to end, or has ended: end what waits in it, and forget its work. Does
 * nothing if @id is no context's number.
 */
void context_leave(struct server *s, uint64_t id);

#endif
