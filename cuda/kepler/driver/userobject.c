// SPDX-License-Identifier: MIT
/*
 * The lock of all graphs, and user objects, whose destructors are called once it is given back.
 * User objects live as long as the application, a graph, or an executable graph made from it refers
 * to them. Their destructor is called without any lock, by the next thread that calls
 * graphs_leave(), as users_destroy() does.
 */
#include <stdlib.h>

#include "graph.h"

struct CUuserObject_st {
	uint32_t magic;
	unsigned int count;
	void *ptr;
	CUhostFn destroy;
	CUuserObject next; /* in `dead` */
};

pthread_mutex_t graphs = PTHREAD_MUTEX_INITIALIZER;

/* without references, for users_destroy(); guarded by `graphs` */
static CUuserObject dead;

CUresult graphs_enter(void)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (in_host_function())
		return CUDA_ERROR_NOT_PERMITTED;
	pthread_mutex_lock(&graphs);
	return CUDA_SUCCESS;
}

void graphs_leave(void)
{
	CUuserObject list = dead, next;

	dead = NULL;
	pthread_mutex_unlock(&graphs);
	for (; list; list = next) {
		next = list->next;
		list->destroy(list->ptr);
		free(list);
	}
}

void users_destroy(void)
{
	pthread_mutex_lock(&graphs);
	graphs_leave();
}

static void release(CUuserObject object, unsigned int count)
{
	object->count -= count;
	if (object->count)
		return;
	object->magic = 0;
	object->next = dead;
	dead = object;
}

static struct user_ref **ref_of(CUgraph graph, CUuserObject object)
{
	struct user_ref **at;

	for (at = &graph->users; *at && (*at)->object != object; at = &(*at)->next)
		;
	return at;
}

static CUresult retain(CUgraph graph, CUuserObject object, unsigned int count)
{
	struct user_ref **at = ref_of(graph, object);

	if (!*at)
		*at = calloc(1, sizeof(**at));
	if (!*at)
		return CUDA_ERROR_OUT_OF_MEMORY;
	(*at)->object = object;
	(*at)->count += count;
	return CUDA_SUCCESS;
}

void users_free(CUgraph graph)
{
	while (graph->users) {
		struct user_ref *ref = graph->users;

		graph->users = ref->next;
		release(ref->object, ref->count);
		free(ref);
	}
}

/* the copy holds one reference to each object */
CUresult users_copy(CUgraph to, CUgraph from)
{
	struct user_ref *ref;
	CUresult r = CUDA_SUCCESS;

	for (ref = from->users; ref && !r; ref = ref->next) {
		r = retain(to, ref->object, 1);
		if (!r)
			ref->object->count++;
	}
	return r;
}

static bool is_object(CUuserObject object)
{
	return object && object->magic == MAGIC_USER;
}

CUresult cuUserObjectCreate(CUuserObject *out, void *ptr, CUhostFn destroy, unsigned int count,
			    unsigned int flags)
{
	CUuserObject object;
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!out || !destroy || !count || count > INT32_MAX ||
	    flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	object = calloc(1, sizeof(*object));
	if (!object)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*object = (struct CUuserObject_st){
		.magic = MAGIC_USER, .count = count, .ptr = ptr, .destroy = destroy
	};
	*out = object;
	return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_object(object) || !count || count > INT32_MAX)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		object->count += count;
	graphs_leave();
	return r;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_object(object) || !count || count > object->count)
		r = CUDA_ERROR_INVALID_VALUE;
	else
		release(object, count);
	graphs_leave();
	return r;
}

/* MOVE: the caller's references become the graph's */
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
				 unsigned int flags)
{
	CUresult r = graphs_enter();

	if (r)
		return r;
	if (!is_graph(graph) || !is_object(object) || !count || count > INT32_MAX ||
	    flags & ~CU_GRAPH_USER_OBJECT_MOVE || (flags && count > object->count))
		r = CUDA_ERROR_INVALID_VALUE;
	else
		r = retain(graph, object, count);
	if (!r && !flags)
		object->count += count;
	graphs_leave();
	return r;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
	struct user_ref **at, *ref = NULL;
	CUresult r = graphs_enter();

	if (r)
		return r;
	at = is_graph(graph) ? ref_of(graph, object) : &ref;
	ref = *at;
	if (!ref || !count || count > ref->count) {
		r = CUDA_ERROR_INVALID_VALUE;
	} else {
		ref->count -= count;
		release(ref->object, count);
		if (!ref->count) {
			*at = ref->next;
			free(ref);
		}
	}
	graphs_leave();
	return r;
}
