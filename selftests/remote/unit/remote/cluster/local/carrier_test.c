// SPDX-License-Identifier: MIT
/*
 * The carrier for ranks of one machine. This process is rank 1 of 3, and holds the other ends of
 * the sockets of ranks 0 and 2, so it says what they say. "Memory" of theirs is this process's.
 */
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <remote/cluster/local/carrier.h>
#include <remote/cluster/local/launch.h>

enum { RANK = 1, RANKS = 3, TAG = 7, LARGE = 200000, LOOKS = 2000 };

static int other[RANKS]; /* the other ends */
static uint8_t here[LARGE], there[LARGE];

/* @pid: of ranks 0 and 2; 0: their memory can't be read */
static void begin_with(pid_t pid)
{
	int pair[RANKS][2];
	char text[100];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair[0]), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair[2]), 0);
	other[0] = pair[0][1];
	other[2] = pair[2][1];
	snprintf(text, sizeof(text), "%d %d:%d -1:0 %d:%d", RANK, pair[0][0], pid, pair[2][0], pid);
	setenv(LAUNCH_VARIABLE, text, 1);
	assert_int_equal(MPI_Init(NULL, NULL), MPI_SUCCESS);
	assert_null(getenv(LAUNCH_VARIABLE));
	memset(here, 0, sizeof(here));
	for (size_t i = 0; i < sizeof(there); i++)
		there[i] = i * 7 + (i >> 8);
}

static int begin(void **state)
{
	begin_with(getpid());
	return 0;
}

static void leave(int rank)
{
	if (other[rank] >= 0)
		close(other[rank]);
	other[rank] = -1;
}

static int end(void **state)
{
	struct unexpected *h;
	int i;

	leave(0);
	leave(2);
	MPI_Finalize();
	for (i = 0; i < RANKS; i++)
		while ((h = TAILQ_FIRST(&peers[i].unexpected))) {
			TAILQ_REMOVE(&peers[i].unexpected, h, entry);
			free(h);
		}
	return 0;
}

/* @n: bytes at @data behind the head */
static void say(int rank, struct frame f, const void *data, size_t n)
{
	struct iovec part[] = { { &f, sizeof(f) }, { (void *)(uintptr_t)data, n } };

	assert_int_equal(writev(other[rank], part, 2), sizeof(f) + n);
}

static void say_eager(int rank, int tag, const char *text)
{
	say(rank, (struct frame){ .kind = FRAME_EAGER, .tag = tag, .bytes = strlen(text) + 1 },
	    text, strlen(text) + 1);
}

static void say_large(int rank, size_t n)
{
	say(rank, (struct frame){ .kind = FRAME_EAGER, .tag = TAG, .bytes = n }, there, n);
}

static void answer(int rank, enum frame_kind kind, uint64_t serial)
{
	say(rank, (struct frame){ .kind = kind, .serial = serial }, NULL, 0);
}

static void say_place(int rank, uint64_t serial, size_t bytes)
{
	say(rank, (struct frame){ FRAME_PLACE, TAG, bytes, serial, (uintptr_t)there }, NULL, 0);
}

/* what rank 1 has said to @rank, into @data; the kind 0: nothing */
static struct frame said(int rank, void *data)
{
	struct frame f = { 0 };
	struct iovec part[] = { { &f, sizeof(f) }, { data, FRAME_ROOM } };
	struct msghdr m = { .msg_iov = part, .msg_iovlen = data ? 2 : 1 };

	if (recvmsg(other[rank], &m, MSG_DONTWAIT) <= 0)
		f.kind = 0;
	return f;
}

static MPI_Request receive(int rank, int tag, void *to, int n)
{
	MPI_Request r;

	assert_int_equal(MPI_Irecv(to, n, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &r), MPI_SUCCESS);
	return r;
}

static MPI_Request send_to(int rank, const void *from, int n, bool synchronous)
{
	MPI_Request r;

	assert_int_equal((synchronous ? MPI_Issend : MPI_Isend)(from, n, MPI_BYTE, rank, TAG,
								MPI_COMM_WORLD, &r),
			 MPI_SUCCESS);
	return r;
}

/* whether it is over after some looks; then *error */
static bool over(MPI_Request *r, MPI_Status *status, int *error)
{
	int i, done = 0;

	*error = MPI_SUCCESS;
	for (i = 0; i < LOOKS && !done; i++)
		*error = MPI_Test(r, &done, status);
	return done;
}

