/* SPDX-License-Identifier: MIT */
/*
 * How a client and a server that have nothing in common but a shmem region find each other, and how
 * each notices that the other is gone. Pure: a step makes at most one access to the shmem region,
 * so that tests can put anything between two accesses.
 *
 * The server writes `server` = generation and what it says, the client `client` = nonce and what
 * it says. A nonce is used once. A lock on the file, which ends with its process, lets in one
 * client of a machine and one server of a machine at a time. So a new nonce tells the server that
 * the client of the old nonce is gone, and a new generation tells the client the same of its
 * server.
 *
 *	server says
 *	FREE		a client may ask to connect
 *	TAKEN		the client with nonce `taken` has the shmem region
 *	REFUSED		the client with nonce `taken` is refused: another version
 *
 *	client says
 *	AWAY		no client is there
 *	REQUESTS	wants to be taken by the server of `generation`
 *	HERE		has seen that it was taken
 *
 * The server clears rings and completion slots after a connect request and before TAKEN: then no
 * other client lives that could still write there.
 */
#ifndef KVGPU_REMOTE_ATTACH_H
#define KVGPU_REMOTE_ATTACH_H

#include <stdbool.h>

#include "layout.h"

enum attach_server_says { ATTACH_NONE, ATTACH_FREE, ATTACH_TAKEN, ATTACH_REFUSED };
enum attach_client_says { ATTACH_AWAY, ATTACH_REQUESTS, ATTACH_HERE };

#define ATTACH_WORD(n, says) ((uint64_t)(n) << 8 | (says))
#define ATTACH_NUMBER(word)  ((word) >> 8)
#define ATTACH_SAYS(word)    ((unsigned int)((word)&0xff))
#define ATTACH_NUMBERS	     (1ull << 56)
/*
 * ATTACH_NONCE(): a client's first nonce, made of its name (40 bits, not 0). ATTACH_NAME(): the
 * name in a nonce.
 */
#define ATTACH_NONCE(name) ((uint64_t)(name) << 16)
#define ATTACH_NAME(nonce) ((nonce) >> 16)
#define ATTACH_NOBODY	   UINT64_MAX

/* Call in the server before its first step: there is a shmem region of @bytes here. */
void attach_page_open(struct attach_page *page, uint64_t bytes, uint64_t version);
/*
 * Call in the client before its first step. *bytes: the shmem region's size; false: no server was
 * here.
 */
bool attach_page_bytes(const struct attach_page *page, uint64_t *bytes);
/* The version that the server has told; after ATTACH_OTHER_VERSION, for people to read. */
uint64_t attach_page_version(const struct attach_page *page);

/* what a step found; "done": client and server are attached */
enum attach_step {
	ATTACH_AT_ONCE, /* the next step may follow at once */
	ATTACH_LOOK_LATER, /* the peer's turn: look again after a while */
	/* server: rings and completion slots have to be zero before the next step */
	ATTACH_CLEAR,
	ATTACH_DONE, /* client and server are attached */
	ATTACH_OTHER_VERSION, /* client: it was refused, and has left */
	ATTACH_GONE, /* the peer is gone, after ATTACH_DONE */
};

struct attach_server {
	struct attach_page *page;
	uint64_t version;
	uint64_t generation; /* 56 bits; differs from an earlier server's */
	uint64_t only; /* the name of the only client to take; 0: any client; ATTACH_NOBODY: none */
	uint64_t nonce; /* the nonce of the client */
	unsigned int at;
};

struct attach_client {
	struct attach_page *page;
	uint64_t version;
	/* ATTACH_NONCE() at first; counts up with each connect request */
	uint64_t nonce;
	uint64_t generation;
	unsigned int at;
};

/*
 * s->at is 0 at first. Call until ATTACH_DONE. After that a step returns ATTACH_DONE, or
 * ATTACH_GONE: the client has gone.
 */
enum attach_step attach_server_step(struct attach_server *s);
/* Return the name of a client that asks to connect now, or 0. One access. */
uint64_t attach_request(const struct attach_page *page);
/* Be ready for another client. Nothing of the server may use the shmem region any more. */
void attach_server_again(struct attach_server *s);

/* As attach_server_step(), for a client. */
enum attach_step attach_client_step(struct attach_client *c);
/* leave the shmem region; one access */
void attach_client_leave(struct attach_client *c);

/* Whether the counter has stood still for longer than @patience_ns. @ns: the time now. */
struct attach_beat {
	uint64_t last, since_ns;
	bool begun;
};
bool attach_beat_stands(struct attach_beat *b, const uint64_t *counter, uint64_t ns,
			uint64_t patience_ns);

#endif
