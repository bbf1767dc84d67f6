// SPDX-License-Identifier: MIT
/*
 * Pieces between proxies, with an MPI that does what each test says. This process is rank 1 of 4.
 */
#include <selftests/unit_test.h>

#include <ops.h> /* made by remote/api.py */

#include <remote/cluster/relay/relay.h>

enum { ARENA = 4 << 20, REQUESTS = 2048, SLOTS = 4, TUNNEL = 3 };

static struct request {
	void *at;
	int bytes, rank, tag, got, source;
	unsigned int begun; /* MPI takes the oldest one first */
	bool receives, started, done, cancelled, made;
} requests[REQUESTS];
static int nr_requests;
static bool cancels; /* MPI can take a receive back */
static uint64_t clock_us;

static struct settings settings = { .slots = SLOTS,
				    .patience_s = 1,
				    .rank = 1,
				    .ranks = 4,
				    .secret = { 7 } };
static struct link link_to_broker;
static struct tunnel *tunnel = &link_to_broker.tunnels[TUNNEL];
static uint8_t *arena;

uint64_t now_us(void)
{
	return clock_us;
}

void relay_say(const char *format, ...)
{
}

static int make(void *at, int n, int rank, int tag, bool receives, MPI_Request *r)
{
	assert_true(nr_requests < REQUESTS);
	*r = nr_requests;
	requests[nr_requests++] = (struct request){
		.at = at, .bytes = n, .rank = rank, .tag = tag, .receives = receives, .made = true
	};
	return MPI_SUCCESS;
}

int MPI_Recv_init(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm c, MPI_Request *r)
{
	return make(to, n, from, tag, true, r);
}

int MPI_Send_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c,
		  MPI_Request *r)
{
	return make((void *)(uintptr_t)from, n, to, tag, false, r);
}

int MPI_Ssend_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c,
		   MPI_Request *r)
{
	return make((void *)(uintptr_t)from, n, to, tag, false, r);
}

int MPI_Start(MPI_Request *r)
{
	static unsigned int order;

	assert_true(requests[*r].made && !requests[*r].started);
	requests[*r].started = true;
	requests[*r].begun = ++order;
	requests[*r].done = requests[*r].cancelled = false;
	return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *r, int *done, MPI_Status *status)
{
	struct request *q = &requests[*r];

	*done = !q->started || q->done;
	q->started = q->started && !q->done;
	if (*done && status)
		*status = (MPI_Status){ q->got, q->cancelled, q->source };
	return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *r)
{
	if (cancels && requests[*r].started)
		requests[*r].done = requests[*r].cancelled = true;
	return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *r, MPI_Status *status)
{
	requests[*r].started = false;
	return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request *r)
{
	requests[*r].made = false;
	return MPI_SUCCESS;
}

int MPI_Test_cancelled(const MPI_Status *status, int *is)
{
	*is = status->cancelled;
	return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype of, int *n)
{
	*n = status->bytes;
	return MPI_SUCCESS;
}

/* ------------------------------------------------------------------ the other proxies */

/* the oldest request of that kind that is under way with @tag; NULL: there is none */
static struct request *under_way(bool receives, int tag)
{
	struct request *r, *oldest = NULL;

	for (r = requests; r < requests + nr_requests; r++)
		if (r->made && r->started && !r->done && r->receives == receives && r->tag == tag &&
		    (!oldest || r->begun < oldest->begun))
			oldest = r;
	return oldest;
}

/* a note of @rank, with the first @n bytes of it */
static void hear(int rank, struct note note, int n)
{
	struct request *r = under_way(true, TAG_NOTE);

	assert_non_null(r);
	memcpy(r->at, &note, sizeof(note));
	r->got = n;
	r->source = rank;
	r->done = true;
	pull_go(&link_to_broker);
}

/* take the note that went out to @rank; false: there is none */
static bool said(int rank, struct note *note)
{
	struct request *r = under_way(false, TAG_NOTE);

	if (!r)
		return false;
	assert_int_equal(r->rank, rank);
	memcpy(note, r->at, sizeof(*note));
	r->done = true;
	return true;
}

static int set_up(void **state)
{
	nr_requests = 0;
	cancels = true;
	clock_us = 1000;
	memset(&link_to_broker, 0, sizeof(link_to_broker));
	link_to_broker.settings = &settings;
	arena = calloc(1, ARENA);
	tunnel->link = &link_to_broker;
	tunnel->state = TUNNEL_OPEN;
	tunnel->arena = arena;
	tunnel->arena_bytes = ARENA;
	tunnel->key[0] = 11;
	tunnel->key[1] = 12;
	tunnel->gifts = calloc(GIFTS, sizeof(*tunnel->gifts));
	return !pull_begin(&link_to_broker) ||
	       !bulk_begin(&tunnel->pulled, false, 0, 0, SLOTS, arena) ||
	       !bulk_begin(&tunnel->given, true, 0, 0, SLOTS, arena);
}

