// SPDX-License-Identifier: MIT
/*
 * Pieces of the arena that go directly between two proxies of a job. A program says where they are,
 * by its connection to the one that gets them: the rank and the tunnel of the other one, a place in
 * its arena, and that tunnel's key. The proxy that gets the piece begins the receive, and sends a
 * note to the other one. That proxy checks the note, and sends from its arena, or refuses by a
 * note. What another proxy says is not trusted.
 *
 * Receives and sends are persistent, one for each place, length, rank and tag (bulk.c).
 */
#include <stdlib.h>
#include <string.h>

#include <ops.h>

#include "relay.h"

enum { NOTES_IN = 16, NOTES_OUT = 4, REFUSALS = 1024 };

/* what this proxy says to another one; made at the first note */
struct partner {
	/* lost: it can't be reached, or was silent or took nothing for too long */
	bool made, lost;
	struct note note[NOTES_OUT];
	MPI_Request request[NOTES_OUT];
	bool busy[NOTES_OUT];
};

static struct note notes[NOTES_IN];
static MPI_Request listens[NOTES_IN];
static unsigned int next_note;
static bool begun;
static struct partner *partners; /* by rank */
static int nr_partners;
static struct refusal {
	int rank;
	uint32_t wants, slot;
} refusals[REFUSALS];
static unsigned int first_refusal, nr_refusals;

bool pull_begin(struct link *l)
{
	unsigned int i;

	if (l->settings->ranks <= 2)
		return true;
	nr_partners = l->settings->ranks;
	partners = calloc(nr_partners, sizeof(*partners));
	for (i = 0; i < NOTES_IN; i++)
		if (!partners ||
		    MPI_Recv_init(&notes[i], sizeof(notes[i]), MPI_BYTE, MPI_ANY_SOURCE, TAG_NOTE,
				  MPI_COMM_WORLD, &listens[i]) != MPI_SUCCESS ||
		    MPI_Start(&listens[i]) != MPI_SUCCESS)
			return false;
	begun = true;
	return true;
}

static void lose_partner(int rank, const char *why)
{
	if (!partners[rank].lost)
		relay_say("proxy %d gives no pieces any more: %s", rank, why);
	partners[rank].lost = true;
}

static bool is_late(const struct tunnel *n, uint64_t since_us)
{
	return now_us() - since_us > n->link->settings->patience_s * 1000000ull;
}

/* ------------------------------------------------------------------ notes to other proxies */

static bool make_partner(struct partner *p, int rank)
{
	unsigned int i;

	for (i = 0; !p->made && i < NOTES_OUT; i++)
		if (MPI_Send_init(&p->note[i], sizeof(p->note[i]), MPI_BYTE, rank, TAG_NOTE,
				  MPI_COMM_WORLD, &p->request[i]) != MPI_SUCCESS)
			return false;
	p->made = true;
	return true;
}