static void lands(MPI_Request r, int rank, int bytes)
{
	MPI_Status status;
	int error, got;

	assert_true(over(&r, &status, &error));
	assert_int_equal(error, MPI_SUCCESS);
	assert_null(r);
	MPI_Get_count(&status, MPI_BYTE, &got);
	assert_int_equal(got, bytes);
	assert_int_equal(status.MPI_SOURCE, rank);
}

static void fails(MPI_Request r, int with)
{
	int error;

	assert_true(over(&r, MPI_STATUS_IGNORE, &error));
	assert_int_equal(error, with);
}

static bool waits(MPI_Request r)
{
	int error;

	return !over(&r, MPI_STATUS_IGNORE, &error);
}

/* ------------------------------------------------------------------ matching */

TEST(in_order)
{
	char a[8], b[8], c[8], d[8];
	MPI_Request first = receive(0, TAG, a, 8), second = receive(0, TAG, b, 8), late;

	say_eager(0, TAG + 1, "other");
	say_eager(0, TAG, "one");
	say_eager(0, TAG, "two");
	say_eager(0, TAG, "three");
	lands(first, 0, 4);
	lands(second, 0, 4);
	assert_string_equal(a, "one");
	assert_string_equal(b, "two");
	/* these came before their receives */
	late = receive(0, TAG, c, 8);
	lands(receive(0, TAG + 1, d, 8), 0, 6);
	lands(late, 0, 6);
	assert_string_equal(c, "three");
	assert_string_equal(d, "other");
	/* another rank's message is not taken for it */
	first = receive(0, TAG, a, 8);
	say_eager(2, TAG, "far");
	assert_true(waits(first));
	lands(receive(2, TAG, b, 8), 2, 4);
	MPI_Cancel(&first);
	lands(first, 0, 0);
}

TEST(from_any)
{
	char a[8], b[8], c[8];
	MPI_Request any = receive(MPI_ANY_SOURCE, TAG, a, 8), one = receive(2, TAG, b, 8);

	/* the receive that was begun first takes it */
	say_eager(2, TAG, "one");
	lands(any, 2, 4);
	any = receive(MPI_ANY_SOURCE, TAG, c, 8);
	say_eager(2, TAG, "two");
	lands(one, 2, 4);
	say_eager(0, TAG, "three");
	lands(any, 0, 6);
	assert_string_equal(a, "one");
	assert_string_equal(b, "two");
	assert_string_equal(c, "three");
	say_eager(2, TAG, "four");
	one = receive(0, TAG, b, 8);
	assert_true(waits(one));
	lands(receive(MPI_ANY_SOURCE, TAG, a, 8), 2, 5);
	MPI_Request_free(&one);
}

TEST(too_long)
{
	MPI_Request r = receive(0, TAG, here, 4);

	say_eager(0, TAG, "longer");
	fails(r, MPI_ERR_TRUNCATE);
	assert_memory_equal(here, "long\0", 5);
	r = receive(0, TAG, here, 1000);
	say_place(0, 3, 1001);
	fails(r, MPI_ERR_TRUNCATE);
	assert_int_equal(said(0, NULL).kind, FRAME_TAKEN);
	say_eager(0, TAG, "on");
	lands(receive(0, TAG, here, 4), 0, 3);
}

TEST(taken_back)
{
	MPI_Request kept, r;
	MPI_Status status;
	int is = 0, error;

	MPI_Recv_init(here, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &kept);
	lands(MPI_REQUEST_NULL, MPI_ANY_SOURCE, 0);
	MPI_Start(&kept);
	MPI_Cancel(&kept);
	assert_true(over(&kept, &status, &error));
	MPI_Test_cancelled(&status, &is);
	assert_true(is && kept);
	/* it can be begun again */
	MPI_Start(&kept);
	say_eager(0, TAG, "one");
	assert_true(over(&kept, &status, &error));
	assert_string_equal((char *)here, "one");
	MPI_Test_cancelled(&status, &is);
	assert_false(is);
	MPI_Request_free(&kept);
	/* the other rank knows of a send */
	r = send_to(0, there, 10, true);
	MPI_Cancel(&r);
	assert_true(waits(r));
	answer(0, FRAME_TAKEN, said(0, NULL).serial);
	lands(r, 0, 0);
}

/* ------------------------------------------------------------------ large and synchronous ones */

