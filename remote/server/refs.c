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
	unsigned int i;

	for (i = 0; i < s->nr_refs; i++)
		if (s->refs[i].graph == graph && s->refs[i].user == u)
			return &s->refs[i];
	return NULL;
}

bool ref_add(struct server *s, uint64_t graph, struct user *u, unsigned int count)
{
	struct user_ref *h = ref_find(s, graph, u), *grown;

	if (h) {
		h->count += count;
		return true;
	}
	if (s->nr_refs == s->max_refs) {
		grown = realloc(s->refs, (s->max_refs ? 2 * s->max_refs : 16) * sizeof(*grown));
		if (!grown)
			return false;
		s->refs = grown;
		s->max_refs = s->max_refs ? 2 * s->max_refs : 16;
	}
	s->refs[s->nr_refs++] = (struct user_ref){ graph, u, count };
	return true;
}

void ref_drop(struct server *s, struct user_ref *h, unsigned int count)
{
	h->count -= count;
	if (!h->count)
		*h = s->refs[--s->nr_refs];
}

void refs_clone(struct server *s, uint64_t from, uint64_t to)
{
	unsigned int i, n = s->nr_refs;

	for (i = 0; i < n; i++)
		if (s->refs[i].graph == from)
			ref_add(s, to, s->refs[i].user, 1);
}

uint64_t refs_sum(const struct server *s, const struct user *u)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < s->nr_refs; i++)
		if (s->refs[i].user == u)
			sum += s->refs[i].count;
	return sum;
}

void refs_forget_user(struct server *s, const struct user *u)
{
	unsigned int i = 0;

	while (i < s->nr_refs)
		if (s->refs[i].user == u)
			s->refs[i] = s->refs[--s->nr_refs];
		else
			i++;
}

void refs_forget_graph(struct server *s, uint64_t graph)
{
	unsigned int i = 0;

	while (i < s->nr_refs)
		if (s->refs[i].graph == graph)
			s->refs[i] = s->refs[--s->nr_refs];
		else
			i++;
}

void refs_free(struct server *s)
{
	free(s->refs);
}
