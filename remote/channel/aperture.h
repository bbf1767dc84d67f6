/* SPDX-License-Identifier: MIT */
/*
 * The aperture carrier's own: shared memory with rings, answer boxes and the arena, how threads
 * sleep there, and how the peer's end is noticed. layout.h says what lies where.
 */
#ifndef KVGPU_REMOTE_APERTURE_H
#define KVGPU_REMOTE_APERTURE_H

#include <pthread.h>

#include "attach.h"
#include "carrier.h"
#include "layout.h"

/* what a sleeper is woken by */
enum aperture_wake {
	WAKE_FUTEX,	/* processes of one kernel: a futex on the shared word */
	WAKE_SOCKET,	/* a byte on a socket: the watcher takes it, and wakes the threads here */
	WAKE_NONE,	/* nothing: sleeps get longer and longer, up to sleep_ns */
};

struct aperture_times {
	struct kvgpu_wait_times wait;
	/* a peer without a socket whose counter stands still for so long is gone */
	uint64_t patience_ns;
};

/* of the environment: KVGPU_REMOTE_SPIN_US, KVGPU_REMOTE_SLEEP_MS, KVGPU_REMOTE_PATIENCE_MS */
struct aperture_times aperture_times(enum aperture_wake wake);

enum aperture_side { SIDE_CLIENT, SIDE_SERVER };

struct aperture {
	struct aperture_layout *base;
	uint64_t bytes;			/* mapped */
	uint64_t arena_bytes;
	enum aperture_side side;
	enum aperture_wake wake;
	struct aperture_times times;
	/* a socket, whose end is the peer's; -1: both count in the first page */
	int life;
	/* with a lock; -1: the memory belongs to this connection alone */
	int file;
	union {
		struct attach_client client;	/* .file >= 0 */
		struct attach_server server;
	};
	bool gone, ended;		/* atomic: the peer is; this side wants no more */
	unsigned int sleepers;		/* atomic */
	uint32_t turn;			/* atomic, a futex: bytes that came on the socket */
	pthread_t watcher;
	bool watched;
	pthread_mutex_t lock;		/* of the end: `change` is told of .gone and .ended */
	pthread_cond_t change;
	/* by the watcher, once, when the peer is gone; may be NULL */
	void (*lost)(void *ctx);
	void *ctx;
};

struct aperture_bell {
	struct kvgpu_bell bell;
	struct aperture *a;
	uint64_t pause_ns, wait;	/* WAKE_NONE: of the last sleep, and whose it was */
};

/* @base, @bytes, .life and .file are the aperture's from now on */
void aperture_init(struct aperture *a, enum aperture_side side, enum aperture_wake wake, void *base,
		   uint64_t bytes);
/* At its last place: starts the thread that notices the peer's end. 0 or -errno */
int aperture_watch(struct aperture *a);
/*
 * this side's end, or the peer did what no peer does: ends all waiting on both sides. Any thread,
 * repeatedly. -ECONNRESET
 */
int aperture_lose(struct aperture *a);
void aperture_await_end(struct aperture *a);
bool aperture_is_gone(const struct aperture *a);
/*
 * After aperture_lose(), or before aperture_watch(); no thread uses it any more. Gives back the
 * memory, too
 */
void aperture_fini(struct aperture *a);

void aperture_bell_init(struct aperture_bell *b, struct aperture *a, uint32_t *word);

/* one end of a ring: its bells and the configuration that attaches it */
struct aperture_end {
	struct aperture_bell own, peer;
	struct kvgpu_ring_config config;
};
void aperture_ring(struct aperture_end *e, struct aperture *a, void *ring, uint32_t slots,
		   uint32_t longest, bool producer);
/* one side's end of answer box @i, with its bell; false: what lies there is no box */
bool aperture_box(struct kvgpu_box *box, struct aperture_bell *bell, struct aperture *a,
		  unsigned int i);
/* a frame, however long that takes: 0, or -ECONNRESET. One thread at a time */
int aperture_put(struct aperture *a, struct kvgpu_ring_producer *p, uint16_t op, uint16_t flags,
		 const struct iovec *parts, unsigned int n);
/* the next frame: 1; 0: none came within @timeout_ns; -ECONNRESET */
int aperture_get(struct aperture *a, struct kvgpu_ring_consumer *c, uint64_t timeout_ns,
		 struct kvgpu_frame *f, void *buf, size_t size);

/* aperture_client.c, aperture_server.c: all of @a is ready. Both take it, also where they fail */
int aperture_channel(const struct aperture *a, kvgpu_remote_happened happened, void *ctx,
		     struct kvgpu_remote_channel **out);
int aperture_port(const struct aperture *a, struct kvgpu_remote_port **out);

/*
 * memfd.c: over a line that is a UNIX socket. aperture_connect() takes it, also where it fails; of
 * aperture_welcome() .fd is -1 when it has taken it, also where it fails. The server has read the
 * client's hello.
 */
int aperture_connect(struct line *l, uint64_t version, kvgpu_remote_happened happened, void *ctx,
		     struct kvgpu_remote_channel **out, const char **why);
int aperture_welcome(struct line *l, uint64_t version, uint64_t arena_bytes,
		     const struct kvgpu_remote_hello *hello, kvgpu_remote_admit admit, void *ctx,
		     struct kvgpu_remote_port **out);

#endif
