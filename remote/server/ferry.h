/* SPDX-License-Identifier: MIT */
/* ferry.c: the client's memory in copies of graphs */
#ifndef KVGPU_REMOTE_SERVER_FERRY_H
#define KVGPU_REMOTE_SERVER_FERRY_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

struct ferry;
struct ferry_end {
	uint64_t id;		/* the client's number of the ferry */
	uint64_t at, bytes;	/* place and size of its piece of the arena */
	/* the client's address, pitch and height, and the box's size: only compared */
	uint64_t mine[3], size[3];
	bool out;		/* the copy writes to this end */
};

/*
 * Take a ferry for the same memory, or a new one with that number; NULL: out of memory. Give it
 * back by ferry_put(), in any thread.
 */
struct ferry *ferry_take(struct server *s, const struct ferry_end *e);
/* With the last reference the ferry ends; the client is told if ferry_kept() was called. */
void ferry_put(struct ferry *f);
struct ferry *ferry_again(struct ferry *f);
/* The ferry's number, which the client has until it is told that the ferry ends. */
uint64_t ferry_kept(struct ferry *f);
const struct ferry_end *ferry_end(const struct ferry *f);
/* @graph, and each copy of it, gets a reference to the ferry. */
CUresult ferry_hold(struct server *s, CUgraph graph, struct ferry *f);
bool ferries_live(const struct server *s);
void ferries_free(struct server *s);
/*
 * What a library has in the place of a ferry, so that it can't use one that has ended; and the
 * ferry, without a reference of its own, NULL: it has ended.
 */
void *ferry_key(const struct ferry *f);
struct ferry *ferry_of(const void *key);
/*
 * Functions of host nodes. The data of ferry_run() is a ferry's key; without the ferry it does
 * nothing. ferry_rests() is in its place while that end of the copy has no ferry, or the copy is
 * switched off.
 */
void ferry_run(void *key);
void ferry_rests(void *nothing);

#endif
