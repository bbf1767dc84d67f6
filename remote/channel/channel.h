/* SPDX-License-Identifier: MIT */
/*
 * The connection between client and server: frames one way, answers the other, notifications, and
 * an arena of bytes that both see at the same offsets. Carriers (carrier.h) transport them:
 * `stream` over a socket or TLS, `shmem` by shared memory. int: 0 or -errno, if nothing else is
 * said; -ECONNRESET: the peer is gone.
 */
#ifndef KVGPU_REMOTE_CHANNEL_H
#define KVGPU_REMOTE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <remote/wire/frame.h>

/* ------------------------------------------------------------------ the client's end */

struct kvgpu_remote_channel;

/* No memory is mapped below, wherever a server says: programs count on faults at NULL. */
enum { KVGPU_REMOTE_LOWEST = 1 << 16 };

/*
 * Called on the channel's reader, a thread, without a lock of the channel: it must not wait for an
 * answer. @bytes: @n bytes, valid until it returns.
 */
typedef void (*kvgpu_remote_notified)(void *ctx, const struct kvgpu_remote_notification *h,
				      const void *bytes, size_t n);

/*
 * Connect to the server at @address. *out is set before @notified is called. -EPROTO: the server
 * refuses this client, is of another version, or breaks the rules. *why: the reason of an error, a
 * text that is valid until this thread's next call.
 */
int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_notified notified,
			 void *ctx, struct kvgpu_remote_channel **out, const char **why);
/*
 * @folder: certificates for tls: addresses, in the place of TLS_DIRECTORY. Call before
 * kvgpu_remote_connect(). The text has to stay.
 */
void kvgpu_remote_tls_folder(const char *folder);
/*
 * Call when no other thread uses the channel any more, and not on its reader. For tests: a program
 * keeps its channels until it ends.
 */
void kvgpu_remote_disconnect(struct kvgpu_remote_channel *c);
/*
 * In a child of fork(): close the child's copies of the parent's descriptors, so that the server
 * notices the parent's end. No other call may follow.
 */
void kvgpu_remote_forked(struct kvgpu_remote_channel *c);
/* Any thread. */
bool kvgpu_remote_is_gone(const struct kvgpu_remote_channel *c);

/* *bytes: the arena's size. A core file has nothing of it (madvise()). */
void *kvgpu_remote_arena(struct kvgpu_remote_channel *c, uint64_t *bytes);
/*
 * How large the arena may become, if the server agrees, and *bound: why not larger. What is not
 * its own yet can't be touched. kvgpu_remote_arena_resize(): @bytes, whole pages, are its own from
 * now on, because the server has said so (frame `grow`). False: they can't be. One thread at a
 * time, and not beside kvgpu_remote_arena_at().
 */
uint64_t kvgpu_remote_arena_most(const struct kvgpu_remote_channel *c,
				 enum kvgpu_remote_bound *bound);
bool kvgpu_remote_arena_resize(struct kvgpu_remote_channel *c, uint64_t bytes);
/* Whether the arena is one memory, in which each side sees the other's stores at any time. */
bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c);
/*
 * The relay between client and server, with which this process shares the arena; NULL: there is
 * none. With a relay, a push's bytes are read from the arena later: don't change them until the
 * answer to a later frame has come.
 */
const struct kvgpu_remote_relayed *kvgpu_remote_relay(const struct kvgpu_remote_channel *c);

/*
 * Whether each side has an arena of its own, with neither shared memory nor a relay: then bytes of
 * large copies need not pass by the arena here.
 */
static inline bool kvgpu_remote_is_plain(const struct kvgpu_remote_channel *c)
{
	return !kvgpu_remote_is_shared(c) && !kvgpu_remote_relay(c);
}

/*
 * Where the reader of a plain channel puts bytes that the server returns for one place of the
 * arena: at @to, in place of the arena. kvgpu_remote_read_post() before the frame is sent that has
 * them returned. kvgpu_remote_read_done() behind its answer, or an error: nothing is written at @to
 * any more. It returns whether all bytes came. Any thread.
 */
struct kvgpu_remote_direct_read {
	uint64_t at, bytes;
	void *to;
	/* the channel's own */
	struct kvgpu_remote_direct_read *next;
	int state;
};
void kvgpu_remote_read_post(struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d);
bool kvgpu_remote_read_done(struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d);

/*
 * Map the arena a second time, at address @where. NULL: it can't be mapped there. Call until it
 * succeeds, from one thread at a time.
 */
void *kvgpu_remote_arena_at(struct kvgpu_remote_channel *c, uint64_t where);

/*
 * Send one frame, whose payload is @parts, a multiple of 8 bytes in all. One thread at a time: the
 * server gets the frames in that order. @completion: where the answer goes, for
 * kvgpu_remote_await(); 0: no answer is wanted. *seq: the frame's number.
 */
int kvgpu_remote_send(struct kvgpu_remote_channel *c, uint16_t op, unsigned int completion,
		      const struct iovec *parts, unsigned int n, uint64_t *seq);
