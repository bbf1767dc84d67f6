/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection to kvgpu-remoted of a client that attacks. It says what it is told to, and does not
 * check it. It checks what the server says.
 */
#ifndef KVGPU_SELFTESTS_REMOTE_FLOOD_LINK_H
#define KVGPU_SELFTESTS_REMOTE_FLOOD_LINK_H

#include <remote/channel/layout.h>
#include <selftests/remote/unit/remote/ring/carrier.h>

#include "flood.h"

enum link_kind { LINK_SHMEM, LINK_STREAM, LINK_RELAY, LINK_KINDS };
enum { LINK_COMPLETIONS = 1023, LINK_PROBE = 1024, LINK_OUT = 128 << 10, LINK_IN = 512 << 10 };

struct link {
	enum link_kind kind;
	int fd;
	uint64_t arena_bytes;
	uint8_t *arena; /* NULL: it is not shared */
	/* atomic: acknowledge notifications; true until the caller changes it */
	bool acks;
	const char *wrong; /* what the server did wrong; NULL: nothing. The reader's, too */
	uint64_t seq; /* frames so far */
	/* frames that want an answer; .seq 0: the completion slot is free */
	struct link_asked {
		uint64_t seq, last;
		struct flood_frame frame;
	} asked[LINK_COMPLETIONS + 1];
	uint16_t waiting[LINK_COMPLETIONS], free[LINK_COMPLETIONS];
	unsigned int nr_waiting, nr_free;
	/* called for each answer to link_ask(); a stream's has 8 words of the payload at most */
	void (*answered)(void *ctx, const struct flood_frame *f, uint32_t result,
			 const uint64_t *payload, size_t bytes);
	void *ctx;
	/* a shmem region */
	struct shmem_layout *base;
	struct kvgpu_ring_producer frames, acked;
	struct kvgpu_ring_consumer notifications;
	struct kvgpu_completion probe;
	struct kvgpu_doorbell doorbells[6];
	struct kvgpu_doorbell_futex end;
	pthread_t reader;
	bool over; /* atomic: the reader is to end */
	uint64_t notified; /* that the reader saw; atomic */
	uint64_t notification_room[(SHMEM_NOTIFICATION_LONGEST + 8) / 8];
	/* a stream */
	uint8_t out[LINK_OUT], in[LINK_IN];
	size_t nr_out, nr_in;
	uint64_t skip; /* bytes of a piece that are to come */
	uint64_t probed; /* the last answer that came to LINK_PROBE */
};

/* Connects to @path and sends @n bytes. Returns a descriptor. */
int link_connect(const char *path, const void *hello, size_t n);
/* NULL, or what went wrong. Then nothing is open. */
const char *link_open(struct link *l, const char *path, enum link_kind kind);
void link_close(struct link *l);

/* Sends a frame. False: the connection is lost. @completion: 0 or LINK_PROBE. */
bool link_send(struct link *l, uint16_t op, uint16_t completion, const void *payload, size_t n);
/* As link_send(), with a completion slot for the answer if one is free. */
bool link_ask(struct link *l, const struct flood_frame *f);
/* Sends bytes as they are over the socket. */
bool link_raw(struct link *l, const void *bytes, size_t n);
/* All that was sent is with the server, or on its way; wakes it. */
bool link_flush(struct link *l);
/*
 * Waits until the server has answered a frame that it refuses as soon as it comes, and so has taken
 * all before it; then takes the answers that are there. False: no answer came within @seconds, or
 * the connection is lost.
 */
bool link_probe(struct link *l, unsigned int seconds);
/* Takes answers that are there; if some are still to come, waits for @ms. */
bool link_answers(struct link *l, unsigned int ms);
/* Whether the server ends the connection within @seconds. */
bool link_ends(struct link *l, unsigned int seconds);
/* A notification in a stream; or, of a shmem region, in the reader's thread. */
void link_acknowledge(struct link *l, uint64_t invocation);

/* ------------------------------------------------------------------ breaks.c */

/*
 * Changes what the server must not rely on: arena, words on which threads sleep, payloads of frames
 * that were sent. The connection has to live on.
 */
void link_tamper(struct link *l);
/*
 * Breaks a rule of the channel. *name: which. True: the server has to end the connection; false: it
 * may, and is not to be used any more, either.
 */
bool link_break(struct link *l, const char **name);
/* How many rules were broken so far, of how many. */
unsigned int link_rules(unsigned int *all);
/*
 * A client that does not come to a welcome. *stalled: a connection that says nothing more, or -1.
 * NULL, or what the server did wrong.
 */
const char *link_hello(const char *path, int *stalled);

#endif
