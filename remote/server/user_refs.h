/* SPDX-License-Identifier: MIT */
/* user_refs.c, user.c: what graphs refer to by user objects of the library */
#ifndef KVGPU_REMOTE_SERVER_USER_REFS_H
#define KVGPU_REMOTE_SERVER_USER_REFS_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"

struct server;

/*
 * From now on @graph, and what the library makes of it, refers to @what. @let_go(@what) is
 * called, in any thread, when nothing refers to it any more, and so it is after an error. Without
 * user objects it is not called.
 */
CUresult graph_refers(struct server *s, CUgraph graph, CUhostFn let_go, void *what);

/* references of a graph to a user object of the client */
struct user_ref {
	uint64_t graph;
	struct user *user;
	unsigned int count;
};
struct refs {
	struct user *users; /* user.c */
	struct user_ref *list;
	unsigned int nr, max;
};

/* NULL: there are none */
struct user_ref *ref_find(struct server *s, uint64_t graph, const struct user *u);
/* note @count more; false: out of memory */
bool ref_add(struct server *s, uint64_t graph, struct user *u, unsigned int count);
/* @count of them, which are there, have ended */
void ref_drop(struct server *s, struct user_ref *h, unsigned int count);
/* graph @to is a clone of @from, with a reference of its own to each object */
void refs_clone(struct server *s, uint64_t from, uint64_t to);
/* how many references graphs have to @u */
uint64_t refs_sum(const struct server *s, const struct user *u);
/* the object, or the graph, has ended */
void refs_forget_user(struct server *s, const struct user *u);
void refs_forget_graph(struct server *s, uint64_t graph);
void refs_free(struct server *s);

void users_free(struct server *s);

#endif
