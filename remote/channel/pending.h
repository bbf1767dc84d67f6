/* SPDX-License-Identifier: MIT */
/*
 * Connections at the doorbell of an endpoint, of clients that were not taken yet. A process that
 * can reach the doorbell may have no access to the endpoint's memory, so a ring decides nothing:
 * the name in a connect request, which is in that memory, says which connection is the client's. If
 * there is no room, the source with most connections loses its oldest. One thread.
 */
#ifndef KVGPU_REMOTE_PENDING_H
#define KVGPU_REMOTE_PENDING_H

#include <stdbool.h>
#include <stddef.h>

#include <remote/wire/frame.h>

#include "address.h"

enum { PENDING_MAX = 32 };

struct pending_client {
	int fd; /* -1: the entry is free */
	struct kvgpu_remote_hello hello; /* .version is the client's name */
	size_t have; /* bytes of .hello so far */
	struct address_source from;
	/* .until_ns: when the name has to be said, then when the connect request has to come */
	uint64_t id, until_ns;
};

struct pending_clients {
	int listening; /* -1: there is no doorbell */
	bool any; /* any source; else only vsock from .cid */
	uint32_t cid;
	uint64_t last_id;
	struct pending_client at[PENDING_MAX];
};

/* Listen at @doorbell, whose CID is that of the only client, or any. 0, or -errno and *why. */
int pending_listen(struct pending_clients *r, const struct address *doorbell, const char **why);
/* accept connections, and read names */
void pending_accept(struct pending_clients *r);
/* the connection that has said @name, and is still there; NULL: none */
struct pending_client *pending_find(struct pending_clients *r, uint64_t name);
/* Drop connections that have ended, or are late. Call after a look for a connect request. */
void pending_drop_late(struct pending_clients *r);
bool pending_any(const struct pending_clients *r);
void pending_drop(struct pending_client *one);
void pending_drop_all(struct pending_clients *r);
/* drop all connections, and stop listening */
void pending_end(struct pending_clients *r);

#endif
