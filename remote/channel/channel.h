/* SPDX-License-Identifier: MIT */
/*
 * What client and server talk through: frames one way, answers the other, happenings, and an arena
 * of bytes that both see at the same offsets. A carrier brings it there: `stream` over a socket or
 * TLS, `aperture` by shared memory (carrier.h). Nothing above here has to know which, but for
 * speed. Errors are 0 or -errno.
 *
 * When the peer is gone every call gives -ECONNRESET, and those that wait at once. A channel that
 * is gone stays so.
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

/*
 * Called from a thread of the channel's, which answers wait for: it must not wait for one. @bytes:
 * @n of text, not kept.
 */
typedef void (*kvgpu_remote_happened)(void *ctx, const struct kvgpu_remote_happening *h,
				      const void *bytes, size_t n);

/*
 * -EPROTO: the peer is of another version, or speaks something else. *why: a text that says so,
 * never freed.
 */
int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_happened happened,
			 void *ctx, struct kvgpu_remote_channel **out, const char **why);
/*
 * Where certificates for tls: addresses are; /etc/kvgpu/tls else. The text stays the caller's;
 * before kvgpu_remote_connect().
 */
void kvgpu_remote_tls_folder(const char *folder);
/* No other thread uses it any more. */
void kvgpu_remote_disconnect(struct kvgpu_remote_channel *c);
/*
 * In a child of fork(): lets go of what it has of the parent's channel, so that the server sees the
 * parent's end. Nothing may follow.
 */
void kvgpu_remote_forked(struct kvgpu_remote_channel *c);
bool kvgpu_remote_is_gone(const struct kvgpu_remote_channel *c);

/* The arena in this process; the caller decides what its bytes are used for. */
void *kvgpu_remote_arena(struct kvgpu_remote_channel *c, uint64_t *bytes);
/*
 * Whether it is one memory for both sides: push and return cost nothing, and each sees the other's
 * stores at any time.
 */
bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c);
/*
 * Whether a relay stands between, with which this process shares the arena: NULL: none. A push
 * costs no copy then, and its bytes are read from the arena later: they stay as they are until an
 * answer to a frame behind them has come.
 */
const struct kvgpu_remote_relayed *kvgpu_remote_relay(const struct kvgpu_remote_channel *c);

/*
 * The same memory of a shared arena at another address, too, @where or nowhere: NULL, if there is
 * something else, or it is not shared. Once; no other thread does so.
 */
void *kvgpu_remote_arena_at(struct kvgpu_remote_channel *c, uint64_t where);

/*
 * Sends one frame, whose payload is @parts: 8-aligned all together. One thread at a time, and that
 * order is the server's. @box: 0, or one that kvgpu_remote_await() is called with next. *seq: its
 * number.
 */
int kvgpu_remote_send(struct kvgpu_remote_channel *c, uint16_t op, unsigned int box,
		      const struct iovec *parts, unsigned int n, uint64_t *seq);
/*
 * These bytes of the arena are the server's before any later frame; with kvgpu_remote_send()'s lock
 * held.
 */
int kvgpu_remote_push(struct kvgpu_remote_channel *c, uint64_t at, uint64_t bytes);
/* Says that the function of an event has been called; any thread. */
int kvgpu_remote_ack(struct kvgpu_remote_channel *c, uint64_t id);

/* A box for a thread that asks: 1 and up, 0 when all are taken. */
unsigned int kvgpu_remote_box_get(struct kvgpu_remote_channel *c);
void kvgpu_remote_box_put(struct kvgpu_remote_channel *c, unsigned int box);
/*
 * The answer to frame @seq. *payload stays until the box's next frame; what the answer tells of the
 * arena is there.
 */
int kvgpu_remote_await(struct kvgpu_remote_channel *c, unsigned int box, uint64_t seq,
		       struct kvgpu_remote_answer *a, const void **payload);

/* -------------------------------------------------------------- the server's end, called a port */

struct kvgpu_remote_port;

/*
 * A socket that listens; negative: -errno, and *why. Its clients choose the carrier, stream or
 * aperture.
 */
int kvgpu_remote_listen(const char *address, const char **why);
/*
 * @fd, of accept(), belongs to the port then, or is closed. Refuses another version. @arena_bytes:
 * pages
 */
int kvgpu_remote_welcome(int fd, uint64_t version, uint64_t arena_bytes,
			 struct kvgpu_remote_port **out);
/*
 * Called when the client has said what it has to: 0, or the KVGPU_REMOTE_ result that it is told in
 * the place of a welcome.
 */
