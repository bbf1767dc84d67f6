/* SPDX-License-Identifier: MIT */
/* hostfunc.c: functions of the client, which the library calls */
#ifndef KVGPU_REMOTE_SERVER_HOSTFUNC_H
#define KVGPU_REMOTE_SERVER_HOSTFUNC_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

struct hosts {
	struct hosted *kept; /* functions that graphs may call */
	/* behind the last function that was submitted in order; NULL: there is none */
	CUevent ordered;
	uint64_t ordered_in; /* .ordered's context */
};

/*
 * hosted_run() with the returned pointer calls the client's function with number @id.
 * NULL: out of memory. @once: freed after one call.
 */
struct hosted;
struct hosted *hosted_new(struct server *s, uint64_t id, bool once);
void hosted_free(struct hosted *h);
void hosted_free_all(struct server *s);
void hosted_run(void *hosted);
/* the context is about to end, or has ended, and its events with it */
void ordered_forget(struct server *s, uint64_t context);

#endif
