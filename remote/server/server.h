/* SPDX-License-Identifier: MIT */
/*
 * Internal header of the process of kvgpu-remoted, or of a proxy (kvgpu-relay), that serves one
 * client, with one serving thread. That thread alone calls what is declared here, but for
 * hosted_run(), ferry_run(), ferry_rests() and ferry_put(), which threads of the library call, too.
 * Handles, places in the arena and lengths of a frame are checked here before the library sees
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
#include "ferry.h"
#include "forward.h"
#include "frame.h"
#include "handles.h"
#include "hostfunc.h"
#include "keep.h"
#include "pinned.h"
#include "pool.h"
#include "quota.h"
#include "refs.h"
#include "small.h"
#include "turn.h"
#include "waits.h"

struct wait;
struct text;
struct small;

enum { SPARE_EVENTS = 64, SHOWN_MAX = 16 };

struct options {
	/* bytes of device memory that the client may have; 0: all there is */
	uint64_t memory;
	uint64_t arena;
	FILE *dump;		/* frames are written there as text; NULL: they are not */
	/* libcublas and libcurand; empty or NULL: the loader finds them */
	const char *blas, *rand;
	/* prints an error message; NULL: none is printed */
	void (*complain)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

struct server {
	struct kvgpu_remote_port *port;
	/* serve_frame(), which is above held.c and waits.c: they call it for frames that waited */
	void (*carry_out)(struct server *s, const struct kvgpu_remote_head *h,
			  const void *payload);
	struct library library;
	struct options options;
	struct counters *counters;	/* NULL: nobody reads them */
	uint8_t *arena;
	uint64_t arena_bytes;
	uint64_t current;	/* the context that frames are carried out in; 0: none */
	uint32_t mode;		/* capture mode that the client named last, and the library has */
	CUresult deferred;	/* error of a queued call, for the next answer that may report it */

	/* the frame that is served */
	struct kvgpu_remote_head head;
	const void *payload;
	uint64_t served;	/* how many frames were served so far, with this one */
	bool later;		/* the frame gets its answer later */
	bool again;		/* the frame was put aside, and is served again */

	/* handles.c */
	struct entry *entries;
	uint32_t nr_entries, max_entries, free_entry;
	uint32_t *chains, nr_chains;

	/* waits.c */
	struct wait *waits;
	/*
	 * .served of the last frame with kernels that may have printed what the library still has;
	 * 0: none. .printing_in: the number of the stream that has all of them; 0: there are
	 * several, or it is the null stream
	 */
	uint64_t printing, printing_in;
	/*
	 * the event behind a stream's last copy whose marked words came, while it was not seen to
	 * have happened; .served: how many frames were served when they came
	 */
	struct shown {
		uint64_t context, stream, served;
		CUevent event;
	} shown[SHOWN_MAX];
	unsigned int nr_shown;
	bool may_print;	/* a module, or a library such as cuBLAS, may have kernels that print */

	/* pinned.c */
	uint64_t pinned_in;		/* context in which the shared arena is registered; or 0 */
	bool never_pinned;	/* registering the arena failed: no copy tries it again */
	bool reads_late;	/* the library registers memory, but has no address for it */
	/*
	 * if the arena is not shared: the context in which it is registered for copies of graphs,
	 * or 0
	 */
	uint64_t graphs_pinned_in;
	CUdeviceptr arena_device;
	struct noted *noted;		/* copies that may go on */
	unsigned int nr_noted, max_noted;
	struct spare {			/* unused events */
		uint64_t context;
		CUevent event;
	} spare[SPARE_EVENTS];
	unsigned int nr_spare;

	/* hostfunc.c: behind the last function that was submitted in order; NULL: there is none */
	struct {
		CUevent event;
		uint64_t context;
	} ordered;

	/* quota.c */
	struct charge *charges;
	unsigned int nr_charges, max_charges;
	uint64_t charged;
	/* shared with other programs of the same client; NULL: there are none */
	struct pool *pool;
	unsigned int program, nr_programs;	/* this program's row in the pool; number of rows */

	/* forward.c */
	struct forwards *forwards;	/* NULL: no library was wanted yet */
	uint8_t blas_is, rand_is;	/* FORWARD_UNTRIED, FORWARD_THERE or FORWARD_NOT */
	struct forwarded rows[FORWARDS_MAX];

	/* gate.c */
	struct gate *gate;	/* NULL: this process takes no turns on the GPU */
	bool untracked;		/* there may be work on the GPU that no turn accounts for */

	struct small *small;	/* small.c */
	uint32_t mark;		/* the last one of small_mark() */
	struct text *text;
	uint64_t invocations;	/* atomic: events so far that the client acknowledges */
	bool captures;		/* the graph of a capture under way may have a number */
	struct hosted *kept;	/* hostfunc.c: functions that graphs may call */
	bool ferried;		/* a ferry was made once: a child graph may be a copy with one */
	/* keep.c: what graphs use or used; atomic: a reference or a number has ended */
	struct kept *kept_objects;
	bool kept_over;
	unsigned int capturing;	/* captures that were begun and not ended */
	struct user *users;	/* user.c */
	struct user_ref *refs;
	unsigned int nr_refs, max_refs;
	/* copynode.c: copies that differ in an executable graph from its graph */
	struct switched *switched;
	unsigned int nr_switched, max_switched;
	uint8_t *scratch;
	size_t scratch_used;
};

/* ------------------------------------------------------------------ serve.c */

/*
 * Serve frames until the client is gone or was cut off, or there is no memory to keep a frame for
 * its turn.
 */
void serve(struct server *s);
/*
 * @s: zeroed but for what the caller sets: .port, and before serve() .library and .options, and
 * .counters and .pool with its rows if there are any. 0; -1: out of memory
 */
int server_init(struct server *s);
/* For tests: a client's process ends without it. */
void server_fini(struct server *s);
/*
 * Carry out one frame, whose payload is 8-aligned, and send the answer, unless it comes later
 * (waits.c). Not while another frame is carried out.
 */
void serve_frame(struct server *s, const struct kvgpu_remote_head *h, const void *payload);

/* ---------------------------------------------- text.c: the library's standard output and error */

/* Catch standard output and error from now on. 0 or -errno. */
int text_catch(struct server *s);
void text_send(struct server *s);
void text_free(struct server *s);

/* ------------------------------------------------------------------ library.c */

/* false: not loaded; *why: the reason, never freed */
bool library_load(struct library *l, const char *path, const char **why);

/* ------------------------------------------------- own.c: resources of textures and surfaces */

bool resource_open(struct server *s, const struct kvgpu_remote_resource *w, CUDA_RESOURCE_DESC *r);
void resource_close(struct server *s, const CUDA_RESOURCE_DESC *r, struct kvgpu_remote_resource *w);

/* ------------------------------------------------------------------ managed.c */

/* the managed memory that contains a variable; 0 bytes: the variable is in none */
void managed_range(struct server *s, CUdeviceptr ptr, uint64_t size, uint64_t *begin,
		   uint64_t *bytes);

#endif
