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

#include "cut.h"
#include "nursery.h"

enum { LANES = 64, SLOTS_MAX = 16, CONTROLS = 8, SECRET_BYTES = 32, POLLS_MAX = 4096 };

struct settings {
	size_t staging;			/* bytes of a message at most, with its head */
	unsigned int slots;		/* messages of a lane under way, each direction */
	/* up to so many bytes a message is sent without waiting for the other side's receive */
	size_t eager;
	unsigned int spin_us;		/* after the last byte: looks without a pause */
	unsigned int patience_s;	/* without a sign of life a peer is gone */
	uint64_t arena;
	const char *library, *folder;
	unsigned int first;		/* the broker's first address is folder/first */
	unsigned int device;		/* of the GPUs of its machine, a proxy's */
	uint8_t secret[SECRET_BYTES];
};

/* What every message of a lane begins with. */
struct piece {
	uint32_t bytes, last;
};

struct slot {
	uint8_t *bytes;
	MPI_Request made[CUT_CLASSES];	/* persistent, from their first use on */
	MPI_Request *active;
};

enum lane_state { LANE_FREE, LANE_OPEN };

struct lane {
	struct link *link;
	enum lane_state state;
	bool made;			/* has its slots, for good */
	bool wanted;			/* is to be opened again when it is free */
	int fd;				/* the local connection; -1: closed */
	struct pollfd *poll;		/* of this turn; NULL: none */
	struct slot out[SLOTS_MAX], in[SLOTS_MAX];
	unsigned int first_out, busy_out, next_in;
	size_t reading;			/* bytes that were read into the next slot */
	size_t written, holds;		/* of the slot in[next_in]; holds: a message is there */
	bool holding, ended, last_sent, last_seen;
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

/* ------------------------------------------------------------------ pace.c */

/*
 * Waits for one of @n connections, not at all while something has @moved lately, longer and longer
 * else: MPI is looked at in between.
 * @open: a lane is. false: the process that started this one has gone.
 */
bool pace(const struct settings *s, struct pollfd *p, unsigned int n, bool moved, bool open);

/* ------------------------------------------------------------------ broker.c, proxy.c */

/* exit codes */
int broker_run(const struct settings *s, int ranks);
int proxy_run(const struct settings *s, int nursery);

#endif