/* for LeakSanitizer: notes that are not freed, as MPI may still read them, are no leak */
static void keep_notes(void)
{
	static const void *stays[256];
	static unsigned int n;
	const struct request *r;

	for (r = requests; r < requests + nr_requests; r++)
		if (r->started && !r->receives && r->tag == TAG_NOTE) {
			assert_true(n < sizeof(stays) / sizeof(*stays));
			stays[n++] = r->at;
		}
}

static int tear_down(void **state)
{
	keep_notes();
	pull_end();
	bulk_end(&tunnel->pulled);
	bulk_end(&tunnel->given);
	free(tunnel->gifts);
	free(arena);
	return 0;
}

/* ------------------------------------------------------------------ pieces for this proxy */

/* a message in @slot, with a piece that lies at rank @rank */
static struct inbox *wanted(unsigned int slot, uint32_t rank)
{
	struct inbox *in = &tunnel->in[slot];

	in->head = (struct message){ .kind = PIECE_PULL, .piece = { 8192, 4096 } };
	in->pull = (struct pull){ .state = PULL_WANTED,
				  .since_us = clock_us,
				  .from = { 65536, { 21, 22 }, rank, 9 } };
	tunnel->next_in = slot;
	tunnel->nr_in = 1;
	return in;
}

static int tag_of(unsigned int slot)
{
	return TAG_PULLED + TUNNEL * SLOTS_MAX + slot;
}

TEST(lands)
{
	struct inbox *in = wanted(2, 3);
	struct request *r;
	struct note note;

	assert_true(pull_step(tunnel, in));
	assert_int_equal(in->pull.state, PULL_ASKED);
	r = under_way(true, tag_of(2));
	assert_non_null(r);
	assert_ptr_equal(r->at, arena + 8192);
	assert_int_equal(r->bytes, 4096);
	assert_int_equal(r->rank, 3);
	assert_true(said(3, &note));
	assert_true(note_is_sound(&note, sizeof(note), settings.secret, KVGPU_REMOTE_RELAYS));
	assert_int_equal(note.kind, NOTE_PULL);
	assert_int_equal(note.tunnel, 9);
	assert_int_equal(note.wants, TUNNEL);
	assert_int_equal(note.slot, 2);
	assert_int_equal(note.piece.at, 65536);
	assert_int_equal(note.piece.bytes, 4096);
	assert_int_equal(note.key[0], 21);
	assert_int_equal(note.key[1], 22);
	assert_false(pull_step(tunnel, in));
	assert_false(pull_is_over(&in->pull));
	r->got = 4096;
	r->done = true;
	assert_true(pull_step(tunnel, in));
	assert_int_equal(in->pull.state, PULL_LANDED);
	/* the same again makes no request */
	in = wanted(2, 3);
	pull_step(tunnel, in);
	assert_ptr_equal(under_way(true, tag_of(2)), r);
	/* fewer bytes than were asked for are no piece */
	r->got = 4095;
	r->done = true;
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_SPOILT);
}

TEST(refused)
{
	struct note no = { .version = KVGPU_REMOTE_RELAYS,
			   .kind = NOTE_REFUSED,
			   .wants = TUNNEL,
			   .slot = 1,
			   .secret = { 7 } };
	struct inbox *in = wanted(1, 3);

	pull_step(tunnel, in);
	/* of another proxy, for another slot, for another tunnel, without the secret: no refusal */
	hear(2, no, sizeof(no));
	no.slot = 2;
	hear(3, no, sizeof(no));
	no.slot = 1;
	no.wants = TUNNEL + 1;
	hear(3, no, sizeof(no));
	no.wants = TUNNEL;
	no.secret[0] = 8;
	hear(3, no, sizeof(no));
	no.secret[0] = 7;
	hear(3, no, sizeof(no) - 1);
	assert_int_equal(in->pull.state, PULL_ASKED);
	hear(3, no, sizeof(no));
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_SPOILT);
	assert_null(under_way(true, tag_of(1)));
	assert_false(tunnel->abandoned);
	/* that proxy is there all the same */
	in = wanted(1, 3);
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_ASKED);
}

/* A proxy that says nothing: the piece is given up in time, and the tunnel goes on. */
TEST(silent)
{
	struct inbox *in = wanted(0, 2);

	pull_step(tunnel, in);
	clock_us += 999999;
	assert_false(pull_step(tunnel, in));
	clock_us += 2;
	pull_step(tunnel, in);
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_SPOILT);
	assert_false(tunnel->abandoned);
	assert_null(under_way(true, tag_of(0)));
	/* what is wanted of it later is given up at once: it might answer the earlier question */
	in = wanted(1, 2);
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_SPOILT);
	assert_null(under_way(true, tag_of(1)));
	in = wanted(1, 3);
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_ASKED);
}

