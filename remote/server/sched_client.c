// SPDX-License-Identifier: MIT
/*
 * Work for the GPU waits here for the client's turn while other clients have work, too.
 *
 * In a turn only this process is to have work on the GPU. The work of a turn is submitted in
 * batches, of which BATCHES at most are under way; events behind a batch tell when it is done and
 * how long it took. The turn is given back when its time is over and its work is done, when no more
 * work comes for LINGER_NS, or before a call that may take long.
 *
 * Frames behind a frame that waits are kept in their order. A frame whose answer no work can change
 * may pass by (op_passes()).
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sched_client.h"

/* ------------------------------------------------------------------ turns */

void sched_give_back(struct server *s)
{
	struct sched_client *g = s->sched;

	work_end(s);
	g->look_ns = 0;
	work_poll_idle(s);
	tell(&g->shared->busy, g->untracked);
	tell(&g->shared->want, g->deferred != NULL);
	g->gave = g->turn;
	g->turn = 0;
	tell(&g->shared->done, g->gave);
	sched_ring(g);
}

/*
 * The turn has ended without being given back: it took too long, or no turns are needed any more.
 * Work that is left is charged by the clock until it is done.
 */
static void turn_lost(struct server *s)
{
	struct sched_client *g = s->sched;

	g->untracked = true;
	g->look_ns = 0;
	g->quiet_ns = QUIET_NS;
	g->turn = 0;
	work_end(s);
}

void sched_untracked(struct server *s)
{
	struct sched_client *g = s->sched;

	if (!g)
		return;
	g->untracked = true;
	g->look_ns = 0;
	g->quiet_ns = QUIET_NS;
	tell(&g->shared->busy, 1);
}

static uint32_t turn_of(struct sched_client *g)
{
	uint32_t turn = see(&g->shared->turn);

	return turn == g->gave ? 0 : turn;
}

static bool is_over(const struct sched_client *g)
{
	return g->turn_used >= __atomic_load_n(&g->shared->turn_ns, __ATOMIC_RELAXED) &&
	       see(&g->shared->wanted);
}

static void take_turn(struct sched_client *g, uint32_t turn)
{
	g->turn = turn;
	g->turn_used = 0;
	g->through_ns = g->ended_ns = 0;
	g->sleep_ns = SLEEP_NS;
	tell(&g->shared->busy, 1);
	tell(&g->shared->want, 0);
}

/* no turns are needed now, or not any more: work is submitted as it comes */
static void without_turns(struct server *s)
{
	struct sched_client *g = s->sched;

	if (g->turn)
		turn_lost(s);
	g->turn_used = 0;
	if (see(&g->shared->want))
		tell(&g->shared->want, 0);
}

static void begin_work(struct server *s)
{
	struct sched_client *g = s->sched;

	g->untracked = true;
	g->quiet_ns = QUIET_NS;
	g->look_ns = 0;
	tell(&g->shared->busy, 1);
	if (see(&g->shared->watched))
		sched_ring(g);
}

static bool may_submit(struct server *s)
{
	struct sched_client *g = s->sched;

	if (is_over(g))
		return false;
	if (g->begun && g->context != s->current) {
		if (g->nr || g->work)
			return false;
		work_end(s);
	}
	/* a frame may name one stream and work in the null stream, too: keep room for two */
	if (g->work >= g->most || g->nr_streams >= STREAMS - 1)
		work_close(s);
	if (g->nr == BATCHES || g->nr_streams >= STREAMS - 1)
		return false;
	if (!g->begun)
		work_begin(s);
	return true;
}

bool sched_may_submit(struct server *s)
{
	struct sched_client *g = s->sched;
	uint32_t turn;

	if (!see(&g->shared->closed)) {
		without_turns(s);
		if (!g->untracked)
			begin_work(s);
		return true;
	}
	turn = turn_of(g);
	if (g->turn && turn != g->turn)
		turn_lost(s);
	if (!turn) {
		if (!see(&g->shared->want)) {
			tell(&g->shared->want, 1);
			sched_ring(g);
		}
		return false;
	}
	if (turn != g->turn)
		take_turn(g, turn);
	return may_submit(s);
}

