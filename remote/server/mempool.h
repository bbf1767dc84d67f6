/* SPDX-License-Identifier: MIT */
/* mempool.c: memory pools, whose memory the quota counts by what they have reserved */
#ifndef KVGPU_REMOTE_SERVER_MEMPOOL_H
#define KVGPU_REMOTE_SERVER_MEMPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

struct mempools {
	struct mempool *list; /* those from which memory was taken */
	/*
	 * when the library waits pools may give back memory: some was taken or given since its last
	 * wait, or could not be given back by then
	 */
	bool changed;
	bool captured; /* a capture has had memory: an address that is not known may be a graph's */
};

/* Charge what pools have reserved now. */
void mempools_look(struct server *s);
/* The number of the pool that memory is from; 0: the client has destroyed it. */
uint64_t mempool_number(struct server *s, CUmemoryPool what);
/* The library has freed memory of whatever kind. */
void memory_is_free(struct server *s, CUdeviceptr ptr);
void mempools_free(struct server *s);

#endif
