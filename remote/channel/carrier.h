/* SPDX-License-Identifier: MIT */
/*
 * Internal header of remote/channel: what a carrier does. channel.h says which threads call a
 * function of the face, and so the carrier's; .give is kvgpu_remote_return(). A carrier calls
 * `notified` without a lock of its own.
 */
#ifndef KVGPU_REMOTE_CARRIER_H
#define KVGPU_REMOTE_CARRIER_H

#include <remote/channel/channel.h>

struct channel_carrier {
	/* acks go this way, too: by any thread, beside another send; so may .push */
	int (*send)(struct kvgpu_remote_channel *c, const struct kvgpu_remote_head *h,
		    const struct iovec *parts, unsigned int n);
	int (*push)(struct kvgpu_remote_channel *c, uint64_t at, const void *from, uint64_t bytes);
	/* NULL: there is nothing to do */
	void (*expect)(struct kvgpu_remote_channel *c);
	/* called only if the channel has a relay */
	int (*fetch)(struct kvgpu_remote_channel *c, const struct kvgpu_remote_pull *pull);
	int (*await)(struct kvgpu_remote_channel *c, unsigned int completion, uint64_t seq,
		     struct kvgpu_remote_answer *a, const void **payload);
	/* NULL: descriptors can't be sent */
	int (*lend)(struct kvgpu_remote_channel *c, int file);
	/* in a child of fork(): takes no lock, which another thread may have held */
	void (*forked)(struct kvgpu_remote_channel *c);
	/* end the connection, and free @c */
	void (*close)(struct kvgpu_remote_channel *c);
};

struct port_carrier {
	int (*next)(struct kvgpu_remote_port *p, int64_t timeout_us, struct kvgpu_remote_head *h,
		    const void **payload);
	int (*reply)(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to,
		     uint32_t result, const void *payload, size_t n);
	int (*give)(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes);
	int (*notify)(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
		      const void *bytes, size_t n);
	int (*call)(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
		    uint64_t invocation);
	int (*lent)(struct kvgpu_remote_port *p); /* NULL: none comes */
	void (*await_end)(struct kvgpu_remote_port *p);
	void (*close)(struct kvgpu_remote_port *p);
};

/*
 * Where an answer lands; at a shmem region only one that is too long for the completion slot in the
 * shared memory. While the state is EMPTY or SLEEPS, the delivering thread owns all but the state,
 * else the thread that asked. A completion slot begins FULL, so that a server which answers unasked
 * finds none that has no payload yet.
 */
enum { COMPLETION_FULL, COMPLETION_EMPTY, COMPLETION_SLEEPS, COMPLETION_GONE };
struct completion {
	uint32_t state; /* atomic; the futex */
	struct kvgpu_remote_answer answer;
	void *payload; /* KVGPU_REMOTE_PAYLOAD_MAX, from its first use on */
	bool taken; /* atomic */
};

/* The channel of each carrier begins with this. */
struct kvgpu_remote_channel {
	const struct channel_carrier *carrier;
	void *arena;
	uint64_t arena_bytes; /* atomic: see kvgpu_remote_arena_resize() */
	uint64_t arena_most; /* bytes that are mapped; those behind .arena_bytes are closed */
	enum kvgpu_remote_bound bound; /* why these are not more */
	bool shared; /* the arena is one memory for both sides */
	bool has_relay; /* the client shares the arena's memory with a relay */
	struct kvgpu_remote_relayed relay;
	void *again; /* a second mapping of the arena, or NULL */
	uint64_t seq; /* of the last frame; under the caller's lock for sending */
	bool gone; /* atomic */
	kvgpu_remote_notified notified;
	void *ctx;
	struct kvgpu_remote_direct_read *direct_reads; /* under the lock of direct_read.c */
	struct completion completions[KVGPU_REMOTE_COMPLETIONS];
};

/* The port of each carrier begins with this. */
struct kvgpu_remote_port {
	const struct port_carrier *carrier;
	void *arena;
	uint64_t arena_bytes, arena_most; /* as in a channel; 0: it can't grow */
	bool shared; /* the arena is one memory for both sides */
	bool has_relay; /* the server shares the arena's memory with a relay */
	bool gone; /* atomic */
	/* atomic: bytes of frames, answers and pieces that travelled */
	uint64_t received, sent;
};

