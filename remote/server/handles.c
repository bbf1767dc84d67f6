// SPDX-License-Identifier: MIT
/*
 * Handles. The client has numbers in the place of the library's handles. A number has the index of
 * an entry in a table, the entry's generation, and the class; a number that differs from the
 * entry's is no handle. An object that ends with another object hangs on that one, its parent
 * (destroy_cascade.c).
 */
#include <stdlib.h>

#include "server.h"

enum { FIRST_ENTRIES = 1024, ENTRIES_MAX = 1 << 20 };

static uint32_t chain_of(const struct server *s, unsigned int class, const void *what)
{
	uint64_t h = ((uintptr_t)what >> 3) * 0x9e3779b97f4a7c15ull + class;

	return (h ^ h >> 32) & (s->handles.nr_chains - 1);
}

struct entry *handle_entry(struct server *s, uint64_t id)
{
	struct handles *t = &s->handles;
	uint32_t i = KVGPU_REMOTE_INDEX(id);

	return i && i < t->nr_entries && t->entries[i].what && t->entries[i].id == id ?
		       &t->entries[i] :
		       NULL;
}

bool handle_find(struct server *s, unsigned int class, uint64_t id, void **what)
{
	struct entry *e = KVGPU_REMOTE_CLASS(id) == class ? handle_entry(s, id) : NULL;

	if (e)
		*what = e->what;
	return e;
}

bool stream_find(struct server *s, uint64_t id, CUstream *stream)
{
	if (id > 1)
		return handle_find(s, CLASS_STREAM, id, (void **)stream);
	*stream = NULL;
	return true;
}

uint64_t parent_of(struct server *s, uint64_t id)
{
	const struct entry *e = handle_entry(s, id);

	return e && e->parent ? s->handles.entries[e->parent].id : 0;
}

/* ------------------------------------------------------------------ the table */

static bool grow(struct server *s)
{
	struct handles *t = &s->handles;
	uint32_t max = t->max_entries ? 2 * t->max_entries : FIRST_ENTRIES, i, chain;
	struct entry *entries;
	uint32_t *chains;

	if (max > ENTRIES_MAX)
		return false;
	entries = realloc(t->entries, max * sizeof(*entries));
	if (!entries)
		return false;
	t->entries = entries;
	chains = calloc(max, sizeof(*chains));
	if (!chains)
		return false;
	t->max_entries = max;
	free(t->chains);
	t->chains = chains;
	t->nr_chains = max;
	if (!t->nr_entries)
		t->nr_entries = 1; /* 0 is no entry */
	for (i = 1; i < t->nr_entries; i++) {
		if (!entries[i].what)
			continue;
		chain = chain_of(s, KVGPU_REMOTE_CLASS(entries[i].id), entries[i].what);
		entries[i].next = chains[chain];
		chains[chain] = i;
	}
	return true;
}

static uint32_t known(const struct server *s, unsigned int class, const void *what)
{
	const struct handles *t = &s->handles;
	uint32_t i = t->nr_chains ? t->chains[chain_of(s, class, what)] : 0;

	while (i && (t->entries[i].what != what || KVGPU_REMOTE_CLASS(t->entries[i].id) != class))
		i = t->entries[i].next;
	return i;
}

static void hang_on(struct server *s, uint32_t i, uint32_t parent)
{
	struct handles *t = &s->handles;
	struct entry *e = &t->entries[i];

	e->parent = parent;
	if (!parent)
		return;
	e->after = t->entries[parent].child;
	if (e->after)
		t->entries[e->after].before = i;
	t->entries[parent].child = i;
}

static void take_off(struct server *s, uint32_t i)
{
	struct handles *t = &s->handles;
	struct entry *e = &t->entries[i];

	if (e->before)
		t->entries[e->before].after = e->after;
	else if (e->parent)
		t->entries[e->parent].child = e->after;
	if (e->after)
		t->entries[e->after].before = e->before;
	e->parent = e->before = e->after = 0;
}

static uint32_t fresh(struct server *s)
{
	struct handles *t = &s->handles;
	uint32_t i = t->free_entry;

	if (i) {
		t->free_entry = t->entries[i].next;
		return i;
	}
	if (t->nr_entries == t->max_entries && !grow(s))
		return 0;
	i = t->nr_entries++;
	t->entries[i].id = i;
	return i;
}

bool handle_room(struct server *s)
{
	struct handles *t = &s->handles;

	return t->free_entry || t->nr_entries < t->max_entries || grow(s);
}

uint64_t handle_give(struct server *s, unsigned int class, const void *what, uint64_t parent)
{
	struct handles *t = &s->handles;
	struct entry *on = parent ? handle_entry(s, parent) : NULL, *e;
	uint32_t i, chain, on_index = on ? KVGPU_REMOTE_INDEX(on->id) : 0;

	if (!what)
		return 0;
	i = known(s, class, what);
	if (i)
		return t->entries[i].id;
	/* a node that is given with a node as its parent hangs on that node's graph */
	if (class == CLASS_NODE && on && KVGPU_REMOTE_CLASS(on->id) == CLASS_NODE)
		on_index = on->parent;
	i = fresh(s);
	if (!i)
		return 0;
	e = &t->entries[i];
	*e = (struct entry){ .what = (void *)(uintptr_t)what,
			     .id = KVGPU_REMOTE_NEXT(i | (e->id >> 32 & 0xffffff) << 32 |
						     (uint64_t) class << 56),
			     .bytes = UINT32_MAX,
			     .born = s->frame.served };
	chain = chain_of(s, class, what);
	e->next = t->chains[chain];
	t->chains[chain] = i;
	hang_on(s, i, on_index);
	return e->id;
}

uint64_t handle_known(const struct server *s, unsigned int class, const void *what)
{
	uint32_t i = what ? known(s, class, what) : 0;

	return i ? s->handles.entries[i].id : 0;
}

void handle_hang(struct server *s, uint64_t id, uint64_t parent)
{
	if (handle_entry(s, id) && handle_entry(s, parent))
		hang_on(s, KVGPU_REMOTE_INDEX(id), KVGPU_REMOTE_INDEX(parent));
}

void handle_free(struct server *s, uint64_t id)
{
	if (handle_entry(s, id))
		take_off(s, KVGPU_REMOTE_INDEX(id));
}

static void out_of_chain(struct server *s, uint32_t i)
{
	struct handles *t = &s->handles;
	struct entry *e = &t->entries[i];
	uint32_t *at = &t->chains[chain_of(s, KVGPU_REMOTE_CLASS(e->id), e->what)];

	while (*at != i)
		at = &t->entries[*at].next;
	*at = e->next;
}

void handle_point(struct server *s, uint64_t id, void *what)
{
	struct entry *e = handle_entry(s, id);
	uint32_t chain;

	out_of_chain(s, KVGPU_REMOTE_INDEX(id));
	e->what = what;
	chain = chain_of(s, KVGPU_REMOTE_CLASS(id), what);
	e->next = s->handles.chains[chain];
	s->handles.chains[chain] = KVGPU_REMOTE_INDEX(id);
}

void handle_take_out(struct server *s, struct entry *e)
{
	uint32_t i = KVGPU_REMOTE_INDEX(e->id);

	out_of_chain(s, i);
	take_off(s, i);
	*e = (struct entry){ .id = e->id, .next = s->handles.free_entry };
	s->handles.free_entry = i;
}
