/* SPDX-License-Identifier: MIT */
/*
 * Inside of kvgpu-relay: one MPI job, whose rank 0 is the broker and whose other ranks are proxies.
 * A link is what the broker and one proxy have in common; a lane of it carries one program's
 * connection, byte by byte, both ways. One thread a rank.
 */
#ifndef KVGPU_CLUSTER_RELAY_H
#define KVGPU_CLUSTER_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>

#include <mpi.h>

#include <remote/wire/frame.h>

#include "bulk.h"
#include "message.h"
#include "nursery.h"
#include "tap.h"

enum { LANES = 64, CONTROLS = 8, SECRET_BYTES = 32, POLLS_MAX = 4096 };
/* tags; a lane's is one of LANES from here on */
enum {
	TAG_CONTROL = 0,
	TAG_MESSAGE = 1,
	TAG_BULK = TAG_MESSAGE + LANES,
	TAG_MEASURE = TAG_BULK + LANES
};

struct settings {
	/* bytes of a piece of the arena at most, KVGPU_REMOTE_RELAYED_MIN to _MAX */
	size_t staging;
	/* messages of a lane under way, each direction, and of its pieces */
	unsigned int slots;
	/* up to so many bytes a piece goes inside of a message; EAGER_MEASURED */
	size_t eager;
	unsigned int spin_us;		/* after the last byte: looks without a pause */
	unsigned int patience_s;	/* without a sign of life a peer is gone */
	uint64_t arena;
	bool counts;			/* says at the end what it has counted */
	const char *library, *folder;
	unsigned int first;		/* the broker's first address is folder/first */
	unsigned int device;		/* of the GPUs of its machine, a proxy's */
	uint8_t secret[SECRET_BYTES];
};

#define EAGER_MEASURED	SIZE_MAX
enum { EAGER_MAX = 64 << 10, EAGER_LEAST = 4096 };

struct slot {
	uint8_t *bytes;
	MPI_Request made[CUT_CLASSES];	/* persistent, from their first use on */
	MPI_Request *active;
};

/* since the begin */
struct counts {
	/* sent; of these pieces: inside of a message, and apart */
	uint64_t messages, inside, apart;
	/* messages of pieces, both ways; requests that were made for them */
	uint64_t chunks, made;
};

struct inbox {
	uint8_t *bytes;
	MPI_Request made;
	struct message head;		/* from its arrival on */
	uint64_t landed;		/* PIECE_APART: when bulk.done has come to this */
	uint8_t said[TAP_SAID];		/* of the piece, to the local peer */
	size_t said_bytes, written;
};

enum lane_state { LANE_FREE, LANE_OPEN };

struct lane {
	struct link *link;
	enum lane_state state;
	bool made;			/* has its slots, for good */
	bool wanted;			/* is to be opened again when it is free */
	/* the local peer has said its first word; the program has the welcome */
	bool greeted, has_welcome;
	int fd;				/* the local connection; -1: closed */
	struct pollfd *poll;		/* of this turn; NULL: none */
	/* in common with the local peer, from the welcome on; else NULL */
	uint8_t *arena;
	uint64_t arena_bytes;
	struct bulk send, receive;
	struct slot out[SLOTS_MAX];
	unsigned int first_out, busy_out;
	struct tap tap;
	struct message head;		/* of the message that is being made in the next slot */
	struct kvgpu_remote_piece piece;	/* waits for a place in a message */
	bool has_piece;
	struct inbox in[SLOTS_MAX];
	unsigned int next_in, nr_in;	/* the oldest message that has come, and how many have */
	bool stuck;			/* the local peer takes no more for now */
	bool ended, last_sent, last_seen;	/* last_seen: has come */
};

enum control_kind { CONTROL_HELLO = 1, CONTROL_OPEN, CONTROL_ALIVE, CONTROL_END };

struct control {
	uint32_t kind, lane;
	uint64_t version;
	uint8_t secret[SECRET_BYTES];
};

