/* SPDX-License-Identifier: MIT */
/*
 * Internal header of kvgpu-relay: one MPI job, whose rank 0 is the broker and whose other ranks are
 * proxies. A link connects the broker and one proxy. A tunnel of a link carries one program's
 * connection, byte by byte, both ways. Each rank has one thread, and no lock.
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
#include "control.h"
#include "message.h"
#include "note.h"
#include "forker.h"
#include "say.h"
#include "tags.h"
#include "parser.h"

enum { CONTROLS = 8, POLLS_MAX = 4096 };

struct settings {
	/* bytes of a message of a piece: KVGPU_REMOTE_RELAYED_MIN to _MAX */
	size_t staging;
	/* messages of a tunnel under way in each direction; and as many messages of its pieces */
	unsigned int slots;
	/* up to so many bytes a piece goes inside of a message; EAGER_MEASURED: measure how many */
	size_t eager;
	unsigned int spin_us; /* look so long without a pause after the last byte */
	unsigned int patience_s; /* a peer is gone after so long without a sign of life */
	uint64_t arena;
	unsigned int start_s; /* a proxy's: MPI has so long to begin, and some seconds */
	bool counts; /* print the counts at the end */
	bool whole; /* copies are not pipelined */
	bool users; /* count says who uses the GPUs */
	bool step; /* the process that has started this rank is no mpirun's */
	/* of the job, in the place of a secret; NULL: there is one */
	const char *number;
	const char *library, *folder;
	unsigned int first; /* the broker's first address is folder/first */
	unsigned int device; /* the proxy's GPU, of those that it sees */
	uint64_t memory; /* bytes of it for all programs; 0: all */
	const char *gpu, *label; /* the GPU's UUID or "-"; JOB:PROGRAM */
	int rank, ranks; /* this process's in the MPI job, and how many there are */
	/* the broker's: the job's name for programs, random; 0: none, as with one proxy */
	uint64_t job;
	uint8_t secret[SECRET_BYTES];
};

#define EAGER_MEASURED SIZE_MAX

struct slot {
	uint8_t *bytes;
	MPI_Request made[CUT_CLASSES]; /* persistent requests, made at their first use */
	MPI_Request *active;
};

/* counts since the begin */
struct counts {
	/* messages sent; pieces in them: inside of a message, and apart */
	uint64_t messages, inside, apart;
	/* of tunnels that have ended: messages of pieces; requests for pieces */
	uint64_t chunks, made;
	uint64_t bytes; /* sent by tunnels: pieces apart, and messages as cut.h rounds */
	/* a proxy's: pieces that came from other proxies and that went to them, and their bytes */
	uint64_t pulled, pulled_bytes, given, given_bytes;
};

/* a piece from another proxy; taken back: the receive was cancelled */
enum pull_state { PULL_WANTED, PULL_ASKED, PULL_TAKEN_BACK, PULL_LANDED, PULL_SPOILT };
struct pull {
	enum pull_state state;
	struct kvgpu_remote_source from;
	struct chunk *into; /* PULL_ASKED, PULL_TAKEN_BACK: the request */
	uint64_t since_us; /* when the state came to be */
};

/* a piece that another proxy has asked for */
struct gift {
	int rank, tag;
	struct kvgpu_remote_piece piece;
	struct chunk *from; /* NULL: it is not begun */
	uint64_t since_us;
};
enum { GIFTS = 256 };

struct inbox {
	uint8_t *bytes;
	MPI_Request made;
	struct message head; /* valid when the message has come */
	uint64_t landed; /* PIECE_APART: the piece has landed when receive.done has come to this */
	struct pull pull; /* PIECE_PULL */
	uint8_t said[PARSER_SAID]; /* what announces the piece to the local peer */
	size_t said_bytes, written;
};

enum tunnel_state { TUNNEL_FREE, TUNNEL_OPEN };

