// SPDX-License-Identifier: MIT
/*
 * What ends with what: an object's number ends with that of its parent, and all that other files
 * know of the object ends with its number.
 */
#include "server.h"

void context_leave(struct server *s, uint64_t id)
{
	if (KVGPU_REMOTE_CLASS(id) != CLASS_CONTEXT)
		return;
	sched_forget(s, id);
	copies_forget(s, id);
	lents_forget(s, id);
	ordered_forget(s, id);
	waits_forget_context(s, id);
}

static void remove_one(struct server *s, struct entry *e)
{
	unsigned int class = KVGPU_REMOTE_CLASS(e->id);

	context_leave(s, e->id);
	if (class == CLASS_EVENT) {
		waits_forget_event(s, e->what);
		share_event_ends(s, e);
	}
	quota_give(s, e->charged);
	if (class == CLASS_CONTEXT)
		quota_return_context(s, e->id);
	graph_refs_forget(s, e);
	if (class == CLASS_GRAPH)
		refs_forget_graph(s, e->id);
	if (class == CLASS_EXEC)
		switched_forget(s, e->id);
	handle_take_out(s, e);
}

/*
 * The library destroys the graph of a capture that fails, also when its stream or context ends.
 * Which graph that was is not known, so the graphs of all captures are forgotten.
 */
void captures_forget(struct server *s)
{
	struct handles *t = &s->handles;
	uint32_t i;

	for (i = 1; s->captures.numbered && i < t->nr_entries; i++) {
		struct entry *e = &t->entries[i];

		if (e->what && KVGPU_REMOTE_CLASS(e->id) == CLASS_GRAPH && e->parent &&
		    KVGPU_REMOTE_CLASS(t->entries[e->parent].id) == CLASS_STREAM)
			handle_drop(s, e->id);
	}
	s->captures.numbered = false;
}

/* without recursion: graphs can hang on graphs as deep as a client likes */
void handle_empty(struct server *s, uint64_t id)
{
	struct handles *t = &s->handles;
	struct entry *top = handle_entry(s, id);
	uint32_t root, i, parent;

	if (!top)
		return;
	if (KVGPU_REMOTE_CLASS(id) == CLASS_CONTEXT || KVGPU_REMOTE_CLASS(id) == CLASS_STREAM)
		captures_forget(s);
	root = KVGPU_REMOTE_INDEX(id);
	for (i = root; t->entries[root].child; i = parent) {
		while (t->entries[i].child)
			i = t->entries[i].child;
		parent = t->entries[i].parent;
		remove_one(s, &t->entries[i]);
	}
	context_leave(s, id);
	if (KVGPU_REMOTE_CLASS(id) == CLASS_CONTEXT) {
		t->entries[root].beside = NULL;
		quota_give(s, t->entries[root].charged);
		t->entries[root].charged = 0;
		readback_forget(s, id);
		graph_refs_forget_context(s, id);
		quota_return_context(s, id);
	}
}

void handle_drop(struct server *s, uint64_t id)
{
	if (!handle_entry(s, id))
		return;
	handle_empty(s, id);
	remove_one(s, handle_entry(s, id));
	if (s->current == id)
		s->current = 0;
}
