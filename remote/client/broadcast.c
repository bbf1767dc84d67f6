// SPDX-License-Identifier: MIT
/*
 * kvgpuMemcpyBroadcast(): one buffer to many GPUs, by a binary tree of servers. A node gets a piece
 * when its parent has answered for it, and uses a place of its arena again when its children have
 * answered for what was there.
 */
#include <stdlib.h>

#include "broadcast.h"
#include "peer_direct.h"

enum { WINDOW = 4 };

struct tree_node {
	struct route to;
	CUdeviceptr at;
	uint64_t room;
	unsigned int completion[WINDOW], completions;
	uint64_t begun, over; /* pieces */
	struct call call[WINDOW];
	union {
		struct q_copy_in in;
		struct q_copy_out out;
	} q[WINDOW];
};

struct tree {
	const uint8_t *host; /* the source in the program's memory; NULL: the root's */
	uint64_t bytes, piece, pieces;
	unsigned int nr;
	struct tree_node *node;
	unsigned int *order;
	uint64_t asked, taken;
	unsigned int failed; /* the node whose answer was the first error; or 0 */
};

static unsigned int parent_of(unsigned int i)
{
	return (i - 1) / 2;
}

static uint64_t bytes_of(const struct tree *t, uint64_t piece)
{
	const uint64_t left = t->bytes - piece * t->piece;

	return left < t->piece ? left : t->piece;
}

static uint64_t place_of(const struct tree *t, const struct tree_node *n, uint64_t piece)
{
	return n->room + piece % WINDOW * t->piece;
}

static bool may_begin(const struct tree *t, unsigned int i)
{
	const struct tree_node *n = &t->node[i];
	unsigned int c;

	if (n->begun == t->pieces || n->begun - n->over == WINDOW ||
	    (i && t->node[parent_of(i)].over <= n->begun))
		return false;
	for (c = 2 * i + 1; c <= 2 * i + 2 && c < t->nr; c++)
		if (t->node[c].over + WINDOW <= n->begun)
			return false;
	return true;
}

/* the root's GPU has the source: copy a piece into its arena */
static void make_out(const struct tree *t, struct tree_node *n, struct call *c,
		     struct q_copy_out *q)
{
	*q = (struct q_copy_out){ .src = n->at + n->begun * t->piece,
				  .at = place_of(t, n, n->begun),
				  .bytes = bytes_of(t, n->begun),
				  .flags = COPY_WHOLE | COPY_STAYS };
	*c = (struct call){ .op = OP_copy_out,
			    .fixed = q,
			    .bytes = sizeof(*q),
			    .to = n->to,
			    .apart = !managed_has(n->at) };
}

static void make_in(const struct tree *t, struct tree_node *n, struct call *c, struct q_copy_in *q)
{
	*q = (struct q_copy_in){ .dst = n->at + n->begun * t->piece,
				 .at = place_of(t, n, n->begun),
				 .bytes = bytes_of(t, n->begun),
				 .flags = n->begun + 1 == t->pieces ? COPY_WHOLE : 0 };
	*c = (struct call){ .op = OP_copy_in,
			    .fixed = q,
			    .bytes = sizeof(*q),
			    .to = n->to,
			    .apart = !managed_has(n->at),
			    .push_at = q->at,
			    .push_bytes = q->bytes };
}

static CUresult begin_pieces(struct tree *t, unsigned int i)
{
	struct tree_node *n = &t->node[i], *parent = i ? &t->node[parent_of(i)] : NULL;
	const unsigned int slot = n->begun % WINDOW;
	struct kvgpu_remote_source source;
	struct call *c = &n->call[slot];
	CUresult r;

	if (!i && !t->host) {
		make_out(t, n, c, &n->q[slot].out);
	} else {
		make_in(t, n, c, &n->q[slot].in);
		if (parent) {
			source = peer_direct_source(parent->to.peer, place_of(t, parent, n->begun));
			c->fetch = &source;
		} else {
			memcpy(arena_at(n->to.peer, c->push_at), t->host + n->begun * t->piece,
			       c->push_bytes);
		}
	}
	r = call_begin(c, n->completion[slot]);
	if (!r) {
		n->begun++;
		t->order[t->asked++ % (t->nr * WINDOW)] = i;
	}
	return r;
}

/* @r: the first error until now */
static CUresult take_oldest(struct tree *t, CUresult r)
{
	const unsigned int i = t->order[t->taken++ % (t->nr * WINDOW)];
	struct tree_node *n = &t->node[i];
	const unsigned int slot = n->over++ % WINDOW;
	CUresult last = call_take(&n->call[slot], n->completion[slot], 0);

	if (last && !r)
		t->failed = i;
	return r ? r : last;
}