struct link {
	const struct settings *settings;
	int rank;			/* of the other side */
	struct counts counts;
	size_t eager, turn;		/* as measured, or as set */
	bool measured;
	MPI_Request measuring;		/* a proxy's, while it is not */
	uint8_t measure[EAGER_MAX + 64];
	/* hello: the other side has shown the secret; over: it has said its end */
	bool lost, hello, over;
	uint64_t heard_us, said_us;
	struct control in[CONTROLS], out[CONTROLS];
	MPI_Request in_made[CONTROLS], out_made[CONTROLS];
	bool out_busy[CONTROLS];
	unsigned int next_in;
	struct lane lanes[LANES];
};

uint64_t now_us(void);

/* ------------------------------------------------------------------ link.c */

/* false: MPI says no, or out of memory */
bool link_begin(struct link *l, const struct settings *s, int rank);
/* false: there is no room now, or it is lost */
bool link_say(struct link *l, enum control_kind kind, unsigned int lane);
/* One thing that the other side has said: true. One without the secret loses the link. */
bool link_hear(struct link *l, struct control *c);
/* says that this side lives, and loses the link when the other one has said nothing for too long */
void link_beat(struct link *l);
/* what lanes wait for, into @p: how many; *open: whether a lane is */
unsigned int link_waits(struct link *l, struct pollfd *p, bool *open);
/* after poll(): all its lanes; whether something moved */
bool link_go(struct link *l);
/* ends all its lanes' connections; whether there is none any more, on the other side either */
void link_hang_up(struct link *l);
bool link_is_quiet(const struct link *l);
/* takes back all that MPI still has of it, before MPI_Finalize() */
void link_end(struct link *l);
/* all its lanes' connections end; MPI is not asked about it any more */
void link_lose(struct link *l, const char *why);

/* ------------------------------------------------------------------ lane.c */

/* a free one, or NULL */
struct lane *lane_find(struct link *l);
/* @fd is the lane's; false: out of memory, and it is closed */
bool lane_open(struct lane *n, int fd);
/* what it waits for, as an entry of poll()'s list: how many, 0 or 1 */
unsigned int lane_waits(struct lane *n, struct pollfd *p);
/* after poll(): moves what can be moved. Whether something did */
bool lane_go(struct lane *n);
void lane_hang_up(struct lane *n);
/* of lane.c's files alone */
bool lane_fine(struct lane *n, int r);
void lane_end_local(struct lane *n);
/* the arena, from now on the lane's, which unmaps it; false: out of memory */
bool lane_has_arena(struct lane *n, uint8_t *arena, uint64_t bytes);

/* ---------------------------------------------------- inbox.c: from MPI to the local connection */

bool inbox_make(struct lane *n);
bool inbox_go(struct lane *n);

/* ------------------------------------------------------------- greet.c: how a connection begins */

/* the broker: a program's hello, at the begin of the tap; false: it is none */
bool greet_hello(struct lane *n);
/*
 * the proxy: the server's welcome into @to, and its arena. How many bytes; 0: it is not there yet;
 * -1: the connection has ended
 */
int greet_take_welcome(struct lane *n, struct kvgpu_remote_welcome *to);
/*
 * the broker: a server's welcome, which the program gets with an arena of this machine; false: it
 * is none
 */
bool greet_give_welcome(struct lane *n, const struct kvgpu_remote_welcome *w);

/* ------------------------------------------------------------------ measure.c */

/*
 * After both sides' hellos: how large a piece may be that is better inside of a message, and what
 * one more message costs. The broker waits for it; where the proxy is silent, what is set stays.
 */
void measure(struct link *l);
/* The proxy: from the begin on; then at any time what has come: whether something had. */
bool measure_listen(struct link *l);
bool measure_answer(struct link *l);

/* ------------------------------------------------------------------ pace.c */

/*
 * Waits for one of @n connections, not at all while something has @moved lately, longer and longer
 * else: MPI is looked at in between.
 * @open: a lane is. false: the process that started this one has gone.
 */
/* how often it slept */
extern unsigned long pace_sleeps;
bool pace(const struct settings *s, struct pollfd *p, unsigned int n, bool moved, bool open);

/* ------------------------------------------------------------------ broker.c, proxy.c */

/* exit codes */
int broker_run(const struct settings *s, int ranks);
int proxy_run(const struct settings *s, int nursery);

#endif
