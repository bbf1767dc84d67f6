/* SPDX-License-Identifier: MIT */
/* bounce.c: the client's memory in copies of graphs */
#ifndef KVGPU_REMOTE_SERVER_BOUNCE_H
#define KVGPU_REMOTE_SERVER_BOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

struct bounce;
struct bounce_end {
	uint64_t id; /* the client's number of the bounce buffer */
	uint64_t at, bytes; /* place and size of its piece of the arena */
	/* the client's address, pitch and height, and the box's size: only compared */
	uint64_t mine[3], size[3];
	bool out; /* the copy writes to this end */
};

/*
 * Take a bounce buffer for the same memory, or a new one with that number; NULL: out of memory.
 * Give it back by bounce_put(), in any thread.
 */
struct bounce *bounce_take(struct server *s, const struct bounce_end *e);
/*
 * With the last reference the bounce buffer ends; the client is told if bounce_kept() was called.
 */
void bounce_put(struct bounce *f);
struct bounce *bounce_again(struct bounce *f);
/* The bounce buffer's number, which the client has until it is told that the bounce buffer ends. */
uint64_t bounce_kept(struct bounce *f);
const struct bounce_end *bounce_end(const struct bounce *f);
/* @graph, and each copy of it, gets a reference to the bounce buffer. */
CUresult bounce_hold(struct server *s, CUgraph graph, struct bounce *f);
bool bounces_live(const struct server *s);
void bounces_free(struct server *s);
/*
 * What a library has in the place of a bounce buffer, so that it can't use one that has ended; and
 * the bounce buffer, without a reference of its own, NULL: it has ended.
 */
void *bounce_key(const struct bounce *f);
struct bounce *bounce_of(const void *key);
/*
 * Functions of host nodes. The data of bounce_run() is a bounce buffer's key; without the bounce
 * buffer it does nothing. bounce_rests() is in its place while that end of the copy has no bounce
 * buffer, or the copy is switched off.
 */
void bounce_run(void *key);
void bounce_rests(void *nothing);

#endif