TEST(by_memory)
{
	MPI_Request r = receive(0, TAG, here, LARGE);
	struct frame f;

	say_place(0, 5, LARGE);
	lands(r, 0, LARGE);
	assert_memory_equal(here, there, LARGE);
	f = said(0, NULL);
	assert_true(f.kind == FRAME_TAKEN && f.serial == 5);
	/* before the receive */
	say_place(0, 6, 100);
	r = receive(2, TAG, here, 8);
	assert_true(waits(r));
	assert_int_equal(said(0, NULL).kind, 0);
	lands(receive(0, TAG, here, LARGE), 0, 100);
	assert_int_equal(said(0, NULL).serial, 6);
	leave(2);
	fails(r, MPI_ERR_OTHER);
}

TEST(synchronous)
{
	MPI_Request small = send_to(0, there, 3, true), large;
	struct frame f = said(0, NULL);

	assert_true(f.kind == FRAME_PLACE && f.tag == TAG && f.bytes == 3 &&
		    f.at == (uintptr_t)there);
	assert_true(waits(small));
	answer(0, FRAME_TAKEN, f.serial);
	lands(small, 0, 0);
	/* no frame has room for it */
	large = send_to(2, there, LARGE, false);
	f = said(2, NULL);
	assert_int_equal(f.kind, FRAME_PLACE);
	assert_true(waits(large));
	answer(2, FRAME_TAKEN, f.serial);
	lands(large, 2, 0);
}

TEST(sends_bytes)
{
	MPI_Request r = send_to(0, there, LARGE, true);
	struct frame f = said(0, NULL);
	static uint8_t got[LARGE + FRAME_ROOM];
	size_t n;
	int done;

	answer(0, FRAME_WANTED, f.serial);
	for (n = 0; n < LARGE;) {
		MPI_Test(&r, &done, MPI_STATUS_IGNORE);
		f = said(0, got + n);
		if (f.kind)
			n += LARGE - n < FRAME_ROOM ? LARGE - n : FRAME_ROOM;
		assert_true(!f.kind || f.kind == FRAME_BYTES);
	}
	assert_memory_equal(got, there, LARGE);
	assert_true(!r || !waits(r));
}

TEST(takes_bytes)
{
	MPI_Request r, next;
	struct frame f;

	end(NULL);
	begin_with(0);
	r = receive(0, TAG, here, LARGE);
	next = receive(0, TAG, there, 8);
	say_place(0, 9, 1000);
	assert_true(waits(r));
	f = said(0, NULL);
	assert_true(f.kind == FRAME_WANTED && f.serial == 9);
	say(0, (struct frame){ .kind = FRAME_BYTES, .serial = 9 }, there, 600);
	assert_true(waits(r));
	say_eager(0, TAG, "between");
	lands(next, 0, 8);
	say(0, (struct frame){ .kind = FRAME_BYTES, .serial = 9 }, there + 600, 400);
	lands(r, 0, 1000);
	assert_memory_equal(here + 600, there + 600, 400);
	/* the rank goes amid the bytes */
	r = receive(0, TAG, here, LARGE);
	say_place(0, 10, 1000);
	say(0, (struct frame){ .kind = FRAME_BYTES, .serial = 10 }, there, 600);
	leave(0);
	fails(r, MPI_ERR_OTHER);
}

/* ------------------------------------------------------------------ other ranks' faults */

TEST(one_goes)
{
	MPI_Request lost = receive(2, TAG, here, 8), placed = send_to(2, there, 8, true),
		    kept = receive(0, TAG, here + 8, 8),
		    any = receive(MPI_ANY_SOURCE, TAG + 1, here + 16, 8);

	say_eager(2, TAG + 2, "last");
	leave(2);
	fails(lost, MPI_ERR_OTHER);
	fails(placed, MPI_ERR_OTHER);
	assert_true(waits(kept));
	/* what it has said before is there */
	lands(receive(2, TAG + 2, here, 8), 2, 5);
	fails(receive(2, TAG, here, 8), MPI_ERR_OTHER);
	fails(send_to(2, there, 8, false), MPI_ERR_OTHER);
	say_eager(0, TAG, "kept");
	lands(kept, 0, 5);
	say_eager(0, TAG + 1, "any");
	lands(any, 0, 4);
	lands(send_to(0, there, 8, false), 0, 0);
}

/* eager sends wait when the socket is full, and stay in order */
TEST(bound_of_sends)
{
	enum { SENDS = 100, BYTES = FRAME_ROOM };
	static uint8_t got[FRAME_ROOM];
	MPI_Request r[SENDS];
	int i, done, left = 0, turns;

	for (i = 0; i < SENDS; i++) {
		r[i] = send_to(0, there + i, BYTES, false);
		left += r[i] && r[i]->state != OVER;
	}
	assert_true(left > 0 && left < SENDS);
	for (i = turns = 0; i < SENDS && turns < 100000; turns++) {
		MPI_Test(&r[SENDS - 1], &done, MPI_STATUS_IGNORE);
		if (said(0, got).kind == FRAME_EAGER)
			assert_memory_equal(got, there + i++, BYTES);
	}
	assert_int_equal(i, SENDS);
	for (i = 0; i < SENDS; i++)
		if (r[i])
			lands(r[i], 0, 0);
}

