// SPDX-License-Identifier: MIT
/*
 * A connection's bytes, read in parts of any length: pieces are found where they are, all other
 * bytes pass, and nonsense is reported.
 */
#include <selftests/unit_test.h>

#include <remote/channel/stream.h>
#include <remote/cluster/relay/parser.h>

enum { MOST = 1 << 20, PIECES = 64 };

static uint8_t said[MOST], passed[MOST];
static size_t bytes, nr_passed;
static struct kvgpu_remote_piece pieces[PIECES];
static struct {
	struct kvgpu_remote_piece piece;
	size_t at;
} found[PIECES];
static unsigned int nr_pieces, nr_found;

static void say(const void *what, size_t n)
{
	memcpy(said + bytes, what, n);
	bytes += n;
}

static void say_payload(size_t n)
{
	memset(said + bytes, 0x5a, n);
	bytes += n;
}

/*
 * Makes the bytes of a connection: @n frames with payloads of random length, and a piece behind the
 * first and then behind each third frame.
 */
static void make(enum parser_way way, unsigned int n)
{
	uint8_t text[PARSER_SAID];
	unsigned int i;
	size_t k;

	bytes = nr_pieces = 0;
	for (i = 0; i < n; i++) {
		k = random() % 512 * 8;
		if (way == PARSER_UP)
			say(&(struct kvgpu_remote_head){ .op = 100, .bytes = k },
			    sizeof(struct kvgpu_remote_head));
		else
			say(&(struct down){ .kind = DOWN_ANSWER, .bytes = k }, sizeof(struct down));
		say_payload(k);
		if (i % 3)
			continue;
		pieces[nr_pieces] = (struct kvgpu_remote_piece){ random(), random() };
		say(text, parser_say(way, &pieces[nr_pieces++], text));
	}
}

/* Reads the bytes in parts of random length, and takes what passes and what is found. */
static enum parser_what take(struct parser *t)
{
	enum parser_what what = PARSER_NONE;
	struct kvgpu_remote_piece piece;
	const uint8_t *some;
	size_t read = 0, n, room;
	uint8_t *to;

	nr_passed = nr_found = 0;
	while (what != PARSER_WRONG) {
		what = parser_next(t, random() % 4096, &some, &n, &piece);
		if (what == PARSER_BYTES) {
			memcpy(passed + nr_passed, some, n);
			nr_passed += n;
		} else if (what == PARSER_PIECE) {
			found[nr_found].at = nr_passed;
			found[nr_found++].piece = piece;
		} else if (what == PARSER_NONE && read == bytes && t->have == t->used) {
			break;
		} else if (what == PARSER_NONE && read < bytes) {
			to = parser_room(t, &room);
			n = 1 + random() % 3000;
			n = n < room ? n : room;
			n = n < bytes - read ? n : bytes - read;
			memcpy(to, said + read, n);
			t->have += n;
			read += n;
		}
	}
	return what;
}

static void all_of_it(enum parser_way way)
{
	static struct parser t;
	uint8_t text[PARSER_SAID];
	size_t at = 0, back = 0;
	unsigned int i;

	memset(&t, 0, sizeof(t));
	t.way = way;
	make(way, 100);
	assert_int_equal(take(&t), PARSER_NONE);
	assert_int_equal(nr_found, nr_pieces);
	/*
	 * the bytes that passed, with the pieces put in where they were found, are the connection's
	 * bytes
	 */
	for (i = 0; i < nr_found; i++) {
		assert_memory_equal(&found[i].piece, &pieces[i], sizeof(pieces[i]));
		assert_memory_equal(said + back, passed + at, found[i].at - at);
		back += found[i].at - at;
		at = found[i].at;
		assert_memory_equal(said + back, text, parser_say(way, &pieces[i], text));
		back += parser_say(way, &pieces[i], text);
	}
	assert_memory_equal(said + back, passed + at, nr_passed - at);
	assert_int_equal(back + nr_passed - at, bytes);
}

TEST(up)
{
	unsigned int i;

	for (i = 0; i < 50; i++)
		all_of_it(PARSER_UP);
}

