// SPDX-License-Identifier: MIT
/*
 * Messages and receives find each other by rank and tag, each in the order in which they came to
 * be.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "carrier.h"

struct requests any_posted;

void request_over(struct request *r, int error)
{
	r->state = OVER;
	r->error = error;
	if (r->freed)
		free(r);
}

bool match_answer(struct peer *p, enum frame_kind kind, uint64_t serial)
{
	struct request *r = p->answers < ANSWERS_MAX ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return false;
	p->answers++;
	*r = (struct request){
		.state = QUEUED, .freed = true, .answer = true, .says = kind, .serial = serial
	};
	TAILQ_INSERT_TAIL(&p->out, r, entry);
	return true;
}

/* copy a message out of the sender's memory; false: the kernel does not let it */
static bool copy_from(struct peer *p, const struct frame *f, uint8_t *to)
{
	const struct iovec here = { to, f->bytes }, there = { (void *)f->at, f->bytes };

	if (!f->bytes)
		return true;
	if (!p->by_socket)
		p->by_socket = process_vm_readv(p->pid, &here, 1, &there, 1, 0) !=
			       (ssize_t)f->bytes;
	return !p->by_socket;
}

/* the message has met a receive, which is in no list; false: no memory for an answer */
static bool land_message(struct request *r, int rank, const struct frame *f, const uint8_t *data)
{
	struct peer *p = &peers[rank];
	bool fits = f->bytes <= r->bytes, wanted = false, fine = true;

	r->status = (MPI_Status){ .MPI_SOURCE = rank,
				  .MPI_TAG = f->tag,
				  .bytes = fits ? f->bytes : r->bytes };
	if (f->kind == FRAME_EAGER) {
		memcpy(r->at, data, r->status.bytes);
	} else {
		wanted = fits && !copy_from(p, f, r->at);
		fine = p->fd >= 0 &&
		       match_answer(p, wanted ? FRAME_WANTED : FRAME_TAKEN, f->serial);
	}
	if (fine && wanted) {
		r->state = COMING;
		r->serial = f->serial;
		r->moved = 0;
		TAILQ_INSERT_TAIL(&p->coming, r, entry);
	} else {
		request_over(r, !fine ? MPI_ERR_OTHER : fits ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
	}
	return fine;
}

static struct request *with_tag(struct requests *list, int tag)
{
	struct request *r;

	TAILQ_FOREACH(r, list, entry)
	if (r->tag == tag)
		break;
	return r;
}

static bool hold_unexpected(struct peer *p, const struct frame *f, const uint8_t *data)
{
	size_t bytes = data ? f->bytes : 0;
	struct unexpected *h = NULL;

	if (p->held_bytes + bytes + HELD_COST <= HELD_MAX)
		h = malloc(sizeof(*h) + bytes);
	if (!h)
		return false;
	h->f = *f;
	if (data)
		memcpy(h->data, data, bytes);
	p->held_bytes += bytes + HELD_COST;
	TAILQ_INSERT_TAIL(&p->unexpected, h, entry);
	return true;
}

bool match_message(int rank, const struct frame *f, const uint8_t *data)
{
	struct peer *p = &peers[rank];
	struct request *r = with_tag(&p->posted, f->tag), *any = with_tag(&any_posted, f->tag);

	if (!r && !any)
		return hold_unexpected(p, f, data);
	if (!r || (any && any->serial < r->serial)) {
		TAILQ_REMOVE(&any_posted, any, entry);
		return land_message(any, rank, f, data);
	}
	TAILQ_REMOVE(&p->posted, r, entry);
	return land_message(r, rank, f, data);
}

/* let @r have the oldest message of the rank that fits; whether there was one */
static bool take_held(struct request *r, int rank)
{
	struct peer *p = &peers[rank];
	struct unexpected *h;

	TAILQ_FOREACH(h, &p->unexpected, entry)
	if (h->f.tag == r->tag)
		break;
	if (!h)
		return false;
	TAILQ_REMOVE(&p->unexpected, h, entry);
	p->held_bytes -= (h->f.kind == FRAME_EAGER ? h->f.bytes : 0) + HELD_COST;
	land_message(r, rank, &h->f, h->data);
	wire_flush(p);
	free(h);
	return true;
}

void match_receive(struct request *r)
{
	static uint64_t order;
	int i, first = r->rank < 0 ? 0 : r->rank, end = r->rank < 0 ? ranks : r->rank + 1;

	r->serial = ++order;
	for (i = first; i < end; i++)
		if (take_held(r, i))
			return;
	if (r->rank >= 0 && peers[r->rank].fd < 0) {
		request_over(r, MPI_ERR_OTHER);
		return;
	}
	r->state = POSTED;
	TAILQ_INSERT_TAIL(r->rank < 0 ? &any_posted : &peers[r->rank].posted, r, entry);
}
