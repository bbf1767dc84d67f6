/* SPDX-License-Identifier: MIT */
/*
 * Internal header of the process of kvgpu-remoted, or of a proxy (kvgpu-relay), that serves one
 * client, with one serving thread. That thread alone calls what is declared here, but for
 * hosted_run(), bounce_run(), bounce_rests() and bounce_put(), which threads of the library call,
 * too. Handles, places in the arena and lengths of a frame are checked here before the library sees
 * them. A function that carries out a frame returns the call's result, and puts the answer's
 * payload into its reply.
 */
#ifndef KVGPU_REMOTE_SERVER_H
#define KVGPU_REMOTE_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <remote/channel/channel.h>
#include <remote/wire/cursor.h>
#include <remote/wire/frame.h>

#include "calls.h"
#include "context.h"
#include "copynode.h"
#include "counters.h"
#include "bounce.h"
#include "frame.h"
#include "handles.h"
#include "hostfunc.h"
#include "images.h"
#include "lent.h"
#include "graph_refs.h"
#include "mempool.h"
#include "physical.h"
#include "pinned.h"
#include "pool.h"
#include "quota.h"
#include "shares.h"
#include "sleep.h"
#include "trace.h"
#include "user_refs.h"
#include "readback_block.h"
#include "table.h"
#include "gpu_sched.h"
#include "waits.h"

struct sched_client;
struct stdio_capture;

struct options {
	/* bytes of device memory that the client may have; 0: all there is */
	uint64_t memory;
	uint64_t arena;
	/* bytes that all programs of the client may have beyond their arenas */
	uint64_t pinned;
	uint64_t images; /* bytes of .images of struct server */
	FILE *dump; /* frames are written there as text; NULL: they are not */
	/* prints an error message; NULL: none is printed */
	void (*complain)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/* module.c: the first bytes of an image that is larger than a frame's piece of the arena */
struct parts {
	uint8_t *data;
	uint64_t bytes;
};

struct server {
	struct kvgpu_remote_port *port;
	/*
	 * serve_frame(), which is above deferred.c and waits.c: they call it for frames that waited
	 */
	void (*carry_out)(struct server *s, const struct kvgpu_remote_head *h, const void *payload);
	struct library library;
	struct options options;
	struct counters *counters; /* NULL: nobody reads them */
	uint8_t *arena;
	uint64_t arena_bytes, arena_first; /* what it has, and what it had at first */
	uint64_t current; /* the context that frames are carried out in; 0: none */
	uint32_t mode; /* capture mode that the client named last, and the library has */
	CUresult late_error; /* error of an async call, for the next answer that may report it */
	uint64_t invocations; /* atomic: events so far that the client acknowledges */

	/* what one file owns, or few files: each is in the header with its name */
	struct frame frame;
	struct table table;
	struct handles handles;
	struct waits waits;
	struct pinned pinned;
	struct lents lents;
	struct readback readback;
	struct quota quota;
	struct sleeping sleeping;
	struct tracing tracing;
	struct mempools mempools;
	struct physicals physicals;
	struct shares shares;
	struct images *images; /* shared with other programs of the client; NULL: none are kept */
	struct parts parts;
	uint64_t newest; /* the module that the last image became, or 0 */
	struct hosts hosts;
	struct captures captures;
	struct graph_refs graph_refs;
	struct refs refs;
	struct switches switches;
	struct sched_client *sched; /* NULL: this process takes no turns on the GPU */
	struct stdio_capture *stdio; /* stdio_capture.c; NULL: nothing is caught */
};

/* ------------------------------------------------------------------ serve.c */

/*
 * Serve frames until the client is gone or was cut off, or there is no memory to keep a frame for
 * its turn.
 */
void server_run(struct server *s);
/*
 * @s: zeroed but for what the caller sets: .port, and before server_run() .library and .options,
 * and .counters, and .quota's pool with its rows, if there are any. 0; -1: out of memory
 */
int server_init(struct server *s);
/* For tests: a client's process ends without it. */
void server_fini(struct server *s);
/*
 * Carry out one frame, whose payload is 8-aligned, and send the answer, unless it comes later
 * (waits.c). Not while another frame is carried out.
 */
void serve_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload);

/* ------------------------------------- stdio_capture.c: the library's standard output and error */

/* Catch standard output and error from now on. 0 or -errno. */
int stdio_capture_start(struct server *s);
void stdio_capture_send(struct server *s);
void stdio_capture_free(struct server *s);

/* ------------------------------------------------------------------ library.c */

/* false: not loaded; *why: the reason, without @path, never freed */
bool library_load(struct library *l, const char *path, const char **why);

/* ------------------------------------------- device_calls.c: resources of textures and surfaces */

bool resource_open(struct server *s, const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r);
void resource_close(struct server *s, const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w);

/* ------------------------------------------------------------------ managed.c */

/* the managed memory that contains a variable; 0 bytes: the variable is in none */
void managed_range(struct server *s, CUdeviceptr ptr, uint64_t size, uint64_t *begin,
		   uint64_t *bytes);

#endif
