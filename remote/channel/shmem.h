/* SPDX-License-Identifier: MIT */
/*
 * Internal header of the shmem carrier: shared memory with rings, completion slots and the arena,
 * how threads sleep there, and how the peer's end is noticed. layout.h says what lies where.
 */
#ifndef KVGPU_REMOTE_SHMEM_H
#define KVGPU_REMOTE_SHMEM_H

#include <pthread.h>

#include "attach.h"
#include "carrier.h"
#include "layout.h"

/* how a sleeping thread is woken */
enum shmem_wake {
	WAKE_FUTEX, /* processes of one kernel: a futex on the shared word */
	WAKE_SOCKET, /* a byte on a socket: the watcher takes it, and wakes the threads here */
	WAKE_NONE, /* nothing: sleeps get longer and longer, up to sleep_ns */
};

struct shmem_times {
	struct kvgpu_wait_times wait;
	/* a peer without a socket whose counter stands still for so long is gone */
	uint64_t patience_ns;
};

/* from the environment: KVGPU_REMOTE_SPIN_US, KVGPU_REMOTE_SLEEP_MS, KVGPU_REMOTE_PATIENCE_MS */
struct shmem_times shmem_times(enum shmem_wake wake);

enum shmem_side { SIDE_CLIENT, SIDE_SERVER };

struct shmem {
	struct shmem_layout *base;
	uint64_t bytes; /* bytes that are mapped */
	uint64_t arena_bytes, arena_most; /* as in a channel */
	enum kvgpu_remote_bound bound;
	enum shmem_side side;
	enum shmem_wake wake;
	struct shmem_times times;
	/* a socket, which ends with the peer; -1: both sides count a beat in the first page */
	int life;
	/* under .lock: a descriptor that the client has sent (memory_send()), or -1 */
	int lent;
	/* a client's endpoint: its file or device, with a lock; -1: none */
	int file;
	/* the watcher's; before shmem_watch() and after its end the owner's */
	union {
		struct attach_client client; /* if .file >= 0 */
		struct attach_server server;
	};
	bool gone, ended; /* atomic: the connection has ended; this side ends it */
	unsigned int sleepers; /* atomic: threads in futex_sleep() */
	uint32_t reads; /* atomic, a futex: counts the reads of the socket, and the end */
	pthread_t watcher;
	bool watched;
	pthread_mutex_t lock; /* of .lent; for setting .gone and .ended, which `change` tells */
	pthread_cond_t change;
	/* called by the watcher, without .lock, once, when the connection has ended; may be NULL */
	void (*lost)(void *ctx);
	void *ctx;
};

struct shmem_doorbell {
	struct kvgpu_doorbell doorbell;
	struct shmem *a;
	/* WAKE_NONE, the sleeper's: length of the last sleep, and the number of its wait */
	uint64_t pause_ns, wait;
};

/* @base, .life and .file belong to the shmem region from now on */
void shmem_init(struct shmem *a, enum shmem_side side, enum shmem_wake wake, void *base,
		uint64_t bytes);
/* Start the thread that notices the peer's end. @a must not move any more. 0 or -errno */
int shmem_watch(struct shmem *a);
/*
 * This side ends, or the peer has broken the rules: end all waiting here. Any thread, also
 * repeatedly. Returns -ECONNRESET.
 */
int shmem_lose(struct shmem *a);
void shmem_await_end(struct shmem *a);
/*
 * The descriptor that the client has sent ahead of a frame, which is the caller's; -EPROTO: none
 * came; -ENOTSUP: none can come. One thread.
 */
int shmem_lent(struct shmem *a);
bool shmem_is_gone(const struct shmem *a);
/*
 * After shmem_lose(), or before shmem_watch(), when no thread but the watcher uses the
 * shmem region any more: waits for the watcher's end.
 */
void shmem_fini(struct shmem *a);

void shmem_doorbell_init(struct shmem_doorbell *b, struct shmem *a, uint32_t *word);

/* one end of a ring: its doorbells and the configuration that attaches it */
struct shmem_end {
	struct shmem_doorbell own, peer;
	struct kvgpu_ring_config config;
};
void shmem_ring(struct shmem_end *e, struct shmem *a, void *ring, uint32_t slots, uint32_t longest,
		bool producer);
/*
 * attach one side's end of completion slot @i, with its doorbell; false: the memory there can't be
 * one
 */
bool shmem_completion(struct kvgpu_completion *completion, struct shmem_doorbell *doorbell,
		      struct shmem *a, unsigned int i);
/* send a frame, however long that takes: 0, or -ECONNRESET. One thread at a time */
int shmem_put(struct shmem *a, struct kvgpu_ring_producer *p, uint16_t op, uint16_t flags,
	      const struct iovec *parts, unsigned int n);
/* take the next frame: 1; 0: none came within @timeout_ns; -ECONNRESET. One thread at a time */
int shmem_get(struct shmem *a, struct kvgpu_ring_consumer *c, uint64_t timeout_ns,
	      struct kvgpu_frame *f, void *buf, size_t size);

/* shmem_client.c, shmem_server.c: both take @a over, also if they fail */
int shmem_channel(const struct shmem *a, kvgpu_remote_notified notified, void *ctx,
		  struct kvgpu_remote_channel **out);
int shmem_port(const struct shmem *a, struct kvgpu_remote_port **out);

/*
 * memfd.c: over a UNIX socket. shmem_connect() takes the connection over, also if it fails.
 * shmem_welcome() sets conn->fd to -1 when it has taken the socket over.
 */
int shmem_connect(struct conn *conn, uint64_t version, kvgpu_remote_notified notified, void *ctx,
		  struct kvgpu_remote_channel **out, const char **why);
int shmem_welcome(struct conn *conn, uint64_t version, uint64_t arena_bytes, uint64_t more,
		  int begun, const struct kvgpu_remote_hello *hello, kvgpu_remote_admit admit,
		  void *ctx, struct kvgpu_remote_port **out);

#endif