/* a rank that sends on and on what nobody receives is one that has gone */
TEST(bound_of_messages)
{
	MPI_Request r = receive(0, TAG, here, 8);
	size_t before;
	unsigned int i;
	int done;

	for (i = 0; i <= HELD_MAX / FRAME_ROOM && peers[2].fd >= 0; i++) {
		before = peers[2].held_bytes;
		say_large(2, FRAME_ROOM);
		while (peers[2].fd >= 0 && peers[2].held_bytes == before)
			MPI_Test(&r, &done, MPI_STATUS_IGNORE);
	}
	assert_true(peers[2].fd < 0 && peers[2].held_bytes <= HELD_MAX);
	assert_int_equal(i, HELD_MAX / (FRAME_ROOM + HELD_COST) + 1);
	say_eager(0, TAG, "on");
	lands(r, 0, 3);
}

TEST(nonsense)
{
	static const struct {
		uint32_t kind;
		int32_t tag;
		uint64_t bytes, serial;
		size_t n; /* behind the head */
	} wrong[] = {
		{ 0, TAG, 0, 0, 0 },
		{ FRAME_BYTES + 1, TAG, 0, 0, 0 },
		{ FRAME_EAGER, TAG, 9, 0, 8 },
		{ FRAME_EAGER, TAG, UINT64_MAX, 0, 8 },
		{ FRAME_EAGER, -1, 8, 0, 8 },
		{ FRAME_PLACE, TAG, UINT64_MAX, 1, 0 },
		{ FRAME_PLACE, -1, 8, 1, 0 },
		{ FRAME_PLACE, TAG, 8, 1, 8 },
		{ FRAME_TAKEN, 0, 0, 12345, 0 },
		{ FRAME_WANTED, 0, 0, 12345, 0 },
		{ FRAME_TAKEN, 0, 0, 0, 4 },
		{ FRAME_BYTES, 0, 0, 12345, 8 },
		{ FRAME_BYTES, 0, 0, 0, 0 },
	};
	enum { WRONG = sizeof(wrong) / sizeof(*wrong) };
	MPI_Request bad, good;
	unsigned int i;

	for (i = 0; i < WRONG + 3; i++) {
		end(NULL);
		begin_with(getpid());
		bad = receive(2, TAG, here, 8);
		good = receive(0, TAG, here, 8);
		if (i < WRONG)
			say(2,
			    (struct frame){ wrong[i].kind, wrong[i].tag, wrong[i].bytes,
					    wrong[i].serial, (uintptr_t)there },
			    there, wrong[i].n);
		else if (i == WRONG)
			send(other[2], there, sizeof(struct frame) - 1, 0);
		else if (i == WRONG + 1)
			say_large(2, FRAME_ROOM + 1);
		else
			send(other[2], there, 0, 0);
		fails(bad, MPI_ERR_OTHER);
		say_eager(0, TAG, "on");
		lands(good, 0, 3);
	}
}

/* more bytes than the message has; a place that is no memory */
TEST(lies_of_bytes)
{
	MPI_Request r = receive(2, TAG, here, LARGE), good = receive(0, TAG, here, 8);

	say(2, (struct frame){ FRAME_PLACE, TAG, 1000, 4, 1 }, NULL, 0);
	assert_true(waits(r));
	assert_int_equal(said(2, NULL).kind, FRAME_WANTED);
	say(2, (struct frame){ .kind = FRAME_BYTES, .serial = 4 }, there, 1001);
	fails(r, MPI_ERR_OTHER);
	assert_true(waits(good));
	MPI_Request_free(&good);
}

TEST_WITH(no_variable, NULL, NULL)
{
	static const char *const wrong[] = { "", "x", "1", "-1 3:1", "2 -1:0 -1:0" };
	unsigned int i;

	unsetenv(LAUNCH_VARIABLE);
	assert_int_equal(MPI_Init(NULL, NULL), MPI_ERR_OTHER);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		setenv(LAUNCH_VARIABLE, wrong[i], 1);
		assert_int_equal(MPI_Init(NULL, NULL), MPI_ERR_OTHER);
	}
}

TEST_MAIN(begin, end)
