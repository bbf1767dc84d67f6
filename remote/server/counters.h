/* SPDX-License-Identifier: MIT */
/*
 * Counters of a client's process: its serving thread writes all but .limit, another process may
 * read them at any moment.
 */
#ifndef KVGPU_REMOTE_COUNTERS_H
#define KVGPU_REMOTE_COUNTERS_H

#include <stdint.h>

/* each word atomic */
struct counters {
	uint64_t calls; /* frames served; a frame that was put aside counts again */
	uint64_t memory; /* bytes of device memory that are charged */
	uint64_t pinned; /* bytes of host memory for pinned memory, beyond the arena */
	uint64_t received, sent; /* bytes from the client, and to it */
	uint64_t version, table; /* the client's build (wire/builds.h); 0: it has told none */
	/* by the first process: takes the place of server_options.memory; 0: none does */
	uint64_t limit;
};

#endif
