// SPDX-License-Identifier: MIT
/*
 * Measuring a link, once. .eager: up to which size a piece crosses sooner inside of a message, with
 * two copies, than as a message of its own. .overhead: how much crosses in the time that one more
 * message costs. The broker asks, and keeps the best of some tries. The proxy answers.
 */
#include <stdlib.h>
#include <string.h>

#include "relay.h"

enum {
	TRIES = 5,
	PATIENCE_US = 2000000,
	PARTS = 4,
	OVERHEAD_MIN = 16 << 10,
	OVERHEAD_MAX = 1 << 20
};

static uint64_t until;

/* a limit, since other links are silent meanwhile, and have a patience */
static uint64_t most_us(const struct link *l)
{
	uint64_t part = l->settings->patience_s * 1000000ull / PARTS;

	return part < PATIENCE_US ? part : PATIENCE_US;
}

/* silent: no answer came in time, so try nothing else; left: MPI may still read what was sent */
static bool silent, left;

/* false: it takes too long, or MPI returns an error */
static bool await_request(MPI_Request *r)
{
	int done = 0;

	while (MPI_Test(r, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done && now_us() < until)
		;
	if (!done && *r != MPI_REQUEST_NULL)
		MPI_Cancel(r);
	return done;
}

/* one try in seconds; negative: no answer */
static double time_message(struct link *l, const uint8_t *from, uint32_t bytes, bool apart)
{
	struct measure_head head = { .bytes = bytes, .apart = apart };
	MPI_Request r[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	double begin = MPI_Wtime();
	uint64_t answer;

	if (silent)
		return -1;
	memcpy(l->measure, &head, sizeof(head));
	if (!apart)
		memcpy(l->measure + sizeof(head), from, bytes);
	MPI_Irecv(&answer, sizeof(answer), MPI_BYTE, l->rank, TAG_MEASURE, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(l->measure, sizeof(head) + (apart ? 0 : bytes), MPI_BYTE, l->rank, TAG_MEASURE,
		  MPI_COMM_WORLD, &r[1]);
	if (apart)
		MPI_Issend((void *)(uintptr_t)from, bytes, MPI_BYTE, l->rank, TAG_MEASURE,
			   MPI_COMM_WORLD, &r[2]);
	silent = !await_request(&r[0]) || !await_request(&r[1]) || (apart && !await_request(&r[2]));
	left = silent && apart;
	return silent ? -1 : MPI_Wtime() - begin;
}

static double best(struct link *l, const uint8_t *from, uint32_t bytes, bool apart)
{
	double least = -1, took;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		took = time_message(l, from, bytes, apart);
		if (took < 0)
			return -1;
		least = least < 0 || took < least ? took : least;
	}
	return least;
}

/*
 * the largest size tried up to which a piece does not cross later inside of a message, EAGER_LEAST
 * at least
 */
static size_t find_eager(struct link *l, const uint8_t *from)
{
	size_t bytes, eager = EAGER_LEAST;
	double inside, apart;

	for (bytes = 2 * EAGER_LEAST; bytes <= EAGER_MAX; bytes *= 2) {
		inside = best(l, from, bytes, false);
		apart = best(l, from, bytes, true);
		if (inside < 0 || apart < 0 || inside > apart)
			break;
		eager = bytes;
	}
	return eager;
}

/* bytes that cross in the time of an empty message: half the time until that message's answer */
static size_t find_overhead(struct link *l, const uint8_t *from, size_t bytes)
{
	double nothing = best(l, from, 0, false), all = best(l, from, bytes, true), overhead;

	if (nothing < 0 || all <= nothing)
		return OVERHEAD_MAX;
	overhead = nothing / 2 * bytes / (all - nothing);
	return overhead < OVERHEAD_MIN ? OVERHEAD_MIN :
	       overhead > OVERHEAD_MAX ? OVERHEAD_MAX :
					 (size_t)overhead;
}

void link_measure(struct link *l)
{
	const size_t bytes = l->settings->staging < EAGER_MAX ? EAGER_MAX : l->settings->staging;
	struct measure_head head = { .over = 1 };
	uint8_t *from = l->lost ? NULL : malloc(bytes);
	MPI_Request r;

	l->measured = true;
	if (!from)
		return;
	memset(from, 1, bytes);
	silent = left = false;
	until = now_us() + most_us(l);
	if (l->settings->eager == EAGER_MEASURED)
		l->eager = find_eager(l, from);
	l->overhead = find_overhead(l, from, bytes);
	head.eager = l->eager;
	head.overhead = l->overhead;
	memcpy(l->measure, &head, sizeof(head));
	until = now_us() + most_us(l);
	if (MPI_Isend(l->measure, sizeof(head), MPI_BYTE, l->rank, TAG_MEASURE, MPI_COMM_WORLD,
		      &r) == MPI_SUCCESS)
		await_request(&r);
	if (!left)
		free(from);
}

/* ------------------------------------------------------------------ the proxy */

bool measure_listen(struct link *l)
{
	return MPI_Irecv(l->measure, sizeof(l->measure), MPI_BYTE, l->rank, TAG_MEASURE,
			 MPI_COMM_WORLD, &l->measuring) == MPI_SUCCESS;
}

/* take the data of a try, which are not kept, and answer */
static bool take_message(struct link *l, const struct measure_head *head)
{
	static uint8_t to[KVGPU_REMOTE_RELAYED_MAX];
	MPI_Request r;
	uint64_t answer = 0;

	if (head->bytes > (head->apart ? sizeof(to) : EAGER_MAX))
		return false;
	until = now_us() + most_us(l);
	if (!head->apart)
		memcpy(to, l->measure + sizeof(*head), head->bytes);
	else if (MPI_Irecv(to, head->bytes, MPI_BYTE, l->rank, TAG_MEASURE, MPI_COMM_WORLD, &r) !=
			 MPI_SUCCESS ||
		 !await_request(&r))
		return false;
	return MPI_Isend(&answer, sizeof(answer), MPI_BYTE, l->rank, TAG_MEASURE, MPI_COMM_WORLD,
			 &r) == MPI_SUCCESS &&
	       await_request(&r) && measure_listen(l);
}

bool measure_answer(struct link *l)
{
	struct measure_head head;
	int done = 0;

	if (l->measured || !l->hello || l->lost)
		return false;
	if (MPI_Test(&l->measuring, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done)
		return false;
	memcpy(&head, l->measure, sizeof(head));
	if (head.over || !take_message(l, &head))
		l->measured = true;
	if (head.over && head.eager <= EAGER_MAX) {
		l->eager = head.eager;
		l->overhead = head.overhead;
	}
	return true;
}
