// SPDX-License-Identifier: MIT
/*
 * The objects that the program's handles point at: slots of one reserved range of addresses. An
 * object's slot has the index of the server's number for it. To tell whether a pointer is a handle,
 * nothing outside of the range is read.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "client.h"

enum { SLOTS = 1 << 20 }; /* slots of each server; unique_id() */

static pthread_mutex_t objects = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER; /* an object ended, or did not */
static struct object *slots; /* atomic: reserved at the first handle */
static uintptr_t slots_bytes;

static struct object *object_range(void)
{
	return __atomic_load_n(&slots, __ATOMIC_ACQUIRE);
}

/* inline: link-time optimization puts it into frequent calls of other files */
inline struct object *object_of(unsigned int class, const void *handle)
{
	struct object *first = object_range();
	uintptr_t off = (uintptr_t)handle - (uintptr_t)first;
	struct object *o;

	if (!first || off % sizeof(*o) || off >= slots_bytes)
		return NULL;
	o = first + off / sizeof(*o);
	return __atomic_load_n(&o->class, __ATOMIC_ACQUIRE) == class ? o : NULL;
}

bool handle_id(unsigned int class, const void *handle, uint64_t *id)
{
	const struct object *o = object_of(class, handle);

	if (o)
		*id = o->id;
	return o;
}

bool stream_is_alone(const struct peer *p, uint64_t id)
{
	const uint32_t i = KVGPU_REMOTE_INDEX(id);
	const struct object *o = object_range() + peer_number(p) * SLOTS + i;

	return i && i < SLOTS && object_of(CLASS_STREAM, o) && o->id == id &&
	       __atomic_load_n(&o->alone, __ATOMIC_RELAXED);
}

struct object *object_parent(const struct object *o)
{
	return o->parent ? object_range() + o->parent : NULL;
}

const struct object *object_context(const struct object *o)
{
	while (o && o->class != CLASS_CONTEXT)
		o = object_parent(o);
	return o;
}

/* ------------------------------------------------------------------ call with `objects` held */

static void take_off(struct object *o)
{
	if (o->before)
		slots[o->before].after = o->after;
	else if (o->parent)
		slots[o->parent].child = o->after;
	if (o->after)
		slots[o->after].before = o->before;
	o->parent = o->before = o->after = 0;
}

static void hang_on(struct object *o, struct object *parent)
{
	uint32_t i = o - slots;

	o->parent = parent - slots;
	o->after = parent->child;
	if (o->after)
		slots[o->after].before = i;
	parent->child = i;
}

/* @here: the program ends the object, and with it what belongs to it */
static void end_one(struct object *o, bool here)
{
	__atomic_store_n(&o->class, CLASS_NONE, __ATOMIC_RELEASE);
	take_off(o);
	if (here)
		free(o->more);
	o->more = NULL;
}

static void empty_object(struct object *top, bool here)
{
	struct object *o;

	while (top->child) {
		for (o = slots + top->child; o->child; o = slots + o->child)
			;
		end_one(o, here);
	}
}

/*
 * Whether the server may have freed the object without a call of the program's that ends it here,
 * too. It does not free those that threads use while other threads call.
 */
static bool may_be_freed(const struct object *o)
{
	switch (o->class) {
	case CLASS_CONTEXT:
		return __atomic_load_n(&o->dead, __ATOMIC_ACQUIRE);
	case CLASS_MODULE:
	case CLASS_FUNCTION:
	case CLASS_STREAM:
	case CLASS_LINK:
		return false;
	}
	return true;
}

