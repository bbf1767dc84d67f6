/* SPDX-License-Identifier: MIT */
/*
 * Internal header of the carrier for ranks of one machine. Each two ranks have a pair of
 * SOCK_SEQPACKET sockets, and one packet is one frame. A message goes inside of a frame, or a frame
 * says where it lies in the sender's memory: then the receiver copies it from there when a receive
 * fits. Where the kernel does not let it, the receiver has it sent in frames.
 *
 * What another rank says is not trusted: a frame that can't be ends the connection.
 */
#ifndef KVGPU_CLUSTER_LOCAL_CARRIER_H
#define KVGPU_CLUSTER_LOCAL_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "mpi.h"

enum frame_kind {
	FRAME_EAGER = 1, /* a message; its bytes follow */
	FRAME_PLACE, /* a message; its bytes are at .at */
	FRAME_TAKEN, /* answers FRAME_PLACE: the message has arrived */
	FRAME_WANTED, /* answers FRAME_PLACE: send the bytes */
	FRAME_BYTES, /* some bytes of a message that was wanted; they follow */
};

struct frame {
	uint32_t kind;
	int32_t tag;
	uint64_t bytes; /* of the whole message */
	uint64_t serial; /* FRAME_EAGER: 0; else the sender's number of this message */
	uint64_t at; /* FRAME_PLACE: an address in the sender */
};

enum {
	FRAME_ROOM = 80 << 10, /* bytes behind a frame's head at most */
	RANKS_MAX = 256,
	/*
	 * Bytes of messages of one rank that no receive fits yet, and what is counted for keeping
	 * one. The relays (../relay/tags.h) have 64 tunnels with 15 messages of 64 KiB, and some
	 * smaller ones, under way at most.
	 */
	HELD_MAX = 64 << 20,
	HELD_COST = 1024,
	ANSWERS_MAX = 1 << 16 /* for one rank, that wait for room in the socket */
};

enum request_state {
	IDLE, /* not started, or its end was told */
	QUEUED, /* to be sent: in the peer's .out */
	PLACED, /* sent as FRAME_PLACE: in .placed */
	POSTED, /* a receive that no message has met: in .posted, or any_posted */
	COMING, /* a receive whose bytes come by FRAME_BYTES: in .coming */
	OVER
};

struct request {
	TAILQ_ENTRY(request) entry;
	enum request_state state;
	bool receives, synchronous;
	bool once; /* it ends when its end is told */
	bool freed; /* nobody knows it: it ends when it is over */
	bool answer; /* FRAME_TAKEN or FRAME_WANTED; the carrier's own */
	uint32_t says; /* QUEUED: the kind of the next frame */
	uint8_t *at;
	size_t bytes, moved; /* moved: by FRAME_BYTES */
	int rank, tag;
	uint64_t serial; /* of the send; POSTED: tells which receive was begun first */
	int error;
	MPI_Status status;
};
TAILQ_HEAD(requests, request);

/* a message that no receive fits yet */
struct unexpected {
	TAILQ_ENTRY(unexpected) entry;
	struct frame f;
	uint8_t data[]; /* of FRAME_EAGER */
};

struct peer {
	int fd; /* -1: it has gone */
	pid_t pid; /* by the word of launch_ranks(), which keeps it from being used again */
	bool by_socket; /* its memory can't be read */
	struct requests out, placed, posted, coming;
	TAILQ_HEAD(, unexpected) unexpected;
	size_t held_bytes;
	unsigned int answers; /* in .out */
};

extern struct peer peers[RANKS_MAX];
extern int ranks, own_rank;
extern struct requests any_posted; /* receives from MPI_ANY_SOURCE */

/* ------------------------------------------------------------------ wire.c */

/* false: the variable of launch_ranks() is not there, or not sound */
bool wire_begin(void);
/* end all connections, or wait for rank 0 to do so */
void wire_end(void);
/* send what can be sent to a rank */
void wire_flush(struct peer *p);
/* look at all sockets, but not so often that it costs more than it brings */
void wire_look(void);
/* wait for a frame, for 1 ms at most */
void wire_wait(void);

/* ------------------------------------------------------------------ match.c */

/* the request is in no list: it is over */
void request_over(struct request *r, int error);
/*
 * A sound head of a message has come, with its bytes at @data if it is FRAME_EAGER. False: there is
 * no memory, or the rank has sent too much that nobody receives.
 */
bool match_message(int rank, const struct frame *f, const uint8_t *data);
/* a receive is begun: let it have a message that has come, or wait for one */
void match_receive(struct request *r);
/* queue an answer; false: no memory, or too many wait */
bool match_answer(struct peer *p, enum frame_kind kind, uint64_t serial);

#endif