/* the index of a note that can be used; -1: all are under way, or the partner is lost */
static int spare_note(int rank)
{
	struct partner *p = &partners[rank];
	int i, done = 1;

	if (!p->lost && !make_partner(p, rank))
		lose_partner(rank, "it can't be reached");
	for (i = 0; i < NOTES_OUT && !p->lost; i++) {
		if (p->busy[i] && MPI_Test(&p->request[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			lose_partner(rank, "it can't be reached");
		p->busy[i] = p->busy[i] && !done;
		if (!p->lost && !p->busy[i])
			return i;
	}
	return -1;
}

/* @i: the index that spare_note() has returned */
static bool send_note(const struct settings *s, int rank, int i, struct note note)
{
	struct partner *p = &partners[rank];

	note.version = KVGPU_REMOTE_RELAYS;
	memcpy(note.secret, s->secret, SECRET_BYTES);
	p->note[i] = note;
	p->busy[i] = MPI_Start(&p->request[i]) == MPI_SUCCESS;
	if (!p->busy[i])
		lose_partner(rank, "it can't be reached");
	return p->busy[i];
}

/* if there is no room for a refusal, the other proxy's patience ends its wait */
static void refuse_pull(int rank, uint32_t wants, uint32_t slot)
{
	unsigned int last = (first_refusal + nr_refusals) % REFUSALS;

	if (nr_refusals == REFUSALS)
		return;
	refusals[last] = (struct refusal){ rank, wants, slot };
	nr_refusals++;
}

static bool say_refusals(const struct settings *s)
{
	const struct refusal *r = &refusals[first_refusal];
	int i = nr_refusals ? spare_note(r->rank) : -1;

	if (!nr_refusals || (i < 0 && !partners[r->rank].lost))
		return false;
	if (i >= 0)
		send_note(
			s, r->rank, i,
			(struct note){ .kind = NOTE_REFUSED, .wants = r->wants, .slot = r->slot });
	first_refusal = (first_refusal + 1) % REFUSALS;
	nr_refusals--;
	return true;
}

/* ------------------------------------------------------------------ pieces for this proxy */

static int tag_of(uint32_t tunnel, uint32_t slot)
{
	return TAG_PULLED + tunnel * SLOTS_MAX + slot;
}

static bool become(struct pull *p, enum pull_state state)
{
	p->state = state;
	p->since_us = now_us();
	return true;
}

/* begin the receive, then ask for the piece; false: it has to wait for a note or a request */
static bool ask_for_piece(struct tunnel *n, struct inbox *in)
{
	const struct kvgpu_remote_piece *to = &in->head.piece;
	struct pull *p = &in->pull;
	const uint32_t tunnel = n - n->link->tunnels, slot = in - n->in;
	const int rank = p->from.rank, i = spare_note(rank);
	int r;

	if (partners[rank].lost)
		return become(p, PULL_SPOILT);
	if (i < 0)
		return false;
	p->into = bulk_find(&n->pulled, rank, tag_of(tunnel, slot), to->at, to->bytes, &r);
	if (!p->into && r == MPI_SUCCESS)
		return false;
	if (!p->into || MPI_Start(&p->into->made) != MPI_SUCCESS) {
		lose_partner(rank, "it can't be reached");
		return become(p, PULL_SPOILT);
	}
	p->into->busy = true;
	send_note(n->link->settings, rank, i,
		  (struct note){ .kind = NOTE_PULL,
				 .tunnel = p->from.tunnel,
				 .wants = tunnel,
				 .slot = slot,
				 .piece = { p->from.at, to->bytes },
				 .key = { p->from.key[0], p->from.key[1] } });
	return become(p, PULL_ASKED);
}

static bool piece_landed(struct tunnel *n, struct inbox *in, MPI_Status *status)
{
	int back = 0, got = 0;

	in->pull.into->busy = false;
	if (MPI_Test_cancelled(status, &back) != MPI_SUCCESS || back ||
	    MPI_Get_count(status, MPI_BYTE, &got) != MPI_SUCCESS ||
	    (uint64_t)got != in->head.piece.bytes)
		return become(&in->pull, PULL_SPOILT);
	n->link->counts.pulled++;
	n->link->counts.pulled_bytes += got;
	return become(&in->pull, PULL_LANDED);
}

static bool take_back(struct pull *p)
{
	MPI_Cancel(&p->into->made);
	return become(p, PULL_TAKEN_BACK);
}

/*
 * MPI can't take the receive back, as a part of the piece may have come: it may write there until
 * the job's end. The request stays busy.
 */
static bool leave_it(struct tunnel *n, struct pull *p, const char *why)
{
	lose_partner(p->from.rank, why);
	n->abandoned = true;
	return become(p, PULL_SPOILT);
}

bool pull_step(struct tunnel *n, struct inbox *in)
{
	static const char silent[] = "it has said nothing for too long";
	struct pull *p = &in->pull;
	MPI_Status status;
	int done = 0;

	if (p->state == PULL_WANTED)
		return ask_for_piece(n, in);
	if (MPI_Test(&p->into->made, &done, &status) != MPI_SUCCESS)
		return leave_it(n, p, "it can't be reached");
	if (done)
		return piece_landed(n, in, &status);
	if (!is_late(n, p->since_us))
		return false;
	if (p->state == PULL_TAKEN_BACK)
		return leave_it(n, p, silent);
	lose_partner(p->from.rank, silent);
	return take_back(p);
}

static void hear_refusal(struct link *l, const struct note *note, int rank)
{
	struct tunnel *n = &l->tunnels[note->wants];
	struct inbox *in = &n->in[note->slot];
	unsigned int i;

	for (i = 0; i < n->nr_in && n->state == TUNNEL_OPEN; i++)
		if (in == &n->in[(n->next_in + i) % l->settings->slots] &&
		    in->head.kind == PIECE_PULL && in->pull.state == PULL_ASKED &&
		    in->pull.from.rank == (uint32_t)rank)
			take_back(&in->pull);
}

/* ------------------------------------------------------------------ pieces for other proxies */

bool pull_is_idle(const struct tunnel *n)
{
	return !n->nr_gifts;
}

static void hear_pull(struct link *l, const struct note *note, int rank)
{
	struct tunnel *n = &l->tunnels[note->tunnel];

	if (n->state != TUNNEL_OPEN || !n->arena || !n->gifts || n->nr_gifts == GIFTS ||
	    !secret_is(note->key, n->key, sizeof(n->key)) ||
	    !pull_is_sound(&note->piece, n->arena_bytes)) {
		refuse_pull(rank, note->wants, note->slot);
		return;
	}
	n->gifts[n->nr_gifts++] = (struct gift){ .rank = rank,
						 .tag = tag_of(note->wants, note->slot),
						 .piece = note->piece,
						 .since_us = now_us() };
}

enum giving { GIVING, GIVEN, WAITS, FAILED };

static enum giving give_piece(struct tunnel *n, struct gift *g)
{
	int r = MPI_SUCCESS, done = 0;

	if (!g->from) {
		g->from = bulk_find(&n->given, g->rank, g->tag, g->piece.at, g->piece.bytes, &r);
		if (!g->from)
			return r == MPI_SUCCESS ? WAITS : FAILED;
		g->from->busy = true;
		return MPI_Start(&g->from->made) == MPI_SUCCESS ? GIVING : FAILED;
	}
	if (MPI_Test(&g->from->made, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		return FAILED;
	if (done) {
		g->from->busy = false;
		n->link->counts.given++;
		n->link->counts.given_bytes += g->piece.bytes;
		return GIVEN;
	}
	return is_late(n, g->since_us) ? FAILED : WAITS;
}

static bool give_all(struct tunnel *n)
{
	bool moved = false;
	enum giving what;
	unsigned int i;

	for (i = 0; i < n->nr_gifts;) {
		what = give_piece(n, &n->gifts[i]);
		moved = moved || what != WAITS;
		if (what == FAILED) {
			lose_partner(n->gifts[i].rank, "it does not take what it has asked for");
			n->abandoned = true;
		}
		if (what == FAILED || what == GIVEN)
			n->gifts[i] = n->gifts[--n->nr_gifts];
		else
			i++;
	}
	return moved;
}

/* ------------------------------------------------------------------ */

static bool hear_notes(struct link *l)
{
	static bool complained;
	struct note note;
	MPI_Status status;
	int done = 0, got = 0;

	if (MPI_Test(&listens[next_note], &done, &status) != MPI_SUCCESS || !done)
		return false;
	note = notes[next_note];
	if (MPI_Get_count(&status, MPI_BYTE, &got) != MPI_SUCCESS ||
	    MPI_Start(&listens[next_note]) != MPI_SUCCESS)
		return false;
	next_note = (next_note + 1) % NOTES_IN;
	if (!note_is_sound(&note, got, l->settings->secret, KVGPU_REMOTE_RELAYS)) {
		if (!complained)
			relay_say("rank %d sends nonsense", status.MPI_SOURCE);
		complained = true;
		return true;
	}
	if (note.kind == NOTE_PULL)
		hear_pull(l, &note, status.MPI_SOURCE);
	else
		hear_refusal(l, &note, status.MPI_SOURCE);
	return true;
}

bool pull_go(struct link *l)
{
	bool moved = false;
	unsigned int i;

	if (!begun || l->lost)
		return false;
	while (hear_notes(l))
		moved = true;
	while (say_refusals(l->settings))
		moved = true;
	for (i = 0; i < TUNNELS; i++)
		if (l->tunnels[i].nr_gifts)
			moved = give_all(&l->tunnels[i]) || moved;
	return moved;
}

static void end_note(MPI_Request *r)
{
	int done = 0;

	MPI_Test(r, &done, MPI_STATUS_IGNORE);
	if (!done) {
		MPI_Cancel(r);
		MPI_Wait(r, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(r);
}

/* whether MPI reads none of the notes to @p any more */
static bool end_partner(struct partner *p)
{
	bool idle = true;
	unsigned int k;
	int done;

	for (k = 0; k < NOTES_OUT && p->made; k++) {
		done = !p->busy[k];
		if (!p->lost && p->busy[k] &&
		    MPI_Test(&p->request[k], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			done = 0;
		idle = idle && done;
		/* MPI ends a note that is under way by itself */
		if (!p->lost)
			MPI_Request_free(&p->request[k]);
	}
	return idle;
}

void pull_end(void)
{
	bool idle = true;
	unsigned int k;
	int i;

	for (k = 0; k < NOTES_IN && begun; k++)
		end_note(&listens[k]);
	for (i = 0; i < nr_partners; i++)
		idle = end_partner(&partners[i]) && idle;
	/* MPI reads notes that are under way until MPI_Finalize(): they stay until the exit */
	if (idle)
		free(partners);
	partners = NULL;
	nr_partners = 0;
	next_note = first_refusal = nr_refusals = 0;
	begun = false;
}
