/* SPDX-License-Identifier: MIT */
/* graph_refs.c: events and modules that graphs refer to */
#ifndef KVGPU_REMOTE_SERVER_GRAPH_REFS_H
#define KVGPU_REMOTE_SERVER_GRAPH_REFS_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

struct entry;

/* captures of the client, for destroy_cascade.c, graph.c and graph_refs.c */
struct captures {
	bool numbered; /* the graph of a capture under way may have a number */
	unsigned int begun; /* captures that were begun and not ended */
};

struct graph_refs {
	struct ref_object *objects; /* what graphs use or used */
	bool over; /* atomic: a reference or a number has ended */
};

/*
 * Call before @graph, which may be an executable graph, is given event or function @id: from then
 * on the library's object lives at least as long as what is made of the graph.
 */
CUresult graph_ref_add(struct server *s, uint64_t graph, uint64_t id);
/* the same, before a call that @stream may capture */
CUresult capture_ref_add(struct server *s, uint64_t stream_id, CUstream stream, uint64_t id);
/*
 * The client ends event or module @id. True: graphs refer to it, so don't call the library; only
 * the number ends now.
 */
bool graph_refs_end(struct server *s, uint64_t id);
/* the entry ends */
void graph_refs_forget(struct server *s, struct entry *e);
/* the context has ended, and its events and modules with it */
void graph_refs_forget_context(struct server *s, uint64_t context);
/* after a frame: have the library end what the client has ended and no graph refers to */
void graph_refs_reap(struct server *s);
void graph_refs_free(struct server *s);

#endif