struct tunnel {
	struct link *link;
	enum tunnel_state state;
	bool made; /* the tunnel has its slots, for good */
	bool wanted; /* the tunnel has to be opened when it is free */
	/* the local peer's hello or welcome has come; the program's welcome has come */
	bool greeted, has_welcome;
	int fd; /* the local connection; -1: closed */
	struct pollfd *poll; /* in the list of this turn's poll(); NULL: not in it */
	/* shared with the local peer, from the welcome on; before that NULL */
	uint8_t *arena;
	uint64_t arena_bytes;
	struct bulk send, receive;
	/* random, of this connection; it lets the arena be read by other proxies */
	uint64_t key[2], next_key[2]; /* next_key: .wanted's */
	struct bulk pulled, given; /* requests for pieces from and for other proxies */
	struct gift *gifts;
	unsigned int nr_gifts;
	/* MPI may still use the arena, so it stays */
	bool abandoned;
	struct slot out[SLOTS_MAX];
	unsigned int first_out, busy_out;
	struct parser parser;
	struct message head; /* head of the message that is being made in the next slot */
	struct kvgpu_remote_source head_source; /* if it has a piece that is to be pulled */
	/* a piece that waits for a place in a message; .source: of one that is to be pulled */
	struct kvgpu_remote_piece piece;
	struct kvgpu_remote_source source;
	bool has_piece, is_pull;
	struct inbox in[SLOTS_MAX];
	unsigned int next_in, nr_in; /* the oldest message that has come, and how many have */
	bool stuck; /* the local peer takes no more for now */
	/* the connection has ended; the last message was sent; has come */
	bool ended, last_sent, last_seen;
};

struct link {
	const struct settings *settings;
	int rank; /* rank of the other side */
	struct counts counts;
	/* as set or a default; then measure.c writes these three */
	size_t eager, overhead;
	bool measured;
	MPI_Request measuring; /* in a proxy, until .measured; measure.c's, as the next */
	uint8_t measure[EAGER_MAX + 64];
	/* hello: the other side has shown the secret; over: it has said its end */
	bool lost, hello, over;
	bool unreachable; /* lost, as it says nothing, or can't be reached */
	/* heard_us: when a control message, or a tunnel's message, came last */
	uint64_t heard_us, said_us;
	struct control in[CONTROLS], out[CONTROLS];
	MPI_Request in_made[CONTROLS], out_made[CONTROLS];
	bool out_busy[CONTROLS];
	unsigned int next_in;
	/* tunnels from this one on were never opened */
	unsigned int used;
	struct tunnel tunnels[TUNNELS];
};

/* ------------------------------------------------------------------ link.c */

/* @l is all zero. False: MPI returns an error, which was printed. */
bool link_begin(struct link *l, const struct settings *s, int rank);
/* send a control message; false: there is no room now, or the link is lost */
bool link_say(struct link *l, enum control_kind kind, unsigned int tunnel);
/* tell the proxy to open tunnel @n, with the tunnel's .key */
bool link_open(struct link *l, const struct tunnel *n);
/*
 * Take a control message of the other side; false: there is none. A message that can't be of this
 * job and this build loses the link.
 */
bool link_hear(struct link *l, struct control *c);
/* Tell the other side that this side lives. Lose the link if the other side is silent too long. */
void link_beat(struct link *l);
/*
 * Before MPI_Finalize(), when the link is quiet: wait until the control messages that were sent
 * have gone, and take back the receives. Not for a link that is lost: it could wait without end.
 */
void link_end(struct link *l);
/* The link is lost, and @why is printed. tunnels_go() ends the connections of its tunnels. */
void link_lose(struct link *l, const char *why);
/* the same, where the network may be cut: sets .unreachable */
void link_out_of_reach(struct link *l, const char *why);

/* ------------------------------------------------------------- tunnels.c: the tunnels of a link */

/* a free tunnel, or NULL */
struct tunnel *tunnel_find(struct link *l);
/* @fd belongs to the tunnel; false: out of memory, or MPI's error, and @fd is closed */
bool tunnel_open(struct tunnel *n, int fd);
/* Fill @p with what the tunnels wait for; return how many. *open: set if a tunnel is open. */
unsigned int tunnels_wait(struct link *l, struct pollfd *p, bool *open);
/* after poll(): move the bytes of all tunnels; whether some were moved */
bool tunnels_go(struct link *l);
/* tunnels_hang_up(): end the connections of all tunnels. tunnels_are_quiet(): no tunnel is open. */
void tunnels_hang_up(struct link *l);
bool tunnels_are_quiet(const struct link *l);