/* A hint: a frame of this thread follows soon. Any thread, without that lock. */
void kvgpu_remote_expect(struct kvgpu_remote_channel *c);
/*
 * Send bytes of the arena, which the server has before a later frame. @from: the bytes that it gets
 * there, in place of those of the arena here; NULL: the arena's. Only a channel that is plain
 * (below) takes them from elsewhere. Call with the lock that the caller has for
 * kvgpu_remote_send(), if that order matters.
 */
int kvgpu_remote_push(struct kvgpu_remote_channel *c, uint64_t at, const void *from,
		      uint64_t bytes);
/*
 * Send a descriptor, which stays the caller's, to the server ahead of a frame about it. -ENOTSUP:
 * only an aperture between processes takes any. The caller sends the frame before another thread
 * calls this, and waits for its answer.
 */
int kvgpu_remote_lend(struct kvgpu_remote_channel *c, int file);
/*
 * Have the relay bring bytes into the arena, at the server's side, from another server, for the
 * frames that follow; the next frame fails with CUDA_ERROR_SYSTEM_NOT_READY if they can't be had.
 * So hold the caller's lock for kvgpu_remote_send() until that frame is sent. The bytes at the
 * source must stay until that frame is answered. -ENOTSUP: there is no relay.
 */
int kvgpu_remote_fetch(struct kvgpu_remote_channel *c, const struct kvgpu_remote_pull *pull);
/*
 * A notification that wants an ack (frame.h) has been carried out; any thread. An ack passes by
 * frames. It passes by no push: the server has the bytes of this thread's kvgpu_remote_push() calls
 * before it (../client/bounce.c relies on that).
 */
int kvgpu_remote_ack(struct kvgpu_remote_channel *c, uint64_t id);

/*
 * Take a completion slot for a thread that asks: 1 and up; 0: all are taken, or no memory. Any
 * thread.
 */
unsigned int kvgpu_remote_completion_get(struct kvgpu_remote_channel *c);
void kvgpu_remote_completion_put(struct kvgpu_remote_channel *c, unsigned int completion);
/*
 * Wait for the answer to frame @seq. *payload is valid until the completion slot's next frame.
 * Bytes of the arena that the server returned before the answer are there. Any thread, one at a
 * time for a completion slot.
 */
int kvgpu_remote_await(struct kvgpu_remote_channel *c, unsigned int completion, uint64_t seq,
		       struct kvgpu_remote_answer *a, const void **payload);

/* -------------------------------------------------------------- the server's end, called a port */

struct kvgpu_remote_port;

/* Return a socket that listens, or -errno and *why. */
int kvgpu_remote_listen(const char *address, const char **why);
/*
 * Wait for the hello of the client at @fd, from accept(), and make the port. @fd belongs to the
 * port afterwards, or is closed. @arena_bytes: whole pages.
 */
int kvgpu_remote_welcome(int fd, uint64_t version, uint64_t arena_bytes,
			 struct kvgpu_remote_port **out);
/*
 * Called after the hello of a client of the right version, on the thread that welcomes: 0, or the
 * KVGPU_REMOTE_ result that the client is told in the place of a welcome.
 */
typedef uint32_t (*kvgpu_remote_admit)(void *ctx);
/*
 * As kvgpu_remote_welcome(), on a connection (conn.h), which belongs to the port afterwards; if the
 * call fails, it stays the caller's. The hello is waited for as long as conn_patience() says.
 * -EACCES: @admit has refused the client. -EPROTONOSUPPORT: its version does not speak with
 * @version, and kvgpu_remote_unlike() says what to update. @begun: of memory_begin() (memory.h),
 * for what this process and the client share over a UNIX socket; it stays the caller's. Negative:
 * it is made here. @more: so many bytes that arena may grow by; no other one grows.
 */
struct conn;
int kvgpu_remote_welcome_conn(struct conn *conn, uint64_t version, uint64_t arena_bytes,
			      uint64_t more, int begun, kvgpu_remote_admit admit, void *ctx,
			      struct kvgpu_remote_port **out);
const char *kvgpu_remote_unlike(void);
/* For statistics: about how many bytes came from the client and went to it; any thread. */
void kvgpu_remote_port_bytes(const struct kvgpu_remote_port *p, uint64_t *received, uint64_t *sent);

/*
 * A shmem region in a file or on a device (address.h: address_is_endpoint()). It has one endpoint
 * or several, each with one client at a time. One thread. kvgpu_remote_endpoints() returns how many
 * endpoints there are, or -errno; @index is below that. kvgpu_remote_endpoint_open() locks the
 * endpoint against other servers of this machine, until its descriptors are closed in this process
 * and its children.
 */
struct kvgpu_remote_endpoint;
bool kvgpu_remote_is_endpoint(const char *address);
int kvgpu_remote_endpoints(const char *address, const char **why);
int kvgpu_remote_endpoint_open(const char *address, unsigned int index, uint64_t version,
			       struct kvgpu_remote_endpoint **out, const char **why);
/*
 * Whether a client is there: 1; 0: none yet; -EIO: the memory is gone, and only
 * kvgpu_remote_endpoint_close() may follow. Does not wait for a client.
 */