typedef uint32_t (*kvgpu_remote_admit)(void *ctx);
/*
 * The same on a line (line.h), which belongs to the port then, or stays the caller's. -EACCES:
 * @admit did not let it in.
 */
struct line;
int kvgpu_remote_welcome_line(struct line *l, uint64_t version, uint64_t arena_bytes,
			      kvgpu_remote_admit admit, void *ctx, struct kvgpu_remote_port **out);
/*
 * What came from the client and what went to it, in bytes, since the welcome; any thread. What lies
 * in a shared arena does not travel, and is not counted.
 */
void kvgpu_remote_port_bytes(const struct kvgpu_remote_port *p, uint64_t *received, uint64_t *sent);

/*
 * An aperture in a file or on a device, "aperture:/path" of something that is there. It has one
 * place or several, each with one client at a time, all of one VM. One thread.
 * kvgpu_remote_places() says how many, or -errno; @index is below that. kvgpu_remote_place_open()
 * locks the place against other servers for as long as this process lives, or one that has its
 * descriptors.
 */
struct kvgpu_remote_place;
bool kvgpu_remote_is_place(const char *address);
int kvgpu_remote_places(const char *address, const char **why);
int kvgpu_remote_place_open(const char *address, unsigned int index, uint64_t version,
			    struct kvgpu_remote_place **out, const char **why);
/*
 * Whether a client is there: 1; 0: none yet; -EIO: the memory is gone, kvgpu_remote_place_close()
 * alone may follow. Never waits.
 */
int kvgpu_remote_place_look(struct kvgpu_remote_place *p);
/*
 * What to wait for before the next look: a descriptor that poll() sees input at, or -1; and *ms at
 * most, or -1: however long
 */
int kvgpu_remote_place_wait(const struct kvgpu_remote_place *p, int *ms);
/* Both, for a second at most, or until a signal. */
int kvgpu_remote_place_await(struct kvgpu_remote_place *p);
/*
 * After 1: the descriptors that kvgpu_remote_place_welcome() and the port need, of its file and of
 * its bell (NULL: it has none). A process that was forked for the client may give them other
 * numbers, and close all others.
 */
void kvgpu_remote_place_descriptors(struct kvgpu_remote_place *p, int *of[2]);
/* After 1: the port to that client, in this process or in one that was forked for it. */
int kvgpu_remote_place_welcome(struct kvgpu_remote_place *p, struct kvgpu_remote_port **out);
/*
 * After the fork, where that was done: what says that the server lives is the other process's
 * alone.
 */
void kvgpu_remote_place_served(struct kvgpu_remote_place *p);
/*
 * After that, in the process that looked: whether the client has left, or another one knocks: 1; 0:
 * not as far as the memory says; -EIO as above. Never waits.
 */
int kvgpu_remote_place_left(struct kvgpu_remote_place *p);
/*
 * When nothing of that port is there any more, its process included: ready for another client. 0,
 * or -EIO as above
 */
int kvgpu_remote_place_again(struct kvgpu_remote_place *p);
void kvgpu_remote_place_close(struct kvgpu_remote_place *p);

void kvgpu_remote_port_close(struct kvgpu_remote_port *p);
void *kvgpu_remote_port_arena(struct kvgpu_remote_port *p, uint64_t *bytes);
bool kvgpu_remote_port_is_shared(const struct kvgpu_remote_port *p);

/*
 * The next frame: 1; 0 when none came within @timeout_us (negative: for ever). In memory of the
 * port's that the client can't write, until the next call. One thread.
 */
int kvgpu_remote_next(struct kvgpu_remote_port *p, int64_t timeout_us, struct kvgpu_remote_head *h,
		      const void **payload);
/*
 * The answer to a frame with a box. @n: 8-aligned. The client sees kvgpu_remote_return()'s bytes
 * before.
 */
int kvgpu_remote_reply(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to,
		       uint32_t result, const void *payload, size_t n);
int kvgpu_remote_return(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes);
/* Until the client is gone, whatever the other threads do. */
void kvgpu_remote_await_end(struct kvgpu_remote_port *p);
/* Any thread. */
int kvgpu_remote_happen(struct kvgpu_remote_port *p, const struct kvgpu_remote_happening *h,
			const void *bytes, size_t n);
/*
 * The same with @invocation for its bytes, and waits for the ack of that. Any thread but the one
 * that calls kvgpu_remote_next(), which may be busy elsewhere meanwhile. No two wait with one
 * invocation.
 */
int kvgpu_remote_call(struct kvgpu_remote_port *p, const struct kvgpu_remote_happening *h,
		      uint64_t invocation);

#endif