/* ----------------------------------- outbox.c and inbox.c: from the local connection, and to it */

/* make the tunnel's slots of that direction; false: out of memory, or MPI's error */
bool outbox_make(struct tunnel *n);
bool inbox_make(struct tunnel *n);
/* move what can be moved; whether something was */
bool outbox_go(struct tunnel *n);
bool inbox_go(struct tunnel *n);

/* ----------------------------------------------------------- tunnel.c: what both directions use */

static inline int tunnel_number(const struct tunnel *n)
{
	return n - n->link->tunnels;
}
/* false: @r is an error of MPI, and the link is lost */
bool tunnel_fine(struct tunnel *n, int r);
void tunnel_end_local(struct tunnel *n);
/* give the tunnel its arena, for it to unmap; false: out of memory */
bool tunnel_has_arena(struct tunnel *n, uint8_t *arena, uint64_t bytes);
/*
 * The tunnel is free, and its arena unmapped. If the link is lost, or the tunnel abandoned, MPI may
 * still use the arena, so that stays mapped.
 */
void tunnel_let_go(struct tunnel *n);

/* -------------------------------------------- pull.c: pieces that go directly between proxies */

/* In a proxy, once: listen to the other proxies; false: MPI returns an error, or out of memory. */
bool pull_begin(struct link *l);
/* hear other proxies, and move what can be moved; whether something was */
bool pull_go(struct link *l);
/*
 * One step of a message's piece; whether something has moved. Sets .state. inbox.c has checked the
 * piece and the proxy that it is to come from (message_is_sound(), source_is_sound()).
 */
bool pull_step(struct tunnel *n, struct inbox *in);
static inline bool pull_is_over(const struct pull *p)
{
	return p->state == PULL_LANDED || p->state == PULL_SPOILT;
}
/* whether no other proxy is being given a piece of the tunnel's arena */
bool pull_is_idle(const struct tunnel *n);
/*
 * Free all that is for notes, before MPI_Finalize(); not if the link is lost. Notes that MPI still
 * sends stay.
 */
void pull_end(void);

/* ------------------------------------------------------------- greet.c: how a connection begins */

/* in the broker: read a program's hello at the begin of the parser's bytes; false: it is none */
bool greet_hello(struct tunnel *n);
/*
 * In the proxy: read the server's welcome into @to, and map its arena. Return how many bytes; 0: it
 * is not there yet; -1: an error.
 */
int greet_take_welcome(struct tunnel *n, struct kvgpu_remote_welcome *to);
/* In the broker: give the program a welcome, with an arena of this machine. False: it is none. */
bool greet_give_welcome(struct tunnel *n, const struct kvgpu_remote_welcome *w);

/* ------------------------------------------------------------------ measure.c */

/*
 * After both sides' hellos: measure how large a piece may be that is better inside of a message,
 * and what one more message costs. The broker waits for that, for a limited time.
 */
void link_measure(struct link *l);
/*
 * In the proxy. measure_listen(): call once at the begin. measure_answer(): answer what has come;
 * whether something had.
 */
bool measure_listen(struct link *l);
bool measure_answer(struct link *l);

/* ------------------------------------------------------------------ backoff.c */

uint64_t now_us(void);
/* how often backoff_wait() has slept */
extern unsigned long backoff_sleeps;
/*
 * Wait for one of the @n connections in @p: not at all while something has @moved lately, else
 * longer and longer. @open: a tunnel is open, so wait for less. False: nothing has moved, and the
 * process that started this one has gone.
 */
bool backoff_wait(const struct settings *s, struct pollfd *p, unsigned int n, bool moved,
		  bool open);

/* ------------------------------------------------------------------ broker.c, proxy.c */

/* return exit codes */
int broker_run(const struct settings *s, int ranks);
int proxy_run(const struct settings *s, int forker);

#endif