TEST(down)
{
	unsigned int i;

	for (i = 0; i < 50; i++)
		all_of_it(PARSER_DOWN);
}

/* A piece from another proxy: its source is known, whatever parts its bytes come in. */
TEST(pulls)
{
	const struct kvgpu_remote_pull pull = { { 4096, 8192 }, { 12288, { 3, 4 }, 5, 6 } };
	const struct kvgpu_remote_head h = { .op = KVGPU_REMOTE_OP_PULL, .bytes = sizeof(pull) },
				       next = { .op = 100 };
	struct kvgpu_remote_piece piece;
	static struct parser t;
	const uint8_t *some;
	size_t n, i;

	bytes = 0;
	say(&h, sizeof(h));
	say(&pull, sizeof(pull));
	say(&next, sizeof(next));
	memset(&t, 0, sizeof(t));
	t.way = PARSER_UP;
	for (i = 0; i < sizeof(h) + sizeof(pull); i++) {
		assert_int_equal(parser_next(&t, 4096, &some, &n, &piece), PARSER_NONE);
		*parser_room(&t, &n) = said[i];
		t.have++;
	}
	assert_int_equal(parser_next(&t, 0, &some, &n, &piece), PARSER_PULL);
	assert_memory_equal(&piece, &pull.piece, sizeof(piece));
	assert_memory_equal(&t.source, &pull.source, sizeof(pull.source));
	memcpy(parser_room(&t, &n), said + i, sizeof(next));
	t.have += sizeof(next);
	assert_int_equal(parser_next(&t, 4096, &some, &n, &piece), PARSER_BYTES);
	assert_memory_equal(some, &next, sizeof(next));
}

/* what is said of a piece that did not come: a server does not take it for one that did */
TEST(spoilt)
{
	const struct kvgpu_remote_piece piece = { 4096, 8192 };
	uint8_t good[PARSER_SAID], bad[PARSER_SAID];
	struct kvgpu_remote_head h;
	size_t n = parser_say(PARSER_UP, &piece, good);

	assert_int_equal(parser_say(PARSER_UP, &piece, bad), n);
	parser_say_spoilt(bad);
	memcpy(&h, bad, sizeof(h));
	assert_int_equal(h.op, KVGPU_REMOTE_OP_SPOILT);
	assert_int_equal(h.bytes, sizeof(piece));
	assert_memory_equal(good + sizeof(h), bad + sizeof(h), n - sizeof(h));
}

TEST(nonsense)
{
	static struct parser t;

	bytes = 0;
	say(&(struct kvgpu_remote_head){ .op = 100, .bytes = KVGPU_REMOTE_PAYLOAD_MAX + 8 },
	    sizeof(struct kvgpu_remote_head));
	assert_int_equal(take(&t), PARSER_WRONG);
	memset(&t, 0, sizeof(t));
	bytes = 0;
	say(&(struct kvgpu_remote_head){ .op = KVGPU_REMOTE_OP_PUSH, .bytes = 24 },
	    sizeof(struct kvgpu_remote_head));
	assert_int_equal(take(&t), PARSER_WRONG);
	memset(&t, 0, sizeof(t));
	bytes = 0;
	say(&(struct kvgpu_remote_head){ .op = KVGPU_REMOTE_OP_PULL, .bytes = 40 },
	    sizeof(struct kvgpu_remote_head));
	assert_int_equal(take(&t), PARSER_WRONG);
	/* a program can't say that: its relay does */
	memset(&t, 0, sizeof(t));
	bytes = 0;
	say(&(struct kvgpu_remote_head){ .op = KVGPU_REMOTE_OP_SPOILT, .bytes = 16 },
	    sizeof(struct kvgpu_remote_head));
	assert_int_equal(take(&t), PARSER_WRONG);
	memset(&t, 0, sizeof(t));
	t.way = PARSER_DOWN;
	bytes = 0;
	say(&(struct down){ .kind = DOWN_NOTIFICATION, .bytes = UINT32_MAX }, sizeof(struct down));
	assert_int_equal(take(&t), PARSER_WRONG);
}

TEST_MAIN(NULL, NULL)
