// SPDX-License-Identifier: MIT
/*
 * What graphs refer to by user objects of the library: the server's own things, and user objects of
 * the client.
 */
#include <stdlib.h>

#include "server.h"

CUresult graph_refers(struct server *s, CUgraph graph, CUhostFn let_go, void *what)
{
	CUuserObject object;
	CUresult r;

	if (!s->library.cuUserObjectCreate)
		return CUDA_SUCCESS;
	r = CALL(s, cuUserObjectCreate, &object, what, let_go, 1,
		 CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
	if (r) {
		let_go(what);
		return r;
	}
	r = CALL(s, cuGraphRetainUserObject, graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
	if (r)
		CALL(s, cuUserObjectRelease, object, 1);
	return r;
}

struct user_ref *ref_find(struct server *s, uint64_t graph, const struct user *u)
{
	struct refs *r = &s->refs;
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (r->list[i].graph == graph && r->list[i].user == u)
			return &r->list[i];
	return NULL;
}

bool ref_add(struct server *s, uint64_t graph, struct user *u, unsigned int count)
{
	struct refs *r = &s->refs;
	struct user_ref *h = ref_find(s, graph, u), *grown;

	if (h) {
		h->count += count;
		return true;
	}
	if (r->nr == r->max) {
		grown = realloc(r->list, (r->max ? 2 * r->max : 16) * sizeof(*grown));
		if (!grown)
			return false;
		r->list = grown;
		r->max = r->max ? 2 * r->max : 16;
	}
	r->list[r->nr++] = (struct user_ref){ graph, u, count };
	return true;
}

void ref_drop(struct server *s, struct user_ref *h, unsigned int count)
{
	h->count -= count;
	if (!h->count)
		*h = s->refs.list[--s->refs.nr];
}

void refs_clone(struct server *s, uint64_t from, uint64_t to)
{
	struct refs *r = &s->refs;
	unsigned int i, n = r->nr;

	for (i = 0; i < n; i++)
		if (r->list[i].graph == from)
			ref_add(s, to, r->list[i].user, 1);
}

uint64_t refs_sum(const struct server *s, const struct user *u)
{
	const struct refs *r = &s->refs;
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < r->nr; i++)
		if (r->list[i].user == u)
			sum += r->list[i].count;
	return sum;
}

void refs_forget_user(struct server *s, const struct user *u)
{
	struct refs *r = &s->refs;
	unsigned int i = 0;

	while (i < r->nr)
		if (r->list[i].user == u)
			r->list[i] = r->list[--r->nr];
		else
			i++;
}

void refs_forget_graph(struct server *s, uint64_t graph)
{
	struct refs *r = &s->refs;
	unsigned int i = 0;

	while (i < r->nr)
		if (r->list[i].graph == graph)
			r->list[i] = r->list[--r->nr];
		else
			i++;
}

void refs_free(struct server *s)
{
	free(s->refs.list);
}