int kvgpu_remote_endpoint_look(struct kvgpu_remote_endpoint *p);
/*
 * How to wait before the next look: returns a descriptor to poll() for input, or -1. *ms: how long
 * at most, or -1: without a limit.
 */
int kvgpu_remote_endpoint_wait(const struct kvgpu_remote_endpoint *p, int *ms);
/*
 * Look and wait, for a second or two, or until a signal. Returns what the look returned. For tests:
 * kvgpu-remoted's first process waits for other things, too.
 */
int kvgpu_remote_endpoint_await(struct kvgpu_remote_endpoint *p);
/*
 * After a look that returned 1: where the descriptors are that kvgpu_remote_endpoint_welcome() and
 * the port need, that of the file and that of the doorbell (NULL: there is none). A process that
 * was forked for the client may give them other numbers.
 */
void kvgpu_remote_endpoint_descriptors(struct kvgpu_remote_endpoint *p, int *of[2]);
/* After a look that returned 1, here or in a process forked for the client: make the port. */
int kvgpu_remote_endpoint_welcome(struct kvgpu_remote_endpoint *p, struct kvgpu_remote_port **out);
/*
 * After a fork for the client, in the process that looked: give up the client's connection to the
 * doorbell, by which the client sees that its server lives. Other connections to the doorbell are
 * dropped.
 */
void kvgpu_remote_endpoint_served(struct kvgpu_remote_endpoint *p);
/*
 * After kvgpu_remote_endpoint_served(), in the same process: whether the memory says that the
 * client has left, or that another one asks to connect: 1; 0: neither; -EIO as above.
 */
int kvgpu_remote_endpoint_left(struct kvgpu_remote_endpoint *p);
/*
 * Call when the port has ended, and the process that had it: be ready for another client. 0, or
 * -EIO as above.
 */
int kvgpu_remote_endpoint_again(struct kvgpu_remote_endpoint *p);
void kvgpu_remote_endpoint_close(struct kvgpu_remote_endpoint *p);
/*
 * For another program that this process executes, which goes on with the endpoint, its lock and its
 * client: what kvgpu_remote_endpoint_adopt() wants there, with open descriptors. Connections to the
 * doorbell that wait there are not among it: kvgpu_remote_endpoint_served() drops them.
 */
struct kvgpu_remote_endpoint_kept {
	int file, bell; /* .bell is -1 where there is none */
	bool any;
	uint32_t cid, at;
	uint64_t from, bytes, generation, only, nonce;
};
void kvgpu_remote_endpoint_keep(const struct kvgpu_remote_endpoint *p,
				struct kvgpu_remote_endpoint_kept *k);
/* 0, or -errno. Does not touch the memory. */
int kvgpu_remote_endpoint_adopt(const struct kvgpu_remote_endpoint_kept *k, uint64_t version,
				struct kvgpu_remote_endpoint **out);

/* Call when no other thread uses the port any more. */
void kvgpu_remote_port_close(struct kvgpu_remote_port *p);
void *kvgpu_remote_port_arena(struct kvgpu_remote_port *p, uint64_t *bytes);
/*
 * Make the arena @bytes long, whole pages: what is behind can't be touched. False: it can't be so
 * long. The thread that calls kvgpu_remote_next().
 */
bool kvgpu_remote_port_resize(struct kvgpu_remote_port *p, uint64_t bytes);
bool kvgpu_remote_port_is_shared(const struct kvgpu_remote_port *p);

/*
 * Wait for the next frame: 1; 0: no whole frame came in about @timeout_us (negative: for ever), or
 * a signal came. *payload is in memory of the port, which the client can't write, and is valid
 * until the next call. One thread.
 */
int kvgpu_remote_next(struct kvgpu_remote_port *p, int64_t timeout_us, struct kvgpu_remote_head *h,
		      const void **payload);
/*
 * Answer frame @to, which has a completion slot. @n: a multiple of 8. The client sees bytes of
 * earlier kvgpu_remote_return() calls before the answer. The thread that calls kvgpu_remote_next().
 */
int kvgpu_remote_reply(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to,
		       uint32_t result, const void *payload, size_t n);
/* Give bytes of the arena back to the client. Any thread. */
int kvgpu_remote_return(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes);
/*
 * The next descriptor that the client has sent by kvgpu_remote_lend() ahead of the frame that is
 * served: it may be of anything, and is the caller's; -EPROTO: there is none. The thread that calls
 * kvgpu_remote_next().
 */
int kvgpu_remote_lent(struct kvgpu_remote_port *p);
/* Wait until the client is gone, whatever other threads do. Any thread. */
void kvgpu_remote_await_end(struct kvgpu_remote_port *p);
/* Send a notification to the client. Any thread. */
int kvgpu_remote_notify(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
			const void *bytes, size_t n);
/*
 * Send a notification whose bytes are @invocation, and wait for the ack of @invocation. Any thread
 * but the one that calls kvgpu_remote_next(), which may be busy elsewhere meanwhile. No two calls
 * may wait with the same @invocation.
 */
int kvgpu_remote_call(struct kvgpu_remote_port *p, const struct kvgpu_remote_notification *h,
		      uint64_t invocation);

#endif
