// SPDX-License-Identifier: MIT
/*
 * Where pinned memory is. The arena of a server of this machine grows by parts of the memory that
 * both share, if the server agrees. Where no arena is shared, what it has no room for is this
 * process's own memory, which copies treat as registered memory. A file that is an aperture has the
 * size that it has.
 */
#include <sys/mman.h>

#include "client.h"

enum { PART = 64 << 20 }; /* small memory comes by parts of so many bytes */

static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER; /* all arenas' sizes */

static const char *const reasons[NR_KVGPU_REMOTE_BOUNDS + 1] = {
	[KVGPU_REMOTE_BOUND_PINNED] =
		"the server's remoted.conf bounds what this client's programs have together (key pinned)",
	[KVGPU_REMOTE_BOUND_MACHINE] = "the server's machine has too little memory left",
	[KVGPU_REMOTE_BOUND_LIBRARY] = "the server's library takes no more",
	[KVGPU_REMOTE_BOUND_FILE] =
		"the file or device of the aperture bounds it: kvgpu-aperture(8) says how to make a larger one",
	[KVGPU_REMOTE_BOUND_ADDRESSES] = "this process has no more memory or addresses (ulimit -v)",
	[KVGPU_REMOTE_BOUND_ARENA] =
		"what the GPU is to see lies in the arena here, which the server's remoted.conf bounds (key arena)",
};

static void say_refused(uint64_t bytes, enum kvgpu_remote_bound bound)
{
	static bool said; /* atomic */

	if (reasons[bound] && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		client_say("no more pinned memory, where %llu MiB are asked for: %s",
			   (unsigned long long)((bytes + (1 << 20) - 1) >> 20), reasons[bound]);
}

/* ask the server for an arena of @bytes; NR_KVGPU_REMOTE_BOUNDS: there is no answer */
static enum kvgpu_remote_bound ask(struct peer *p, uint64_t bytes)
{
	struct q_grow q = { .bytes = bytes };
	struct call c = { .op = OP_grow, .fixed = &q, .bytes = sizeof(q), .to.peer = p };
	const struct a_grow *a;

	if (call_sync(&c, sizeof(*a)))
		return NR_KVGPU_REMOTE_BOUNDS;
	a = c.answer;
	return a->bound <= KVGPU_REMOTE_BOUND_LIBRARY ? a->bound : NR_KVGPU_REMOTE_BOUNDS;
}

/* call with `growing` */
static enum kvgpu_remote_bound grow(struct peer *p, uint64_t bytes)
{
	const uint64_t piece = KVGPU_REMOTE_PIECE_MAX, exact = (bytes + piece - 1) / piece * piece;
	enum kvgpu_remote_bound bound;
	uint64_t now, more, left = kvgpu_remote_arena_most(p->channel, &bound);

	kvgpu_remote_arena(p->channel, &now);
	left = (left - now) / piece * piece;
	if (bytes > left || exact > left)
		return bound;
	more = exact > PART ? exact : PART < left ? PART : left;
	bound = ask(p, now + more);
	if (bound && bound < NR_KVGPU_REMOTE_BOUNDS && more > exact) {
		more = exact;
		bound = ask(p, now + more);
	}
	if (bound)
		return bound;
	return pinned_resize(p, now + more) && arena_add(p, now, more) ?
		       KVGPU_REMOTE_BOUND_NONE :
		       KVGPU_REMOTE_BOUND_ADDRESSES;
}

static uint64_t room_shared(struct peer *p, uint64_t bytes, enum kvgpu_remote_bound *bound)
{
	uint64_t at;

	pthread_mutex_lock(&growing);
	at = arena_take(p, bytes, true);
	if (at == KVGPU_REMOTE_NOWHERE) {
		*bound = grow(p, bytes);
		at = arena_take(p, bytes, !*bound);
	}
	pthread_mutex_unlock(&growing);
	return at;
}

uint64_t pinned_room(struct peer *p, uint64_t bytes, bool mapped, uint8_t **own)
{
	enum kvgpu_remote_bound bound = KVGPU_REMOTE_BOUND_ARENA;
	const bool shared = kvgpu_remote_is_shared(p->channel);
	uint64_t at;

	*own = NULL;
	if (shared && (!mapped || __atomic_load_n(&p->whole, __ATOMIC_RELAXED)))
		at = room_shared(p, bytes, &bound);
	else
		at = arena_take(p, bytes, !mapped);
	if (at == KVGPU_REMOTE_NOWHERE && !mapped && !shared) {
		*own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		bound = KVGPU_REMOTE_BOUND_ADDRESSES;
		if (*own == MAP_FAILED)
			*own = NULL;
	}
	if (at == KVGPU_REMOTE_NOWHERE && !*own)
		say_refused(bytes, bound);
	return at;
}

/* A server that does not take it back does not know how it is divided: it has broken the rules. */
void pinned_shrink(struct peer *p)
{
	uint64_t at;

	pthread_mutex_lock(&growing);
	while (arena_cut(p, &at) && pinned_resize(p, at))
		ask(p, at);
	pthread_mutex_unlock(&growing);
}