/* the thread that calls kvgpu_remote_next(), the only one that counts here */
static inline void port_received(struct kvgpu_remote_port *p, uint64_t bytes)
{
	__atomic_store_n(&p->received, p->received + bytes, __ATOMIC_RELAXED);
}

static inline void port_sent(struct kvgpu_remote_port *p, uint64_t bytes)
{
	__atomic_add_fetch(&p->sent, bytes, __ATOMIC_RELAXED);
}

/*
 * completion.c: for the thread that receives answers. NULL: no such completion slot, or it awaits
 * no answer.
 */
struct completion *completion_of(struct kvgpu_remote_channel *c, unsigned int completion);
/* before a frame with that completion slot goes out */
void completion_prepare(struct kvgpu_remote_channel *c, unsigned int completion);
void completion_deliver(struct completion *b);
/* waits for completion_deliver(), or channel_lost(): -ECONNRESET */
int completion_await(struct kvgpu_remote_channel *c, unsigned int completion, uint64_t seq,
		     struct kvgpu_remote_answer *a, const void **payload);
/*
 * No answer will come any more: end all waiting at completion slots. On the reader or the watcher.
 */
void channel_lost(struct kvgpu_remote_channel *c);
void completions_free(struct kvgpu_remote_channel *c);

/*
 * direct_read.c: for the reader. Take the direct read of a piece, or NULL; direct_read_end() when
 * its bytes were written, or when no more will come.
 */
struct kvgpu_remote_direct_read *direct_read_begin(struct kvgpu_remote_channel *c, uint64_t at,
						   uint64_t bytes);
void direct_read_end(struct kvgpu_remote_direct_read *d, bool all);

/*
 * welcome.c. The answer to a client's hello: 0, or the result that the client is told. @admit may
 * be NULL.
 */
uint32_t welcome_result(const struct kvgpu_remote_hello *hello, uint64_t version,
			kvgpu_remote_admit admit, void *ctx);
/* The text of two versions that do not speak: valid until this thread's next call. */
const char *welcome_apart(uint64_t client, uint64_t server);
/* the server's own error for a result that it has told: 0, -EPROTONOSUPPORT, -EACCES */
int welcome_error(uint32_t result);
/* check a welcome in the client: 0, or -EPROTO and *why */
int welcome_check(const struct kvgpu_remote_welcome *w, uint64_t version, const char **why);

/* The stream carrier takes *conn over; stream_welcome() only if it succeeds. */
struct conn;
int stream_connect(struct conn *conn, uint64_t version, kvgpu_remote_notified notified, void *ctx,
		   struct kvgpu_remote_channel **out, const char **why);
int stream_welcome(struct conn *conn, uint64_t version, uint64_t arena_bytes, int begun,
		   const struct kvgpu_remote_hello *hello, kvgpu_remote_admit admit, void *ctx,
		   struct kvgpu_remote_port **out);

/* endpoint.c: a shmem region in a file or on a device */
struct address;
int endpoint_connect(const struct address *at, uint64_t version, kvgpu_remote_notified notified,
		     void *ctx, struct kvgpu_remote_channel **out, const char **why);

/*
 * arena.c. Map an arena, whose bytes cost nothing until touched; NULL: no room, or no such size.
 * @flags: MAP_SHARED or MAP_PRIVATE. @hint: where it should be, or NULL.
 */
void *arena_map(uint64_t bytes, int flags, void *hint);
void arena_unmap(void *arena, uint64_t bytes);
/*
 * Where a client, too, has hardly anything: it may want its copy of the arena at the same address
 * (kvgpu_remote_arena_at()). The kernel puts programs, heaps and libraries above. Processes that
 * serve one client differ by chance. The client learns the place, so it tells nothing else: glibc's
 * stack guard is of AT_RANDOM.
 * @client: for the client's own mapping instead, which is as large. It is neither where a server's
 * arena may be, nor where the server's library puts managed memory, which the client has at the
 * same address: beside the libraries.
 */
void *arena_place(bool client);
/* Open or close what is between @now and @bytes of the arena. False: the kernel refuses. */
bool arena_protect(void *arena, uint64_t now, uint64_t bytes);

#endif