/* Half of a piece has come: MPI keeps the receive, and no later piece gets that request. */
TEST(half)
{
	struct inbox *in = wanted(0, 2);
	struct request *r;
	struct note note;

	cancels = false;
	pull_step(tunnel, in);
	r = under_way(true, tag_of(0));
	clock_us += 1000001;
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_TAKEN_BACK);
	clock_us += 1000001;
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_SPOILT);
	assert_true(tunnel->abandoned);
	assert_true(r->started && r->made);
	assert_true(said(2, &note));
	in = wanted(0, 3);
	pull_step(tunnel, in);
	assert_int_equal(in->pull.state, PULL_ASKED);
	assert_true(r->started && r->made && r->rank == 2);
}

/* ------------------------------------------------------------------ pieces for others */

static const struct note pull = { .version = KVGPU_REMOTE_RELAYS,
				  .kind = NOTE_PULL,
				  .tunnel = TUNNEL,
				  .wants = 5,
				  .slot = 6,
				  .piece = { 4096, 8192 },
				  .key = { 11, 12 },
				  .secret = { 7 } };
enum { PULL_TAG = TAG_PULLED + 5 * SLOTS_MAX + 6 };

TEST(gives)
{
	struct request *r;
	struct note note;

	hear(2, pull, sizeof(pull));
	r = under_way(false, PULL_TAG);
	assert_non_null(r);
	assert_ptr_equal(r->at, arena + 4096);
	assert_int_equal(r->bytes, 8192);
	assert_int_equal(r->rank, 2);
	assert_false(pull_is_idle(tunnel));
	r->done = true;
	pull_go(&link_to_broker);
	assert_true(pull_is_idle(tunnel));
	assert_false(said(2, &note));
	assert_int_equal(link_to_broker.counts.given_bytes, 8192);
}

/* whether rank 2, which says that, is refused, and gets nothing */
static bool is_refused(struct note note)
{
	struct note no;

	hear(2, note, sizeof(note));
	assert_null(under_way(false, PULL_TAG));
	return said(2, &no) && no.kind == NOTE_REFUSED && no.wants == 5 && no.slot == 6;
}

#define REFUSED(change)               \
	({                            \
		struct note n = pull; \
                                      \
		n.change;             \
		is_refused(n);        \
	})

TEST(does_not_give)
{
	struct note note = pull;

	assert_true(REFUSED(key[0] = 12));
	assert_true(REFUSED(key[1] = 0));
	assert_true(REFUSED(tunnel = TUNNEL + 1));
	assert_true(REFUSED(piece.at = ARENA - 4096));
	assert_true(REFUSED(piece.at = UINT64_MAX));
	assert_true(REFUSED(piece.bytes = 0));
	assert_true(REFUSED(piece.bytes = KVGPU_REMOTE_RELAYED_MAX + 1));
	/* without the secret there is no answer */
	note.secret[31] = 1;
	assert_false(is_refused(note));
	/* a tunnel that has ended */
	tunnel->state = TUNNEL_FREE;
	assert_true(is_refused(pull));
	tunnel->state = TUNNEL_OPEN;
	hear(2, pull, sizeof(pull));
	assert_non_null(under_way(false, PULL_TAG));
}

/* What is wanted at once has a bound, and a proxy that takes nothing is given up. */
TEST(too_many)
{
	struct note note = pull, no;
	unsigned int i;

	for (i = 0; i < GIFTS; i++) {
		note.piece.at = i * 4096;
		note.wants = i % TUNNELS;
		note.slot = i / TUNNELS;
		note.piece.bytes = 4096;
		hear(2, note, sizeof(note));
	}
	assert_int_equal(tunnel->nr_gifts, GIFTS);
	assert_false(said(2, &no));
	hear(3, note, sizeof(note));
	assert_true(said(3, &no));
	assert_int_equal(no.kind, NOTE_REFUSED);
	clock_us += 1000001;
	pull_go(&link_to_broker);
	assert_true(pull_is_idle(tunnel));
	assert_true(tunnel->abandoned);
}

/* ------------------------------------------------------------------ the end */

/* A note that MPI still sends is not freed, to a proxy that is lost, too. */
TEST(end_under_way)
{
	struct request *lost, *fine;

	pull_step(tunnel, wanted(0, 2));
	lost = under_way(false, TAG_NOTE);
	pull_step(tunnel, wanted(1, 3));
	clock_us += 1000001;
	pull_step(tunnel, &tunnel->in[0]);
	pull_step(tunnel, wanted(1, 3));
	for (fine = requests; fine < requests + nr_requests; fine++)
		if (!fine->receives && fine->tag == TAG_NOTE && fine->rank == 3 && fine->started)
			break;
	assert_true(lost && fine < requests + nr_requests);
	keep_notes();
	pull_end();
	/* what MPI does later */
	assert_int_equal(((struct note *)lost->at)->kind, NOTE_PULL);
	assert_int_equal(((struct note *)lost->at)->slot, 0);
	assert_int_equal(((struct note *)fine->at)->kind, NOTE_PULL);
	assert_int_equal(((struct note *)fine->at)->slot, 1);
	assert_false(fine->made);
}

TEST_MAIN(set_up, tear_down)
