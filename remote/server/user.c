// SPDX-License-Identifier: MIT
/*
 * User objects. The library counts references and calls the destructor, which tells the client. A
 * handle points to memory of the server. The server passes an object to the library only if the
 * object is known to live: the client has a reference, or the graph that the client names got one
 * here. How far the library counts is not known: so the references that a client can make by number
 * are 2^30 at most. Copies of graphs add one for each copy, which costs the client memory.
 */
#include <stdlib.h>

#include "server.h"

enum { COUNT_MAX = 1 << 30 };

struct user {
	struct server *s;
	struct user *next;
	CUuserObject object; /* the library's object */
	uint64_t handle, id; /* the object's number; the client's number of the destructor */
	unsigned int count; /* references that the client has */
	/* references of graphs that ref_add() could not note for lack of memory */
	uint64_t not_noted;
	bool dead; /* atomic: the destructor was called, in any thread */
};

static struct user *user_of(CUuserObject handle)
{
	return (struct user *)handle;
}

static bool is_dead(const struct user *u)
{
	return __atomic_load_n(&u->dead, __ATOMIC_ACQUIRE);
}

static void destroyed(void *user)
{
	struct user *u = user;
	struct kvgpu_remote_notification h = { .kind = KVGPU_REMOTE_NOTIFY_GONE, .id = u->id };
	struct server *s = u->s;
	uint64_t none = 0;

	kvgpu_remote_notify(s->port, &h, &none, sizeof(none));
	__atomic_store_n(&u->dead, true, __ATOMIC_RELEASE); /* from here on @u may be freed */
}

static void reap_users(struct server *s)
{
	struct user **at = &s->refs.users, *u;

	while ((u = *at)) {
		if (!is_dead(u)) {
			at = &u->next;
			continue;
		}
		*at = u->next;
		refs_forget_user(s, u);
		handle_drop(s, u->handle);
		free(u);
	}
}

void users_free(struct server *s)
{
	while (s->refs.users) {
		struct user *u = s->refs.users;

		s->refs.users = u->next;
		free(u);
	}
}

/* whether @count more references to @u are no more than the library can count */
static bool may_get(const struct server *s, const struct user *u, unsigned int count)
{
	return u->count + u->not_noted + count + refs_sum(s, u) <= COUNT_MAX;
}

/* ------------------------------------------------------------------ */

CUresult frame_user_object(struct server *s, const struct q_user_object *q,
			   struct kvgpu_remote_cursor *in, struct kvgpu_remote_reply *out)
{
	struct a_user_object *a = kvgpu_remote_put(out, sizeof(*a));
	struct user *u = calloc(1, sizeof(*u));
	CUresult r = a && u ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

	if (!r && q->count > COUNT_MAX)
		r = CUDA_ERROR_INVALID_VALUE;
	if (r) {
		free(u);
		return r;
	}
	reap_users(s);
	*u = (struct user){ .s = s, .id = q->id, .count = q->count, .next = s->refs.users };
	u->handle = handle_give(s, CLASS_USER, u, 0);
	r = u->handle ? CALL(s, cuUserObjectCreate, &u->object, u, destroyed, q->count, q->flags) :
			CUDA_ERROR_OUT_OF_MEMORY;
	if (r) {
		handle_drop(s, u->handle);
		free(u);
		return r;
	}
	s->refs.users = u;
	a->object = u->handle;
	return CUDA_SUCCESS;
}

CUresult own_cuUserObjectRetain(struct server *s, CUuserObject object, unsigned int count)
{
	struct user *u = user_of(object);
	CUresult r = u && u->count && may_get(s, u, count) ?
			     CALL(s, cuUserObjectRetain, u->object, count) :
			     CUDA_ERROR_INVALID_VALUE;

	if (!r)
		u->count += count;
	return r;
}

/* the object may end at once if this was its last reference */
CUresult own_cuUserObjectRelease(struct server *s, CUuserObject object, unsigned int count)
{
	struct user *u = user_of(object);
	CUresult r = u && u->count && count <= u->count ?
			     CALL(s, cuUserObjectRelease, u->object, count) :
			     CUDA_ERROR_INVALID_VALUE;

	if (!r)
		u->count -= count;
	reap_users(s);
	return r;
}

CUresult own_cuGraphRetainUserObject(struct server *s, CUgraph graph, CUuserObject object,
				     unsigned int count, unsigned int flags)
{
	uint64_t id = handle_known(s, CLASS_GRAPH, graph);
	struct user *u = user_of(object);
	CUresult r;

	if (!id || !u || !u->count ||
	    !(flags & CU_GRAPH_USER_OBJECT_MOVE ? count <= u->count : may_get(s, u, count)))
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuGraphRetainUserObject, graph, u->object, count, flags);
	if (r)
		return r;
	if (flags & CU_GRAPH_USER_OBJECT_MOVE)
		u->count -= count;
	/* if that fails, the references can't be released one by one */
	if (!ref_add(s, id, u, count))
		u->not_noted += count;
	return CUDA_SUCCESS;
}

CUresult own_cuGraphReleaseUserObject(struct server *s, CUgraph graph, CUuserObject object,
				      unsigned int count)
{
	struct user_ref *h =
		object ? ref_find(s, handle_known(s, CLASS_GRAPH, graph), user_of(object)) : NULL;
	CUresult r = h && count <= h->count ?
			     CALL(s, cuGraphReleaseUserObject, graph, h->user->object, count) :
			     CUDA_ERROR_INVALID_VALUE;

	if (!r)
		ref_drop(s, h, count);
	reap_users(s);
	return r;
}

/* a clone has a reference of its own to each user object */
CUresult own_cuGraphClone(struct server *s, CUgraph *clone, CUgraph graph)
{
	CUresult r = CALL(s, cuGraphClone, clone, graph);
	uint64_t from = handle_known(s, CLASS_GRAPH, graph), to;

	if (r)
		return r;
	to = handle_give(s, CLASS_GRAPH, *clone, 0);
	if (to)
		refs_clone(s, from, to);
	return CUDA_SUCCESS;
}
