// SPDX-License-Identifier: MIT
/*
 * Sleep: the library takes all that this process has on the GPU into memory of this process, and
 * puts it back at the same addresses (cuCheckpointProcess*() of CUDA 12.8, here for this process
 * itself, by its serving thread). The first process decides who sleeps, and who may wake
 * (../supervisor/sleep.c). While the process sleeps no function of the library is called: it would
 * wait for ever.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sched_client.h"
#include "server.h"

enum {
	LOCK_MS = 5000, /* for work that is under way */
	TRIES_S = 10, /* for a moment without a frame aside */
	ROOM_S = 60 /* for the first process's answer */
};

/* the arguments of these calls, all of the same size in cuda.h (CUDA 12.8 and 13.0) */
union checkpoint_args {
	struct {
		unsigned int timeout_ms;
	} lock;
	struct {
		struct sleep_uuids *moves;
		unsigned int nr_moves;
	} restore;
	uint64_t all[9];
};

static CUresult lock(struct server *s, unsigned int ms)
{
	union checkpoint_args a = { .all = { 0 } };

	a.lock.timeout_ms = ms;
	return s->library.checkpoint.lock(getpid(), &a);
}

static CUresult unlock(struct server *s)
{
	union checkpoint_args a = { .all = { 0 } };

	return s->library.checkpoint.unlock(getpid(), &a);
}

static CUresult checkpoint(struct server *s)
{
	union checkpoint_args a = { .all = { 0 } };

	return s->library.checkpoint.checkpoint(getpid(), &a);
}

/* The words of the first process are copied: the library may read them late. */
static CUresult restore(struct server *s)
{
	static struct sleep_uuids moves[SLEEP_GPUS];
	const struct sleep_shared *d = s->sleeping.shared;
	union checkpoint_args a = { .all = { 0 } };
	uint32_t n = see(&d->nr_moves);

	if (n && n <= SLEEP_GPUS) {
		memcpy(moves, d->moves, sizeof(moves));
		a.restore.moves = moves;
		a.restore.nr_moves = n;
	}
	return s->library.checkpoint.restore(getpid(), &a);
}

/* ------------------------------------------------------------------ to sleep */

static void answer_order(struct server *s, enum sleep_refusal refusal, CUresult error)
{
	struct sleep_shared *d = s->sleeping.shared;

	s->sleeping.until_ns = 0;
	tell(&d->refusal, refusal);
	tell(&d->error, error);
	tell(&d->done, see(&d->order));
}

/*
 * Whether nothing of this process waits for the GPU, as far as is known here, and it has no more
 * memory than the order counts with.
 */
static bool is_quiet(struct server *s)
{
	uint64_t less = __atomic_load_n(&s->sleeping.shared->less, __ATOMIC_SEQ_CST);
	struct sched_client *g = s->sched;

	if (s->waits.list || (g && (g->nr || g->work)) || (less && s->quota.charged >= less))
		return false;
	if (g && g->turn)
		sched_give_back(s);
	return true;
}

static void go_to_sleep(struct server *s)
{
	CUresult r;

	trace_end(s, TRACE_SLEEPS);
	r = lock(s, LOCK_MS);
	if (r) {
		answer_order(s, r == CUDA_ERROR_NOT_READY ? SLEEP_BUSY : SLEEP_LIBRARY, r);
		return;
	}
	r = checkpoint(s);
	if (!r) {
		tell(&s->sleeping.shared->state, SLEEP_ASLEEP);
		answer_order(s, SLEEP_FINE, 0);
		return;
	}
	unlock(s);
	answer_order(s, r == CUDA_ERROR_NOT_SUPPORTED ? SLEEP_MANAGED : SLEEP_LIBRARY, r);
}

static void carry_out_order(struct server *s)
{
	struct sleeping *z = &s->sleeping;

	if (!z->until_ns)
		z->until_ns = sched_now() + TRIES_S * 1000 * MS;
	if (s->captures.begun)
		answer_order(s, SLEEP_CAPTURES, 0);
	else if (s->shares.memory || s->shares.events)
		answer_order(s, SLEEP_SHARES, 0);
	else if (is_quiet(s))
		go_to_sleep(s);
	else if (sched_now() > z->until_ns)
		answer_order(s, SLEEP_BUSY, 0);
}

/* ------------------------------------------------------------------ to wake */

/*
 * Wait until the first process says that there is room: for ever, as watch_client()
 * (../supervisor/child.c) ends this process with its client. If another program has taken the room
 * meanwhile, wait anew. NVIDIA's library says so once, and then that the process is lost for ever
 * (CUDA_ERROR_OPERATING_SYSTEM of driver 580): 0 or -EIO.
 */
static int wake(struct server *s)
{
	struct sleep_shared *d = s->sleeping.shared;
	uint32_t wish = d->wish;
	CUresult r;

	do {
		tell(&d->wish, ++wish);
		tell(&d->state, SLEEP_WAITS);
		while (see(&d->granted) != wish)
			usleep(SLEEP_WAKE_LOOK_US);
		r = restore(s);
	} while (r == CUDA_ERROR_OUT_OF_MEMORY);
	r = r ?: unlock(s);
	if (r && s->options.complain)
		s->options.complain("it does not wake: CUDA error %d", r);
	if (r)
		return -EIO;
	s->sleeping.wakes = see(&d->wakes);
	tell(&d->state, SLEEP_AWAKE);
	return 0;
}

static int next_asleep(struct server *s, struct kvgpu_remote_head *h, const void **payload)
{
	struct sleeping *z = &s->sleeping;
	int r = 0;

	while (!r && see(&z->shared->wakes) == z->wakes && !(s->sched && s->sched->deferred))
		r = kvgpu_remote_next(s->port, SLEEP_LOOK_US, h, payload);
	return r < 0 ? r : wake(s) ?: r;
}

/* there may be an order, or a trace is under way */
static __attribute__((noinline)) int look(struct server *s, struct kvgpu_remote_head *h,
					  const void **payload)
{
	struct sleep_shared *d = s->sleeping.words;
	uint32_t order = see(&d->order);
	bool traced = trace_look(s);

	if (order != d->done && trace_rings(s, order))
		tell(&d->done, order);
	else if (order != d->done && s->sleeping.shared)
		carry_out_order(s);
	s->sleeping.heard = d->done != order || traced ? order - 1 : order;
	return d->state == SLEEP_ASLEEP ? next_asleep(s, h, payload) : -EAGAIN;
}

int sleep_look(struct server *s, struct kvgpu_remote_head *h, const void **payload)
{
	const struct sleeping *z = &s->sleeping;

	return !z->words || see(&z->words->order) == z->heard ? -EAGAIN : look(s, h, payload);
}

bool sleep_make_room(struct server *s)
{
	struct sleep_shared *d = s->sleeping.shared;
	unsigned int looks = ROOM_S * 1000000 / SLEEP_WAKE_LOOK_US;
	uint32_t lacks;

	if (!d || !see(&d->makes_room))
		return false;
	lacks = d->lacks + 1;
	tell(&d->lacks, lacks);
	while (see(&d->answers) != lacks && looks--)
		usleep(SLEEP_WAKE_LOOK_US);
	return see(&d->answers) == lacks && see(&d->made);
}

void sleep_begin(struct server *s, struct sleep_shared *shared)
{
	const struct checkpoint_calls *c = &s->library.checkpoint;

	s->sleeping.words = shared;
	if (!c->lock || !c->checkpoint || !c->restore || !c->unlock)
		return;
	s->sleeping.shared = shared;
	s->sleeping.wakes = see(&shared->wakes);
	tell(&shared->state, SLEEP_AWAKE);
}