static CUresult grow(struct tree *t)
{
	CUresult r = CUDA_SUCCESS;
	unsigned int i;

	do {
		for (i = 0; i < t->nr && !r; i++)
			while (!r && may_begin(t, i))
				r = begin_pieces(t, i);
		if (t->taken < t->asked)
			r = take_oldest(t, r);
	} while (t->taken < t->asked || (!r && t->node[t->nr - 1].over < t->pieces));
	return r;
}

/* ------------------------------------------------------------------ the tree's nodes */

/* false: the memory is not known, or pieces can't go directly between its server and the others */
static bool add_target(struct tree *t, CUdeviceptr at)
{
	const struct object *ctx = range_context(at);
	struct tree_node *n = &t->node[t->nr];
	unsigned int i;

	if (!ctx || !range_holds(at, t->bytes) || programs_own(at))
		return false;
	n->to = (struct route){ .peer = object_peer(ctx), .ctx = ctx };
	n->at = at;
	n->room = KVGPU_REMOTE_NOWHERE;
	for (i = 0; i < t->nr; i++)
		if (!peer_direct_possible(n->to.peer, t->node[i].to.peer))
			return false;
	t->nr++;
	return true;
}

static bool add_all(struct tree *t, const CUdeviceptr *dst, unsigned int n, CUdeviceptr src)
{
	unsigned int i;

	if (!t->host && !add_target(t, src))
		return false;
	for (i = 0; i < n; i++)
		if (!add_target(t, dst[i]))
			return false;
	return t->nr > 1;
}

static void take_rooms(struct tree *t, bool *all)
{
	struct tree_node *n;

	t->piece = peer_direct_piece(t->node[0].to.peer, t->node[1].to.peer, t->bytes);
	t->pieces = (t->bytes + t->piece - 1) / t->piece;
	*all = true;
	for (n = t->node; n < t->node + t->nr && *all; n++) {
		n->completions =
			peer_direct_room(n->to.peer, t->piece, WINDOW, n->completion, &n->room);
		*all = n->completions == WINDOW;
	}
}

/* false: all is still to be copied */
static bool by_tree(struct tree *t, const CUdeviceptr *dst, unsigned int n, CUdeviceptr src,
		    CUresult *r)
{
	bool all = false;
	unsigned int i;

	t->node = calloc(n + 1, sizeof(*t->node));
	t->order = calloc((n + 1) * WINDOW, sizeof(*t->order));
	if (t->node && t->order && add_all(t, dst, n, src)) {
		take_rooms(t, &all);
		if (all)
			*r = grow(t);
		for (i = 0; i < t->nr && all && *r == CUDA_ERROR_SYSTEM_NOT_READY; i++)
			t->node[i].room = KVGPU_REMOTE_NOWHERE;
		if (all && t->failed &&
		    peer_direct_failed(t->node[t->failed].to.peer,
				       t->node[parent_of(t->failed)].to.peer, *r))
			all = false;
		for (i = 0; i < t->nr; i++)
			peer_direct_room_end(t->node[i].to.peer, t->node[i].completions,
					     t->node[i].completion, t->node[i].room);
	}
	free(t->node);
	free(t->order);
	return all;
}

static CUresult broadcast(const CUdeviceptr *dst, unsigned int n, CUdeviceptr src, size_t bytes)
{
	struct tree t = { .bytes = bytes };
	enum memory_kind from;
	bool captured;
	unsigned int i;
	CUresult r = call_enter(0);

	if (r || !n || !bytes)
		return r;
	if (!dst || !src || n > DEVICES_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	from = memory_kind_of(src, false);
	t.host = from == MEMORY_HOST ? (const uint8_t *)(uintptr_t)src : NULL;
	if (t.host)
		r = host_copy_begins(NULL, true, t.host, &captured);
	if (r)
		return r;
	if (!captures_any() && from != MEMORY_UNKNOWN && by_tree(&t, dst, n, src, &r))
		return r;
	r = CUDA_SUCCESS;
	for (i = 0; i < n && !r; i++)
		r = cuMemcpy(dst[i], src, bytes);
	return r;
}

/* The thread can't be cancelled meanwhile, as in CUDA's calls (cuda/api/outside.c). */
CUresult kvgpuMemcpyBroadcast(const CUdeviceptr *dst, unsigned int n, CUdeviceptr src, size_t bytes)
{
	CUresult r;
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	r = broadcast(dst, n, src, bytes);
	pthread_setcancelstate(before, NULL);
	return r;
}