/* What belonged to an object that was here is not freed: the program may still read it. */
static void make_object(struct object *o, unsigned int class, uint64_t id, struct object *parent)
{
	if (o->class) { /* the server has freed the object that was here */
		empty_object(o, false);
		end_one(o, false);
	}
	*o = (struct object){ .id = id, .peer = (o - slots) / SLOTS };
	if (parent && class == CLASS_NODE && parent->class == CLASS_NODE)
		parent = parent->parent ? slots + parent->parent : NULL;
	/* an ended parent has no class; it may have ended with the object that was here */
	if (parent && parent->class && parent->peer == o->peer)
		hang_on(o, parent);
	__atomic_store_n(&o->class, class, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ */

/* call with `objects` */
static bool reserve(void)
{
	void *p;

	if (slots)
		return true;
	slots_bytes = nr_peers * SLOTS * sizeof(*slots);
	p = mmap(NULL, slots_bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return false;
	madvise(p, slots_bytes, MADV_DONTDUMP);
	__atomic_store_n(&slots, p, __ATOMIC_RELEASE);
	return true;
}

bool objects_begin(void)
{
	bool begun;

	pthread_mutex_lock(&objects);
	begun = reserve();
	pthread_mutex_unlock(&objects);
	return begun;
}

/* call with `objects`: a thread waits to hear that @o is destroyed, or what it belongs to */
static bool ends(struct object *o)
{
	while (o->class && !o->ends && o->parent)
		o = slots + o->parent;
	return o->class && o->ends;
}

void object_ends(void *handle, bool does)
{
	pthread_mutex_lock(&objects);
	((struct object *)handle)->ends = does;
	pthread_cond_broadcast(&ended);
	pthread_mutex_unlock(&objects);
}

/*
 * The server gives a slot again as soon as it is free there. A thread may hear of the new object
 * before another one, which destroyed the old object, has heard that: it waits for that thread.
 */
void *handle_here(const struct peer *p, unsigned int class, uint64_t id, void *parent)
{
	uint32_t i = KVGPU_REMOTE_INDEX(id);
	struct object *o = NULL;

	if (!i || i >= SLOTS || KVGPU_REMOTE_CLASS(id) != class)
		return NULL;
	pthread_mutex_lock(&objects);
	if (reserve()) {
		o = slots + peer_number(p) * SLOTS + i;
		while ((o->class != class || o->id != id) && !may_be_freed(o) && ends(o))
			pthread_cond_wait(&ended, &objects);
		if (o->class == class && o->id == id)
			;
		else if (may_be_freed(o))
			make_object(o, class, id, parent);
		else
			o = NULL;
	}
	pthread_mutex_unlock(&objects);
	return o;
}

bool object_keep(void *handle, unsigned int class, void *more, bool once)
{
	struct object *o = handle;
	void *unused = more;
	bool is;

	pthread_mutex_lock(&objects);
	is = o->class == class;
	if (is && !(once && o->more)) {
		unused = o->more;
		__atomic_store_n(&o->more, more, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&objects);
	free(unused);
	return is;
}

void *object_below(void *handle, unsigned int class, bool (*is)(const void *more, const void *what),
		   const void *what)
{
	const struct object *o = handle;
	void *found = NULL;
	uint32_t i;

	pthread_mutex_lock(&objects);
	for (i = o->child; i && !found; i = slots[i].after)
		if (slots[i].class == class && slots[i].more && is(slots[i].more, what))
			found = &slots[i];
	pthread_mutex_unlock(&objects);
	return found;
}

bool object_attach(void *handle, void *parent)
{
	struct object *o = handle, *p = parent;
	const struct object *above;
	bool fine;

	pthread_mutex_lock(&objects);
	for (above = p; above && above != o; above = object_parent(above))
		;
	fine = !above && o->class && p->class && o->peer == p->peer;
	if (fine) {
		take_off(o);
		hang_on(o, p);
	}
	pthread_mutex_unlock(&objects);
	return fine;
}

void object_end(void *handle, uint64_t id)
{
	struct object *o = handle;

	pthread_mutex_lock(&objects);
	if (o && o->class && o->id == id) {
		empty_object(o, true);
		end_one(o, true);
		pthread_cond_broadcast(&ended);
	}
	pthread_mutex_unlock(&objects);
}

void object_empty(void *handle)
{
	pthread_mutex_lock(&objects);
	empty_object(handle, true);
	pthread_mutex_unlock(&objects);
}