static void go_on_with_turn(struct server *s, bool quiet)
{
	struct sched_client *g = s->sched;
	uint64_t now;

	if (turn_of(g) != g->turn) {
		turn_lost(s);
		return;
	}
	if (g->work &&
	    ((quiet && !g->nr) || is_over(g) || (g->deferred && g->context != s->current))) {
		uint64_t before = s->current;

		if (!enter_context(s, g->context))
			work_close(s);
		enter_context(s, before);
	}
	if (g->nr || g->work || waits_aside(s)) {
		g->through_ns = 0;
		return;
	}
	now = sched_now();
	if (!g->through_ns)
		g->through_ns = now;
	if (is_over(g) || (!g->deferred && now - g->through_ns >= LINGER_NS))
		sched_give_back(s);
}

void sched_look(struct server *s, bool quiet)
{
	struct sched_client *g = s->sched;

	if (!g)
		return;
	if (!see(&g->shared->closed)) {
		if (g->turn)
			without_turns(s);
		if (quiet)
			work_poll_idle(s);
		else
			g->look_ns = 0;
		return;
	}
	work_poll(s);
	if (g->turn)
		go_on_with_turn(s, quiet);
	else
		work_poll_idle(s);
}

/* ------------------------------------------------------------------ waiting for the next frame */

static void wait_for_turn(struct server *s, int64_t us)
{
	struct sched_client *g = s->sched;
	uint32_t wake = see(&g->shared->wake);
	uint64_t ns = s->waits.list && (uint64_t)us * US < g->sleep_ns ? (uint64_t)us * US + US :
									 g->sleep_ns;
	struct timespec t = { 0, ns };

	if (!see(&g->shared->closed) || turn_of(g))
		return;
	syscall(SYS_futex, &g->shared->wake, FUTEX_WAIT, wake, &t, NULL, 0);
	g->sleep_ns = g->sleep_ns < SLEEP_MAX_NS ? 2 * g->sleep_ns : SLEEP_MAX_NS;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* How long to wait for a frame, ns. Without a turn it does not read the clock. */
static uint64_t patience(struct sched_client *g)
{
	if (!g->turn)
		return g->quiet_ns;
	if (g->nr || g->work)
		return sched_now() - g->spin_ns < SPIN_NS ? 0 : LOOK_NS;
	return g->deferred ? 0 : LINGER_NS / 4;
}

int sched_next(struct server *s, int64_t us, struct kvgpu_remote_head *h, const void **payload)
{
	struct sched_client *g = s->sched;
	int r;

	if (!g || (!g->turn && !g->deferred && !g->untracked))
		return kvgpu_remote_next(s->port, us, h, payload);
	if (g->deferred && !g->turn) {
		if (!g->came)
			wait_for_turn(s, us);
		us = 0;
	} else {
		us = least(us, patience(g) / US);
	}
	r = 0;
	if (g->nr_deferred < DEFERRED_MAX && g->deferred_bytes < DEFERRED_BYTES)
		r = kvgpu_remote_next(s->port, us, h, payload);
	else if (us)
		usleep(us);
	g->came = r == 1;
	if (g->came)
		g->sleep_ns = SLEEP_NS;
	return r;
}

int sched_begin(struct server *s, struct sched_shared *shared, int doorbell)
{
	s->sched = calloc(1, sizeof(*s->sched));
	if (!s->sched)
		return -ENOMEM;
	*s->sched = (struct sched_client){ .shared = shared,
					   .doorbell = doorbell,
					   .most = 4,
					   .sleep_ns = SLEEP_NS,
					   .quiet_ns = QUIET_NS };
	return 0;
}

void sched_end(struct server *s)
{
	struct sched_client *g = s->sched;

	while (g && g->deferred) {
		struct deferred_frame *f = g->deferred;

		g->deferred = f->next;
		free(f);
	}
	free(g);
	s->sched = NULL;
}
